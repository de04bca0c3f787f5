//! Choosing a method, and a query on which it differs from the baseline.

use crate::app::methods::MethodsReport;
use crate::tui::keymap::Command;
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::navigation::moved;
use crate::tui::screens::{Screen, rankings};

pub(crate) fn show(model: &mut Model) -> Vec<Effect> {
    model.methods.report = None;
    model.methods.in_queries = false;
    model.stack.push(Screen::Methods);
    vec![Effect::CompareMethods]
}

pub(crate) fn compared(model: &mut Model, report: Result<Box<MethodsReport>, String>) {
    let count = report.as_ref().map_or(0, |report| report.methods.len());
    model.methods.cursor = model.methods.cursor.min(count.saturating_sub(1));
    model.methods.query_cursor = 0;
    model.methods.report = Some(report);
}

pub(super) fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    let Some(count) = model.methods.found().map(|report| report.methods.len()) else {
        return Vec::new();
    };
    let deltas = model.methods.deltas();
    match command {
        Command::NextPane => {
            model.methods.in_queries = !model.methods.in_queries && !deltas.is_empty()
        }
        Command::Open => {
            let at = if model.methods.in_queries {
                model.methods.query_cursor
            } else {
                0
            };
            let chosen = deltas.get(at.min(deltas.len().saturating_sub(1)));
            let query = chosen.and_then(|of| model.methods.found()?.queries.get(of.query).cloned());
            match query {
                Some(query) => return rankings::update::show(model, query),
                None => model.inform("this method and the baseline are equal on every query"),
            }
        }
        _ if model.methods.in_queries => {
            let page = model.areas.page;
            let cursor = model.methods.query_cursor;
            model.methods.query_cursor = moved(cursor, command, deltas.len(), page);
        }
        _ => {
            let page = model.areas.page;
            model.methods.cursor = moved(model.methods.cursor, command, count, page);
            model.methods.query_cursor = 0;
        }
    }
    Vec::new()
}
