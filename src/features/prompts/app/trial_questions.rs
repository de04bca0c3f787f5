//! A trial in the workbench, priced before any call: the screen's version of `overrule prompt try`.

use super::trial::{PromptTrial, TrialEstimate, TrialRequest, prepare_trial};
use crate::app::choose_judges::JudgeConfiguration;
use crate::app::error::AppError;
use crate::app::question_set::{
    AddedQuestions, PreparedQuestions, QuestionSession, QuestionSetOutcome, QuestionSetPrice,
};
use crate::app::text_format::counted;
use crate::features::methods::app::rerank::run::RerankEvent;
use crate::features::prompts::domain::SetPart;
use crate::store::Store;
use futures::future::BoxFuture;
use std::sync::Arc;
use tokio::sync::mpsc;

/// The questions of a trial.
#[derive(Clone, Debug)]
pub struct TrialQuestions {
    pub request: TrialRequest,
    noun: String,
    /// The person who tries the prompt.
    author: String,
}

impl TrialQuestions {
    pub fn new(request: TrialRequest, author: &str) -> Self {
        let part = match request.part {
            SetPart::Tuning => "",
            SetPart::HeldOut => " on the held-out part",
        };
        Self {
            noun: format!("trial answers of {}{part}", request.judge),
            author: author.to_owned(),
            request,
        }
    }
}

impl AddedQuestions for TrialQuestions {
    fn noun(&self) -> &str {
        &self.noun
    }

    fn answer_noun(&self) -> &'static str {
        "trial answer"
    }

    fn prepare(
        &self,
        store: &Store,
        configuration: &JudgeConfiguration<'_>,
        _judges: &[String],
        _seed: u64,
    ) -> Result<Box<dyn PreparedQuestions>, AppError> {
        let trial = prepare_trial(store, configuration, self.request.clone())?;
        let estimate = trial.estimate(store)?;
        Ok(Box::new(PreparedTrial {
            trial: Arc::new(trial),
            estimate,
            author: self.author.clone(),
        }))
    }
}

/// The remaining questions of a trial.
struct PreparedTrial {
    trial: Arc<PromptTrial>,
    estimate: TrialEstimate,
    author: String,
}

impl PreparedTrial {
    async fn ask(self, session: QuestionSession<'_>) -> Result<QuestionSetOutcome, AppError> {
        let QuestionSession {
            store,
            control,
            mut tell,
            lock: _lock,
        } = session;
        let calls = self.estimate.expected.calls.ceil() as usize;
        let mut outcome = QuestionSetOutcome::of(calls);
        let budget = control.borrow().budget_usd;
        budget.map_or(Ok(()), |budget| self.trial.judge.check_budget(budget))?;
        let (project, trial) = (store.clone(), Arc::clone(&self.trial));
        let author = self.author;
        let kept = move || trial.keep_prompt(&project, &author);
        tokio::task::spawn_blocking(kept)
            .await
            .map_err(AppError::failed)??;
        let (events_to, mut events) = mpsc::unbounded_channel();
        let (project, trial, steer) = (store.clone(), Arc::clone(&self.trial), control.clone());
        let asking = tokio::spawn(async move { trial.ask(&project, steer, events_to).await });
        while let Some(event) = events.recv().await {
            match event {
                RerankEvent::Called(_) => {
                    outcome.progress.done = (outcome.progress.done + 1).min(calls);
                    tell(&outcome.progress);
                }
                RerankEvent::Again(line) => tracing::warn!("{line}"),
                RerankEvent::Skipped { service, why } => {
                    tracing::warn!("{service} skips a query: {why}");
                }
                RerankEvent::Stopped { service, why } => outcome.give_up(&service, &why),
                RerankEvent::BudgetReached => outcome.budget_reached = true,
                // A trial makes no rankings and no links.
                RerankEvent::Ranked(_) | RerankEvent::Linked { .. } => {}
            }
        }
        let (answered, unreadable) = asking.await.map_err(AppError::failed)??;
        // Questions are counted in the end, and not calls, of which some may be repeated.
        outcome.progress.done = answered.min(calls);
        outcome.progress.invalid = unreadable;
        let cancelled = control.borrow().cancelled;
        Ok(outcome.ended(cancelled))
    }
}

impl PreparedQuestions for PreparedTrial {
    fn price(&self) -> QuestionSetPrice {
        let (trial, estimate) = (&self.trial, &self.estimate);
        let pairs = counted(estimate.pairs, "pair");
        QuestionSetPrice {
            about: format!("{pairs} of the {} part", trial.request.part.words()),
            calls: estimate.expected.calls.ceil() as usize,
            already: (estimate.known > 0).then(|| counted(estimate.known, "answer")),
            pending: None,
            judges: vec![trial.request.judge.clone()],
            expected_usd: estimate.expected.usd,
            worst_usd: estimate.most.usd,
            paid: trial.judge.is_paid(),
            notes: trial.notes.clone(),
        }
    }

    fn run(
        self: Box<Self>,
        session: QuestionSession<'_>,
    ) -> BoxFuture<'_, Result<QuestionSetOutcome, AppError>> {
        Box::pin(self.ask(session))
    }
}
