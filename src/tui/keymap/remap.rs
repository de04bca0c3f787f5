//! Applies the user's key bindings after checking them as a whole for duplicate and unreachable
//! keys.

use super::binding::Binding;
use super::command::Command;
use super::commands;
use super::key_chord::KeyChord;
use super::scope::Scope;
use crate::config::keymap::BoundKeys;
use crate::tui::fuzzy::rank;
use crossterm::event::KeyCode;
use std::collections::HashMap;

/// The scopes whose keys the user has changed.
type Tables = HashMap<Scope, Vec<Binding>>;

/// An invalid key binding, and where it is.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: [keymap.{screen}] {message}")]
pub struct RemapError {
    line: usize,
    screen: String,
    message: String,
}

/// Checks the user's key bindings and then uses them for the rest of the process.
pub fn install(wanted: &[BoundKeys]) -> Result<(), RemapError> {
    let tables = tables(wanted)?;
    if !tables.is_empty() {
        let tables = tables.into_iter();
        // Leaked, to live as long as the built-in tables.
        let kept = tables.map(|(scope, table)| (scope, &*Box::leak(table.into_boxed_slice())));
        Scope::remap(kept.collect());
    }
    Ok(())
}

/// The tables of the scopes that change.
fn tables(wanted: &[BoundKeys]) -> Result<Tables, RemapError> {
    let mut tables = Tables::new();
    for one in wanted {
        let wrong = |message: String| wrong(one, message);
        let scope = Scope::named(&one.screen).ok_or_else(|| {
            let names: Vec<&str> = Scope::all().map(Scope::name).collect();
            wrong(format!(
                "is not a screen; the screens are {}",
                names.join(", ")
            ))
        })?;
        let command = command_named(&one.command)
            .ok_or_else(|| wrong(format!("{}: {}", one.command, unknown(&one.command))))?;
        let table = tables
            .entry(scope)
            .or_insert_with(|| scope.built_in().to_vec());
        let binding = table.iter_mut().find(|binding| binding.command == command);
        let binding = binding.ok_or_else(|| {
            let of = |scope: &Scope| {
                scope
                    .built_in()
                    .iter()
                    .any(|binding| binding.command == command)
            };
            let where_else: Vec<&str> = Scope::all().filter(of).map(Scope::name).collect();
            let names = where_else.join(", ");
            wrong(format!("{command}: this command belongs to {names}"))
        })?;
        let keys: Result<Vec<KeyChord>, RemapError> = one
            .keys
            .iter()
            .map(|key| {
                key.parse()
                    .map_err(|error| wrong(format!("{command}: {error}")))
            })
            .collect();
        let keys = keys?;
        if keys.is_empty() {
            return Err(wrong(format!("{command}: a command needs a key")));
        }
        let types = |key: &&KeyChord| matches!(key.code, KeyCode::Char(_)) && !key.ctrl;
        if let Some(key) = keys.iter().find(types).filter(|_| scope == Scope::Input) {
            return Err(wrong(format!("{command}: {key} types a character here")));
        }
        binding.keys = Box::leak(keys.into_boxed_slice());
    }
    for one in wanted {
        check(one, &tables)?;
    }
    Ok(tables)
}

fn wrong(one: &BoundKeys, message: String) -> RemapError {
    RemapError {
        line: one.line,
        screen: one.screen.clone(),
        message,
    }
}

/// Checks that a command's keys are unique in its scope, and that they leave every global command a
/// key there.
fn check(one: &BoundKeys, tables: &Tables) -> Result<(), RemapError> {
    let (Some(scope), Some(command)) = (Scope::named(&one.screen), command_named(&one.command))
    else {
        return Ok(());
    };
    let own = |scope: Scope| match tables.get(&scope) {
        Some(table) => table.as_slice(),
        None => scope.built_in(),
    };
    let binding = own(scope).iter().find(|binding| binding.command == command);
    let keys = binding.map_or(&[][..], |binding| binding.keys);
    for (at, key) in keys.iter().enumerate() {
        let mut others = own(scope).iter().filter(|other| other.command != command);
        if let Some(other) = others.find(|other| other.keys.contains(key)) {
            let other = other.command;
            return Err(wrong(
                one,
                format!("{command}: {key} is also the key of {other}"),
            ));
        }
        if keys[..at].contains(key) {
            return Err(wrong(one, format!("{command}: {key} is listed twice")));
        }
    }
    let hidden = |scope: Scope, binding: &Binding, own: &[Binding]| {
        let taken = |key: &KeyChord| {
            own.iter()
                .any(|other| other.command != binding.command && other.keys.contains(key))
        };
        scope != Scope::Input && binding.keys.iter().all(taken)
    };
    let everywhere = own(Scope::Global);
    let concerned =
        |place: &Scope| *place != Scope::Global && [*place, Scope::Global].contains(&scope);
    for place in Scope::all().filter(concerned) {
        for binding in everywhere {
            let built_in = Scope::Global.built_in().iter();
            let before = built_in
                .filter(|before| before.command == binding.command)
                .any(|before| hidden(place, before, place.built_in()));
            if !before && hidden(place, binding, own(place)) {
                let lost = binding.command;
                return Err(wrong(
                    one,
                    format!("{command}: leaves {lost} without a key on {}", place.name()),
                ));
            }
        }
    }
    Ok(())
}

fn command_named(name: &str) -> Option<Command> {
    commands().into_iter().find(|known| known.name() == name)
}

/// The error for an unknown command, with a suggestion.
fn unknown(name: &str) -> String {
    let all = commands();
    let names = all.iter().map(|command| command.name());
    let close = rank(name, names).first().and_then(|one| all.get(one.index));
    match close {
        Some(close) => format!("no such command; did you mean {close}?"),
        None => "no such command; `overrule keys` lists them".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(screen: &str, command: &str, keys: &[&str], line: usize) -> BoundKeys {
        BoundKeys {
            screen: screen.to_owned(),
            command: command.to_owned(),
            keys: keys.iter().map(ToString::to_string).collect(),
            line,
        }
    }

    fn error(wanted: &[BoundKeys]) -> String {
        tables(wanted).unwrap_err().to_string()
    }

    #[test]
    fn keys_are_bound_anew_and_the_others_stay() {
        let swapped = [
            bound("review", "judge-a", &["b", "Left"], 3),
            bound("review", "judge-b", &["a"], 4),
        ];
        let tables = tables(&swapped).unwrap();
        let table = &tables[&Scope::named("review").unwrap()];
        let keys = |command| {
            table
                .iter()
                .find(|binding| binding.command == command)
                .unwrap()
                .keys
        };
        assert_eq!(
            keys(Command::JudgeA),
            ["b".parse().unwrap(), "←".parse().unwrap()]
        );
        assert_eq!(keys(Command::JudgeB), [KeyChord::char('a')]);
        assert_eq!(keys(Command::JudgeTie), [KeyChord::char('t')]);
    }

    #[test]
    fn what_cannot_be_bound_is_said_with_its_line() {
        for (wanted, parts) in [
            (
                bound("reviews", "judge-a", &["1"], 2),
                ["line 2", "is not a screen"],
            ),
            (
                bound("review", "judgea", &["z"], 9),
                ["line 9", "did you mean judge-a?"],
            ),
            (
                bound("review", "zoom", &["z"], 9),
                ["zoom", "belongs to matrix"],
            ),
            (
                bound("review", "judge-a", &["aa"], 5),
                ["line 5", "\"aa\" is not a key"],
            ),
            (
                bound("review", "judge-a", &[], 5),
                ["line 5", "needs a key"],
            ),
            (
                bound("review", "judge-a", &["b"], 6),
                ["[keymap.review] judge-a", "b is also the key of judge-b"],
            ),
            (
                bound("battle", "judge-a", &["c", "c"], 6),
                ["judge-a", "twice"],
            ),
            (
                bound("battle", "judge-a", &["u"], 7),
                ["line 7", "leaves undo without a key on battle"],
            ),
            (
                bound("global", "undo", &["a"], 8),
                ["line 8", "leaves undo without a key on"],
            ),
            (
                bound("input", "submit", &["s"], 8),
                ["line 8", "types a character"],
            ),
        ] {
            let error = error(&[wanted]);
            for part in parts {
                assert!(error.contains(part), "{part:?} in {error:?}");
            }
        }
        assert_eq!(tables(&[]), Ok(Tables::new()));
    }

    #[test]
    fn the_built_in_table_has_nothing_that_would_be_refused() {
        let mut wanted = Vec::new();
        for scope in Scope::all().filter(|scope| *scope != Scope::Input) {
            for binding in scope.built_in() {
                let keys: Vec<String> = binding.keys.iter().map(ToString::to_string).collect();
                wanted.push(BoundKeys {
                    screen: scope.name().to_owned(),
                    command: binding.command.name().to_owned(),
                    keys,
                    line: 1,
                });
            }
        }
        for (scope, table) in tables(&wanted).unwrap() {
            let keys = |table: &[Binding]| -> Vec<&'static [KeyChord]> {
                table.iter().map(|binding| binding.keys).collect()
            };
            assert_eq!(keys(&table), keys(scope.built_in()), "{scope}");
        }
    }
}
