//! Navigating the matrix, its layers and its orders.

use super::{numbers, view};
use crate::domain::ranking::DocumentOrder;
use crate::tui::keymap::Command;
use crate::tui::message::Effect;
use crate::tui::model::matrix::Layer;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::model::{Model, Overlay};
use crate::tui::navigation;
use crate::tui::screens::behavior::Click;
use crate::tui::screens::run;
use crate::tui::widgets::heatmap::{HeatmapState, Zoom};
use crate::tui::widgets::page::Page;

pub(super) fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    let page = model.areas.page.max(1) as isize;
    let Some(open) = &model.open else {
        return Vec::new();
    };
    let (row, column) = model.matrix.cursor;
    match command {
        Command::Down
        | Command::Up
        | Command::Left
        | Command::Right
        | Command::PageDown
        | Command::PageUp
        | Command::First
        | Command::Last => model.move_in_matrix(|heat, count| step(heat, command, page, count)),
        Command::FlipOrder => {
            model.matrix.order = match model.matrix.order {
                DocumentOrder::Hybrid => DocumentOrder::Zelo,
                DocumentOrder::Zelo => DocumentOrder::Hybrid,
            };
        }
        Command::NextLayer => model.matrix.layer = next_layer(model.matrix.layer, open, true),
        Command::PreviousLayer => model.matrix.layer = next_layer(model.matrix.layer, open, false),
        Command::NextJudgeLayer => {
            let index = match model.matrix.layer {
                Layer::Judge(index) => (index + 1) % open.judges.len().max(1),
                _ => 0,
            };
            model.matrix.layer = Layer::Judge(index);
        }
        Command::Zoom => {
            let shown = model.areas.heatmap.map(|shown| shown.zoom);
            model.matrix.zoom = next_zoom(model.matrix.zoom, shown);
        }
        Command::StartRun => {
            let key = open.info.key;
            return run::update::start(model, Some(key));
        }
        Command::ShowTables => {
            let page = Page::new("What the numbers rest on", &numbers::text_of(open));
            model.overlays.push(Overlay::Page(page));
        }
        Command::ToggleExpectations => model.matrix.votes_only = !model.matrix.votes_only,
        Command::ToggleTitles => model.matrix.ids = !model.matrix.ids,
        Command::NextSurprise | Command::PreviousSurprise => {
            jump(model, command == Command::NextSurprise);
        }
        _ if row.max(column) >= open.documents.len() => {}
        Command::Open if row != column => return model.open_battle(row, column),
        Command::Open | Command::RowDocument => return model.open_document(row),
        Command::ColumnDocument => return model.open_document(column),
        _ => {}
    }
    Vec::new()
}

/// Moves the cursor within a matrix of `count` documents.
fn step(heat: &mut HeatmapState, command: Command, page: isize, count: usize) {
    let column = heat.cursor.1;
    match command {
        Command::Down => heat.move_by(0, 1, count),
        Command::Up => heat.move_by(0, -1, count),
        Command::Left => heat.move_by(-1, 0, count),
        Command::Right => heat.move_by(1, 0, count),
        Command::PageDown => heat.move_by(0, page, count),
        Command::PageUp => heat.move_by(0, -page, count),
        Command::First => heat.move_to(0, column, count),
        _ => heat.move_to(count.saturating_sub(1), column, count),
    }
}

fn next_layer(layer: Layer, open: &OpenQuery, forward: bool) -> Layer {
    let mut layers = vec![Layer::Observed, Layer::Fitted, Layer::Residual];
    if !open.view.answers_in_fit().is_empty() {
        layers.push(Layer::Answers);
    }
    layers.extend((0..open.judges.len()).map(Layer::Judge));
    layers.extend((0..open.students.len()).map(Layer::Student));
    layers.push(Layer::Verdicts);
    navigation::cycled(&layers, layer, forward)
}

/// Moves the cursor to the first battle in the first row, so that there is something to read
/// initially.
pub(crate) fn look_at_first(model: &mut Model) {
    let order = model.matrix_order();
    let Some(open) = &model.open else {
        return;
    };
    let fought = |column: &usize| {
        order.first().is_some_and(|row| {
            let cell = open.view.cell(*row, order[*column]);
            cell.planned || cell.answers.is_some()
        })
    };
    let second = usize::from(order.len() > 1);
    let column = (1..order.len()).find(fought).unwrap_or(second);
    model.move_in_matrix(|heat, count| heat.move_to(0, column, count));
}

/// Zooms in step by step, and from the closest level back to the one that fits.
fn next_zoom(zoom: Option<Zoom>, shown: Option<Zoom>) -> Option<Zoom> {
    match (zoom, shown) {
        (Some(Zoom::Huge), _) | (None, Some(Zoom::Huge)) => {
            zoom.map_or(Some(Zoom::Overview), |_| None)
        }
        (_, Some(shown)) => Some(shown.closer()),
        (zoom, None) => zoom,
    }
}

/// Moves the cursor through the pairs, most surprising first. The description of the cell says the
/// position in that order.
fn jump(model: &mut Model, forward: bool) {
    let Some(open) = &model.open else {
        return;
    };
    let surprising = open.view.most_surprising();
    let count = surprising.len();
    if count == 0 {
        model.inform("no battle has a surprise yet");
        return;
    }
    let next = match (model.matrix.surprise, forward) {
        (None, _) => 0,
        (Some(at), true) => (at + 1) % count,
        (Some(at), false) => (at + count - 1) % count,
    };
    if let Some(battle) = open.battle(surprising[next]) {
        model.matrix.surprise = Some(next);
        model.look_at(battle.a, battle.b);
    }
}

/// Surprises and expectations need a fit, and therefore votes. A run is available if votes are
/// missing.
pub(super) fn offers(model: &Model, command: Command) -> bool {
    let open = model.open.as_ref();
    match command {
        Command::NextSurprise | Command::PreviousSurprise => open.is_some_and(|open| {
            open.view
                .battles
                .iter()
                .any(|battle| battle.surprise.is_some())
        }),
        Command::ToggleExpectations => open.is_some_and(view::scored),
        Command::StartRun => {
            let idle = !model.run.running || model.run.control.paused;
            let left = |open: &OpenQuery| {
                let mut battles = open.view.battles.iter();
                open.view.battles.is_empty() || battles.any(|battle| battle.missing > 0)
            };
            idle && open.is_some_and(left)
        }
        _ => true,
    }
}

pub(super) fn click(model: &mut Model, column: u16, row: u16) -> Click {
    let shown = model.areas.heatmap;
    if let Some((row, column)) = shown.and_then(|shown| shown.at(column, row)) {
        if model.heat().cursor == (row, column) {
            return Click::Open;
        }
        model.move_in_matrix(|heat, count| heat.move_to(row, column, count));
    }
    Click::Moved
}
