//! A one-line text input for the filter, the palette and notes.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::widgets::Widget;
use ratatui_textarea::TextArea;

use super::KeyOutcome;
use crate::tui::keymap::{Command, Scope, resolve};
use crate::tui::layout::first_row;
use crate::tui::text::{truncate, width};
use crate::tui::theme::Theme;

#[derive(Clone, Debug)]
pub struct LinePrompt {
    label: String,
    placeholder: String,
    input: TextArea<'static>,
    /// Why the current line was rejected.
    refused: Option<String>,
}

/// Text as one line: lines joined by spaces, without control characters.
fn one_line(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let line = lines.join(" ").replace('\t', " ");
    line.chars().filter(|c| !c.is_control()).collect()
}

impl LinePrompt {
    /// An empty input; the label is printed before it, and the placeholder while it is empty.
    pub fn new(label: impl Into<String>, placeholder: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            placeholder: placeholder.into(),
            input: Self::line(""),
            refused: None,
        }
    }

    fn line(text: &str) -> TextArea<'static> {
        let mut input = TextArea::new(vec![one_line(text)]);
        input.set_cursor_line_style(Style::new());
        input.set_cursor_style(Style::new());
        input.move_cursor(ratatui_textarea::CursorMove::End);
        input
    }

    /// The same input with `text`, and the caret at its end.
    pub fn with_text(mut self, text: &str) -> Self {
        self.input = Self::line(text);
        self
    }

    pub fn text(&self) -> &str {
        self.input.lines().first().map_or("", String::as_str)
    }

    /// Shows in the prompt why the line was rejected, until it is edited.
    pub fn refuse(&mut self, why: String) {
        self.refused = Some(why);
    }

    pub fn refused(&self) -> Option<&str> {
        self.refused.as_deref()
    }

    pub fn paste(&mut self, text: &str) {
        self.refused = None;
        self.input.insert_str(one_line(text));
    }

    /// Whether Alt with this key moves or deletes by words, as in a shell.
    pub fn edits_with_alt(code: KeyCode) -> bool {
        matches!(
            code,
            KeyCode::Char('b' | 'f' | 'd')
                | KeyCode::Backspace
                | KeyCode::Delete
                | KeyCode::Left
                | KeyCode::Right
        )
    }

    /// Edits the line; Enter submits, Esc cancels. Other keys are passed on.
    pub fn handle(&mut self, event: KeyEvent) -> KeyOutcome<String> {
        if event.kind == KeyEventKind::Release {
            return KeyOutcome::Pass;
        }
        match resolve(Scope::Input, event) {
            Some(Command::Submit) => return KeyOutcome::Submitted(self.text().to_owned()),
            Some(Command::Cancel) => return KeyOutcome::Cancelled,
            Some(_) => return KeyOutcome::Pass,
            None => {}
        }
        let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
        match event.code {
            KeyCode::Char('m' | 'j') if ctrl => {
                return KeyOutcome::Submitted(self.text().to_owned());
            }
            // As in a shell; the text area would undo.
            KeyCode::Char('u') if ctrl => {
                self.refused = None;
                self.input.delete_line_by_head();
            }
            KeyCode::Char(c) if c.is_control() => {}
            KeyCode::Char(_)
            | KeyCode::Backspace
            | KeyCode::Delete
            | KeyCode::Left
            | KeyCode::Right
            | KeyCode::Home
            | KeyCode::End => {
                self.refused = None;
                self.input.input(event);
            }
            _ => return KeyOutcome::Pass,
        }
        KeyOutcome::Consumed
    }

    /// Draws the first line of `area` and returns the position of the caret.
    pub fn render(&self, theme: &Theme, area: Rect, buf: &mut Buffer) -> Option<Position> {
        let area = first_row(area, buf.area);
        if area.is_empty() {
            return None;
        }
        let label = truncate(&self.label, usize::from(area.width / 2));
        buf.set_string(area.x, area.y, &label, theme.accent());
        let used = u16::try_from(width(&label)).unwrap_or(area.width);
        let mut field = Rect {
            x: area.x + used,
            width: area.width - used,
            ..area
        };
        if let Some(why) = self.refused() {
            let words = format!(" ✗ {why}");
            let typed = width(self.text()).saturating_add(1);
            let room = usize::from(field.width).saturating_sub(typed);
            let columns = width(&words).min(room.max(usize::from(field.width / 2)));
            field.width -= columns as u16;
            buf.set_string(
                field.right(),
                field.y,
                truncate(&words, columns),
                theme.error(),
            );
        }
        if self.text().is_empty() {
            let hint = truncate(
                &self.placeholder,
                usize::from(field.width.saturating_sub(1)),
            );
            buf.set_string(field.x + 1.min(field.width), field.y, hint, theme.faint());
            return Some(field.as_position());
        }
        (&self.input).render(field, buf);
        let (_, scrolled) = self.input.scroll_offset();
        let column = self
            .input
            .screen_cursor()
            .col
            .saturating_sub(usize::from(scrolled));
        let column = u16::try_from(column).unwrap_or(u16::MAX);
        let last = field.right().saturating_sub(1);
        Some(Position::new(
            field.x.saturating_add(column).min(last),
            field.y,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::testing::{draw, key, text, typed};

    fn feed(prompt: &mut LinePrompt, keys: impl IntoIterator<Item = KeyEvent>) {
        for event in keys {
            assert_eq!(prompt.handle(event), KeyOutcome::Consumed);
        }
    }

    fn caret(prompt: &LinePrompt, columns: u16) -> (Position, String) {
        let mut at = None;
        let buffer = draw(columns, 1, |area, buf| {
            at = prompt.render(&Theme::default(), area, buf)
        });
        (at.unwrap(), text(&buffer).trim_end().to_owned())
    }

    #[test]
    fn letters_are_typed_not_run_and_enter_submits() {
        let mut prompt = LinePrompt::new("filter: ", "words");
        feed(&mut prompt, typed("qu漢"));
        assert_eq!(
            caret(&prompt, 20),
            (Position::new(12, 0), "filter: qu漢".into())
        );
        feed(&mut prompt, [key(KeyCode::Left), key(KeyCode::Backspace)]);
        assert_eq!(
            caret(&prompt, 20),
            (Position::new(9, 0), "filter: q漢".into())
        );
        assert_eq!(
            prompt.handle(key(KeyCode::Enter)),
            KeyOutcome::Submitted("q漢".into())
        );
        assert_eq!(prompt.handle(key(KeyCode::Esc)), KeyOutcome::Cancelled);
    }

    #[test]
    fn the_caret_stays_inside_when_the_text_is_longer_than_the_field() {
        let prompt = LinePrompt::new("/", "").with_text(&"漢字x".repeat(20));
        let (at, shown) = caret(&prompt, 12);
        assert!(at.x <= 11, "{at:?}");
        assert!(width(&shown) <= 12);
        for columns in [0, 1, 2, 3] {
            draw(columns, 1, |area, buf| {
                prompt.render(&Theme::default(), area, buf);
            });
        }
    }

    #[test]
    fn an_empty_input_shows_its_placeholder() {
        let (at, shown) = caret(&LinePrompt::new("note: ", "why?"), 30);
        assert_eq!((at.x, shown.as_str()), (6, "note:  why?"));
    }

    #[test]
    fn what_was_refused_is_said_inside_until_the_line_is_edited() {
        let mut prompt = LinePrompt::new("budget $", "").with_text("ten");
        prompt.refuse("not a number".to_owned());
        let (at, shown) = caret(&prompt, 40);
        assert_eq!(
            (at, shown.as_str()),
            (
                Position::new(11, 0),
                "budget $ten               ✗ not a number"
            )
        );
        let (_, shown) = caret(&prompt, 18);
        assert!(
            shown.starts_with("budget $t") || shown.contains('…'),
            "{shown}"
        );
        feed(&mut prompt, [key(KeyCode::Backspace)]);
        assert_eq!(caret(&prompt, 40).1, "budget $te");
        for columns in [0, 1, 2, 3, 9] {
            prompt.refuse("no".repeat(30));
            draw(columns, 1, |area, buf| {
                prompt.render(&Theme::default(), area, buf);
            });
        }
    }

    #[test]
    fn a_paste_is_one_line_without_controls() {
        let mut prompt = LinePrompt::new("", "");
        prompt.paste("\n  a\tb\u{1b}[31m\nq\n");
        assert_eq!(prompt.text(), "a b[31m q");
    }

    #[test]
    fn keys_that_do_not_edit_pass_and_control_u_clears() {
        let mut prompt = LinePrompt::new("", "").with_text("abc");
        for code in [KeyCode::Up, KeyCode::Tab, KeyCode::PageDown] {
            assert_eq!(prompt.handle(key(code)), KeyOutcome::Pass);
        }
        let ctrl = |c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL);
        assert_eq!(prompt.handle(ctrl('c')), KeyOutcome::Pass);
        assert_eq!(prompt.handle(ctrl('u')), KeyOutcome::Consumed);
        assert_eq!(prompt.text(), "");
    }
}
