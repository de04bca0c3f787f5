//! A page of text over the screen.

use super::{KeyOutcome, boxed, centred};
use crate::domain::sanitise;
use crate::tui::keymap::{Command, Scope, resolve};
use crate::tui::text;
use crate::tui::theme::Theme;
use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Widget};
use std::cell::Cell;

const WIDTH: u16 = 90;

/// A text to read, scrolled by the keys of a list.
#[derive(Clone, Debug)]
pub struct Page {
    title: &'static str,
    text: String,
    top: usize,
    /// Lines and rows of the last drawing.
    shown: Cell<(usize, usize)>,
}

impl Page {
    /// A page; what could steer a terminal in `text` is shown as symbols.
    pub fn new(title: &'static str, text: &str) -> Self {
        Self {
            title,
            text: sanitise::block(text).into_owned(),
            top: 0,
            shown: Cell::new((1, 1)),
        }
    }

    /// Scrolls, or closes on Esc, `q` and Enter.
    pub fn handle(&mut self, event: KeyEvent) -> KeyOutcome {
        let (lines, rows) = self.shown.get();
        let last = lines.saturating_sub(rows);
        let page = rows.saturating_sub(1).max(1);
        let top = self.top.min(last);
        self.top = match resolve(Scope::List, event) {
            Some(Command::Back | Command::Open) => return KeyOutcome::Cancelled,
            Some(Command::Quit | Command::Suspend | Command::Redraw) => return KeyOutcome::Pass,
            Some(Command::Down) => top + 1,
            Some(Command::Up) => top.saturating_sub(1),
            Some(Command::PageDown) => top + page,
            Some(Command::PageUp) => top.saturating_sub(page),
            Some(Command::First) => 0,
            Some(Command::Last) => last,
            _ => top,
        }
        .min(last);
        KeyOutcome::Consumed
    }

    /// Draws the page in the middle of `area`.
    pub fn render(&self, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let columns = usize::from(WIDTH.min(area.width).saturating_sub(4)).max(1);
        let mut lines = Vec::new();
        for paragraph in self.text.lines() {
            let wrapped = text::wrap(paragraph, columns);
            if wrapped.is_empty() {
                lines.push(Line::default());
            }
            for range in wrapped {
                lines.push(Line::raw(paragraph[range].to_owned()));
            }
        }
        let height = u16::try_from(lines.len() + 2).unwrap_or(u16::MAX);
        let frame = centred(area, WIDTH, height);
        let inner = boxed(self.title, theme, frame, buf);
        let rows = usize::from(inner.height);
        self.shown.set((lines.len(), rows));
        let top = self.top.min(lines.len().saturating_sub(rows));
        let shown: Vec<Line<'_>> = lines.into_iter().skip(top).take(rows).collect();
        Paragraph::new(shown).render(inner, buf);
    }
}
