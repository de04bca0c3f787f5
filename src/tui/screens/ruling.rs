//! Ruling screen: a document on which pick and label disagree, blind first, then with label and
//! picks visible.

pub(crate) mod jobs;
mod keys;
mod panel;
pub(crate) mod update;
mod view;

use super::behavior::{Copied, Find, ScreenBehavior};
use super::decisions::{Decisions, Rulings};
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::keymap::binding::Binding;
use crate::tui::keymap::{Command, Screen};
use crate::tui::message::Effect;
use crate::tui::model::{Model, Subject};
use crate::tui::widgets::export_dialog::ExportSubject;

impl Screen {
    pub const RULING: Self = Self::named("ruling");
}

pub(crate) struct RulingScreen;

impl ScreenBehavior for RulingScreen {
    fn id(&self) -> Screen {
        Screen::RULING
    }

    fn heading(&self) -> &'static str {
        "Ruling"
    }

    fn keys(&self) -> &'static [Binding] {
        keys::KEYS
    }

    fn chapter(&self) -> &'static str {
        "adjudication"
    }

    fn section(&self) -> Option<&'static str> {
        Some("Rulings on the screen")
    }

    fn opened_from(&self) -> Option<(Screen, Command)> {
        Some((Screen::ADJUDICATION, Command::Open))
    }

    fn view(&self, model: &Model, canvas: Canvas<'_>, caches: &mut Caches) -> Areas {
        view::view(model, canvas, caches)
    }

    fn update(&self, model: &mut Model, command: Command) -> Vec<Effect> {
        update::update(model, command)
    }

    fn leave(&self, model: &mut Model) -> Vec<Effect> {
        update::leave(model)
    }

    fn closed(&self, model: &mut Model) {
        update::close(model);
    }

    fn offers(&self, model: &Model, command: Command) -> bool {
        update::offers(model, command)
    }

    fn find(&self) -> Find {
        Find::Texts(update::texts)
    }

    fn reveal(&self, model: &mut Model, side: usize) {
        update::reveal(model, side)
    }

    fn obstacle(&self, model: &Model) -> Option<&'static str> {
        update::obstacle(model)
    }

    fn subject(&self, model: &Model) -> Option<Subject> {
        let item = &model.adjudication.current.as_ref()?.disagreement;
        Some(Subject::Document(item.query, item.document.clone()))
    }

    fn is_blind(&self, model: &Model) -> bool {
        let current = model.adjudication.current.as_ref();
        current.is_some_and(|current| !current.open)
    }

    fn reason(&self, model: &mut Model, text: &str) -> Vec<Effect> {
        update::note(model, text)
    }

    fn decisions(&self) -> &'static dyn Decisions {
        &Rulings
    }

    fn exports(&self) -> ExportSubject {
        ExportSubject::Labels
    }

    fn copy(&self, model: &Model) -> Copied {
        update::copy(model)
    }
}

#[cfg(test)]
pub(crate) mod tests;
