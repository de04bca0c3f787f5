//! `overrule manual`: shows the manual in the terminal.

use super::command::{CommandResult, usage};
use super::output;
use crate::app::manual::{CHAPTERS, Chapter};
use crate::domain::named::did_you_mean;
use clap::Args;
use serde_json::{Value, json};
use std::io::IsTerminal as _;

/// Columns without a terminal, and the maximum with one.
const WIDTHS: (u16, u16) = (80, 100);

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  overrule manual                the chapters
  overrule manual adjudication   one of them; the first letters of its name are enough (adj)
  overrule manual keys | less")]
pub(super) struct ManualCommand {
    /// Chapter [default: list the chapters]
    topic: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl ManualCommand {
    pub(super) fn run(self) -> CommandResult {
        let Some(topic) = &self.topic else {
            return if self.json {
                output::json(&CHAPTERS.iter().map(row).collect::<Vec<_>>())
            } else {
                output::text(&contents())
            };
        };
        let Some(chapter) = Chapter::find(topic) else {
            let near = did_you_mean(topic, CHAPTERS.iter().map(|chapter| chapter.topic));
            return Err(usage!(
                "no chapter {topic:?}{near}; the chapters are:\n\n{}",
                contents()
            ));
        };
        if self.json {
            let mut row = row(&chapter);
            row["text"] = chapter.text.into();
            output::json(&row)?;
        } else {
            output::raw(&chapter.plain(width()))?;
        }
        Ok(())
    }
}

fn row(chapter: &Chapter) -> Value {
    json!({ "topic": chapter.topic, "title": chapter.title(), "summary": chapter.summary() })
}

/// One line per chapter.
fn contents() -> String {
    let rows: Vec<Vec<String>> = CHAPTERS
        .iter()
        .map(|chapter| vec![chapter.topic.to_owned(), chapter.summary().to_owned()])
        .collect();
    let table = output::table(&["topic", "overrule manual TOPIC"], &rows);
    format!("{table}\n`overrule COMMAND --help` lists the options of a command.\n")
}

fn width() -> usize {
    let (least, most) = WIDTHS;
    let terminal = std::io::stdout()
        .is_terminal()
        .then(crossterm::terminal::size);
    let columns = terminal
        .and_then(Result::ok)
        .map_or(least, |(columns, _)| columns);
    usize::from(columns.min(most))
}

/// The chapters as sections of the manual page.
pub(super) fn roff() -> String {
    let mut page = String::new();
    for chapter in CHAPTERS {
        page.push_str(&format!(".SH {}\n.nf\n", chapter.title().to_uppercase()));
        let plain = chapter.plain(usize::from(WIDTHS.0) - 7);
        // .SH already shows the title and its line.
        for line in plain.lines().skip(3) {
            let line = line.replace('\\', "\\e").replace('-', "\\-");
            let guard = if line.starts_with(['.', '\'']) {
                "\\&"
            } else {
                ""
            };
            page.push_str(&format!("{guard}{line}\n"));
        }
        page.push_str(".fi\n");
    }
    page
}
