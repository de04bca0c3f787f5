//! Student battles screen: the battles in a group of a student's figure, largest difference first.

mod keys;
mod update;
mod view;

use super::copy;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::keymap::binding::Binding;
use crate::tui::keymap::{Command, Screen};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::screens::behavior::{Copied, ScreenBehavior};

impl Screen {
    pub(crate) const STUDENT_BATTLES: Self = Self::named("battles");
}

pub(crate) struct StudentBattlesScreen;

impl ScreenBehavior for StudentBattlesScreen {
    fn id(&self) -> Screen {
        Screen::STUDENT_BATTLES
    }

    fn heading(&self) -> &'static str {
        "Student battles"
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

    fn opened_from(&self) -> Option<(Screen, Command)> {
        Some((Screen::STUDENT, Command::Open))
    }

    fn view(&self, model: &Model, canvas: Canvas<'_>, caches: &mut Caches) -> Areas {
        view::view(model, canvas, caches)
    }

    fn update(&self, model: &mut Model, command: Command) -> Vec<Effect> {
        update::update(model, command)
    }

    fn returned(&self, model: &mut Model) -> Vec<Effect> {
        super::update::ask_again(model)
    }

    fn copy(&self, model: &Model) -> Copied {
        Copied::Table(copy::battles(model.student()))
    }
}
