//! The signals that end the workbench, as far as the system has them.

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens from when it is made: a signal that came meanwhile is not lost.
pub(super) struct Signals {
    #[cfg(unix)]
    hangup: Signal,
    #[cfg(unix)]
    others: [Signal; 3],
}

impl Signals {
    pub(super) fn new() -> std::io::Result<Self> {
        Ok(Self {
            #[cfg(unix)]
            hangup: signal(SignalKind::hangup())?,
            #[cfg(unix)]
            others: [
                signal(SignalKind::terminate())?,
                signal(SignalKind::interrupt())?,
                signal(SignalKind::quit())?,
            ],
        })
    }

    /// Somebody wants the workbench to end, or its terminal is gone.
    pub(super) async fn any(&mut self) {
        #[cfg(unix)]
        {
            let [terminate, interrupt, quit] = &mut self.others;
            tokio::select! {
                _ = self.hangup.recv() => {}
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
                _ = quit.recv() => {}
            }
        }
        #[cfg(not(unix))]
        std::future::pending::<()>().await
    }

    /// Somebody wants it to end at once. Not so a hangup: it may be the echo of a terminal that was found to be gone.
    pub(super) async fn insists(&mut self) {
        #[cfg(unix)]
        {
            let [terminate, interrupt, quit] = &mut self.others;
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
                _ = quit.recv() => {}
            }
        }
        #[cfg(not(unix))]
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
