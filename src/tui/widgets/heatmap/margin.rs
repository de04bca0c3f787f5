//! The left margin: rank, id, and zELO ± SE as a bar around zero.

use ratatui::buffer::Buffer;
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr;

use super::cache::HeatmapCache;
use super::painter::{Painter, plain, put};
use super::source::MarginRow;
use super::state::Zoom;
use crate::tui::theme::Theme;

const NUMBER: usize = 12;

/// The columns of a margin; zero where there is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MarginColumns {
    rank: usize,
    id: usize,
    bar: usize,
    number: usize,
}

impl MarginColumns {
    fn new(width: usize, k: usize, zoom: Zoom) -> Self {
        let rank = k.to_string().len().max(2).min(width.saturating_sub(1));
        let mut rest = width.saturating_sub(rank + 2);
        let number = if rest >= NUMBER + 18 { NUMBER } else { 0 };
        rest -= number;
        let bar = match rest {
            22.. => (rest / 2).min(21),
            14.. if zoom > Zoom::Dense => 5,
            5.. => rest - 1,
            _ => 0,
        };
        rest = rest.saturating_sub(bar + usize::from(bar > 0));
        let id = if rest >= 4 { rest - 1 } else { 0 };
        Self {
            rank,
            id,
            bar,
            number,
        }
    }
}

struct MarginLine<'a> {
    columns: MarginColumns,
    margin: &'a MarginRow,
    lit: bool,
    at: (u16, u16),
}

pub(super) fn rows(painter: &Painter<'_>, cache: &HeatmapCache, buf: &mut Buffer) {
    let area = painter.frame.margin;
    let view = &painter.frame.view;
    if area.is_empty() {
        return;
    }
    let columns = MarginColumns::new(usize::from(area.width), painter.source.len(), view.zoom);
    let rows_a_line = view.zoom.rows_a_line() * view.stride.0;
    for y in 0..area.height {
        let first = view.offset.0 + usize::from(y) * rows_a_line;
        let lit = (first..first + rows_a_line).contains(&painter.cursor.0);
        let shown = if lit { painter.cursor.0 } else { first };
        let margin = painter.source.margin(shown);
        let line = MarginLine {
            columns,
            margin: &margin,
            lit,
            at: (area.x, area.y + y),
        };
        let averaged = view.stride != (1, 1);
        text(painter, &line, !averaged || lit, buf);
        let x = area.x + (columns.rank + 1 + columns.id + usize::from(columns.id > 0)) as u16;
        if columns.bar == 0 {
            continue;
        }
        if view.zoom <= Zoom::Dense {
            let score = |row: usize| match averaged {
                true => cache.score(row / view.stride.0),
                false if row < painter.source.len() => painter.source.score(row),
                false => None,
            };
            let scores = [score(first), score(first + view.stride.0)];
            half_bars(
                painter.theme,
                (x, area.y + y),
                columns.bar,
                scores,
                cache.scale(),
                buf,
            );
        } else {
            let score = margin.zelo.map(|zelo| (zelo, margin.se.unwrap_or(0.0)));
            bar(
                painter.theme,
                (x, area.y + y),
                columns.bar,
                score,
                cache.scale(),
                buf,
            );
        }
    }
}

fn text(painter: &Painter<'_>, line: &MarginLine<'_>, named: bool, buf: &mut Buffer) {
    let MarginLine {
        columns,
        margin,
        lit,
        at: (x, y),
    } = *line;
    let theme = painter.theme;
    let style = if lit { theme.strong() } else { theme.muted() };
    let rank = margin.rank.as_str();
    let lead = columns.rank.saturating_sub(rank.width()) as u16;
    buf.set_stringn(x + lead, y, rank, columns.rank, style);
    let mut x = x + columns.rank as u16;
    let flag = if lit && matches!(margin.flag, ' ' | '\0') {
        '▸'
    } else {
        margin.flag
    };
    if !flag.is_control() {
        put(buf, x, y, flag, style);
    }
    x += 1;
    if columns.id > 0 && named {
        clipped(
            buf,
            (x, y),
            &margin.id,
            columns.id,
            if lit { theme.strong() } else { theme.text() },
        );
    }
    if columns.number > 0 && (lit || painter.frame.view.zoom > Zoom::Dense) {
        x += (columns.id + 1 + columns.bar + 1) as u16;
        buf.set_stringn(x, y, score_text(margin), columns.number, style);
    }
}

/// The score with its standard error, in at most eleven columns.
pub(super) fn score_text(margin: &MarginRow) -> String {
    match (margin.zelo, margin.se) {
        (Some(zelo), Some(se)) => format!("{zelo:>+5.2} ±{se:.2}"),
        (Some(zelo), None) => format!("{zelo:>+5.2}"),
        _ => String::new(),
    }
}

/// Writes text into so many columns, with an ellipsis where it is longer.
pub(super) fn clipped(
    buf: &mut Buffer,
    (x, y): (u16, u16),
    text: &str,
    columns: usize,
    style: Style,
) {
    if text.width() <= columns {
        buf.set_stringn(x, y, text, columns, style);
    } else if columns > 0 {
        let (end, _) = buf.set_stringn(x, y, text, columns - 1, style);
        put(buf, end, y, '…', style);
    }
}

/// 0 nothing, 1 within the standard error, 2 the score itself; by position from the left edge.
fn level(position: f64, columns: usize, score: Option<(f64, f64)>, scale: f64) -> usize {
    let Some((zelo, se)) =
        score.filter(|(zelo, se)| zelo.is_finite() && se.is_finite() && scale > 0.0)
    else {
        return 0;
    };
    let value = (position / columns as f64 * 2.0 - 1.0) * scale;
    if value * zelo > 0.0 && value.abs() <= zelo.abs() {
        2
    } else if (value - zelo).abs() <= se {
        1
    } else {
        0
    }
}

/// A heavy line from zero to the score, a light one as far as the standard error reaches.
pub(super) fn bar(
    theme: &Theme,
    (x, y): (u16, u16),
    columns: usize,
    score: Option<(f64, f64)>,
    scale: f64,
    buf: &mut Buffer,
) {
    const LINES: [[char; 3]; 3] = [[' ', '╶', '╺'], ['╴', '─', '╼'], ['╸', '╾', '━']];
    for column in 0..columns {
        let side = |half: f64| level(column as f64 + half, columns, score, scale);
        let (left, right) = (side(0.25), side(0.75));
        let symbol = LINES
            .get(left)
            .and_then(|row| row.get(right))
            .copied()
            .unwrap_or(' ');
        let zero = column == columns / 2;
        let (symbol, style) = match left.max(right) {
            0 if zero => ('│', theme.faint()),
            0 => (' ', Style::new()),
            1 => (symbol, theme.muted()),
            _ => (symbol, theme.bar_fill()),
        };
        put(buf, x + column as u16, y, symbol, style);
    }
}

fn half_bars(
    theme: &Theme,
    (x, y): (u16, u16),
    columns: usize,
    scores: [Option<(f64, f64)>; 2],
    scale: f64,
    buf: &mut Buffer,
) {
    let fill = theme.bar_fill();
    let back = theme.bar_back();
    for column in 0..columns {
        let [up, low] = scores.map(|score| level(column as f64 + 0.5, columns, score, scale));
        let (symbol, style) = match (up, low) {
            (2, 2) => ('█', fill),
            (1, 1) if plain(theme) => ('░', back),
            (1, 1) => ('█', back),
            (2, 0) => ('▀', fill),
            (0, 2) => ('▄', fill),
            (2, _) if plain(theme) => ('▀', fill),
            (_, 2) if plain(theme) => ('▄', fill),
            (1, _) | (_, 1) if plain(theme) => ('░', back),
            (1, 0) => ('▀', back),
            (0, 1) => ('▄', back),
            (2, 1) => ('▀', over(fill, back)),
            (1, 2) => ('▄', over(fill, back)),
            _ if column == columns / 2 => ('│', theme.faint()),
            _ => (' ', Style::new()),
        };
        put(buf, x + column as u16, y, symbol, style);
    }
}

fn over(front: Style, back: Style) -> Style {
    match back.fg {
        Some(color) => front.bg(color),
        None => front,
    }
}
