//! The cells: half blocks when many documents must fit, squares and numbers when there is room.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

use super::cache::{HeatmapCache, Pixel};
use super::painter::{Painter, few_colours, plain, put};
use super::source::HeatCell;
use super::state::Zoom;
use crate::tui::theme::{Heat, Theme};

pub(super) const OVERRULED: char = '◆';
pub(super) const PLANNED: char = '∘';
const DIAGONAL: char = '╲';

/// How a cell with missing votes is hatched; the shades belong to the ramp where there is no colour.
pub(super) fn hatch(theme: &Theme) -> char {
    if plain(theme) { '%' } else { '▒' }
}

/// What an unfought cell shows; where glyphs tell the value, a dot means an even battle.
pub(super) fn unfought(theme: &Theme) -> char {
    if few_colours(theme) { ' ' } else { '·' }
}

/// A heat's colour, to paint with as foreground.
pub(super) fn tint(heat: &Heat) -> Color {
    heat.style.bg.or(heat.style.fg).unwrap_or(Color::Reset)
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
    for line in 0..view.shown.0 {
        for column in 0..view.shown.1 {
            let (row, col) = (view.offset.0 + line, view.offset.1 + column);
            let x = usize::from(view.body.x) + column * view.zoom.columns();
            let y = usize::from(view.body.y) + line;
            let at = Rect::new(x as u16, y as u16, view.zoom.columns() as u16, 1);
            square(painter, at.intersection(view.body), row, col, buf);
        }
    }
}

pub(super) fn square(painter: &Painter<'_>, at: Rect, row: usize, col: usize, buf: &mut Buffer) {
    let cell = painter.source.cell(row, col);
    let crossed = row == painter.cursor.0 || col == painter.cursor.1;
    let under_cursor = (row, col) == painter.cursor;
    let number = at.width >= 4;
    let (mut symbols, mut style) = match cell.value {
        Some(value) => valued(painter, cell, value, number),
        None => empty(painter.theme, cell, number, crossed),
    };
    if under_cursor {
        style = painter.theme.cursor_cell();
        match (number, cell.value.is_some()) {
            (true, true) => {}
            (true, false) => symbols = ['[', ' ', ' ', ']'],
            (false, _) => symbols = ['[', ']', ' ', ' '],
        }
    }
    for (x, symbol) in (at.x..at.right()).zip(symbols) {
        put(buf, x, at.y, symbol, style);
    }
}

fn valued(painter: &Painter<'_>, cell: HeatCell, value: f64, number: bool) -> ([char; 4], Style) {
    let theme = painter.theme;
    let heat = theme.heat(value);
    let mut style = heat.style;
    if cell.overruled {
        style = style.add_modifier(Modifier::BOLD);
        if number {
            style = style.add_modifier(Modifier::UNDERLINED);
        }
    }
    if number {
        let lead = match cell {
            HeatCell {
                overruled: true, ..
            } => OVERRULED,
            HeatCell { missing: true, .. } => hatch(theme),
            HeatCell {
                signed: Some(number),
                ..
            } => sign_of(number),
            // A plus or a minus before a share would read as part of the number.
            _ if painter.signs => match heat.sign {
                '+' => '▴',
                '-' => '▾',
                other => other,
            },
            _ => ' ',
        };
        let [a, b, c] = digits(cell.signed.map_or(value, f64::abs));
        return ([lead, a, b, c], style);
    }
    let solid = style.bg.is_some() || style.add_modifier.contains(Modifier::REVERSED);
    let ground = if solid { ' ' } else { heat.glyph };
    let sign = if painter.signs { heat.sign } else { ground };
    if cell.overruled {
        ([OVERRULED, sign, ' ', ' '], style)
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

fn empty(theme: &Theme, cell: HeatCell, number: bool, crossed: bool) -> ([char; 4], Style) {
    let (symbol, style) = match cell {
        HeatCell { diagonal: true, .. } => (DIAGONAL, theme.muted()),
        HeatCell {
            overruled: true, ..
        } => (OVERRULED, theme.override_mark()),
        HeatCell { missing: true, .. } => (hatch(theme), theme.missing()),
        HeatCell { planned: true, .. } => (PLANNED, theme.muted()),
        _ if crossed => (unfought(theme), theme.muted()),
        _ => (unfought(theme), theme.faint()),
    };
    let symbols = if number {
        [' ', ' ', symbol, ' ']
    } else {
        [symbol, ' ', ' ', ' ']
    };
    (symbols, style)
}

fn sign_of(number: f64) -> char {
    match (number * 100.0).round() {
        hundredths if hundredths > 0.0 => '+',
        hundredths if hundredths < 0.0 => '−',
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
                (true, true) => cursor_half(painter.theme, cursor.0.is_multiple_of(2)),
                _ => pair(painter.theme, upper, lower, crossing),
            };
            put(buf, view.body.x + x, view.body.y + y, symbol, style);
        }
    }
}

fn cursor_half(theme: &Theme, upper: bool) -> (char, Style) {
    (if upper { '▴' } else { '▾' }, theme.cursor_cell())
}

/// A tint for what is there but says nothing: less than the weakest battle.
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
    if upper.overruled || lower.overruled {
        let value = if upper.overruled {
            up.or(low)
        } else {
            low.or(up)
        };
        return match value {
            Some(value) => (
                OVERRULED,
                theme.heat(value).style.add_modifier(Modifier::BOLD),
            ),
            None => (OVERRULED, theme.override_mark()),
        };
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
            Some(grey) if diagonal => (symbol, style.bg(grey)),
            _ => (symbol, style),
        };
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
            (false, false) if in_row => ('─', theme.faint()),
            (false, false) if in_col => ('│', theme.faint()),
            (false, false) => (' ', Style::new()),
        },
    }
}
