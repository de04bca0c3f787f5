//! Document screen: its text, its position, and its battles.

mod copy;
pub(crate) mod head;
mod keys;
mod reasons;
mod state;
mod table;
pub(crate) mod update;
mod view;

use super::behavior::{Copied, Find, ScreenBehavior};
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::keymap::binding::Binding;
use crate::tui::keymap::{Command, Screen};
use crate::tui::message::Effect;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::model::{Model, Subject};

impl Screen {
    pub const DOCUMENT: Self = Self::named("document");
}

pub(crate) struct DocumentScreen;

impl ScreenBehavior for DocumentScreen {
    fn id(&self) -> Screen {
        Screen::DOCUMENT
    }

    fn heading(&self) -> &'static str {
        "Document"
    }

    fn keys(&self) -> &'static [Binding] {
        keys::KEYS
    }

    fn chapter(&self) -> &'static str {
        "numbers"
    }

    fn section(&self) -> Option<&'static str> {
        Some("zELO")
    }

    fn opened_from(&self) -> Option<(Screen, Command)> {
        Some((Screen::MATRIX, Command::RowDocument))
    }

    fn uses(&self, _command: Command) -> bool {
        true
    }

    fn scroll_pane(&self, model: &mut Model, pane: usize, command: Command) -> Vec<Effect> {
        let focus = std::mem::replace(&mut model.document_mut().reading, pane == 0);
        let effects = update::update(model, command);
        model.document_mut().reading = focus;
        effects
    }

    fn focus_pane(&self, model: &mut Model, pane: usize) {
        model.document_mut().reading = pane == 0;
    }

    fn view(&self, model: &Model, canvas: Canvas<'_>, caches: &mut Caches) -> Areas {
        view::view(model, canvas, caches)
    }

    fn update(&self, model: &mut Model, command: Command) -> Vec<Effect> {
        update::update(model, command)
    }

    fn loaded(&self, model: &mut Model) -> Vec<Effect> {
        update::load(model)
    }

    fn returned(&self, model: &mut Model) -> Vec<Effect> {
        update::load(model)
    }

    fn crumb(&self, model: &Model, open: &OpenQuery) -> String {
        open.name(model.document().document)
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

    fn subject(&self, model: &Model) -> Option<Subject> {
        let open = model.open.as_ref()?;
        let document = open.documents.get(model.document().document)?;
        Some(Subject::Document(open.info.key, document.id.clone()))
    }

    fn copy(&self, model: &Model) -> Copied {
        update::copy(model)
    }
}

#[cfg(test)]
mod tests;
