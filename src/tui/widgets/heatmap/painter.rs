//! Context shared by all parts of the heatmap while painting.

use super::frame::Frame;
use super::source::{CellSource, HeatmapOptions};
use crate::tui::theme::{ColorDepth, Theme};
use ratatui::buffer::Buffer;
use ratatui::style::Style;

pub(super) struct Painter<'a> {
    pub(super) theme: &'a Theme,
    pub(super) source: &'a dyn CellSource,
    pub(super) frame: &'a Frame,
    pub(super) cursor: (usize, usize),
    pub(super) signs: bool,
    pub(super) options: &'a HeatmapOptions<'a>,
}

impl Painter<'_> {
    /// Whether the cutoff line is below this row.
    pub(super) fn is_last_above_cut(&self, at: usize) -> bool {
        let whole = self.frame.view.stride == (1, 1);
        whole && self.options.cut.is_some_and(|cut| cut == at + 1) && at + 1 < self.source.len()
    }

    /// Whether the cutoff line is to the left of this column.
    pub(super) fn is_cut_before(&self, at: usize) -> bool {
        at > 0 && self.is_last_above_cut(at - 1)
    }
}

pub(super) fn plain(theme: &Theme) -> bool {
    theme.depth == ColorDepth::None
}

/// Whether there are too few colors for a cell's color to show its value.
pub(super) fn few_colors(theme: &Theme) -> bool {
    matches!(theme.depth, ColorDepth::None | ColorDepth::Ansi16)
}

pub(super) fn put(buf: &mut Buffer, x: u16, y: u16, symbol: char, style: Style) {
    if let Some(cell) = buf.cell_mut((x, y)) {
        cell.set_char(symbol).set_style(style);
    }
}
