//! One process of a program: a line is written, a line is read, and what it complains about goes to the log.

use crate::domain::permission::ProgramUse;
use crate::domain::sanitise;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufReader,
};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

/// Bytes of one line of complaint that are logged, and lines of one process.
const LINE_BYTES: u64 = 1_000;
const LINES: usize = 200;
/// How long the last words of a process that has ended are waited for: another may hold its end of the pipe.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Why there is no line.
#[derive(Debug)]
pub(super) enum AskFailure {
    NotStarted(String),
    /// It is gone, and how.
    Ended(String),
    TooLong,
}

/// A running process; dropped, it is killed.
#[derive(Debug)]
pub(super) struct ProgramProcess {
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
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        // Out of reach of the terminal's Ctrl-C: a run that is stopped waits for what is in flight.
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn().map_err(|error| not(&error))?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(not(&"it has no pipes"));
        };
        let last = Arc::default();
        let complaints = tokio::spawn(log(name.to_owned(), stderr, Arc::clone(&last)));
        Ok(Self {
            child,
            stdin,
            stdout: BufReader::new(stdout),
            complaints,
            last,
        })
    }

    /// Whether it has not ended yet.
    pub(super) fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Writes `line` and reads the next line that is not empty, of `most` bytes. The process comes back where it has read
    /// all that it was sent.
    pub(super) async fn ask(
        mut self,
        line: &[u8],
        most: usize,
    ) -> Result<(Option<Self>, Vec<u8>), AskFailure> {
        let (answer, whole) = {
            let write = async {
                self.stdin.write_all(line).await?;
                self.stdin.flush().await
            };
            let read = next_line(&mut self.stdout, most);
            tokio::pin!(write, read);
            let mut written = None;
            // Both at once: a program that writes before it has read all would wait for us as we for it.
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

    /// How it ended, with its last words.
    async fn end(mut self) -> String {
        drop(self.stdin);
        // One that has only closed its output is killed by being dropped.
        let status = tokio::time::timeout(LAST_WORDS, self.child.wait()).await;
        let how = match status {
            Ok(Ok(status)) => status.to_string(),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "it closed its output".to_owned(),
        };
        drop(tokio::time::timeout(LAST_WORDS, self.complaints).await);
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match last.is_empty() {
            true => how,
            false => format!("{how}; it said {last:?}"),
        }
    }
}

/// A program in the folder where it is named by a path, else one that the system finds.
fn found(program: &str, folder: &Path) -> PathBuf {
    let path = Path::new(program);
    match path.components().count() {
        0 | 1 => path.to_owned(),
        _ => folder.join(path),
    }
}

/// The next line that is not empty, `most` bytes of it and one more where there are more; `None` at the end.
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

/// Puts what a process complains about into the log, a part of it where it is much; the rest is read and thrown away, or
/// the process would wait.
async fn log(name: String, stderr: impl AsyncRead + Unpin, last: Arc<Mutex<String>>) {
    let mut stderr = BufReader::new(stderr);
    let name = sanitise::line(&name).into_owned();
    for at in 0_usize.. {
        let mut line = Vec::new();
        let mut limited = (&mut stderr).take(LINE_BYTES);
        match limited.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&line);
        let text = sanitise::line(text.trim()).into_owned();
        match at {
            0..LINES => tracing::warn!("reranker {name}: {text}"),
            LINES => tracing::warn!("reranker {name}: further complaints are left out"),
            _ => {}
        }
        if !text.is_empty() {
            *last.lock().unwrap_or_else(PoisonError::into_inner) = text;
        }
    }
}
