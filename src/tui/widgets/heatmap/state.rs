//! The position in the matrix: cursor and zoom.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Zoom {
    /// The whole matrix, averaging several documents per half block if necessary.
    Overview,
    /// One column and half a row per cell.
    Dense,
    /// Two columns and one row per cell.
    Block,
    /// Four columns and one row per cell, with the number.
    Number,
    /// Four columns and two rows per cell, with the number.
    Tile,
    /// Six columns and three rows per cell, with the number.
    Large,
    /// Ten columns and five rows per cell, with the number.
    Huge,
}

impl Zoom {
    /// The next closer level; the closest one stays.
    pub fn closer(self) -> Self {
        match self {
            Self::Overview => Self::Dense,
            Self::Dense => Self::Block,
            Self::Block => Self::Number,
            Self::Number => Self::Tile,
            Self::Tile => Self::Large,
            Self::Large | Self::Huge => Self::Huge,
        }
    }

    pub fn columns(self) -> usize {
        match self {
            Self::Overview | Self::Dense => 1,
            Self::Block => 2,
            Self::Number | Self::Tile => 4,
            Self::Large => 6,
            Self::Huge => 10,
        }
    }

    /// Rows of the matrix per line of the screen.
    pub fn rows_a_line(self) -> usize {
        match self {
            Self::Overview | Self::Dense => 2,
            _ => 1,
        }
    }

    /// Lines of the screen per row of the matrix.
    pub(super) fn lines_a_row(self) -> usize {
        match self {
            Self::Tile => 2,
            Self::Large => 3,
            Self::Huge => 5,
            _ => 1,
        }
    }

    /// Whether cells have room for their number.
    pub(super) fn has_numbers(self) -> bool {
        self >= Self::Number
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeatmapState {
    pub cursor: (usize, usize),
    /// The zoom, or `None` for the largest one at which everything fits.
    pub zoom: Option<Zoom>,
}

impl HeatmapState {
    /// Moves the cursor by columns and rows, stopping at the edges of a matrix of `k` documents.
    pub fn move_by(&mut self, dx: isize, dy: isize, k: usize) {
        let (row, col) = self.clamped(k);
        self.move_to(
            row.saturating_add_signed(dy),
            col.saturating_add_signed(dx),
            k,
        );
    }

    /// Moves the cursor to a row and column, or as close as a matrix of `k` documents allows.
    pub fn move_to(&mut self, row: usize, col: usize, k: usize) {
        self.cursor = (row, col);
        self.cursor = self.clamped(k);
    }

    pub fn clamped(&self, k: usize) -> (usize, usize) {
        let last = k.saturating_sub(1);
        (self.cursor.0.min(last), self.cursor.1.min(last))
    }
}
