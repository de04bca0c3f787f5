//! The entries of the palette.

use super::offers;
use crate::registry::{QUESTIONS, SCREENS};
use crate::tui::keymap::{self, Command, Scope, Screen};
use crate::tui::model::Model;
use crate::tui::screens::behavior::ScreenBehavior;
use crate::tui::widgets::palette::PaletteEntry;

/// Commands that move the cursor; the palette lists them last.
const MOVES: [Command; 8] = [
    Command::Down,
    Command::Up,
    Command::Left,
    Command::Right,
    Command::First,
    Command::Last,
    Command::PageDown,
    Command::PageUp,
];

/// Commands that add to the project, before those of [`QUESTIONS`].
const ADDING: [Command; 4] = [
    Command::Import,
    Command::Merge,
    Command::BuildPools,
    Command::Pick,
];

/// Other commands for the whole project.
const PROJECT: [Command; 3] = [Command::Export, Command::ShowLog, Command::Settings];

fn opened_by(command: Command) -> Option<&'static dyn ScreenBehavior> {
    let mut screens = SCREENS.iter().copied();
    screens.find(|screen| screen.opened_by() == Some(command))
}

/// Every command and every screen: first what is available here, then the other screens and their
/// commands, then what is not available now.
pub(super) fn palette_entries(model: &Model) -> Vec<PaletteEntry> {
    let mut listed = vec![Command::Palette];
    let mut unlisted = |command: &Command| {
        let new = !listed.contains(command);
        listed.push(*command);
        new
    };
    let (now, not_now): (Vec<Command>, Vec<Command>) = keymap::active(model.scope())
        .into_iter()
        .map(|binding| binding.command)
        .filter(&mut unlisted)
        .partition(|command| !MOVES.contains(command) && offers::offers(model, *command));
    let here = |command| match opened_by(command) {
        Some(screen) => PaletteEntry::Opens(screen.id(), command),
        None => PaletteEntry::Here(command),
    };
    let below_or_here = |command| match below(model, command) {
        Some(screen) => PaletteEntry::On(screen, command),
        None => here(command),
    };
    let project: Vec<Command> = ADDING
        .into_iter()
        .chain(QUESTIONS.iter().map(|(command, _)| *command))
        .chain(PROJECT)
        .filter(&mut unlisted)
        .collect();
    let opening: Vec<Command> = SCREENS
        .iter()
        .filter_map(|screen| screen.opened_by())
        .filter(&mut unlisted)
        .collect();
    let opened_elsewhere = SCREENS
        .iter()
        .filter(|screen| screen.opened_by().is_none())
        .map(|screen| PaletteEntry::Screen(screen.id()));
    let on_others = Screen::all()
        .flat_map(|screen| Scope::Screen(screen).own())
        .map(|binding| binding.command)
        .filter(&mut unlisted)
        .filter_map(|command| Some(PaletteEntry::On(home(model, command)?, command)));
    now.into_iter()
        .chain(project)
        .chain(opening)
        .map(here)
        .chain(opened_elsewhere)
        .chain(on_others)
        .chain(not_now.into_iter().map(below_or_here))
        .collect()
}

/// The screen that a command belongs to: the nearest below the current one, or else the first.
fn home(model: &Model, command: Command) -> Option<Screen> {
    below(model, command).or_else(|| Screen::all().find(|screen| has(*screen, command)))
}

/// The nearest screen below the current one that has a command.
fn below(model: &Model, command: Command) -> Option<Screen> {
    model
        .stack
        .iter()
        .rev()
        .skip(1)
        .copied()
        .find(|screen| has(*screen, command))
}

fn has(screen: Screen, command: Command) -> bool {
    Scope::Screen(screen)
        .own()
        .iter()
        .any(|binding| binding.command == command)
}
