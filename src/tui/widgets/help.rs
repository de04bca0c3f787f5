//! The `?` overlay: the keys that work here, then those that work everywhere.

use super::KeyOutcome;
use super::scroll_box::ScrollBox;
use crate::tui::keymap::Scope;
use crate::tui::text::{pad_right, truncate};
use crate::tui::theme::Theme;
use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

const WIDTH: u16 = 78;
const KEYS: usize = 14;

#[derive(Clone, Debug)]
pub struct Help {
    scope: Scope,
    page: ScrollBox,
}

impl Help {
    pub fn new(scope: Scope) -> Self {
        Self {
            scope,
            page: ScrollBox::new("Keys", WIDTH),
        }
    }

    fn lines(&self, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
        let here = (self.scope != Scope::Global).then_some(self.scope);
        let mut lines = Vec::new();
        for scope in here.into_iter().chain([Scope::Global]) {
            if !lines.is_empty() {
                lines.push(Line::default());
            }
            lines.push(Line::styled(scope.heading(), theme.title()));
            for binding in scope.own() {
                let keys: Vec<String> = binding.keys.iter().map(ToString::to_string).collect();
                let keys = pad_right(&format!("  {}", keys.join(" ")), KEYS);
                let doc = truncate(binding.command.doc(), columns.saturating_sub(KEYS));
                lines.push(Line::from(vec![
                    Span::styled(keys, theme.key_hint()),
                    Span::styled(doc, theme.text()),
                ]));
            }
        }
        lines
    }

    pub fn handle(&mut self, event: KeyEvent) -> KeyOutcome {
        self.page.handle(event)
    }

    pub fn render(&self, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let lines = self.lines(theme, self.page.columns(area));
        self.page.render(lines, theme, area, buf);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::keymap::Screen;
    use crate::tui::testing::{draw, key, text, typed};
    use crossterm::event::KeyCode;

    #[test]
    fn the_page_lists_the_scope_first_and_scrolls_to_the_last_global_key() {
        let mut help = Help::new(Scope::Screen(Screen::Battle));
        let theme = Theme::default();
        let shown = |help: &Help| text(&draw(80, 24, |area, buf| help.render(&theme, area, buf)));
        let page = shown(&help);
        assert!(page.contains("Battle") && page.contains("Rule that A is better."));
        assert!(page.contains("↓ j more"));
        for _ in 0..100 {
            assert_eq!(help.handle(key(KeyCode::PageDown)), KeyOutcome::Consumed);
        }
        let page = shown(&help);
        assert!(page.contains("Ctrl-z") && page.contains("↑ k more"));
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
                Help::new(Scope::Screen(Screen::Run)).handle(key(code)),
                KeyOutcome::Cancelled
            );
        }
        for (width, height) in [(0, 0), (5, 3), (20, 6), (200, 60)] {
            draw(width, height, |area, buf| {
                Help::new(Scope::Screen(Screen::Run)).render(&Theme::default(), area, buf)
            });
        }
    }
}
