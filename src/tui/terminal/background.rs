//! Detects whether the terminal's background is light, once before raw mode and without losing a
//! key press.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

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

/// Whether keys were typed ahead, which would be read as the terminal's answer and lost. Raw mode
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

/// Drops a terminal's answer to a query if it arrives too late and would be read as keys, including
/// `a` and `b`.
///
/// A color report arrives as Alt-`]`, then `11;rgb:1e1e/1e1e/2e2e`, then Ctrl-`g` or Alt-`\`; the
/// terminal's attributes as Esc, then `[?62;22c`. If a connection splits it after its first
/// character, Alt arrives as Esc before the key.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReplyFilter {
    state: Reply,
    taken: u8,
    /// When the last key came.
    last: Option<Instant>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Reply {
    #[default]
    Outside,
    /// After Esc, which may be the start.
    Escaped,
    Inside,
    /// After an Esc inside, which is the first half of the end.
    Ending,
}

impl ReplyFilter {
    /// Length of the longest report: `11;rgba:` and four channels of four digits.
    const LONGEST: u8 = 32;
    /// The longest pause inside a report.
    const PAUSE: Duration = Duration::from_secs(1);

    /// Whether `key` belongs to a late report and must be dropped.
    pub fn swallows(&mut self, key: KeyEvent, at: Instant) -> bool {
        let last = self.last.replace(at);
        if last.is_none_or(|last| at.saturating_duration_since(last) > Self::PAUSE) {
            self.state = Reply::Outside;
        }
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        let plain = !alt && !ctrl;
        self.taken += 1;
        let (state, swallowed) = match (self.state, key.code) {
            (Reply::Outside, KeyCode::Char(']')) if alt => (Reply::Inside, true),
            (Reply::Escaped, KeyCode::Char(']' | '[')) if plain => (Reply::Inside, true),
            (Reply::Inside, KeyCode::Esc) => (Reply::Ending, true),
            (Reply::Inside, KeyCode::Char('g')) if ctrl => (Reply::Outside, true),
            (Reply::Inside, KeyCode::Char('\\')) if alt => (Reply::Outside, true),
            (Reply::Ending, KeyCode::Char('\\')) if plain => (Reply::Outside, true),
            (Reply::Inside, KeyCode::Char(c))
                if plain
                    && (c.is_ascii_hexdigit() || ";:/rg?".contains(c))
                    && self.taken <= Self::LONGEST =>
            {
                (Reply::Inside, true)
            }
            (_, KeyCode::Esc) if plain => (Reply::Escaped, false),
            _ => (Reply::Outside, false),
        };
        if self.state != Reply::Inside {
            self.taken = 0;
        }
        self.state = state;
        swallowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What passes of keys with these pauses between them.
    fn passed(keys: &[KeyEvent], pause: Duration) -> String {
        let (mut filter, mut at) = (ReplyFilter::default(), Instant::now());
        let kept = keys.iter().filter(|key| {
            at += pause;
            !filter.swallows(**key, at)
        });
        kept.map(|key| key.code.as_char().unwrap_or('⎋')).collect()
    }

    fn plain(text: &str) -> Vec<KeyEvent> {
        text.chars().map(|c| KeyCode::Char(c).into()).collect()
    }

    fn alt(c: char) -> Vec<KeyEvent> {
        vec![KeyEvent::new(KeyCode::Char(c), KeyModifiers::ALT)]
    }

    fn split(c: char) -> Vec<KeyEvent> {
        vec![KeyCode::Esc.into(), KeyCode::Char(c).into()]
    }

    const SOON: Duration = Duration::from_millis(300);

    #[test]
    fn a_late_report_is_no_keystroke() {
        let bell = vec![KeyEvent::new(KeyCode::Char('g'), KeyModifiers::CONTROL)];
        for end in [bell, alt('\\'), split('\\')] {
            let report = [plain("11;rgb:1e1e/1e1e/2eab"), end, plain("ab")].concat();
            let whole = [plain("j"), alt(']'), report.clone()].concat();
            // The Esc has acted before the rest shows that it was none.
            let in_pieces = [plain("j"), split(']'), report].concat();
            for pause in [Duration::ZERO, SOON] {
                assert_eq!(passed(&whole, pause), "jab");
                assert_eq!(passed(&in_pieces, pause), "j⎋ab");
            }
        }
    }

    #[test]
    fn attributes_in_pieces_are_no_keystrokes() {
        let keys = [split('['), plain("?62;22c"), plain("ja")].concat();
        assert_eq!(passed(&keys, SOON), "⎋ja");
    }

    #[test]
    fn keys_that_are_no_report_pass_soon() {
        let keys = [alt(']'), plain("jab")].concat();
        assert_eq!(passed(&keys, SOON), "jab");
        let keys = [split(']'), plain("jab")].concat();
        assert_eq!(passed(&keys, SOON), "⎋jab");
        let endless = "a".repeat(40);
        let keys = [alt(']'), plain(&endless)].concat();
        assert_eq!(passed(&keys, SOON), "a".repeat(8));
        let after_a_pause = [alt(']'), plain("ab")].concat();
        assert_eq!(passed(&after_a_pause, 2 * ReplyFilter::PAUSE), "ab");
    }

    #[test]
    fn a_flag_is_not_asked_again() {
        assert_eq!(
            detect_background(Some(Background::Light)),
            Background::Light
        );
    }
}
