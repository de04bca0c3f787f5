//! The key bindings: one table for dispatch, footer, help, palette, `overrule keys` and the manual.
//!
//! A scope's own bindings come before the global ones. No key has two meanings in a scope, and a
//! scope overrides a global key only if it is listed in `SHADOWS`.

pub(crate) mod binding;
pub(crate) mod command;
mod key_chord;
mod print;
pub(crate) mod remap;
mod scope;
mod screen;
mod shared;

use binding::Binding;
use crossterm::event::KeyEvent;

pub use command::Command;
pub use key_chord::KeyChord;
pub use print::{markdown, plain, rows};
pub use scope::Scope;
pub use screen::Screen;

/// All commands, in the order of the printed key tables; each has a key.
pub(crate) fn commands() -> Vec<Command> {
    let mut all = Vec::new();
    for binding in Scope::all().flat_map(Scope::built_in) {
        if !all.contains(&binding.command) {
            all.push(binding.command);
        }
    }
    all
}

/// The bindings that work in `scope`, its own first, without global ones whose keys are all
/// overridden.
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

/// The command of a key event in `scope`: its own bindings first, then the global ones. Releasing a
/// key is not a command.
pub fn resolve(scope: Scope, event: KeyEvent) -> Option<Command> {
    let key = KeyChord::of(event)?;
    let find = |scope: Scope| {
        scope
            .own()
            .iter()
            .find(|binding| binding.keys.contains(&key))
    };
    let global = || find(Scope::Global).filter(|_| scope.passes(&key));
    find(scope).or_else(global).map(|binding| binding.command)
}

/// The bindings in the footer of `scope`, most important first, without `? help`; an overlay shows
/// only its own.
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

/// The key to show for `command` in `scope`, or its key elsewhere; `None` if it has no key.
pub fn key_of(command: Command, scope: Scope) -> Option<KeyChord> {
    let elsewhere = || Scope::all().flat_map(|scope| scope.own());
    active(scope)
        .into_iter()
        .chain(elsewhere())
        .find(|binding| binding.command == command)
        .and_then(|binding| binding.keys.first())
        .copied()
}

/// The name of that key; empty if the command has none.
pub fn key_name(command: Command, scope: Scope) -> String {
    key_of(command, scope).map_or(String::new(), |key| key.to_string())
}

/// The name of a command's key on a screen, as currently bound.
pub fn key_on(command: Command, screen: Screen) -> String {
    key_name(command, Scope::Screen(screen))
}

#[cfg(test)]
mod tests;
