//! A page of text on top of the screen.

use super::KeyOutcome;
use super::scroll_box::ScrollBox;
use crate::domain::sanitize;
use crate::tui::keymap::Command;
use crate::tui::text;
use crate::tui::theme::Theme;
use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

const WIDTH: u16 = 90;

#[derive(Clone, Debug)]
pub struct Page {
    text: String,
    page: ScrollBox,
    passes: Option<Command>,
}

impl Page {
    /// Creates a page; control characters in `text` are shown as symbols.
    pub fn new(title: &'static str, text: &str) -> Self {
        Self {
            text: sanitize::block(text).into_owned(),
            page: ScrollBox::new(title, WIDTH),
            passes: None,
        }
    }

    /// A command of the screen below that closes the page and is executed.
    pub fn passing(mut self, command: Command) -> Self {
        self.passes = Some(command);
        self
    }

    pub(crate) fn passes(&self, command: Command) -> bool {
        self.passes == Some(command)
    }

    /// Columns for its text in a terminal with `columns` columns.
    pub(crate) fn columns(columns: u16) -> usize {
        ScrollBox::new("", WIDTH).columns(Rect::new(0, 0, columns, 1))
    }

    pub fn handle(&mut self, event: KeyEvent) -> KeyOutcome {
        self.page.handle(event)
    }

    pub fn render(&self, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let text = self.text.trim_end_matches('\n');
        let lines = text::lines(text, self.page.columns(area), theme.text());
        self.page.render(lines, theme, area, buf);
    }
}
