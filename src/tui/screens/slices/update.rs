//! Moves through the slices and filters the matrix.

use super::state::compute;
use crate::domain::ranking::Slice;
use crate::domain::sanitize;
use crate::tui::keymap::Command;
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::model::matrix::{MatrixColors, MatrixSlice};
use crate::tui::navigation::{cycled, moved};
use crate::tui::screens::{Screen, matrix};

pub(super) fn show(model: &mut Model) -> Vec<Effect> {
    model.slices_mut().cursor = 0;
    compute(model);
    model.stack.push(Screen::SLICES);
    Vec::new()
}

pub(super) fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    match command {
        Command::NextPane | Command::PreviousPane => {
            next_field(model, command == Command::NextPane)
        }
        Command::Open => return filter(model),
        Command::ColorSlices => return color(model),
        _ => {
            let page = model.areas.page;
            let state = model.slices_mut();
            state.cursor = moved(state.cursor, command, state.slices.len(), page);
        }
    }
    Vec::new()
}

fn next_field(model: &mut Model, forward: bool) {
    let state = model.slices_mut();
    let names: Vec<&str> = state.fields.iter().map(String::as_str).collect();
    if names.is_empty() {
        return;
    }
    state.field = cycled(&names, &*state.field, forward).to_owned();
    state.cursor = 0;
    compute(model);
}

/// Limits the matrix to the selected slice, and goes back to it.
fn filter(model: &mut Model) -> Vec<Effect> {
    let state = model.slices();
    let Some(slice) = state.selected() else {
        return Vec::new();
    };
    let value = slice.value.as_deref().unwrap_or("(none)");
    let name = format!("{} {value}", state.field);
    model.matrix.slice = Some(MatrixSlice {
        name: sanitize::line(&name).into_owned(),
        documents: slice.documents.clone(),
    });
    model.matrix.surprise = None;
    matrix::update::look_at_first(model);
    model.stack.pop();
    model.behavior().returned(model)
}

/// Colors the rows of the matrix by the field, and goes back to it; if they have its colors, removes
/// them.
fn color(model: &mut Model) -> Vec<Effect> {
    let Some(documents) = model.open.as_ref().map(|open| open.documents.len()) else {
        return Vec::new();
    };
    let before = model.matrix.colors.take();
    let state = model.slices();
    let field = sanitize::line(&state.field).into_owned();
    if state.slices.is_empty() || before.is_some_and(|before| before.field == field) {
        return Vec::new();
    }
    let mut slices = vec![None; documents];
    for (at, slice) in state.slices.iter().enumerate() {
        for document in &slice.documents {
            slices[*document] = Some(at);
        }
    }
    let values = state.slices.iter().map(value_of).collect();
    model.matrix.colors = Some(MatrixColors {
        field,
        values,
        slices,
    });
    model.stack.pop();
    model.behavior().returned(model)
}

/// The value of a slice, sanitized.
fn value_of(slice: &Slice) -> String {
    sanitize::line(slice.value.as_deref().unwrap_or("(none)")).into_owned()
}

pub(super) fn offers(model: &Model, command: Command) -> bool {
    let state = model.slices();
    match command {
        Command::Open | Command::ColorSlices => !state.slices.is_empty(),
        Command::NextPane => state.fields.len() > 1,
        _ => true,
    }
}
