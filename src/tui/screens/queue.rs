//! Queue screen: the pairs to judge, in order of priority.

mod copy;
pub(crate) mod jobs;
mod keys;
pub(crate) mod update;
pub(crate) mod view;

use super::behavior::{Copied, Find, ScreenBehavior};
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::keymap::binding::Binding;
use crate::tui::keymap::{Command, Screen};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::widgets::export_dialog::ExportSubject;

/// Maximum number of listed queue items.
const LISTED: usize = 1_000;

impl Screen {
    pub const QUEUE: Self = Self::named("queue");
}

pub(crate) struct QueueScreen;

impl ScreenBehavior for QueueScreen {
    fn id(&self) -> Screen {
        Screen::QUEUE
    }

    fn heading(&self) -> &'static str {
        "Queue"
    }

    fn keys(&self) -> &'static [Binding] {
        keys::KEYS
    }

    fn chapter(&self) -> &'static str {
        "review"
    }

    fn row_at(&self, model: &Model, row: u16) -> usize {
        view::row_at(model, row)
    }

    fn view(&self, model: &Model, canvas: Canvas<'_>, caches: &mut Caches) -> Areas {
        view::view(model, canvas, caches)
    }

    fn update(&self, model: &mut Model, command: Command) -> Vec<Effect> {
        update::update(model, command)
    }

    fn confirmed(&self, model: &mut Model) -> Vec<Effect> {
        vec![model.start_acceptance()]
    }

    fn opened_by(&self) -> Option<Command> {
        Some(Command::ShowQueue)
    }

    fn open(&self, model: &mut Model) -> Vec<Effect> {
        update::show(model)
    }

    fn returned(&self, model: &mut Model) -> Vec<Effect> {
        update::returned(model)
    }

    fn offers(&self, model: &Model, command: Command) -> bool {
        command != Command::StartRun || update::can_start(model)
    }

    fn find(&self) -> Find {
        Find::Rows {
            list: |model| (&mut model.queue.cursor, &mut model.queue.filter),
            shown: Model::shown_items,
            filter: |model| &model.queue.filter,
        }
    }

    fn filtered(&self, model: &mut Model) -> Vec<Effect> {
        update::filtered(model)
    }

    fn selected(&self, model: &mut Model) -> Vec<Effect> {
        update::describe(model)
    }

    fn exports(&self) -> ExportSubject {
        ExportSubject::Verdicts
    }

    fn copy(&self, model: &Model) -> Copied {
        Copied::Table(copy::table(model))
    }
}

#[cfg(test)]
mod tests;
