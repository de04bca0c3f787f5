//! The data of a heatmap: cells and margins in display order.

use crate::tui::theme::Theme;
use ratatui::style::Style;

/// A cell of the matrix, from the point of view of its row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HeatCell {
    /// The result of the row's document: 0 worse, 1 better, `None` if unknown.
    pub value: Option<f64>,
    /// The layer's own number if it is not a share: a margin in −1..=1, or standard deviations. It
    /// is printed, and the value only determines the color.
    pub signed: Option<f64>,
    /// A model's expectation for the row's document, 0 to 1, if there is no value.
    pub expected: Option<f64>,
    /// The result of the row's document by answers outside battles, 0 to 1, if there is no value.
    pub answered: Option<f64>,
    /// The battle is planned but has no value yet.
    pub planned: bool,
    pub missing: bool,
    /// The result of the row's document by the effective verdict: 0 worse, 1 better, whatever the
    /// layer shows.
    pub overruled: Option<f64>,
    pub diagonal: bool,
    /// On the diagonal: people's label of the document.
    pub label: Option<RowLabel>,
}

/// People's label of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowLabel {
    Relevant,
    NotRelevant,
}

impl RowLabel {
    /// From whether the label says that the document is relevant.
    pub fn new(is_relevant: bool) -> Self {
        if is_relevant {
            Self::Relevant
        } else {
            Self::NotRelevant
        }
    }

    pub fn symbol(self) -> char {
        match self {
            Self::Relevant => '✓',
            Self::NotRelevant => '✗',
        }
    }

    pub fn style(self, theme: &Theme) -> Style {
        match self {
            Self::Relevant => theme.strong(),
            Self::NotRelevant => theme.muted(),
        }
    }
}

/// The content of the left margin for a row's document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MarginRow {
    pub rank: String,
    /// The document's ID, already sanitized for a terminal.
    pub id: String,
    /// Its title, sanitized; empty if there is none.
    pub title: String,
    pub zelo: Option<f64>,
    pub se: Option<f64>,
    /// A one-column flag next to the rank; a space for none.
    pub flag: char,
    /// A letter and the number of a color, shown in place of a flag; the name has the color too.
    pub group: Option<(char, usize)>,
}

/// Provides a heatmap with cells and labels, in display order.
pub trait CellSource {
    fn len(&self) -> usize;

    fn cell(&self, row: usize, col: usize) -> HeatCell;

    fn margin(&self, at: usize) -> MarginRow;

    /// [`MarginRow::rank`]; worth overriding if [`Self::margin`] does more.
    fn rank(&self, at: usize) -> String {
        self.margin(at).rank
    }

    /// A number that changes whenever a cell, a score or the order changes.
    fn generation(&self) -> u64;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The score and standard error at a display position; worth overriding if [`Self::margin`]
    /// allocates.
    fn score(&self, at: usize) -> Option<(f64, f64)> {
        let margin = self.margin(at);
        margin.zelo.map(|zelo| (zelo, margin.se.unwrap_or(0.0)))
    }

    /// Visits every non-empty cell in both triangles and returns true. If it returns false, the
    /// overview reads all K² cells (or an even sample of them beyond four million).
    fn visit(&self, _cell: &mut dyn FnMut(usize, usize, HeatCell)) -> bool {
        false
    }
}

/// The unit of the cells' numbers, for the legend and for printing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CellScale {
    /// The row's share, 0 to 1.
    #[default]
    Share,
    /// A margin, −1 to 1.
    Margin,
    /// Standard deviations; the colors end at ±3.
    Sigmas,
}

#[derive(Clone, Copy, Debug)]
pub struct HeatmapOptions<'a> {
    /// The content of the picture, such as `observed · zELO order`; the widget adds scale and
    /// position.
    pub caption: &'a str,
    /// The same in two or three words, for a foot with one line.
    pub brief: &'a str,
    /// Whether cells carry their sign in truecolor and 256 colors too; with fewer colors they
    /// always do.
    pub signs: bool,
    pub scale: CellScale,
    /// Whether to label rows with identifiers even if titles fit.
    pub ids: bool,
    /// Number of top rows that belong together; a line is drawn below them.
    pub cut: Option<usize>,
    /// The meaning of an expectation in a cell, for the legend, if cells may contain one.
    pub expectations: Option<&'static str>,
    /// Where the result of a cell without a battle comes from, for the legend, if there are such
    /// cells.
    pub answers: Option<&'a str>,
    /// The meaning of a cell without a value; `None` if only documents without a score have such
    /// cells.
    pub absent: Option<&'static str>,
    /// Whether votes are missing, so that the legend explains the marks of such cells.
    pub gaps: bool,
    /// Whether to use free space next to a small picture to magnify the cells around the cursor.
    pub lens: bool,
    /// Whether documents have labels: then each row and the diagonal show them.
    pub labels: bool,
    /// Whether to draw the cells alone, without header, margin and legend.
    pub bare: bool,
    /// Whether to mark the cell under the cursor, with its row and column.
    pub cursor: bool,
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
            answers: None,
            absent: Some("not fought"),
            gaps: true,
            lens: true,
            labels: false,
            bare: false,
            cursor: true,
        }
    }
}
