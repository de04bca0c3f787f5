//! Clicks and the wheel, if the mouse is captured.

use super::commands::on_command;
use crate::tui::keymap::Command;
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::screens::behavior::Click;
use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};

pub(super) fn on_mouse(model: &mut Model, event: MouseEvent) -> Vec<Effect> {
    if !model.overlays.is_empty() {
        return Vec::new();
    }
    match event.kind {
        MouseEventKind::ScrollDown => on_command(model, Command::Down),
        MouseEventKind::ScrollUp => on_command(model, Command::Up),
        MouseEventKind::Down(MouseButton::Left)
            if model.areas.list.contains((event.column, event.row).into()) =>
        {
            match model.behavior().click(model, event.column, event.row) {
                Click::Moved => Vec::new(),
                Click::Open => on_command(model, Command::Open),
            }
        }
        MouseEventKind::Drag(MouseButton::Left)
            if model.areas.list.contains((event.column, event.row).into()) =>
        {
            model.behavior().drag(model, event.column, event.row);
            Vec::new()
        }
        _ => Vec::new(),
    }
}
