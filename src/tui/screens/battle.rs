//! Battle screen: two documents side by side, the judges' reasoning, and the person's verdict.

pub(crate) mod calls;
pub(crate) mod copy;
mod judges;
mod keys;
pub(crate) mod numbers;
pub(crate) mod outcome;
pub(crate) mod panel;
pub(crate) mod texts;
pub(crate) mod update;
pub(crate) mod verdict;
pub(crate) mod view;

use super::behavior::{Copied, Find, ScreenBehavior};
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::keymap::binding::Binding;
use crate::tui::keymap::{Command, Screen};
use crate::tui::message::Effect;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::model::{Model, Subject};
use crate::tui::requests;
use crate::tui::widgets::export_dialog::ExportSubject;

impl Screen {
    pub const BATTLE: Self = Self::named("battle");
}

pub(crate) struct BattleScreen;

impl ScreenBehavior for BattleScreen {
    fn id(&self) -> Screen {
        Screen::BATTLE
    }

    fn heading(&self) -> &'static str {
        "Battle"
    }

    fn keys(&self) -> &'static [Binding] {
        keys::KEYS
    }

    fn chapter(&self) -> &'static str {
        "review"
    }

    fn opened_from(&self) -> Option<(Screen, Command)> {
        Some((Screen::MATRIX, Command::Open))
    }

    fn uses(&self, command: Command) -> bool {
        !matches!(command, Command::Open | Command::NextPane)
    }

    fn view(&self, model: &Model, canvas: Canvas<'_>, caches: &mut Caches) -> Areas {
        view::view(model, canvas, caches)
    }

    fn update(&self, model: &mut Model, command: Command) -> Vec<Effect> {
        update::update(model, command)
    }

    fn scroll_pane(&self, model: &mut Model, pane: usize, command: Command) -> Vec<Effect> {
        update::scroll_pane(model, pane, command);
        Vec::new()
    }

    fn focus_pane(&self, model: &mut Model, pane: usize) {
        update::focus_pane(model, pane);
    }

    fn loaded(&self, model: &mut Model) -> Vec<Effect> {
        requests::pair(model)
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

    fn obstacle(&self, model: &Model) -> Option<&'static str> {
        update::obstacle(model)
    }

    fn closes(&self, model: &mut Model) -> bool {
        update::close_reasoning(model)
    }

    fn subject(&self, model: &Model) -> Option<Subject> {
        let open = model.open.as_ref()?;
        Some(Subject::Pair(open.info.key, model.battle.pair()?))
    }

    fn reason(&self, model: &mut Model, text: &str) -> Vec<Effect> {
        verdict::explain(model, text)
    }

    fn pair(&self, model: &Model, _open: &OpenQuery) -> Option<(usize, usize)> {
        Some((model.battle.a, model.battle.b))
    }

    fn exports(&self) -> ExportSubject {
        ExportSubject::Verdicts
    }

    fn copy(&self, model: &Model) -> Copied {
        update::copy(model)
    }
}

#[cfg(test)]
mod tests;
