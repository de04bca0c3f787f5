//! Keys bound to a command.

use super::command::Command;
use super::key_chord::KeyChord;
use crossterm::event::KeyCode;

/// Some keys that run one command where the binding's table holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The one to show first.
    pub keys: &'static [KeyChord],
    pub command: Command,
    /// The footer's label, at most twelve columns.
    pub hint: &'static str,
    pub footer: bool,
}

pub(crate) const ENTER: KeyChord = named(KeyCode::Enter);
pub(crate) const ESC: KeyChord = named(KeyCode::Esc);
pub(crate) const TAB: KeyChord = named(KeyCode::Tab);
pub(crate) const BACK_TAB: KeyChord = named(KeyCode::BackTab);

pub(crate) const fn key(c: char) -> KeyChord {
    KeyChord::char(c)
}

pub(crate) const fn ctrl(c: char) -> KeyChord {
    KeyChord::ctrl(c)
}

pub(crate) const fn named(code: KeyCode) -> KeyChord {
    KeyChord::code(code)
}

/// A binding that the footer offers.
pub(crate) const fn shown(
    keys: &'static [KeyChord],
    command: Command,
    hint: &'static str,
) -> Binding {
    Binding {
        keys,
        command,
        hint,
        footer: true,
    }
}

/// A binding that only help and palette tell.
pub(crate) const fn hidden(
    keys: &'static [KeyChord],
    command: Command,
    hint: &'static str,
) -> Binding {
    Binding {
        footer: false,
        ..shown(keys, command, hint)
    }
}
