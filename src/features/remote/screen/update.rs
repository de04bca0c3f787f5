//! Moving among the people, and what their keys do.

use super::commands;
use crate::features::remote::app::background::Order;
use crate::tui::keymap::Command;
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::navigation::moved;
use crate::tui::screens::Screen;
use crate::tui::screens::queue;

/// Opens the screen.
pub(super) fn show(model: &mut Model) -> Vec<Effect> {
    if model.screen() != Screen::TEAM {
        model.stack.push(Screen::TEAM);
    }
    model.team().order(Order::ShowJobs(true));
    vec![model.read_team()]
}

/// The screen was left.
pub(super) fn closed(model: &mut Model) {
    model.team().order(Order::ShowJobs(false));
}

pub(super) fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    match command {
        Command::Open => {
            model.queue.scope = None;
            model.queue.conflicts = true;
            queue::update::show_against(model, None)
        }
        commands::SHOW_VERDICTS => {
            let person = model.team().selected();
            let read = person.map(|name| model.read_verdicts_of(name));
            read.into_iter().collect()
        }
        commands::SYNCHRONIZE => {
            if model.team().is_shared() {
                model.team().order(Order::Synchronize);
                model.inform("synchronizing …");
            } else {
                model.inform(
                    "this project is not synchronized: share it with `overrule remote add`",
                );
            }
            Vec::new()
        }
        command => {
            let (count, page) = (model.team().rows().len(), model.areas.page);
            let team = model.team_mut();
            team.cursor = moved(team.cursor, command, count, page);
            Vec::new()
        }
    }
}
