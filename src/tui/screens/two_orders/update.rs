//! Opens the two orders and moves the cursor that both matrices share.

use super::layout::Panes;
use super::list::ListRow;
use super::state::{TwoOrdersState, comparison, is_scored};
use crate::domain::ranking::DocumentOrder;
use crate::tui::clipboard::{ClipboardTable, number};
use crate::tui::keymap::Command;
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::navigation::moved;
use crate::tui::screens::Screen;
use crate::tui::screens::behavior::{Click, Copied};
use crate::tui::screens::run;

pub(crate) fn show(model: &mut Model) -> Vec<Effect> {
    if model.open.is_none() {
        model.inform("open a query first");
        return Vec::new();
    }
    if let Some((row, column)) = model.pair_on_screen() {
        model.look_at(row, column);
    }
    *model.two_orders_mut() = TwoOrdersState::default();
    model.stack.push(Screen::TWO_ORDERS);
    Vec::new()
}

pub(super) fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    let Some(open) = &model.open else {
        return Vec::new();
    };
    let order = open.view.order(model.two_orders().order);
    let (row, column) = model.matrix.cursor;
    let place = |document: usize| order.iter().position(|at| *at == document).unwrap_or(0);
    let page = model.areas.page;
    let go = |from: usize, command: Command| {
        let to = moved(place(from), command, order.len(), page);
        order.get(to).copied().unwrap_or(from)
    };
    match command {
        Command::Open if row == column => return model.open_document(row),
        Command::Open => return model.open_battle(row, column),
        Command::RowDocument => return model.open_document(row),
        Command::ColumnDocument => return model.open_document(column),
        Command::StartRun => {
            let key = open.info.key;
            return run::update::start(model, Some(key));
        }
        Command::FlipOrder => {
            let state = model.two_orders_mut();
            state.order = match state.order {
                DocumentOrder::Hybrid => DocumentOrder::Zelo,
                DocumentOrder::Zelo => DocumentOrder::Hybrid,
            };
        }
        Command::NextPane | Command::PreviousPane => {
            let state = model.two_orders_mut();
            state.shows_matrix = !state.shows_matrix;
        }
        Command::Left => model.look_at(row, go(column, Command::Up)),
        Command::Right => model.look_at(row, go(column, Command::Down)),
        command => model.look_at(go(row, command), column),
    }
    Vec::new()
}

/// A run is offered while there are no scores, and the other pane where only one is visible.
pub(super) fn offers(model: &Model, command: Command) -> bool {
    let scored = || model.open.as_ref().is_some_and(is_scored);
    match command {
        Command::StartRun => {
            let idle = !model.run.running || model.run.control.paused;
            idle && model.open.is_some() && !scored()
        }
        Command::Open | Command::FlipOrder | Command::ExplainOrder => scored(),
        Command::NextPane => scored() && Panes::is_narrow(model.size.0),
        _ => true,
    }
}

/// The table as tab-separated values.
pub(super) fn copy(model: &Model) -> Copied {
    let Some((open, compared)) = model
        .open
        .as_ref()
        .and_then(|open| Some((open, comparison(open)?)))
    else {
        return Copied::Nothing;
    };
    let rows = compared.changes.iter().map(|change| {
        let standing = change.standing;
        [
            standing.rank.to_string(),
            change.hybrid.to_string(),
            open.name(change.document),
            number(Some(standing.zelo), 4),
            number(standing.se, 4),
        ]
    });
    let columns = ["rank", "hybrid_rank", "document", "zelo", "standard_error"];
    Copied::Table(ClipboardTable::new("document", columns, rows))
}

pub(super) fn click(model: &mut Model, column: u16, row: u16) -> Click {
    let Some(open) = &model.open else {
        return Click::Moved;
    };
    let before = model.matrix.cursor;
    let order = open.view.order(model.two_orders().order);
    let list = model.areas.list;
    let pair = if list.contains((column, row).into()) {
        let at = model.areas.first + usize::from(row - list.y);
        let rows = comparison(open)
            .map(|compared| ListRow::all(open, &compared, model.two_orders().order));
        match rows.as_deref().and_then(|rows| rows.get(at)) {
            Some(ListRow::Document(document)) => Some((*document, before.1)),
            _ => None,
        }
    } else {
        model
            .areas
            .heatmap
            .and_then(|shown| shown.at(column, row))
            .and_then(|(row, column)| Some((*order.get(row)?, *order.get(column)?)))
    };
    match pair {
        Some(pair) if pair == before => return Click::Open,
        Some((row, column)) => model.look_at(row, column),
        None => {}
    }
    Click::Moved
}
