//! Run screen: progress, cost and controls of the current run.

pub(crate) mod ask_pair;
pub(crate) mod begin;
mod copy;
mod failures;
mod judge_table;
mod keys;
mod last;
mod missing;
mod notes;
pub(crate) mod questions;
pub(crate) mod update;
mod view;

use super::behavior::{Copied, ScreenBehavior};
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::keymap::binding::Binding;
use crate::tui::keymap::{Command, Screen};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::widgets::export_dialog::ExportSubject;

impl Screen {
    pub const RUN: Self = Self::named("run");
}

pub(crate) struct RunScreen;

impl ScreenBehavior for RunScreen {
    fn id(&self) -> Screen {
        Screen::RUN
    }

    fn heading(&self) -> &'static str {
        "Run"
    }

    fn keys(&self) -> &'static [Binding] {
        keys::KEYS
    }

    fn chapter(&self) -> &'static str {
        "annotate"
    }

    fn section(&self) -> Option<&'static str> {
        Some("Stop and continue")
    }

    fn copy(&self, model: &Model) -> Copied {
        let last = model.run.last.iter().flatten().next();
        match (&model.run.progress, last) {
            (Some(progress), _) => Copied::Table(copy::table(progress)),
            (None, Some(last)) => Copied::Table(copy::table_of_last(last)),
            (None, None) => Copied::Nothing,
        }
    }

    fn view(&self, model: &Model, canvas: Canvas<'_>, caches: &mut Caches) -> Areas {
        view::view(model, canvas, caches)
    }

    fn update(&self, model: &mut Model, command: Command) -> Vec<Effect> {
        update::update(model, command)
    }

    fn opened_by(&self) -> Option<Command> {
        Some(Command::ShowRun)
    }

    fn open(&self, model: &mut Model) -> Vec<Effect> {
        update::show(model)
    }

    fn labels(&self, model: &Model) -> &'static [(&'static str, &'static str)] {
        if model.run.running {
            &[("start", "resume")]
        } else {
            &[]
        }
    }

    fn offers(&self, model: &Model, command: Command) -> bool {
        update::offers(model, command)
    }

    fn exports(&self) -> ExportSubject {
        ExportSubject::Votes
    }
}
