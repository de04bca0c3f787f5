//! Opens a measurement, and rules on drawn documents.

use super::commands;
use super::state::{LEVEL, MARGINS, MeasureState, OpenMeasurement};
use crate::app::error::AppError;
use crate::domain::adjudication::Finding;
use crate::domain::metrics::Metric;
use crate::features::measure::app::MeasureRequest;
use crate::features::methods::screen::commands::SHOW_METHODS;
use crate::tui::keymap::Command;
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::model::review::active_ms;
use crate::tui::navigation::scrolled;
use crate::tui::screens::Screen;
use crate::tui::widgets::Choice;

/// Metrics to choose from; the first one is the default.
const METRICS: [&str; 4] = ["p@10", "p@5", "ndcg@10", "ndcg@5"];

const FINDINGS: Choice<Finding> = Choice(&[
    (Command::RuleRelevant, Finding::Relevant),
    (Command::RulePartially, Finding::Partially),
    (Command::RuleNot, Finding::Not),
    (Command::RuleCannotTell, Finding::CannotTell),
]);

/// Opens the measurement of the method under the cursor, or else the latest of the project.
pub(super) fn show(model: &mut Model) -> Vec<Effect> {
    if model.screen() == Screen::MEASURE {
        return Vec::new();
    }
    let mut request = None;
    if model.screen() == Screen::METHODS {
        if model.methods().is_baseline() {
            model.inform("this is the baseline; choose a method to measure against it");
            return Vec::new();
        }
        request = of_methods(model);
    }
    model.stack.push(Screen::MEASURE);
    *model.measure_mut() = MeasureState {
        request,
        margin: model.measure().margin,
        ..MeasureState::default()
    };
    vec![model.read_measurement()]
}

fn of_methods(model: &Model) -> Option<MeasureRequest> {
    let (report, method) = model.methods().found().zip(model.methods().method())?;
    Some(MeasureRequest {
        run: method.name.clone(),
        baseline: Some(report.baseline.clone()),
        metric: METRICS[0].parse().ok()?,
        level: LEVEL,
    })
}

/// The measurement was read.
pub(super) fn found(model: &mut Model, found: Result<OpenMeasurement, AppError>) -> Vec<Effect> {
    let now = model.now;
    let state = model.measure_mut();
    state.is_stale = false;
    state.since = Some(now);
    state.scroll = None;
    state.found = Some(match found {
        Ok(open) => {
            state.request = Some(open.request.clone());
            Ok(Box::new(open))
        }
        Err(error) => Err(error.to_string()),
    });
    Vec::new()
}

pub(super) fn offers(model: &Model, command: Command) -> bool {
    match command {
        Command::ToggleFullText => model.areas.lines > model.areas.page,
        // A ruling is made without knowing what the methods are worth.
        SHOW_METHODS => !model.measure().is_blind(),
        commands::NEXT_METRIC => model.measure().request.is_some(),
        commands::NEXT_MARGIN => {
            let report = model.measure().report();
            report.is_some_and(|report| report.baseline.is_some())
        }
        command if FINDINGS.of(command).is_some() => model.measure().next().is_some(),
        _ => true,
    }
}

pub(super) fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    if let Some(finding) = FINDINGS.of(command) {
        return rule(model, finding);
    }
    let (lines, page, first) = (model.areas.lines, model.areas.page, model.areas.first);
    match command {
        commands::NEXT_METRIC => next_metric(model),
        commands::NEXT_MARGIN => {
            let state = model.measure_mut();
            state.margin = following(&MARGINS, &state.margin);
            vec![model.read_measurement()]
        }
        Command::ToggleFullText => {
            model.measure_mut().scroll = None;
            model.from_top = !model.from_top;
            Vec::new()
        }
        command => {
            let from = model.measure().scroll.unwrap_or(first);
            let to = scrolled(from, command, lines, page);
            if to != from {
                model.measure_mut().scroll = Some(to);
            }
            Vec::new()
        }
    }
}

/// Stores the ruling and draws the next document.
fn rule(model: &mut Model, finding: Finding) -> Vec<Effect> {
    let now = model.now;
    let Some(next) = model.measure().next() else {
        return Vec::new();
    };
    let (query, document) = (next.key, next.document.clone());
    let active_ms = active_ms(&mut model.measure_mut().since, now);
    vec![
        model.rule_on_draw(query, document, finding, active_ms),
        model.read_measurement(),
    ]
}

fn next_metric(model: &mut Model) -> Vec<Effect> {
    let Some(request) = &mut model.measure_mut().request else {
        return Vec::new();
    };
    let metrics: Vec<Metric> = METRICS
        .iter()
        .filter_map(|name| name.parse().ok())
        .collect();
    request.metric = following(&metrics, &request.metric);
    vec![model.read_measurement()]
}

/// The value after this one; the first after the last and after any other.
fn following<T: Copy + PartialEq>(values: &[T], now: &T) -> T {
    let at = values.iter().position(|of| of == now);
    at.and_then(|at| values.get(at + 1))
        .or(values.first())
        .copied()
        .unwrap_or(*now)
}
