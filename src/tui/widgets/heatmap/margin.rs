//! The left margin: rank, title or ID, the zELO with its 95 % interval as a dot on a line, and the
//! numbers.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use unicode_width::UnicodeWidthStr;

use super::cache::{HeatmapCache, WITHIN_95};
use super::painter::{Painter, plain, put};
use super::source::MarginRow;
use super::state::Zoom;
use crate::tui::text;
use crate::tui::theme::Theme;

const NUMBER: usize = 12;
/// Minimum number of columns from which a title is more useful than an ID.
const TITLE_MIN: usize = 12;

/// The columns of a margin; zero for hidden ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MarginColumns {
    rank: usize,
    label: usize,
    name: usize,
    plot: usize,
    number: usize,
}

impl MarginColumns {
    fn new(width: usize, k: usize, zoom: Zoom, labels: bool) -> Self {
        let rank = k.to_string().len().max(2).min(width.saturating_sub(1));
        let label = if labels && width > rank + 4 { 2 } else { 0 };
        let mut rest = width.saturating_sub(rank + label + 2);
        let number = if rest >= NUMBER + 26 { NUMBER } else { 0 };
        rest -= number;
        let plot = match rest {
            40.. => 17,
            24.. => 11,
            14.. if zoom > Zoom::Dense => 7,
            5.. => (rest - 1).min(21),
            _ => 0,
        };
        rest = rest.saturating_sub(plot + usize::from(plot > 0));
        let name = if rest >= 4 { rest - 1 } else { 0 };
        Self {
            rank,
            label,
            name,
            plot,
            number,
        }
    }

    /// Columns before the plot.
    fn before_plot(self) -> usize {
        self.rank + 1 + self.label + self.name + usize::from(self.name > 0)
    }
}

struct MarginLine<'a> {
    columns: MarginColumns,
    margin: &'a MarginRow,
    lit: bool,
    area: Rect,
}

pub(super) fn rows(painter: &Painter<'_>, cache: &HeatmapCache, buf: &mut Buffer) {
    let area = painter.frame.margin;
    let view = &painter.frame.view;
    if area.is_empty() {
        return;
    }
    let columns = MarginColumns::new(
        usize::from(area.width),
        painter.source.len(),
        view.zoom,
        painter.options.labels,
    );
    let rows_a_line = view.zoom.rows_a_line() * view.stride.0;
    let high = view.zoom.lines_a_row() as u16;
    for (place, y) in (area.top()..area.bottom())
        .step_by(usize::from(high))
        .enumerate()
    {
        let first = view.offset.0 + place * rows_a_line;
        let lit = (first..first + rows_a_line).contains(&painter.cursor.0);
        let shown = if lit { painter.cursor.0 } else { first };
        let margin = painter.source.margin(shown);
        let line = MarginLine {
            columns,
            margin: &margin,
            lit,
            area: Rect::new(area.x, y, area.width, high).intersection(area),
        };
        let averaged = view.stride != (1, 1);
        words(painter, &line, !averaged || lit, buf);
        if !averaged {
            labels(painter, &line, first, buf);
        }
        plot(painter, cache, &line, first, buf);
        let last = first + rows_a_line - 1;
        if painter.is_last_above_cut(last) {
            let bottom = Rect {
                y: line.area.bottom().saturating_sub(1),
                height: 1,
                ..line.area
            };
            buf.set_style(bottom, Style::new().add_modifier(Modifier::UNDERLINED));
        }
    }
    scale(painter, cache, columns, buf);
}

/// Draws the row's zELO: a dot with its interval, or bars if two rows share a line.
fn plot(
    painter: &Painter<'_>,
    cache: &HeatmapCache,
    line: &MarginLine<'_>,
    first: usize,
    buf: &mut Buffer,
) {
    let (columns, view) = (line.columns, &painter.frame.view);
    if columns.plot == 0 {
        return;
    }
    let x = line.area.x + columns.before_plot() as u16;
    if view.zoom <= Zoom::Dense {
        let score = |row: usize| match view.stride {
            (1, 1) if row < painter.source.len() => painter.source.score(row),
            (1, 1) => None,
            (down, _) => cache.score(row / down),
        };
        let scores = [score(first), score(first + view.stride.0)];
        let at = (x, line.area.y);
        half_bars(painter.theme, at, columns.plot, scores, cache.scale(), buf);
        return;
    }
    let middle = middle(line.area);
    for y in line.area.top()..line.area.bottom() {
        let score = line.margin.zelo.filter(|_| y == middle);
        let score = score.map(|zelo| (zelo, line.margin.se.unwrap_or(0.0)));
        interval_plot(
            painter.theme,
            (x, y),
            columns.plot,
            score,
            (-cache.scale(), cache.scale()),
            buf,
        );
    }
}

/// Draws the end values of the plot above it.
fn scale(painter: &Painter<'_>, cache: &HeatmapCache, columns: MarginColumns, buf: &mut Buffer) {
    let header = painter.frame.header;
    if header.is_empty()
        || cache.scale() <= 0.0
        || columns.plot < 11
        || painter.frame.view.zoom <= Zoom::Dense
    {
        return;
    }
    let x = painter.frame.margin.x + columns.before_plot() as u16;
    let muted = painter.theme.muted();
    if header.height > 1 {
        let name = "zELO, 95 %";
        let lead = columns.plot.saturating_sub(name.width()) / 2;
        buf.set_stringn(x + lead as u16, header.y, name, columns.plot, muted);
    }
    let end = format!("{:.1}", cache.scale());
    let zero = Some(columns.plot / 2);
    let ends = text::axis_ends(&format!("−{end}"), &format!("+{end}"), zero, columns.plot);
    buf.set_stringn(x, header.bottom() - 1, ends, columns.plot, muted);
}

fn middle(area: Rect) -> u16 {
    area.y + area.height.saturating_sub(1) / 2
}

fn words(painter: &Painter<'_>, line: &MarginLine<'_>, named: bool, buf: &mut Buffer) {
    let MarginLine {
        columns,
        margin,
        lit,
        area,
    } = *line;
    let theme = painter.theme;
    if let Some(tint) = theme.selection().bg.filter(|_| lit) {
        buf.set_style(area, Style::new().bg(tint));
    }
    let style = if lit { theme.strong() } else { theme.muted() };
    let rank = margin.rank.as_str();
    let lead = columns.rank.saturating_sub(rank.width()) as u16;
    let (mut x, y) = (area.x, middle(area));
    buf.set_stringn(x + lead, y, rank, columns.rank, style);
    x += columns.rank as u16;
    let flag = if lit && matches!(margin.flag, ' ' | '\0') {
        '▸'
    } else {
        margin.flag
    };
    match margin.group {
        Some((letter, color)) if !lit && matches!(flag, ' ' | '\0') => {
            put(buf, x, y, letter, theme.judge(color));
        }
        _ if !flag.is_control() => put(buf, x, y, flag, style),
        _ => {}
    }
    x += 1 + columns.label as u16;
    if columns.name > 0 && named {
        let plain = if lit { theme.strong() } else { theme.text() };
        let style = margin
            .group
            .map_or(plain, |(_, color)| plain.patch(theme.judge(color)));
        name(
            painter,
            margin,
            Rect { x, ..area },
            columns.name,
            style,
            buf,
        );
    }
    if columns.number > 0 && (lit || painter.frame.view.zoom > Zoom::Dense) {
        x += (columns.name + 1 + columns.plot + 1) as u16;
        buf.set_stringn(x, y, score_text(margin), columns.number, style);
    }
}

/// The label of each row of the line.
fn labels(painter: &Painter<'_>, line: &MarginLine<'_>, first: usize, buf: &mut Buffer) {
    if line.columns.label == 0 {
        return;
    }
    let x = line.area.x + line.columns.rank as u16 + 1;
    let rows = first..painter.source.len();
    for (x, row) in (x..).zip(rows.take(painter.frame.view.zoom.rows_a_line())) {
        if let Some(label) = painter.source.cell(row, row).label {
            let style = label.style(painter.theme);
            put(buf, x, middle(line.area), label.symbol(), style);
        }
    }
}

/// The title if there is room, on as many lines as the row has, or else the ID.
fn name(
    painter: &Painter<'_>,
    margin: &MarginRow,
    area: Rect,
    columns: usize,
    style: Style,
    buf: &mut Buffer,
) {
    let titled = columns >= TITLE_MIN && !painter.options.ids && !margin.title.is_empty();
    let words = if titled { &margin.title } else { &margin.id };
    // A blank line separates the titles of adjacent rows.
    let room = match usize::from(area.height) {
        high @ 3.. => high - 1,
        high => high,
    };
    let lines = text::title_lines(words, columns, room);
    let y = area.y + area.height.saturating_sub(lines.len() as u16) / 2;
    for (y, line) in (y..).zip(&lines) {
        buf.set_stringn(area.x, y, line, columns, style);
    }
}

/// The score with its standard error, in at most eleven columns.
pub(super) fn score_text(margin: &MarginRow) -> String {
    match (margin.zelo, margin.se) {
        (Some(zelo), Some(se)) => format!("{:>5} ±{se:.2}", text::signed(zelo, 2)),
        (Some(zelo), None) => format!("{:>5}", text::signed(zelo, 2)),
        _ => String::new(),
    }
}

/// Writes text in `columns` columns, with an ellipsis if it is longer.
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

/// Draws a dot at the score on a line of the length of its 95 % interval, and a mark at zero, on an
/// axis from `low` to `high`.
pub(crate) fn interval_plot(
    theme: &Theme,
    (x, y): (u16, u16),
    columns: usize,
    score: Option<(f64, f64)>,
    (low, high): (f64, f64),
    buf: &mut Buffer,
) {
    let finite = |(zelo, se): &(f64, f64)| zelo.is_finite() && se.is_finite() && high > low;
    let column = |value: f64| {
        let place = (value - low) / (high - low) * columns as f64;
        (place.max(0.0) as usize).min(columns.saturating_sub(1))
    };
    let shown = score.filter(finite).map(|(zelo, se)| {
        let reach = WITHIN_95 * se.abs();
        (column(zelo - reach), column(zelo), column(zelo + reach))
    });
    let zero = (low < 0.0 && high > 0.0).then(|| column(0.0));
    for at in 0..columns {
        let (symbol, style) = match shown {
            Some((_, dot, _)) if at == dot => ('●', theme.accent()),
            Some((from, _, to)) if (from..=to).contains(&at) => ('─', theme.muted()),
            _ if zero == Some(at) => ('│', theme.faint()),
            _ => continue,
        };
        put(buf, x + at as u16, y, symbol, style);
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
