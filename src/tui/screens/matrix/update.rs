//! Navigating the matrix, its layers and its orders.

use super::{numbers, view};
use crate::domain::ranking::DocumentOrder;
use crate::tui::keymap::Command;
use crate::tui::message::Effect;
use crate::tui::model::matrix::{Layer, MatrixState};
use crate::tui::model::open_query::OpenQuery;
use crate::tui::model::{Model, Overlay};
use crate::tui::navigation;
use crate::tui::screens::behavior::{Click, Copied};
use crate::tui::screens::run;
use crate::tui::widgets::heatmap::Zoom;
use crate::tui::widgets::page::Page;

pub(super) fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    let order = model.matrix_order();
    let count = order.len();
    let page = model.areas.page.max(1) as isize;
    let Some(open) = &model.open else {
        return Vec::new();
    };
    let heat = &mut model.matrix.heat;
    let (row, column) = heat.cursor;
    match command {
        Command::Down => heat.move_by(0, 1, count),
        Command::Up => heat.move_by(0, -1, count),
        Command::Left => heat.move_by(-1, 0, count),
        Command::Right => heat.move_by(1, 0, count),
        Command::PageDown => heat.move_by(0, page, count),
        Command::PageUp => heat.move_by(0, -page, count),
        Command::First => heat.move_to(0, column, count),
        Command::Last => heat.move_to(count.saturating_sub(1), column, count),
        Command::FlipOrder => flip(&mut model.matrix, open, &order),
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
            heat.zoom = next_zoom(heat.zoom, model.areas.heatmap.map(|shown| shown.zoom))
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
        Command::Open => {
            if let (Some(row), Some(column)) = (order.get(row).copied(), order.get(column).copied())
            {
                if row == column {
                    return model.open_document(row);
                }
                return model.open_battle(row, column);
            }
        }
        Command::RowDocument => {
            if let Some(document) = order.get(row) {
                return model.open_document(*document);
            }
        }
        Command::ColumnDocument => {
            if let Some(document) = order.get(column) {
                return model.open_document(*document);
            }
        }
        _ => {}
    }
    Vec::new()
}

/// Reverses the order, keeping the cursor on the same pair of documents.
fn flip(matrix: &mut MatrixState, open: &OpenQuery, order: &[usize]) {
    matrix.order = match matrix.order {
        DocumentOrder::Hybrid => DocumentOrder::Zelo,
        DocumentOrder::Zelo => DocumentOrder::Hybrid,
    };
    follow(matrix, open, order);
}

/// Keeps the cursor on the pair that it was on in the order `before`.
pub(crate) fn follow(matrix: &mut MatrixState, open: &OpenQuery, before: &[usize]) {
    let (row, column) = matrix.heat.cursor;
    let pair = (before.get(row).copied(), before.get(column).copied());
    let order = open.view.order(matrix.order);
    let place = |document: Option<usize>| {
        order
            .iter()
            .position(|at| Some(*at) == document)
            .unwrap_or(0)
    };
    matrix
        .heat
        .move_to(place(pair.0), place(pair.1), order.len());
}

fn next_layer(layer: Layer, open: &OpenQuery, forward: bool) -> Layer {
    let mut layers = vec![Layer::Observed, Layer::Fitted, Layer::Residual];
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
        order
            .first()
            .is_some_and(|row| open.view.cell(*row, order[*column]).planned)
    };
    let second = usize::from(order.len() > 1);
    let column = (1..order.len()).find(fought).unwrap_or(second);
    model.matrix.heat.move_to(0, column, order.len());
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

/// Moves the cursor through the pairs, most surprising first, and reports the position in that
/// order.
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
    let found = open.battle(surprising[next]);
    let size = open.view.battles[surprising[next]].surprise;
    let (Some(battle), Some(size)) = (found, size.map(f64::abs)) else {
        return;
    };
    model.matrix.surprise = Some(next);
    model.look_at(battle.a, battle.b);
    model.inform(&format!("surprise {} of {count}: {size:.1} σ", next + 1));
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

pub(super) fn copy(model: &Model) -> Copied {
    let Some(open) = &model.open else {
        return Copied::SelectedQuery;
    };
    let order = model.matrix_order();
    let id = |place: usize| {
        let document = order.get(place).and_then(|at| open.documents.get(*at));
        document.map_or(String::new(), |document| document.id.to_string())
    };
    let (row, column) = model.matrix.heat.cursor;
    Copied::Text(format!("{}\t{}\t{}", open.info.id, id(row), id(column)))
}

pub(super) fn click(model: &mut Model, column: u16, row: u16) -> Click {
    let shown = model.areas.heatmap;
    if let Some((row, column)) = shown.and_then(|shown| shown.at(column, row)) {
        if model.matrix.heat.cursor == (row, column) {
            return Click::Open;
        }
        let count = model.matrix_order().len();
        model.matrix.heat.move_to(row, column, count);
    }
    Click::Moved
}
