//! Adjudication screen: judges' picks compared with the benchmark's labels, and the items to rule
//! on.

mod copy;
pub(crate) mod jobs;
mod keys;
mod tables;
pub(crate) mod update;
mod view;

use super::behavior::{Copied, Find, ScreenBehavior};
use super::decisions::{Decisions, Rulings};
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::keymap::binding::Binding;
use crate::tui::keymap::{Command, Screen};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::widgets::export_dialog::ExportSubject;

impl Screen {
    pub const ADJUDICATION: Self = Self::named("adjudication");
}

pub(crate) struct AdjudicationScreen;

impl ScreenBehavior for AdjudicationScreen {
    fn id(&self) -> Screen {
        Screen::ADJUDICATION
    }

    fn heading(&self) -> &'static str {
        "Adjudication"
    }

    fn keys(&self) -> &'static [Binding] {
        keys::KEYS
    }

    fn chapter(&self) -> &'static str {
        "adjudication"
    }

    fn section(&self) -> Option<&'static str> {
        Some("Disagreements")
    }

    fn view(&self, model: &Model, canvas: Canvas<'_>, caches: &mut Caches) -> Areas {
        view::view(model, canvas, caches)
    }

    fn update(&self, model: &mut Model, command: Command) -> Vec<Effect> {
        update::update(model, command)
    }

    fn opened_by(&self) -> Option<Command> {
        Some(Command::ShowAdjudication)
    }

    fn open(&self, model: &mut Model) -> Vec<Effect> {
        update::show(model)
    }

    fn returned(&self, model: &mut Model) -> Vec<Effect> {
        model.read_overview()
    }

    fn offers(&self, model: &Model, command: Command) -> bool {
        update::offers(model, command)
    }

    fn find(&self) -> Find {
        Find::Rows {
            list: |model| {
                let state = &mut model.adjudication;
                (&mut state.cursor, &mut state.filter)
            },
            shown: Model::shown_disagreements,
            filter: |model| &model.adjudication.filter,
        }
    }

    fn filtered(&self, model: &mut Model) -> Vec<Effect> {
        update::read_titles(model)
    }

    fn selected(&self, model: &mut Model) -> Vec<Effect> {
        update::read_titles(model)
    }

    fn decisions(&self) -> &'static dyn Decisions {
        &Rulings
    }

    fn exports(&self) -> ExportSubject {
        ExportSubject::Labels
    }

    fn copy(&self, model: &Model) -> Copied {
        Copied::Table(copy::table(model))
    }
}

#[cfg(test)]
pub(in crate::tui::screens) mod tests;
