//! One document: ruled on blind first, then again with label and picks in sight. Nothing of the label and
//! nothing of the judges is drawn before the person has ruled.

mod actions;
mod panel;

pub use actions::{begin_ruling, leave, note, shown};

use super::{battle, document::prose};
use crate::domain::adjudication::{DisagreementCause, Finding};
use crate::domain::sanitise;
use crate::tui::keymap::Command;
use crate::tui::model::{Areas, CurrentRuling, DocumentEvidence, Effect, Model};
use crate::tui::text;
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};
use std::ops::Range;

/// Draws the screen.
pub fn view(model: &Model, theme: &Theme, area: Rect, buf: &mut Buffer) -> Areas {
    let mut areas = Areas {
        body: area,
        ..Areas::default()
    };
    let mut rest = battle::inset(area);
    let Some(current) = &model.adjudication.current else {
        let words = match model.adjudication.overview.is_some()
            && model.adjudication.disagreements.is_empty()
        {
            true => "Nothing left to rule on. Esc goes back to the list.",
            false => "loading …",
        };
        Line::styled(words, theme.muted()).render(rest, buf);
        return areas;
    };
    let Some(evidence) = &current.evidence else {
        Line::styled("loading the document …", theme.muted()).render(rest, buf);
        return areas;
    };
    let columns = usize::from(rest.width);
    let head = head(current, evidence, theme, columns);
    let rows = head.len() as u16;
    Paragraph::new(head).render(battle::cut(&mut rest, rows), buf);
    let mut lines = panel::lines(model, current, evidence, theme, columns);
    // The document keeps a third of what is left.
    let room = rest.height * 2 / 3;
    lines = super::adjudication::fold(lines, room, theme);
    let rows = lines.len() as u16;
    Paragraph::new(lines).render(battle::cut_bottom(&mut rest, rows), buf);
    (areas.lines, areas.page, areas.first) = document(model, current, evidence, theme, rest, buf);
    areas.list = rest;
    areas
}

fn head(
    current: &CurrentRuling,
    evidence: &DocumentEvidence,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let query = sanitise::line(&evidence.asked).into_owned();
    let ranges = text::wrap(&query, columns.saturating_sub(6));
    let mut lines: Vec<Line<'static>> = Vec::new();
    for (at, range) in ranges.into_iter().take(3).enumerate() {
        let mark = if at == 0 { "query " } else { "      " };
        lines.push(Line::from(vec![
            Span::styled(mark, theme.muted()),
            Span::styled(query[range].to_owned(), theme.strong()),
        ]));
    }
    let words = match current.open {
        true => return lines,
        false => {
            "Does this document answer the query? Underlined: the passage nearest to it. Label, picks and judges are hidden until you have ruled."
        }
    };
    let wrapped = text::wrap(words, columns).into_iter();
    lines.extend(wrapped.map(|range| Line::styled(words[range].to_owned(), theme.muted())));
    lines
}

/// Draws the text; returns how many lines it has, how many fit, and which is the first shown.
fn document(
    model: &Model,
    current: &CurrentRuling,
    evidence: &DocumentEvidence,
    theme: &Theme,
    area: Rect,
    buf: &mut Buffer,
) -> (usize, usize, usize) {
    let mut body = area;
    let top = battle::cut(&mut body, 1);
    let columns = usize::from(body.width);
    let (shown, lines) = model
        .layouts
        .lines(&evidence.text, &evidence.asked, columns, true);
    if let Some(note) = shown.note(true).filter(|_| body.height > 1) {
        Line::styled(text::truncate(&note, columns), theme.muted())
            .render(battle::cut(&mut body, 1), buf);
    }
    let page = usize::from(body.height);
    let nearest = lines.partition_point(|line| line.end <= shown.passage.start);
    let first = current.scroll.unwrap_or(nearest);
    let first = first.min(lines.len().saturating_sub(page));
    let place = match lines.len() > page && page > 0 {
        true => format!(
            " · {}–{}/{}",
            first + 1,
            (first + page).min(lines.len()),
            lines.len()
        ),
        false => String::new(),
    };
    let title = evidence.title.as_deref().unwrap_or_default();
    let name = sanitise::line(evidence.document.as_str());
    let words = format!("{name} {}", sanitise::line(title));
    let room = usize::from(top.width).saturating_sub(text::width(&place) + 3);
    let heading = format!("{}{place}", text::truncate(words.trim_end(), room));
    prose::heading(&heading, false, theme, top, buf);
    if shown.text.trim().is_empty() {
        Line::styled("this document has no text", theme.missing()).render(body, buf);
        return (0, page, 0);
    }
    let lit = match current.open {
        true => panel::evidence_ranges(evidence, &shown.text),
        false => None,
    };
    let passage = || match current.open {
        true => Vec::new(),
        false => vec![shown.passage.clone()],
    };
    let lit: Vec<Range<usize>> = lit.unwrap_or_else(passage);
    prose::render(&shown, &lines, first, &lit, theme, body, buf);
    (lines.len(), page, first)
}

/// Answers a command.
pub fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    if let Some(finding) = finding(command) {
        return actions::rule(model, finding);
    }
    if let Some(fault) = fault(command) {
        return actions::blame(model, fault);
    }
    let (lines, page, first) = (model.areas.lines, model.areas.page, model.areas.first);
    match command {
        Command::Open => actions::keep(model),
        Command::PutOff => actions::put_off(model),
        Command::NextDocument => actions::step(model, true),
        Command::PreviousDocument => actions::step(model, false),
        Command::Guideline => vec![Effect::Guideline],
        Command::WriteNote => actions::ask_why(model),
        Command::ToggleFullText => {
            if let Some(current) = &mut model.adjudication.current {
                current.scroll = match current.scroll {
                    None => Some(0),
                    Some(_) => None,
                };
            }
            Vec::new()
        }
        command => {
            if let Some(current) = &mut model.adjudication.current {
                let to = battle::scrolled(first, command, lines, page);
                if to != first {
                    current.scroll = Some(to);
                }
            }
            Vec::new()
        }
    }
}

/// The commands that rule, in the order of [`Finding::ALL`].
const FINDINGS: [Command; 4] = [
    Command::RuleRelevant,
    Command::RulePartially,
    Command::RuleNot,
    Command::RuleCannotTell,
];

/// The commands that name a cause, in the order of [`DisagreementCause::ALL`].
const FAULTS: [Command; 5] = [
    Command::FaultLabelWrong,
    Command::FaultLabelMissing,
    Command::FaultJudgeWrong,
    Command::FaultBoth,
    Command::FaultQuery,
];

fn finding(command: Command) -> Option<Finding> {
    let at = FINDINGS.iter().position(|known| *known == command)?;
    Finding::ALL.get(at).copied()
}

fn fault(command: Command) -> Option<DisagreementCause> {
    let at = FAULTS.iter().position(|known| *known == command)?;
    DisagreementCause::ALL.get(at).copied()
}

#[cfg(test)]
mod tests;
