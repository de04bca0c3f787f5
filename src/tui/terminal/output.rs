//! Writes to the terminal on a separate thread, so that a terminal that accepts no output (a frozen
//! window, a paused connection) does not keep the program from reading keys, signals and answers.

use super::loss::{is_loss, set_lost};
use std::io::{self, IsTerminal as _, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// A terminal that has accepted nothing for this long is stalled.
const STALLED_AFTER: Duration = Duration::from_secs(1);

/// Bytes written at once, so that progress can be seen.
const CHUNK: usize = 4096;

/// The queue of the process's terminal. It is shared with the panic hook, so it is static.
static QUEUE: Queue = Queue {
    state: Mutex::new(State {
        waiting: Vec::new(),
        writing: false,
        progress: None,
        error: None,
    }),
    changed: Condvar::new(),
    written: Notify::const_new(),
};

struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    /// Notified when nothing is left to write.
    written: Notify,
}

struct State {
    waiting: Vec<u8>,
    /// Whether the thread is writing bytes that it has taken from `waiting`.
    writing: bool,
    /// When the terminal last accepted bytes, or was first sent some after a pause.
    progress: Option<Instant>,
    error: Option<io::Error>,
}

impl State {
    fn is_idle(&self) -> bool {
        self.waiting.is_empty() && !self.writing
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, bytes: &mut Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        let mut state = self.lock();
        if state.is_idle() {
            state.progress = Some(Instant::now());
        }
        state.waiting.append(bytes);
        drop(state);
        self.changed.notify_all();
    }

    /// Waits until everything is written; false if the terminal accepts nothing for a second.
    fn drain(&self) -> bool {
        let mut state = self.lock();
        while !state.is_idle() {
            let idle = state.progress.map_or(Duration::ZERO, |at| at.elapsed());
            let Some(patience) = STALLED_AFTER
                .checked_sub(idle)
                .filter(|left| !left.is_zero())
            else {
                return false;
            };
            let waited = self.changed.wait_timeout(state, patience);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Writes the pushed bytes until the process ends.
    fn write_to(&self, mut out: impl Write) {
        loop {
            let mut state = self.lock();
            while state.waiting.is_empty() {
                let waited = self.changed.wait(state);
                state = waited.unwrap_or_else(PoisonError::into_inner);
            }
            let bytes = std::mem::take(&mut state.waiting);
            state.writing = true;
            drop(state);
            let written = bytes.chunks(CHUNK).try_for_each(|chunk| {
                out.write_all(chunk)?;
                self.lock().progress = Some(Instant::now());
                self.changed.notify_all();
                Ok(())
            });
            let written = written.and_then(|()| out.flush());
            let mut state = self.lock();
            state.writing = false;
            match written {
                Err(error) if is_loss(&error) => set_lost(),
                Err(error) => state.error = Some(error),
                Ok(()) => {}
            }
            drop(state);
            self.changed.notify_all();
            self.written.notify_one();
        }
    }
}

/// Starts the writing thread, once per process.
pub(super) fn start() -> io::Result<()> {
    static STARTED: AtomicBool = AtomicBool::new(false);
    if !STARTED.swap(true, Ordering::SeqCst) {
        let out = stdout()?;
        std::thread::Builder::new()
            .name("terminal-output".to_owned())
            .spawn(move || QUEUE.write_to(out))?;
    }
    Ok(())
}

/// Stdout without its lock: other code that prints must not wait for a thread that the terminal
/// blocks.
#[cfg(unix)]
fn stdout() -> io::Result<impl Write + Send + 'static> {
    use std::os::fd::AsFd as _;
    let file = io::stdout().as_fd().try_clone_to_owned()?;
    Ok(Patient(std::fs::File::from(file)))
}

#[cfg(not(unix))]
fn stdout() -> io::Result<impl Write + Send + 'static> {
    Ok(io::stdout())
}

/// A file that another program may have made non-blocking.
#[cfg(unix)]
struct Patient(std::fs::File);

#[cfg(unix)]
impl Write for Patient {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        use rustix::event::{PollFd, PollFlags, poll};
        loop {
            match self.0.write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    poll(&mut [PollFd::new(&self.0, PollFlags::OUT)], None)?;
                }
                other => return other,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Whether everything has been written.
pub fn is_idle() -> bool {
    QUEUE.lock().is_idle()
}

/// Completes when everything has been written; returns the error, if any.
pub async fn written() -> io::Result<()> {
    while !is_idle() {
        QUEUE.written.notified().await;
    }
    match QUEUE.lock().error.take() {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// Waits until everything is written; false if the terminal is stalled.
pub(super) fn drain() -> bool {
    QUEUE.drain()
}

/// Prints a line to stderr after the terminal was given back to the shell, unless the terminal is
/// stalled.
pub fn print_line(line: &str) {
    let mut stderr = io::stderr();
    if stderr.is_terminal() {
        QUEUE.push(&mut format!("{line}\n").into_bytes());
        if !QUEUE.drain() {
            silence();
        }
    } else {
        // Nobody reads it if it cannot be written.
        drop(writeln!(stderr, "{line}"));
    }
}

/// Drops all further output, so that a stalled terminal does not delay the end of the program.
pub fn silence() {
    #[cfg(unix)]
    {
        let Ok(nowhere) = std::fs::OpenOptions::new().write(true).open("/dev/null") else {
            return;
        };
        if io::stdout().is_terminal() {
            let _ = rustix::stdio::dup2_stdout(&nowhere);
        }
        if io::stderr().is_terminal() {
            let _ = rustix::stdio::dup2_stderr(&nowhere);
        }
    }
}

/// Collects output, and hands it to the thread when flushed.
#[derive(Debug, Default)]
pub(super) struct Output(Vec<u8>);

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        QUEUE.push(&mut self.0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    fn queue() -> &'static Queue {
        Box::leak(Box::new(Queue {
            state: Mutex::new(State {
                waiting: Vec::new(),
                writing: false,
                progress: None,
                error: None,
            }),
            changed: Condvar::new(),
            written: Notify::const_new(),
        }))
    }

    /// Accepts a write when signaled.
    struct Held(mpsc::Receiver<()>, mpsc::Sender<Vec<u8>>);

    impl Write for Held {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.recv().map_err(|_| io::ErrorKind::BrokenPipe)?;
            drop(self.1.send(bytes.to_vec()));
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn bytes_are_written_in_order_and_waited_for() {
        let queue = queue();
        let (release, held) = mpsc::channel();
        let (taken, bytes) = mpsc::channel();
        std::thread::spawn(move || queue.write_to(Held(held, taken)));
        queue.push(&mut b"one ".to_vec());
        assert!(!queue.lock().is_idle());
        queue.push(&mut b"two".to_vec());
        for _ in 0..2 {
            release.send(()).unwrap();
        }
        assert!(queue.drain());
        let written: Vec<u8> = bytes.try_iter().flatten().collect();
        assert_eq!(written, b"one two");
    }

    #[test]
    fn a_stalled_terminal_is_not_waited_for() {
        let queue = queue();
        queue.push(&mut b"never taken".to_vec());
        queue.lock().progress = Instant::now().checked_sub(STALLED_AFTER);
        assert!(!queue.drain());
    }
}
