//! Draws the result in one sentence and as intervals, and the document to rule on.

use super::commands;
use crate::app::interval_axis::IntervalAxis;
use crate::domain::number_words::{counted, duration, fixed, probability, signed};
use crate::domain::sanitize;
use crate::features::measure::app::{MeasureReport, MeasuredValue, NextDocument, metric_words};
use crate::features::methods::screen::commands::SHOW_METHODS;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::Areas;
use crate::tui::keymap::key_on;
use crate::tui::layout::{cut, inset};
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::screens::review::view::{QUERY_LINES, query_lines};
use crate::tui::text;
use crate::tui::theme::Theme;
use crate::tui::widgets::document_text::TextMarks;
use crate::tui::widgets::{document_text, heading, notice};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget};

/// Columns of the names of intervals, and of a value with its interval.
const NAME: usize = 20;
const NUMBERS: usize = 28;
/// Maximum columns of the axis, and minimum below which it is dropped.
const AXIS: usize = 61;
const SHORTEST_AXIS: usize = 17;
/// Height below which only the newest interval is shown.
const SMALL: u16 = 22;

pub(super) fn view(model: &Model, canvas: Canvas<'_>) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let mut rest = inset(area);
    let columns = usize::from(rest.width);
    let open = match &model.measure().found {
        None => {
            notice("reading the rankings and the rulings …", theme, rest, buf);
            return Areas::default();
        }
        Some(Err(error)) => {
            let methods = key_on(SHOW_METHODS, Screen::MEASURE);
            let measure = key_on(commands::SHOW_MEASURE, Screen::METHODS);
            let offer = format!(
                "Press {methods} for the screen Methods; {measure} there measures the method under \
                 the cursor."
            );
            let mut lines = text::lines(&offer, columns, theme.strong());
            lines.extend(text::lines(&sanitize::line(error), columns, theme.muted()));
            Paragraph::new(lines).render(rest, buf);
            return Areas::default();
        }
        Some(Ok(open)) => open,
    };
    let mut head = head(&open.report, area.height, theme, columns);
    head.truncate(usize::from(rest.height / 2));
    let rows = head.len() as u16;
    Paragraph::new(head).render(cut(&mut rest, rows), buf);
    text::rule(columns, theme.faint()).render(cut(&mut rest, 1), buf);
    let Some(next) = &open.next else {
        let [metric, methods] =
            [commands::NEXT_METRIC, SHOW_METHODS].map(|command| key_on(command, Screen::MEASURE));
        let words = format!(
            "No document is left that can change the value. {metric}: another metric. {methods}: \
             another method."
        );
        Paragraph::new(text::lines(&words, columns, theme.muted())).render(rest, buf);
        return Areas::default();
    };
    if model.measure().is_stale {
        text::line("drawing the next document …", columns, theme.muted()).render(rest, buf);
        return Areas::default();
    }
    let query = query_lines(&next.query_text, QUERY_LINES, theme, columns);
    let rows = (query.len() as u16).min(rest.height / 2);
    Paragraph::new(query).render(cut(&mut rest, rows), buf);
    document(model, next, Canvas::new(theme, rest, buf))
}

/// The sentence, the intervals, and the state of the rulings.
fn head(report: &MeasureReport, height: u16, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let mut lines = text::lines(&report.sentence(), columns, theme.strong());
    for caveat in report.caveats() {
        lines.extend(text::lines(&caveat, columns, theme.warn()));
    }
    lines.extend(intervals(report, height < SMALL, theme, columns));
    lines.extend(text::lines(&state(report), columns, theme.muted()));
    for note in &report.notes {
        lines.extend(text::lines(&sanitize::line(note), columns, theme.muted()));
    }
    lines
}

fn intervals(
    report: &MeasureReport,
    is_small: bool,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let Some(result) = &report.result else {
        return Vec::new();
    };
    let rulings = |of: &MeasuredValue| counted(of.rulings, "ruling");
    let mut values = vec![(rulings(&result.these_queries), &result.these_queries)];
    if !is_small {
        values.extend(result.earlier.iter().map(|of| (rulings(of), of)));
    }
    let like = result.queries_like_these.iter();
    values.extend(like.map(|of| ("queries like these".to_owned(), of)));
    let ends = values.iter().flat_map(|(_, of)| [of.low, of.high]);
    let room = columns.saturating_sub(NAME + NUMBERS + 2).min(AXIS);
    let (axis, number): (_, fn(f64, usize) -> String) = if report.baseline.is_some() {
        (IntervalAxis::of_differences(ends, room), signed)
    } else {
        (IntervalAxis::new(0.0, 1.0, room), fixed)
    };
    let has_axis = room >= SHORTEST_AXIS;
    let mut lines = Vec::new();
    if has_axis && !is_small {
        let labels = format!("{:NAME$}{}", "", axis.labels());
        lines.push(text::line(&labels, columns, theme.muted()));
    }
    for (name, of) in values {
        let drawn = if has_axis {
            axis.row(Some(of.value), Some((of.low, of.high)))
        } else {
            String::new()
        };
        let numbers = format!(
            "  {} ({} to {})",
            number(of.value, 3),
            number(of.low, 3),
            number(of.high, 3)
        );
        lines.push(Line::from(vec![
            Span::styled(text::pad_right(&name, NAME), theme.muted()),
            Span::raw(drawn),
            Span::raw(numbers),
        ]));
    }
    lines
}

/// What was ruled on, and what may still change.
fn state(report: &MeasureReport) -> String {
    let mut parts = vec![
        format!(
            "{} on {}",
            metric_words(report.metric),
            counted(report.queries, "query")
        ),
        format!(
            "{} of {} ruled on, {} drawn",
            report.ruled,
            counted(report.documents, "document"),
            report.drawn
        ),
    ];
    if report.timed > 0 {
        parts.push(duration(report.active_ms as f64 / 1000.0));
    }
    let decision = report.result.as_ref().and_then(|of| of.decision);
    if let Some(decision) = decision.filter(|_| report.left() > 0) {
        let flip = probability(decision.flip_probability);
        parts.push(format!("chance that the winner changes {flip}"));
        parts.push(format!("equal within {}", fixed(report.options.margin, 2)));
    }
    parts.join(" · ")
}

/// Draws the document with its title.
fn document(model: &Model, next: &NextDocument, canvas: Canvas<'_>) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let mut body = area;
    let top = cut(&mut body, 1);
    let columns = usize::from(body.width);
    let (shown, lines) = model.layouts.lines(&next.text, &next.query_text, columns);
    let page = usize::from(body.height);
    let first = match model.measure().scroll {
        Some(first) => first.min(lines.len().saturating_sub(page)),
        None => shown.first_line(&lines, page, model.from_top),
    };
    let place = document_text::place(first, page, lines.len());
    let name = sanitize::line(next.document.as_str());
    let title = sanitize::line(next.title.as_deref().unwrap_or_default());
    let words = format!("draw {}: {name} {title}", next.number);
    let room = usize::from(top.width).saturating_sub(text::width(&place) + 3);
    let words = format!("{}{place}", text::truncate(words.trim_end(), room));
    heading(&words, false, theme, top, buf);
    let marks = TextMarks {
        quotes: vec![shown.passage.clone()],
        others: Vec::new(),
        found: Vec::new(),
        current: None,
    };
    let canvas = Canvas::new(theme, body, buf);
    let count = document_text::render(&shown, &lines, first, &marks, canvas);
    Areas {
        list: body,
        lines: count,
        page,
        first: first.min(count),
        ..Areas::default()
    }
}
