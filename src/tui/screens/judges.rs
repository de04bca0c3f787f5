//! Judges screen: the quality of each judge, and the agreement between them.

mod axis;
mod copy;
mod details;
mod jobs;
mod kappas;
mod keys;
mod state;
mod table;
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
    pub const JUDGES: Self = Self::named("judges");
}

pub(crate) struct JudgesScreen;

impl ScreenBehavior for JudgesScreen {
    fn id(&self) -> Screen {
        Screen::JUDGES
    }

    fn heading(&self) -> &'static str {
        "Judges"
    }

    fn keys(&self) -> &'static [Binding] {
        keys::KEYS
    }

    fn chapter(&self) -> &'static str {
        "judge-report"
    }

    fn copy(&self, model: &Model) -> Copied {
        let report = model.judges().report.as_ref();
        report.map_or(Copied::Nothing, |report| Copied::Table(copy::table(report)))
    }

    fn view(&self, model: &Model, canvas: Canvas<'_>, caches: &mut Caches) -> Areas {
        view::view(model, canvas, caches)
    }

    fn update(&self, model: &mut Model, command: Command) -> Vec<Effect> {
        update::update(model, command)
    }

    fn opened_by(&self) -> Option<Command> {
        Some(Command::ShowJudges)
    }

    fn open(&self, model: &mut Model) -> Vec<Effect> {
        update::show(model)
    }

    fn offers(&self, model: &Model, command: Command) -> bool {
        update::offers(model, command)
    }

    fn exports(&self) -> ExportSubject {
        ExportSubject::Votes
    }
}
