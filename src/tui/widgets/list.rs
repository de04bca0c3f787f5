//! The frame of every list: a line of totals with the cursor position, and a scrollbar.

use crate::tui::canvas::Canvas;
use crate::tui::text;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Scrollbar, ScrollbarOrientation, ScrollbarState, StatefulWidget, Widget};

/// Text on the left; on the right, the row under the cursor, the number of rows shown, and the
/// total number.
pub(crate) fn list_head(words: &str, place: (usize, usize, usize), canvas: Canvas<'_>) {
    let Canvas { theme, area, buf } = canvas;
    let (cursor, shown, all) = place;
    let mut place = match shown {
        0 => "0".to_owned(),
        _ => format!("{} / {}", text::count(cursor + 1), text::count(shown)),
    };
    if shown < all {
        place += &format!(" of {}", text::count(all));
    }
    let columns = usize::from(area.width);
    let room = columns.saturating_sub(text::width(&place) + 2);
    Line::from(vec![
        Span::raw(text::pad_right(words, room)),
        Span::raw("  "),
        Span::styled(place, theme.muted()),
    ])
    .render(area, buf);
}

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
