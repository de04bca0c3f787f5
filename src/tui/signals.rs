//! The signals that end, stop and continue the workbench, where the system has them.

#[cfg(unix)]
use super::terminal::stop_process;
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// A signal's request to the workbench.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// End; or the terminal is gone.
    End,
    /// Give the terminal back and stop.
    Stop,
    /// Set up the terminal again. Also after SIGSTOP, which cannot be handled.
    Continue,
}

/// Listens from its creation on, so that no earlier signal is lost.
pub(super) struct Signals {
    #[cfg(unix)]
    hangup: Signal,
    #[cfg(unix)]
    others: [Signal; 3],
    #[cfg(unix)]
    stop: Signal,
    #[cfg(unix)]
    resume: Signal,
}

impl Signals {
    pub(super) fn new() -> std::io::Result<Self> {
        #[cfg(unix)]
        let of = |number: rustix::process::Signal| signal(SignalKind::from_raw(number.as_raw()));
        Ok(Self {
            #[cfg(unix)]
            hangup: signal(SignalKind::hangup())?,
            #[cfg(unix)]
            others: [
                signal(SignalKind::terminate())?,
                signal(SignalKind::interrupt())?,
                signal(SignalKind::quit())?,
            ],
            #[cfg(unix)]
            stop: of(rustix::process::Signal::TSTP)?,
            #[cfg(unix)]
            resume: of(rustix::process::Signal::CONT)?,
        })
    }

    /// The next signal, those that end the workbench first.
    pub(super) async fn next(&mut self) -> Request {
        #[cfg(unix)]
        {
            let [terminate, interrupt, quit] = &mut self.others;
            tokio::select! {
                biased;
                _ = self.hangup.recv() => Request::End,
                _ = terminate.recv() => Request::End,
                _ = interrupt.recv() => Request::End,
                _ = quit.recv() => Request::End,
                _ = self.stop.recv() => Request::Stop,
                _ = self.resume.recv() => Request::Continue,
            }
        }
        #[cfg(not(unix))]
        std::future::pending().await
    }

    /// Waits until someone asks for an immediate end. A hangup does not count, since it may only
    /// confirm that the terminal is gone.
    pub(super) async fn insists(&mut self) {
        #[cfg(unix)]
        loop {
            let [terminate, interrupt, quit] = &mut self.others;
            tokio::select! {
                _ = terminate.recv() => return,
                _ = interrupt.recv() => return,
                _ = quit.recv() => return,
                // The terminal is the shell's already.
                _ = self.stop.recv() => drop(stop_process()),
            }
        }
        #[cfg(not(unix))]
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
