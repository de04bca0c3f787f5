//! A text area for a text of several lines.

use super::clicks::ClickAreas;
use super::{KeyOutcome, key_line};
use crate::tui::canvas::Canvas;
use crate::tui::theme::Theme;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::widgets::{Clear, Widget};
use ratatui_textarea::{TextArea, WrapMode};

#[derive(Clone, Debug)]
pub struct TextEditor {
    input: TextArea<'static>,
    /// The keys that end it, for the footer.
    ends: &'static [(&'static str, &'static str)],
    clicks: ClickAreas,
}

/// A text with simple line ends and without control characters other than tabs.
fn written(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    text.chars()
        .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
        .collect()
}

impl TextEditor {
    /// An editor with the caret at the beginning of the text.
    pub fn new(text: &str) -> Self {
        Self::with_keys(text, &[("Esc", "done")])
    }

    /// An editor whose footer begins with these keys.
    pub(super) fn with_keys(text: &str, ends: &'static [(&'static str, &'static str)]) -> Self {
        let lines = text.replace("\r\n", "\n");
        let mut input = TextArea::new(lines.split('\n').map(str::to_owned).collect());
        input.set_cursor_line_style(Style::new());
        input.set_cursor_style(Style::new());
        input.set_wrap_mode(WrapMode::WordOrGlyph);
        Self {
            input,
            ends,
            clicks: ClickAreas::default(),
        }
    }

    pub(super) fn replace(&mut self, text: &str) {
        *self = Self::with_keys(text, self.ends);
    }

    pub fn text(&self) -> String {
        self.input.lines().join("\n")
    }

    pub fn paste(&mut self, text: &str) {
        self.input.insert_str(written(text));
    }

    /// Edits the text; Esc submits it. Control keys that work everywhere are passed on.
    pub fn handle(&mut self, event: KeyEvent) -> KeyOutcome<String> {
        let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
        match event.code {
            _ if event.kind == KeyEventKind::Release => KeyOutcome::Pass,
            KeyCode::Esc => KeyOutcome::Submitted(self.text()),
            KeyCode::Char('c' | 'z' | 'l') if ctrl => KeyOutcome::Pass,
            KeyCode::F(_) => KeyOutcome::Pass,
            _ => {
                self.input.input(event);
                KeyOutcome::Consumed
            }
        }
    }

    /// The key that a click stands for. The keys with Ctrl take no clicks.
    pub(crate) fn keys_of_click(&self, at: Position) -> Vec<KeyCode> {
        let keys = self.clicks.keys(at, 0, KeyCode::Esc);
        keys.into_iter()
            .filter(|key| *key == KeyCode::Esc)
            .collect()
    }

    /// Draws the text in `area`, and its keys in `footer`. Returns the position of the caret.
    pub fn render(
        &self,
        theme: &Theme,
        area: Rect,
        footer: Rect,
        buf: &mut Buffer,
    ) -> Option<Position> {
        Clear.render(footer.intersection(buf.area), buf);
        let edits = [
            ("Ctrl-u", "undo"),
            ("Ctrl-r", "redo"),
            ("Ctrl-k", "cut to line end"),
        ];
        let keys = [self.ends, &edits].concat();
        self.clicks.clear();
        let line = footer.intersection(buf.area);
        key_line(&keys, &self.clicks, Canvas::new(theme, line, buf));
        let area = area.intersection(buf.area);
        if area.is_empty() {
            return None;
        }
        Clear.render(area, buf);
        (&self.input).render(area, buf);
        let (caret, (top, left)) = (self.input.screen_cursor(), self.input.scroll_offset());
        let offset = |at: usize, from: u16| {
            u16::try_from(at.saturating_sub(usize::from(from))).unwrap_or(u16::MAX)
        };
        let (row, column) = (offset(caret.row, top), offset(caret.col, left));
        Some(Position::new(
            area.x.saturating_add(column).min(area.right() - 1),
            area.y.saturating_add(row).min(area.bottom() - 1),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::testing::{draw, key, text, typed};

    #[test]
    fn lines_are_typed_and_esc_submits_the_whole_text() {
        let mut editor = TextEditor::new("answer: score\r\n=== system ===\n");
        assert_eq!(editor.text(), "answer: score\n=== system ===\n");
        for event in typed("qt").chain([key(KeyCode::Enter)]) {
            assert_eq!(editor.handle(event), KeyOutcome::Consumed);
        }
        editor.paste("a\r\nb\u{1b}[31m");
        let wanted = "qt\na\nb[31manswer: score\n=== system ===\n";
        assert_eq!(editor.text(), wanted);
        assert_eq!(
            editor.handle(key(KeyCode::Esc)),
            KeyOutcome::Submitted(wanted.to_owned())
        );
        let quit = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(editor.handle(quit), KeyOutcome::Pass);
    }

    #[test]
    fn long_lines_wrap_and_any_area_is_drawn() {
        let editor = TextEditor::new(&"word ".repeat(30));
        for (width, height) in [(0, 0), (1, 1), (20, 5), (80, 24)] {
            let page = draw(width, height, |area, buf| {
                let caret = editor.render(&Theme::default(), area, Rect::default(), buf);
                assert_eq!(caret.is_some(), !area.is_empty());
            });
            if width == 20 {
                assert_eq!(
                    text(&page).lines().filter(|line| !line.is_empty()).count(),
                    5
                );
            }
        }
    }
}
