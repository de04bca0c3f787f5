//! One process of a program: writes a line, reads a line, and logs its stderr.

use crate::domain::permission::ProgramUse;
use crate::domain::sanitize;
use crate::judge::process_group::ProcessGroup;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufReader,
};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

/// Maximum length of a logged stderr line in bytes, and maximum number of lines per process.
const LINE_BYTES: u64 = 1_000;
const LINES: usize = 200;
/// How long to wait for the last stderr output of a process that has ended: another process may
/// hold its end of the pipe.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// How often to check whether a program has read its question.
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// Why there is no line.
#[derive(Debug)]
pub(super) enum AskFailure {
    NotStarted(String),
    /// It has ended, with its status.
    Ended(String),
    TooLong,
    /// It wrote this before it had read a question.
    Unasked(Vec<u8>),
}

/// A running process; dropping it kills it with all processes that it has started.
#[derive(Debug)]
pub(super) struct ProgramProcess {
    /// Before `child`, which must be dropped later: the ID of an ended leader may be reused by
    /// another process.
    _group: ProcessGroup,
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    complaints: JoinHandle<()>,
    last: Arc<Mutex<String>>,
}

impl ProgramProcess {
    pub(super) fn start(name: &str, used: &ProgramUse) -> Result<Self, AskFailure> {
        let not = |why: &dyn std::fmt::Display| AskFailure::NotStarted(why.to_string());
        let ProgramUse { folder, command } = used;
        let (program, arguments) = command.split_first().ok_or_else(|| not(&"no command"))?;
        let mut command = Command::new(found(program, folder));
        command
            .args(arguments)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let (group, mut child) = ProcessGroup::spawn(&mut command).map_err(|error| not(&error))?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(not(&"it has no pipes"));
        };
        let last = Arc::default();
        let complaints = tokio::spawn(log(name.to_owned(), stderr, Arc::clone(&last)));
        Ok(Self {
            _group: group,
            child,
            stdin,
            stdout: BufReader::new(stdout),
            complaints,
            last,
        })
    }

    /// Whether it is still running.
    pub(super) fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Asks a question, a line without its line end, and reads the next nonempty line, up to `most`
    /// bytes. Returns the process if it has read everything that was sent.
    ///
    /// The line end is sent when the program has read the rest and has written nothing: a line
    /// written before the question would be taken for this answer, and every later answer for that
    /// of the previous question.
    pub(super) async fn ask(
        mut self,
        question: &[u8],
        most: usize,
    ) -> Result<(Option<Self>, Vec<u8>), AskFailure> {
        match self.offer(question).await {
            Offered::Read => {}
            Offered::Ended => return Err(AskFailure::Ended(self.end().await)),
            Offered::Written => {
                let begun = self.stdout.buffer().to_vec();
                let unasked = next_line(&mut self.stdout, most);
                let line = match tokio::time::timeout(LAST_WORDS, unasked).await {
                    Ok(line) => line.ok().flatten().unwrap_or_default(),
                    // It wrote no line end.
                    Err(_) => begun,
                };
                // A program that answers without reading the question, and ends, shifts nothing.
                let status = tokio::time::timeout(LAST_WORDS, self.child.wait()).await;
                return match status {
                    Ok(Ok(status)) if status.success() && line.len() <= most => Ok((None, line)),
                    _ => Err(AskFailure::Unasked(line)),
                };
            }
        }
        let (answer, whole) = {
            let write = async {
                self.stdin.write_all(b"\n").await?;
                self.stdin.flush().await
            };
            let read = next_line(&mut self.stdout, most);
            tokio::pin!(write, read);
            let mut written = None;
            loop {
                tokio::select! {
                    result = &mut write, if written.is_none() => written = Some(result.is_ok()),
                    answer = &mut read => break (answer, written == Some(true)),
                }
            }
        };
        match answer {
            Ok(Some(answer)) if answer.len() > most => Err(AskFailure::TooLong),
            Ok(Some(answer)) => Ok((whole.then_some(self), answer)),
            Ok(None) | Err(_) => Err(AskFailure::Ended(self.end().await)),
        }
    }

    /// Writes a question without its line end, and waits until the program has read it.
    async fn offer(&mut self, question: &[u8]) -> Offered {
        let Self { stdin, stdout, .. } = self;
        let sent = async {
            // A program that has closed its input may still answer; its output decides.
            drop(stdin.write_all(question).await);
            drop(stdin.flush().await);
            while unread(stdin) > 0 {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
        };
        let written = async {
            loop {
                match stdout.fill_buf().await {
                    Ok([]) | Err(_) => return Offered::Ended,
                    Ok(bytes) => match bytes.iter().position(|byte| !byte.is_ascii_whitespace()) {
                        Some(_) => return Offered::Written,
                        None => {
                            let blank = bytes.len();
                            stdout.consume(blank);
                        }
                    },
                }
            }
        };
        tokio::pin!(sent, written);
        tokio::select! {
            biased;
            offered = &mut written => return offered,
            () = &mut sent => {}
        }
        // Output from before it read the question may be in the pipe without having been noticed by
        // this thread.
        tokio::select! {
            biased;
            offered = &mut written => offered,
            () = tokio::time::sleep(LOOK_AGAIN) => Offered::Read,
        }
    }

    /// Its exit status, with its last stderr output.
    async fn end(mut self) -> String {
        drop(self.stdin);
        // A process that has only closed its output is killed when dropped.
        let status = tokio::time::timeout(LAST_WORDS, self.child.wait()).await;
        let how = match status {
            Ok(Ok(status)) => status.to_string(),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "it closed its output".to_owned(),
        };
        drop(tokio::time::timeout(LAST_WORDS, self.complaints).await);
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_empty() {
            how
        } else {
            format!("{how}; it said {last:?}")
        }
    }
}

/// What a program did before the line end of a question was sent.
enum Offered {
    Read,
    Written,
    Ended,
}

/// Number of bytes written to the program that it has not read, if the system reports it.
#[cfg(target_os = "linux")]
fn unread(stdin: &ChildStdin) -> u64 {
    rustix::io::ioctl_fionread(stdin).unwrap_or(0)
}

#[cfg(not(target_os = "linux"))]
fn unread(_: &ChildStdin) -> u64 {
    0
}

/// A program in the folder if it is named by a path, otherwise one found by the system.
fn found(program: &str, folder: &Path) -> PathBuf {
    let path = Path::new(program);
    match path.components().count() {
        0 | 1 => path.to_owned(),
        _ => folder.join(path),
    }
}

/// The next nonempty line, up to `most` bytes plus one if it is longer; `None` at the end.
async fn next_line(
    from: &mut (impl tokio::io::AsyncBufRead + Unpin),
    most: usize,
) -> std::io::Result<Option<Vec<u8>>> {
    loop {
        let mut line = Vec::new();
        let mut limited = (&mut *from).take(most as u64 + 1);
        if limited.read_until(b'\n', &mut line).await? == 0 {
            return Ok(None);
        }
        if !line.trim_ascii().is_empty() {
            return Ok(Some(line));
        }
    }
}

/// Logs a process's stderr, truncated if it is long; the rest is read and discarded, because
/// otherwise the process would block.
async fn log(name: String, stderr: impl AsyncRead + Unpin, last: Arc<Mutex<String>>) {
    let mut stderr = BufReader::new(stderr);
    let name = sanitize::line(&name).into_owned();
    for at in 0_usize.. {
        let mut line = Vec::new();
        let mut limited = (&mut stderr).take(LINE_BYTES);
        match limited.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&line);
        let text = sanitize::line(text.trim()).into_owned();
        match at {
            0..LINES => tracing::warn!("reranker {name}: {text}"),
            LINES => tracing::warn!("reranker {name}: further messages are omitted"),
            _ => {}
        }
        if !text.is_empty() {
            *last.lock().unwrap_or_else(PoisonError::into_inner) = text;
        }
    }
}
