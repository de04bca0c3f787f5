//! The scopes of key bindings.

use super::binding::Binding;
use super::key_chord::KeyChord;
use super::screen::Screen;
use super::shared;
use crossterm::event::KeyCode;
use serde::{Serialize, Serializer};
use std::collections::HashMap;
use std::fmt;
use std::sync::OnceLock;

/// The tables of scopes whose keys the user has changed.
static REMAPPED: OnceLock<HashMap<Scope, &'static [Binding]>> = OnceLock::new();

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    Global,
    Screen(Screen),
    /// A text with highlighted search results; the screen's own keys are disabled.
    Search,
    /// Overlays with a list, such as help and confirmations.
    List,
    /// Text inputs, in which only control keys are commands.
    Input,
}

impl Scope {
    /// Replaces tables for the rest of the process; may be called only once.
    pub(super) fn remap(tables: HashMap<Self, &'static [Binding]>) {
        drop(REMAPPED.set(tables));
    }

    /// All scopes, in the order of the printed tables.
    pub fn all() -> impl Iterator<Item = Self> {
        let screens = Screen::all().map(Self::Screen);
        [Self::Global]
            .into_iter()
            .chain(screens)
            .chain([Self::Search, Self::List, Self::Input])
    }

    /// Its name in JSON, the heading of its table, and its own bindings.
    fn entry(self) -> (&'static str, &'static str, &'static [Binding]) {
        match self {
            Self::Global => ("global", "Everywhere", shared::GLOBAL),
            Self::Screen(screen) => (screen.name(), screen.heading(), screen.keys()),
            Self::Search => ("search", "Text search", shared::SEARCH),
            Self::List => ("list", "Overlays", shared::LIST),
            Self::Input => ("input", "Text inputs", shared::INPUT),
        }
    }

    pub fn heading(self) -> &'static str {
        self.entry().1
    }

    /// Its name in JSON and in the configuration.
    pub fn name(self) -> &'static str {
        self.entry().0
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::all().find(|scope| scope.name() == name)
    }

    /// Its bindings, including the user's changes.
    pub fn own(self) -> &'static [Binding] {
        REMAPPED
            .get()
            .and_then(|tables| tables.get(&self))
            .copied()
            .unwrap_or(self.built_in())
    }

    pub(super) fn built_in(self) -> &'static [Binding] {
        self.entry().2
    }

    /// Whether the key of a global binding works here too.
    pub(super) fn passes(self, key: &KeyChord) -> bool {
        let leaves_input = key.ctrl && matches!(key.code, KeyCode::Char('c' | 'z' | 'l'));
        self != Self::Input || leaves_input
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.heading())
    }
}

impl Serialize for Scope {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
