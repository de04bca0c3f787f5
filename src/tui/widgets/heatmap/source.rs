//! What a heatmap draws: cells and margins in display order.

/// One cell of the matrix, as seen from its row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HeatCell {
    /// How the row's document does: 0 worse, 1 better, `None` where nothing is known.
    pub value: Option<f64>,
    /// The layer's own number where that is not a share: a margin or a difference, in −1..=1. It is what is printed; the
    /// value then only gives the colour.
    pub signed: Option<f64>,
    /// The battle is planned but has no value yet.
    pub planned: bool,
    pub missing: bool,
    pub overruled: bool,
    pub diagonal: bool,
}

/// What the left margin tells about a row's document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MarginRow {
    pub rank: String,
    /// The document's id, already sanitised for a terminal.
    pub id: String,
    pub zelo: Option<f64>,
    pub se: Option<f64>,
    /// A one-column flag beside the rank, a space for none.
    pub flag: char,
}

/// Where a heatmap gets its cells and labels, in display order.
pub trait CellSource {
    fn len(&self) -> usize;

    fn cell(&self, row: usize, col: usize) -> HeatCell;

    fn margin(&self, at: usize) -> MarginRow;

    /// A number that changes whenever a cell, a score or the order does.
    fn generation(&self) -> u64;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The score and standard error at a display position; worth overriding where [`Self::margin`] allocates.
    fn score(&self, at: usize) -> Option<(f64, f64)> {
        let margin = self.margin(at);
        margin.zelo.map(|zelo| (zelo, margin.se.unwrap_or(0.0)))
    }

    /// Visits every cell that holds anything, both triangles, and returns true; false makes the overview read all K²
    /// cells (or an even sample of them beyond four million).
    fn visit(&self, _cell: &mut dyn FnMut(usize, usize, HeatCell)) -> bool {
        false
    }
}

#[derive(Clone, Copy, Debug)]
pub struct HeatmapOptions<'a> {
    /// What the picture shows, such as `observed · zELO order`; the widget adds scale and position.
    pub caption: &'a str,
    /// Whether cells carry their sign in true colour and 256 colours too; with fewer they always do.
    pub signs: bool,
    /// Whether free room beside a small picture magnifies the cells around the cursor.
    pub lens: bool,
}

impl Default for HeatmapOptions<'_> {
    fn default() -> Self {
        Self {
            caption: "",
            signs: false,
            lens: true,
        }
    }
}
