//! Two panes on one screen: their sizes, which the person can change, and the text that the wheel
//! scrolls in the second one.

use super::Model;
use crate::tui::keymap::{Command, Screen};
use crate::tui::navigation::scrolled;
use crate::tui::panes::{PaneSplit, SplitPanes};
use ratatui::layout::Rect;
use ratatui::text::Line;
use std::collections::HashMap;

/// Rows or columns by which a key moves the border between two panes.
pub(crate) const STEP: i16 = 2;

#[derive(Debug, Default)]
pub struct PaneState {
    /// The chosen size of the second pane of a screen, in columns if it is next to the first one
    /// and in rows if it is below.
    chosen: HashMap<(Screen, bool), u16>,
    /// Whether the mouse is moving the border.
    pub dragging: bool,
    /// The first visible line of the text in the second pane; a key or a click shows its start
    /// again.
    pub text_first: usize,
}

impl Model {
    /// Divides an area of the topmost screen.
    pub(crate) fn split(&self, area: Rect, split: PaneSplit) -> SplitPanes {
        let pane = (self.screen(), split.upright);
        split.divide(area, self.panes.chosen.get(&pane).copied())
    }

    /// Moves the border on screen right or down; left or up if `by` is negative.
    pub(crate) fn move_border(&mut self, by: i16) {
        if let Some(border) = self.areas.border {
            let size = border.size().saturating_add_signed(-by);
            let pane = (self.screen(), border.upright);
            self.panes.chosen.insert(pane, size);
        }
    }

    /// The lines of the text in the second pane from the first visible one on, and the numbers for
    /// [`Areas::aside`].
    ///
    /// [`Areas::aside`]: crate::tui::drawing::Areas::aside
    pub(crate) fn pane_text(
        &self,
        mut lines: Vec<Line<'static>>,
        rows: u16,
    ) -> (Vec<Line<'static>>, (usize, usize)) {
        let (total, page) = (lines.len(), usize::from(rows));
        let first = self.panes.text_first.min(total.saturating_sub(page));
        lines.drain(..first);
        (lines, (total, page))
    }

    /// Scrolls the text in the second pane.
    pub(crate) fn scroll_pane_text(&mut self, command: Command) {
        let (lines, page) = self.areas.aside;
        self.panes.text_first = scrolled(self.panes.text_first, command, lines, page);
    }
}
