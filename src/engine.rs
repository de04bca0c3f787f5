//! Runs: plan → dispatch → record → refit.
//!
//! One task owns the run and plans it. Each judge then goes through the queries at its own speed, so that one that is
//! slow, limited or down leaves the others alone: a `feeder` puts its questions, a worker of the caller asks them. A
//! feeder holds no more than the texts of the query it works on, so that memory does not grow with the number of battles. Where a query is played in rounds, its next one is planned when the
//! last one is over; a judge that makes no more calls holds no round up. A call's result is counted only after the store has confirmed it.
//! Whoever watches gets the latest [`RunProgress`], never a backlog; whoever steers sends a [`RunControl`].

pub mod batch;
mod battle_question;
mod dispatch;
pub mod embeddings;
pub mod estimate;
pub mod picks;
mod plan;
pub mod progress;
mod question_source;
mod rounds;
pub mod run_lock;

pub use crate::client::{RunControl, now_ms};

use crate::domain::sampling;
use crate::domain::sampling::adaptive::AdaptivePlan;
use crate::judge::{JudgeEnsemble, JudgeSpec};
use crate::store::calls::CallSelection;
use crate::store::corpus::QueryKey;
use crate::store::runs::RunId;
use crate::store::{Store, StoreError};
use progress::RunProgress;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// What a run is asked to do.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRequest {
    /// The queries, in order; `None` means all of the project.
    pub queries: Option<Vec<QueryKey>>,
    /// The seed of plan and presentations.
    pub seed: u64,
    /// Cycles a query, where it is not played in rounds.
    pub cycles: usize,
    /// Plays every query in rounds instead of by the plain plan.
    pub campaign: Option<AdaptivePlan>,
    /// Documents a query at most, from the top.
    pub depth: Option<usize>,
    /// Which calls are to be made.
    pub selection: CallSelection,
    /// Calls of each judge at most.
    pub at_most: Option<usize>,
}

impl Default for RunRequest {
    fn default() -> Self {
        Self {
            queries: None,
            seed: 0,
            cycles: sampling::DEFAULT_CYCLES,
            campaign: None,
            depth: None,
            selection: CallSelection::Fresh,
            at_most: None,
        }
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOutcome {
    /// The run.
    pub run: RunId,
    /// The last progress.
    pub progress: RunProgress,
    /// Whether it was told to stop.
    pub cancelled: bool,
    /// Whether it ended because the budget allows no further call.
    pub broke: bool,
    /// Votes of the plan that are not there, failed calls of earlier runs and rounds that were not played included;
    /// `None` where it was told to stop before everything was planned.
    pub missing: Option<usize>,
}

/// Why a run could not go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The project refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Another process is running on the same project.
    #[error(
        "another overrule process is running on {0}; wait for it or stop it (two runs would pay for the same call twice)"
    )]
    Busy(String),
    /// The lock file cannot be had.
    #[error("{0}")]
    Lock(String),
    /// Two judges have the same name.
    #[error("judge {0:?} is named twice")]
    TwiceNamed(String),
    /// No judge was given.
    #[error("no judge: name at least one with --judges")]
    NoJudge,
    /// The run's own task ended early.
    #[error("the run ended unexpectedly: {0}")]
    Crashed(String),
}

/// A run that is going on.
#[derive(Debug)]
pub struct RunHandle {
    /// The latest progress.
    pub progress: watch::Receiver<RunProgress>,
    /// The way to steer it.
    pub control: watch::Sender<RunControl>,
    /// Its end.
    pub end: JoinHandle<Result<RunOutcome, RunError>>,
}

impl RunHandle {
    /// Starts a run on the current tokio runtime.
    pub fn start(
        store: Store,
        ensemble: JudgeEnsemble,
        request: RunRequest,
        control: RunControl,
    ) -> Self {
        let specs: Vec<JudgeSpec> = ensemble.iter().map(|judge| judge.spec().clone()).collect();
        let (progress_to, progress) = watch::channel(RunProgress::new(&specs));
        let (control_to, control) = watch::channel(control);
        let end = tokio::spawn(dispatch::run(
            store,
            ensemble,
            request,
            control,
            progress_to,
        ));
        Self {
            progress,
            control: control_to,
            end,
        }
    }
}
