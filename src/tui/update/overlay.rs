//! Keys: to what lies on top, or to the screen.

use super::commands::{on_command, quit};
use crate::tui::keymap::{self, Command, Scope};
use crate::tui::message::Effect;
use crate::tui::model::{ConfirmFor, Model, Overlay, PromptFor};
use crate::tui::navigation::WordFilter;
use crate::tui::screens::registry::spec;
use crate::tui::screens::spec::Find;
use crate::tui::screens::{Screen, run};
use crate::tui::widgets::KeyOutcome;
use crossterm::event::{KeyEvent, KeyModifiers};

pub(super) fn on_key(model: &mut Model, key: KeyEvent) -> Vec<Effect> {
    model.toast = None;
    let scope = Scope::Screen(model.screen());
    let Some(overlay) = model.overlays.last_mut() else {
        let command = keymap::resolve(scope, key);
        return command.map_or(Vec::new(), |command| on_command(model, command));
    };
    let outcome = match overlay {
        Overlay::Help(help) => help.handle(key).map(|()| OverlayResult::Closed),
        Overlay::Page(page) => page.handle(key).map(|()| OverlayResult::Closed),
        Overlay::Palette(palette) => palette.handle(key).map(OverlayResult::Run),
        Overlay::Prompt(prompt, _) => prompt.handle(key).map(OverlayResult::Typed),
        Overlay::Confirm(confirm, _) => confirm.handle(key).map(|()| OverlayResult::Closed),
    };
    match outcome {
        KeyOutcome::Consumed => follow_filter(model),
        KeyOutcome::Pass => match keymap::resolve(Scope::Global, key) {
            Some(command @ (Command::Suspend | Command::Redraw | Command::Manual)) => {
                return on_command(model, command);
            }
            Some(Command::Quit) if key.modifiers.contains(KeyModifiers::CONTROL) => {
                return on_command(model, Command::Quit);
            }
            _ => {}
        },
        KeyOutcome::Cancelled => {
            if let Some(Overlay::Prompt(_, PromptFor::Filter)) = model.overlays.pop()
                && let Find::Rows(list) = spec(model.screen()).find
            {
                list(model).1.clear();
            }
        }
        KeyOutcome::Submitted(result) => return on_submitted(model, result),
    }
    Vec::new()
}

pub(super) fn on_paste(model: &mut Model, text: &str) {
    match model.overlays.last_mut() {
        Some(Overlay::Prompt(prompt, _)) => prompt.paste(text),
        Some(Overlay::Palette(palette)) => palette.paste(text),
        _ => {}
    }
    follow_filter(model);
}

enum OverlayResult {
    Closed,
    Run(Command),
    Typed(String),
}

fn on_submitted(model: &mut Model, result: OverlayResult) -> Vec<Effect> {
    match (model.overlays.pop(), result) {
        (Some(Overlay::Palette(_)), OverlayResult::Run(command)) => on_command(model, command),
        (Some(Overlay::Prompt(_, purpose)), OverlayResult::Typed(text)) => match purpose {
            PromptFor::Filter => {
                keep_rows(model, text);
                Vec::new()
            }
            PromptFor::Reason => (spec(model.screen()).reason)(model, &text),
            PromptFor::FindDocument => find(model, &text),
            PromptFor::Budget => run::update::set_budget(model, &text),
        },
        (Some(Overlay::Confirm(_, question)), _) => match question {
            ConfirmFor::Start => run::update::begin(model),
            ConfirmFor::Stop => run::update::stop(model),
            ConfirmFor::Quit => quit(model),
        },
        _ => Vec::new(),
    }
}

/// Goes to the first document after the present one whose identifier or title holds the words.
fn find(model: &mut Model, text: &str) -> Vec<Effect> {
    let order = model.matrix_order();
    let Some(open) = &model.open else {
        return Vec::new();
    };
    let words = WordFilter::new(text);
    let here = match model.screen() {
        Screen::Document => order
            .iter()
            .position(|document| *document == model.document.document),
        _ => Some(model.matrix.heat.cursor.0),
    };
    let start = here.map_or(0, |here| here + 1);
    let found = (0..order.len())
        .map(|step| (start + step) % order.len())
        .find(|place| {
            let document = order[*place];
            words.matches(&format!(
                "{} {}",
                open.name(document),
                open.headline(document)
            ))
        });
    match (found, model.screen()) {
        (None, _) => {
            model.inform(&format!("no document has “{text}” in its id or title"));
            Vec::new()
        }
        (Some(place), Screen::Document) => {
            model.stack.pop();
            model.open_document(order[place])
        }
        (Some(place), _) => {
            let column = model.matrix.heat.cursor.1;
            model.matrix.heat.move_to(place, column, order.len());
            Vec::new()
        }
    }
}

/// The list follows the filter while it is typed.
fn follow_filter(model: &mut Model) {
    if let Some(Overlay::Prompt(prompt, PromptFor::Filter)) = model.overlays.last() {
        let text = prompt.text().to_owned();
        keep_rows(model, text);
    }
}

fn keep_rows(model: &mut Model, words: String) {
    if let Find::Rows(list) = spec(model.screen()).find {
        let (cursor, filter) = list(model);
        (*cursor, *filter) = (0, words);
    }
}
