//! Runs commands of this program for an agent, each in a process that ends with it.

use crate::cli::command::{CommandContext, CommandFailure};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;

/// Maximum size of what a command may print, in bytes.
const MOST: u64 = 8 << 20;

/// This program with the options that name the project, the configuration and the person.
#[derive(Clone, Debug)]
pub(super) struct Program {
    path: PathBuf,
    options: Vec<OsString>,
}

/// What a command printed.
pub(super) struct Printed {
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) succeeded: bool,
    /// Whether it printed more than is passed on.
    pub(super) is_cut: bool,
}

impl Program {
    pub(super) fn of(context: &CommandContext) -> Result<Self, CommandFailure> {
        let mut options: Vec<OsString> = vec!["--project".into(), context.project().into()];
        if let Some(file) = &context.config_file {
            options.extend(["--config".into(), file.into()]);
        }
        if let Some(name) = &context.named_annotator {
            options.extend(["--annotator".into(), name.into()]);
        }
        Ok(Self {
            path: std::env::current_exe()?,
            options,
        })
    }

    /// Runs a command that cannot change the project. It is killed when the future is dropped.
    pub(super) async fn read(&self, arguments: &[String]) -> std::io::Result<Printed> {
        self.run(arguments, true).await
    }

    /// Runs a command that may change the project. It is not killed: a call that was paid for is
    /// stored.
    pub(super) async fn act(&self, arguments: &[String]) -> std::io::Result<Printed> {
        self.run(arguments, false).await
    }

    /// Runs a command without input.
    async fn run(&self, arguments: &[String], is_reading: bool) -> std::io::Result<Printed> {
        let mut child = Command::new(&self.path)
            .args(&self.options)
            .args(is_reading.then_some("--reading"))
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(is_reading)
            .spawn()?;
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let ((stdout, is_cut), (stderr, _)) = tokio::try_join!(all_of(out), all_of(err))?;
        if is_cut && is_reading {
            child.start_kill()?;
        }
        let status = child.wait().await?;
        Ok(Printed {
            stdout,
            stderr,
            succeeded: status.success(),
            is_cut,
        })
    }
}

/// The text of a stream, and whether it was cut. The rest of a stream that is too long is not read.
async fn all_of(stream: Option<impl AsyncRead + Unpin>) -> std::io::Result<(String, bool)> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        stream.take(MOST + 1).read_to_end(&mut bytes).await?;
    }
    let is_cut = bytes.len() as u64 > MOST;
    Ok((String::from_utf8_lossy(&bytes).into_owned(), is_cut))
}
