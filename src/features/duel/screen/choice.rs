//! Choosing documents and lists.

use super::commands;
use super::moving::go;
use super::record::record;
use crate::domain::corpus::DocId;
use crate::features::duel::domain::{Action, DuelForm, Passage};
use crate::tui::keymap::{Command, key_on};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::widgets::Choice;

pub(super) const PREFERENCES: Choice<i8> = Choice(&[
    (commands::PREFER_LEFT_STRONGLY, -2),
    (commands::PREFER_LEFT, -1),
    (commands::PREFER_NEITHER, 0),
    (commands::PREFER_RIGHT, 1),
    (commands::PREFER_RIGHT_STRONGLY, 2),
]);

pub(super) fn preference_words(step: i8) -> &'static str {
    match step {
        ..=-2 => "left by far",
        -1 => "left better",
        0 => "equal",
        1 => "right better",
        2.. => "right by far",
    }
}

/// Chooses a document, or another passage of it; an identical choice is not stored again.
pub(crate) fn select(
    model: &mut Model,
    document: Option<DocId>,
    passage: Option<Passage>,
) -> Vec<Effect> {
    let open = model.duel().open();
    let chosen = open.and_then(|open| open.choice(&document));
    if chosen.is_some_and(|choice| choice.passage == passage) {
        let remove = key_on(commands::REMOVE_CHOICE, Screen::DUEL);
        model.inform(&format!("this is your choice already; {remove} removes it"));
        return Vec::new();
    }
    record(model, Action::Select { document, passage })
}

/// Removes the choice of a document.
pub(crate) fn remove(model: &mut Model, document: Option<DocId>) -> Vec<Effect> {
    let open = model.duel().open();
    if open.is_none_or(|open| open.choice(&document).is_none()) {
        model.inform("this document is not chosen");
        return Vec::new();
    }
    record(model, Action::Unselect { document })
}

/// Chooses the whole document under the cursor.
pub(super) fn choose_whole(model: &mut Model) -> Vec<Effect> {
    match under_cursor(model) {
        Some(document) => select(model, document, None),
        None => Vec::new(),
    }
}

pub(super) fn remove_choice(model: &mut Model) -> Vec<Effect> {
    match under_cursor(model) {
        Some(document) => remove(model, document),
        None => Vec::new(),
    }
}

fn under_cursor(model: &Model) -> Option<Option<DocId>> {
    let card = model.duel().open()?.card()?;
    Some(card.document.clone())
}

pub(super) fn none_serves(model: &mut Model) -> Vec<Effect> {
    let answer = model.duel().open().and_then(|open| open.answer());
    if answer.is_some_and(|answer| answer.none_serves) {
        model.inform("this is your answer already");
        return Vec::new();
    }
    record(model, Action::NoneServes)
}

pub(super) fn prefer(model: &mut Model, step: i8) -> Vec<Effect> {
    let answer = model.duel().open().and_then(|open| open.answer());
    if answer.is_some_and(|answer| answer.preference == Some(step)) {
        model.inform("this is your answer already");
        return Vec::new();
    }
    record(model, Action::Prefer { step })
}

/// Marks the task as done and goes to the next unfinished one.
pub(super) fn finish(model: &mut Model) -> Vec<Effect> {
    let Some(open) = model.duel().open() else {
        return Vec::new();
    };
    if !open.is_answered() {
        let none = key_on(commands::NONE_SERVES, Screen::DUEL);
        let words = match open.form() {
            DuelForm::Lists => "first say which list is better".to_owned(),
            DuelForm::Grid | DuelForm::Interleaved => {
                format!("choose a document first, or press {none} if none serves the query")
            }
        };
        model.inform(&words);
        return Vec::new();
    }
    let finished = open.answer().is_some_and(|answer| answer.finished);
    let next = open.next_undone();
    let mut effects = if finished {
        Vec::new()
    } else {
        record(model, Action::Finish)
    };
    match next {
        Some(next) => effects.extend(go(model, next)),
        None => {
            let result = key_on(Command::ShowTables, Screen::DUEL);
            model.inform(&format!(
                "that was the last task; press {result} to see the result"
            ));
        }
    }
    effects
}
