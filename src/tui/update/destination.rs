//! Runs the entry chosen in the palette. A command of another screen goes to that screen first, and
//! asks there before it changes data.

use super::commands::{leave_top, on_command};
use super::offers;
use crate::registry;
use crate::tui::keymap::{self, Command, Scope, Screen};
use crate::tui::message::Effect;
use crate::tui::model::destination::Destination;
use crate::tui::model::{ConfirmFor, Model};
use crate::tui::screens::behavior::ScreenBehavior;
use crate::tui::widgets::palette::PaletteEntry;

/// Runs an entry of the palette.
pub(super) fn run(model: &mut Model, entry: PaletteEntry) -> Vec<Effect> {
    match entry {
        PaletteEntry::Here(command) => run_here(model, command),
        PaletteEntry::Opens(screen, command) => {
            let behavior = registry::screen(screen);
            let opens_here = behavior
                .opened_from()
                .is_none_or(|(below, _)| model.stack.contains(&below));
            if opens_here && !model.stack.contains(&screen) && !offers::judges_blind(model) {
                on_command(model, command)
            } else {
                go(model, screen, None)
            }
        }
        PaletteEntry::On(screen, command) => go(model, screen, Some(command)),
        PaletteEntry::Screen(screen) => go(model, screen, None),
    }
}

/// Runs a command on its own screen. A verdict is never given by typing its name.
fn run_here(model: &mut Model, command: Command) -> Vec<Effect> {
    if model.behavior().decides(command) {
        let key = keymap::key_name(command, Scope::Screen(model.screen()));
        let words = format!("press {key} to give this verdict: {}", command.doc());
        model.inform(&words);
        return Vec::new();
    }
    let before = (model.stack.len(), model.overlays.len());
    let offered = offers::offers(model, command) && model.behavior().uses(command);
    let effects = on_command(model, command);
    let silent = effects.is_empty() && model.toast.is_none();
    if silent && !offered && before == (model.stack.len(), model.overlays.len()) {
        model.inform(&format!("{command} does nothing on this screen now"));
    }
    effects
}

fn go(model: &mut Model, screen: Screen, command: Option<Command>) -> Vec<Effect> {
    model.search = None;
    model.destination = Some(Destination {
        screen,
        command,
        left: None,
    });
    let effects = follow(model);
    if effects.is_empty() && model.destination.is_some() {
        model.inform(&format!(
            "the {} screen opens when the data has been read",
            screen.name()
        ));
    }
    effects
}

/// Goes on to the destination, if there is one and the data of the screens on the way is loaded.
pub(super) fn follow(model: &mut Model) -> Vec<Effect> {
    let mut effects = Vec::new();
    while let Some(destination) = model.destination
        && is_loaded(model, &path(destination.screen))
    {
        if model.screen() == destination.screen {
            model.destination = None;
            effects.extend(arrive(model, destination.command));
        } else {
            effects.extend(step(model, destination));
        }
    }
    effects
}

/// Whether the data of these screens is loaded; it includes the list and the open query.
fn is_loaded(model: &Model, screens: &[Screen]) -> bool {
    !model.is_listing() && !model.is_opening() && !model.jobs.is_any_pending(screens)
}

/// The screens from the destination down to the one that can be opened from everywhere.
fn path(screen: Screen) -> Vec<Screen> {
    let below = |screen: &Screen| {
        registry::screen(*screen)
            .opened_from()
            .map(|(below, _)| below)
    };
    std::iter::successors(Some(screen), below).collect()
}

fn step(model: &mut Model, destination: Destination) -> Vec<Effect> {
    let path = path(destination.screen);
    let here = model.screen();
    let reached = path
        .iter()
        .position(|on_path| model.stack.contains(on_path));
    let Some(at) = reached else {
        let root = path
            .last()
            .and_then(|root| registry::screen(*root).opened_by());
        let mut effects = Vec::new();
        while offers::judges_blind(model) && model.stack.len() > 1 {
            effects.extend(leave_top(model));
        }
        match root {
            Some(command) => effects.extend(on_command(model, command)),
            None => model.destination = None,
        }
        let is_open = path.iter().any(|screen| model.stack.contains(screen));
        if !is_open && is_loaded(model, &path) {
            model.destination = None;
        }
        return effects;
    };
    if path[at] != here {
        return leave_top(model);
    }
    let next = registry::screen(path[at - 1]);
    let opening = next
        .opened_from()
        .filter(|_| destination.left != Some(here));
    let Some((_, command)) = opening else {
        return stay(model, next);
    };
    model.destination = Some(Destination {
        left: Some(here),
        ..destination
    });
    let effects = on_command(model, command);
    if model.screen() != here && !path.contains(&model.screen()) {
        model.destination = None;
    }
    effects
}

/// The next screen cannot be opened by itself.
fn stay(model: &mut Model, next: &dyn ScreenBehavior) -> Vec<Effect> {
    model.destination = None;
    if let Some((below, command)) = next.opened_from() {
        let key = keymap::key_on(command, below);
        model.inform(&format!(
            "choose a row first; {key} opens the {} screen",
            next.id().name()
        ));
    }
    Vec::new()
}

/// Runs the command of the destination, if it changes nothing; otherwise asks first.
fn arrive(model: &mut Model, command: Option<Command>) -> Vec<Effect> {
    let Some(command) = command else {
        return Vec::new();
    };
    if !model.behavior().decides(command) && !offers::offers(model, command) {
        model.inform(&format!("{command} is not available on this screen now"));
        return Vec::new();
    }
    if command.changes_data() {
        let question = format!("{} Do it on this screen?", command.doc());
        model.confirm(command.name(), &question, ConfirmFor::Command(command));
        return Vec::new();
    }
    run_here(model, command)
}
