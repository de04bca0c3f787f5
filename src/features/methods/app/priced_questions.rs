//! Questions of a feature that a screen prices before any call. Their events are those of a
//! reranking run.

use super::rerank::PreparedRun;
#[cfg(feature = "remote")]
use super::rerank::RerankPlan;
use super::rerank::estimate::{CallVolume, MethodEstimate};
use super::rerank::run::{RerankEvent, run};
use crate::app::error::AppError;
use crate::app::question_set::{
    PreparedQuestions, QuestionSession, QuestionSetOutcome, QuestionSetPrice,
};
use crate::app::text_format::counted;
use crate::client::RunControl;
use crate::features::methods::domain::MethodRow;
#[cfg(feature = "remote")]
use crate::judge::JudgeEnsemble;
use crate::store::Store;
use futures::future::BoxFuture;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};

/// Checks the budget, asks, and reports each answer once it is in the project.
pub type AskQuestions = Box<
    dyn FnOnce(
            Store,
            watch::Receiver<RunControl>,
            mpsc::UnboundedSender<RerankEvent>,
        ) -> BoxFuture<'static, Result<(), AppError>>
        + Send,
>;

/// Questions with their price.
pub struct PricedQuestions {
    pub price: QuestionSetPrice,
    /// Number of answers that are missing.
    pub missing: usize,
    pub ask: AskQuestions,
    /// Number of answers in a result of a query, and how many of them are unreadable.
    pub answers: fn(&MethodRow) -> (usize, usize),
}

impl PricedQuestions {
    /// The questions of a reranking run, where each result is an answer.
    pub fn of_run(store: &Store, prepared: PreparedRun) -> Result<Self, AppError> {
        let estimates = MethodEstimate::of(store, &prepared.plan)?;
        let expected: CallVolume = estimates.iter().map(|of| of.expected).sum();
        let most: CallVolume = estimates.iter().map(|of| of.most).sum();
        let mut notes = prepared.notes.clone();
        notes.push(format!("at most {:.0} calls", most.calls));
        let already = prepared.plan.already;
        Ok(Self {
            price: QuestionSetPrice {
                about: counted(prepared.plan.rankings(), "query"),
                calls: expected.calls.ceil() as usize,
                already: (already > 0).then(|| counted(already, "ranking")),
                expected_usd: expected.usd,
                worst_usd: most.usd,
                notes,
                ..QuestionSetPrice::of(&prepared.ensemble)
            },
            missing: prepared.plan.rankings(),
            ask: Box::new(move |store, control, events| {
                Box::pin(async move {
                    let budget = control.borrow().budget_usd;
                    budget.map_or(Ok(()), |budget| prepared.check_budget(budget))?;
                    Ok(run(store, Arc::new(prepared.plan), control, events).await?)
                })
            }),
            answers: |_| (1, 0),
        })
    }

    /// The rankings that a plan lacks, without an estimate of their price.
    #[cfg(feature = "remote")]
    pub fn of_plan(plan: RerankPlan, judges: &JudgeEnsemble) -> Self {
        Self {
            price: QuestionSetPrice::of(judges),
            missing: plan.rankings(),
            ask: Box::new(move |store, control, events| {
                Box::pin(async move { Ok(run(store, Arc::new(plan), control, events).await?) })
            }),
            answers: |_| (1, 0),
        }
    }

    async fn asked(self, mut session: QuestionSession<'_>) -> Result<QuestionSetOutcome, AppError> {
        let mut outcome = QuestionSetOutcome::of(self.missing);
        let (events_to, mut events) = mpsc::unbounded_channel();
        let (store, control) = (session.store.clone(), session.control.clone());
        let asking = tokio::spawn((self.ask)(store, control, events_to));
        while let Some(event) = events.recv().await {
            match event {
                RerankEvent::Ranked(row) => {
                    let (answers, unreadable) = (self.answers)(&row);
                    outcome.progress.done += answers;
                    outcome.progress.invalid += unreadable;
                    outcome.progress.failed += usize::from(row.failure.is_some());
                    (session.tell)(&outcome.progress);
                }
                RerankEvent::Linked { answered } => {
                    outcome.progress.done += 1;
                    outcome.progress.invalid += usize::from(!answered);
                    (session.tell)(&outcome.progress);
                }
                RerankEvent::Called(_) => {}
                RerankEvent::Again(line) => tracing::warn!("{line}"),
                RerankEvent::Skipped { service, why } => {
                    tracing::warn!("{service} skips a query: {why}");
                }
                RerankEvent::Stopped { service, why } => outcome.give_up(&service, &why),
                RerankEvent::BudgetReached => outcome.budget_reached = true,
            }
        }
        asking.await.map_err(AppError::failed)??;
        let cancelled = session.control.borrow().cancelled;
        Ok(outcome.ended(cancelled))
    }
}

impl PreparedQuestions for PricedQuestions {
    fn price(&self) -> QuestionSetPrice {
        self.price.clone()
    }

    fn run(
        self: Box<Self>,
        session: QuestionSession<'_>,
    ) -> BoxFuture<'_, Result<QuestionSetOutcome, AppError>> {
        Box::pin(self.asked(session))
    }
}
