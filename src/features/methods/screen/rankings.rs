//! Rankings screen: the baseline's and a method's ranking of one query side by side.

mod keys;
pub(crate) mod update;
mod view;

use super::copy;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::keymap::binding::Binding;
use crate::tui::keymap::{Command, Screen};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::screens::behavior::{Copied, ScreenBehavior};

impl Screen {
    pub(crate) const RANKINGS: Self = Self::named("rankings");
}

pub(crate) struct RankingsScreen;

impl ScreenBehavior for RankingsScreen {
    fn id(&self) -> Screen {
        Screen::RANKINGS
    }

    fn heading(&self) -> &'static str {
        "Rankings"
    }

    fn keys(&self) -> &'static [Binding] {
        keys::KEYS
    }

    fn chapter(&self) -> &'static str {
        "rerankers"
    }

    fn section(&self) -> Option<&'static str> {
        Some("Comparing methods")
    }

    fn opened_from(&self) -> Option<(Screen, Command)> {
        Some((Screen::METHODS, Command::Open))
    }

    fn copy(&self, model: &Model) -> Copied {
        copy::rankings(model.methods()).map_or(Copied::Nothing, Copied::Table)
    }

    fn view(&self, model: &Model, canvas: Canvas<'_>, caches: &mut Caches) -> Areas {
        view::view(model, canvas, caches)
    }

    fn update(&self, model: &mut Model, command: Command) -> Vec<Effect> {
        update::update(model, command)
    }
}
