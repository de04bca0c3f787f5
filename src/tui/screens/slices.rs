//! Slices screen: the scores of the open query's documents by a metadata field.

mod copy;
mod keys;
mod state;
mod update;
mod view;

use super::behavior::{Copied, ScreenBehavior};
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::keymap::binding::Binding;
use crate::tui::keymap::{Command, Screen};
use crate::tui::message::Effect;
use crate::tui::model::Model;

impl Screen {
    pub const SLICES: Self = Self::named("slices");
}

pub(crate) struct SlicesScreen;

impl ScreenBehavior for SlicesScreen {
    fn id(&self) -> Screen {
        Screen::SLICES
    }

    fn heading(&self) -> &'static str {
        "Slices"
    }

    fn section(&self) -> Option<&'static str> {
        Some("Slices")
    }

    fn keys(&self) -> &'static [Binding] {
        keys::KEYS
    }

    fn view(&self, model: &Model, canvas: Canvas<'_>, caches: &mut Caches) -> Areas {
        view::view(model, canvas, caches)
    }

    fn update(&self, model: &mut Model, command: Command) -> Vec<Effect> {
        update::update(model, command)
    }

    fn opened_by(&self) -> Option<Command> {
        Some(Command::ShowSlices)
    }

    fn opened_from(&self) -> Option<(Screen, Command)> {
        Some((Screen::MATRIX, Command::ShowSlices))
    }

    fn open(&self, model: &mut Model) -> Vec<Effect> {
        update::show(model)
    }

    fn loaded(&self, model: &mut Model) -> Vec<Effect> {
        state::compute(model);
        Vec::new()
    }

    fn copy(&self, model: &Model) -> Copied {
        let open = model.open.as_ref();
        open.map_or(Copied::Nothing, |open| {
            Copied::Table(copy::table(open, model.slices()))
        })
    }

    fn offers(&self, model: &Model, command: Command) -> bool {
        update::offers(model, command)
    }
}

#[cfg(test)]
mod tests;
