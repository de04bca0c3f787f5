//! Judge set-up: finds judges, tests them with single calls, and writes `overrule.toml`.

mod copy;
mod jobs;
mod keys;
mod state;
#[cfg(test)]
mod tests;
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
    pub const JUDGE_SETUP: Self = Self::named("setup");
}

pub(crate) struct JudgeSetupScreen;

impl ScreenBehavior for JudgeSetupScreen {
    fn id(&self) -> Screen {
        Screen::JUDGE_SETUP
    }

    fn heading(&self) -> &'static str {
        "Set up judges"
    }

    fn keys(&self) -> &'static [Binding] {
        keys::KEYS
    }

    fn chapter(&self) -> &'static str {
        "judges"
    }

    fn copy(&self, model: &Model) -> Copied {
        let setup = model.judge_setup().setup.as_ref();
        setup.map_or(Copied::Nothing, |setup| Copied::Table(copy::table(setup)))
    }

    fn view(&self, model: &Model, canvas: Canvas<'_>, _: &mut Caches) -> Areas {
        view::view(model, canvas)
    }

    fn update(&self, model: &mut Model, command: Command) -> Vec<Effect> {
        update::update(model, command)
    }

    fn opened_by(&self) -> Option<Command> {
        Some(Command::SetUpJudges)
    }

    fn open(&self, model: &mut Model) -> Vec<Effect> {
        update::show(model)
    }

    fn offers(&self, model: &Model, command: Command) -> bool {
        update::offers(model, command)
    }

    fn refuses(&self, model: &Model, text: &str) -> Option<String> {
        update::refuses(model, text)
    }

    fn typed(&self, model: &mut Model, text: &str) -> Vec<Effect> {
        update::typed(model, text)
    }

    fn confirmed(&self, model: &mut Model) -> Vec<Effect> {
        model.test_judge()
    }

    fn closed(&self, model: &mut Model) {
        *model.judge_setup_mut() = state::SetupState::default();
    }
}
