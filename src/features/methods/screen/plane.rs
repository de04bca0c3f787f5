//! Plot of the difference from the baseline against cost: one letter per method with the interval
//! of its difference, and a line that joins the Pareto front.

use crate::features::methods::app::{MethodsReport, PlottedMethod, letter, shown_name};
use crate::tui::canvas::Canvas;
use crate::tui::text::{signed, truncate};
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use std::cmp::Ordering;
use unicode_width::UnicodeWidthStr as _;

/// Columns of the scale on the left.
const SCALE: u16 = 7;

/// A method's position in the plot, in terminal cells.
struct Point<'a> {
    of: PlottedMethod<'a>,
    column: u16,
    row: u16,
    /// First and last row of the interval.
    bar: Option<(u16, u16)>,
}

/// Draws the plot; the cost axis has a square-root scale.
pub(super) fn plane(report: &MethodsReport, chosen: usize, canvas: Canvas<'_>) {
    let Canvas { theme, area, buf } = canvas;
    if area.height < 6 || area.width < 24 {
        return;
    }
    let inside = Rect {
        x: area.x + SCALE,
        y: area.y + 1,
        width: area.width - SCALE - 1,
        height: area.height - 4,
    };
    let columns = usize::from(area.width);
    let title = format!(
        "↑ difference from {}, with its interval; the dotted line joins the methods marked *",
        shown_name(&report.baseline)
    );
    let title = truncate(&title, columns).into_owned();
    buf.set_string(area.x, area.y, title, theme.muted());
    let axis = report.difference_axis(0);
    let row_of = |difference: f64| {
        let up = axis.part(difference) * f64::from(inside.height - 1);
        inside.bottom() - 1 - up.round() as u16
    };
    scale(inside, row_of(0.0), (axis.low, axis.high), theme, buf);
    let points = points(report, inside, row_of);
    cost_axis(report, inside, &points, theme, buf);
    let mut front: Vec<&Point<'_>> = points
        .iter()
        .filter(|point| point.of.method.on_front)
        .collect();
    front.sort_by_key(|point| point.column);
    for pair in front.windows(2) {
        if let [from, to] = pair {
            dotted((from.column, from.row), (to.column, to.row), theme, buf);
        }
    }
    for point in &points {
        let style = point.style(chosen, theme);
        if let Some((top, bottom)) = point.bar {
            for row in top..=bottom {
                buf.set_string(point.column, row, "│", style);
            }
        }
    }
    for point in &points {
        let style = point.style(chosen, theme);
        buf.set_string(point.column, point.row, letter(point.of.at), style);
    }
}

impl Point<'_> {
    fn style(&self, chosen: usize, theme: &Theme) -> Style {
        let significant = self
            .of
            .method
            .first_test()
            .and_then(|test| test.significant());
        match significant {
            _ if self.of.at == chosen => theme.accent(),
            Some(Ordering::Greater) => theme.good(),
            Some(Ordering::Less) => theme.bad(),
            _ => theme.text(),
        }
    }
}

/// The plotted methods in cells of the terminal.
fn points(report: &MethodsReport, inside: Rect, row_of: impl Fn(f64) -> u16) -> Vec<Point<'_>> {
    let plotted = report.plotted(usize::from(inside.width));
    plotted
        .into_iter()
        .map(|of| Point {
            column: inside.x + of.column as u16,
            row: row_of(of.difference),
            bar: of.interval.map(|(low, high)| (row_of(high), row_of(low))),
            of,
        })
        .collect()
}

/// The vertical axis: both ends, and a line at 0.
fn scale(inside: Rect, zero: u16, (low, high): (f64, f64), theme: &Theme, buf: &mut Buffer) {
    for row in inside.rows() {
        buf.set_string(row.x - 1, row.y, "│", theme.faint());
    }
    let width = usize::from(inside.width);
    buf.set_string(inside.x, zero, "┄".repeat(width), theme.faint());
    let x = inside.x - SCALE;
    buf.set_string(x, zero, "    0", theme.muted());
    buf.set_string(x, inside.y, signed(high, 2), theme.muted());
    buf.set_string(x, inside.bottom() - 1, signed(low, 2), theme.muted());
}

/// The horizontal axis with its unit, and the methods that it cannot show.
fn cost_axis(
    report: &MethodsReport,
    inside: Rect,
    points: &[Point<'_>],
    theme: &Theme,
    buf: &mut Buffer,
) {
    let foot = inside.bottom();
    let width = usize::from(inside.width);
    buf.set_string(inside.x - 1, foot, "└", theme.faint());
    buf.set_string(inside.x, foot, "─".repeat(width), theme.faint());
    let ticks = report.cost_ticks();
    let halfway = inside.width >= 30;
    for (across, words) in ticks.iter().filter(|(across, _)| halfway || *across != 0.5) {
        let column = inside.x + (across * f64::from(inside.width - 1)).round() as u16;
        let before = (across * words.width() as f64).round() as u16;
        let start = column.saturating_sub(before).max(inside.x);
        buf.set_string(column, foot, "┴", theme.faint());
        buf.set_string(start, foot + 1, words, theme.muted());
    }
    let hidden: Vec<String> = (0..report.methods.len())
        .filter(|at| points.iter().all(|point| point.of.at != *at))
        .map(letter)
        .collect();
    let unit = match hidden.as_slice() {
        [] => format!("{} (square roots)", report.cost_unit()),
        hidden => format!(
            "{} (square roots); not known for {}",
            report.cost_unit(),
            hidden.join(" ")
        ),
    };
    let unit = truncate(&unit, width).into_owned();
    buf.set_string(inside.x, foot + 2, unit, theme.muted());
}

/// Draws dots between two points, one in each column between them.
fn dotted(from: (u16, u16), to: (u16, u16), theme: &Theme, buf: &mut Buffer) {
    let columns = to.0.saturating_sub(from.0);
    for step in 1..columns {
        let share = f64::from(step) / f64::from(columns);
        let row = f64::from(from.1) + share * (f64::from(to.1) - f64::from(from.1));
        buf.set_string(from.0 + step, row.round() as u16, "·", theme.muted());
    }
}
