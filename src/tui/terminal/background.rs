//! Detects whether the terminal's background is light, once before raw mode and without losing a
//! key press.

use std::io::{self, IsTerminal};
use std::time::Duration;

use crossterm::event::{self, KeyCode, KeyEvent, KeyModifiers};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use terminal_colorsaurus::{QueryOptions, ThemeMode, theme_mode};

const PATIENCE: Duration = Duration::from_millis(100);

/// The kind of background.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Background {
    /// Light text on a dark background; also the result if the terminal does not report it.
    #[default]
    Dark,
    /// Dark text on a light background.
    Light,
}

/// Whether there is type-ahead, which would be read as the terminal's answer and lost. Raw mode
/// makes an incomplete line visible to `poll`, which keeps what it reads for the event stream.
fn typed_ahead() -> io::Result<bool> {
    enable_raw_mode()?;
    let typed = event::poll(Duration::ZERO);
    disable_raw_mode()?;
    typed
}

/// The background named by `flag`, or else the one that the terminal reports within a tenth of a
/// second.
///
/// Call it before the terminal is set up, and pass key events through a [`ReplyFilter`] afterwards.
pub fn detect_background(flag: Option<Background>) -> Background {
    if let Some(background) = flag {
        return background;
    }
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() || typed_ahead().unwrap_or(true) {
        return Background::Dark;
    }
    let mut options = QueryOptions::default();
    options.timeout = PATIENCE;
    match theme_mode(options) {
        Ok(ThemeMode::Light) => Background::Light,
        Ok(ThemeMode::Dark) | Err(_) => Background::Dark,
    }
}

/// Drops the terminal's color report if it arrives too late and would be read as keys, including
/// `b` and `a`.
///
/// The report arrives as Alt-`]`, then `11;rgb:1e1e/1e1e/2e2e`, then Ctrl-`g` or Alt-`\`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReplyFilter {
    inside: bool,
    taken: u8,
}

impl ReplyFilter {
    /// Length of the longest report: `11;rgba:` and four channels of four digits.
    const LONGEST: u8 = 32;

    /// Whether `key` belongs to a late report and must be dropped.
    pub fn swallows(&mut self, key: KeyEvent) -> bool {
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        if !self.inside {
            self.inside = alt && key.code == KeyCode::Char(']');
            self.taken = 0;
            return self.inside;
        }
        self.taken += 1;
        let ends =
            (ctrl && key.code == KeyCode::Char('g')) || (alt && key.code == KeyCode::Char('\\'));
        let part = match key.code {
            KeyCode::Char(c) if !alt && !ctrl => c.is_ascii_hexdigit() || ";:/rg?".contains(c),
            _ => false,
        };
        self.inside = part && self.taken < Self::LONGEST;
        ends || part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(filter: &mut ReplyFilter, keys: &[(char, KeyModifiers)]) -> String {
        let kept = keys.iter().filter(|(c, modifiers)| {
            let event = KeyEvent::new(KeyCode::Char(*c), *modifiers);
            !filter.swallows(event)
        });
        kept.map(|(c, _)| *c).collect()
    }

    fn plain(text: &str) -> Vec<(char, KeyModifiers)> {
        text.chars().map(|c| (c, KeyModifiers::NONE)).collect()
    }

    #[test]
    fn a_late_report_is_no_keystroke() {
        for end in [('g', KeyModifiers::CONTROL), ('\\', KeyModifiers::ALT)] {
            let mut keys = plain("j");
            keys.push((']', KeyModifiers::ALT));
            keys.extend(plain("11;rgb:1e1e/1e1e/2eab"));
            keys.push(end);
            keys.extend(plain("ab"));
            assert_eq!(feed(&mut ReplyFilter::default(), &keys), "jab");
        }
    }

    #[test]
    fn keys_that_are_no_report_pass_soon() {
        let mut keys = vec![(']', KeyModifiers::ALT)];
        keys.extend(plain("jab"));
        assert_eq!(feed(&mut ReplyFilter::default(), &keys), "jab");
        let endless: String = "a".repeat(40);
        let mut keys = vec![(']', KeyModifiers::ALT)];
        keys.extend(plain(&endless));
        assert_eq!(feed(&mut ReplyFilter::default(), &keys), "a".repeat(8));
    }

    #[test]
    fn a_flag_is_not_asked_again() {
        assert_eq!(
            detect_background(Some(Background::Light)),
            Background::Light
        );
    }
}
