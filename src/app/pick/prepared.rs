//! Picks over the whole project, priced before anybody is asked: what a screen offers of `overrule pick`.

use super::run::{self, PickEvent, PickSession};
use super::{PickAnswers, PickInputs, PickOptions, PickPlan, PickProgress};
use crate::app::choose_judges::{JudgeConfiguration, is_paid};
use crate::app::error::AppError;
use crate::app::wording::first_names;
use crate::client::RunControl;
use crate::domain::adjudication::PickMode;
use crate::judge::JudgeEnsemble;
use crate::store::Store;
use tokio::sync::{mpsc, watch};

/// The grade from which on a document is relevant.
const RELEVANT_FROM: i32 = 1;

/// What asking would take.
#[derive(Clone, Debug, PartialEq)]
pub struct PickPrice {
    pub pools: usize,
    /// Questions that are still to be asked.
    pub calls: usize,
    /// Questions that have been settled.
    pub already: usize,
    /// Who is asked.
    pub judges: Vec<String>,
    /// Dollars expected; `None` where a price is not known.
    pub expected_usd: Option<f64>,
    /// Dollars at the very most; `None` where a price is not known.
    pub worst_usd: Option<f64>,
    /// Whether a judge's calls may cost money.
    pub paid: bool,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// How picks ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PickOutcome {
    pub progress: PickProgress,
    /// Ended before every question was settled, because a person stopped it.
    pub stopped: bool,
    pub budget_reached: bool,
    /// Judges that made no more calls, each with why.
    pub given_up: Vec<String>,
}

/// A plan over all pools of a project, each in its own order, and those who are to be asked.
#[derive(Debug)]
pub struct PreparedPicks {
    ensemble: JudgeEnsemble,
    plan: PickPlan,
    answers: PickAnswers,
    notes: Vec<String>,
}

impl PreparedPicks {
    /// Reads the project and finds out what is still to be asked in this way; `judges` by name, or all that are configured.
    ///
    /// # Errors
    /// A judge has no key or none can pick, or there is no pool to ask about.
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
        };
        let plan = PickPlan::new(&inputs, &chosen.ensemble, &options, &answers)?;
        Ok(Self {
            ensemble: chosen.ensemble,
            notes: [chosen.notes, plan.notes.clone()].concat(),
            plan,
            answers,
        })
    }

    pub fn price(&self) -> PickPrice {
        let judges = &self.plan.estimates;
        PickPrice {
            pools: self.plan.pools,
            calls: self.plan.calls(),
            already: self.plan.already,
            judges: judges.iter().map(|judge| judge.name.clone()).collect(),
            expected_usd: judges.iter().map(|judge| judge.cost_usd).sum(),
            worst_usd: judges.iter().map(|judge| judge.worst_usd).sum(),
            paid: self.ensemble.iter().any(|judge| is_paid(judge.as_ref())),
            notes: self.notes.clone(),
        }
    }

    /// Asks. Every answer is in the project before `tell` hears of it.
    ///
    /// # Errors
    /// The project fails.
    pub async fn run(
        mut self,
        store: &Store,
        control: watch::Receiver<RunControl>,
        mut tell: impl FnMut(&PickProgress),
    ) -> Result<PickOutcome, AppError> {
        let (events_to, mut events) = mpsc::unbounded_channel();
        let session = PickSession {
            store: store.clone(),
            ensemble: self.ensemble.clone(),
            control: control.clone(),
        };
        let tasks = std::mem::take(&mut self.plan.tasks);
        let mut outcome = PickOutcome {
            progress: PickProgress {
                all: tasks.len(),
                spent_usd: self.answers.spent_usd(),
                ..PickProgress::default()
            },
            ..PickOutcome::default()
        };
        let asked = tokio::spawn(run::run(session, tasks, events_to));
        let mut failed = None;
        while let Some(event) = events.recv().await {
            match event {
                PickEvent::Recorded { record, last } => {
                    self.answers.add(&record);
                    outcome.progress.count(&record, last);
                    outcome.progress.spent_usd = self.answers.spent_usd();
                    tell(&outcome.progress);
                }
                PickEvent::Again(line) => tracing::warn!("{line}"),
                PickEvent::Stopped { seat, why } => {
                    let judge = self.ensemble.get(seat);
                    let name = judge.map_or("", |judge| judge.spec().name.as_str());
                    let name = first_names(&[name]);
                    outcome.given_up.push(format!("{name} stopped: {why}"));
                }
                PickEvent::BudgetReached => outcome.budget_reached = true,
                PickEvent::Failed(error) => failed = Some(error),
            }
        }
        asked.await.map_err(AppError::failed)??;
        if let Some(error) = failed {
            return Err(error.into());
        }
        let left = outcome.progress.done < outcome.progress.all;
        outcome.stopped = left && control.borrow().cancelled;
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::domain::corpus::Pool;
    use crate::formats::dataset;
    use tempfile::TempDir;

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
        assert_eq!((price.pools, price.calls, price.already), (2, 6, 0));
        assert_eq!((price.worst_usd, price.paid), (Some(0.0), false));
        let (_steer, control) = watch::channel(RunControl::default());
        let mut told = 0;
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let outcome = runtime.block_on(open.run(&store, control, |_| told += 1));
        let outcome = outcome.unwrap();
        assert_eq!((outcome.progress.done, told), (6, 6));
        assert!(!outcome.stopped && !outcome.budget_reached);
        let again = prepared(&store, PickMode::AnyNumber).price();
        assert_eq!((again.calls, again.already), (0, 6));
        // Without labels there is no number to ask for.
        let exactly = prepared(&store, PickMode::Exactly).price();
        assert_eq!((exactly.pools, exactly.calls), (1, 3));
        assert_eq!(exactly.notes.len(), 1, "{:?}", exactly.notes);
    }
}
