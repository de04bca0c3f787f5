//! Moves through list calls and their documents, and opens the battle of two of them.

use super::commands;
use super::state::{Focus, ListsState};
use crate::features::lists::app::QueryList;
use crate::store::corpus::QueryKey;
use crate::tui::keymap::{Command, key_on};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::navigation::{moved, neighbor, scrolled};
use crate::tui::requests;
use crate::tui::screens::Screen;
use crate::tui::widgets::document_text::PreparedText;
use std::sync::Arc;

/// Opens the list calls of the open query: the first one about the documents on screen.
pub(super) fn show(model: &mut Model) -> Vec<Effect> {
    if model.screen() == Screen::LISTS {
        return Vec::new();
    }
    let wanted = match (model.screen(), model.pair_on_screen()) {
        (Screen::DOCUMENT, _) => vec![model.document().document],
        (_, Some((a, b))) if a == b => vec![a],
        (_, Some((a, b))) => vec![a, b],
        (_, None) => Vec::new(),
    };
    *model.lists_mut() = ListsState::of(wanted);
    model.stack.push(Screen::LISTS);
    model.read_lists()
}

/// The lists of a query were read, or could not be.
pub(super) fn found(
    model: &mut Model,
    query: QueryKey,
    found: Result<Vec<QueryList>, String>,
) -> Vec<Effect> {
    let is_found = model.lists_mut().show(query, found);
    if !is_found && model.lists().count() > 0 {
        model.inform("no list call shows what you came from; this is the first one");
    }
    load(model)
}

/// Loads the texts of the list under the cursor.
fn load(model: &Model) -> Vec<Effect> {
    let (Some(open), Some(list)) = (&model.open, model.lists().chosen()) else {
        return Vec::new();
    };
    let documents: Vec<usize> = list.documents.iter().flatten().copied().collect();
    requests::missing(open, &documents, &[])
}

/// Whether a command does something now.
pub(super) fn offers(model: &Model, command: Command) -> bool {
    match command {
        Command::Open | Command::ExplainOrder => model.lists().pair().is_some(),
        commands::MARK_DOCUMENT | Command::Left | Command::Right | Command::NextPane => {
            model.lists().chosen().is_some()
        }
        _ => true,
    }
}

pub(super) fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    match command {
        Command::Open => return open_battle(model),
        commands::MARK_DOCUMENT => {
            let state = model.lists_mut();
            let at = state.column;
            state.marked = Some(at).filter(|at| state.marked != Some(*at));
        }
        Command::NextPane => model.lists_mut().turn(true),
        Command::PreviousPane => model.lists_mut().turn(false),
        Command::Left | Command::Right => {
            let state = model.lists_mut();
            let count = state.chosen().map_or(0, |list| list.documents.len());
            let next = neighbor(state.column, command == Command::Right, count);
            state.column = next.unwrap_or(state.column);
        }
        _ => return move_in(model, model.lists().focus, command),
    }
    Vec::new()
}

/// Moves in a part of the screen.
fn move_in(model: &mut Model, focus: Focus, command: Command) -> Vec<Effect> {
    let (lines, page, first) = (model.areas.lines, model.areas.page, model.areas.text_first);
    let (reply, reply_page) = model.areas.aside;
    let table = usize::from(model.areas.list.height);
    let state = model.lists_mut();
    match focus {
        Focus::Lists => {
            let to = moved(state.cursor(), command, state.count(), table);
            if to != state.cursor() {
                state.choose(to);
                return load(model);
            }
        }
        Focus::Texts => {
            let place = state.column;
            let from = state.scroll(place).unwrap_or(first);
            state.scroll_to(place, Some(scrolled(from, command, lines, page)));
        }
        Focus::Reply => {
            state.reply_scroll = scrolled(state.reply_scroll, command, reply, reply_page);
        }
    }
    Vec::new()
}

pub(super) fn scroll_pane(model: &mut Model, pane: usize, command: Command) -> Vec<Effect> {
    let focus = Focus::ALL.get(pane).copied().unwrap_or_default();
    move_in(model, focus, command)
}

pub(super) fn focus_pane(model: &mut Model, pane: usize) {
    model.lists_mut().focus = Focus::ALL.get(pane).copied().unwrap_or_default();
}

/// Opens the battle of the marked document and the one under the cursor, where the person can
/// overrule the list.
fn open_battle(model: &mut Model) -> Vec<Effect> {
    let Some((a, b)) = model.lists().pair() else {
        if model.lists().chosen().is_some() {
            let mark = key_on(commands::MARK_DOCUMENT, Screen::LISTS);
            let words = format!("choose two documents: {mark} marks one, then go to the other one");
            model.inform(&words);
        }
        return Vec::new();
    };
    model.open_battle(a, b)
}

/// The texts of the list under the cursor, by place.
pub(super) fn texts(model: &Model) -> Vec<Option<Arc<PreparedText>>> {
    let (Some(open), Some(list)) = (&model.open, model.lists().chosen()) else {
        return Vec::new();
    };
    let text = |document: &Option<usize>| {
        let source = open.texts.get(document.as_ref()?)?;
        Some(model.layouts.prepared(source, &open.info.text))
    };
    list.documents.iter().map(text).collect()
}
