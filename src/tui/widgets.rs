//! Parts of a screen: plain state, keys in, an [`KeyOutcome`] out, drawing into a buffer.

pub mod confirm;
pub mod footer;
pub mod header;
pub mod heatmap;
pub mod help;
pub mod page;
pub mod palette;
pub mod prompt;
pub mod toast;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::widgets::{Block, Clear, Widget};

use super::theme::Theme;

/// What a widget made of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyOutcome<T = ()> {
    /// Used up.
    Consumed,
    /// Not the widget's: the screen below or the global table may use it.
    Pass,
    /// Accepted, with the result; close the widget.
    Submitted(T),
    /// Given up; close the widget.
    Cancelled,
}

impl<T> KeyOutcome<T> {
    /// The same outcome with another result.
    pub fn map<U>(self, with: impl FnOnce(T) -> U) -> KeyOutcome<U> {
        match self {
            Self::Consumed => KeyOutcome::Consumed,
            Self::Pass => KeyOutcome::Pass,
            Self::Submitted(result) => KeyOutcome::Submitted(with(result)),
            Self::Cancelled => KeyOutcome::Cancelled,
        }
    }
}

/// A box of at most `width`×`height` in the middle of `area`.
pub fn centred(area: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(area.width), height.min(area.height));
    Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    }
}

/// Clears `area`, draws a titled border and returns what is inside, one blank column left and right.
pub fn boxed(title: &str, theme: &Theme, area: Rect, buf: &mut Buffer) -> Rect {
    let area = area.intersection(buf.area);
    Clear.render(area, buf);
    let block = Block::bordered()
        .border_style(theme.border_focus())
        .title(format!(" {title} "))
        .title_style(theme.title());
    let inner = block.inner(area);
    block.render(area, buf);
    Rect {
        x: inner.x + u16::from(inner.width > 2),
        width: inner
            .width
            .saturating_sub(if inner.width > 2 { 2 } else { 0 }),
        ..inner
    }
}

/// The first row to show so that `selected` is among `rows` visible ones, moving `top` no more than needed.
pub fn scroll_to(top: usize, selected: usize, rows: usize) -> usize {
    if selected < top {
        selected
    } else if rows > 0 && selected >= top + rows {
        selected + 1 - rows
    } else {
        top
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scrolling_moves_no_more_than_needed() {
        assert_eq!(scroll_to(0, 3, 5), 0);
        assert_eq!(scroll_to(0, 5, 5), 1);
        assert_eq!(scroll_to(4, 2, 5), 2);
        assert_eq!(scroll_to(0, 9, 0), 0);
    }

    #[test]
    fn boxes_fit_any_area() {
        for (width, height) in [(0, 0), (1, 1), (3, 2), (80, 24)] {
            crate::tui::testing::draw(width, height, |area, buf| {
                let inner = boxed("title", &Theme::default(), centred(area, 40, 9), buf);
                assert_eq!(inner.intersection(area), inner);
            });
        }
    }
}
