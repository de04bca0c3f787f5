//! Cycles screen: A beats B beats C beats A.

mod copy;
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
use state::rows;

impl Screen {
    pub const CYCLES: Self = Self::named("cycles");
}

pub(crate) struct CyclesScreen;

impl ScreenBehavior for CyclesScreen {
    fn id(&self) -> Screen {
        Screen::CYCLES
    }

    fn heading(&self) -> &'static str {
        "Cycles"
    }

    fn keys(&self) -> &'static [Binding] {
        keys::KEYS
    }

    fn chapter(&self) -> &'static str {
        "numbers"
    }

    fn section(&self) -> Option<&'static str> {
        Some("cycle")
    }

    fn opened_from(&self) -> Option<(Screen, Command)> {
        Some((Screen::MATRIX, Command::ShowCycles))
    }

    fn view(&self, model: &Model, canvas: Canvas<'_>, caches: &mut Caches) -> Areas {
        view::view(model, canvas, caches)
    }

    fn update(&self, model: &mut Model, command: Command) -> Vec<Effect> {
        update::update(model, command)
    }

    fn opened_by(&self) -> Option<Command> {
        Some(Command::ShowCycles)
    }

    fn open(&self, model: &mut Model) -> Vec<Effect> {
        update::show(model)
    }

    fn offers(&self, model: &Model, command: Command) -> bool {
        update::offers(model, command)
    }

    fn copy(&self, model: &Model) -> Copied {
        let open = model.open.as_ref();
        open.map_or(Copied::Nothing, |open| Copied::Table(copy::table(open)))
    }

    fn pair(&self, model: &Model, open: &OpenQuery) -> Option<(usize, usize)> {
        let rows = rows(open);
        Some(rows.get(model.cycles().place(&rows))?.weakest())
    }
}

#[cfg(test)]
mod tests;
