//! What commands share for printing: data to stdout, people's text to stderr, nothing raw from a document.

use super::command::{CommandFailure, CommandResult, usage};
use crate::app::error::{AppError, FileProblems, is_io_error};
use crate::app::output_file::{is_configuration, is_database};
use crate::domain::sanitise;
use crate::formats::safe_json;
use crate::store::upgrade::UpgradeProgress;
use std::io::{self, IsTerminal as _, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Prints a value as indented JSON.
pub(super) fn json<T: serde::Serialize>(value: &T) -> CommandResult {
    text(&safe_json::pretty(value)?)
}

/// Prints a value as JSON on one line.
pub(super) fn json_line<T: serde::Serialize>(value: &T) -> CommandResult {
    Ok(safe_json::write_line(&mut io::stdout().lock(), value)?)
}

/// Prints text as it is: the caller has sanitised what came from outside.
pub(super) fn text(text: &str) -> CommandResult {
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}

/// Tells a person something, on stderr. A closed stderr is nobody to tell.
pub(super) fn message(line: &str) {
    drop(writeln!(io::stderr().lock(), "{}", sanitise::block(line)));
}

/// Says on the standard error how the upgrade of a project goes.
pub(super) fn upgrade(project: &Path, progress: UpgradeProgress) {
    let megabytes = |bytes: u64| bytes.div_ceil(1_000_000);
    let words = match progress {
        UpgradeProgress::Votes(done, all) => {
            format!("upgrading to this version's format: {done} of {all} votes")
        }
        UpgradeProgress::Shrinking { free } => {
            format!("upgraded; giving back {} MB", megabytes(free))
        }
        UpgradeProgress::NotShrunk { free } => format!(
            "upgraded; {} MB in the file are free and will be used again (the disk has no room to give them back now)",
            megabytes(free)
        ),
    };
    message(&format!("{}: {words}", project.display()));
}

/// When the next plain line of progress is due: one every two seconds.
pub(super) struct ProgressPace {
    last: Instant,
    every: Duration,
}

impl ProgressPace {
    /// For programs that follow along.
    pub(super) fn new() -> Self {
        Self::every(Duration::from_secs(2))
    }

    /// For a log that somebody reads later.
    pub(super) fn of_log() -> Self {
        Self::every(Duration::from_secs(30))
    }

    fn every(every: Duration) -> Self {
        Self {
            last: Instant::now(),
            every,
        }
    }

    pub(super) fn is_due(&mut self) -> bool {
        let due = self.last.elapsed() >= self.every;
        if due {
            self.last = Instant::now();
        }
        due
    }
}

/// Tells what is wrong with a file.
pub(super) fn problems(found: &FileProblems) {
    for problem in &found.first {
        message(&problem.to_string());
    }
    let more = found.count - found.first.len();
    if more > 0 {
        message(&format!("{}: and {more} more", found.file));
    }
}

/// Tells how a command failed; a reader of stdout that has gone away is no failure of ours.
pub(super) fn failure(failure: CommandFailure) -> ExitCode {
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

/// Text from outside, safe on one line.
pub(super) fn clean(text: impl AsRef<str>) -> String {
    sanitise::line(text.as_ref()).into_owned()
}

/// A value in words, or a dash for none.
pub(super) fn or_dash<T>(value: Option<T>, words: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), words)
}

/// Columns of text, left-aligned unless the header starts with `>`; two spaces between them. On a terminal lines end at its
/// width, with `…` where something is cut.
pub(super) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    table_within(terminal_width(), header, rows)
}

fn table_within(width: Option<usize>, header: &[&str], rows: &[Vec<String>]) -> String {
    let mut columns = TableColumns::new(header);
    rows.iter().for_each(|row| columns.make_room(row));
    let lines = std::iter::once(columns.header()).chain(rows.iter().map(|row| columns.line(row)));
    let fitted = lines.map(|line| match width {
        Some(width) => shortened(line.trim_end(), width) + "\n",
        None => line,
    });
    fitted.collect()
}

/// The columns of the terminal that stdout is, if it is one.
pub(super) fn terminal_width() -> Option<usize> {
    let terminal = io::stdout().is_terminal();
    let size = terminal.then(crossterm::terminal::size)?.ok()?;
    Some(usize::from(size.0))
}

/// The beginning of a text that is wider than so many columns, with `…` at its end.
pub(super) fn shortened(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 1;
    for character in text.chars() {
        used += character.width().unwrap_or(0);
        if used > columns {
            break;
        }
        out.push(character);
    }
    out.truncate(out.trim_end().len());
    out.push('…');
    out
}

/// How wide the columns of a table are.
pub(super) struct TableColumns {
    names: Vec<String>,
    right: Vec<bool>,
    widths: Vec<usize>,
}

impl TableColumns {
    /// Wide enough for the header.
    pub(super) fn new(header: &[&str]) -> Self {
        let names = header.iter().map(|name| name.trim_start_matches('>'));
        let names: Vec<String> = names.map(str::to_owned).collect();
        Self {
            right: header.iter().map(|name| name.starts_with('>')).collect(),
            widths: names.iter().map(|name| name.width()).collect(),
            names,
        }
    }

    /// Makes the columns wide enough for a row.
    pub(super) fn make_room<S: AsRef<str>>(&mut self, row: &[S]) {
        for (width, cell) in self.widths.iter_mut().zip(row) {
            *width = (*width).max(cell.as_ref().width());
        }
    }

    /// Columns that are left for the last cell of a line of so many.
    pub(super) fn left_for_last(&self, line: usize) -> usize {
        let before = self.widths.iter().rev().skip(1);
        line.saturating_sub(before.map(|width| width + 2).sum())
    }

    pub(super) fn header(&self) -> String {
        self.line(&self.names)
    }

    /// A row as a line.
    pub(super) fn line<S: AsRef<str>>(&self, row: &[S]) -> String {
        let mut line = String::new();
        for ((cell, width), right) in row.iter().zip(&self.widths).zip(&self.right) {
            let cell = cell.as_ref();
            let pad = " ".repeat(width.saturating_sub(cell.width()));
            let (before, after) = if *right {
                (pad.as_str(), "")
            } else {
                ("", pad.as_str())
            };
            line.push_str(before);
            line.push_str(cell);
            line.push_str(after);
            line.push_str("  ");
        }
        line.truncate(line.trim_end().len());
        line.push('\n');
        line
    }
}

/// stdout for data in rows. What is still held when a command fails is never printed: a table without a row is no answer.
pub(super) struct HeldOutput(Option<io::BufWriter<io::Stdout>>);

impl HeldOutput {
    pub(super) fn new() -> Self {
        Self(Some(io::BufWriter::new(io::stdout())))
    }

    /// Prints what is left.
    pub(super) fn end(mut self) -> CommandResult {
        Ok(self.0.take().map_or(Ok(()), |mut out| out.flush())?)
    }
}

impl Write for HeldOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0
            .as_mut()
            .map_or(Ok(bytes.len()), |out| out.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        // Writers of tables flush at their end, when the whole may fail still.
        Ok(())
    }
}

impl Drop for HeldOutput {
    fn drop(&mut self) {
        // A buffer that is dropped whole would be printed.
        drop(self.0.take().map(io::BufWriter::into_parts));
    }
}

/// A JSON array on its way to stdout, an element at a time.
pub(super) struct JsonArray {
    out: HeldOutput,
    elements: usize,
}

impl JsonArray {
    pub(super) fn new() -> Self {
        Self {
            out: HeldOutput::new(),
            elements: 0,
        }
    }

    pub(super) fn push<T: serde::Serialize>(&mut self, value: &T) -> CommandResult {
        let before = if self.elements == 0 { "[" } else { "," };
        self.elements += 1;
        self.out.write_all(before.as_bytes())?;
        for line in safe_json::pretty(value)?.lines() {
            write!(self.out, "\n  {line}")?;
        }
        Ok(())
    }

    pub(super) fn end(mut self) -> CommandResult {
        let end = if self.elements == 0 { "[]\n" } else { "\n]\n" };
        self.out.write_all(end.as_bytes())?;
        self.out.end()
    }
}

/// Starts the log file; the guard writes what is left when it is dropped.
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
    let filter = tracing_subscriber::EnvFilter::try_from_env("OVERRULE_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(writer)
        .with_ansi(false)
        .init();
    Ok(guard)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_ends_at_the_width_of_the_terminal() {
        let rows = [vec!["scifact-641".to_owned(), "12".to_owned()]];
        let table = |width| table_within(width, &["query", ">battles"], &rows);
        assert_eq!(table(None), "query        battles\nscifact-641       12\n");
        assert_eq!(table(Some(20)), table(None));
        assert_eq!(table(Some(15)), "query        b…\nscifact-641…\n");
    }

    #[test]
    fn a_text_that_does_not_fit_ends_with_an_ellipsis() {
        assert_eq!(shortened("short", 5), "short");
        assert_eq!(shortened("longer text", 7), "longer…");
        assert_eq!(shortened("漢字漢字", 5), "漢字…");
    }
}
