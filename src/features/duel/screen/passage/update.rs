//! Marking a passage, and choosing the document with the passage or as a whole.

use super::view::byte_at;
use crate::features::duel::domain::DuelForm;
use crate::features::duel::screen as duel;
use crate::features::duel::screen::commands;
use crate::features::duel::screen::state::Reading;
use crate::tui::keymap::binding::Binding;
use crate::tui::keymap::{Command, Scope};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::screens::behavior::Click;

fn reading(model: &mut Model) -> Option<&mut Reading> {
    model.duel_mut().open_mut()?.reading.as_mut()
}

/// Two lists are compared as a whole: their texts can be read, but nothing in them is chosen.
fn only_read(model: &Model) -> bool {
    let open = model.duel().open();
    open.is_none_or(|open| open.form() == DuelForm::Lists)
}

/// Why nothing can be chosen now.
pub(super) fn obstacle(model: &Model) -> Option<&'static str> {
    let open = model.duel().open();
    if open.is_none_or(|open| open.reading.is_none()) {
        return Some("no text is open");
    }
    if only_read(model) {
        return Some("the lists are compared as a whole; go back to them to answer");
    }
    duel::update::obstacle(model)
}

pub(super) fn offers(model: &Model, command: Command) -> bool {
    let Some(open) = model.duel().open() else {
        return false;
    };
    let Some(reading) = &open.reading else {
        return false;
    };
    if open.paused {
        let own = |binding: &Binding| binding.command == command;
        let others = !Scope::Screen(Screen::PASSAGE).own().iter().any(own);
        return others || command == commands::PAUSE_TASK;
    }
    let chosen = open.choice(&reading.document);
    let marking = !only_read(model);
    match command {
        Command::Open => marking && !reading.is_empty(),
        commands::CHOOSE_WHOLE => marking && chosen.is_none_or(|chosen| chosen.passage.is_some()),
        commands::REMOVE_CHOICE => marking && chosen.is_some(),
        Command::Left
        | Command::Right
        | commands::MORE_SENTENCES
        | commands::FEWER_SENTENCES
        | commands::EARLIER_START
        | commands::LATER_START => marking && !reading.is_empty(),
        _ => true,
    }
}

pub(super) fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    if command == commands::PAUSE_TASK {
        return duel::update::pause(model);
    }
    if model.duel().open().is_none_or(|open| open.paused) {
        return Vec::new();
    }
    match command {
        Command::Open => return choose(model, true),
        commands::CHOOSE_WHOLE => return choose(model, false),
        commands::REMOVE_CHOICE => {
            let document = reading(model).map(|reading| reading.document.clone());
            let Some(document) = document else {
                return Vec::new();
            };
            let effects = duel::choice::remove(model, document);
            return shut(model, effects);
        }
        Command::Guideline => return model.read_guideline(),
        _ => {}
    }
    let Some(reading) = reading(model) else {
        return Vec::new();
    };
    match command {
        Command::Down => reading.step(true),
        Command::Up => reading.step(false),
        Command::PageDown => reading.page(true),
        Command::PageUp => reading.page(false),
        Command::First => reading.edge(false),
        Command::Last => reading.edge(true),
        Command::Right => reading.word(true),
        Command::Left => reading.word(false),
        commands::MORE_SENTENCES => reading.sentence(true),
        commands::FEWER_SENTENCES => reading.sentence(false),
        commands::EARLIER_START => reading.start(true),
        commands::LATER_START => reading.start(false),
        _ => {}
    }
    Vec::new()
}

/// Chooses the document, with the marked passage or as a whole, and returns to the other documents.
fn choose(model: &mut Model, marked: bool) -> Vec<Effect> {
    let Some(reading) = reading(model) else {
        return Vec::new();
    };
    let passage = reading.passage().filter(|_| marked);
    if marked && passage.is_none() {
        model.inform("this document has no text to mark");
        return Vec::new();
    }
    let document = reading.document.clone();
    let effects = duel::choice::select(model, document, passage);
    shut(model, effects)
}

/// Closes the text after a decision; without one, the text stays open.
fn shut(model: &mut Model, effects: Vec<Effect>) -> Vec<Effect> {
    if !effects.is_empty() {
        if let Some(open) = model.duel_mut().open_mut() {
            open.reading = None;
        }
        model.stack.retain(|screen| *screen != Screen::PASSAGE);
    }
    effects
}

/// The text is closed without a choice.
pub(super) fn leave(model: &mut Model) -> Vec<Effect> {
    match model.screen() {
        Screen::PASSAGE => duel::moving::close_text(model),
        _ => Vec::new(),
    }
}

pub(super) fn closed(model: &mut Model) {
    if let Some(open) = model.duel_mut().open_mut() {
        open.reading = None;
    }
}

/// A click marks the sentence under it.
pub(super) fn click(model: &mut Model, column: u16, row: u16) -> Click {
    if let Some(byte) = byte_at(model, (column, row))
        && let Some(reading) = reading(model)
    {
        reading.point(byte);
    }
    Click::Moved
}

/// Dragging extends the mark to the sentence under the pointer.
pub(super) fn drag(model: &mut Model, column: u16, row: u16) {
    if let Some(byte) = byte_at(model, (column, row))
        && let Some(reading) = reading(model)
    {
        reading.stretch(byte);
    }
}
