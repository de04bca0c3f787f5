//! Runs: plan → dispatch → record → refit.
//!
//! One task owns the run and plans it. Each judge then goes through the queries at its own speed, so that one that is
//! slow, limited or down leaves the others alone: a `feeder` puts its questions, a worker of the caller asks them. A
//! feeder holds no more than the texts of the query it works on, so that memory does not grow with the number of battles. Where a query is played in rounds, its next one is planned when the
//! last one is over; a judge that makes no more calls holds no round up. A call's result is counted only after the store has confirmed it.
//! Whoever watches gets the latest [`Progress`], never a backlog; whoever steers sends a [`Control`].

pub mod batch;
mod dispatch;
pub mod embeddings;
pub mod estimate;
mod feeder;
pub mod lock;
pub mod picks;
mod plan;
pub mod progress;
mod question;
mod rounds;

pub use crate::client::{Control, now_ms};

use crate::domain::sampling;
use crate::domain::sampling::adaptive::AdaptivePlan;
use crate::judge::{Ensemble, JudgeSpec};
use crate::store::calls::Holes;
use crate::store::corpus::QueryKey;
use crate::store::runs::RunId;
use crate::store::{Store, StoreError};
use progress::Progress;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// What a run is asked to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
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
    pub holes: Holes,
    /// Calls of each judge at most.
    pub at_most: Option<usize>,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            queries: None,
            seed: 0,
            cycles: sampling::DEFAULT_CYCLES,
            campaign: None,
            depth: None,
            holes: Holes::Fresh,
            at_most: None,
        }
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The run.
    pub run: RunId,
    /// The last progress.
    pub progress: Progress,
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
pub enum EngineError {
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
pub struct Run {
    /// The latest progress.
    pub progress: watch::Receiver<Progress>,
    /// The way to steer it.
    pub control: watch::Sender<Control>,
    /// Its end.
    pub end: JoinHandle<Result<Outcome, EngineError>>,
}

impl Run {
    /// Starts a run on the current tokio runtime.
    pub fn start(store: Store, ensemble: Ensemble, request: Request, control: Control) -> Self {
        let specs: Vec<JudgeSpec> = ensemble.iter().map(|judge| judge.spec().clone()).collect();
        let (progress_to, progress) = watch::channel(Progress::new(&specs));
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
