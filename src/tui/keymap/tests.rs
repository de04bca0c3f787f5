use std::collections::HashSet;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::*;
use crate::tui::text::width;

const BATTLE: Scope = Scope::Screen(Screen::BATTLE);
const MATRIX: Scope = Scope::Screen(Screen::MATRIX);
const RUN: Scope = Scope::Screen(Screen::RUN);

fn bindings() -> impl Iterator<Item = &'static Binding> {
    Scope::all().flat_map(Scope::own)
}

fn press(code: KeyCode, modifiers: KeyModifiers) -> KeyEvent {
    KeyEvent::new(code, modifiers)
}

fn char(c: char) -> KeyEvent {
    press(KeyCode::Char(c), KeyModifiers::NONE)
}

#[test]
fn no_key_means_two_things_in_a_scope() {
    for scope in Scope::all() {
        let mut seen = HashSet::new();
        for key in scope.own().iter().flat_map(|binding| binding.keys) {
            assert!(seen.insert(*key), "{key} twice in {scope}");
        }
    }
}

#[test]
fn every_command_has_a_key_a_name_and_a_sentence() {
    let mut names = HashSet::new();
    let all = commands();
    assert!(Command::CORE.iter().all(|command| all.contains(command)));
    for command in all {
        assert!(names.insert(command.name()));
        assert!(
            command
                .name()
                .chars()
                .all(|c| c.is_ascii_lowercase() || c == '-')
        );
        assert!(
            command.doc().ends_with('.') && width(command.doc()) <= 62,
            "{command}"
        );
    }
}

#[test]
fn common_keys_mean_the_same_on_every_screen() {
    let named = |code| press(code, KeyModifiers::NONE);
    for scope in Screen::all().map(Scope::Screen) {
        for (event, command) in [
            (char('j'), Command::Down),
            (named(KeyCode::Down), Command::Down),
            (char('k'), Command::Up),
            (named(KeyCode::Up), Command::Up),
            (char('g'), Command::First),
            (char('G'), Command::Last),
            (named(KeyCode::PageDown), Command::PageDown),
            (named(KeyCode::PageUp), Command::PageUp),
            (char('/'), Command::Filter),
            (char('?'), Command::Help),
            (char(':'), Command::Palette),
            (char('u'), Command::Undo),
            (char('q'), Command::Quit),
            (named(KeyCode::Esc), Command::Back),
            (named(KeyCode::Enter), Command::Open),
        ] {
            assert_eq!(resolve(scope, event), Some(command), "{scope}");
        }
    }
}

#[test]
fn no_command_needs_a_chord_but_the_two_that_shells_own() {
    for binding in bindings() {
        let chord_only = binding.keys.iter().all(|key| key.ctrl);
        let custom = matches!(binding.command, Command::Suspend | Command::Redraw);
        assert_eq!(chord_only, custom, "{}", binding.command);
    }
}

#[test]
fn shift_is_part_of_the_letter_however_it_is_reported() {
    assert_eq!(resolve(BATTLE, char('a')), Some(Command::JudgeA));
    for event in [
        char('A'),
        press(KeyCode::Char('A'), KeyModifiers::SHIFT),
        press(KeyCode::Char('a'), KeyModifiers::SHIFT),
    ] {
        assert_eq!(resolve(BATTLE, event), Some(Command::JudgeAStrongly));
    }
    assert_eq!(
        resolve(RUN, press(KeyCode::Char('?'), KeyModifiers::SHIFT)),
        Some(Command::Help)
    );
    assert_eq!(
        resolve(RUN, press(KeyCode::Tab, KeyModifiers::SHIFT)),
        Some(Command::PreviousPane)
    );
    assert_eq!(
        resolve(BATTLE, press(KeyCode::Char('a'), KeyModifiers::ALT)),
        None
    );
    assert_eq!(
        resolve(BATTLE, press(KeyCode::Char('a'), KeyModifiers::CONTROL)),
        None
    );
}

#[test]
fn repeats_count_and_releases_do_not() {
    let mut event = char('j');
    event.kind = KeyEventKind::Repeat;
    assert_eq!(resolve(MATRIX, event), Some(Command::Down));
    event.kind = KeyEventKind::Release;
    assert_eq!(resolve(MATRIX, event), None);
}

#[test]
fn a_text_input_keeps_its_letters() {
    assert_eq!(resolve(Scope::Input, char('q')), None);
    assert_eq!(
        resolve(
            Scope::Input,
            press(KeyCode::Char('u'), KeyModifiers::CONTROL)
        ),
        None
    );
    assert_eq!(
        resolve(
            Scope::Input,
            press(KeyCode::Char('c'), KeyModifiers::CONTROL)
        ),
        Some(Command::Quit)
    );
    assert_eq!(
        resolve(Scope::Input, press(KeyCode::Enter, KeyModifiers::NONE)),
        Some(Command::Submit)
    );
    assert_eq!(resolve(Scope::List, char('q')), Some(Command::Back));
}

#[test]
fn hints_are_short_distinct_and_led_by_the_scope() {
    for scope in Scope::all() {
        let hints = hints(scope);
        let commands: HashSet<_> = hints.iter().map(|binding| binding.command).collect();
        assert_eq!(commands.len(), hints.len());
        assert!(!commands.contains(&Command::Help));
        let first = scope
            .own()
            .iter()
            .find(|binding| binding.footer && binding.command != Command::Help);
        assert_eq!(Some(hints[0].command), first.map(|binding| binding.command));
    }
    assert!(bindings().all(|binding| width(binding.hint) <= 12));
}

#[test]
fn keys_are_found_from_commands() {
    let keys = |command, scope| key_of(command, scope).map(|key| key.to_string());
    assert_eq!(keys(Command::PageDown, RUN), Some("PgDn".into()));
    assert_eq!(keys(Command::JudgeA, RUN), Some("a".into()));
    assert_eq!(keys(Command::Suspend, RUN), Some("Ctrl-z".into()));
}

#[test]
fn printed_tables_hold_every_binding_and_fit_eighty_columns_at_hand() {
    let page = markdown();
    assert!(page.contains("| `↓` `j` | `down` | Move down. |"));
    assert_eq!(
        page.lines().filter(|line| line.starts_with("| `")).count(),
        bindings().count()
    );
    let page = plain();
    assert!(
        page.lines()
            .all(|line| width(line) <= 100 && line.trim_end() == line)
    );
    assert!(page.contains("\nMatrix\n"));
    assert_eq!(rows().len(), bindings().count());
    assert!(
        serde_json::to_string(&rows())
            .unwrap()
            .contains(r#""scope":"queries","keys":["s"],"command":"start-run""#)
    );
}
