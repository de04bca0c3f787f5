//! Moves through the cycles.

use crate::domain::battle::Pair;
use crate::tui::keymap::Command;
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::navigation::moved;
use crate::tui::requests;
use crate::tui::screens::cycles::state::{CyclesState, rows};
use crate::tui::screens::{Screen, run};

pub(crate) fn show(model: &mut Model) -> Vec<Effect> {
    *model.cycles_mut() = CyclesState::default();
    model.stack.push(Screen::CYCLES);
    load(model)
}

pub(super) fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    let Some(open) = &model.open else {
        return Vec::new();
    };
    if command == Command::StartRun && open.is_unjudged() {
        let query = open.info.key;
        return run::update::start(model, Some(query));
    }
    let rows = rows(open);
    let cursor = model.cycles().place(&rows);
    if command == Command::Open
        && let Some(row) = rows.get(cursor)
    {
        let (winner, loser) = row.weakest();
        model.cycles_mut().choose(cursor, &rows);
        return model.open_battle(winner, loser);
    }
    let to = moved(cursor, command, rows.len(), model.areas.page);
    model.cycles_mut().choose(to, &rows);
    load(model)
}

/// If there is a cycle, its battles can be opened and its orders explained.
pub(super) fn offers(model: &Model, command: Command) -> bool {
    if command == Command::StartRun {
        return model.open.as_ref().is_some_and(OpenQuery::is_unjudged);
    }
    let none = || model.open.as_ref().is_none_or(|open| rows(open).is_empty());
    !(matches!(command, Command::Open | Command::ExplainOrder) && none())
}

fn load(model: &Model) -> Vec<Effect> {
    let Some(open) = &model.open else {
        return Vec::new();
    };
    let rows = rows(open);
    let Some(row) = rows.get(model.cycles().place(&rows)) else {
        return Vec::new();
    };
    let battles: Vec<usize> = row
        .edges
        .iter()
        .filter_map(|edge| Pair::new(edge.winner, edge.loser))
        .flat_map(|pair| open.view.battles_of(pair).to_vec())
        .collect();
    requests::missing(open, &row.triad.documents, &battles)
}
