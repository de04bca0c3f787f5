//! Student screen: the reliability of a student of the ensemble, as ten figures with the battles
//! behind each.

pub(crate) mod battles;
pub(crate) mod commands;
mod copy;
mod jobs;
pub(crate) mod judges;
mod keys;
mod numbers;
mod plot;
pub(crate) mod settings;
mod shapes;
pub(crate) mod state;
pub(crate) mod update;
mod view;

use crate::app::picture::{DrawnPicture, Picture};
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::keymap::binding::Binding;
use crate::tui::keymap::{Command, Screen};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::screens::behavior::{Copied, ScreenBehavior};
use std::sync::Arc;

pub(crate) use keys::ADDED_KEYS;

impl Screen {
    pub(crate) const STUDENT: Self = Self::named("student");
}

pub(crate) struct StudentScreen;

impl ScreenBehavior for StudentScreen {
    fn id(&self) -> Screen {
        Screen::STUDENT
    }

    fn heading(&self) -> &'static str {
        "Student"
    }

    fn keys(&self) -> &'static [Binding] {
        keys::KEYS
    }

    fn chapter(&self) -> &'static str {
        "student"
    }

    fn section(&self) -> Option<&'static str> {
        Some("On the screen")
    }

    fn uses(&self, command: Command) -> bool {
        !matches!(command, Command::NextPane)
    }

    fn copy(&self, model: &Model) -> Copied {
        Copied::Table(copy::groups(model.student()))
    }

    fn view(&self, model: &Model, canvas: Canvas<'_>, caches: &mut Caches) -> Areas {
        view::view(model, canvas, caches)
    }

    fn update(&self, model: &mut Model, command: Command) -> Vec<Effect> {
        update::update(model, command)
    }

    fn opened_by(&self) -> Option<Command> {
        Some(commands::SHOW_STUDENT)
    }

    fn open(&self, model: &mut Model) -> Vec<Effect> {
        update::show(model)
    }

    fn picture(&self, model: &Model) -> Option<Arc<dyn Picture>> {
        let student = model.student();
        Some(Arc::new(DrawnPicture {
            file_name: "student",
            svg: student.report()?.picture(student.figure, student.step)?,
        }))
    }

    fn returned(&self, model: &mut Model) -> Vec<Effect> {
        model.student_mut().battle_cursor = 0;
        Vec::new()
    }

    fn confirmed(&self, model: &mut Model) -> Vec<Effect> {
        update::start_training(model)
    }

    fn offers(&self, model: &Model, command: Command) -> bool {
        update::offers(model, command)
    }
}

#[cfg(test)]
mod tests;
