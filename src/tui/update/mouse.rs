//! Clicks and the wheel, where the mouse is captured.

use super::on_command;
use crate::tui::keymap::Command;
use crate::tui::model::{Effect, Model, Screen};
use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};

pub(super) fn on_mouse(model: &mut Model, event: MouseEvent) -> Vec<Effect> {
    if !model.overlays.is_empty() {
        return Vec::new();
    }
    match event.kind {
        MouseEventKind::ScrollDown => on_command(model, Command::Down),
        MouseEventKind::ScrollUp => on_command(model, Command::Up),
        MouseEventKind::Down(MouseButton::Left) => {
            let list = model.areas.list;
            if !list.contains((event.column, event.row).into()) {
                return Vec::new();
            }
            match model.screen() {
                Screen::Queries => {
                    let clicked = model.areas.first + usize::from(event.row - list.y);
                    if clicked >= model.shown_queries().len() {
                        return Vec::new();
                    }
                    if clicked == model.queries.cursor {
                        return on_command(model, Command::Open);
                    }
                    model.queries.cursor = clicked;
                    Vec::new()
                }
                Screen::Matrix => {
                    let order = model.matrix_order();
                    if let Some((row, column)) = model
                        .areas
                        .heatmap
                        .and_then(|shown| shown.at(event.column, event.row))
                    {
                        if model.matrix.heat.cursor == (row, column) {
                            return on_command(model, Command::Open);
                        }
                        model.matrix.heat.move_to(row, column, order.len());
                    }
                    Vec::new()
                }
                _ => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
}
