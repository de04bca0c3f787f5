//! Shared output of commands: data goes to stdout, messages go to stderr, and text from documents
//! is never printed raw.

mod held;
mod histogram;
mod lines;
mod table;

pub(crate) use held::{HeldOutput, JsonArray};
pub(crate) use histogram::histograms;
pub(crate) use lines::{shortened, wrap_command, wrap_into};
pub(crate) use table::{TableColumns, table};

use super::command::{CommandFailure, CommandResult, stdout_is_a_file, usage};
use crate::app::error::{AppError, FileProblems, is_io_error};
use crate::app::output_file::{is_configuration, is_database, output_name};
use crate::app::text_format::counted;
use crate::domain::number_words::count;
use crate::domain::sanitize;
use crate::formats::safe_json;
use crate::formats::safe_stdout::SafeStdout;
use crate::store::upgrade::UpgradeProgress;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Prints a value as indented JSON.
pub(crate) fn json<T: serde::Serialize>(value: &T) -> CommandResult {
    raw(&safe_json::pretty(value)?)
}

/// Prints a value as JSON on one line.
pub(crate) fn json_line<T: serde::Serialize>(value: &T) -> CommandResult {
    Ok(safe_json::write_line(&mut SafeStdout::default(), value)?)
}

/// Prints tables and sentences, wrapped to the width of a terminal; the caller has sanitized
/// external text.
pub(crate) fn text(text: &str) -> CommandResult {
    if stdout_is_a_file() {
        message(text.trim_end());
        return Ok(());
    }
    raw(&lines::wrapped(text, terminal_width()))
}

/// Reports that a file was written.
pub(crate) fn wrote(path: &Path) {
    message(&format!("wrote {}", output_name(path)));
}

/// Prints text that must stay unchanged, such as a file's content; the caller has sanitized
/// external text.
pub(crate) fn raw(text: &str) -> CommandResult {
    Ok(SafeStdout::default().write_all(text.as_bytes())?)
}

/// Prints a message to stderr, wrapped to the width of a terminal. A closed stderr is ignored.
pub(crate) fn message(line: &str) {
    let words = sanitize::block(line);
    let words = lines::wrapped(&words, width_of(&io::stderr()));
    drop(writeln!(io::stderr().lock(), "{words}"));
}

/// Prints the progress of a project's upgrade to stderr.
pub(crate) fn upgrade(project: &Path, progress: UpgradeProgress) {
    let megabytes = |bytes: u64| bytes.div_ceil(1_000_000);
    let words = match progress {
        UpgradeProgress::CopiesRemoved(copies) => format!(
            "removed {}: an earlier version counted a judge's answer about a pair twice. No answer \
             that was paid for is lost; the next run asks about these pairs in the other order",
            counted(copies as usize, "copied vote")
        ),
        UpgradeProgress::Votes(done, all) => {
            format!(
                "upgrading to this version's format: {} of {} votes",
                count(done),
                count(all)
            )
        }
        UpgradeProgress::Shrinking { free } => {
            format!("upgraded; freeing {} MB", megabytes(free))
        }
        UpgradeProgress::NotShrunk { free } => format!(
            "upgraded; {} MB in the file are free and will be reused (there is too little disk \
             space to shrink the file now)",
            megabytes(free)
        ),
    };
    message(&format!("{}: {words}", project.display()));
}

/// Reports on stderr that another program has locked the project, unless the workbench owns the
/// terminal and reports it there.
pub(crate) fn waiting(project: &Path) {
    if !crate::tui::terminal::is_active() {
        message(&format!(
            "{}: waiting for another program that has locked it",
            project.display()
        ));
    }
}

/// Determines when the next plain progress line is due: one every two seconds.
pub(crate) struct ProgressPace {
    last: Instant,
    every: Duration,
}

impl ProgressPace {
    /// For programs that follow the output.
    pub(crate) fn new() -> Self {
        Self::every(Duration::from_secs(2))
    }

    /// For a log that is read later.
    pub(super) fn of_log() -> Self {
        Self::every(Duration::from_secs(30))
    }

    fn every(every: Duration) -> Self {
        Self {
            last: Instant::now(),
            every,
        }
    }

    pub(crate) fn is_due(&mut self) -> bool {
        let due = self.last.elapsed() >= self.every;
        if due {
            self.last = Instant::now();
        }
        due
    }
}

/// Reports the problems of a file.
pub(crate) fn problems(found: &FileProblems) {
    for problem in &found.first {
        message(&problem.to_string());
    }
    let more = found.count - found.first.len();
    if more > 0 {
        message(&format!("{}: and {more} more", found.file));
    }
}

/// Reports the failure of a command; a closed reader of stdout is not a failure of ours.
pub(crate) fn failure(failure: CommandFailure) -> ExitCode {
    if let Some(error) = &failure.error {
        if is_io_error(error.as_ref(), io::ErrorKind::BrokenPipe) {
            return ExitCode::SUCCESS;
        }
        if let Some(AppError::Problems(found)) = error.downcast_ref() {
            problems(found);
        }
        message(&format!("overrule: {error:#}"));
    }
    ExitCode::from(failure.code)
}

/// External text, made safe for one line.
pub(crate) fn clean(text: impl AsRef<str>) -> String {
    sanitize::line(text.as_ref()).into_owned()
}

/// Formats a value, or a dash for none.
pub(crate) fn or_dash<T>(value: Option<T>, words: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), words)
}

/// The width of the terminal that stdout is connected to, if any.
pub(super) fn terminal_width() -> Option<usize> {
    width_of(&io::stdout())
}

/// The width of the terminal that a stream is connected to, if any, and if it reports one.
fn width_of(stream: &impl io::IsTerminal) -> Option<usize> {
    let size = stream.is_terminal().then(crossterm::terminal::size)?.ok()?;
    Some(usize::from(size.0)).filter(|width| *width > 0)
}

/// Starts the log file; dropping the guard writes the remaining lines.
pub(super) fn start_log(
    path: &Path,
) -> Result<tracing_appender::non_blocking::WorkerGuard, CommandFailure> {
    let refused = |why: &str| usage!("{}: {why}; name another file for the log", path.display());
    if let Some(what) = is_configuration(path) {
        return Err(refused(&format!("is {what}")));
    }
    if is_database(path) {
        return Err(refused("is a database"));
    }
    let file = crate::formats::file::append(path)
        .map_err(|error| refused(&format!("cannot be opened: {error}")))?;
    let (writer, guard) = tracing_appender::non_blocking(file);
    let filter = std::env::var("OVERRULE_LOG")
        .ok()
        .filter(|filter| !filter.is_empty())
        .and_then(|filter| filter.parse().ok())
        .unwrap_or_else(|| tracing_subscriber::EnvFilter::new("info"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(writer)
        .with_ansi(false)
        .init();
    Ok(guard)
}
