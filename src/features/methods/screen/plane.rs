//! Plot of quality against cost: one letter per method, with the Pareto front marked.

use super::table::span;
use crate::domain::sanitize;
use crate::features::methods::app::MethodsReport;
use crate::tui::canvas::Canvas;
use crate::tui::text::truncate;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;
use unicode_width::UnicodeWidthStr as _;

/// Columns of the scale on the left.
const SCALE: u16 = 6;
/// Columns of the letter and the marks before a method's name in the legend.
const MARKS: usize = 4;

/// Draws the plot, with the legend on its right if there is room; the cost axis has a square-root
/// scale.
pub(super) fn plane(report: &MethodsReport, chosen: usize, canvas: Canvas<'_>) {
    let Canvas { theme, area, buf } = canvas;
    if area.height < 5 || area.width < 24 {
        return;
    }
    let legend = if area.width >= 56 {
        let names = report.methods.iter();
        let longest = names
            .map(|method| sanitize::line(&method.name).width())
            .max();
        let wanted = u16::try_from(longest.unwrap_or(0) + MARKS).unwrap_or(u16::MAX);
        wanted.clamp(area.width / 3, area.width / 2)
    } else {
        0
    };
    let (low, high) = span(report);
    let most = report
        .methods
        .iter()
        .filter_map(|method| method.cost(report.in_usd))
        .fold(0.0, f64::max);
    let (left, right) = (area.x + SCALE, area.right() - legend - 1);
    let named = u16::from(area.height >= 8);
    if let Some(metric) = report.metrics.first().filter(|_| named > 0) {
        buf.set_string(area.x, area.y, format!("↑ {metric}"), theme.muted());
    }
    let (top, bottom) = (area.y + named, area.bottom() - 3);
    let (columns, rows) = (f64::from(right - left - 1), f64::from(bottom - top - 1));
    for row in top..bottom {
        buf.set_string(left - 1, row, "│", theme.faint());
    }
    for column in left..right {
        buf.set_string(column, bottom, "─", theme.faint());
    }
    buf.set_string(area.x, top, format!("{high:.2}"), theme.muted());
    buf.set_string(area.x, bottom - 1, format!("{low:.2}"), theme.muted());
    let amount = |cost: f64| match (cost, report.in_usd) {
        (0.0, _) => "0".to_owned(),
        (_, true) => format!("{cost:.5}"),
        (..10.0, false) => format!("{cost:.1}"),
        (_, false) => format!("{cost:.0}"),
    };
    // A quarter of the maximum is halfway across.
    let ticks: &[f64] = match most > 0.0 {
        true if columns >= 30.0 => &[0.0, 0.5, 1.0],
        true => &[0.0, 1.0],
        false => &[0.0],
    };
    for across in ticks {
        let column = left + (across * columns).round() as u16;
        let words = amount(most * across * across);
        let before = (across * words.width() as f64).round() as u16;
        buf.set_string(column, bottom, "┴", theme.faint());
        buf.set_string(
            column.saturating_sub(before).max(left),
            bottom + 1,
            words,
            theme.muted(),
        );
    }
    let unit = format!("{} (square roots)", report.cost_unit());
    let unit = truncate(&unit, usize::from(right - left)).into_owned();
    buf.set_string(left, bottom + 2, unit, theme.muted());
    let mut lines = Vec::new();
    let room = usize::from(legend).saturating_sub(MARKS);
    for (at, method) in report.methods.iter().enumerate() {
        let letter = char::from(b'a' + (at % 26) as u8).to_string();
        let style = match (at == chosen, method.on_front) {
            (true, _) => theme.accent(),
            (false, true) => theme.good(),
            (false, false) => theme.text(),
        };
        let mark = if method.on_front { "*" } else { " " };
        lines.push(Line::from(vec![
            Span::styled(format!("{letter}{mark} "), style),
            Span::styled(
                truncate(&sanitize::line(&method.name), room).into_owned(),
                theme.text(),
            ),
        ]));
        let quality = method.values.first().and_then(|values| values.all);
        let Some((cost, quality)) = method.cost(report.in_usd).zip(quality) else {
            continue;
        };
        let across = if most > 0.0 {
            (cost / most).sqrt()
        } else {
            0.0
        };
        let up = ((quality.mean - low) / (high - low)).clamp(0.0, 1.0);
        let column = left + (across * columns).round() as u16;
        let row = bottom - 1 - (up * rows).round() as u16;
        // If a position is taken, search to the right, so that methods with equal values are all
        // visible.
        let blank = |at: u16| buf.cell((at, row)).is_some_and(|cell| cell.symbol() == " ");
        let wide = u16::from(method.on_front && column + 1 < right);
        let free = |at: &u16| blank(*at) && blank(*at + wide);
        let column = (column..right - wide).find(free).unwrap_or(column);
        buf.set_string(column, row, &letter, style);
        if method.on_front && column + 1 < right {
            buf.set_string(column + 1, row, "*", style);
        }
    }
    for (line, row) in lines.into_iter().zip(area.rows()) {
        let mut place = row;
        place.x = right + 1;
        place.width = area.right().saturating_sub(place.x);
        if legend > 0 {
            line.render(place, buf);
        }
    }
}
