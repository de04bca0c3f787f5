//! Measure screen: the result of a measurement, and the drawn document to rule on, blind.

pub(crate) mod commands;
mod jobs;
mod keys;
mod state;
mod undo;
mod update;
mod view;

use crate::tui::canvas::Canvas;
use crate::tui::drawing::{Areas, Caches};
use crate::tui::keymap::binding::Binding;
use crate::tui::keymap::{Command, Screen};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::screens::behavior::{Copied, ScreenBehavior};
use crate::tui::screens::decisions::Decisions;

pub(crate) use keys::ADDED_KEYS;

impl Screen {
    pub(crate) const MEASURE: Self = Self::named("measure");
}

pub(crate) struct MeasureScreen;

impl ScreenBehavior for MeasureScreen {
    fn id(&self) -> Screen {
        Screen::MEASURE
    }

    fn heading(&self) -> &'static str {
        "Measure"
    }

    fn keys(&self) -> &'static [Binding] {
        keys::KEYS
    }

    fn chapter(&self) -> &'static str {
        "measure"
    }

    fn opened_by(&self) -> Option<Command> {
        Some(commands::SHOW_MEASURE)
    }

    fn open(&self, model: &mut Model) -> Vec<Effect> {
        update::show(model)
    }

    fn view(&self, model: &Model, canvas: Canvas<'_>, _: &mut Caches) -> Areas {
        view::view(model, canvas)
    }

    fn update(&self, model: &mut Model, command: Command) -> Vec<Effect> {
        update::update(model, command)
    }

    fn offers(&self, model: &Model, command: Command) -> bool {
        update::offers(model, command)
    }

    fn renamed(&self, model: &mut Model) -> Vec<Effect> {
        // The shown document was drawn for the previous name.
        vec![model.read_measurement()]
    }

    fn obstacle(&self, model: &Model) -> Option<&'static str> {
        let ready = model.measure().next().is_some();
        (!ready).then_some("no ruling yet: the document is still loading")
    }

    fn is_blind(&self, model: &Model) -> bool {
        model.measure().is_blind()
    }

    fn decisions(&self) -> &'static dyn Decisions {
        &undo::MeasureRulings
    }

    fn copy(&self, model: &Model) -> Copied {
        model
            .measure()
            .report()
            .map_or(Copied::Nothing, |report| Copied::Text {
                text: report.sentence(),
                what: "the result".to_owned(),
            })
    }
}
