//! The bottom line: as many of the available keys as fit, always including `? help`.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::ops::Range;

use crate::tui::keymap::{Command, Scope, hints, key_name};
use crate::tui::layout::{first_row, inset};
use crate::tui::text::width;
use crate::tui::theme::Theme;

const GAP: &str = "  ";
const HELP: &str = "help";

/// A command with its key and its label.
type Hint = (Command, String, &'static str);

fn size(hint: &Hint) -> usize {
    width(&hint.1) + 1 + width(hint.2)
}

#[derive(Clone, Debug)]
pub struct Footer {
    lead: String,
    hints: Vec<Hint>,
}

impl Footer {
    pub fn new(scope: Scope) -> Self {
        let hints = hints(scope).into_iter();
        let hints = hints.filter_map(|binding| {
            Some((
                binding.command,
                binding.keys.first()?.to_string(),
                binding.hint,
            ))
        });
        let mut hints: Vec<_> = hints.collect();
        if scope != Scope::Input {
            hints.push((Command::Help, key_name(Command::Help, scope), HELP));
        }
        Self {
            lead: String::new(),
            hints,
        }
    }

    /// Hides commands that are not available now.
    pub fn only(mut self, offered: impl Fn(Command) -> bool) -> Self {
        self.hints.retain(|(command, ..)| offered(*command));
        self
    }

    /// Replaces a label by a more specific one: `resume` for `start`.
    pub fn relabel(mut self, from: &str, to: &'static str) -> Self {
        for (_, _, hint) in &mut self.hints {
            if *hint == from {
                *hint = to;
            }
        }
        self
    }

    /// Shows a text before the hints, which get the remaining space.
    pub fn led_by(mut self, words: String) -> Self {
        self.lead = words;
        self
    }

    /// The command whose hint is at a column of the line, for the mouse.
    pub fn command_at(&self, area: Rect, column: u16) -> Option<Command> {
        let (_, placed) = self.placed(inset(area));
        placed
            .into_iter()
            .find(|(columns, _)| columns.contains(&column))
            .map(|(_, hint)| hint.0)
    }

    /// The end of the leading text, and the columns of each hint that fits.
    fn placed(&self, line: Rect) -> (u16, Vec<(Range<u16>, &Hint)>) {
        let most = usize::from(line.width).saturating_sub(width(HELP) + 2);
        let lead = width(&self.lead).min(most) as u16;
        let gap = if lead > 0 { GAP.len() } else { 0 };
        let room = usize::from(line.width - lead);
        let mut x = line.x + lead + gap as u16;
        let place = |hint| {
            let start = x;
            let end = start + size(hint) as u16;
            x = end + GAP.len() as u16;
            (start..end.min(line.right()), hint)
        };
        let hints = self.fitting(room.saturating_sub(gap)).into_iter();
        (line.x + lead, hints.map(place).collect())
    }

    fn fitting(&self, columns: usize) -> Vec<&Hint> {
        let Some((last, rest)) = self.hints.split_last() else {
            return Vec::new();
        };
        let mut left = columns.saturating_sub(size(last));
        let mut shown = Vec::new();
        for hint in rest {
            let needed = size(hint) + GAP.len();
            if needed > left {
                break;
            }
            left -= needed;
            shown.push(hint);
        }
        shown.push(last);
        shown
    }

    pub fn render(&self, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let whole = first_row(area, buf.area);
        buf.set_style(whole, theme.footer());
        let line = inset(whole);
        if line.is_empty() {
            return;
        }
        let put = |x: u16, text: &str, style, buf: &mut Buffer| {
            let room = usize::from(line.right().saturating_sub(x));
            buf.set_stringn(x, line.y, text, room, style).0
        };
        let (lead, hints) = self.placed(line);
        let room = usize::from(lead - line.x);
        buf.set_stringn(line.x, line.y, &self.lead, room, theme.strong());
        for (columns, (_, key, hint)) in hints {
            let x = put(columns.start, key, theme.key_hint(), buf);
            put(x + 1, hint, theme.footer(), buf);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::keymap::Screen;
    use crate::tui::testing::{draw, text};

    fn shown(footer: &Footer, columns: u16) -> String {
        let buffer = draw(columns, 1, |area, buf| {
            footer.render(&Theme::default(), area, buf)
        });
        text(&buffer).trim_end().to_owned()
    }

    #[test]
    fn hints_fit_and_end_with_help() {
        for scope in Screen::all().map(Scope::Screen) {
            for columns in [8, 20, 40, 80, 200] {
                let line = shown(&Footer::new(scope), columns);
                assert!(
                    line.ends_with("? help") && width(&line) <= usize::from(columns),
                    "{line}"
                );
            }
        }
        assert_eq!(
            shown(&Footer::new(Scope::Screen(Screen::BATTLE)), 32),
            " Tab judge  i reason  ? help"
        );
        assert_eq!(
            shown(&Footer::new(Scope::Input), 40),
            " Enter accept  Esc cancel"
        );
    }

    #[test]
    fn a_click_on_a_hint_is_its_command() {
        let area = Rect::new(0, 23, 34, 1);
        let plain = Footer::new(Scope::Screen(Screen::BATTLE));
        assert_eq!(shown(&plain, 34), " Tab judge  i reason  ? help");
        let at = |footer: &Footer, column| footer.command_at(area, column);
        for (column, command) in [
            (0, None),
            (1, Some(Command::NextReasoning)),
            (9, Some(Command::NextReasoning)),
            (10, None),
            (12, Some(Command::WriteNote)),
            (22, Some(Command::Help)),
            (33, None),
        ] {
            assert_eq!(at(&plain, column), command, "{column}");
        }
        let led = plain.led_by("/word".to_owned());
        assert_eq!(shown(&led, 34), " /word  Tab judge  ? help");
        assert_eq!(at(&led, 3), None);
        assert_eq!(at(&led, 8), Some(Command::NextReasoning));
    }

    #[test]
    fn labels_follow_the_state() {
        let footer = Footer::new(Scope::Screen(Screen::RUN)).relabel("start", "resume");
        let line = shown(&footer, 60);
        assert!(line.starts_with(" s resume  S stop"), "{line}");
    }
}
