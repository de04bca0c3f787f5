//! State of the matrix: its content, cursor and zoom.

use crate::domain::ranking::{DocumentOrder, View};
use crate::tui::widgets::heatmap::Zoom;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layer {
    /// Ensemble scores of battles with votes, including effective verdicts.
    #[default]
    Observed,
    /// The fit's probability for every pair.
    Fitted,
    Residual,
    /// One judge's votes, by its index in the ensemble.
    Judge(usize),
    /// The share in answers outside battles.
    Answers,
    /// A student's expected scores, by its index among the students.
    Student(usize),
    Verdicts,
}

/// Documents with the same metadata value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatrixSlice {
    /// The field and the value, sanitized.
    pub name: String,
    /// Pool indexes, ascending.
    pub documents: Vec<usize>,
}

impl MatrixSlice {
    pub fn has(&self, document: usize) -> bool {
        self.documents.binary_search(&document).is_ok()
    }
}

/// The slices that the documents of the open query belong to, by which their rows are colored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatrixColors {
    /// The metadata field, sanitized.
    pub field: String,
    /// The value of each slice, sanitized.
    pub values: Vec<String>,
    /// The slice of each document, by pool index.
    pub slices: Vec<Option<usize>>,
}

impl MatrixColors {
    /// A letter for a slice, from `a` on; later slices share a sign.
    pub fn letter(slice: usize) -> char {
        u8::try_from(slice)
            .ok()
            .filter(|slice| *slice < 26)
            .map_or('+', |slice| char::from(b'a' + slice))
    }
}

#[derive(Debug, Default)]
pub struct MatrixState {
    pub layer: Layer,
    pub order: DocumentOrder,
    /// Index of the surprise that was last jumped to, with 0 for the largest.
    pub surprise: Option<usize>,
    /// The documents of the row and the column under the cursor, by pool index, so that the cursor
    /// stays on them when their order changes.
    pub cursor: (usize, usize),
    /// The zoom, or `None` for the largest one at which everything fits.
    pub zoom: Option<Zoom>,
    /// The documents to which the matrix is limited.
    pub slice: Option<MatrixSlice>,
    /// The colors of the rows, if the person has chosen a metadata field for them.
    pub colors: Option<MatrixColors>,
    /// Whether rows are labeled with identifiers instead of titles.
    pub ids: bool,
    /// Whether to hide the fit's expectation for pairs without votes.
    pub votes_only: bool,
}

impl MatrixState {
    /// Pool index at each display position.
    pub fn order_of(&self, view: &View) -> Vec<usize> {
        let mut order = view.order(self.order);
        if let Some(slice) = &self.slice {
            order.retain(|document| slice.has(*document));
        }
        order
    }

    /// Whether cells without a battle contain the fit's expectation.
    pub fn shows_expectations(&self) -> bool {
        self.layer == Layer::Observed && !self.votes_only
    }
}
