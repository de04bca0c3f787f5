//! Starts a run, and describes its cost.

use crate::app::annotate::estimate::CostEstimate;
use crate::tui::keymap::{Command, key_on};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::model::run::RunScope;
use crate::tui::screens::Screen;
use crate::tui::text;

/// Describes the expected cost and the spending limit.
pub(super) fn money_words(model: &Model, estimate: &CostEstimate) -> String {
    let cost = match (estimate.cost_usd(), estimate.worst_usd()) {
        (Some(cost), Some(worst)) => format!(
            "about {} expected, {} at most (estimated from the texts)",
            text::usd(cost),
            text::usd(worst)
        ),
        _ => "the price is not known for every judge".to_owned(),
    };
    format!("{cost}. {}", budget_words(model))
}

/// Describes the spending limit of the project.
pub(crate) fn budget_words(model: &Model) -> String {
    match model.run.control.budget_usd {
        Some(usd) => format!("The project may spend {} in total.", text::usd(usd)),
        None => format!(
            "No budget is set ({} on the run screen sets one).",
            key_on(Command::SetBudget, Screen::RUN)
        ),
    }
}

pub(crate) fn begin(model: &mut Model) -> Vec<Effect> {
    of_pair(model);
    model.run.control.paused = false;
    model.run.control.cancelled = false;
    model.run.running = true;
    model.run.ended = None;
    model.run.next = None;
    model.run.earlier = model.run.progress.clone();
    model.run.log_scroll = 0;
    vec![Effect::Start(model.run.scope.clone())]
}

/// A run for one pair includes all judges that are asked, even those dropped from other runs.
fn of_pair(model: &mut Model) {
    if !matches!(model.run.scope, RunScope::Pair(_)) {
        return;
    }
    model.run.dropped_before = std::mem::take(&mut model.run.control.dropped);
    if model.screen() == Screen::COMPARISON {
        let evidence = model.comparison().evidence.as_ref();
        model.comparison_mut().above_before = evidence.and_then(|evidence| evidence.above);
    }
}
