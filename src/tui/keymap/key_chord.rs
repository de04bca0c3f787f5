//! One key as it is bound and printed.

use std::fmt;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// A key with or without Ctrl. Shift is part of the character: `A` is not `a`.
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

    /// The key of an event; `None` for a release and for chords with Alt or Super, which nothing is bound to.
    ///
    /// Terminals differ in what they report for Shift: `A`, `A` with Shift or `a` with Shift are one key here, as are
    /// BackTab and Tab with Shift.
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
        match self.ctrl {
            true => f.pad(&format!("Ctrl-{name}")),
            false => f.pad(&name),
        }
    }
}
