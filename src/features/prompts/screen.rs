//! Prompt screen: a copy of a judge's prompt that is edited, and the request that it makes.

pub(crate) mod commands;
mod configured;
mod jobs;
mod keys;
pub(crate) mod reasonings;
pub(crate) mod set;
mod state;
#[cfg(test)]
mod tests;
pub(crate) mod trial;
mod undo;
mod update;
mod use_prompt;
mod view;

use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::keymap::binding::Binding;
use crate::tui::keymap::{Command, Screen};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::screens::behavior::{Copied, ScreenBehavior};
use crate::tui::screens::decisions::Decisions;

pub(crate) use keys::ADDED_KEYS;

impl Screen {
    pub(crate) const PROMPT: Self = Self::named("prompt");
}

pub(crate) struct PromptScreen;

impl ScreenBehavior for PromptScreen {
    fn id(&self) -> Screen {
        Screen::PROMPT
    }

    fn heading(&self) -> &'static str {
        "Prompt"
    }

    fn keys(&self) -> &'static [Binding] {
        keys::KEYS
    }

    fn chapter(&self) -> &'static str {
        "prompts"
    }

    fn view(&self, model: &Model, canvas: Canvas<'_>, caches: &mut Caches) -> Areas {
        view::view(model, canvas, caches)
    }

    fn update(&self, model: &mut Model, command: Command) -> Vec<Effect> {
        update::update(model, command)
    }

    fn opened_by(&self) -> Option<Command> {
        Some(commands::EDIT_PROMPT)
    }

    fn opened_from(&self) -> Option<(Screen, Command)> {
        Some((Screen::JUDGES, commands::EDIT_PROMPT))
    }

    fn can_open(&self, model: &Model) -> bool {
        let judge = model.judge_under_cursor();
        judge.is_some_and(|judge| !judge.is_offline() && !judge.prompt_hash.is_empty())
    }

    fn open(&self, model: &mut Model) -> Vec<Effect> {
        update::show(model)
    }

    fn leave(&self, model: &mut Model) -> Vec<Effect> {
        update::keep_draft(model);
        Vec::new()
    }

    fn offers(&self, model: &Model, command: Command) -> bool {
        update::offers(model, command)
    }

    fn typing(&self, model: &mut Model, text: String) -> Vec<Effect> {
        model.prompt_mut().draft = text;
        model.preview_request()
    }

    fn edited(&self, model: &mut Model, text: String) -> Vec<Effect> {
        update::edited(model, text)
    }

    fn decisions(&self) -> &'static dyn Decisions {
        &undo::PromptUses
    }

    fn refuses(&self, _model: &Model, text: &str) -> Option<String> {
        use_prompt::refuses(text)
    }

    fn typed(&self, model: &mut Model, text: &str) -> Vec<Effect> {
        use_prompt::named(model, text)
    }

    fn confirmed(&self, model: &mut Model) -> Vec<Effect> {
        trial::confirmed(model)
    }

    fn copy(&self, model: &Model) -> Copied {
        Copied::Text {
            text: model.prompt().draft.clone(),
            what: "the prompt".to_owned(),
        }
    }

    fn scroll_pane(&self, model: &mut Model, pane: usize, command: Command) -> Vec<Effect> {
        update::scroll(model, pane, command);
        Vec::new()
    }
}
