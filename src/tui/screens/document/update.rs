//! Moves through a document's battles and through the documents.

use crate::domain::battle::Pair;
use crate::tui::keymap::Command;
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::navigation::{cycled, moved, neighbor, scrolled};
use crate::tui::requests;
use crate::tui::screens::battle::copy::reasoning_on;
use crate::tui::screens::behavior::Copied;
use crate::tui::screens::document::copy;
use crate::tui::screens::document::state::{BattleSort, DocumentState, opponent};
use crate::tui::screens::{Screen, run};
use crate::tui::widgets::document_text::PreparedText;
use std::sync::Arc;

/// Number of battles whose votes are requested on entry, so that moving through them does not wait.
const AHEAD: usize = 32;

pub(super) fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    let scrolls = model.document().expanded || model.document().reading;
    match command {
        Command::StartRun if offers(model, command) => {
            let query = model.open.as_ref().map(|open| open.info.key);
            return run::update::start(model, query);
        }
        Command::Open => return open_battle(model),
        Command::SortBattles => sort(model),
        Command::NextDocument => return turn(model, true),
        Command::PreviousDocument => return turn(model, false),
        Command::ExpandReasoning => {
            model.document_mut().expanded = !model.document().expanded;
            model.document_mut().scroll = None;
        }
        Command::NextPane | Command::PreviousPane if !model.document().expanded => {
            model.document_mut().reading = !model.document().reading;
        }
        Command::Left | Command::Right if model.document().expanded => {
            model.document_mut().scroll = None;
            let step = match command {
                Command::Left => Command::Up,
                _ => Command::Down,
            };
            return walk(model, step);
        }
        _ if scrolls => {
            let (lines, page) = (model.areas.lines, model.areas.page);
            let first = model.document().scroll.unwrap_or(model.areas.text_first);
            model.document_mut().scroll = Some(scrolled(first, command, lines, page));
        }
        _ => return walk(model, command),
    }
    Vec::new()
}

/// The text, once it is loaded.
pub(super) fn texts(model: &Model) -> Vec<Option<Arc<PreparedText>>> {
    let text = model.open.as_ref().and_then(|open| {
        let source = open.texts.get(&model.document().document)?;
        Some(model.layouts.prepared(source, &open.info.text))
    });
    vec![text]
}

/// Scrolls the text to the search match and gives it the focus.
pub(super) fn reveal(model: &mut Model, _: usize) {
    let screen = model.document_mut();
    (screen.expanded, screen.reading, screen.scroll) = (false, true, None);
}

fn walk(model: &mut Model, command: Command) -> Vec<Effect> {
    let battles = model.document_battles();
    let to = moved(
        model.document_cursor(),
        command,
        battles.len(),
        model.areas.page,
    );
    model.choose_battle(battles.get(to).copied());
    load_from(model, 1)
}

fn open_battle(model: &mut Model) -> Vec<Effect> {
    let index = model
        .document_battles()
        .get(model.document_cursor())
        .copied();
    model.choose_battle(index);
    let battle = index.and_then(|index| model.open.as_ref()?.battle(index));
    let own = model.document().document;
    let other = battle.and_then(|battle| Pair::new(battle.a, battle.b)?.other(own));
    other.map_or(Vec::new(), |other| model.open_battle(own, other))
}

/// Switches to the next sort order, keeping the cursor on its battle.
fn sort(model: &mut Model) {
    let chosen = model
        .document_battles()
        .get(model.document_cursor())
        .copied();
    model.choose_battle(chosen);
    model.document_mut().sort = cycled(&BattleSort::ALL, model.document().sort, true);
}

/// Goes to the next document by score.
fn turn(model: &mut Model, forward: bool) -> Vec<Effect> {
    let Some(open) = &model.open else {
        return Vec::new();
    };
    let order = &open.view.by_zelo;
    let at = order
        .iter()
        .position(|document| *document == model.document().document)
        .unwrap_or(0);
    let Some(next) = neighbor(at, forward, order.len()) else {
        return Vec::new();
    };
    *model.document_mut() = DocumentState {
        document: order[next],
        sort: model.document().sort,
        expanded: model.document().expanded,
        reading: model.document().reading,
        ..DocumentState::default()
    };
    load(model)
}

pub(crate) fn load(model: &mut Model) -> Vec<Effect> {
    load_from(model, AHEAD)
}

/// Effects that load missing data: this document's text, the text of the opponent under the cursor,
/// and the votes of the next `ahead` battles from the cursor on.
fn load_from(model: &Model, ahead: usize) -> Vec<Effect> {
    let Some(open) = &model.open else {
        return Vec::new();
    };
    let shown = model.document_battles();
    let cursor = model.document_cursor();
    let mut documents = vec![model.document().document];
    documents.extend(
        shown
            .get(cursor)
            .and_then(|index| opponent(open, *index, model.document().document)),
    );
    let (before, after) = shown.split_at(cursor);
    let battles: Vec<usize> = after.iter().chain(before).copied().take(ahead).collect();
    requests::missing(open, &documents, &battles)
}

pub(crate) fn open_document(model: &mut Model, document: usize) -> Vec<Effect> {
    let same = model.document().document == document;
    *model.document_mut() = DocumentState {
        document,
        chosen: model.document().chosen.filter(|_| same),
        sort: model.document().sort,
        ..DocumentState::default()
    };
    model.stack.push(Screen::DOCUMENT);
    load(model)
}

/// A run can be started as long as nothing is judged.
pub(super) fn offers(model: &Model, command: Command) -> bool {
    command != Command::StartRun || model.open.as_ref().is_some_and(OpenQuery::is_unjudged)
}

/// The reasoning if it is shown in full; otherwise the table of battles.
pub(super) fn copy(model: &Model) -> Copied {
    let Some(open) = &model.open else {
        return Copied::Nothing;
    };
    let battles = model.document_battles();
    let document = model.document().document;
    let other = battles
        .get(model.document_cursor())
        .and_then(|index| opponent(open, *index, document));
    match other {
        Some(other) if model.document().expanded => reasoning_on(open, (document, other), 0),
        _ => Copied::Table(copy::table(model, open)),
    }
}
