//! A box in which the project's guideline is edited.

use super::text_editor::TextEditor;
use super::{KeyOutcome, boxed};
use crate::tui::layout::centred;
use crate::tui::theme::Theme;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

const WIDTH: u16 = 90;

#[derive(Clone, Debug)]
pub struct GuidelineEditor {
    input: TextEditor,
    stored: String,
}

impl GuidelineEditor {
    /// An editor of the text that is stored in the project.
    pub fn new(stored: &str) -> Self {
        let input = TextEditor::with_keys(stored, &[("Ctrl-s", "store"), ("Esc", "close")]);
        Self {
            stored: input.text(),
            input,
        }
    }

    /// Replaces the edited text; the stored one stays the same.
    pub fn replace(&mut self, text: &str) {
        self.input.replace(text);
    }

    pub fn text(&self) -> String {
        self.input.text()
    }

    /// Whether its text differs from the stored one.
    pub fn is_changed(&self) -> bool {
        self.text() != self.stored
    }

    /// The project now has this text.
    pub fn was_stored(&mut self, text: String) {
        self.stored = text;
    }

    pub fn paste(&mut self, text: &str) {
        self.input.paste(text);
    }

    /// Edits the text; Ctrl-s submits it, Esc cancels.
    pub fn handle(&mut self, event: KeyEvent) -> KeyOutcome<String> {
        if event.modifiers.contains(KeyModifiers::CONTROL) && event.code == KeyCode::Char('s') {
            return KeyOutcome::Submitted(self.text());
        }
        match self.input.handle(event) {
            KeyOutcome::Submitted(_) => KeyOutcome::Cancelled,
            outcome => outcome,
        }
    }

    /// The key that a click stands for.
    pub(crate) fn keys_of_click(&self, at: Position) -> Vec<KeyCode> {
        self.input.keys_of_click(at)
    }

    /// Draws the box in `area`, and its keys in `footer`. Returns the position of the caret.
    pub fn render(
        &self,
        theme: &Theme,
        area: Rect,
        footer: Rect,
        buf: &mut Buffer,
    ) -> Option<Position> {
        let title = if self.is_changed() {
            "Guideline · not stored"
        } else {
            "Guideline"
        };
        let inner = boxed(title, theme, centred(area, WIDTH, area.height), buf);
        self.input.render(theme, inner, footer, buf)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::testing::{draw, key, text, typed};

    #[test]
    fn a_changed_text_is_marked_until_it_is_stored() {
        let mut editor = GuidelineEditor::new("Newer is better.\r\n");
        let shown = |editor: &GuidelineEditor| {
            text(&draw(60, 8, |area, buf| {
                editor.render(&Theme::default(), area, Rect::default(), buf);
            }))
        };
        assert!(!shown(&editor).contains("not stored"));
        for event in typed("No: ") {
            assert_eq!(editor.handle(event), KeyOutcome::Consumed);
        }
        assert!(editor.is_changed() && shown(&editor).contains("Guideline · not stored"));
        let store = KeyEvent::new(KeyCode::Char('s'), KeyModifiers::CONTROL);
        let KeyOutcome::Submitted(words) = editor.handle(store) else {
            panic!("Ctrl-s stores");
        };
        assert_eq!(words, "No: Newer is better.\n");
        assert!(editor.is_changed(), "it is not stored yet");
        editor.was_stored(words);
        assert!(!editor.is_changed());
        assert_eq!(editor.handle(key(KeyCode::Esc)), KeyOutcome::Cancelled);
    }
}
