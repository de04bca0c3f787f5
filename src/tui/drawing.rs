//! State left behind by a frame: where things were drawn, and caches for the next frame.

use super::panes::{PaneBorder, SplitPanes};
use super::text::WrappedText;
use super::widgets::heatmap::{HeatmapCache, Viewport};
use crate::domain::priority::Certainty;
use ratatui::layout::{Position, Rect};

/// The row under the cursor of a list, the number of rows shown, and the total number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListPosition {
    pub cursor: usize,
    pub shown: usize,
    pub all: usize,
}

impl ListPosition {
    /// The position in a list without hidden rows.
    pub fn unfiltered(cursor: usize, rows: usize) -> Self {
        Self {
            cursor,
            shown: rows,
            all: rows,
        }
    }
}

/// Where things were last drawn, for handling clicks and limiting scrolling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Areas {
    /// The list or matrix that receives clicks.
    pub list: Rect,
    /// Number of lines of the longest scrollable text, or of rows of a list.
    pub lines: usize,
    pub page: usize,
    pub first: usize,
    /// Number of lines of A and of B, if the two texts scroll separately.
    pub sides: [usize; 2],
    /// The first visible line of each.
    pub firsts: [usize; 2],
    /// The first visible line of a text below or next to a list.
    pub text_first: usize,
    /// Number of lines of the scrollable text in the second pane, and the number that fits.
    pub aside: (usize, usize),
    pub heatmap: Option<Viewport>,
    /// Panes that the wheel scrolls separately, by the number that the screen gives them; empty if
    /// not shown.
    pub panes: [Rect; 3],
    /// The border between two panes, if it can be moved.
    pub border: Option<PaneBorder>,
    /// The position in a list, for the header.
    pub position: Option<ListPosition>,
    /// Position of the terminal's cursor while text is being typed.
    pub caret: Option<Position>,
}

impl Areas {
    /// The same with two panes whose border can be moved.
    #[must_use]
    pub(crate) fn split(self, panes: &SplitPanes) -> Self {
        Self {
            panes: [panes.first, panes.second, Rect::default()],
            border: Some(panes.border),
            ..self
        }
    }
}

/// P(top k right) of the query that was last drawn, and the data it was computed from.
#[derive(Debug, Default)]
pub struct TopCertainty {
    pub stamp: Option<u64>,
    pub certainty: Option<Certainty>,
}

/// State kept from frame to frame; it affects only drawing speed and scroll positions.
#[derive(Debug, Default)]
pub struct Caches {
    pub heatmap: HeatmapCache,
    /// The pictures of the hybrid order and the zELO order.
    pub orders: [HeatmapCache; 2],
    /// Of the small matrix next to the list of queries.
    pub preview: HeatmapCache,
    pub top: TopCertainty,
    /// Long texts of the screen that is shown.
    pub texts: [WrappedText; 3],
}
