//! The drawing target of a part of a screen: buffer, area and theme.

use super::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

pub struct Canvas<'a> {
    pub theme: &'a Theme,
    pub area: Rect,
    pub buf: &'a mut Buffer,
}

impl<'a> Canvas<'a> {
    pub fn new(theme: &'a Theme, area: Rect, buf: &'a mut Buffer) -> Self {
        Self { theme, area, buf }
    }
}
