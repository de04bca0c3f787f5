//! The keys: one table for dispatch, footer, help, palette, `overrule keys` and the manual.
//!
//! A scope's own bindings come before the global ones. No key means two things in a scope, and a scope does not
//! redefine a global key except where [`SHADOWS`] says so.

mod command;
mod key;
mod print;
mod table;

use std::fmt;

use crossterm::event::KeyEvent;
use serde::Serialize;

pub use command::{Command, UnknownCommand};
pub use key::KeyChord;
pub use print::{KeyRow, markdown, plain, rows};
pub use table::BINDINGS;

/// Where a binding holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// On every screen.
    Global,
    /// The list of queries.
    Queries,
    /// The live run.
    Run,
    /// The heatmap of a query.
    Matrix,
    /// One document and its battles.
    Document,
    /// One battle, side by side.
    Battle,
    /// What to look at first.
    Queue,
    /// A pair of the queue under review.
    Review,
    /// A card a judge.
    Judges,
    /// Cycles of a query.
    Cycles,
    /// Picks against labels.
    Adjudication,
    /// The document being ruled on.
    Ruling,
    /// Overlays that list things: help, confirmations.
    List,
    /// Text inputs: only control keys leave them.
    Input,
}

impl Scope {
    /// Every scope, in the order of the printed tables.
    pub const ALL: [Self; 14] = [
        Self::Global,
        Self::Queries,
        Self::Run,
        Self::Matrix,
        Self::Document,
        Self::Battle,
        Self::Queue,
        Self::Review,
        Self::Judges,
        Self::Cycles,
        Self::Adjudication,
        Self::Ruling,
        Self::List,
        Self::Input,
    ];

    /// The heading of its table.
    pub fn title(self) -> &'static str {
        match self {
            Self::Global => "Everywhere",
            Self::Queries => "Queries",
            Self::Run => "Run",
            Self::Matrix => "Matrix",
            Self::Document => "Document",
            Self::Battle => "Battle",
            Self::Queue => "Queue",
            Self::Review => "Review",
            Self::Judges => "Judges",
            Self::Cycles => "Cycles",
            Self::Adjudication => "Adjudication",
            Self::Ruling => "Ruling",
            Self::List => "Overlays",
            Self::Input => "Text inputs",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.title())
    }
}

/// Some keys that run one command in one scope.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    /// Where it holds.
    pub scope: Scope,
    /// The keys, the one to show first.
    pub keys: &'static [KeyChord],
    /// What they run.
    pub command: Command,
    /// The footer's label, at most twelve columns.
    pub hint: &'static str,
    /// Whether the footer offers it.
    pub footer: bool,
}

/// Keys that a scope takes from the global table for another command.
pub const SHADOWS: [(Scope, KeyChord); 5] = [
    // `q` in an overlay closes the overlay: quitting the program from its help page would surprise.
    (Scope::List, KeyChord::char('q')),
    (
        Scope::Battle,
        KeyChord::code(crossterm::event::KeyCode::Tab),
    ),
    (
        Scope::Review,
        KeyChord::code(crossterm::event::KeyCode::Tab),
    ),
    (
        Scope::Input,
        KeyChord::code(crossterm::event::KeyCode::Enter),
    ),
    (Scope::Input, KeyChord::code(crossterm::event::KeyCode::Esc)),
];

/// The bindings of one scope, without the global ones.
pub fn own(scope: Scope) -> impl Iterator<Item = &'static Binding> {
    BINDINGS
        .iter()
        .filter(move |binding| binding.scope == scope)
}

/// The bindings that work in `scope`, its own first; a global one whose keys are all taken is left out.
pub fn active(scope: Scope) -> Vec<&'static Binding> {
    let mut all: Vec<&'static Binding> = own(scope).collect();
    if scope != Scope::Global {
        let mine = all.len();
        for binding in own(Scope::Global) {
            let hidden = |key: &KeyChord| all[..mine].iter().any(|own| own.keys.contains(key));
            let reaches = |key: &&KeyChord| scope != Scope::Input || key.leaves_input();
            if binding.keys.iter().filter(reaches).any(|key| !hidden(key)) {
                all.push(binding);
            }
        }
    }
    all
}

/// The command of a key event in `scope`: its own bindings, then the global ones. A released key is no command.
pub fn resolve(scope: Scope, event: KeyEvent) -> Option<Command> {
    let key = KeyChord::of(event)?;
    let find = |scope| own(scope).find(|binding| binding.keys.contains(&key));
    let found = find(scope).or_else(|| {
        let passes = scope != Scope::Input || key.leaves_input();
        if passes { find(Scope::Global) } else { None }
    });
    found.map(|binding| binding.command)
}

/// The bindings that the footer of `scope` offers, most important first, `? help` not among them; an overlay offers its
/// own only.
pub fn hints(scope: Scope) -> Vec<&'static Binding> {
    let mut seen: Vec<Command> = vec![Command::Help];
    let mut offered = match scope {
        Scope::List | Scope::Input => own(scope).collect(),
        _ => active(scope),
    };
    offered.retain(|binding| {
        let fresh = !seen.contains(&binding.command);
        seen.push(binding.command);
        binding.footer && fresh
    });
    offered
}

/// The bindings that run `command` in `scope`, its own first.
pub fn bindings_of(command: Command, scope: Scope) -> Vec<&'static Binding> {
    let mut found = active(scope);
    found.retain(|binding| binding.command == command);
    found
}

/// The key to show beside `command` in `scope`, or where else it is bound; `None` when it has no key.
pub fn key_of(command: Command, scope: Scope) -> Option<KeyChord> {
    let here = bindings_of(command, scope).first().copied();
    let found = here.or_else(|| BINDINGS.iter().find(|binding| binding.command == command));
    found.and_then(|binding| binding.keys.first()).copied()
}

#[cfg(test)]
mod tests;
