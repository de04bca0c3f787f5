//! Methods screen: compares the quality and cost of reranking methods, and where each wins and
//! loses.

pub(crate) mod commands;
mod copy;
mod jobs;
mod keys;
mod plane;
pub(crate) mod rankings;
pub(crate) mod state;
mod table;
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
    pub(crate) const METHODS: Self = Self::named("methods");
}

pub(crate) struct MethodsScreen;

impl ScreenBehavior for MethodsScreen {
    fn id(&self) -> Screen {
        Screen::METHODS
    }

    fn heading(&self) -> &'static str {
        "Methods"
    }

    fn keys(&self) -> &'static [Binding] {
        keys::KEYS
    }

    fn chapter(&self) -> &'static str {
        "rerankers"
    }

    fn section(&self) -> Option<&'static str> {
        Some("Comparing methods")
    }

    fn copy(&self, model: &Model) -> Copied {
        let report = model.methods().found();
        report.map_or(Copied::Nothing, |report| {
            Copied::Table(copy::methods(report))
        })
    }

    fn view(&self, model: &Model, canvas: Canvas<'_>, caches: &mut Caches) -> Areas {
        view::view(model, canvas, caches)
    }

    fn update(&self, model: &mut Model, command: Command) -> Vec<Effect> {
        update::update(model, command)
    }

    fn opened_by(&self) -> Option<Command> {
        Some(commands::SHOW_METHODS)
    }

    fn open(&self, model: &mut Model) -> Vec<Effect> {
        update::show(model)
    }

    fn answered(&self, model: &mut Model) -> Vec<Effect> {
        update::measure_again(model)
    }

    fn labels(&self, model: &Model) -> &'static [(&'static str, &'static str)] {
        if model.methods().in_queries {
            &[("queries", "methods")]
        } else {
            &[]
        }
    }

    fn picture(&self, model: &Model) -> Option<Arc<dyn Picture>> {
        Some(Arc::new(DrawnPicture {
            file_name: "methods",
            svg: model.methods().found()?.quality_cost_svg(),
        }))
    }

    fn offers(&self, model: &Model, command: Command) -> bool {
        update::offers(model, command)
    }

    fn scroll_pane(&self, model: &mut Model, pane: usize, command: Command) -> Vec<Effect> {
        let focus = std::mem::replace(&mut model.methods_mut().in_queries, pane == 1);
        let effects = update::update(model, command);
        model.methods_mut().in_queries = focus;
        effects
    }

    fn focus_pane(&self, model: &mut Model, pane: usize) {
        let has_queries = !model.methods().listed().is_empty();
        model.methods_mut().in_queries = pane == 1 && has_queries;
    }
}
