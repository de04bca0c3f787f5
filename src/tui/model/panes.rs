//! The sizes of panes that the person has chosen.

use super::Model;
use crate::tui::keymap::Screen;
use std::collections::HashMap;

/// Rows or columns by which a key moves the border between two panes.
pub(crate) const STEP: i16 = 2;

#[derive(Debug, Default)]
pub struct PaneSizes {
    /// The chosen size of the second pane of a screen, in columns if it is next to the first one
    /// and in rows if it is below.
    chosen: HashMap<(Screen, bool), u16>,
    /// Whether the mouse is moving the border.
    pub dragging: bool,
}

impl Model {
    /// The size of the second pane of a screen, within `least` and `most`; `usual` until the person
    /// has moved the border.
    pub(crate) fn pane_size(
        &self,
        (screen, upright): (Screen, bool),
        usual: u16,
        (least, most): (u16, u16),
    ) -> u16 {
        self.panes
            .chosen
            .get(&(screen, upright))
            .map_or(usual, |size| (*size).min(most).max(least))
    }

    /// Moves the border on screen right or down; left or up if `by` is negative.
    pub(crate) fn move_border(&mut self, by: i16) {
        if let Some(border) = self.areas.border {
            let size = (border.end - border.at).saturating_add_signed(-by);
            let pane = (self.screen(), border.upright);
            self.panes.chosen.insert(pane, size);
        }
    }
}
