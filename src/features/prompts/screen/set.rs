//! Regression set screen: the pairs on which prompts are tuned and tested.

mod view;

use super::commands;
use super::state::OpenSet;
use crate::domain::vote::Outcome;
use crate::features::prompts::domain::DecidedPair;
use crate::tui::canvas::Canvas;
use crate::tui::clipboard::ClipboardTable;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::keymap::binding::{Binding, key, shown};
use crate::tui::keymap::{Command, Screen};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::navigation::moved;
use crate::tui::screens::behavior::{Copied, ScreenBehavior};

impl Screen {
    pub(crate) const PROMPT_SET: Self = Self::named("decided pairs");
}

pub(crate) struct SetScreen;

#[rustfmt::skip]
const KEYS: &[Binding] = &[
    shown(&[key('w')], Command::ShowQueue, "blind pairs"),
];

impl ScreenBehavior for SetScreen {
    fn id(&self) -> Screen {
        Screen::PROMPT_SET
    }

    fn heading(&self) -> &'static str {
        "Decided pairs"
    }

    fn keys(&self) -> &'static [Binding] {
        KEYS
    }

    fn chapter(&self) -> &'static str {
        "prompts"
    }

    fn section(&self) -> Option<&'static str> {
        Some("The regression set")
    }

    fn opened_by(&self) -> Option<Command> {
        Some(commands::SHOW_PROMPT_SET)
    }

    fn open(&self, model: &mut Model) -> Vec<Effect> {
        if model.screen() == Screen::PROMPT_SET {
            return Vec::new();
        }
        model.stack.push(Screen::PROMPT_SET);
        model.prompt_mut().set_cursor = 0;
        model.read_prompt_set()
    }

    fn returned(&self, model: &mut Model) -> Vec<Effect> {
        model.read_prompt_set()
    }

    fn view(&self, model: &Model, canvas: Canvas<'_>, _: &mut Caches) -> Areas {
        view::view(model, canvas)
    }

    fn update(&self, model: &mut Model, command: Command) -> Vec<Effect> {
        let page = model.areas.page;
        let state = model.prompt_mut();
        let pairs = state.set.as_ref().map_or(0, |of| of.set.pairs.len());
        state.set_cursor = moved(state.set_cursor, command, pairs, page);
        Vec::new()
    }

    fn copy(&self, model: &Model) -> Copied {
        let set = model.prompt().set.as_ref();
        set.map_or(Copied::Nothing, |set| Copied::Table(table(set)))
    }
}

/// Where a decision comes from.
fn source(of: &DecidedPair) -> &'static str {
    if of.is_gold { "gold" } else { "blind" }
}

fn table(open: &OpenSet) -> ClipboardTable {
    let rows = open.set.pairs.iter().map(|(_, of)| {
        let better = match of.people {
            Outcome::A => "first",
            Outcome::Tie => "tie",
            Outcome::B => "second",
        };
        [
            of.query.as_str().to_owned(),
            (of.pair.low() + 1).to_string(),
            (of.pair.high() + 1).to_string(),
            better.to_owned(),
            source(of).to_owned(),
            of.part().words().to_owned(),
        ]
    });
    let columns = ["query", "first", "second", "better", "from", "part"];
    ClipboardTable::new("decided pair", columns, rows)
}
