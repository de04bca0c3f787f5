//! Reasonings screen: what a judge wrote about a pair under the old and the new prompt.

mod view;

use super::commands;
use crate::domain::sanitize;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::keymap::binding::{Binding, key, shown};
use crate::tui::keymap::{Command, Screen};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::navigation::{neighbor, scrolled};
use crate::tui::screens::behavior::{Copied, ScreenBehavior};
use crate::tui::screens::decisions::Decisions;

impl Screen {
    pub(crate) const PROMPT_REASONINGS: Self = Self::named("reasonings");
}

pub(crate) struct ReasoningsScreen;

#[rustfmt::skip]
const KEYS: &[Binding] = &[
    shown(&[key('n')], Command::NextBattle, "next pair"),
    shown(&[key('N')], Command::PreviousBattle, "previous"),
    shown(&[key('P')], commands::EDIT_PROMPT, "edit prompt"),
];

impl ScreenBehavior for ReasoningsScreen {
    fn id(&self) -> Screen {
        Screen::PROMPT_REASONINGS
    }

    fn heading(&self) -> &'static str {
        "Both reasonings"
    }

    fn keys(&self) -> &'static [Binding] {
        KEYS
    }

    fn chapter(&self) -> &'static str {
        "prompts"
    }

    fn section(&self) -> Option<&'static str> {
        Some("A trial")
    }

    fn opened_from(&self) -> Option<(Screen, Command)> {
        Some((Screen::PROMPT_TRIAL, Command::Open))
    }

    fn copy(&self, model: &Model) -> Copied {
        let open = model.prompt().reasonings.as_ref();
        let found = open.and_then(|open| Some((open, open.found.as_ref()?)));
        found.map_or(Copied::Nothing, |(open, found)| {
            let [a, b] = view::titles_shown(open);
            Copied::Text {
                text: format!(
                    "query: {}\nA: {a}\nB: {b}\n\nold prompt\n{}\n\nnew prompt\n{}\n",
                    sanitize::line(&open.query),
                    sanitize::block(&found.old),
                    sanitize::block(&found.new)
                ),
                what: "both reasonings".to_owned(),
            }
        })
    }

    fn view(&self, model: &Model, canvas: Canvas<'_>, _: &mut Caches) -> Areas {
        view::view(model, canvas)
    }

    fn update(&self, model: &mut Model, command: Command) -> Vec<Effect> {
        match command {
            Command::NextBattle | Command::PreviousBattle => {
                let state = model.prompt_mut();
                let pairs = state.reading().map_or(0, |of| of.result.pairs.len());
                let next = neighbor(state.cursor, command == Command::NextBattle, pairs);
                let Some(next) = next else {
                    return Vec::new();
                };
                state.cursor = next;
                state.reasonings_scroll = 0;
                model.read_reasonings()
            }
            _ => {
                let (lines, page) = (model.areas.lines, model.areas.page);
                let first = model.prompt().reasonings_scroll;
                model.prompt_mut().reasonings_scroll = scrolled(first, command, lines, page);
                Vec::new()
            }
        }
    }

    fn decisions(&self) -> &'static dyn Decisions {
        &super::undo::PromptUses
    }
}
