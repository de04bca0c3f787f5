//! A small box that asks for confirmation before an irreversible action.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::clicks::ClickAreas;
use super::{KeyOutcome, boxed};
use crate::domain::sanitize;
use crate::tui::layout::centred;
use crate::tui::text::{width, wrap};
use crate::tui::theme::Theme;

const WIDTH: u16 = 56;

/// A question with two answers; *no* is selected initially.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confirm {
    title: String,
    question: String,
    chosen: bool,
    pub(crate) clicks: ClickAreas,
}

impl Confirm {
    pub fn new(title: impl Into<String>, question: &str) -> Self {
        Self {
            title: title.into(),
            question: sanitize::line(question).into_owned(),
            chosen: false,
            clicks: ClickAreas::default(),
        }
    }

    /// `y` submits; `n`, Esc and `q` cancel; Enter accepts the selected answer; arrows and Tab
    /// select.
    pub fn handle(&mut self, event: KeyEvent) -> KeyOutcome {
        if event.kind == KeyEventKind::Release || event.modifiers.contains(KeyModifiers::CONTROL) {
            return KeyOutcome::Pass;
        }
        match event.code {
            KeyCode::Char('y' | 'Y') => return KeyOutcome::Submitted(()),
            KeyCode::Char('n' | 'N' | 'q') | KeyCode::Esc => return KeyOutcome::Cancelled,
            KeyCode::Enter if self.chosen => return KeyOutcome::Submitted(()),
            KeyCode::Enter => return KeyOutcome::Cancelled,
            KeyCode::Left | KeyCode::Char('h') => self.chosen = true,
            KeyCode::Right | KeyCode::Char('l') => self.chosen = false,
            KeyCode::Tab | KeyCode::BackTab => self.chosen = !self.chosen,
            _ => {}
        }
        KeyOutcome::Consumed
    }

    pub fn render(&self, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let columns = usize::from(WIDTH.min(area.width).saturating_sub(4));
        let lines = wrap(&self.question, columns);
        let height = u16::try_from(lines.len() + 4).unwrap_or(u16::MAX);
        let inner = boxed(&self.title, theme, centred(area, WIDTH, height), buf);
        let body = inner.height.saturating_sub(2);
        for (y, line) in (inner.y..inner.y + body).zip(lines) {
            buf.set_stringn(
                inner.x,
                y,
                &self.question[line],
                usize::from(inner.width),
                theme.text(),
            );
        }
        self.clicks.clear();
        if inner.is_empty() {
            return;
        }
        let y = inner.bottom() - 1;
        let mut x = inner.x;
        for (key, answer, on) in [("y", "yes", self.chosen), ("n", "no", !self.chosen)] {
            let text = format!("{} {key} {answer} ", if on { '▸' } else { ' ' });
            let style = if on { theme.tab_on() } else { theme.tab_off() };
            let left = usize::from(inner.right().saturating_sub(x));
            buf.set_stringn(x, y, &text, left, style);
            let line = Rect {
                y,
                height: 1,
                ..inner
            };
            self.clicks.named_key(key, line, x, width(&text));
            let used = u16::try_from(width(&text) + 1).unwrap_or(u16::MAX);
            x = x.saturating_add(used).min(inner.right());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::testing::{draw, key, text};

    fn ask() -> Confirm {
        Confirm::new(
            "Quit",
            "A run is going. What is judged so far stays; quit anyway?",
        )
    }

    #[test]
    fn no_is_the_answer_until_yes_is_chosen() {
        assert_eq!(ask().handle(key(KeyCode::Enter)), KeyOutcome::Cancelled);
        assert_eq!(ask().handle(key(KeyCode::Esc)), KeyOutcome::Cancelled);
        assert_eq!(
            ask().handle(key(KeyCode::Char('y'))),
            KeyOutcome::Submitted(())
        );
        let mut confirm = ask();
        assert_eq!(confirm.handle(key(KeyCode::Tab)), KeyOutcome::Consumed);
        assert_eq!(
            confirm.handle(key(KeyCode::Enter)),
            KeyOutcome::Submitted(())
        );
        let ctrl_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(ask().handle(ctrl_c), KeyOutcome::Pass);
    }

    #[test]
    fn control_characters_of_names_are_made_visible() {
        let confirm = Confirm::new("Export", "a\u{1b}[31m\u{202e}.csv exists.\nWrite over it?");
        let page = text(&draw(80, 24, |area, buf| {
            confirm.render(&Theme::default(), area, buf)
        }));
        assert!(page.contains("a␛[31m"), "{page}");
        assert!(!page.contains(['\u{1b}', '\u{202e}']), "{page:?}");
        assert!(page.contains("exists. Write over it?"), "{page}");
    }

    #[test]
    fn the_chosen_answer_is_marked_without_color_too() {
        let page = text(&draw(80, 24, |area, buf| {
            ask().render(&Theme::default(), area, buf)
        }));
        assert!(
            page.contains("anyway?") && page.contains("  y yes") && page.contains("▸ n no"),
            "{page}"
        );
        for (width, height) in [(0, 0), (3, 3), (10, 4), (30, 10)] {
            draw(width, height, |area, buf| {
                ask().render(&Theme::default(), area, buf)
            });
        }
    }
}
