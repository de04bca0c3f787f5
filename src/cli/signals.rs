//! Signals that stop a command, and how its run ended.

use super::command::CommandFailure;
use super::output;
use crate::client::RunControl;
#[cfg(unix)]
use std::sync::Arc;
use tokio::runtime::Runtime;
use tokio::sync::watch;

/// Makes a write beyond the file size limit (`ulimit -f`) fail instead of ending the process.
pub(super) fn report_size_limits() {
    #[cfg(unix)]
    {
        use signal_hook::consts::SIGXFSZ;
        let ignored = signal_hook::flag::register(SIGXFSZ, Arc::default());
        if let Err(error) = ignored {
            tracing::warn!(%error, "a limit of file sizes would end the process");
        }
    }
}

/// How a run of questions ended.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RunEnd {
    /// Someone stopped it.
    pub(crate) interrupted: bool,
    /// The budget was reached.
    pub(crate) budget_reached: bool,
}

/// A runtime for a command that calls services.
pub(crate) fn runtime() -> Result<Runtime, std::io::Error> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
}

/// The message after a signal.
pub(crate) fn stopping(control: &RunControl) -> String {
    if control.grace.is_zero() {
        return "stopping at once: calls in flight count as spent, and the next run repeats them"
            .to_owned();
    }
    format!(
        "stopping: calls in flight are paid for and have {} s to finish; press Ctrl-C again to \
         stop at once",
        control.grace.as_secs()
    )
}

/// The controls of the calls, starting from `control` and changed by signals.
pub(super) fn stop_on_signals(
    runtime: &Runtime,
    control: RunControl,
) -> Result<watch::Receiver<RunControl>, CommandFailure> {
    let (steer, control) = watch::channel(control);
    let mut signals = runtime.block_on(async { stops() })?;
    runtime.spawn(async move {
        while signals.recv().await.is_some() {
            steer.send_modify(RunControl::stop);
            output::message(&stopping(&steer.borrow()));
        }
        // Without signals, nothing can stop it; keep the sender alive anyway.
        std::future::pending::<()>().await;
    });
    Ok(control)
}

/// SIGINT, SIGTERM and SIGHUP as one stream.
pub(crate) fn stops() -> Result<tokio::sync::mpsc::Receiver<()>, std::io::Error> {
    let (sender, receiver) = tokio::sync::mpsc::channel(4);
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        for kind in [
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
        ] {
            let (mut stream, sender) = (signal(kind)?, sender.clone());
            tokio::spawn(async move {
                while stream.recv().await.is_some() {
                    if sender.send(()).await.is_err() {
                        return;
                    }
                }
            });
        }
    }
    #[cfg(not(unix))]
    {
        let sender = sender.clone();
        tokio::spawn(async move {
            while tokio::signal::ctrl_c().await.is_ok() && sender.send(()).await.is_ok() {}
        });
    }
    Ok(receiver)
}
