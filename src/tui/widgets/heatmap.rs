//! The K×K heatmap: all battles of a query in one picture, at seven zoom levels.
//!
//! Rows and columns are display positions, which the caller maps to documents; to reorder them,
//! pass another source. A cell is seen from its row: 0 means that the row's document is worse, 1
//! that it is better. Only visible cells are read and painted, except in the overview, which
//! averages all cells once per [`CellSource::generation`].

mod cache;
mod frame;
mod header;
mod legend;
mod lens;
mod margin;
mod paint;
mod painter;
mod source;
mod state;

#[cfg(test)]
mod tests;

use crate::tui::theme::Theme;
use painter::{Painter, few_colors};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

pub use cache::HeatmapCache;
pub(crate) use cache::WITHIN_95;
pub use frame::{Viewport, columns_wanted, fit};
pub use legend::ramp_line;
pub(crate) use margin::interval_plot;
pub use source::{CellScale, CellSource, HeatCell, HeatmapOptions, MarginRow, RowLabel};
pub use state::{HeatmapState, Zoom};

/// Draws the heatmap and returns the visible part of the matrix; `cache` keeps the scroll position
/// and the averages.
pub fn render(
    area: Rect,
    buf: &mut Buffer,
    theme: &Theme,
    state: &HeatmapState,
    cache: &mut HeatmapCache,
    source: &dyn CellSource,
    options: &HeatmapOptions<'_>,
) -> Viewport {
    let area = area.intersection(buf.area);
    let frame = frame::Frame::new(area, source.len(), state, cache.offset, options);
    cache.offset = frame.view.offset;
    if source.is_empty() || area.is_empty() {
        return frame.view;
    }
    let cursor = if options.cursor {
        state.clamped(source.len())
    } else {
        (usize::MAX, usize::MAX)
    };
    cache.refresh(source, &frame.view);
    let painter = Painter {
        theme,
        source,
        frame: &frame,
        cursor,
        signs: options.signs || few_colors(theme),
        options,
    };
    paint::body(&painter, cache, buf);
    margin::rows(&painter, cache, buf);
    header::columns(&painter, buf);
    if let Some(lens) = frame.lens {
        lens::magnify(&painter, lens, cache.scale(), buf);
    }
    legend::lines(&painter, cache, buf);
    frame.view
}
