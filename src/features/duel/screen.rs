//! Duel screen: documents of two rankings, or both rankings, for a person who does not know which
//! is which.

pub(crate) mod choice;
pub(crate) mod chooser;
pub(crate) mod commands;
mod grid;
mod jobs;
mod keys;
mod lists;
pub(crate) mod moving;
pub(crate) mod passage;
pub(crate) mod record;
pub(crate) mod state;
mod summary;
mod tasks;
pub(crate) mod undo;
pub(crate) mod update;
pub(crate) mod view;

use crate::features::duel::store::DuelKey;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::keymap::binding::Binding;
use crate::tui::keymap::{Command, Screen};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::screens::behavior::{Click, Copied, ScreenBehavior};
use crate::tui::screens::decisions::Decisions;

pub(crate) use keys::ADDED_KEYS;

impl Screen {
    pub(crate) const DUEL: Self = Self::named("duel");
}

pub(crate) struct DuelScreen;

impl ScreenBehavior for DuelScreen {
    fn id(&self) -> Screen {
        Screen::DUEL
    }

    fn heading(&self) -> &'static str {
        "Duel"
    }

    fn keys(&self) -> &'static [Binding] {
        keys::KEYS
    }

    fn chapter(&self) -> &'static str {
        "duel"
    }

    fn section(&self) -> Option<&'static str> {
        Some("Take part")
    }

    fn uses(&self, _command: Command) -> bool {
        true
    }

    fn view(&self, model: &Model, canvas: Canvas<'_>, caches: &mut Caches) -> Areas {
        view::view(model, canvas, caches)
    }

    fn update(&self, model: &mut Model, command: Command) -> Vec<Effect> {
        update::update(model, command)
    }

    fn opened_by(&self) -> Option<Command> {
        Some(commands::SHOW_DUEL)
    }

    fn open(&self, model: &mut Model) -> Vec<Effect> {
        update::show(model, None)
    }

    fn open_row(&self, model: &mut Model, key: i64) -> Vec<Effect> {
        update::show(model, Some(DuelKey(key)))
    }

    fn returned(&self, model: &mut Model) -> Vec<Effect> {
        update::returned(model)
    }

    fn touched(&self, model: &mut Model) {
        update::touched(model);
    }

    fn renamed(&self, model: &mut Model) -> Vec<Effect> {
        update::renamed(model)
    }

    fn leave(&self, model: &mut Model) -> Vec<Effect> {
        update::leave(model)
    }

    fn closed(&self, model: &mut Model) {
        update::closed(model);
    }

    fn closes(&self, model: &mut Model) -> bool {
        update::closes(model)
    }

    fn labels(&self, model: &Model) -> &'static [(&'static str, &'static str)] {
        update::labels(model)
    }

    fn offers(&self, model: &Model, command: Command) -> bool {
        update::offers(model, command)
    }

    fn obstacle(&self, model: &Model) -> Option<&'static str> {
        update::obstacle(model)
    }

    fn is_blind(&self, model: &Model) -> bool {
        let duel = model.duel().open();
        duel.is_some_and(|duel| !duel.all_done() && !duel.has_seen_result())
    }

    fn decisions(&self) -> &'static dyn Decisions {
        &undo::Answers
    }

    fn confirmed(&self, model: &mut Model) -> Vec<Effect> {
        update::show_result(model)
    }

    fn copy(&self, _model: &Model) -> Copied {
        Copied::Hidden
    }

    fn click(&self, model: &mut Model, column: u16, row: u16) -> Click {
        update::click(model, column, row)
    }
}

#[cfg(test)]
pub(crate) mod tests;
