//! A handle on a run: its progress, its controls and its result.

use super::dispatch;
use super::error::RunError;
use super::progress::RunProgress;
use super::request::{RunOutcome, RunRequest};
use super::shared_work::WorkFeed;
use crate::app::run_lock::RunLock;
use crate::client::RunControl;
use crate::judge::{JudgeEnsemble, JudgeSpec};
use crate::store::Store;
use std::sync::Arc;
use tokio::sync::watch;
use tokio::task::JoinHandle;

#[derive(Debug)]
pub struct RunHandle {
    pub progress: watch::Receiver<RunProgress>,
    pub control: watch::Sender<RunControl>,
    pub end: JoinHandle<Result<RunOutcome, RunError>>,
}

impl RunHandle {
    /// Starts a run on the current Tokio runtime.
    pub fn start(
        store: Store,
        ensemble: JudgeEnsemble,
        request: RunRequest,
        control: RunControl,
    ) -> Self {
        Self::start_under(None, store, ensemble, request, control)
    }

    /// Starts a run under a lock that was acquired earlier, so that no other run could begin in
    /// between.
    pub fn start_under(
        lock: Option<Arc<RunLock>>,
        store: Store,
        ensemble: JudgeEnsemble,
        request: RunRequest,
        control: RunControl,
    ) -> Self {
        Self::launch(lock, store, ensemble, request, control, None)
    }

    /// Starts a run that makes the calls of the parts that it is given. The queries of the request
    /// are those that parts may belong to.
    #[cfg(feature = "remote")]
    pub fn start_shared(
        lock: Arc<RunLock>,
        store: Store,
        ensemble: JudgeEnsemble,
        request: RunRequest,
        control: RunControl,
        feed: WorkFeed,
    ) -> Self {
        Self::launch(Some(lock), store, ensemble, request, control, Some(feed))
    }

    fn launch(
        lock: Option<Arc<RunLock>>,
        store: Store,
        ensemble: JudgeEnsemble,
        request: RunRequest,
        control: RunControl,
        feed: Option<WorkFeed>,
    ) -> Self {
        let specs: Vec<JudgeSpec> = ensemble.iter().map(|judge| judge.spec().clone()).collect();
        let (progress_to, progress) = watch::channel(RunProgress::new(&specs));
        let (control_to, control) = watch::channel(control);
        let end = tokio::spawn(dispatch::run(
            lock,
            store,
            ensemble,
            request,
            control,
            progress_to,
            feed,
        ));
        Self {
            progress,
            control: control_to,
            end,
        }
    }
}
