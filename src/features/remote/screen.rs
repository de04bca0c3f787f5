//! Team screen: the people and machines that share the project, and the state of the connection.

pub(crate) mod commands;
mod jobs;
mod keys;
mod leases;
mod service;
pub(crate) mod state;
mod update;
mod view;

use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::keymap::binding::Binding;
use crate::tui::keymap::{Command, Screen};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::screens::behavior::{Copied, ScreenBehavior};

pub(crate) use keys::ADDED_KEYS;
pub(crate) use service::Synchronization;

impl Screen {
    pub(crate) const TEAM: Self = Self::named("team");
}

pub(crate) struct TeamScreen;

impl ScreenBehavior for TeamScreen {
    fn id(&self) -> Screen {
        Screen::TEAM
    }

    fn heading(&self) -> &'static str {
        "Team"
    }

    fn keys(&self) -> &'static [Binding] {
        keys::KEYS
    }

    fn chapter(&self) -> &'static str {
        "people"
    }

    fn section(&self) -> Option<&'static str> {
        Some("The team")
    }

    fn opened_by(&self) -> Option<Command> {
        Some(commands::SHOW_TEAM)
    }

    fn open(&self, model: &mut Model) -> Vec<Effect> {
        update::show(model)
    }

    fn returned(&self, model: &mut Model) -> Vec<Effect> {
        vec![model.read_team()]
    }

    fn renamed(&self, model: &mut Model) -> Vec<Effect> {
        vec![model.read_team()]
    }

    fn closed(&self, model: &mut Model) {
        update::closed(model);
    }

    fn view(&self, model: &Model, canvas: Canvas<'_>, _: &mut Caches) -> Areas {
        view::view(model, canvas)
    }

    fn update(&self, model: &mut Model, command: Command) -> Vec<Effect> {
        update::update(model, command)
    }

    fn offers(&self, model: &Model, command: Command) -> bool {
        command != commands::SYNCHRONIZE || model.team().is_shared()
    }

    fn copy(&self, model: &Model) -> Copied {
        Copied::Table(view::table(model))
    }
}
