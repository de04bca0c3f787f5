//! Selecting a method, and a query on which it differs from the baseline.

use super::commands;
use super::rankings;
use crate::app::error::AppError;
use crate::app::truth::TruthSource;
use crate::features::methods::app::MethodsReport;
use crate::features::methods::screen::state::{MethodsChoice, TruthChoice};
use crate::tui::keymap::Command;
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::navigation::moved;
use crate::tui::screens::Screen;

pub(crate) fn show(model: &mut Model) -> Vec<Effect> {
    model.methods_mut().report = None;
    model.methods_mut().in_queries = false;
    if model.stack.contains(&Screen::METHODS) {
        // It was opened from a screen above it.
        while let Some(above) = model.stack.pop_if(|screen| *screen != Screen::METHODS) {
            model.jobs.leave(above);
        }
    } else {
        model.stack.push(Screen::METHODS);
    }
    measure_again(model)
}

fn measure(model: &mut Model, choice: MethodsChoice) -> Vec<Effect> {
    model.methods_mut().asked = Some(choice.clone());
    model.compare_methods(choice)
}

/// Compares the methods again, of which there may be more now; a choice whose report is still
/// pending is kept.
pub(super) fn measure_again(model: &mut Model) -> Vec<Effect> {
    let choice = model.methods().asked.clone();
    let choice = choice.unwrap_or_else(|| model.methods().choice.clone());
    measure(model, choice)
}

/// Shows a report.
pub(crate) fn compared(
    model: &mut Model,
    asked: MethodsChoice,
    report: Result<Box<MethodsReport>, AppError>,
) {
    let screen = model.methods_mut();
    screen.asked = None;
    match report {
        // What was requested does not exist, so keep what is shown.
        Err(error) if screen.found().is_some() => model.inform(&error.to_string()),
        Err(error) => {
            // Whatever was wrong, start again from the defaults next time.
            screen.choice = MethodsChoice::default();
            screen.report = Some(Err(error));
        }
        Ok(report) => {
            let truth = TruthSource::of(&report.truth);
            let same = screen
                .found()
                .is_some_and(|before| before.truth == report.truth);
            let selected = screen.method().map(|method| method.name.clone());
            let place = report
                .methods
                .iter()
                .map(|method| &method.name)
                .position(|name| Some(name) == selected.as_ref());
            let last = report.methods.len().saturating_sub(1);
            screen.choice = MethodsChoice {
                truth: truth.map_or(TruthChoice::Usual, TruthChoice::This),
                ..asked
            };
            screen.cursor = place.unwrap_or(screen.cursor.min(last));
            screen.query_cursor = 0;
            screen.report = Some(Ok(report));
            screen.in_queries &= !screen.listed().is_empty();
            let only = matches!(asked.truth, TruthChoice::After(_)) && same;
            if only {
                model.inform("the project has no other truth");
            }
        }
    }
}

/// The changed parameters of the comparison.
fn chosen(model: &mut Model, command: Command) -> Option<MethodsChoice> {
    let choice = model.methods().choice.clone();
    Some(match command {
        commands::NEXT_TRUTH => MethodsChoice {
            truth: match choice.truth {
                TruthChoice::This(source) | TruthChoice::After(source) => {
                    TruthChoice::After(source)
                }
                TruthChoice::Usual => TruthChoice::After(TruthSource::Zelo),
            },
            ..choice
        },
        commands::NEXT_DEPTH => MethodsChoice {
            depth: model.methods().next_depth(),
            ..choice
        },
        commands::SET_BASELINE => {
            if model.methods().is_baseline() {
                model.inform("this method is the baseline already");
                return None;
            }
            let name = model.methods().method()?.name.clone();
            MethodsChoice {
                baseline: Some(name),
                ..choice
            }
        }
        _ => return None,
    })
}

fn say_that_no_query_differs(model: &mut Model) {
    model.inform(if model.methods().is_baseline() {
        "this is the baseline: choose a method to compare with it"
    } else {
        "this method and the baseline are equal on every query"
    });
}

/// Which commands are available, given the methods.
pub(super) fn offers(model: &Model, command: Command) -> bool {
    let own = matches!(
        command,
        Command::Open
            | Command::NextPane
            | commands::NEXT_TRUTH
            | commands::SET_BASELINE
            | commands::NEXT_DEPTH
    );
    !own || model.methods().found().is_some()
}

pub(super) fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    if matches!(
        command,
        commands::NEXT_TRUTH | commands::NEXT_DEPTH | commands::SET_BASELINE
    ) {
        // Allow one change at a time, since two answers could arrive in any order.
        if model.methods().asked.is_some() {
            return Vec::new();
        }
        return match chosen(model, command) {
            Some(choice) => measure(model, choice),
            None => Vec::new(),
        };
    }
    let Some(count) = model.methods().found().map(|report| report.methods.len()) else {
        return Vec::new();
    };
    let listed = model.methods().listed();
    match command {
        Command::NextPane if listed.is_empty() => say_that_no_query_differs(model),
        Command::NextPane => model.methods_mut().in_queries = !model.methods().in_queries,
        Command::Open => {
            let at = if model.methods().in_queries {
                model.methods().query_cursor
            } else {
                0
            };
            let query = listed
                .get(at.min(listed.len().saturating_sub(1)))
                .and_then(|of| model.methods().found()?.queries.get(of.query()).cloned());
            match query {
                Some(query) => return rankings::update::show(model, query),
                None => say_that_no_query_differs(model),
            }
        }
        _ if model.methods().in_queries => {
            let page = model.areas.page;
            let cursor = model.methods().query_cursor;
            model.methods_mut().query_cursor = moved(cursor, command, listed.len(), page);
        }
        _ => {
            let page = model.areas.page;
            model.methods_mut().cursor = moved(model.methods().cursor, command, count, page);
            model.methods_mut().query_cursor = 0;
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::super::jobs::CompareMethods;
    use super::*;
    use crate::tui::job::{fail, only};
    use crate::tui::screens::testing::model;
    use crate::tui::update::update as apply;

    #[test]
    fn a_choice_survives_leaving_and_a_superseded_report_is_dropped() {
        let mut model = model(Screen::QUERIES);
        let now = model.now;
        let choice = MethodsChoice {
            baseline: Some("bm25".to_owned()),
            depth: Some(10),
            ..MethodsChoice::default()
        };
        let mut late = show(&mut model);
        measure(&mut model, choice.clone());
        let mut again = show(&mut model);
        assert_eq!(only(&again), Some(&CompareMethods(choice)));
        apply(
            &mut model,
            fail::<CompareMethods>(&mut late, "no truth"),
            now,
        );
        assert!(model.methods().report.is_none());
        apply(
            &mut model,
            fail::<CompareMethods>(&mut again, "no truth"),
            now,
        );
        assert!(model.methods().report.is_some());
        assert!(model.methods().asked.is_none());
    }
}
