//! What commands share for printing: data to stdout, people's text to stderr, nothing raw from a document.

use super::command::{CommandFailure, CommandResult, usage};
use crate::app::error::{AppError, FileProblems, is_io_error};
use crate::app::output_file::{is_configuration, is_database};
use crate::domain::{number_words, sanitise};
use crate::formats::safe_json;
use crate::store::upgrade::UpgradeProgress;
use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Prints a value as indented JSON.
pub(super) fn json<T: serde::Serialize>(value: &T) -> CommandResult {
    raw(&safe_json::pretty(value)?)
}

/// Prints a value as JSON on one line.
pub(super) fn json_line<T: serde::Serialize>(value: &T) -> CommandResult {
    Ok(safe_json::write_line(&mut io::stdout().lock(), value)?)
}

/// Prints tables and sentences, on a terminal in lines of its width; the caller has sanitised what came from outside.
pub(super) fn text(text: &str) -> CommandResult {
    raw(&wrapped(text, terminal_width()))
}

/// Prints what is to be kept as it is, such as a file's contents; the caller has sanitised what came from outside.
pub(super) fn raw(text: &str) -> CommandResult {
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}

/// Tells a person something, on stderr, on a terminal in lines of its width. A closed stderr is nobody to tell.
pub(super) fn message(line: &str) {
    let words = sanitise::block(line);
    let words = wrapped(&words, width_of(&io::stderr()));
    drop(writeln!(io::stderr().lock(), "{words}"));
}

/// Lines of at most `width` columns, broken between words. The further lines of a long one begin where its own words do: below
/// its first one, or below the first one after a gap of two spaces and more.
fn wrapped(text: &str, width: Option<usize>) -> Cow<'_, str> {
    let Some(width) = width.filter(|width| text.lines().any(|line| line.width() > *width)) else {
        return Cow::Borrowed(text);
    };
    let mut lines = Vec::new();
    for line in text.split('\n') {
        if line.width() <= width {
            lines.push(line.to_owned());
            continue;
        }
        let indent = line.len() - line.trim_start_matches(' ').len();
        let gap = line[indent..].find("  ").map(|gap| indent + gap);
        let after_gap = gap.map(|gap| line.len() - line[gap..].trim_start_matches(' ').len());
        let begin = after_gap.filter(|at| 2 * line[..*at].width() <= width);
        let (lead, words) = line.split_at(begin.unwrap_or(indent));
        wrap_into(&mut lines, lead.to_owned(), words, width, lead.width());
    }
    Cow::Owned(lines.join("\n"))
}

/// Adds words after a lead, in lines of so many columns, the further ones set in by `hanging`.
pub(super) fn wrap_into(
    out: &mut Vec<String>,
    lead: String,
    words: &str,
    columns: usize,
    hanging: usize,
) {
    let mut line = lead;
    let mut empty = true;
    for word in words.split(' ').filter(|word| !word.is_empty()) {
        if !empty && line.width() + 1 + word.width() > columns {
            out.push(std::mem::replace(&mut line, " ".repeat(hanging)));
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    out.push(line);
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

/// A last column that is wider than this holds text, of which a narrow terminal shows the beginning.
const TEXT_COLUMN: usize = 30;
/// The least that is shown of such a text.
const LEAST_TEXT: usize = 12;

/// Columns of text, left-aligned unless the header starts with `>`, for numbers, whose thousands are separated; two spaces between
/// them. Where a terminal is too narrow, a text in the last column ends with `…`; where it is too narrow for the other columns, they
/// become tables below one another, each with the first column, so that nothing is cut.
pub(super) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    table_within(terminal_width(), header, rows)
}

fn table_within(width: Option<usize>, header: &[&str], rows: &[Vec<String>]) -> String {
    let mut columns = TableColumns::new(header);
    rows.iter().for_each(|row| columns.make_room(row));
    let line = width.unwrap_or(usize::MAX);
    let tables = columns.parts(line).into_iter().map(|part| {
        let cells = |row: &Vec<String>| part.iter().map(|at| row[*at].clone()).collect();
        let header: Vec<&str> = part.iter().map(|at| header[*at]).collect();
        let rows: Vec<Vec<String>> = rows.iter().map(cells).collect();
        let mut columns = TableColumns::new(&header);
        rows.iter().for_each(|row| columns.make_room(row));
        let lines = rows.iter().map(|row| columns.line(row));
        let lines = std::iter::once(columns.header()).chain(lines);
        lines
            .map(|words| shortened(words.trim_end(), line) + "\n")
            .collect::<String>()
    });
    tables.collect::<Vec<_>>().join("\n")
}

/// The columns of the terminal that stdout is, if it is one.
pub(super) fn terminal_width() -> Option<usize> {
    width_of(&io::stdout())
}

/// The columns of the terminal that a stream is, if it is one and says how wide it is.
fn width_of(stream: &impl io::IsTerminal) -> Option<usize> {
    let size = stream.is_terminal().then(crossterm::terminal::size)?.ok()?;
    Some(usize::from(size.0)).filter(|width| *width > 0)
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

/// A cell as it is printed: the thousands of whole numbers are separated in columns of numbers.
fn cell_words(cell: &str, of_numbers: bool) -> Cow<'_, str> {
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    if !of_numbers
        || !cell
            .as_bytes()
            .windows(4)
            .any(|four| four.iter().all(is_digit))
    {
        return Cow::Borrowed(cell);
    }
    let mut words = String::new();
    let mut rest = cell;
    while let Some(at) = rest.find(|character: char| character.is_ascii_digit()) {
        words.push_str(&rest[..at]);
        let end = rest[at..].find(|character: char| !character.is_ascii_digit());
        let (digits, after) = rest[at..].split_at(end.unwrap_or(rest.len() - at));
        match words.ends_with(['.', ',']) {
            true => words.push_str(digits),
            false => words.push_str(&number_words::count(digits)),
        }
        rest = after;
    }
    words.push_str(rest);
    Cow::Owned(words)
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
        let columns = self.widths.iter_mut().zip(&self.right);
        for ((width, right), cell) in columns.zip(row) {
            *width = (*width).max(cell_words(cell.as_ref(), *right).width());
        }
    }

    /// Columns that are left for the last cell of a line of so many.
    pub(super) fn left_for_last(&self, line: usize) -> usize {
        let before = self.widths.iter().rev().skip(1);
        line.saturating_sub(before.map(|width| width + 2).sum())
    }

    /// The places of the columns that go into one table each, so that its lines fit: the first column in all of them.
    fn parts(&self, line: usize) -> Vec<Vec<usize>> {
        let last = self.widths.last().copied().unwrap_or(0);
        let of_text = last > TEXT_COLUMN && self.left_for_last(line) >= LEAST_TEXT;
        let mut parts: Vec<Vec<usize>> = Vec::new();
        let mut used = 0;
        for (at, width) in self.widths.iter().enumerate() {
            match parts.last_mut() {
                Some(part) if of_text || part.len() == 1 || used + 2 + width <= line => {
                    part.push(at);
                    used += 2 + width;
                }
                Some(_) => {
                    parts.push(vec![0, at]);
                    used = self.widths[0] + 2 + width;
                }
                None => {
                    parts.push(vec![at]);
                    used = *width;
                }
            }
        }
        parts
    }

    pub(super) fn header(&self) -> String {
        self.line(&self.names)
    }

    /// A row as a line.
    pub(super) fn line<S: AsRef<str>>(&self, row: &[S]) -> String {
        let mut line = String::new();
        for ((cell, width), right) in row.iter().zip(&self.widths).zip(&self.right) {
            let cell = cell_words(cell.as_ref(), *right);
            let pad = " ".repeat(width.saturating_sub(cell.width()));
            let (before, after) = if *right {
                (pad.as_str(), "")
            } else {
                ("", pad.as_str())
            };
            line.push_str(before);
            line.push_str(&cell);
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
    fn the_text_of_a_last_column_ends_at_the_width_of_the_terminal() {
        let text = "Insomnia can be treated with therapy.";
        let rows = [vec!["q1".to_owned(), text.to_owned()]];
        let table = |width| table_within(width, &["query", "text"], &rows);
        assert_eq!(table(None), format!("query  text\nq1     {text}\n"));
        assert_eq!(table(Some(60)), table(None));
        assert_eq!(table(Some(22)), "query  text\nq1     Insomnia can b…\n");
    }

    #[test]
    fn a_wide_table_becomes_several_on_a_narrow_terminal() {
        let rows = [["bm25", "57 %", "1200", "0.25 s"]
            .map(str::to_owned)
            .to_vec()];
        let header = ["judge", ">flips", ">votes", ">p50"];
        let table = |width| table_within(width, &header, &rows);
        assert_eq!(table(Some(28)), table(None));
        assert_eq!(
            table(None),
            "judge  flips  votes     p50\nbm25    57 %  1,200  0.25 s\n"
        );
        let parts = "judge  flips\nbm25    57 %\n\njudge  votes\nbm25   1,200\n\njudge     p50\nbm25   0.25 s\n";
        assert_eq!(table(Some(14)), parts);
    }

    #[test]
    fn numbers_in_columns_of_numbers_have_separated_thousands() {
        let cells = ["2400", "12/1500", "0.12345", "1,234", "12345 ms"];
        let shown = cells.map(|cell| cell_words(cell, true).into_owned());
        assert_eq!(
            shown,
            ["2,400", "12/1,500", "0.12345", "1,234", "12,345 ms"]
        );
        assert_eq!(cell_words("970012", false), "970012");
        let rows = [vec!["q1".to_owned(), "2400".to_owned()]];
        let table = table_within(None, &["query", ">votes"], &rows);
        assert_eq!(table, "query  votes\nq1     2,400\n");
    }

    #[test]
    fn sentences_are_broken_between_words_and_stay_below_their_first() {
        let text = "one two three\njudges   bm25 and ngram and gpt\n  in and on\n";
        assert_eq!(wrapped(text, None), text);
        let wanted =
            "one two three\njudges   bm25 and\n         ngram and\n         gpt\n  in and on\n";
        assert_eq!(wrapped(text, Some(18)), wanted);
        assert_eq!(wrapped("  one two three", Some(8)), "  one\n  two\n  three");
        assert_eq!(wrapped("/a/long/path", Some(8)), "/a/long/path");
    }

    #[test]
    fn a_text_that_does_not_fit_ends_with_an_ellipsis() {
        assert_eq!(shortened("short", 5), "short");
        assert_eq!(shortened("longer text", 7), "longer…");
        assert_eq!(shortened("漢字漢字", 5), "漢字…");
    }
}
