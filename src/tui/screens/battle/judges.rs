//! Draws the judges' reasoning in tabs.

use super::calls::{CallResult, JudgeCall, Reasoning};
use crate::tui::canvas::Canvas;
use crate::tui::keymap::{Command, key_on};
use crate::tui::layout::cut;
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widgets::{folded_page, heading};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};

const TAB_ROWS: usize = 3;

/// Draws tabs and reasoning; returns the number of lines and the number that fits.
pub(super) fn render(
    model: &Model,
    open: &OpenQuery,
    calls: &[JudgeCall<'_>],
    reasoning: &Reasoning,
    canvas: Canvas<'_>,
) -> (usize, usize) {
    let Canvas { theme, area, buf } = canvas;
    let mut rest = area;
    let focus = model.battle.side == 2;
    if area.height >= 8 || focus {
        let words = if model.battle.raw {
            "judges, as sent"
        } else {
            "judges"
        };
        heading(words, focus, theme, cut(&mut rest, 1), buf);
    }
    if calls.is_empty() {
        let words = if open.judges.is_empty() {
            "no judge was asked about this query"
        } else {
            "no judge was asked about this pair"
        };
        Line::styled(words, theme.missing()).render(rest, buf);
        return (0, 0);
    }
    let chosen = model.battle.judge.min(calls.len() - 1);
    let tabs = tabs(calls, chosen, theme, usize::from(rest.width));
    let rows = tabs.len() as u16;
    Paragraph::new(tabs).render(cut(&mut rest, rows), buf);
    let Some(call) = calls.get(chosen) else {
        return (0, 0);
    };
    let offline = open
        .judges
        .get(call.index)
        .is_some_and(|(_, spec)| spec.is_offline());
    let mut lines: Vec<Line<'static>> = Vec::new();
    let columns = usize::from(rest.width);
    if let Some(words) = call.presentation_note(model.battle.raw) {
        lines.extend(text::lines(words, columns, theme.muted()));
    }
    if let Some(words) = call.order_note() {
        let style = if call.flips() {
            theme.warn()
        } else {
            theme.muted()
        };
        lines.extend(text::lines(&words, columns, style));
    }
    lines.extend(reasoning.lines.iter().cloned());
    if let Some(words) = call.cost_note(offline) {
        lines.extend(text::lines(&words, columns, theme.faint()));
    }
    let key = |command| key_on(command, model.screen());
    let hint = if focus {
        String::new()
    } else {
        format!(": {} then {}", key(Command::Right), key(Command::Down))
    };
    folded_page(
        lines,
        model.battle.judge_scroll,
        &hint,
        Canvas::new(theme, rest, buf),
    )
}

/// The tabs in as many rows as they need, or those around the chosen one if there are too many.
fn tabs(
    calls: &[JudgeCall<'_>],
    chosen: usize,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let mut rows: Vec<(Vec<Span<'static>>, usize)> = vec![(Vec::new(), 0)];
    let mut chosen_row = 0;
    for (at, call) in calls.iter().enumerate() {
        let words = format!(
            " {} ",
            text::truncate(&call.summary(), columns.saturating_sub(2))
        );
        let width = text::width(&words);
        if rows
            .last()
            .is_some_and(|(spans, used)| !spans.is_empty() && used + width + 1 > columns)
        {
            rows.push((Vec::new(), 0));
        }
        if at == chosen {
            chosen_row = rows.len() - 1;
        }
        let style = match (at == chosen, call.result) {
            (true, _) => theme.tab_on(),
            (false, CallResult::Failed) => theme.bad(),
            (false, CallResult::NotRun) => theme.missing(),
            (false, CallResult::NotAsked) => theme.faint(),
            (false, CallResult::Prefers(_)) => theme.judge(call.index),
        };
        if let Some((spans, used)) = rows.last_mut() {
            if !spans.is_empty() {
                spans.push(Span::styled("│", theme.border()));
            }
            spans.push(Span::styled(words, style));
            *used += width + 1;
        }
    }
    let first = chosen_row.saturating_sub(TAB_ROWS - 1);
    rows.into_iter()
        .skip(first)
        .take(TAB_ROWS)
        .map(|(spans, _)| Line::from(spans))
        .collect()
}
