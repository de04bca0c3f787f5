//! The table of methods: numbers, and the first metric as a point with its interval.

use crate::app::text_format::{duration, p_value};
use crate::domain::sanitize;
use crate::features::methods::app::{MethodEntry, MethodsReport};
use crate::tui::canvas::Canvas;
use crate::tui::drawing::Areas;
use crate::tui::model::Model;
use crate::tui::text::{self, pad_left, pad_right};
use crate::tui::theme::Theme;
use crate::tui::widgets::scroll_to;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

/// Minimum screen widths for showing a whisker, the tests, and the other metrics.
const WHISKER_FROM: u16 = 108;
const TESTS_FROM: u16 = 90;
const METRICS_FROM: u16 = 150;
/// Minimum screen width for showing failures and dollars, since names have priority.
const EFFORT_FROM: u16 = 74;
/// Minimum screen width for showing the latency of a query.
const TIME_FROM: u16 = 90;
const TRACK: usize = 20;

pub(super) fn table(model: &Model, report: &MethodsReport, canvas: Canvas<'_>) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let [head, list] = Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(area);
    let columns = columns(report, area.width);
    let fixed: usize = columns.iter().map(|(_, width)| width + 1).sum();
    let room = usize::from(area.width)
        .saturating_sub(fixed + 2)
        .clamp(6, 28);
    let mut header = vec![Span::raw(format!("  {}", pad_right("method", room)))];
    for (name, width) in &columns {
        header.push(Span::raw(format!(" {}", pad_left(name, *width))));
    }
    Line::from(header).style(theme.muted()).render(head, buf);
    let first = scroll_to(0, model.methods().cursor, usize::from(list.height));
    let (low, high) = span(report);
    for (row, (at, method)) in list
        .rows()
        .zip(report.methods.iter().enumerate().skip(first))
    {
        let selected = at == model.methods().cursor;
        if selected {
            buf.set_style(row, theme.selection());
        }
        let name = sanitize::line(&method.name);
        let mark = if method.on_front { "*" } else { " " };
        let mut spans = vec![
            Span::raw(if selected { "▌ " } else { "  " }),
            Span::styled(pad_right(&format!("{mark}{name}"), room), theme.strong()),
        ];
        for ((text, style), (_, width)) in cells(report, method, area.width, (low, high), theme)
            .into_iter()
            .zip(&columns)
        {
            let text = pad_left(&text, *width);
            let words = text.trim_start().to_owned();
            let lead = text.len() - words.len() + 1;
            spans.push(Span::raw(" ".repeat(lead)));
            spans.push(Span::styled(words, style));
        }
        Line::from(spans).render(row, buf);
    }
    Areas {
        list,
        lines: report.methods.len(),
        page: usize::from(list.height),
        ..Areas::default()
    }
}

/// The column headings and widths.
fn columns(report: &MethodsReport, width: u16) -> Vec<(String, usize)> {
    let first = report
        .metrics
        .first()
        .map(ToString::to_string)
        .unwrap_or_default();
    let (low, high) = span(report);
    let mut columns = vec![(first, 8)];
    if width >= WHISKER_FROM {
        let ends = format!("{low:.2}{}", pad_left(&format!("{high:.2}"), TRACK - 4));
        columns.push((ends, TRACK));
    }
    columns.push(("− base".to_owned(), 8));
    if width >= TESTS_FROM {
        columns.push(("p (Holm)".to_owned(), 8));
    }
    columns.push(("+/=/−".to_owned(), 9));
    if width >= METRICS_FROM {
        let rest = report.metrics.iter().skip(1);
        columns.extend(rest.map(|metric| (metric.to_string(), 10)));
    }
    let time = report
        .methods
        .iter()
        .filter_map(time_words)
        .map(|words| text::width(&words))
        .max()
        .unwrap_or(0);
    let effort = [
        ("failed", 7),
        ("calls/q", 7),
        ("$/q", 8),
        ("p50", time.max(7)),
    ];
    let shown = effort.into_iter().filter(|(name, _)| match *name {
        "calls/q" => true,
        "p50" => width >= TIME_FROM,
        _ => width >= EFFORT_FROM,
    });
    columns.extend(shown.map(|(name, width)| (name.to_owned(), width)));
    columns
}

fn cells(
    report: &MethodsReport,
    method: &MethodEntry,
    width: u16,
    span: (f64, f64),
    theme: &Theme,
) -> Vec<(String, Style)> {
    let plain = theme.text();
    let dash = || "–".to_owned();
    let first = method.values.first().and_then(|values| values.all);
    let mut cells = vec![(
        first.map_or_else(dash, |of| format!("{:.4}", of.mean)),
        plain,
    )];
    if width >= WHISKER_FROM {
        let track = first.map_or_else(dash, |of| track(of.mean, of.interval, span));
        cells.push((track, theme.accent()));
    }
    let test = method.tests.first().copied().flatten();
    let difference = test.map(|test| test.comparison.mean_difference);
    let style = match difference {
        Some(by) if by > 0.0 => theme.good(),
        Some(by) if by < 0.0 => theme.bad(),
        _ => plain,
    };
    let signed = |by: f64| text::signed(by, 4);
    cells.push((difference.map_or_else(dash, signed), style));
    if width >= TESTS_FROM {
        let p = test.and_then(|test| test.randomisation_holm);
        cells.push((p.map_or_else(dash, p_value), plain));
    }
    let counts = test.map(|test| test.comparison.wins_ties_losses);
    let counts = counts.map_or_else(dash, |(won, tied, lost)| format!("{won}/{tied}/{lost}"));
    cells.push((counts, plain));
    if width >= METRICS_FROM {
        for values in method.values.iter().skip(1) {
            cells.push((
                values.all.map_or_else(dash, |of| format!("{:.4}", of.mean)),
                plain,
            ));
        }
    }
    let effort = &method.effort;
    let failed = if effort.failed > 0 {
        theme.warn()
    } else {
        plain
    };
    let whole = width >= EFFORT_FROM;
    if whole {
        cells.push((format!("{}/{}", effort.failed, effort.queries), failed));
    }
    let calls = effort.a_query(effort.calls);
    cells.push((
        calls.map_or_else(dash, |calls| format!("{calls:.1}")),
        plain,
    ));
    if whole {
        let usd = effort.usd_a_query();
        cells.push((usd.map_or_else(dash, text::usd), plain));
    }
    if width >= TIME_FROM {
        cells.push((time_words(method).unwrap_or_else(dash), plain));
    }
    debug_assert_eq!(cells.len(), columns(report, width).len());
    cells
}

/// The median latency of a query, if it was measured.
fn time_words(method: &MethodEntry) -> Option<String> {
    let ms = method.effort.wall_p50_ms?;
    Some(duration(ms as f64 / 1000.0))
}

/// The range of the first metric and its intervals, rounded to twentieths.
pub(super) fn span(report: &MethodsReport) -> (f64, f64) {
    let found = report
        .methods
        .iter()
        .filter_map(|method| method.values.first()?.all);
    let (mut low, mut high) = (1.0_f64, 0.0_f64);
    for of in found {
        let (from, to) = of.interval.unwrap_or((of.mean, of.mean));
        low = low.min(from);
        high = high.max(to);
    }
    let low = (low * 20.0).floor() / 20.0;
    (low, ((high * 20.0).ceil() / 20.0).max(low + 0.05))
}

/// A mean as a point on a line, with its interval.
fn track(mean: f64, interval: Option<(f64, f64)>, (low, high): (f64, f64)) -> String {
    let place = |value: f64| {
        let part = ((value - low) / (high - low)).clamp(0.0, 1.0);
        (part * (TRACK - 1) as f64).round() as usize
    };
    let reach = interval.map(|(from, to)| place(from)..=place(to));
    let of = |at: usize| match &reach {
        _ if at == place(mean) => '●',
        Some(reach) if reach.contains(&at) => '─',
        _ => ' ',
    };
    (0..TRACK).map(of).collect()
}
