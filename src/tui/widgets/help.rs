//! The `?` overlay: the keys that work here, then those that work everywhere.

use std::cell::Cell;

use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::{KeyOutcome, boxed, centred};
use crate::tui::keymap::{Command, Scope, own, resolve};
use crate::tui::text::{pad_right, truncate};
use crate::tui::theme::Theme;

const WIDTH: u16 = 78;
const KEYS: usize = 14;

/// The help page of one scope.
#[derive(Clone, Debug)]
pub struct Help {
    scope: Scope,
    top: usize,
    /// Rows shown by the last drawing: what a page is, and where the end is.
    rows: Cell<usize>,
}

impl Help {
    /// The page for the screen of `scope`.
    pub fn new(scope: Scope) -> Self {
        Self {
            scope,
            top: 0,
            rows: Cell::new(1),
        }
    }

    fn sections(&self) -> impl Iterator<Item = Scope> {
        let here = (self.scope != Scope::Global).then_some(self.scope);
        here.into_iter().chain([Scope::Global])
    }

    fn length(&self) -> usize {
        let rows: usize = self.sections().map(|scope| own(scope).count() + 2).sum();
        rows - 1
    }

    fn lines(&self, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
        let mut lines = Vec::with_capacity(self.length() + 1);
        for scope in self.sections() {
            if !lines.is_empty() {
                lines.push(Line::default());
            }
            lines.push(Line::styled(scope.title(), theme.title()));
            for binding in own(scope) {
                let keys: Vec<String> = binding.keys.iter().map(ToString::to_string).collect();
                let doc =
                    truncate(binding.command.doc(), columns.saturating_sub(KEYS)).into_owned();
                lines.push(Line::from(vec![
                    Span::styled(
                        pad_right(&format!("  {}", keys.join(" ")), KEYS),
                        theme.key_hint(),
                    ),
                    Span::styled(doc, theme.text()),
                ]));
            }
        }
        lines
    }

    fn last_top(&self) -> usize {
        self.length().saturating_sub(self.rows.get())
    }

    /// Scrolls, or closes on Esc, `q`, Enter and `?`.
    pub fn handle(&mut self, event: KeyEvent) -> KeyOutcome {
        let page = self.rows.get().max(1);
        let top = self.top.min(self.last_top());
        self.top = match resolve(Scope::List, event) {
            Some(Command::Back | Command::Help | Command::Open) => return KeyOutcome::Cancelled,
            Some(Command::Quit | Command::Suspend | Command::Redraw | Command::NextRamp) => {
                return KeyOutcome::Pass;
            }
            Some(Command::Down) => top + 1,
            Some(Command::Up) => top.saturating_sub(1),
            Some(Command::PageDown) => top + page,
            Some(Command::PageUp) => top.saturating_sub(page),
            Some(Command::First) => 0,
            Some(Command::Last) => self.last_top(),
            _ => top,
        }
        .min(self.last_top());
        KeyOutcome::Consumed
    }

    /// Draws the overlay in the middle of `area`.
    pub fn render(&self, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let height = u16::try_from(self.length() + 2).unwrap_or(u16::MAX);
        let frame = centred(area, WIDTH, height);
        let inner = boxed("Keys", theme, frame, buf);
        let rows = usize::from(inner.height);
        self.rows.set(rows);
        let top = self.top.min(self.last_top());
        let lines = self.lines(theme, usize::from(inner.width));
        for (y, line) in (inner.y..inner.bottom()).zip(lines.iter().skip(top)) {
            line.render(
                Rect {
                    y,
                    height: 1,
                    ..inner
                },
                buf,
            );
        }
        let more = match (top > 0, top < self.last_top()) {
            (false, false) => return,
            (false, true) => " ↓ more ",
            (true, false) => " ↑ more ",
            (true, true) => " ↑↓ more ",
        };
        let y = frame.bottom().saturating_sub(1);
        if frame.width > 14 && frame.height > 2 {
            buf.set_string(frame.x + 2, y, more, theme.muted());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::testing::{draw, key, text, typed};
    use crossterm::event::KeyCode;

    #[test]
    fn the_page_lists_the_scope_first_and_scrolls_to_the_last_global_key() {
        let mut help = Help::new(Scope::Battle);
        let theme = Theme::default();
        let shown = |help: &Help| text(&draw(80, 24, |area, buf| help.render(&theme, area, buf)));
        let page = shown(&help);
        assert!(page.contains("Battle") && page.contains("Rule that A is better."));
        assert!(page.contains("↓ more"));
        for _ in 0..100 {
            assert_eq!(help.handle(key(KeyCode::PageDown)), KeyOutcome::Consumed);
        }
        let page = shown(&help);
        assert!(page.contains("Ctrl-z") && page.contains("↑ more"));
        for event in typed("k") {
            help.handle(event);
        }
        assert_ne!(shown(&help), page);
    }

    #[test]
    fn it_closes_on_any_of_the_closing_keys_and_fits_any_area() {
        for code in [
            KeyCode::Esc,
            KeyCode::Char('q'),
            KeyCode::Char('?'),
            KeyCode::Enter,
        ] {
            assert_eq!(
                Help::new(Scope::Run).handle(key(code)),
                KeyOutcome::Cancelled
            );
        }
        for (width, height) in [(0, 0), (5, 3), (20, 6), (200, 60)] {
            draw(width, height, |area, buf| {
                Help::new(Scope::Run).render(&Theme::default(), area, buf)
            });
        }
    }

    #[test]
    fn the_length_is_the_number_of_lines() {
        for scope in Scope::ALL {
            let help = Help::new(scope);
            assert_eq!(help.lines(&Theme::default(), 70).len(), help.length());
        }
    }
}
