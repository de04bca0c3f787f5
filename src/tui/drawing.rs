//! What a frame leaves behind: where things went, and what the next frame can use again.

use super::widgets::heatmap::{HeatmapCache, Viewport};
use crate::domain::priority::Certainty;
use ratatui::layout::{Position, Rect};

/// Where things were drawn last, for clicks and for clamping what scrolls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Areas {
    /// The list or matrix that takes clicks.
    pub list: Rect,
    /// Lines of the longest scrollable text, or rows of a list.
    pub lines: usize,
    pub page: usize,
    pub first: usize,
    /// Lines of A and of B, where two texts scroll apart.
    pub sides: [usize; 2],
    /// The first line shown of each.
    pub firsts: [usize; 2],
    /// The first line shown of a text below or beside a list.
    pub text_first: usize,
    /// Lines of a second scrollable text beside the first, and how many of them fit.
    pub aside: (usize, usize),
    pub heatmap: Option<Viewport>,
    /// Where the terminal's cursor belongs, when something is typed.
    pub caret: Option<Position>,
}

/// P(top k right) of the query that was drawn last, and what it was computed from.
#[derive(Debug, Default)]
pub struct TopCertainty {
    pub stamp: Option<u64>,
    pub certainty: Option<Certainty>,
}

/// What drawing remembers from frame to frame; it changes how fast a frame is drawn and where it is scrolled to.
#[derive(Debug, Default)]
pub struct Caches {
    pub heatmap: HeatmapCache,
    pub top: TopCertainty,
}
