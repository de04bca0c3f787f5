//! Reads keys, the mouse and resizes outside the event loop: if the terminal is gone, the library
//! reads the end of input forever and never returns, and the loop must continue in order to leave
//! properly.

use crossterm::event::{self, Event, EventStream};
use futures::StreamExt as _;
use std::io;
use std::sync::mpsc as sync;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// How long reading may take to stop. It takes longer only if the terminal is gone.
const STOP_WITHIN: Duration = Duration::from_secs(1);

/// Events that the terminal sent together, and when they were read.
pub(super) struct Batch {
    pub(super) at: Instant,
    pub(super) events: Vec<Event>,
}

/// Events of the terminal, until it is dropped or restarted.
pub(super) struct TerminalEvents {
    batches: mpsc::UnboundedReceiver<io::Result<Batch>>,
    stop: Option<mpsc::Sender<()>>,
    stopped: sync::Receiver<()>,
}

impl TerminalEvents {
    /// Starts reading on a separate thread, since a thread of the runtime would be lost with the
    /// terminal.
    pub(super) fn start() -> io::Result<Self> {
        let (send, batches) = mpsc::unbounded_channel();
        let (stop, mut stops) = mpsc::channel::<()>(1);
        let (tell, stopped) = sync::channel();
        let read = async move {
            let mut stream = EventStream::new();
            loop {
                let event = tokio::select! {
                    biased;
                    // Also when the other end is dropped.
                    _ = stops.recv() => break,
                    event = stream.next() => event,
                };
                let Some(event) = event else { break };
                let at = Instant::now();
                if send.send(event.and_then(|event| batch(event, at))).is_err() {
                    break;
                }
            }
            // Its thread must not take keys meant for the shell.
            drop(stream);
            // If the workbench has ended, nobody waits for it.
            let _ = tell.send(());
        };
        std::thread::Builder::new()
            .name("terminal-events".to_owned())
            .spawn(move || futures::executor::block_on(read))?;
        Ok(Self {
            batches,
            stop: Some(stop),
            stopped,
        })
    }

    /// The next events; `None` if there will be none.
    pub(super) async fn next(&mut self) -> Option<io::Result<Batch>> {
        self.batches.recv().await
    }

    /// Whether nothing is read any more.
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.is_none()
    }

    /// Stops reading from the terminal before it returns.
    pub(super) fn stop(&mut self) {
        if self.stop.take().is_none() {
            return;
        }
        // If the terminal is gone, this is late or never happens, but then there are no keys to
        // take.
        let _ = self.stopped.recv_timeout(STOP_WITHIN);
    }
}

/// An event, and those that were read from the terminal with it.
fn batch(first: Event, at: Instant) -> io::Result<Batch> {
    let mut events = vec![first];
    while event::poll(Duration::ZERO)? {
        events.push(event::read()?);
    }
    Ok(Batch { at, events })
}

/// Completes when the terminal is gone, whether or not that is reported.
pub(super) async fn gone() {
    #[cfg(unix)]
    {
        let (tell, gone) = tokio::sync::oneshot::channel();
        let watch = move || {
            use rustix::event::{PollFd, PollFlags, poll};
            let input = io::stdin();
            loop {
                // No events are requested, so only the end of the terminal is reported.
                let mut watched = [PollFd::new(&input, PollFlags::empty())];
                match poll(&mut watched, None) {
                    Err(rustix::io::Errno::INTR) => {}
                    Err(_) => return,
                    Ok(_) if watched[0].revents().contains(PollFlags::HUP) => {
                        let _ = tell.send(());
                        return;
                    }
                    Ok(_) => return,
                }
            }
        };
        let started = std::thread::Builder::new()
            .name("terminal-watch".to_owned())
            .spawn(watch);
        if started.is_ok() && gone.await.is_ok() {
            return;
        }
    }
    std::future::pending::<()>().await;
}
