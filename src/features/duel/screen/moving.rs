//! Opens a duel and moves between tasks, loading the texts of the next task ahead.

use super::record::record;
use crate::features::duel::domain::{Action, TaskKey};
use crate::features::duel::screen::state::DuelPhase;
use crate::features::duel::store::DuelKey;
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::screens::Screen;

/// Requests a duel, by default the latest one.
pub(super) fn load(model: &mut Model, key: Option<DuelKey>) -> Vec<Effect> {
    model.duel_mut().another = false;
    model.duel_mut().state = DuelPhase::Loading;
    vec![model.open_duel(key)]
}

/// Requests the texts of the current and the next task, and drops those of other tasks.
pub(super) fn look_ahead(model: &mut Model) -> Vec<Effect> {
    let now = model.now;
    let Some(open) = model.duel_mut().open_mut() else {
        return Vec::new();
    };
    let here = open.task;
    let next = open.next_undone().unwrap_or(here);
    open.cards
        .retain(|at, _| *at == next || at.abs_diff(here) <= 1);
    if open.cards.contains_key(&here) {
        open.clock.start(now);
    }
    let mut wanted = vec![here];
    wanted.extend([next, here + 1].into_iter().filter(|at| *at != here));
    wanted.dedup();
    let missing: Vec<_> = wanted
        .into_iter()
        .filter(|at| !open.cards.contains_key(at))
        .filter_map(|at| Some((at, open.session.tasks.get(at)?.clone())))
        .collect();
    missing
        .into_iter()
        .map(|(at, task)| model.read_task_texts(at, task))
        .collect()
}

/// Goes to a task and leaves the current one.
pub(crate) fn go(model: &mut Model, at: usize) -> Vec<Effect> {
    let Some(open) = model.duel().open() else {
        return Vec::new();
    };
    if at == open.task || at >= open.session.tasks.len() {
        return Vec::new();
    }
    let finished = open.answer().is_some_and(|answer| answer.finished);
    let here = open
        .session
        .tasks
        .get(open.task)
        .map(|task| task.key.clone());
    // A person who has just finished a task has left it.
    let mut effects = if finished
        && open
            .pending
            .iter()
            .any(|(_, one)| one.action == Action::Finish && Some(&one.task()) == here.as_ref())
    {
        Vec::new()
    } else {
        record(model, Action::Leave)
    };
    if let Some(open) = model.duel_mut().open_mut() {
        (open.task, open.cursor, open.side) = (at, 0, 0);
        open.clock.stop();
    }
    effects.extend(look_ahead(model));
    effects
}

/// Closes the open text and the list of tasks, and goes to a task.
pub(super) fn show_task(model: &mut Model, task: &TaskKey) -> Vec<Effect> {
    let mut effects = Vec::new();
    if model.screen() == Screen::PASSAGE {
        effects.extend(close_text(model));
        model.stack.pop();
    }
    let at = model.duel_mut().open_mut().and_then(|open| {
        open.tasks_cursor = None;
        open.session.tasks.iter().position(|one| one.key == *task)
    });
    effects.extend(at.map_or(Vec::new(), |at| go(model, at)));
    effects
}

/// A text is closed without a choice.
pub(crate) fn close_text(model: &mut Model) -> Vec<Effect> {
    let open = model.duel_mut().open_mut();
    match open.and_then(|open| open.reading.take()) {
        Some(reading) => record(
            model,
            Action::Close {
                document: reading.document,
            },
        ),
        None => Vec::new(),
    }
}
