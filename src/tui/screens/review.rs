//! Review screen: a pair is judged blind first, then again with everything visible.

mod keys;
pub(crate) mod panel;
mod session;
pub(crate) mod update;
pub(crate) mod view;

use super::battle;
use super::behavior::{Copied, Find, ScreenBehavior};
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::keymap::binding::Binding;
use crate::tui::keymap::{Command, Screen};
use crate::tui::message::Effect;
use crate::tui::model::review::CurrentItem;
use crate::tui::model::{Model, Subject};
use crate::tui::requests;
use crate::tui::widgets::export_dialog::ExportSubject;

impl Screen {
    pub const REVIEW: Self = Self::named("review");
}

pub(crate) struct ReviewScreen;

impl ScreenBehavior for ReviewScreen {
    fn id(&self) -> Screen {
        Screen::REVIEW
    }

    fn heading(&self) -> &'static str {
        "Review"
    }

    fn keys(&self) -> &'static [Binding] {
        keys::KEYS
    }

    fn chapter(&self) -> &'static str {
        "review"
    }

    fn section(&self) -> Option<&'static str> {
        Some("One pair after the other")
    }

    fn opened_from(&self) -> Option<(Screen, Command)> {
        Some((Screen::QUEUE, Command::Open))
    }

    fn uses(&self, command: Command) -> bool {
        !matches!(command, Command::NextPane)
    }

    fn view(&self, model: &Model, canvas: Canvas<'_>, caches: &mut Caches) -> Areas {
        view::view(model, canvas, caches)
    }

    fn update(&self, model: &mut Model, command: Command) -> Vec<Effect> {
        update::update(model, command)
    }

    fn scroll_pane(&self, model: &mut Model, pane: usize, command: Command) -> Vec<Effect> {
        battle::update::scroll_pane(model, pane, command);
        Vec::new()
    }

    fn focus_pane(&self, model: &mut Model, pane: usize) {
        battle::update::focus_pane(model, pane);
    }

    fn loaded(&self, model: &mut Model) -> Vec<Effect> {
        update::ready(model);
        update::reapply(model);
        requests::pair(model)
    }

    fn leave(&self, model: &mut Model) -> Vec<Effect> {
        update::leave(model)
    }

    fn closed(&self, model: &mut Model) {
        update::close(model);
    }

    fn offers(&self, model: &Model, command: Command) -> bool {
        update::offers(model, command)
    }

    fn find(&self) -> Find {
        Find::Texts(battle::update::texts)
    }

    fn reveal(&self, model: &mut Model, side: usize) {
        battle::update::reveal(model, side)
    }

    fn obstacle(&self, model: &Model) -> Option<&'static str> {
        update::obstacle(model)
    }

    fn subject(&self, model: &Model) -> Option<Subject> {
        let item = model.queue.current.as_ref()?.item;
        Some(Subject::Pair(item.query, item.pair))
    }

    fn closes(&self, model: &mut Model) -> bool {
        battle::update::close_reasoning(model)
    }

    fn is_blind(&self, model: &Model) -> bool {
        model
            .queue
            .current
            .as_ref()
            .is_some_and(CurrentItem::is_hidden)
    }

    fn reason(&self, model: &mut Model, text: &str) -> Vec<Effect> {
        update::note(model, text)
    }

    fn exports(&self) -> ExportSubject {
        ExportSubject::Verdicts
    }

    fn copy(&self, model: &Model) -> Copied {
        update::copy(model)
    }
}

#[cfg(test)]
pub(crate) mod tests;
