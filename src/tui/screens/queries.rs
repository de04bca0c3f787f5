//! The list of queries.

mod columns;
mod copy;
mod detail;
mod keys;
mod preview;
mod sentence;
pub(crate) mod update;
mod view;
mod votes;
pub(crate) mod welcome;

use super::behavior::{Copied, Find, ScreenBehavior};
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::keymap::binding::Binding;
use crate::tui::keymap::{Command, Screen};
use crate::tui::message::Effect;
use crate::tui::model::Model;

impl Screen {
    pub const QUERIES: Self = Self::named("queries");
}

pub(crate) struct QueriesScreen;

impl ScreenBehavior for QueriesScreen {
    fn id(&self) -> Screen {
        Screen::QUERIES
    }

    fn heading(&self) -> &'static str {
        "Queries"
    }

    fn section(&self) -> Option<&'static str> {
        Some("Queries")
    }

    fn keys(&self) -> &'static [Binding] {
        keys::KEYS
    }

    fn copy(&self, model: &Model) -> Copied {
        Copied::Table(copy::table(model))
    }

    fn view(&self, model: &Model, canvas: Canvas<'_>, caches: &mut Caches) -> Areas {
        view::view(model, canvas, caches)
    }

    fn update(&self, model: &mut Model, command: Command) -> Vec<Effect> {
        update::update(model, command)
    }

    fn returned(&self, model: &mut Model) -> Vec<Effect> {
        update::returned(model)
    }

    fn filtered(&self, model: &mut Model) -> Vec<Effect> {
        update::moved(model)
    }

    fn selected(&self, model: &mut Model) -> Vec<Effect> {
        update::moved(model)
    }

    fn find(&self) -> Find {
        Find::Rows {
            list: |model| (&mut model.queries.cursor, &mut model.queries.filter),
            shown: |model| model.queries.shown().to_vec(),
            filter: |model| &model.queries.filter,
        }
    }
}
