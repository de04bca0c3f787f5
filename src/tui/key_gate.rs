//! Distinguishes keys that a person presses from text that a terminal sends as keys (a paste
//! without brackets). Such text may move the cursor, but never gives a verdict.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::time::{Duration, Instant};

/// Keys closer together than this were not pressed one by one; held keys repeat more slowly.
///
/// A key that would decide is held for this long, and still takes effect within a frame.
const BURST: Duration = Duration::from_millis(8);

/// Text, or a line that was typed, ends with a pause of this length.
pub(super) const PAUSE: Duration = Duration::from_millis(150);

/// This many different keys in a burst are text.
const TEXT: usize = 3;

/// The effect that a key would have now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// It is typed into a line.
    Typed,
    /// It gives or takes back a verdict.
    Decides,
    /// Something else, on a screen or in a dialog where other keys decide.
    AmongVerdicts,
    /// Something else, on another screen.
    Other,
}

/// The reaction to a key.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Passed {
    /// The keys to act on, in their order.
    pub(super) keys: Vec<KeyEvent>,
    /// Whether the key turned out to be the start of text, which is ignored.
    pub(super) is_text: bool,
}

/// Holds a key that decides until it is clear that it is not part of text.
#[derive(Debug, Default)]
pub(super) struct KeyGate {
    held: Option<(KeyEvent, Instant)>,
    previous: Option<(KeyCode, Instant)>,
    /// Different keys of the burst so far.
    run: usize,
    /// Whether the keys are ignored as text, until a pause.
    in_text: bool,
}

impl KeyGate {
    /// Takes a key that was read at `at`, and returns the keys to act on.
    pub(super) fn press(&mut self, key: KeyEvent, at: Instant, wanted: Use) -> Passed {
        let mut keys: Vec<KeyEvent> = self.release(at).into_iter().collect();
        if wanted == Use::Typed || !is_written(key) {
            keys.extend(self.held.take().map(|(held, _)| held));
            keys.push(key);
            *self = Self::default();
            return Passed {
                keys,
                is_text: false,
            };
        }
        let gap = |since: Instant| at.saturating_duration_since(since);
        let previous = self.previous.replace((key.code, at));
        if self.in_text && previous.is_some_and(|(_, since)| gap(since) < PAUSE) {
            return Passed::default();
        }
        self.in_text = false;
        let in_burst = previous.filter(|(_, since)| gap(*since) < BURST);
        self.run = match in_burst {
            // Repeats of one key, such as a held key over a slow connection, are not text.
            Some((code, _)) if code == key.code => self.run,
            Some(_) => self.run + 1,
            None => 1,
        };
        let decides = wanted == Use::Decides;
        self.in_text = in_burst.is_some()
            && (decides || self.held.is_some() || wanted == Use::AmongVerdicts && self.run >= TEXT);
        if self.in_text {
            self.held = None;
        } else if decides {
            self.held = Some((key, at));
        } else {
            keys.push(key);
        }
        Passed {
            keys,
            is_text: self.in_text,
        }
    }

    /// When the key that is held is to be released.
    pub(super) fn due(&self) -> Option<Instant> {
        self.held.map(|(_, at)| at + BURST)
    }

    /// The key that was held, once nothing has followed it closely.
    pub(super) fn release(&mut self, now: Instant) -> Option<KeyEvent> {
        let due = self.due().is_some_and(|due| due <= now);
        self.held.take_if(|_| due).map(|(key, _)| key)
    }
}

/// Whether a key occurs in text.
pub(super) fn is_written(key: KeyEvent) -> bool {
    // Terminals send a line feed as Ctrl-J.
    let is_line_feed = key.modifiers == KeyModifiers::CONTROL && key.code == KeyCode::Char('j');
    let plain = (key.modifiers - KeyModifiers::SHIFT).is_empty();
    is_line_feed || plain && matches!(key.code, KeyCode::Char(_) | KeyCode::Enter | KeyCode::Tab)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const MS: Duration = Duration::from_millis(1);

    fn wanted(c: char) -> Use {
        match c {
            'a' | 'b' | 't' | 'x' | 'u' => Use::Decides,
            _ => Use::AmongVerdicts,
        }
    }

    /// The keys that act when `text` comes with these gaps between its keys, and how often text
    /// began.
    fn acted(text: &str, gap: Duration, on: impl Fn(char) -> Use) -> (String, usize) {
        let (mut gate, mut at) = (KeyGate::default(), Instant::now());
        let (mut keys, mut begun) = (Vec::new(), 0);
        for c in text.chars() {
            at += gap;
            // A held key is released as soon as no input is waiting.
            keys.extend(
                gate.due()
                    .filter(|due| *due <= at)
                    .and_then(|due| gate.release(due)),
            );
            let passed = gate.press(KeyEvent::from(KeyCode::Char(c)), at, on(c));
            keys.extend(passed.keys);
            begun += usize::from(passed.is_text);
        }
        keys.extend(gate.release(at + BURST));
        let keys = keys.iter().filter_map(|key| key.code.as_char());
        (keys.collect(), begun)
    }

    #[rstest]
    #[case("a better match")]
    #[case("an answer")]
    #[case("but the other names the trial")]
    #[case("x")]
    #[case("quit? yes, both")]
    fn text_gives_no_verdict(#[case] text: &str) {
        for gap in [Duration::ZERO, MS, 5 * MS] {
            let (acted, begun) = acted(&format!("{text} a"), gap, wanted);
            assert!(
                acted.chars().all(|c| wanted(c) != Use::Decides),
                "{text:?} at {gap:?}: {acted:?}"
            );
            assert!(acted.chars().count() < TEXT, "{acted:?}");
            assert_eq!(begun, 1);
        }
    }

    #[test]
    fn keys_that_are_pressed_one_by_one_all_act() {
        for gap in [BURST, 16 * MS, 30 * MS, 200 * MS] {
            assert_eq!(acted("anbutx", gap, wanted), ("anbutx".to_owned(), 0));
        }
    }

    #[test]
    fn text_ends_with_a_pause() {
        let mut gate = KeyGate::default();
        let now = Instant::now();
        let key = |c: char| KeyEvent::from(KeyCode::Char(c));
        for c in "abc".chars() {
            gate.press(key(c), now, wanted(c));
        }
        let almost = now + PAUSE - MS;
        assert_eq!(gate.press(key('n'), almost, wanted('n')), Passed::default());
        let passed = gate.press(key('n'), almost + PAUSE, wanted('n'));
        assert_eq!(passed.keys, [key('n')]);
    }

    #[test]
    fn a_line_feed_is_part_of_text() {
        let mut gate = KeyGate::default();
        let now = Instant::now();
        let feed = KeyEvent::new(KeyCode::Char('j'), KeyModifiers::CONTROL);
        for c in ['a', '\n', 'b', '\n', 'a'] {
            let (key, on) = match c {
                '\n' => (feed, Use::AmongVerdicts),
                c => (KeyEvent::from(KeyCode::Char(c)), wanted(c)),
            };
            assert!(gate.press(key, now, on).keys.is_empty(), "{c:?}");
        }
        assert_eq!(gate.due(), None);
    }

    #[test]
    fn a_key_that_decides_is_answered_within_a_frame() {
        let mut gate = KeyGate::default();
        let now = Instant::now();
        let key = KeyEvent::from(KeyCode::Char('a'));
        assert!(gate.press(key, now, Use::Decides).keys.is_empty());
        assert!(gate.due().is_some_and(|due| due < now + crate::tui::FRAME));
        assert_eq!(gate.release(now + BURST - MS), None);
        assert_eq!(gate.release(now + BURST), Some(key));
        assert_eq!(gate.due(), None);
    }

    #[test]
    fn keys_that_decide_nothing_are_not_held() {
        for on in [Use::Other, Use::Typed] {
            assert_eq!(
                acted("qyjjk", Duration::ZERO, |_| on),
                ("qyjjk".to_owned(), 0)
            );
        }
        let among = |_| Use::AmongVerdicts;
        assert_eq!(
            acted("jjjjjj", Duration::ZERO, among),
            ("jjjjjj".to_owned(), 0)
        );
        assert_eq!(acted("qy", Duration::ZERO, among), ("qy".to_owned(), 0));
    }

    #[test]
    fn a_verdict_and_an_arrow_keep_their_order() {
        let mut gate = KeyGate::default();
        let now = Instant::now();
        let (verdict, arrow) = (KeyEvent::from(KeyCode::Char('a')), KeyCode::Down.into());
        assert!(gate.press(verdict, now, Use::Decides).keys.is_empty());
        let passed = gate.press(arrow, now + MS, Use::AmongVerdicts);
        assert_eq!(passed.keys, [verdict, arrow]);
    }
}
