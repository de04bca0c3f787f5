//! The table of methods: quality, the difference from the baseline with its interval, and cost.

use crate::app::interval_axis::IntervalAxis;
use crate::app::text_format::{duration, p_value};
use crate::features::methods::app::{MethodEntry, MethodsReport, letter, shown_name};
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, ListPosition};
use crate::tui::model::Model;
use crate::tui::text::{self, fixed, pad_left, pad_right, signed};
use crate::tui::theme::Theme;
use crate::tui::widgets::scroll_to;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;
use std::cmp::Ordering;

/// Columns of the marks before a name.
const LEAD: usize = 5;
/// Columns of a method's name.
const NAME: std::ops::RangeInclusive<usize> = 6..=28;
/// Columns of the axis of differences.
const AXIS: std::ops::RangeInclusive<usize> = 20..=48;
const UNKNOWN: &str = "–";

struct Column {
    heading: String,
    width: usize,
    cell: Cell,
}

/// The content of a column, for a method.
#[derive(Clone, Copy)]
enum Cell {
    Value(usize),
    Difference,
    Interval(IntervalAxis),
    WonLost,
    Failed,
    Calls,
    Time,
    Dollars,
    PValue,
}

pub(super) fn table(model: &Model, report: &MethodsReport, canvas: Canvas<'_>) -> Areas {
    let Canvas { theme, area, buf } = canvas;
    let [head, list] = Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(area);
    let (name, columns) = columns(report, usize::from(area.width));
    let mut header = vec![Span::raw(format!(
        "{}{}",
        " ".repeat(LEAD),
        pad_right("method", name)
    ))];
    for column in &columns {
        header.push(Span::raw(format!(
            " {}",
            pad_left(&column.heading, column.width)
        )));
    }
    Line::from(header).style(theme.muted()).render(head, buf);
    let cursor = model.methods().cursor;
    let first = scroll_to(0, cursor, usize::from(list.height));
    for (row, (at, method)) in list
        .rows()
        .zip(report.methods.iter().enumerate().skip(first))
    {
        let selected = at == cursor;
        if selected {
            buf.set_style(row, theme.selection());
        }
        let mark = if selected { "▌" } else { " " };
        let front = if method.on_front { "*" } else { " " };
        let mut spans = vec![
            Span::raw(format!("{mark} ")),
            Span::styled(letter(at), theme.muted()),
            Span::raw(format!("{front} ")),
            Span::styled(pad_right(&shown_name(&method.name), name), theme.strong()),
        ];
        for column in &columns {
            let (text, style) = column.cell.of(report, method, theme);
            spans.push(Span::styled(
                format!(" {}", pad_left(&text, column.width)),
                style,
            ));
        }
        Line::from(spans).render(row, buf);
    }
    Areas {
        list,
        first,
        lines: report.methods.len(),
        page: usize::from(list.height),
        position: Some(ListPosition::unfiltered(
            model.methods().cursor,
            report.methods.len(),
        )),
        ..Areas::default()
    }
}

/// The columns that fit next to the names, most important first, and the width of the names.
fn columns(report: &MethodsReport, width: usize) -> (usize, Vec<Column>) {
    let names = report
        .methods
        .iter()
        .map(|method| text::width(&shown_name(&method.name)));
    let longest = names.max().unwrap_or(0).clamp(*NAME.start(), *NAME.end());
    let column = |heading: &str, width: usize, cell| Column {
        width: width.max(text::width(heading)),
        heading: heading.to_owned(),
        cell,
    };
    let metric = |at: usize| report.metrics.get(at).map(ToString::to_string);
    let axis = report.difference_axis(*AXIS.start());
    let mut columns = vec![
        column(&metric(0).unwrap_or_default(), 6, Cell::Value(0)),
        column("difference", 7, Cell::Difference),
        column(&axis.labels(), *AXIS.start(), Cell::Interval(axis)),
    ];
    let needed = |columns: &[Column]| -> usize {
        columns.iter().map(|column| column.width + 1).sum::<usize>() + LEAD
    };
    let time = report.methods.iter().filter_map(time_words);
    let time = time.map(|words| text::width(&words)).max().unwrap_or(0);
    let others = (1..report.metrics.len())
        .map(|at| column(&metric(at).unwrap_or_default(), 6, Cell::Value(at)));
    let optional = [
        column("won/lost", 6, Cell::WonLost),
        column("failed", 6, Cell::Failed),
        column("calls/q", 6, Cell::Calls),
        column("p50", time, Cell::Time),
        column("$/q", 8, Cell::Dollars),
        column("p (Holm)", 6, Cell::PValue),
    ];
    for next in optional.into_iter().chain(others) {
        if needed(&columns) + next.width + 1 + longest > width {
            break;
        }
        columns.push(next);
    }
    let spare = width.saturating_sub(needed(&columns) + longest);
    let wider = (AXIS.start() + spare).min(*AXIS.end());
    if let Some(interval) = columns.get_mut(2) {
        let axis = report.difference_axis(wider);
        *interval = column(&axis.labels(), wider, Cell::Interval(axis));
    }
    let name = width.saturating_sub(needed(&columns));
    (name.clamp(*NAME.start(), longest), columns)
}

impl Cell {
    fn of(self, report: &MethodsReport, method: &MethodEntry, theme: &Theme) -> (String, Style) {
        let effort = &method.effort;
        let test = method.first_test();
        let difference = test.map(|test| test.comparison.mean_difference);
        let significance = match test.and_then(|test| test.significant()) {
            Some(Ordering::Greater) => theme.good(),
            Some(Ordering::Less) => theme.bad(),
            _ => theme.text(),
        };
        let text = match self {
            Self::Value(at) => method
                .values
                .get(at)
                .and_then(|values| values.all)
                .map(|of| fixed(of.mean, 4)),
            Self::Difference if report.baseline == method.name => Some("baseline".to_owned()),
            Self::Difference => difference.map(|by| signed(by, 4)),
            Self::Interval(axis) => {
                Some(axis.row(difference, test.and_then(|test| test.comparison.interval)))
            }
            Self::WonLost => test.map(|test| {
                let (won, _, lost) = test.comparison.wins_ties_losses;
                format!("{won}/{lost}")
            }),
            Self::Failed => Some(format!("{}/{}", effort.failed, effort.queries)),
            Self::Calls => effort
                .a_query(effort.calls)
                .map(|calls| format!("{calls:.1}")),
            Self::Time => time_words(method),
            Self::Dollars => effort.usd_a_query().map(text::usd),
            Self::PValue => test.and_then(|test| test.randomization_holm).map(p_value),
        };
        let style = match self {
            Self::Difference | Self::Interval(_) => significance,
            Self::Failed if effort.failed > 0 => theme.warn(),
            _ => theme.text(),
        };
        (text.unwrap_or_else(|| UNKNOWN.to_owned()), style)
    }
}

/// The median latency of a query, if it was measured.
fn time_words(method: &MethodEntry) -> Option<String> {
    let ms = method.effort.wall_p50_ms?;
    Some(duration(ms as f64 / 1000.0))
}
