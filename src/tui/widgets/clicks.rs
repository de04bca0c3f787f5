//! Where an overlay was last drawn, so that clicks on its keys and rows work like the keyboard.

use crate::tui::keymap::KeyChord;
use crossterm::event::KeyCode;
use ratatui::layout::{Position, Rect};
use std::cell::RefCell;

/// A part of an overlay that takes clicks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClickPart {
    /// A key, or a button with a key.
    Key(KeyCode),
    /// A row of a list.
    Row(usize),
}

/// The parts of an overlay that take clicks, as last drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClickAreas(RefCell<Vec<(Rect, ClickPart)>>);

impl ClickAreas {
    /// Forgets the parts, before the overlay is drawn again.
    pub(super) fn clear(&self) {
        self.0.borrow_mut().clear();
    }

    pub(super) fn key(&self, area: Rect, code: KeyCode) {
        self.0.borrow_mut().push((area, ClickPart::Key(code)));
    }

    pub(super) fn row(&self, area: Rect, row: usize) {
        self.0.borrow_mut().push((area, ClickPart::Row(row)));
    }

    /// A key by its printed name, at a column of a line.
    pub(super) fn named_key(&self, name: &str, line: Rect, column: u16, columns: usize) {
        let area = Rect {
            x: column,
            width: columns as u16,
            ..line
        };
        if let Ok(chord) = name.parse::<KeyChord>() {
            self.key(area.intersection(line), chord.code);
        }
    }

    /// The part at a position; the latest one if several are there.
    fn at(&self, position: Position) -> Option<ClickPart> {
        let parts = self.0.borrow();
        let found = parts.iter().rev().find(|(area, _)| area.contains(position));
        found.map(|(_, part)| *part)
    }

    /// The keys that a click stands for: the key that was clicked, or those that go from the
    /// selected row to the one that was clicked. A click on the selected row is `again`.
    pub(crate) fn keys(&self, at: Position, selected: usize, again: KeyCode) -> Vec<KeyCode> {
        match self.at(at) {
            None => Vec::new(),
            Some(ClickPart::Key(code)) => vec![code],
            Some(ClickPart::Row(row)) if row == selected => vec![again],
            Some(ClickPart::Row(row)) => {
                let step = if row < selected {
                    KeyCode::Up
                } else {
                    KeyCode::Down
                };
                vec![step; row.abs_diff(selected)]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_click_is_a_key_or_moves_to_a_row() {
        let clicks = ClickAreas::default();
        for row in 0..4 {
            clicks.row(Rect::new(0, row, 20, 1), usize::from(row));
        }
        clicks.key(Rect::new(5, 2, 2, 1), KeyCode::Left);
        clicks.named_key("Esc", Rect::new(0, 9, 6, 1), 2, 10);
        let keys = |x, y| clicks.keys(Position::new(x, y), 2, KeyCode::Enter);
        assert_eq!(keys(0, 0), [KeyCode::Up; 2]);
        assert_eq!(keys(0, 3), [KeyCode::Down]);
        assert_eq!(keys(0, 2), [KeyCode::Enter]);
        assert_eq!(keys(6, 2), [KeyCode::Left]);
        assert_eq!(keys(5, 9), [KeyCode::Esc]);
        assert_eq!(keys(6, 9), [], "outside of the line");
        clicks.clear();
        assert_eq!(keys(0, 0), []);
    }
}
