//! What a heatmap draws: cells and margins in display order.

/// One cell of the matrix, as seen from its row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HeatCell {
    /// How the row's document does: 0 worse, 1 better, `None` where nothing is known.
    pub value: Option<f64>,
    /// The layer's own number where that is not a share: a margin in −1..=1, or standard deviations. It is what is
    /// printed; the value then only gives the colour.
    pub signed: Option<f64>,
    /// What a model expects of the row's document, 0 to 1, where there is no value.
    pub expected: Option<f64>,
    /// The battle is planned but has no value yet.
    pub planned: bool,
    pub missing: bool,
    /// How the row's document does by the verdict in force: 0 worse, 1 better, whatever the layer shows.
    pub overruled: Option<f64>,
    pub diagonal: bool,
}

/// What the left margin tells about a row's document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MarginRow {
    pub rank: String,
    /// The document's id, already sanitised for a terminal.
    pub id: String,
    /// Its title, sanitised; empty where there is none.
    pub title: String,
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

    /// [`MarginRow::rank`]; worth overriding where [`Self::margin`] does more.
    fn rank(&self, at: usize) -> String {
        self.margin(at).rank
    }

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

/// What the cells' numbers are, for the legend and for how they are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CellScale {
    /// The row's share, 0 to 1.
    #[default]
    Share,
    /// A margin, −1 to 1.
    Margin,
    /// Standard deviations; the colours end at ±3.
    Sigmas,
}

#[derive(Clone, Copy, Debug)]
pub struct HeatmapOptions<'a> {
    /// What the picture shows, such as `observed · zELO order`; the widget adds scale and position.
    pub caption: &'a str,
    /// The same in two or three words, for a foot of one line.
    pub brief: &'a str,
    /// Whether cells carry their sign in true colour and 256 colours too; with fewer they always do.
    pub signs: bool,
    pub scale: CellScale,
    /// Identifiers beside the rows also where titles have room.
    pub ids: bool,
    /// How many rows from the top belong together; a line is drawn below them.
    pub cut: Option<usize>,
    /// What an expectation in a cell means, for the legend, where cells may hold one.
    pub expectations: Option<&'static str>,
    /// What a cell without a value means; nothing where only documents without a score have such.
    pub absent: Option<&'static str>,
    /// Whether cells are marked whose votes are missing or still to come.
    pub gaps: bool,
    /// Whether free room beside a small picture magnifies the cells around the cursor.
    pub lens: bool,
}

impl Default for HeatmapOptions<'_> {
    fn default() -> Self {
        Self {
            caption: "",
            brief: "",
            signs: false,
            scale: CellScale::Share,
            ids: false,
            cut: None,
            expectations: None,
            absent: Some("not fought"),
            gaps: true,
            lens: true,
        }
    }
}
