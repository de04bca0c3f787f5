//! A plot in terminal cells: half blocks colored by a score, marks on a scale, and axes.

use crate::tui::canvas::Canvas;
use crate::tui::text::{self, pad_left, truncate};
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::ops::Range;

/// Columns of the numbers on the left.
const SCALE: u16 = 6;

/// The inside of a plot, with the ranges of its axes.
pub(super) struct Plot<'a> {
    pub(super) theme: &'a Theme,
    /// The drawing area.
    pub(super) inside: Rect,
    across: (f64, f64),
    up: (f64, f64),
    pub(super) buf: &'a mut Buffer,
}

/// The labels along the axes.
pub(super) struct PlotWords<'a> {
    pub(super) across: &'a str,
    pub(super) up: &'a str,
    /// At both ends of the horizontal axis; empty if columns have no scale.
    pub(super) ends: (&'a str, &'a str),
    /// Whether the vertical axis has numbers.
    pub(super) numbered: bool,
}

/// The name of an axis, without its explanation if there is no room.
fn named(words: &str, room: usize) -> String {
    if text::width(words) <= room {
        return words.to_owned();
    }
    let end = [",", ":", " (", " from "]
        .iter()
        .filter_map(|end| words.find(end))
        .min();
    truncate(&words[..end.unwrap_or(words.len())], room).into_owned()
}

impl<'a> Plot<'a> {
    /// Draws the axes; `None` if there is no room.
    pub(super) fn new(
        across: (f64, f64),
        up: (f64, f64),
        words: &PlotWords<'_>,
        canvas: Canvas<'a>,
    ) -> Option<Self> {
        let Canvas { theme, area, buf } = canvas;
        if area.height < 6 || area.width < SCALE + 12 {
            return None;
        }
        let inside = Rect {
            x: area.x + SCALE,
            y: area.y + 1,
            width: area.width - SCALE,
            height: area.height - 3,
        };
        let columns = usize::from(area.width);
        let title = named(words.up, columns.saturating_sub(2));
        buf.set_string(area.x, area.y, format!("↑ {title}"), theme.muted());
        for row in inside.rows() {
            buf.set_string(row.x - 1, row.y, "│", theme.faint());
        }
        let foot = inside.bottom();
        buf.set_string(inside.x - 1, foot, "└", theme.faint());
        for column in inside.columns() {
            buf.set_string(column.x, foot, "─", theme.faint());
        }
        let scale = |value: f64| pad_left(&text::fixed(value, 2), 5);
        for (row, value) in [
            (inside.y, up.1),
            // The row that contains a mark with this value.
            (inside.y + (inside.height - 1) / 2, (up.0 + up.1) / 2.0),
            (foot - 1, up.0),
        ] {
            if words.numbered {
                buf.set_string(area.x, row, scale(value), theme.muted());
            }
        }
        let (from, to) = words.ends;
        let room =
            usize::from(inside.width).saturating_sub(text::width(from) + text::width(to) + 2);
        let wide = usize::from(area.width).saturating_sub(text::width(to) + 3);
        let narrow = text::width(&named(words.across, wide)) + 2 > room;
        // If the name does not fit between the end labels, it replaces the first one and uses the
        // margin.
        let (from, room, start) = if narrow {
            ("", wide, area.x)
        } else {
            (from, room, inside.x)
        };
        let name = named(words.across, room.saturating_sub(2));
        let name = if name.is_empty() {
            name
        } else {
            format!("{name} →")
        };
        let left = room.saturating_sub(text::width(&name)) / 2;
        let gap = if narrow { "" } else { " " };
        let line = format!("{from}{gap}{}{name}", " ".repeat(left));
        buf.set_string(start, foot + 1, line, theme.muted());
        let end = inside.right().saturating_sub(text::width(to) as u16);
        buf.set_string(end, foot + 1, to, theme.muted());
        Some(Self {
            theme,
            inside,
            across,
            up,
            buf,
        })
    }

    pub(super) fn columns(&self) -> usize {
        usize::from(self.inside.width)
    }

    /// Number of half blocks from bottom to top.
    pub(super) fn pixels(&self) -> usize {
        2 * usize::from(self.inside.height)
    }

    /// The column of a value, from the left.
    pub(super) fn column(&self, value: f64) -> usize {
        part(value, self.across, self.columns())
    }

    /// The half block of a value, from the bottom.
    pub(super) fn pixel(&self, value: f64) -> usize {
        part(value, self.up, self.pixels())
    }

    /// The columns of a range of values, at least one.
    pub(super) fn columns_of(&self, from: f64, to: f64) -> Range<usize> {
        range(from, to, self.across, self.columns())
    }

    fn rows_of(&self, from: f64, to: f64) -> Range<usize> {
        range(from, to, self.up, usize::from(self.inside.height))
    }

    /// Paints half blocks; `value` receives a column and a half block from the bottom, and returns
    /// 0 (worse) to 1 (better).
    pub(super) fn paint(&mut self, value: impl Fn(usize, usize) -> Option<f64>) {
        for (down, row) in self.inside.rows().enumerate() {
            let above = self.pixels() - 1 - 2 * down;
            for column in 0..self.columns() {
                let (upper, lower) = (value(column, above), value(column, above - 1));
                if upper.is_none() && lower.is_none() {
                    continue;
                }
                let (glyph, style) = self.theme.score_pair(upper, lower);
                let mut half = [0; 4];
                let glyph = glyph.encode_utf8(&mut half);
                self.buf
                    .set_string(row.x + column as u16, row.y, &*glyph, style);
            }
        }
    }

    /// Puts symbols in cells, for use without color; `sign` receives a column and a height from 0
    /// to 1.
    pub(super) fn signs(&mut self, sign: impl Fn(usize, f64) -> Option<char>) {
        let rows = f64::from(self.inside.height);
        for (down, row) in self.inside.rows().enumerate() {
            let up = 1.0 - (down as f64 + 0.5) / rows;
            for column in 0..self.columns() {
                if let Some(sign) = sign(column, up) {
                    let (x, style) = (row.x + column as u16, self.theme.text());
                    let mut bytes = [0; 4];
                    self.buf
                        .set_string(x, row.y, &*sign.encode_utf8(&mut bytes), style);
                }
            }
        }
    }

    /// Draws a mark at a column and a value.
    pub(super) fn mark(
        &mut self,
        column: usize,
        value: f64,
        mark: &str,
        style: ratatui::style::Style,
    ) {
        let down = usize::from(self.inside.height) - 1 - self.pixel(value) / 2;
        if column < self.columns() {
            let (x, y) = (self.inside.x + column as u16, self.inside.y + down as u16);
            self.buf.set_string(x, y, mark, style);
        }
    }

    /// Draws an interval as a line with both ends.
    pub(super) fn whisker(&mut self, column: usize, (low, high): (f64, f64)) {
        let style = self.theme.muted();
        for row in self.pixel(low) / 2..=self.pixel(high) / 2 {
            let down = usize::from(self.inside.height) - 1 - row;
            let (x, y) = (self.inside.x + column as u16, self.inside.y + down as u16);
            if column < self.columns() {
                self.buf.set_string(x, y, "│", style);
            }
        }
    }

    /// Draws a horizontal line across the plot.
    pub(super) fn level(&mut self, value: f64) {
        let style = self.theme.faint();
        for column in 0..self.columns() {
            self.mark(column, value, "┄", style);
        }
    }

    /// Marks the selection on the axes: its columns and, in a plane, its rows.
    pub(super) fn cursor(&mut self, columns: Range<usize>, rows: Option<(f64, f64)>) {
        let style = self.theme.accent();
        let foot = self.inside.bottom();
        let columns = columns.start..columns.end.min(self.columns());
        for column in columns.clone() {
            self.buf
                .set_string(self.inside.x + column as u16, foot, "━", style);
        }
        let middle = (columns.start + columns.end.saturating_sub(1)) / 2;
        if middle < self.columns() {
            self.buf
                .set_string(self.inside.x + middle as u16, foot, "▲", style);
        }
        let Some((from, to)) = rows else { return };
        let rows = self.rows_of(from, to);
        let middle = (rows.start + rows.end.saturating_sub(1)) / 2;
        for row in rows {
            let mark = if row == middle { "▶" } else { "┃" };
            let down = usize::from(self.inside.height).saturating_sub(1 + row);
            let y = self.inside.y + down as u16;
            self.buf.set_string(self.inside.x - 1, y, mark, style);
        }
        self.tint(columns, (from, to));
    }

    /// Tints blank parts of the selected cells, at color depths that have tints.
    fn tint(&mut self, columns: Range<usize>, (from, to): (f64, f64)) {
        let Some(tint) = self.theme.selection().bg else {
            return;
        };
        for row in self.rows_of(from, to) {
            let down = usize::from(self.inside.height).saturating_sub(1 + row);
            for column in columns.clone() {
                let place = (self.inside.x + column as u16, self.inside.y + down as u16);
                if let Some(cell) = self.buf.cell_mut(place)
                    && cell.bg == ratatui::style::Color::Reset
                {
                    cell.set_bg(tint);
                }
            }
        }
    }

    /// The cells of a part of the plane, for text in it.
    pub(super) fn block(&self, columns: Range<usize>, from: f64, to: f64) -> Rect {
        let rows = self.rows_of(from, to);
        let down = usize::from(self.inside.height).saturating_sub(rows.end);
        Rect {
            x: self.inside.x + columns.start as u16,
            y: self.inside.y + down as u16,
            width: columns.len() as u16,
            height: rows.len() as u16,
        }
        .intersection(self.inside)
    }
}

fn part(value: f64, (low, high): (f64, f64), parts: usize) -> usize {
    let share = ((value - low) / (high - low)).clamp(0.0, 1.0);
    ((share * parts as f64) as usize).min(parts.saturating_sub(1))
}

fn range(from: f64, to: f64, (low, high): (f64, f64), parts: usize) -> Range<usize> {
    let edge = |value: f64| {
        let share = ((value - low) / (high - low)).clamp(0.0, 1.0);
        // Rounding must not move the edge of a tenth into the next one.
        (share * parts as f64 + 1e-9) as usize
    };
    let start = edge(from).min(parts.saturating_sub(1));
    start..edge(to).max(start + 1)
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn a_name_is_whole_or_without_what_is_said_about_it() {
        let words = "radius r from the certain corner (1, 0)";
        assert_eq!(named(words, 60), words);
        assert_eq!(named(words, 30), "radius r");
        assert_eq!(named("score: 0 for the favorite", 20), "score");
        assert_eq!(named("decisiveness", 6), "decis…");
    }
}
