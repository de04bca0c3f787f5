//! Comparison screen: why one document is ranked above another.

mod keys;
mod state;
pub(crate) mod update;
mod view;

use super::behavior::{Copied, ScreenBehavior};
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::keymap::binding::Binding;
use crate::tui::keymap::{Command, Screen};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::model::open_query::OpenQuery;

impl Screen {
    pub const COMPARISON: Self = Self::named("why");
}

pub(crate) struct ComparisonScreen;

impl ScreenBehavior for ComparisonScreen {
    fn id(&self) -> Screen {
        Screen::COMPARISON
    }

    fn heading(&self) -> &'static str {
        "Why"
    }

    fn keys(&self) -> &'static [Binding] {
        keys::KEYS
    }

    fn chapter(&self) -> &'static str {
        "numbers"
    }

    fn section(&self) -> Option<&'static str> {
        Some("Rank intervals")
    }

    fn opened_from(&self) -> Option<(Screen, Command)> {
        Some((Screen::MATRIX, Command::ExplainOrder))
    }

    fn view(&self, model: &Model, canvas: Canvas<'_>, caches: &mut Caches) -> Areas {
        view::view(model, canvas, caches)
    }

    fn update(&self, model: &mut Model, command: Command) -> Vec<Effect> {
        update::update(model, command)
    }

    fn opened_by(&self) -> Option<Command> {
        Some(Command::ExplainOrder)
    }

    fn open(&self, model: &mut Model) -> Vec<Effect> {
        update::show(model)
    }

    fn loaded(&self, model: &mut Model) -> Vec<Effect> {
        update::renew(model)
    }

    fn returned(&self, model: &mut Model) -> Vec<Effect> {
        update::renew(model)
    }

    fn crumb(&self, model: &Model, open: &OpenQuery) -> String {
        let (a, b) = (model.comparison().a, model.comparison().b);
        format!("why {} × {}", open.name(a), open.name(b))
    }

    fn pair(&self, model: &Model, _open: &OpenQuery) -> Option<(usize, usize)> {
        Some((model.comparison().a, model.comparison().b))
    }

    fn copy(&self, model: &Model) -> Copied {
        update::copy(model)
    }
}

#[cfg(test)]
mod tests;
