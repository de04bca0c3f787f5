//! What the matrix shows, and where the cursor is.

use crate::domain::ranking::DocumentOrder;
use crate::tui::widgets::heatmap::HeatmapState;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layer {
    /// Ensemble scores of the battles fought, with verdicts in force.
    #[default]
    Observed,
    /// The fit's probability for every pair.
    Fitted,
    Residual,
    /// One judge's votes, by its place in the ensemble.
    Judge(usize),
    /// The score that a student expects, by its place among the students.
    Student(usize),
    Verdicts,
}

#[derive(Debug, Default)]
pub struct MatrixScreen {
    pub layer: Layer,
    pub order: DocumentOrder,
    /// Which surprise was jumped to last, 0 the greatest.
    pub surprise: Option<usize>,
    /// Cursor, window and zoom, in display positions.
    pub heat: HeatmapState,
    /// Identifiers instead of titles beside the rows.
    pub ids: bool,
    /// Whether the fit's expectation is left out where nobody voted.
    pub votes_only: bool,
}

impl MatrixScreen {
    /// Whether cells without a battle hold what the fit expects.
    pub fn shows_expectations(&self) -> bool {
        self.layer == Layer::Observed && !self.votes_only
    }
}
