//! Passage screen: a document of a duel in full, with a passage marked by sentence and by word.

mod keys;
mod update;
mod view;

use super::undo::Answers;
use super::update as duel;
use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::keymap::binding::Binding;
use crate::tui::keymap::{Command, Screen};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::screens::behavior::{Click, Copied, ScreenBehavior};
use crate::tui::screens::decisions::Decisions;

impl Screen {
    pub(crate) const PASSAGE: Self = Self::named("passage");
}

pub(crate) struct PassageScreen;

impl ScreenBehavior for PassageScreen {
    fn id(&self) -> Screen {
        Screen::PASSAGE
    }

    fn heading(&self) -> &'static str {
        "Passage"
    }

    fn keys(&self) -> &'static [Binding] {
        keys::KEYS
    }

    fn chapter(&self) -> &'static str {
        "duel"
    }

    fn section(&self) -> Option<&'static str> {
        Some("Take part")
    }

    fn opened_from(&self) -> Option<(Screen, Command)> {
        Some((Screen::DUEL, Command::Open))
    }

    fn view(&self, model: &Model, canvas: Canvas<'_>, caches: &mut Caches) -> Areas {
        view::view(model, canvas, caches)
    }

    fn update(&self, model: &mut Model, command: Command) -> Vec<Effect> {
        update::update(model, command)
    }

    fn leave(&self, model: &mut Model) -> Vec<Effect> {
        update::leave(model)
    }

    fn closed(&self, model: &mut Model) {
        update::closed(model);
    }

    fn closes(&self, model: &mut Model) -> bool {
        duel::ends_pause(model)
    }

    fn labels(&self, model: &Model) -> &'static [(&'static str, &'static str)] {
        duel::pause_label(model)
    }

    fn offers(&self, model: &Model, command: Command) -> bool {
        update::offers(model, command)
    }

    /// The key that opens an item elsewhere chooses the passage.
    fn decides(&self, command: Command) -> bool {
        command.decides() || command == Command::Open
    }

    fn obstacle(&self, model: &Model) -> Option<&'static str> {
        update::obstacle(model)
    }

    fn decisions(&self) -> &'static dyn Decisions {
        &Answers
    }

    fn copy(&self, _model: &Model) -> Copied {
        Copied::Hidden
    }

    fn click(&self, model: &mut Model, column: u16, row: u16) -> Click {
        update::click(model, column, row)
    }

    fn drag(&self, model: &mut Model, column: u16, row: u16) {
        update::drag(model, column, row);
    }
}
