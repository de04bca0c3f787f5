//! Paints the cells: half blocks if many documents must fit, squares and numbers if there is room.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

use super::cache::{HeatmapCache, Pixel};
use super::painter::{Painter, few_colors, plain, put};
use super::source::{CellScale, HeatCell};
use super::state::Zoom;
use crate::domain::ranking::share_bar;
use crate::tui::theme::{Heat, Theme};

pub(super) const OVERRULED: char = '◆';
/// Without color: the verdict went against the row's document.
pub(super) const OVERRULED_LOST: char = '◇';
const OVERRULED_EVEN: char = '◈';
pub(super) const PLANNED: char = '∘';
/// An expectation near one half.
const EVEN: char = '≈';
const DIAGONAL: char = '╲';

/// The hatching of a cell with missing votes; without color, the shades belong to the ramp.
pub(super) fn hatch(theme: &Theme) -> char {
    if plain(theme) { '%' } else { '▒' }
}

/// The mark of a result that comes from answers outside battles; without color, the shades belong to
/// the ramp.
pub(super) fn half_tone(theme: &Theme) -> char {
    if plain(theme) { '~' } else { '░' }
}

/// The symbol of a cell without a battle; if glyphs show values, a dot means an even battle.
pub(super) fn unfought(theme: &Theme) -> char {
    if few_colors(theme) { ' ' } else { '·' }
}

/// The color of a heat, used as foreground.
pub(super) fn tint(heat: &Heat) -> Color {
    heat.style.bg.or(heat.style.fg).unwrap_or(Color::Reset)
}

/// The mark of a verdict; without color, it shows the winner if the cell has room for nothing else.
fn overruled(theme: &Theme, verdict: f64) -> char {
    match verdict {
        verdict if plain(theme) && verdict < 0.5 => OVERRULED_LOST,
        0.5 if plain(theme) => OVERRULED_EVEN,
        _ => OVERRULED,
    }
}

/// The style of the mark of a verdict: one color on the terminal's own background, because it would
/// be illegible on some of the heat colors.
fn mark(theme: &Theme) -> Style {
    Style::new().bg(Color::Reset).patch(theme.override_mark())
}

pub(super) fn body(painter: &Painter<'_>, cache: &HeatmapCache, buf: &mut Buffer) {
    if painter.frame.view.zoom <= Zoom::Dense {
        halves(painter, cache, buf);
    } else {
        squares(painter, buf);
    }
}

fn squares(painter: &Painter<'_>, buf: &mut Buffer) {
    let view = &painter.frame.view;
    let (wide, high) = (view.zoom.columns(), view.zoom.lines_a_row());
    for line in 0..view.shown.0 {
        for column in 0..view.shown.1 {
            let (row, col) = (view.offset.0 + line, view.offset.1 + column);
            let x = usize::from(view.body.x) + column * wide;
            let y = usize::from(view.body.y) + line * high;
            let at = Rect::new(x as u16, y as u16, wide as u16, high as u16);
            square(painter, at.intersection(view.body), row, col, buf);
            if painter.is_last_above_cut(row) {
                let last = Rect::new(x as u16, (y + high - 1) as u16, wide as u16, 1);
                let line = Style::new().add_modifier(Modifier::UNDERLINED);
                buf.set_style(last.intersection(view.body), line);
            }
        }
    }
}

/// Draws a cell: its line with the number or the mark, and its background around it.
pub(super) fn square(painter: &Painter<'_>, at: Rect, row: usize, col: usize, buf: &mut Buffer) {
    let theme = painter.theme;
    let cell = painter.source.cell(row, col);
    let crossed = (row == painter.cursor.0, col == painter.cursor.1);
    let under_cursor = crossed == (true, true);
    let number = at.width >= 4;
    let (mut symbols, style) = match cell.value {
        Some(value) => valued(painter, cell, value, number),
        None => empty(painter, cell, number, crossed),
    };
    let style = match at.height {
        // A tall cell would look striped.
        2.. => style.remove_modifier(Modifier::UNDERLINED),
        _ => style,
    };
    let style = match (cell.value, under_cursor) {
        (Some(_), true) if at.height < 2 => {
            style.add_modifier(Modifier::BOLD | Modifier::UNDERLINED)
        }
        (Some(_), true) => style.add_modifier(Modifier::BOLD),
        (None, true) => theme.cursor_cell(),
        (None, false) if crossed.0 || crossed.1 => style.patch(cross_tint(theme)),
        _ => style,
    };
    if under_cursor {
        match (at.width, at.height) {
            (..4, _) => symbols = ['[', ']', ' ', ' '],
            // A sign is part of the number.
            (_, ..3) if cell.signed.is_none() => symbols[0] = '▸',
            _ => {}
        }
    } else if painter.is_cut_before(col) && symbols[0] == ' ' && number && at.width < 6 {
        symbols[0] = '▏';
    }
    let middle = at.y + at.height.saturating_sub(1) / 2;
    for line in at.rows() {
        if line.y == middle {
            for x in at.left()..at.right() {
                put(buf, x, line.y, ' ', style);
            }
            let lead = at.width.saturating_sub(4) / 2;
            for (x, symbol) in (at.x + lead..at.right()).zip(symbols) {
                let is_mark = cell.overruled.is_some() && symbol == OVERRULED && !plain(theme);
                put(
                    buf,
                    x,
                    line.y,
                    symbol,
                    if is_mark { mark(theme) } else { style },
                );
            }
        } else {
            let below = line.y == middle + 1;
            let share = cell.value.filter(|_| below && plain(theme));
            ground(share, line, style, under_cursor, buf);
        }
        if at.width >= 6 && painter.is_cut_before(col) && !under_cursor {
            put(buf, at.x, line.y, '▏', style);
        }
    }
    if under_cursor && at.height >= 3 && at.width >= 6 {
        let (right, bottom) = (at.right() - 1, at.bottom() - 1);
        for (x, y, corner) in [
            (at.x, at.y, '┏'),
            (right, at.y, '┓'),
            (at.x, bottom, '┗'),
            (right, bottom, '┛'),
        ] {
            put(buf, x, y, corner, style);
        }
    }
}

/// Draws a line of a cell without its number in the cell's color; below the number if there is no
/// color, the share as a bar.
fn ground(share: Option<f64>, line: Rect, style: Style, under_cursor: bool, buf: &mut Buffer) {
    let columns = usize::from(line.width);
    let text = match share {
        Some(share) => {
            let (heavy, light) = share_bar(share, columns - 1);
            format!("{heavy}{light} ")
        }
        None if under_cursor && line.width < 6 => format!("╰{}╯", "─".repeat(columns - 2)),
        None => " ".repeat(columns),
    };
    buf.set_stringn(line.x, line.y, text, columns, style);
}

/// Highlights an empty cell in the cursor's row or column.
fn cross_tint(theme: &Theme) -> Style {
    match theme.selection().bg {
        Some(tint) => Style::new().bg(tint),
        None => Style::new(),
    }
}

fn valued(painter: &Painter<'_>, cell: HeatCell, value: f64, number: bool) -> ([char; 4], Style) {
    let theme = painter.theme;
    let heat = theme.heat(value);
    let mut style = heat.style;
    if cell.overruled.is_some() {
        style = style.add_modifier(Modifier::BOLD);
        if number {
            style = style.add_modifier(Modifier::UNDERLINED);
        }
    }
    if number {
        let lead = match cell {
            HeatCell {
                overruled: Some(verdict),
                ..
            } => overruled(theme, verdict),
            HeatCell { missing: true, .. } => hatch(theme),
            HeatCell {
                signed: Some(number),
                ..
            } => match painter.options.scale {
                CellScale::Sigmas => sign_of(number, 10.0),
                _ => sign_of(number, 100.0),
            },
            _ => ' ',
        };
        let shown = cell.signed.map_or(value, f64::abs);
        let [a, b, c] = match painter.options.scale {
            CellScale::Sigmas => tenths(shown),
            _ => digits(shown),
        };
        return ([lead, a, b, c], style);
    }
    let solid = style.bg.is_some() || style.add_modifier.contains(Modifier::REVERSED);
    let ground = if solid { ' ' } else { heat.glyph };
    let sign = if painter.signs { heat.sign } else { ground };
    if let Some(verdict) = cell.overruled {
        ([overruled(theme, verdict), sign, ' ', ' '], style)
    } else if cell.missing {
        if plain(theme) {
            ([ground, hatch(theme), ' ', ' '], style)
        } else {
            ([hatch(theme); 4], Style::new().fg(tint(&heat)))
        }
    } else {
        ([ground, sign, ' ', ' '], style)
    }
}

/// The symbol of an expectation, which no vote has.
pub(super) fn expectation(expected: f64) -> char {
    match expected {
        above if above > 0.6 => '▴',
        below if below < 0.4 => '▾',
        _ => EVEN,
    }
}

/// Minimum distance of a symbol's color from the middle on a light background; closer to it, the
/// symbol would be invisible.
const SEEN_ON_LIGHT: f64 = 0.35;

/// The style of an expectation: the color of its side without the background of a vote.
pub(super) fn expectation_style(theme: &Theme, expected: f64) -> Style {
    match few_colors(theme) || expectation(expected) == EVEN {
        true => theme.faint(),
        false if theme.light => {
            let side = expected - 0.5;
            let far = side.abs().max(SEEN_ON_LIGHT).copysign(side);
            Style::new().fg(tint(&theme.heat(0.5 + far)))
        }
        false => Style::new()
            .fg(tint(&theme.heat(expected)))
            .add_modifier(Modifier::DIM),
    }
}

/// The style of a result from answers outside battles: its color without the background of a vote.
pub(super) fn answered_style(theme: &Theme, heat: &Heat) -> Style {
    if few_colors(theme) {
        Style::new()
    } else {
        Style::new().fg(tint(heat))
    }
}

fn empty(
    painter: &Painter<'_>,
    cell: HeatCell,
    number: bool,
    (in_row, in_col): (bool, bool),
) -> ([char; 4], Style) {
    let theme = painter.theme;
    if let HeatCell {
        answered: Some(share),
        overruled: None,
        planned: false,
        ..
    } = cell
    {
        let heat = theme.heat(share);
        let (mark, style) = (half_tone(theme), answered_style(theme, &heat));
        let [a, b, c] = digits(share);
        let sign = if painter.signs { heat.sign } else { mark };
        return if number {
            ([mark, a, b, c], style)
        } else {
            ([mark, sign, ' ', ' '], style)
        };
    }
    let (symbol, style) = match cell {
        HeatCell {
            label: Some(label), ..
        } => (label.symbol(), label.style(theme)),
        HeatCell { diagonal: true, .. } => (DIAGONAL, theme.muted()),
        HeatCell {
            overruled: Some(verdict),
            ..
        } => (overruled(theme, verdict), theme.override_mark()),
        HeatCell { missing: true, .. } => (hatch(theme), theme.missing()),
        HeatCell { planned: true, .. } => (PLANNED, theme.muted()),
        HeatCell {
            expected: Some(expected),
            ..
        } => (expectation(expected), expectation_style(theme, expected)),
        _ if in_row && few_colors(theme) => ('┄', theme.muted()),
        _ if in_col && few_colors(theme) => ('┊', theme.muted()),
        _ if in_row || in_col => (unfought(theme), theme.muted()),
        _ => (unfought(theme), theme.faint()),
    };
    let symbols = if number {
        [' ', ' ', symbol, ' ']
    } else {
        [symbol, ' ', ' ', ' ']
    };
    (symbols, style)
}

/// The sign of a number that is printed in units of 1/`parts`; a space if it rounds to zero.
fn sign_of(number: f64, parts: f64) -> char {
    match (number * parts).round() {
        printed if printed > 0.0 => '+',
        printed if printed < 0.0 => '−',
        _ => ' ',
    }
}

/// A value between 0 and 1 in three columns.
pub(super) fn digits(value: f64) -> [char; 3] {
    let hundredths = (value.clamp(0.0, 1.0) * 100.0).round() as u32;
    let digit = |n: u32| char::from_digit(n % 10, 10).unwrap_or('0');
    match hundredths {
        100.. => ['1', '.', '0'],
        n => ['.', digit(n / 10), digit(n)],
    }
}

/// A size up to 9.9 in three columns; below 1, the last one is blank so that neighbors do not
/// touch.
fn tenths(size: f64) -> [char; 3] {
    let tenths = (size.abs().min(9.9) * 10.0).round() as u32;
    let digit = |n: u32| char::from_digit(n % 10, 10).unwrap_or('0');
    match tenths {
        10.. => [digit(tenths / 10), '.', digit(tenths)],
        _ => ['.', digit(tenths), ' '],
    }
}

fn halves(painter: &Painter<'_>, cache: &HeatmapCache, buf: &mut Buffer) {
    let view = &painter.frame.view;
    let (down, across) = view.stride;
    let lines = view.shown.0.div_ceil(down);
    let cursor = (
        (painter.cursor.0 - view.offset.0) / down,
        (painter.cursor.1 - view.offset.1) / across,
    );
    let read = |line: usize, column: usize| -> Pixel {
        if line >= lines {
            Pixel::default()
        } else if view.stride == (1, 1) {
            painter
                .source
                .cell(view.offset.0 + line, view.offset.1 + column)
                .into()
        } else {
            cache.pixel(view.offset.0 / down + line, view.offset.1 / across + column)
        }
    };
    for y in 0..view.body.height {
        let line = usize::from(y) * 2;
        for x in 0..view.body.width {
            let column = usize::from(x);
            let (upper, lower) = (read(line, column), read(line + 1, column));
            let crossing = (cursor.0 / 2 == usize::from(y), cursor.1 == column);
            let (symbol, style) = match crossing {
                (true, true) => {
                    let first = cursor.0.is_multiple_of(2);
                    let here = if first { upper } else { lower };
                    cursor_half(painter.theme, first, here.value())
                }
                _ => pair(painter.theme, upper, lower, crossing),
            };
            put(buf, view.body.x + x, view.body.y + y, symbol, style);
        }
        // Half blocks have room for a line only below their lower half.
        let last = view.offset.0 + line + 1;
        if painter.is_last_above_cut(last) {
            let line = Rect::new(view.body.x, view.body.y + y, view.body.width, 1);
            buf.set_style(line, Style::new().add_modifier(Modifier::UNDERLINED));
        }
    }
}

/// The cell under the cursor in its own color, in the given half.
fn cursor_half(theme: &Theme, upper: bool, value: Option<f64>) -> (char, Style) {
    let style = match value.map(|value| theme.heat(value).style) {
        Some(style) if style.bg.is_some() => style.add_modifier(Modifier::BOLD),
        _ => theme.cursor_cell(),
    };
    (if upper { '▴' } else { '▾' }, style)
}

/// A tint for something without information, weaker than the weakest battle.
fn quiet(theme: &Theme) -> Style {
    match theme.selection().bg {
        Some(tint) => Style::new().fg(tint),
        None => theme.faint(),
    }
}

fn pair(
    theme: &Theme,
    upper: Pixel,
    lower: Pixel,
    (in_row, in_col): (bool, bool),
) -> (char, Style) {
    let (up, low) = (upper.value(), lower.value());
    if let Some(verdict) = upper.overruled().or(lower.overruled()) {
        return (overruled(theme, verdict), mark(theme));
    }
    if upper.missing || lower.missing {
        let (first, second) = if upper.missing { (up, low) } else { (low, up) };
        let Some(value) = first else {
            return (hatch(theme), theme.missing());
        };
        let style = Style::new().fg(tint(&theme.heat(value)));
        return match second {
            Some(other) => (hatch(theme), style.bg(tint(&theme.heat(other)))),
            None => (hatch(theme), style),
        };
    }
    if up.is_some() || low.is_some() {
        let (symbol, style) = theme.heat_pair(up, low);
        let diagonal = (upper.diagonal && up.is_none()) || (lower.diagonal && low.is_none());
        return match quiet(theme).fg {
            Some(gray) if diagonal => (symbol, style.bg(gray)),
            _ => (symbol, style),
        };
    }
    if let Some(share) = upper.answered().or(lower.answered()) {
        return (half_tone(theme), answered_style(theme, &theme.heat(share)));
    }
    match (upper.diagonal, lower.diagonal) {
        (true, _) | (_, true) if plain(theme) => (DIAGONAL, theme.faint()),
        (true, true) => ('█', quiet(theme)),
        (true, false) => ('▀', quiet(theme)),
        (false, true) => ('▄', quiet(theme)),
        (false, false) => match (upper.planned, lower.planned) {
            (true, _) | (_, true) if plain(theme) => (PLANNED, theme.muted()),
            (true, true) => (':', theme.muted()),
            (true, false) => ('˙', theme.muted()),
            (false, true) => ('.', theme.muted()),
            (false, false) if in_row => ('─', theme.muted().patch(cross_tint(theme))),
            (false, false) if in_col => ('│', theme.muted().patch(cross_tint(theme))),
            (false, false) => (' ', Style::new()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::theme::ColorDepth;

    #[test]
    fn without_colors_the_mark_of_a_verdict_says_who_won() {
        let marks = |depth| {
            let theme = Theme::new(depth, false);
            [1.0, 0.5, 1.0 / 3.0].map(|verdict| overruled(&theme, verdict))
        };
        assert_eq!(marks(ColorDepth::None), ['◆', '◈', '◇']);
        assert_eq!(marks(ColorDepth::True), ['◆'; 3]);
    }
}
