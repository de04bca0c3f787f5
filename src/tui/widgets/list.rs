//! The scrollbar of every list.

use crate::tui::canvas::Canvas;
use ratatui::layout::Rect;
use ratatui::widgets::{Scrollbar, ScrollbarOrientation, ScrollbarState, StatefulWidget};

/// Draws a scrollbar in the blank column to the right of a list that does not fit.
pub(crate) fn scrollbar(first: usize, rows: usize, canvas: Canvas<'_>) {
    let Canvas { theme, area, buf } = canvas;
    let page = usize::from(area.height);
    let right = Rect {
        x: area.right(),
        width: 1,
        ..area
    }
    .intersection(buf.area);
    if rows <= page || page < 3 || right.is_empty() {
        return;
    }
    let mut state = ScrollbarState::new(rows.saturating_sub(page))
        .position(first)
        .viewport_content_length(page);
    Scrollbar::new(ScrollbarOrientation::VerticalRight)
        .begin_symbol(None)
        .end_symbol(None)
        .track_symbol(Some("│"))
        .track_style(theme.faint())
        .thumb_symbol("┃")
        .thumb_style(theme.accent())
        .render(right, buf, &mut state);
}
