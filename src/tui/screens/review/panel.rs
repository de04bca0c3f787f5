//! The lines below the texts: keys, what has been said, how it goes.

use super::super::queue;
use super::CAUSES;
use crate::domain::verdict::{Confidence, ErrorCause};
use crate::tui::keymap::{self, Command, Scope};
use crate::tui::model::{CurrentItem, Model};
use crate::tui::theme::Theme;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

const DECISIONS: [(Command, &str); 6] = [
    (Command::JudgeA, "A better"),
    (Command::JudgeAStrongly, "A by far"),
    (Command::JudgeTie, "equal"),
    (Command::JudgeB, "B better"),
    (Command::JudgeBStrongly, "B by far"),
    (Command::CannotTell, "cannot tell"),
];

const CONFIDENCES: [Command; 3] = [Command::Guess, Command::FairlySure, Command::Sure];

/// Before the decision.
pub(super) fn blind(
    model: &Model,
    current: &CurrentItem,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let mut lines = vec![Line::styled("─".repeat(columns), theme.faint())];
    if current.since.is_none() {
        lines.push(Line::styled("loading the texts …", theme.muted()));
        return lines;
    }
    let decisions = DECISIONS.map(|(command, words)| (command, words, false));
    lines.extend(keys(&decisions, Scope::Review, theme, columns));
    lines.extend(keys(&confidences(current), Scope::Review, theme, columns));
    lines.extend(queue::statistics_lines(&model.queue.stats, theme, columns));
    lines
}

/// After it.
pub(super) fn open(
    model: &Model,
    current: &CurrentItem,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let said = |decision: Option<crate::domain::verdict::Decision>| {
        decision.map_or(String::new(), |decision| decision.words("A", "B"))
    };
    let mut words = format!("you said, blind: {}", said(current.blind));
    if current.decision != current.blind {
        words = format!("{words}; now: {}", said(current.decision));
    }
    let mut lines = wrapped(&words, columns, theme.override_mark());
    let enter =
        keymap::key_of(Command::Open, Scope::Review).map_or(String::new(), |key| key.to_string());
    lines.extend(wrapped(
        &format!("{enter} keeps it and goes on; a b t x and A B change it"),
        columns,
        theme.strong(),
    ));
    let causes: Vec<(Command, &'static str, bool)> = CAUSES
        .iter()
        .zip(ErrorCause::ALL)
        .map(|(command, cause)| (*command, cause.words(), current.cause == Some(cause)))
        .collect();
    lines.extend(keys(&causes, Scope::Review, theme, columns));
    lines.extend(keys(&confidences(current), Scope::Review, theme, columns));
    if let Some(note) = &current.note {
        let note = format!("reason: {}", crate::domain::sanitise::line(note));
        lines.extend(wrapped(&note, columns, theme.text()));
    }
    lines.extend(queue::statistics_lines(&model.queue.stats, theme, columns));
    lines
}

fn confidences(current: &CurrentItem) -> Vec<(Command, &'static str, bool)> {
    CONFIDENCES
        .iter()
        .zip(Confidence::ALL)
        .map(|(command, confidence)| {
            let chosen = current.confidence == Some(confidence);
            (*command, confidence.words(), chosen)
        })
        .collect()
}

fn wrapped(words: &str, columns: usize, style: Style) -> Vec<Line<'static>> {
    crate::tui::text::wrap(words, columns)
        .into_iter()
        .map(|range| Line::styled(words[range].to_owned(), style))
        .collect()
}

/// Keys with what they say, in as many rows as they need; a chosen one is marked.
pub(in crate::tui::screens) fn keys(
    keys: &[(Command, &'static str, bool)],
    scope: Scope,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let mut rows: Vec<Vec<Span<'static>>> = vec![Vec::new()];
    let mut used = 0;
    for (command, words, chosen) in keys {
        let key = keymap::key_of(*command, scope).map_or(String::new(), |key| key.to_string());
        let mark = if *chosen { "●" } else { " " };
        let width = key.chars().count() + words.chars().count() + 4;
        if used + width > columns && used > 0 {
            rows.push(Vec::new());
            used = 0;
        }
        if let Some(row) = rows.last_mut() {
            row.push(Span::raw("["));
            row.push(Span::styled(key, theme.key_hint()));
            let style = if *chosen {
                theme.strong()
            } else {
                theme.text()
            };
            row.push(Span::styled(format!("]{mark}{words} "), style));
        }
        used += width;
    }
    rows.into_iter().map(Line::from).collect()
}
