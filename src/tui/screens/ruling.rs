//! A document before the court: ruled on blind first, then again with label and picks in sight. Nothing of the label and
//! nothing of the judges is drawn before the person has ruled.

mod act;
mod panel;

pub use act::{leave, note, shown, take_up};

use super::{battle, document::prose};
use crate::domain::adjudication::{DisagreementCause, Finding};
use crate::domain::sanitise;
use crate::tui::keymap::Command;
use crate::tui::model::{Areas, Effect, Exhibit, Hearing, Model};
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
    let Some(hearing) = &model.court.hearing else {
        let words = match model.court.findings.is_some() && model.court.matters.is_empty() {
            true => "Nothing left to rule on. Esc goes back to the court.",
            false => "loading …",
        };
        Line::styled(words, theme.muted()).render(rest, buf);
        return areas;
    };
    let Some(exhibit) = &hearing.exhibit else {
        Line::styled("loading the document …", theme.muted()).render(rest, buf);
        return areas;
    };
    let columns = usize::from(rest.width);
    let head = head(hearing, exhibit, theme, columns);
    let rows = head.len() as u16;
    Paragraph::new(head).render(battle::cut(&mut rest, rows), buf);
    let mut lines = panel::lines(model, hearing, exhibit, theme, columns);
    // The document keeps a third of what is left.
    let room = rest.height * 2 / 3;
    lines = super::court::fold(lines, room, theme);
    let rows = lines.len() as u16;
    Paragraph::new(lines).render(battle::cut_bottom(&mut rest, rows), buf);
    (areas.lines, areas.page, areas.first) = document(model, hearing, exhibit, theme, rest, buf);
    areas.list = rest;
    areas
}

fn head(hearing: &Hearing, exhibit: &Exhibit, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let query = sanitise::line(&exhibit.asked).into_owned();
    let ranges = text::wrap(&query, columns.saturating_sub(6));
    let mut lines: Vec<Line<'static>> = Vec::new();
    for (at, range) in ranges.into_iter().take(3).enumerate() {
        let mark = if at == 0 { "query " } else { "      " };
        lines.push(Line::from(vec![
            Span::styled(mark, theme.muted()),
            Span::styled(query[range].to_owned(), theme.strong()),
        ]));
    }
    let words = match hearing.open {
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
    hearing: &Hearing,
    exhibit: &Exhibit,
    theme: &Theme,
    area: Rect,
    buf: &mut Buffer,
) -> (usize, usize, usize) {
    let mut body = area;
    let top = battle::cut(&mut body, 1);
    let columns = usize::from(body.width);
    let (shown, lines) = model
        .shelf
        .lines(&exhibit.text, &exhibit.asked, columns, true);
    if let Some(note) = shown.note(true).filter(|_| body.height > 1) {
        Line::styled(text::truncate(&note, columns), theme.muted())
            .render(battle::cut(&mut body, 1), buf);
    }
    let page = usize::from(body.height);
    let nearest = lines.partition_point(|line| line.end <= shown.passage.start);
    let first = hearing.scroll.unwrap_or(nearest);
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
    let title = exhibit.title.as_deref().unwrap_or_default();
    let name = sanitise::line(exhibit.document.as_str());
    let words = format!("{name} {}", sanitise::line(title));
    let room = usize::from(top.width).saturating_sub(text::width(&place) + 3);
    let heading = format!("{}{place}", text::truncate(words.trim_end(), room));
    prose::heading(&heading, false, theme, top, buf);
    if shown.text.trim().is_empty() {
        Line::styled("this document has no text", theme.missing()).render(body, buf);
        return (0, page, 0);
    }
    let lit = match hearing.open {
        true => panel::evidence(exhibit, &shown.text),
        false => None,
    };
    let passage = || match hearing.open {
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
        return act::rule(model, finding);
    }
    if let Some(fault) = fault(command) {
        return act::blame(model, fault);
    }
    let (lines, page, first) = (model.areas.lines, model.areas.page, model.areas.first);
    match command {
        Command::Open => act::keep(model),
        Command::PutOff => act::put_off(model),
        Command::NextDocument => act::step(model, true),
        Command::PreviousDocument => act::step(model, false),
        Command::Guideline => vec![Effect::Guideline],
        Command::WriteNote => act::ask_why(model),
        Command::ToggleFullText => {
            if let Some(hearing) = &mut model.court.hearing {
                hearing.scroll = match hearing.scroll {
                    None => Some(0),
                    Some(_) => None,
                };
            }
            Vec::new()
        }
        command => {
            if let Some(hearing) = &mut model.court.hearing {
                let to = battle::scrolled(first, command, lines, page);
                if to != first {
                    hearing.scroll = Some(to);
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
