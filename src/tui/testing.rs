//! Screens as text for snapshots: the characters, then every styled run.

use std::fmt::Write;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::{Buffer, CellWidth};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};

/// The description of one cell's style in a snapshot; empty for the terminal's default.
fn label(buffer: &Buffer, x: u16, y: u16) -> String {
    let cell = &buffer[(x, y)];
    let mut label = String::new();
    if cell.fg != Color::Reset {
        let _ = write!(label, " fg={}", cell.fg);
    }
    if cell.bg != Color::Reset {
        let _ = write!(label, " bg={}", cell.bg);
    }
    if cell.modifier != Modifier::empty() {
        let _ = write!(label, " {:?}", cell.modifier);
    }
    label
}

/// The characters of `buffer`, one line per row, without trailing blanks.
pub(crate) fn text(buffer: &Buffer) -> String {
    let area = buffer.area;
    let mut page = String::new();
    for y in area.top()..area.bottom() {
        let mut line = String::new();
        let mut x = area.left();
        while x < area.right() {
            let cell = &buffer[(x, y)];
            line.push_str(cell.symbol());
            x += cell.cell_width().max(1);
        }
        page.push_str(line.trim_end());
        page.push('\n');
    }
    page
}

/// [`text`], then a `styles:` block with row, columns and style of every run with a non-default
/// style.
pub(crate) fn styled(buffer: &Buffer) -> String {
    let area = buffer.area;
    let mut page = text(buffer);
    page.push_str("styles:\n");
    for y in area.top()..area.bottom() {
        let mut x = area.left();
        while x < area.right() {
            let style = label(buffer, x, y);
            let start = x;
            while x < area.right() && label(buffer, x, y) == style {
                x += 1;
            }
            if !style.is_empty() {
                let _ = writeln!(page, "{y}:{start}-{}{style}", x - 1);
            }
        }
    }
    page
}

pub(crate) fn draw(width: u16, height: u16, paint: impl FnOnce(Rect, &mut Buffer)) -> Buffer {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    paint(area, &mut buffer);
    buffer
}

pub(crate) fn key(code: KeyCode) -> KeyEvent {
    KeyEvent::new(code, KeyModifiers::NONE)
}

/// The key presses that type `text`.
pub(crate) fn typed(text: &str) -> impl Iterator<Item = KeyEvent> {
    text.chars().map(|c| key(KeyCode::Char(c)))
}

mod tests {
    use super::*;
    use ratatui::style::Style;

    #[test]
    fn styles_are_listed_in_runs() {
        let buffer = draw(6, 2, |_, buffer| {
            buffer.set_string(0, 0, "漢ab", Style::new());
            buffer.set_string(2, 0, "ab", Style::new().fg(Color::Red));
            buffer.set_string(1, 1, "x", Style::new().add_modifier(Modifier::BOLD));
        });
        assert_eq!(
            styled(&buffer),
            "漢ab\n x\nstyles:\n0:2-3 fg=Red\n1:1-1 BOLD\n"
        );
    }
}
