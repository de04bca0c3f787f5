//! Draws the answer in one sentence, the table of methods, the plot of quality against cost, and
//! the queries that a method wins and loses.

use super::commands;
use super::plane::plane;
use super::state::ListedQuery;
use super::table::table;
use crate::app::text_format::counted;
use crate::domain::metrics::histogram;
use crate::domain::sanitize;
use crate::features::methods::app::{MethodEntry, MethodsReport, shown_name};
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches, ListPosition};
use crate::tui::keymap::key_on;
use crate::tui::layout::{cut, inset};
use crate::tui::model::Model;
use crate::tui::panes::PaneSplit;
use crate::tui::screens::Screen;
use crate::tui::screens::run::questions;
use crate::tui::text::{self, pad_right};
use crate::tui::theme::Theme;
use crate::tui::widgets::{notice, scroll_to};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Bar, BarChart, BarGroup, Paragraph, Widget};

/// Minimum columns for showing the plot and the queries side by side.
const SIDE_BY_SIDE: u16 = 150;
/// Columns of a gain or of what takes its place.
const LEAD: usize = 15;
/// Rows of the histogram with its labels.
const HISTOGRAM: u16 = 7;
/// Minimum rows of queries below the histogram.
const QUERIES: u16 = 6;

pub(super) fn view(model: &Model, canvas: Canvas<'_>, _: &mut Caches) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let mut area = inset(area);
    let report = match &model.methods().report {
        None => {
            notice("measuring every method …", theme, area, buf);
            return Areas::default();
        }
        Some(Err(error)) => {
            let run = key_on(commands::RUN_METHOD, Screen::METHODS);
            let columns = usize::from(area.width);
            let words = sanitize::line(&error.to_string()).into_owned();
            let offer = format!("Press {run} to run a method.");
            let mut lines = vec![text::line(&offer, columns, theme.strong())];
            lines.extend(text::lines(&words, columns, theme.muted()));
            Paragraph::new(lines).render(area, buf);
            return Areas::default();
        }
        Some(Ok(report)) => report,
    };
    let columns = usize::from(area.width);
    let head = text::lines(&report.summary(), columns, theme.strong());
    Paragraph::new(head.clone()).render(cut(&mut area, head.len() as u16), buf);
    let asking = model.questions.going.is_some();
    if let Some(line) = questions::line(model, theme).filter(|_| asking) {
        line.render(cut(&mut area, 1), buf);
    }
    let words = heading(
        model,
        report,
        area.width,
        usize::from(area.height / 5),
        theme,
    );
    let rows = (report.methods.len() as u16 + 1).min((area.height / 2).max(3));
    let head = cut(&mut area, words.len() as u16);
    let panes = model.split(
        area,
        PaneSplit {
            upright: false,
            gap: 1,
            usual: area.height.saturating_sub(rows + 1).max(1),
            least: [3, 1],
        },
    );
    let (methods, rule, below) = (panes.first, panes.between, panes.second);
    Paragraph::new(words).render(head, buf);
    let of_methods = table(model, report, Canvas::new(theme, methods, buf));
    text::rule(columns, theme.faint()).render(rule, buf);
    let in_queries = model.methods().in_queries;
    let cursor = model.methods().cursor;
    let mut lists = [methods, Rect::default(), Rect::default()];
    let areas = if below.width >= SIDE_BY_SIDE {
        let [left, _, right] = Layout::horizontal([
            Constraint::Percentage(60),
            Constraint::Length(2),
            Constraint::Min(1),
        ])
        .areas(below);
        lists[1] = right;
        plane(report, cursor, Canvas::new(theme, left, buf));
        let of_queries = queries(model, report, Canvas::new(theme, right, buf));
        if in_queries { of_queries } else { of_methods }
    } else if in_queries {
        lists[1] = below;
        queries(model, report, Canvas::new(theme, below, buf))
    } else {
        plane(report, cursor, Canvas::new(theme, below, buf));
        of_methods
    };
    Areas {
        panes: lists,
        border: Some(panes.border),
        ..areas
    }
}

/// Describes the comparison, with notes to the reader, in at most `most` lines.
fn heading(
    model: &Model,
    report: &MethodsReport,
    columns: u16,
    most: usize,
    theme: &Theme,
) -> Vec<Line<'static>> {
    let columns = usize::from(columns);
    let against = report
        .against
        .map_or_else(|| format!("against {}", report.truth), str::to_owned);
    let words = format!(
        "{} on {}, {} · baseline {}",
        metric_name(report),
        counted(report.queries.len(), "query"),
        sanitize::line(&against),
        shown_name(&report.baseline),
    );
    let mark = match model.methods().asked {
        Some(_) => "measuring …",
        None => "* no other method is better and cheaper",
    };
    let together = format!("{words} · {mark}");
    let heads = if text::width(&together) <= columns {
        vec![together]
    } else {
        vec![words, mark.to_owned()]
    };
    let mut lines = Vec::new();
    for head in &heads {
        lines.extend(text::lines(head, columns, theme.muted()));
    }
    let most = most.max(1);
    let notes = report.notes.iter();
    let notes: Vec<String> = notes
        .map(|note| format!("note: {}", sanitize::line(note)))
        .collect();
    let whole = notes
        .iter()
        .flat_map(|note| text::lines(note, columns, theme.text()));
    let whole: Vec<Line<'_>> = whole.collect();
    if lines.len() + whole.len() <= most {
        lines.extend(whole);
        return lines;
    }
    // One line each; the command prints those that do not fit.
    lines.extend(
        notes
            .iter()
            .map(|note| text::line(note, columns, theme.text())),
    );
    if lines.len() > most {
        lines.truncate(most.saturating_sub(1).max(1));
        let more = "`overrule methods` prints all notes";
        lines.extend((most > 1).then(|| text::line(more, columns, theme.warn())));
    }
    lines
}

/// Draws the queries on which the selected method failed, differs from the baseline, or was not
/// run.
fn queries(model: &Model, report: &MethodsReport, canvas: Canvas<'_>) -> Areas {
    let Canvas {
        theme,
        area: mut place,
        buf,
    } = canvas;
    let Some(method) = model.methods().method() else {
        return Areas::default();
    };
    let columns = usize::from(place.width);
    if place.height >= HISTOGRAM + QUERIES {
        let words = format!(
            "{}: queries by {}",
            shown_name(&method.name),
            metric_name(report)
        );
        text::line(&words, columns, theme.muted()).render(cut(&mut place, 1), buf);
        let area = cut(&mut place, HISTOGRAM - 1);
        histogram_of(method, Canvas::new(theme, area, buf));
    }
    let listed = model.methods().listed();
    if listed.is_empty() {
        let words = if method.name == report.baseline {
            "the baseline of the other methods".to_owned()
        } else {
            format!("equal to {} on every query", shown_name(&report.baseline))
        };
        text::line(&words, columns, theme.muted()).render(place, buf);
        return Areas::default();
    }
    let cursor = model.methods().query_cursor.min(listed.len() - 1);
    let first = scroll_to(0, cursor, usize::from(place.height));
    for (row, (at, of)) in place.rows().zip(listed.iter().enumerate().skip(first)) {
        let selected = model.methods().in_queries && at == cursor;
        if selected {
            buf.set_style(row, theme.selection());
        }
        let Some(query) = report.queries.get(of.query()) else {
            continue;
        };
        let words = match method.failure(query) {
            Some(failure) => failure.message.as_str(),
            None => {
                let info = model.queries.identified(query);
                info.map_or("", |info| info.text.as_str())
            }
        };
        query_line(*of, (query.as_str(), words), selected, theme, columns).render(row, buf);
    }
    Areas {
        list: place,
        lines: listed.len(),
        page: usize::from(place.height),
        first,
        position: Some(ListPosition::unfiltered(cursor, listed.len())),
        ..Areas::default()
    }
}

/// The gain on a query, its identifier, and as much as fits of its text or of the reason why it
/// failed.
fn query_line(
    of: ListedQuery,
    (query, words): (&str, &str),
    selected: bool,
    theme: &Theme,
    columns: usize,
) -> Line<'static> {
    let (lead, style) = match of {
        ListedQuery::Failed(_) => (pad_right("failed", LEAD), theme.warn()),
        ListedQuery::NotRun(_) => (pad_right("not run", LEAD), theme.muted()),
        ListedQuery::Differs(of) => {
            let side = if of.delta < 0.0 { "loses" } else { "wins " };
            let by = text::signed(of.delta, 4);
            (format!("{side} {by}  "), theme.text())
        }
    };
    let query = sanitize::line(query).into_owned();
    let room = columns.saturating_sub(text::width(&lead) + text::width(&query) + 4);
    let words = sanitize::line(words);
    Line::from(vec![
        Span::raw(if selected { "▌ " } else { "  " }),
        Span::styled(lead, style),
        Span::styled(query, theme.text()),
        Span::styled(format!("  {}", text::truncate(&words, room)), theme.muted()),
    ])
}

fn metric_name(report: &MethodsReport) -> String {
    report
        .metrics
        .first()
        .map(ToString::to_string)
        .unwrap_or_default()
}

/// The number of queries in each tenth of the metric's range.
fn histogram_of(method: &MethodEntry, canvas: Canvas<'_>) {
    let Canvas { theme, area, buf } = canvas;
    let values = method.values.iter().take(1);
    let present = values.flat_map(|values| values.per_query.iter().flatten().copied());
    let counts: [usize; 10] = histogram(present);
    let bars = counts.iter().enumerate().map(|(tenth, count)| {
        let words = if *count == 0 {
            String::new()
        } else {
            count.to_string()
        };
        Bar::default()
            .value(*count as u64)
            .text_value(words)
            .label(format!(".{tenth}"))
    });
    BarChart::default()
        .data(BarGroup::default().bars(&bars.collect::<Vec<_>>()))
        .bar_width((area.width / 10).clamp(2, 8) - 1)
        .bar_gap(1)
        .bar_style(theme.bar_fill())
        .value_style(theme.bar_fill().add_modifier(Modifier::REVERSED))
        .label_style(theme.muted())
        .render(area, buf);
}
