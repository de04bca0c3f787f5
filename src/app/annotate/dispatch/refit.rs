//! Updates the estimates that depend on all votes.

use super::Dispatcher;
use crate::app::annotate::error::RunError;
use crate::app::annotate::progress::RunPhase;
use crate::store::judges::EnsembleId;
use tokio::sync::watch;

impl Dispatcher {
    /// Estimates the prior and the dispersion of the battles once all votes are in. After a cancel,
    /// the next run estimates them.
    pub(super) async fn estimate(&mut self, ensemble: EnsembleId) -> Result<(), RunError> {
        // Use separate threads: a fit here would block this task, and with it pause, cancel and the
        // screen.
        let (counts, mut counted) = watch::channel((0, 0));
        let (store, control) = (self.store.clone(), self.control.clone());
        let work = tokio::task::spawn_blocking(move || {
            store.estimate(ensemble, |done, all| {
                counts.send_replace((done, all));
                !control.borrow().cancelled
            })
        });
        // The channel closes when the work ends.
        while counted.changed().await.is_ok() {
            let (done, all) = *counted.borrow_and_update();
            if self.progress.phase != RunPhase::Refitting {
                self.progress.enter(RunPhase::Refitting, all);
                self.report(true);
            }
            self.progress.step_done = done;
            self.report(false);
        }
        work.await
            .map_err(|error| RunError::Crashed(error.to_string()))??;
        Ok(())
    }
}
