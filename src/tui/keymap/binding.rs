//! Keys bound to a command.

use super::command::Command;
use super::key_chord::KeyChord;
use crossterm::event::KeyCode;

/// Keys that run a command in the scope of the binding's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The first one is shown.
    pub keys: &'static [KeyChord],
    pub command: Command,
    /// Label in the footer, at most twelve columns.
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

/// A binding that the footer shows.
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

/// A binding that only help and palette show.
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
