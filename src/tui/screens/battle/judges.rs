//! Draws the judges' votes on a shared axis from A to B, and their reasoning.

use super::calls::{CallResult, JudgeCall};
use crate::domain::vote::{Margin, Outcome};
use crate::tui::model::open_query::OpenQuery;
use crate::tui::text;
use crate::tui::theme::Theme;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// More calls than this are listed with those first that differ from the majority.
const FEW: usize = 5;
/// Columns for a judge's name.
const NAME: usize = 18;
/// Columns of the mark of the selected judge.
const MARK: usize = 2;
/// Columns for the longest bar.
const BAR: usize = 10;
/// Columns for a number and a blank.
const NUMBER: usize = 5;

/// Columns of the axis with the names of these calls.
pub(super) fn axis_columns(calls: &[JudgeCall<'_>]) -> usize {
    MARK + name_columns(calls) + 2 * (BAR + NUMBER) + 1 + FLIP.len()
}

const FLIP: &str = " flip";

fn name_columns(calls: &[JudgeCall<'_>]) -> usize {
    calls
        .iter()
        .map(|call| text::width(&call.title()))
        .max()
        .unwrap_or(0)
        .min(NAME)
        + 1
}

/// The order in which calls are listed and walked through: if there are many, those that differ
/// from the majority come first.
pub(super) fn listed(calls: &[JudgeCall<'_>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..calls.len()).collect();
    if calls.len() > FEW {
        let outcome = |at: &usize| outcome(&calls[*at]);
        let votes = |wanted| {
            order
                .iter()
                .filter(|at| outcome(at) == Some(wanted))
                .count()
        };
        let most = [Outcome::A, Outcome::B, Outcome::Tie]
            .into_iter()
            .max_by_key(|wanted| votes(*wanted));
        order.sort_by_key(|at| outcome(at) == most);
    }
    order
}

fn outcome(call: &JudgeCall<'_>) -> Option<Outcome> {
    match call.result {
        CallResult::Prefers(margin) => Some(margin.outcome()),
        _ => None,
    }
}

/// The axis and a row for each call, in at most `rows` lines. What does not fit is counted.
pub(super) fn axis(
    calls: &[JudgeCall<'_>],
    chosen: usize,
    theme: &Theme,
    rows: usize,
) -> Vec<Line<'static>> {
    let order = listed(calls);
    let names = name_columns(calls);
    let room = if order.len() > rows {
        rows.saturating_sub(1)
    } else {
        rows
    };
    let place = order.iter().position(|at| *at == chosen).unwrap_or(0);
    let first = (place + 1).saturating_sub(room.max(1));
    let mut lines: Vec<Line<'static>> = order
        .iter()
        .skip(first)
        .take(room)
        .map(|at| row(&calls[*at], *at == chosen, names, theme))
        .collect();
    if order.len() > rows && rows > 0 {
        let words = format!("  {} of {} judges' calls", lines.len(), order.len());
        lines.push(Line::styled(words, theme.muted()));
    }
    lines
}

/// `A ◀──────┼──────▶ B`, placed above the rows.
pub(super) fn axis_head(calls: &[JudgeCall<'_>]) -> String {
    let half = "─".repeat(BAR + NUMBER - 3);
    let before = MARK + name_columns(calls);
    format!("{}A ◀{half}┼{half}▶ B", " ".repeat(before))
}

fn row(call: &JudgeCall<'_>, is_chosen: bool, names: usize, theme: &Theme) -> Line<'static> {
    let half = BAR + NUMBER;
    let color = theme.judge(call.index);
    let name = text::truncate(&call.title(), names - 1).into_owned();
    let name_style = if is_chosen {
        color.patch(theme.strong())
    } else {
        color
    };
    let mut spans = vec![
        Span::styled(if is_chosen { "▌ " } else { "  " }, theme.accent()),
        Span::styled(text::pad_right(&name, names), name_style),
    ];
    let (left, middle, right, style) = match call.result {
        CallResult::Prefers(margin) => match margin.outcome() {
            Outcome::A => (bar(margin, true), "┤", String::new(), color),
            Outcome::B => (String::new(), "├", bar(margin, false), color),
            Outcome::Tie => (String::new(), "┼", " tie".to_owned(), color),
        },
        CallResult::Failed => (String::new(), "│", " failed".to_owned(), theme.bad()),
        CallResult::NotRun => (String::new(), "│", " not run".to_owned(), theme.missing()),
        CallResult::NotAsked => (String::new(), "│", " not asked".to_owned(), theme.muted()),
    };
    spans.push(Span::styled(text::pad_left(&left, half), style));
    spans.push(Span::styled(middle, theme.border()));
    spans.push(Span::styled(text::pad_right(&right, half), style));
    if call.flips() {
        spans.push(Span::styled(FLIP, theme.warn()));
    }
    Line::from(spans)
}

/// `.43 ━━━━` towards A or `━━━━ .43` towards B.
fn bar(margin: Margin, to_a: bool) -> String {
    let size = margin.get().abs();
    let bar = "━".repeat(((size * BAR as f64).round() as usize).max(1));
    let number = number(size);
    if to_a {
        format!("{number} {bar}")
    } else {
        format!("{bar} {number}")
    }
}

/// A size in 0..=1 with two decimals; a small one is not rounded to 0.
fn number(size: f64) -> String {
    match size {
        size if size < 0.005 => "<.01".to_owned(),
        size if size >= 0.995 => "1.0".to_owned(),
        size => format!("{size:.2}").trim_start_matches('0').to_owned(),
    }
}

/// All calls in one line: `▌bm25 A .43 · ngram = tie`. Those around the chosen one if there are too
/// many.
pub(super) fn one_line(
    calls: &[JudgeCall<'_>],
    chosen: usize,
    theme: &Theme,
    columns: usize,
) -> Line<'static> {
    let order = listed(calls);
    let words = |at: usize| {
        let mark = if at == chosen { "▌" } else { "" };
        format!("{mark}{}", brief(&calls[at]))
    };
    let place = order.iter().position(|at| *at == chosen).unwrap_or(0);
    let width = |from: usize| {
        let shown = order[from..=place]
            .iter()
            .map(|at| text::width(&words(*at)) + 3);
        shown.sum::<usize>()
    };
    let first = (0..place)
        .find(|from| width(*from) <= columns)
        .unwrap_or(place);
    let mut spans = Vec::new();
    for at in &order[first.min(order.len())..] {
        if !spans.is_empty() {
            spans.push(Span::styled(" · ", theme.border()));
        }
        let style = if *at == chosen {
            style(&calls[*at], theme).patch(theme.strong())
        } else {
            style(&calls[*at], theme)
        };
        spans.push(Span::styled(words(*at), style));
    }
    let line = Line::from(spans);
    if line.width() > columns {
        text::ended(&line, columns)
    } else {
        line
    }
}

fn style(call: &JudgeCall<'_>, theme: &Theme) -> Style {
    match call.result {
        CallResult::Failed => theme.bad(),
        CallResult::NotRun => theme.missing(),
        CallResult::NotAsked => theme.faint(),
        CallResult::Prefers(_) => theme.judge(call.index),
    }
}

/// `bm25 A .43`, `ngram tie`, `gpt B 1.0 flip`.
fn brief(call: &JudgeCall<'_>) -> String {
    let said = match call.result {
        CallResult::Prefers(margin) => {
            let size = number(margin.get().abs());
            match margin.outcome() {
                Outcome::A => format!("A {size}"),
                Outcome::B => format!("B {size}"),
                Outcome::Tie => "tie".to_owned(),
            }
        }
        CallResult::Failed => "failed".to_owned(),
        CallResult::NotRun => "not run".to_owned(),
        CallResult::NotAsked => "not asked".to_owned(),
    };
    let flip = if call.flips() { FLIP } else { "" };
    format!("{} {said}{flip}", call.title())
}

/// The text under a call's heading: its answer in the other order, the reasoning, and the cost of
/// the call.
pub(super) fn with_notes(
    open: &OpenQuery,
    call: &JudgeCall<'_>,
    reasoning: Vec<Line<'static>>,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    if let Some(words) = call.order_note() {
        let style = if call.flips() {
            theme.warn()
        } else {
            theme.muted()
        };
        lines.extend(text::lines(&words, columns, style));
    }
    lines.extend(reasoning);
    let is_offline = open
        .judges
        .get(call.index)
        .is_some_and(|(_, spec)| spec.is_offline());
    if let Some(words) = call.cost_note(is_offline) {
        lines.extend(text::lines(&words, columns, theme.faint()));
    }
    lines
}
