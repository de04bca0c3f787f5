//! Selecting a judge, and the actions on it.

use super::table::rows;
use super::view;
use crate::tui::keymap::Command;
use crate::tui::message::Effect;
use crate::tui::model::{Model, Overlay};
use crate::tui::navigation::moved;
use crate::tui::screens::{Screen, queue, run};
use crate::tui::widgets::page::Page;

pub(crate) fn show(model: &mut Model) -> Vec<Effect> {
    model.stack.push(Screen::JUDGES);
    model.judges_mut().without = None;
    model.report_judges()
}

/// Once the report is ready, a judge can be opened or excluded; the ensemble and students cannot.
pub(super) fn offers(model: &Model, command: Command) -> bool {
    let Some(report) = &model.judges().report else {
        return !matches!(
            command,
            Command::Open | Command::WithoutJudge | Command::ShowTables | Command::StartRun
        );
    };
    if command == Command::StartRun {
        return report.rater_data.judges.is_empty();
    }
    let one = model.judges().cursor < report.rater_data.judges.len();
    one || !matches!(command, Command::Open | Command::WithoutJudge)
}

pub(super) fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    let Some(report) = &model.judges().report else {
        return Vec::new();
    };
    let judges = &report.rater_data.judges;
    if command == Command::StartRun && judges.is_empty() {
        return run::update::start(model, None);
    }
    let judge = judges.get(model.judges().cursor).map(|(id, _)| *id);
    match (command, judge) {
        (Command::WithoutJudge | Command::Open, None) => model.inform("choose a single judge"),
        (Command::ShowTables, _) => {
            let text = view::page_text(model, report, Page::columns(model.size.0));
            let page = Page::new("Numbers", &text);
            model.overlays.push(Overlay::Page(page));
        }
        (Command::WithoutJudge, Some(judge)) => return model.rank_without_judge(judge),
        (Command::Open, judge) => return queue::update::show_against(model, judge),
        _ => {
            let count = rows(report).len() + model.judges().added_count();
            let page = model.areas.page;
            model.judges_mut().cursor = moved(model.judges().cursor, command, count, page);
        }
    }
    Vec::new()
}
