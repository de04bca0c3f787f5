//! Keys: to what lies on top, or to the screen.

use super::{on_command, quit};
use crate::tui::keymap::{self, Command, Scope};
use crate::tui::model::{ConfirmFor, Effect, Model, Overlay, PromptFor, Screen};
use crate::tui::screens;
use crate::tui::widgets::KeyOutcome;
use crate::tui::widgets::toast::Level;
use crossterm::event::{KeyEvent, KeyModifiers};

pub(super) fn on_key(model: &mut Model, key: KeyEvent) -> Vec<Effect> {
    model.toast = None;
    let Some(overlay) = model.overlays.last_mut() else {
        return match keymap::resolve(model.screen().scope(), key) {
            Some(command) => on_command(model, command),
            None => Vec::new(),
        };
    };
    let outcome = match overlay {
        Overlay::Help(help) => help.handle(key).map(|()| OverlayResult::Closed),
        Overlay::Page(page) => page.handle(key).map(|()| OverlayResult::Closed),
        Overlay::Palette(palette) => palette.handle(key).map(OverlayResult::Run),
        Overlay::Prompt(prompt, _) => prompt.handle(key).map(OverlayResult::Typed),
        Overlay::Confirm(confirm, _) => confirm.handle(key).map(|()| OverlayResult::Closed),
    };
    match outcome {
        KeyOutcome::Consumed => live_filter(model),
        KeyOutcome::Pass => match keymap::resolve(Scope::Global, key) {
            Some(command @ (Command::Suspend | Command::Redraw)) => {
                return on_command(model, command);
            }
            Some(Command::Quit) if key.modifiers.contains(KeyModifiers::CONTROL) => {
                model.overlays.clear();
                return on_command(model, Command::Quit);
            }
            _ => {}
        },
        KeyOutcome::Cancelled => match model.overlays.pop() {
            Some(Overlay::Prompt(_, PromptFor::Filter)) => model.queries.filter.clear(),
            Some(Overlay::Prompt(_, PromptFor::QueueFilter)) => model.queue.filter.clear(),
            Some(Overlay::Prompt(_, PromptFor::AdjudicationFilter)) => {
                model.adjudication.filter.clear()
            }
            _ => {}
        },
        KeyOutcome::Submitted(done) => return on_done(model, done),
    }
    Vec::new()
}

/// What an overlay was closed with.
enum OverlayResult {
    Closed,
    Run(Command),
    Typed(String),
}

fn on_done(model: &mut Model, done: OverlayResult) -> Vec<Effect> {
    match (model.overlays.pop(), done) {
        (Some(Overlay::Palette(_)), OverlayResult::Run(command)) => on_command(model, command),
        (Some(Overlay::Prompt(_, PromptFor::Filter)), OverlayResult::Typed(text)) => {
            model.queries.filter = text;
            model.queries.cursor = 0;
            Vec::new()
        }
        (Some(Overlay::Prompt(_, PromptFor::QueueFilter)), OverlayResult::Typed(text)) => {
            model.queue.filter = text;
            model.queue.cursor = 0;
            Vec::new()
        }
        (Some(Overlay::Prompt(_, PromptFor::AdjudicationFilter)), OverlayResult::Typed(text)) => {
            model.adjudication.filter = text;
            model.adjudication.cursor = 0;
            Vec::new()
        }
        (Some(Overlay::Prompt(_, PromptFor::RulingReason)), OverlayResult::Typed(text)) => {
            screens::ruling::note(model, &text)
        }
        (Some(Overlay::Prompt(_, PromptFor::ReviewReason)), OverlayResult::Typed(text)) => {
            screens::review::note(model, &text)
        }
        (Some(Overlay::Prompt(_, PromptFor::FindDocument)), OverlayResult::Typed(text)) => {
            find(model, &text)
        }
        (Some(Overlay::Prompt(_, PromptFor::Reason)), OverlayResult::Typed(text)) => {
            screens::battle::explain(model, text)
        }
        (Some(Overlay::Confirm(_, ConfirmFor::Quit)), _) => quit(model),
        (Some(Overlay::Prompt(_, PromptFor::Budget)), OverlayResult::Typed(text)) => {
            screens::run::set_budget(model, &text)
        }
        (Some(Overlay::Confirm(_, ConfirmFor::Start)), _) => screens::run::begin(model),
        (Some(Overlay::Confirm(_, ConfirmFor::Stop)), _) => {
            model.control.cancelled = true;
            vec![Effect::Steer(model.control)]
        }
        _ => Vec::new(),
    }
}

/// Goes to the first document after the present one whose identifier or title holds the words.
fn find(model: &mut Model, text: &str) -> Vec<Effect> {
    let order = model.matrix_order();
    let Some(open) = &model.open else {
        return Vec::new();
    };
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
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
            let name =
                format!("{} {}", open.name(document), open.headline(document)).to_lowercase();
            words.iter().all(|word| name.contains(word))
        });
    match (found, model.screen()) {
        (None, _) => {
            model.say(
                Level::Info,
                format!("no document has “{text}” in its id or title"),
            );
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
pub(super) fn live_filter(model: &mut Model) {
    if let Some(Overlay::Prompt(prompt, PromptFor::Filter)) = model.overlays.last() {
        model.queries.filter = prompt.text().to_owned();
        model.queries.cursor = 0;
    } else if let Some(Overlay::Prompt(prompt, PromptFor::QueueFilter)) = model.overlays.last() {
        model.queue.filter = prompt.text().to_owned();
        model.queue.cursor = 0;
    } else if let Some(Overlay::Prompt(prompt, PromptFor::AdjudicationFilter)) =
        model.overlays.last()
    {
        model.adjudication.filter = prompt.text().to_owned();
        model.adjudication.cursor = 0;
    }
}
