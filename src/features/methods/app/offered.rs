//! Reranking from the workbench, priced before any call: the screen's version of
//! `overrule rerank`.

use super::rerank::estimate::{CallVolume, MethodEstimate};
use super::rerank::run::{RerankEvent, run};
use super::rerank::{
    CandidateSource, LongDocuments, MethodChoice, PreparedRun, RerankScope, prepare,
};
use crate::app::choose_judges::{JudgeConfiguration, is_paid};
use crate::app::error::AppError;
use crate::app::question_set::{
    AddedQuestions, PreparedQuestions, QuestionChoice, QuestionSetOutcome, QuestionSetPrice,
    TellProgress,
};
use crate::app::text_format::{counted, first_names};
use crate::client::RunControl;
use crate::features::methods::domain::reranking::{Method, MethodOptions};
use crate::store::Store;
use futures::future::BoxFuture;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};

/// A method that the workbench offers.
#[derive(Debug)]
pub struct OfferedMethod {
    /// Its name, as on the command line.
    method: &'static str,
    noun: &'static str,
    /// A description of the judge's task.
    doc: &'static str,
    /// Whether all judges answer its questions together.
    together: bool,
}

pub static OFFERED: [OfferedMethod; 6] = [
    OfferedMethod {
        method: "rankgpt@20",
        noun: "rankings by rankgpt@20",
        doc: "orders windows of candidates",
        together: false,
    },
    OfferedMethod {
        method: "prp@20:p3",
        noun: "rankings by prp@20:p3",
        doc: "compares neighbors in both orders",
        together: false,
    },
    OfferedMethod {
        method: "tourrank@20:r2",
        noun: "rankings by tourrank@20:r2",
        doc: "selects the best of groups, in two tournaments",
        together: false,
    },
    OfferedMethod {
        method: "setwise@20:c3",
        noun: "rankings by setwise@20:c3",
        doc: "names the best of three candidates",
        together: false,
    },
    OfferedMethod {
        method: "pointwise@20:grade",
        noun: "rankings by pointwise@20:grade",
        doc: "grades each candidate 0 to 3",
        together: false,
    },
    OfferedMethod {
        method: "zelo@20:b2",
        noun: "rankings by zelo@20:b2",
        doc: "compare the most informative pairs",
        together: true,
    },
];

/// All methods that the workbench offers.
#[derive(Debug)]
pub struct OfferedMethods;

impl AddedQuestions for OfferedMethods {
    fn noun(&self) -> &'static str {
        "rankings"
    }

    fn answer_noun(&self) -> &'static str {
        "ranking"
    }

    fn title(&self) -> &'static str {
        "Run a method"
    }

    fn choices(&'static self, judges: &[String]) -> Vec<QuestionChoice> {
        OFFERED
            .iter()
            .flat_map(|method| method.choices(judges))
            .collect()
    }

    fn prepare(
        &self,
        _store: &Store,
        _configuration: &JudgeConfiguration<'_>,
        _judges: &[String],
        _seed: u64,
    ) -> Result<Box<dyn PreparedQuestions>, AppError> {
        Err(AppError::Failed("choose a method".to_owned()))
    }
}

impl AddedQuestions for OfferedMethod {
    fn noun(&self) -> &'static str {
        self.noun
    }

    fn answer_noun(&self) -> &'static str {
        "ranking"
    }

    fn title(&self) -> &'static str {
        "Run a method"
    }

    fn choices(&'static self, judges: &[String]) -> Vec<QuestionChoice> {
        let choice = |judges: &[String]| QuestionChoice {
            questions: self,
            judges: judges.to_vec(),
            name: self.method.to_owned(),
            doc: format!("{} {}", first_names(judges), self.doc),
        };
        if self.together {
            let all = (!judges.is_empty()).then(|| choice(judges));
            all.into_iter().collect()
        } else {
            judges.chunks(1).map(choice).collect()
        }
    }

    fn prepare(
        &self,
        store: &Store,
        configuration: &JudgeConfiguration<'_>,
        judges: &[String],
        seed: u64,
    ) -> Result<Box<dyn PreparedQuestions>, AppError> {
        let method: Method = self.method.parse().map_err(AppError::failed)?;
        let choice = MethodChoice {
            methods: &[method],
            judges,
            options: MethodOptions::default(),
            seed,
        };
        let scope = RerankScope {
            dataset: None,
            queries: &[],
            candidates: CandidateSource::Pools,
            shuffle: None,
            max_queries: None,
            retry_failed: false,
            one_at_a_time: false,
            long_documents: LongDocuments::default(),
        };
        let prepared = prepare(store, configuration, &choice, &scope)?;
        let estimates = MethodEstimate::of(store, &prepared.plan)?;
        Ok(Box::new(PreparedMethodRun {
            prepared,
            estimates,
        }))
    }
}

/// The remaining rankings of a method, and their cost.
struct PreparedMethodRun {
    prepared: PreparedRun,
    estimates: Vec<MethodEstimate>,
}

impl PreparedMethodRun {
    fn total(&self, volume: impl Fn(&MethodEstimate) -> CallVolume) -> (f64, Option<f64>) {
        let volumes = || self.estimates.iter().map(&volume);
        (
            volumes().map(|volume| volume.calls).sum(),
            volumes().map(|volume| volume.usd).sum(),
        )
    }

    async fn rank(
        self,
        store: &Store,
        control: watch::Receiver<RunControl>,
        mut tell: TellProgress<'_>,
    ) -> Result<QuestionSetOutcome, AppError> {
        let mut outcome = QuestionSetOutcome::of(self.prepared.plan.rankings());
        let budget = control.borrow().budget_usd;
        budget.map_or(Ok(()), |budget| self.prepared.check_budget(budget))?;
        let (events_to, mut events) = mpsc::unbounded_channel();
        let (own, steer) = (store.clone(), control.clone());
        let plan = Arc::new(self.prepared.plan);
        let ranking = tokio::spawn(async move { run(own, plan, steer, events_to).await });
        while let Some(event) = events.recv().await {
            match event {
                RerankEvent::Ranked(row) => {
                    outcome.progress.done += 1;
                    outcome.progress.failed += usize::from(row.failure.is_some());
                    tell(&outcome.progress);
                }
                RerankEvent::Linked { .. } | RerankEvent::Called(_) => {}
                RerankEvent::Again(line) => tracing::warn!("{line}"),
                RerankEvent::Skipped { service, why } => {
                    tracing::warn!("{service} skips a query: {why}");
                }
                RerankEvent::Stopped { service, why } => outcome.give_up(&service, &why),
                RerankEvent::BudgetReached => outcome.budget_reached = true,
            }
        }
        ranking.await.map_err(AppError::failed)??;
        let cancelled = control.borrow().cancelled;
        Ok(outcome.ended(cancelled))
    }
}

impl PreparedQuestions for PreparedMethodRun {
    fn price(&self) -> QuestionSetPrice {
        let plan = &self.prepared.plan;
        let (calls, expected_usd) = self.total(|of| of.expected);
        let (most_calls, worst_usd) = self.total(|of| of.most);
        let mut notes = self.prepared.notes.clone();
        notes.push(format!("at most {most_calls:.0} calls"));
        QuestionSetPrice {
            about: counted(plan.rankings(), "query"),
            calls: calls.ceil() as usize,
            already: (plan.already > 0).then(|| counted(plan.already, "ranking")),
            judges: self
                .prepared
                .ensemble
                .iter()
                .map(|judge| judge.spec().name.clone())
                .collect(),
            expected_usd,
            worst_usd,
            paid: self
                .prepared
                .ensemble
                .iter()
                .any(|judge| is_paid(judge.as_ref())),
            notes,
        }
    }

    fn run<'a>(
        self: Box<Self>,
        store: &'a Store,
        control: watch::Receiver<RunControl>,
        tell: TellProgress<'a>,
    ) -> BoxFuture<'a, Result<QuestionSetOutcome, AppError>> {
        Box::pin(self.rank(store, control, tell))
    }
}
