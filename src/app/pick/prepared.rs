//! Picks for the whole project, priced before any call: the screen's version of `overrule pick`.

use super::run::{self, PickEvent, PickSession};
use super::{PickAnswers, PickInputs, PickOptions, PickPlan, PickProgress};
use crate::app::choose_judges::JudgeConfiguration;
use crate::app::error::AppError;
use crate::app::question_set::{
    PreparedQuestions, QuestionSession, QuestionSetOutcome, QuestionSetPrice, QuestionSetProgress,
};
use crate::app::text_format::counted;
use crate::domain::adjudication::PickMode;
use crate::judge::JudgeEnsemble;
use crate::store::Store;
use futures::future::BoxFuture;
use tokio::sync::mpsc;

/// The grade from which a document is relevant.
const RELEVANT_FROM: i32 = 1;

/// A plan for all pools of a project, each in its own order, and the judges to ask.
#[derive(Debug)]
pub struct PreparedPicks {
    ensemble: JudgeEnsemble,
    plan: PickPlan,
    answers: PickAnswers,
    notes: Vec<String>,
}

impl PreparedPicks {
    /// Reads the project and determines the remaining questions in this mode; `judges` by name, or
    /// all configured ones.
    ///
    /// # Errors
    /// A judge has no key, none can pick, or there is no pool to ask about.
    pub fn of_project(
        store: &Store,
        configuration: JudgeConfiguration<'_>,
        judges: &[String],
        way: PickMode,
        seed: u64,
    ) -> Result<Self, AppError> {
        let chosen = configuration.choose_pickers(judges, way)?;
        let mut inputs = PickInputs::read(Some(store), None, &[])?;
        let answers = PickAnswers::new(std::mem::take(&mut inputs.picks));
        let options = PickOptions {
            way,
            permutations: 1,
            relevant_from: RELEVANT_FROM,
            seed,
            retry_failed: false,
            refuse_long: false,
        };
        let plan = PickPlan::new(&inputs, &chosen.ensemble, &options, &answers)?;
        Ok(Self {
            ensemble: chosen.ensemble,
            notes: [chosen.notes, plan.notes.clone()].concat(),
            plan,
            answers,
        })
    }

    /// The questions of a plan that are not answered.
    #[cfg(feature = "remote")]
    pub(super) fn of_plan(ensemble: JudgeEnsemble, plan: PickPlan, answers: PickAnswers) -> Self {
        Self {
            ensemble,
            notes: plan.notes.clone(),
            plan,
            answers,
        }
    }

    async fn ask(
        mut self,
        mut session: QuestionSession<'_>,
    ) -> Result<QuestionSetOutcome, AppError> {
        let (events_to, mut events) = mpsc::unbounded_channel();
        let picking = PickSession {
            store: session.store.clone(),
            ensemble: self.ensemble.clone(),
            control: session.control.clone(),
        };
        let tasks = std::mem::take(&mut self.plan.tasks);
        let mut progress = PickProgress::of(&self.plan);
        let mut outcome = QuestionSetOutcome::of(tasks.len());
        let asked = tokio::spawn(run::run(picking, tasks, events_to));
        let mut failed = None;
        while let Some(event) = events.recv().await {
            match event {
                PickEvent::Recorded { record, last, .. } => {
                    self.answers.add(&record);
                    progress.count(&record, last);
                    outcome.progress = QuestionSetProgress {
                        done: progress.done,
                        invalid: progress.invalid,
                        failed: progress.failed,
                        ..outcome.progress
                    };
                    (session.tell)(&outcome.progress);
                }
                PickEvent::Again(line) => tracing::warn!("{line}"),
                PickEvent::Stopped { seat, why } => {
                    let judge = self.ensemble.get(seat);
                    let name = judge.map_or("", |judge| judge.spec().name.as_str());
                    outcome.give_up(name, &why);
                }
                PickEvent::BudgetReached => outcome.budget_reached = true,
                PickEvent::Failed(error) => failed = Some(error),
            }
        }
        asked.await.map_err(AppError::failed)??;
        if let Some(error) = failed {
            return Err(error.into());
        }
        let cancelled = session.control.borrow().cancelled;
        Ok(outcome.ended(cancelled))
    }
}

impl PreparedQuestions for PreparedPicks {
    fn price(&self) -> QuestionSetPrice {
        let judges = &self.plan.estimates;
        QuestionSetPrice {
            about: counted(self.plan.pools, "pool"),
            calls: self.plan.calls(),
            already: (self.plan.already > 0).then(|| counted(self.plan.already, "answer")),
            expected_usd: judges.iter().map(|judge| judge.cost_usd).sum(),
            worst_usd: judges.iter().map(|judge| judge.worst_usd).sum(),
            notes: self.notes.clone(),
            ..QuestionSetPrice::of(&self.ensemble)
        }
    }

    fn run(
        self: Box<Self>,
        session: QuestionSession<'_>,
    ) -> BoxFuture<'_, Result<QuestionSetOutcome, AppError>> {
        Box::pin(self.ask(session))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::RunControl;
    use crate::config::Config;
    use crate::domain::corpus::Pool;
    use crate::formats::dataset;
    use tempfile::TempDir;
    use tokio::sync::watch;

    const LINES: &str = r#"{"query":{"id":"q","query":"trams"},"documents":[{"id":"a","content":"a tram","metadata":{"grade":1}},{"id":"b","content":"a bus"}]}
{"query":{"id":"r","query":"ships"},"documents":[{"id":"c","content":"a ship"},{"id":"d","content":"a boat"}]}
"#;

    fn project(folder: &TempDir) -> Store {
        let store = Store::open(&folder.path().join("picks.db")).unwrap();
        let pools: Vec<Pool> = dataset::read_pools(LINES.as_bytes(), "in.jsonl")
            .map(Result::unwrap)
            .collect();
        store
            .write_blocking(move |db| {
                for pool in &pools {
                    db.add_pool(pool, "in")?;
                }
                Ok(())
            })
            .unwrap();
        store
    }

    fn prepared(store: &Store, way: PickMode) -> PreparedPicks {
        let config = Config::default();
        let configuration = JudgeConfiguration {
            project: store.path(),
            config: &config,
            insecure_http: false,
            consent: &config.permissions,
        };
        let judges = ["offline".to_owned()];
        PreparedPicks::of_project(store, configuration, &judges, way, 0).unwrap()
    }

    #[test]
    fn what_was_priced_is_asked_once() {
        let folder = tempfile::tempdir().unwrap();
        let store = project(&folder);
        let open = prepared(&store, PickMode::AnyNumber);
        let price = open.price();
        assert_eq!((price.about.as_str(), price.calls), ("2 pools", 6));
        assert_eq!(price.already, None);
        assert_eq!((price.worst_usd, price.paid), (Some(0.0), false));
        let (_steer, control) = watch::channel(RunControl::default());
        let mut told = 0;
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let session = QuestionSession::locking(&store, control, Box::new(|_| told += 1));
        let outcome = runtime.block_on(Box::new(open).run(session)).unwrap();
        assert_eq!((outcome.progress.done, told), (6, 6));
        assert!(!outcome.stopped && !outcome.budget_reached);
        let again = prepared(&store, PickMode::AnyNumber).price();
        assert_eq!(again.calls, 0);
        assert_eq!(again.already.as_deref(), Some("6 answers"));
        // Without labels, the number of documents to ask for is unknown.
        let exactly = prepared(&store, PickMode::Exactly).price();
        assert_eq!((exactly.about.as_str(), exactly.calls), ("1 pool", 3));
        assert_eq!(exactly.notes.len(), 1, "{:?}", exactly.notes);
    }
}
