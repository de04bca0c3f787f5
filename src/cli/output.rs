//! What commands share for printing: data to stdout, people's text to stderr, nothing raw from a document.

use anyhow::Context as _;
use std::io::{self, Write};
use std::path::Path;

/// Prints a value as indented JSON.
pub(super) fn json<T: serde::Serialize>(value: &T) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, value)?;
    writeln!(out)?;
    Ok(())
}

/// Prints text as it is: the caller has sanitised what came from outside.
pub(super) fn text(text: &str) -> anyhow::Result<()> {
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}

/// Tells a person something, on stderr. A closed stderr is nobody to tell.
pub(super) fn complain(line: &str) {
    drop(writeln!(io::stderr().lock(), "{line}"));
}

/// Whether the reader of stdout has gone away, which is no failure of ours.
pub(super) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
            || cause
                .downcast_ref::<serde_json::Error>()
                .is_some_and(|error| error.io_error_kind() == Some(io::ErrorKind::BrokenPipe))
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
    let file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
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
