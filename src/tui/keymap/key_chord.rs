//! A key as it is bound and printed.

use std::fmt;
use std::str::FromStr;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// A key with or without Ctrl. Shift is part of the character: `A` is different from `a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyChord {
    pub code: KeyCode,
    pub ctrl: bool,
}

impl KeyChord {
    pub const fn char(c: char) -> Self {
        Self::code(KeyCode::Char(c))
    }

    pub const fn ctrl(c: char) -> Self {
        Self {
            code: KeyCode::Char(c),
            ctrl: true,
        }
    }

    pub const fn code(code: KeyCode) -> Self {
        Self { code, ctrl: false }
    }

    /// The key of an event; `None` for a release, and for chords with Alt or Super, which are never
    /// bound.
    ///
    /// Terminals report Shift differently: `A`, `A` with Shift and `a` with Shift are the same key
    /// here, as are BackTab and Tab with Shift.
    pub fn of(event: KeyEvent) -> Option<Self> {
        let foreign =
            KeyModifiers::ALT | KeyModifiers::SUPER | KeyModifiers::HYPER | KeyModifiers::META;
        if event.kind == KeyEventKind::Release || event.modifiers.intersects(foreign) {
            return None;
        }
        let shift = event.modifiers.contains(KeyModifiers::SHIFT);
        let ctrl = event.modifiers.contains(KeyModifiers::CONTROL);
        let code = match event.code {
            KeyCode::Char(c) if ctrl => KeyCode::Char(c.to_ascii_lowercase()),
            KeyCode::Char(c) if shift => KeyCode::Char(c.to_ascii_uppercase()),
            KeyCode::Tab if shift => KeyCode::BackTab,
            code => code,
        };
        Some(Self { code, ctrl })
    }
}

/// A name that is not a key.
#[derive(Debug, thiserror::Error)]
#[error(
    "{0:?} is not a key; write a character, Ctrl- with one, or Enter, Esc, Tab, Space, Up, PgDn, \
     F5 and so on"
)]
pub struct UnknownKey(String);

impl FromStr for KeyChord {
    type Err = UnknownKey;

    fn from_str(name: &str) -> Result<Self, UnknownKey> {
        let unknown = || UnknownKey(name.to_owned());
        let (rest, ctrl) = match name.strip_prefix("Ctrl-").filter(|rest| !rest.is_empty()) {
            Some(rest) => (rest, true),
            None => (name, false),
        };
        let mut chars = rest.chars();
        let code = match (chars.next(), chars.next()) {
            (Some('↑'), None) => KeyCode::Up,
            (Some('↓'), None) => KeyCode::Down,
            (Some('←'), None) => KeyCode::Left,
            (Some('→'), None) => KeyCode::Right,
            // Chords use the lowercase letter, whatever the terminal reports.
            (Some(c), None) if ctrl => KeyCode::Char(c.to_ascii_lowercase()),
            (Some(c), None) if !c.is_control() => KeyCode::Char(c),
            _ => named_code(rest).ok_or_else(unknown)?,
        };
        Ok(Self { code, ctrl })
    }
}

fn named_code(name: &str) -> Option<KeyCode> {
    Some(match name {
        "Space" => KeyCode::Char(' '),
        "Enter" => KeyCode::Enter,
        "Esc" => KeyCode::Esc,
        "Tab" => KeyCode::Tab,
        "Shift-Tab" => KeyCode::BackTab,
        "Backspace" => KeyCode::Backspace,
        "Delete" => KeyCode::Delete,
        "Insert" => KeyCode::Insert,
        "Home" => KeyCode::Home,
        "End" => KeyCode::End,
        "PgUp" => KeyCode::PageUp,
        "PgDn" => KeyCode::PageDown,
        "Up" => KeyCode::Up,
        "Down" => KeyCode::Down,
        "Left" => KeyCode::Left,
        "Right" => KeyCode::Right,
        _ => {
            let number = name.strip_prefix('F')?.parse().ok()?;
            return (1..=24).contains(&number).then_some(KeyCode::F(number));
        }
    })
}

impl fmt::Display for KeyChord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.code {
            KeyCode::Char(' ') => "Space".into(),
            KeyCode::Char(c) => c.to_string(),
            KeyCode::Up => "↑".into(),
            KeyCode::Down => "↓".into(),
            KeyCode::Left => "←".into(),
            KeyCode::Right => "→".into(),
            KeyCode::PageUp => "PgUp".into(),
            KeyCode::PageDown => "PgDn".into(),
            KeyCode::BackTab => "Shift-Tab".into(),
            KeyCode::F(n) => format!("F{n}"),
            other => format!("{other:?}"),
        };
        if self.ctrl {
            f.pad(&format!("Ctrl-{name}"))
        } else {
            f.pad(&name)
        }
    }
}
