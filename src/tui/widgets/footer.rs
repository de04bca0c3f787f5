//! The bottom line: as many of the available keys as fit, always including `? help`.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::tui::keymap::{Command, Scope, hints, key_name};
use crate::tui::layout::{first_row, inset};
use crate::tui::text::width;
use crate::tui::theme::Theme;

const GAP: &str = "  ";
const HELP: &str = "help";

#[derive(Clone, Debug)]
pub struct Footer {
    lead: String,
    hints: Vec<(Command, String, &'static str)>,
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

    fn fitting(&self, columns: usize) -> Vec<&(Command, String, &'static str)> {
        let size = |hint: &(Command, String, &str)| width(&hint.1) + 1 + width(hint.2);
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
        let mut x = line.x;
        let lead = usize::from(line.width).saturating_sub(width(HELP) + 2);
        (x, _) = buf.set_stringn(x, line.y, &self.lead, lead, theme.strong());
        let room = usize::from(line.right().saturating_sub(x));
        let gap = if self.lead.is_empty() { 0 } else { GAP.len() };
        let hints = self.fitting(room.saturating_sub(gap));
        for (at, (_, key, hint)) in hints.into_iter().enumerate() {
            let put = |x: u16, text: &str, style, buf: &mut Buffer| {
                buf.set_stringn(
                    x,
                    line.y,
                    text,
                    usize::from(line.right().saturating_sub(x)),
                    style,
                )
                .0
            };
            if at > 0 || gap > 0 {
                x = put(x, GAP, theme.footer(), buf);
            }
            x = put(x, key, theme.key_hint(), buf);
            x = put(x, " ", theme.footer(), buf);
            x = put(x, hint, theme.footer(), buf);
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
    fn labels_follow_the_state() {
        let footer = Footer::new(Scope::Screen(Screen::RUN)).relabel("start", "resume");
        let line = shown(&footer, 60);
        assert!(line.starts_with(" s resume  S stop"), "{line}");
    }
}
