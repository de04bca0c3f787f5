//! Lists screen: the list calls of a query, and the documents of one of them side by side.

pub(crate) mod commands;
mod copy;
mod jobs;
mod keys;
mod state;
mod update;
mod view;

use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::keymap::binding::Binding;
use crate::tui::keymap::{Command, Screen};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::screens::behavior::{Copied, Find, ScreenBehavior};

pub(crate) use keys::ADDED_KEYS;

impl Screen {
    pub(crate) const LISTS: Self = Self::named("lists");
}

pub(crate) struct ListsScreen;

impl ScreenBehavior for ListsScreen {
    fn id(&self) -> Screen {
        Screen::LISTS
    }

    fn heading(&self) -> &'static str {
        "Lists"
    }

    fn keys(&self) -> &'static [Binding] {
        keys::KEYS
    }

    fn chapter(&self) -> &'static str {
        "lists"
    }

    fn section(&self) -> Option<&'static str> {
        Some("In the workbench")
    }

    fn opened_from(&self) -> Option<(Screen, Command)> {
        Some((Screen::MATRIX, commands::SHOW_LISTS))
    }

    fn opened_by(&self) -> Option<Command> {
        Some(commands::SHOW_LISTS)
    }

    fn open(&self, model: &mut Model) -> Vec<Effect> {
        update::show(model)
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

    fn loaded(&self, model: &mut Model) -> Vec<Effect> {
        model.read_lists()
    }

    fn returned(&self, model: &mut Model) -> Vec<Effect> {
        model.read_lists()
    }

    fn offers(&self, model: &Model, command: Command) -> bool {
        update::offers(model, command)
    }

    fn pair(&self, model: &Model, _open: &OpenQuery) -> Option<(usize, usize)> {
        model.lists().pair()
    }

    fn find(&self) -> Find {
        Find::Texts(update::texts)
    }

    fn reveal(&self, model: &mut Model, side: usize) {
        model.lists_mut().reveal(side);
    }

    fn scroll_pane(&self, model: &mut Model, pane: usize, command: Command) -> Vec<Effect> {
        update::scroll_pane(model, pane, command)
    }

    fn focus_pane(&self, model: &mut Model, pane: usize) {
        update::focus_pane(model, pane);
    }

    fn copy(&self, model: &Model) -> Copied {
        Copied::Table(copy::table(model))
    }
}

#[cfg(test)]
mod tests;
