//! Clicks and the wheel, if the mouse is captured.

use super::commands::on_command;
use super::{offers, overlay};
use crate::tui::keymap::Command;
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::screens::behavior::{Click, Find};
use crate::tui::widgets::heatmap::Viewport;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Rect;

pub(super) fn on_mouse(model: &mut Model, event: MouseEvent) -> Vec<Effect> {
    let (column, row) = (event.column, event.row);
    if !model.overlays.is_empty() {
        return match event.kind {
            MouseEventKind::Down(MouseButton::Left) => click_overlay(model, (column, row)),
            kind => scroll_overlay(model, kind),
        };
    }
    let in_matrix = |shown: &Viewport| shown.at(column, row).is_some();
    let in_list = model.areas.list.contains((column, row).into())
        || model.areas.heatmap.as_ref().is_some_and(in_matrix);
    match event.kind {
        MouseEventKind::ScrollDown => scroll(model, (column, row), Command::Down),
        MouseEventKind::ScrollUp => scroll(model, (column, row), Command::Up),
        MouseEventKind::Up(MouseButton::Left) => {
            model.panes.dragging = false;
            Vec::new()
        }
        MouseEventKind::Drag(MouseButton::Left) if model.panes.dragging => {
            drag_border(model, column, row);
            Vec::new()
        }
        MouseEventKind::Down(MouseButton::Left) => {
            let border = model.areas.border;
            model.panes.dragging =
                border.is_some_and(|border| border.grip().contains((column, row).into()));
            if model.panes.dragging {
                return Vec::new();
            }
            model.panes.text_first = 0;
            if let Some(command) = hint_at(model, column, row) {
                return on_command(model, command);
            }
            if let Some(pane) = pane_at(model, (column, row)) {
                model.behavior().focus_pane(model, pane);
            }
            if !in_list {
                return Vec::new();
            }
            match model.behavior().click(model, column, row) {
                Click::Moved => Vec::new(),
                Click::Open => on_command(model, Command::Open),
                Click::Row(at) => go_to_row(model, at),
            }
        }
        MouseEventKind::Drag(MouseButton::Left) if in_list => {
            model.behavior().drag(model, column, row);
            Vec::new()
        }
        _ => Vec::new(),
    }
}

/// Scrolls the pane under the pointer, or the focused part if the screen has one pane.
fn scroll(model: &mut Model, pointer: (u16, u16), command: Command) -> Vec<Effect> {
    match pane_at(model, pointer) {
        Some(pane) => model.behavior().scroll_pane(model, pane, command),
        None => on_command(model, command),
    }
}

/// The number of the pane at a position.
fn pane_at(model: &Model, at: (u16, u16)) -> Option<usize> {
    let mut panes = model.areas.panes.iter();
    panes.position(|pane| pane.contains(at.into()))
}

fn drag_border(model: &mut Model, column: u16, row: u16) {
    if let Some(border) = model.areas.border {
        let to = if border.upright { column } else { row };
        model.move_border(to as i16 - border.at() as i16);
    }
}

/// Moves the cursor to a row, or opens the row if the cursor is there already.
fn go_to_row(model: &mut Model, at: usize) -> Vec<Effect> {
    let Some(position) = model.areas.position.filter(|list| at < list.shown) else {
        return Vec::new();
    };
    if at == position.cursor {
        return on_command(model, Command::Open);
    }
    if let Find::Rows { list, shown, .. } = model.behavior().find() {
        *list(model).0 = at.min(shown(model).len().saturating_sub(1));
        return model.behavior().selected(model);
    }
    let step = if at < position.cursor {
        Command::Up
    } else {
        Command::Down
    };
    (0..at.abs_diff(position.cursor))
        .flat_map(|_| on_command(model, step))
        .collect()
}

/// The command of the hint at a position of the footer.
fn hint_at(model: &Model, column: u16, row: u16) -> Option<Command> {
    let (columns, rows) = model.size;
    let footer = Rect::new(0, rows.checked_sub(1)?, columns, 1);
    (row == footer.y)
        .then(|| offers::footer(model, usize::from(columns)).command_at(footer, column))
        .flatten()
}

/// A click on a key, a button or a row of an overlay works like the keyboard.
fn click_overlay(model: &mut Model, at: (u16, u16)) -> Vec<Effect> {
    model
        .overlays
        .last()
        .map_or_else(Vec::new, |overlay| overlay.keys_of_click(at.into()))
        .into_iter()
        .flat_map(|code| overlay::on_key(model, KeyEvent::new(code, KeyModifiers::NONE)))
        .collect()
}

/// The wheel moves in an overlay like the arrow keys.
fn scroll_overlay(model: &mut Model, kind: MouseEventKind) -> Vec<Effect> {
    let code = match kind {
        MouseEventKind::ScrollDown => KeyCode::Down,
        MouseEventKind::ScrollUp => KeyCode::Up,
        _ => return Vec::new(),
    };
    overlay::on_key(model, KeyEvent::new(code, KeyModifiers::NONE))
}
