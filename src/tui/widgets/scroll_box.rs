//! A centered box of lines that scrolls with the keys of a list.

use super::clicks::ClickAreas;
use super::{KeyOutcome, boxed};
use crate::tui::keymap::{Command, Scope, key_name, resolve};
use crate::tui::layout::centred;
use crate::tui::navigation::scrolled;
use crate::tui::text;
use crate::tui::theme::Theme;
use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Widget;
use std::cell::Cell;

#[derive(Clone, Debug)]
pub(super) struct ScrollBox {
    title: &'static str,
    width: u16,
    top: usize,
    /// Numbers of lines and rows when last drawn, which determine the page size and the end.
    shown: Cell<(usize, usize)>,
    pub(super) clicks: ClickAreas,
}

impl ScrollBox {
    pub(super) fn new(title: &'static str, width: u16) -> Self {
        Self {
            title,
            width,
            top: 0,
            shown: Cell::new((1, 1)),
            clicks: ClickAreas::default(),
        }
    }

    /// Begins with this line, if the text does not end before it fills the box.
    pub(super) fn starting_at(mut self, line: usize) -> Self {
        self.top = line;
        self
    }

    /// Columns for text inside a box in `area`.
    pub(super) fn columns(&self, area: Rect) -> usize {
        usize::from(self.width.min(area.width).saturating_sub(4)).max(1)
    }

    /// Scrolls, or closes on Esc, `q`, Enter and `?`.
    pub(super) fn handle(&mut self, event: KeyEvent) -> KeyOutcome {
        match resolve(Scope::List, event) {
            Some(Command::Back | Command::Help | Command::Open) => return KeyOutcome::Cancelled,
            Some(
                Command::Quit
                | Command::Suspend
                | Command::Redraw
                | Command::NextRamp
                | Command::Manual,
            ) => return KeyOutcome::Pass,
            Some(command) => {
                let (lines, rows) = self.shown.get();
                self.top = scrolled(self.top, command, lines, rows);
            }
            None => {}
        }
        KeyOutcome::Consumed
    }

    pub(super) fn render(&self, lines: Vec<Line<'_>>, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let height = u16::try_from(lines.len() + 2).unwrap_or(u16::MAX);
        let frame = centred(area, self.width, height);
        let inner = boxed(self.title, theme, frame, buf);
        let rows = usize::from(inner.height);
        self.shown.set((lines.len(), rows));
        let last = lines.len().saturating_sub(rows);
        let top = self.top.min(last);
        for (line, row) in lines.into_iter().skip(top).zip(inner.rows()) {
            line.render(row, buf);
        }
        let key = |command| key_name(command, Scope::List);
        let (up, down) = (key(Command::Up), key(Command::Down));
        let close = key(Command::Back);
        let more: Vec<&str> = [(top > 0, up.as_str()), (top < last, down.as_str())]
            .into_iter()
            .filter_map(|(is_hidden, key)| is_hidden.then_some(key))
            .collect();
        let mut words = format!(" {close} close ");
        if !more.is_empty() {
            words = format!(" {} more ·{words}", more.join(" "));
        }
        self.clicks.clear();
        if frame.width > 30 && frame.height > 2 {
            let line = Rect {
                x: frame.x + 2,
                y: frame.bottom() - 1,
                height: 1,
                width: frame.width - 2,
            };
            buf.set_string(line.x, line.y, &words, theme.key_hint());
            for key in more.into_iter().chain([close.as_str()]) {
                if let Some(at) = words.find(&format!(" {key} ")) {
                    let column = line.x + text::width(&words[..=at]) as u16;
                    self.clicks.named_key(key, line, column, text::width(key));
                }
            }
        }
    }
}
