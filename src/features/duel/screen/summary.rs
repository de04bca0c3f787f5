//! Summary of a person's work on a duel since it was opened.

use crate::features::duel::app::control_words;
use crate::features::duel::domain::{Action, Participant, TaskKind, answers_of, controls_of};
use crate::features::duel::screen::state::OpenDuel;
use crate::tui::keymap::{Command, key_on};
use crate::tui::model::pace::{self, ReadingPace};
use crate::tui::model::{Model, Overlay};
use crate::tui::screens::Screen;
use crate::tui::text::counted;
use crate::tui::widgets::page::Page;
use std::collections::BTreeMap;

/// A session shorter than this, in milliseconds, without a finished task gets no summary.
const SHORT: i64 = 60_000;

/// Shows the summary, if anything was done.
pub(super) fn show(model: &mut Model) {
    let summary = model.duel().open().and_then(of_session);
    if let Some(summary) = summary {
        let done = model.duel().open().is_some_and(OpenDuel::all_done);
        let page = Page::new("This session", &summary);
        let page = if done {
            page.passing(Command::ShowTables)
        } else {
            page
        };
        model.overlays.push(Overlay::Page(page));
    }
}

/// Tasks, time and, when all tasks are done, the person's own controls; `None` if nothing was done.
fn of_session(open: &OpenDuel) -> Option<String> {
    let pending = open.pending.iter().map(|(_, event)| event);
    let events = open.session.events.iter().skip(open.before).chain(pending);
    let mut active: BTreeMap<_, (i64, bool)> = BTreeMap::new();
    for event in events {
        let (ms, finished) = active.entry(event.task()).or_default();
        *ms += event.active_ms;
        *finished |= event.action == Action::Finish;
    }
    let finished = active.values().filter(|(_, finished)| *finished).count();
    let total: i64 = active.values().map(|(ms, _)| ms).sum();
    if finished == 0 && total < SHORT {
        return None;
    }
    let mut lines = vec![
        format!("{} done in this session", counted(finished, "task")),
        format!(
            "{} of {} done in total",
            open.done(),
            counted(open.session.tasks.len(), "task")
        ),
    ];
    let paces = active.values().filter(|(_, finished)| *finished);
    let paces = paces.map(|(ms, _)| ReadingPace::new(Some(*ms), []));
    lines.extend(pace::time_words(paces, "task"));
    if open.all_done() {
        let me = Participant {
            name: open.session.annotator.clone(),
            number: open.session.number,
            answers: answers_of(&open.session.events),
        };
        let controls = controls_of(&open.session.duel, &[me]);
        lines.push(String::new());
        let mut tasks = open.session.tasks.iter();
        if tasks.any(|task| task.key.kind != TaskKind::Query) {
            lines.push("Your controls (they do not count in the result):".to_owned());
            lines.extend(controls.iter().map(control_words));
        }
        let key = key_on(Command::ShowTables, Screen::DUEL);
        lines.push(format!("Press {key} to see the result."));
    }
    Some(lines.join("\n"))
}
