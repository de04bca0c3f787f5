//! The keys: one table for dispatch, footer, help, palette, `overrule keys` and the manual.
//!
//! A scope's own bindings come before the global ones. No key means two things in a scope, and a scope does not
//! redefine a global key except where `SHADOWS` says so.

pub(crate) mod binding;
pub(crate) mod command;
mod key_chord;
mod print;
pub(crate) mod remap;
mod scope;
mod screen;
mod screens;
mod shared;

use binding::Binding;
use crossterm::event::KeyEvent;

pub use command::Command;
pub use key_chord::KeyChord;
pub use print::{markdown, plain, rows};
pub use scope::Scope;
pub use screen::Screen;

/// The bindings that work in `scope`, its own first; a global one whose keys are all taken is left out.
pub fn active(scope: Scope) -> Vec<&'static Binding> {
    let own = scope.own();
    let mut all: Vec<&'static Binding> = own.iter().collect();
    if scope != Scope::Global {
        let hidden = |key: &KeyChord| own.iter().any(|binding| binding.keys.contains(key));
        let works = |key: &KeyChord| scope.passes(key) && !hidden(key);
        let global = Scope::Global.own().iter();
        all.extend(global.filter(|binding| binding.keys.iter().any(works)));
    }
    all
}

/// The command of a key event in `scope`: its own bindings, then the global ones. A released key is no command.
pub fn resolve(scope: Scope, event: KeyEvent) -> Option<Command> {
    let key = KeyChord::of(event)?;
    let find = |scope: Scope| {
        let mut own = scope.own().iter();
        own.find(|binding| binding.keys.contains(&key))
    };
    let global = || find(Scope::Global).filter(|_| scope.passes(&key));
    find(scope).or_else(global).map(|binding| binding.command)
}

/// The bindings that the footer of `scope` offers, most important first, `? help` not among them; an overlay offers its
/// own only.
pub fn hints(scope: Scope) -> Vec<&'static Binding> {
    let mut seen: Vec<Command> = vec![Command::Help];
    let mut offered = match scope {
        Scope::Search | Scope::List | Scope::Input => scope.own().iter().collect(),
        _ => active(scope),
    };
    offered.retain(|binding| {
        let fresh = !seen.contains(&binding.command);
        seen.push(binding.command);
        binding.footer && fresh
    });
    offered
}

/// The key to show beside `command` in `scope`, or where else it is bound; `None` when it has no key.
pub fn key_of(command: Command, scope: Scope) -> Option<KeyChord> {
    let elsewhere = || Scope::all().flat_map(|scope| scope.own());
    let mut bindings = active(scope).into_iter().chain(elsewhere());
    let found = bindings.find(|binding| binding.command == command);
    found.and_then(|binding| binding.keys.first()).copied()
}

/// The name of that key; empty when the command has none.
pub fn key_name(command: Command, scope: Scope) -> String {
    key_of(command, scope).map_or(String::new(), |key| key.to_string())
}

/// The name of the key of a command on a screen, as it is bound now.
pub fn key_on(command: Command, screen: Screen) -> String {
    key_name(command, Scope::Screen(screen))
}

#[cfg(test)]
mod tests;
