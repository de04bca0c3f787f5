//! A wrapped text that is kept from frame to frame.

use super::lines;
use crate::domain::sanitize;
use ratatui::style::Style;
use ratatui::text::Line;

/// The lines of a text, wrapped again only if the text, the width or the style has changed.
#[derive(Debug, Default)]
pub struct WrappedText {
    text: String,
    columns: usize,
    style: Style,
    lines: Vec<Line<'static>>,
}

impl WrappedText {
    /// The lines of a text of strangers.
    pub fn lines(&mut self, text: &str, columns: usize, style: Style) -> &[Line<'static>] {
        if (self.text.as_str(), self.columns, self.style) != (text, columns, style) {
            text.clone_into(&mut self.text);
            (self.columns, self.style) = (columns, style);
            self.lines = lines(&sanitize::block(text), columns, style);
        }
        &self.lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_follow_the_text_and_the_width() {
        let mut wrapped = WrappedText::default();
        let style = Style::default();
        for (text, columns) in [
            ("one two", 40),
            ("one two", 4),
            ("one\u{1b}[2J", 4),
            ("", 4),
        ] {
            let expected = lines(&sanitize::block(text), columns, style);
            assert_eq!(wrapped.lines(text, columns, style), expected);
            assert_eq!(wrapped.lines(text, columns, style), expected);
        }
    }
}
