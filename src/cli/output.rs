//! What commands share for printing: data to stdout, people's text to stderr, nothing raw from a document.

use crate::domain::sanitise;
use crate::formats::problem::Problem;
use anyhow::Context as _;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};
use std::io::{self, Write};
use std::path::Path;

/// JSON in which no string can steer a terminal: what [`sanitise`] would replace is escaped, and reads back the same.
struct TerminalSafe<F>(F);

impl<F: Formatter> Formatter for TerminalSafe<F> {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(sanitise::is_hazard) {
            let (plain, tail) = rest.split_at(at);
            writer.write_all(plain.as_bytes())?;
            let mut chars = tail.chars();
            if let Some(hazard) = chars.next() {
                for unit in hazard.encode_utf16(&mut [0; 2]) {
                    write!(writer, "\\u{unit:04x}")?;
                }
            }
            rest = chars.as_str();
        }
        writer.write_all(rest.as_bytes())
    }

    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_array(writer)
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.0.begin_array_value(writer, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array_value(writer)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object(writer)
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.0.begin_object_key(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object_value(writer)
    }
}

/// Writes a value as JSON on one line.
pub(super) fn json_line<T: serde::Serialize>(out: &mut dyn Write, value: &T) -> anyhow::Result<()> {
    let mut serializer =
        serde_json::Serializer::with_formatter(&mut *out, TerminalSafe(CompactFormatter));
    value.serialize(&mut serializer)?;
    writeln!(out)?;
    Ok(())
}

/// A value as indented JSON.
pub(super) fn json_text<T: serde::Serialize>(value: &T) -> anyhow::Result<String> {
    let mut text = Vec::new();
    let mut serializer =
        serde_json::Serializer::with_formatter(&mut text, TerminalSafe(PrettyFormatter::new()));
    value.serialize(&mut serializer)?;
    text.push(b'\n');
    Ok(String::from_utf8(text)?)
}

/// Prints a value as indented JSON.
pub(super) fn json<T: serde::Serialize>(value: &T) -> anyhow::Result<()> {
    text(&json_text(value)?)
}

/// Prints text as it is: the caller has sanitised what came from outside.
pub(super) fn text(text: &str) -> anyhow::Result<()> {
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}

/// Tells a person something, on stderr. A closed stderr is nobody to tell.
pub(super) fn message(line: &str) {
    drop(writeln!(io::stderr().lock(), "{}", sanitise::block(line)));
}

/// Problems of one file on their way to stderr: the first ones in full, the others counted.
pub(super) struct ProblemPrinter {
    file: String,
    count: usize,
}

impl ProblemPrinter {
    /// Problems printed before the rest is only counted.
    const SHOWN: usize = 50;

    /// None yet of `file`.
    pub(super) fn about(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            count: 0,
        }
    }

    /// Tells of one more.
    pub(super) fn tell(&mut self, problem: &Problem) {
        self.count += 1;
        if self.count <= Self::SHOWN {
            message(&problem.to_string());
        }
    }

    /// How many there were in all; says how many were not told.
    pub(super) fn end(self) -> usize {
        if let Some(more) = self.count.checked_sub(Self::SHOWN).filter(|more| *more > 0) {
            message(&format!("{}: and {more} more", self.file));
        }
        self.count
    }
}

/// `count` of something in words: `1 document`, `2 documents`, `3 queries`.
pub(super) fn counted(count: usize, noun: &str) -> String {
    match (count, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{count} {stem}ies"),
        (_, None) => format!("{count} {noun}s"),
    }
}

/// Whether the reader of stdout has gone away, which is no failure of ours.
pub(super) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    is_io_error(error, io::ErrorKind::BrokenPipe)
}

/// Whether input or output failed in this way somewhere below an error.
pub(super) fn is_io_error(error: &anyhow::Error, kind: io::ErrorKind) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == kind)
            || cause.downcast_ref::<csv::Error>().is_some_and(
                |error| matches!(error.kind(), csv::ErrorKind::Io(error) if error.kind() == kind),
            )
            || cause
                .downcast_ref::<serde_json::Error>()
                .is_some_and(|error| error.io_error_kind() == Some(kind))
    })
}

/// Columns of text, left-aligned unless the header starts with `>`; two spaces between them.
pub(super) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    use unicode_width::UnicodeWidthStr;
    let right: Vec<bool> = header.iter().map(|name| name.starts_with('>')).collect();
    let names: Vec<String> = header
        .iter()
        .map(|name| name.trim_start_matches('>').to_owned())
        .collect();
    let mut widths: Vec<usize> = names.iter().map(|name| name.width()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    let mut text = String::new();
    for row in std::iter::once(&names).chain(rows) {
        let mut line = String::new();
        for ((cell, width), right) in row.iter().zip(&widths).zip(&right) {
            let pad = " ".repeat(width - cell.width());
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
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Starts the log file; the guard writes what is left when it is dropped.
pub(super) fn start_log(
    path: &Path,
) -> anyhow::Result<tracing_appender::non_blocking::WorkerGuard> {
    if let Some(what) = super::export::is_configuration(path) {
        anyhow::bail!(
            "{}: is {what}; name another file for the log",
            path.display()
        );
    }
    let file = crate::formats::file::append(path)
        .with_context(|| format!("{}: cannot be opened for the log", path.display()))?;
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

/// Names that a note lists before it only counts the rest.
const NAMED: usize = 5;

/// The first of some names, and how many more there are.
pub(super) fn first_names(names: &[&str]) -> String {
    let first: Vec<_> = names
        .iter()
        .take(NAMED)
        .map(|name| crate::domain::sanitise::line(name))
        .collect();
    let more = match names.len().checked_sub(NAMED) {
        Some(more) if more > 0 => format!(" and {more} more"),
        _ => String::new(),
    };
    format!("{}{more}", first.join(", "))
}
