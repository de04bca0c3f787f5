//! Opening a duel, navigating it, pausing and leaving it.

use super::choice::{PREFERENCES, choose_whole, finish, none_serves, prefer, remove_choice};
use super::commands;
use super::moving::{go, load, look_ahead};
use super::record::record;
use super::{chooser, summary};
use crate::app::error::AppError;
use crate::features::duel::app::{DuelRankings, DuelSession, TaskTexts};
use crate::features::duel::domain::{Action, Content, DuelForm};
use crate::features::duel::screen::state::{
    DuelChooser, DuelPhase, GRID, OpenDuel, Reading, TaskCards,
};
use crate::features::duel::store::DuelKey;
use crate::tui::keymap::binding::Binding;
use crate::tui::keymap::{Command, Scope, key_on};
use crate::tui::message::Effect;
use crate::tui::model::{ConfirmFor, Model};
use crate::tui::navigation::moved;
use crate::tui::screens::Screen;
use crate::tui::screens::behavior::Click;
use std::time::Duration;

/// What a request to open a duel found.
#[derive(Debug)]
pub(crate) enum FoundDuel {
    Session(Box<DuelSession>),
    /// A new duel can be created from these rankings.
    Choice(DuelRankings),
}

/// The commands of the digits, in order.
const PLACES: [Command; 9] = [
    commands::PLACE_1,
    commands::PLACE_2,
    commands::PLACE_3,
    commands::PLACE_4,
    commands::PLACE_5,
    commands::PLACE_6,
    commands::PLACE_7,
    commands::PLACE_8,
    commands::PLACE_9,
];

/// Opens a duel, by default the latest one.
pub(crate) fn show(model: &mut Model, key: Option<DuelKey>) -> Vec<Effect> {
    if model.screen() != Screen::DUEL {
        model.stack.push(Screen::DUEL);
    }
    load(model, key)
}

/// Another participant continues: the tasks, their order and the answers on screen are those of the
/// previous one.
pub(super) fn renamed(model: &mut Model) -> Vec<Effect> {
    let Some(key) = model.duel().open().map(|open| open.session.key) else {
        return Vec::new();
    };
    model.stack.retain(|screen| *screen != Screen::PASSAGE);
    load(model, Some(key))
}

pub(crate) fn opened(model: &mut Model, found: Result<FoundDuel, AppError>) -> Vec<Effect> {
    if let Ok(FoundDuel::Session(session)) = &found
        && session.annotator != model.options.annotator
    {
        // It was opened for the previous name.
        return load(model, Some(session.key));
    }
    model.duel_mut().state = match found {
        Err(error) => DuelPhase::Failed(error.to_string()),
        Ok(FoundDuel::Choice(rankings)) => {
            DuelPhase::Choosing(DuelChooser::new(rankings, model.duel().another))
        }
        Ok(FoundDuel::Session(session)) => DuelPhase::Open(Box::new(OpenDuel::new(*session))),
    };
    look_ahead(model)
}

pub(crate) fn texts(model: &mut Model, at: usize, texts: &TaskTexts) {
    let now = model.now;
    let Some(open) = model.duel_mut().open_mut() else {
        return;
    };
    if let Some(task) = open.session.tasks.get(at) {
        open.cards.insert(at, TaskCards::new(task, texts));
        if at == open.task && !open.paused {
            open.clock.start(now);
        }
    }
}

/// Counts active time after a key press, on a screen of the duel or elsewhere.
pub(crate) fn touched(model: &mut Model) {
    let (here, now) = (
        matches!(model.screen(), Screen::DUEL | Screen::PASSAGE),
        model.now,
    );
    let idle = Duration::from_secs(model.options.judging.idle_s);
    if let Some(open) = model.duel_mut().open_mut() {
        if here && !open.paused && open.task_cards().is_some() {
            open.clock.start(now);
            open.clock.touch(now, idle);
        } else {
            open.clock.stop();
        }
    }
}

/// Why nothing can be chosen now.
pub(crate) fn obstacle(model: &Model) -> Option<&'static str> {
    if let DuelPhase::Choosing(_) = model.duel().state {
        return None;
    }
    match model.duel().open() {
        None => Some("there is no task yet"),
        Some(open) if open.paused => Some("the duel is paused"),
        Some(open) if open.tasks_cursor.is_some() => Some("close the list of tasks first"),
        Some(open) if open.task_cards().is_none() => {
            Some("no choice yet: the task is still loading")
        }
        Some(_) => None,
    }
}

/// Which commands are available now.
pub(super) fn offers(model: &Model, command: Command) -> bool {
    let own = |binding: &Binding| binding.command == command;
    if !Scope::Screen(Screen::DUEL).own().iter().any(own) {
        return true;
    }
    if let DuelPhase::Choosing(chooser) = &model.duel().state {
        return chooser::offers(chooser, command);
    }
    let Some(open) = model.duel().open() else {
        return false;
    };
    if open.paused {
        return command == commands::PAUSE_TASK;
    }
    if open.tasks_cursor.is_some() {
        return matches!(command, Command::Open | Command::NextPane);
    }
    let lists = open.form() == DuelForm::Lists;
    let card = open.card();
    let chosen = card.is_some_and(|card| open.choice(&card.document).is_some());
    let none = open.answer().is_some_and(|answer| answer.none_serves);
    let finished = open.answer().is_some_and(|answer| answer.finished);
    match command {
        Command::Open => card.is_some_and(|card| card.document.is_some()),
        commands::CHOOSE_WHOLE => !lists && card.is_some() && !chosen,
        commands::REMOVE_CHOICE => !lists && chosen,
        commands::NONE_SERVES => !lists && !none,
        commands::FINISH_TASK => open.is_answered() && (!finished || open.next_undone().is_some()),
        commands::NEXT_TASK => open.task + 1 < open.session.tasks.len(),
        commands::PREVIOUS_TASK => open.task > 0,
        command if PREFERENCES.of(command).is_some() => lists,
        _ => true,
    }
}

/// The labels of keys in the current state.
pub(super) fn labels(model: &Model) -> &'static [(&'static str, &'static str)] {
    if let DuelPhase::Choosing(_) = model.duel().state {
        return chooser::LABELS;
    }
    let open = model.duel().open();
    let tasks = open.is_some_and(|open| open.tasks_cursor.is_some());
    let chosen = open.and_then(|open| open.choice(&open.card()?.document));
    if open.is_some_and(|open| open.paused) {
        return pause_label(model);
    }
    match (tasks, chosen) {
        (true, _) => &[("read", "this task"), ("tasks", "back")],
        (false, Some(_)) => &[("read", "change")],
        (false, None) => &[],
    }
}

pub(super) fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    if let DuelPhase::Choosing(_) = model.duel().state {
        return chooser::update(model, command);
    }
    let Some(open) = model.duel_mut().open_mut() else {
        return Vec::new();
    };
    if command == commands::PAUSE_TASK {
        return pause(model);
    }
    if open.paused {
        model.inform("the duel is paused");
        return Vec::new();
    }
    if command == Command::NextPane || command == Command::PreviousPane {
        let task = open.task;
        open.tasks_cursor = match open.tasks_cursor {
            None => Some(task),
            Some(_) => None,
        };
        return Vec::new();
    }
    if let Some(cursor) = open.tasks_cursor {
        if command == Command::Open {
            open.tasks_cursor = None;
            return go(model, cursor);
        }
        let (count, page) = (open.session.tasks.len(), model.areas.page);
        if let Some(open) = model.duel_mut().open_mut() {
            open.tasks_cursor = Some(moved(cursor, command, count, page));
        }
        return Vec::new();
    }
    if let Some(step) = PREFERENCES.of(command) {
        return match model.duel().open().map(OpenDuel::form) {
            Some(DuelForm::Lists) => prefer(model, step),
            _ => Vec::new(),
        };
    }
    if let Some(place) = PLACES.iter().position(|known| *known == command) {
        if place < open.places() {
            open.cursor = place;
        }
        return Vec::new();
    }
    let lists = open.form() == DuelForm::Lists;
    match command {
        Command::Open => read(model),
        commands::NEXT_TASK => step(model, true),
        commands::PREVIOUS_TASK => step(model, false),
        commands::FINISH_TASK => finish(model),
        commands::CHOOSE_WHOLE | commands::REMOVE_CHOICE | commands::NONE_SERVES if lists => {
            let [left, right] = [commands::PREFER_LEFT, commands::PREFER_RIGHT]
                .map(|key| key_on(key, Screen::DUEL));
            model.inform(&format!(
                "the lists are compared as a whole: press {left} or {right} to say which one is \
                 better"
            ));
            Vec::new()
        }
        commands::CHOOSE_WHOLE => choose_whole(model),
        commands::REMOVE_CHOICE => remove_choice(model),
        commands::NONE_SERVES => none_serves(model),
        Command::ShowTables => ask_for_result(model),
        commands::NEW_DUEL => choose_another(model),
        Command::Guideline => model.read_guideline(),
        command => {
            walk(model, command);
            Vec::new()
        }
    }
}

/// Leaves the duel to create another one.
fn choose_another(model: &mut Model) -> Vec<Effect> {
    let mut effects = leave(model);
    closed(model);
    model.duel_mut().another = true;
    model.duel_mut().state = DuelPhase::Loading;
    effects.push(model.read_duel_rankings());
    effects
}

/// Moves the cursor in the grid or the lists.
fn walk(model: &mut Model, command: Command) {
    let page = model.areas.page;
    let Some(open) = model.duel_mut().open_mut() else {
        return;
    };
    let count = open.places();
    let last = count.saturating_sub(1);
    let here = open.cursor;
    let content = open.current().map(|task| &task.content);
    let two = matches!(content, Some(Content::Lists { .. }));
    let grid = open.form() == DuelForm::Grid;
    open.cursor = match command {
        Command::Left if two => {
            open.side = 0;
            here.min(open.places().saturating_sub(1))
        }
        Command::Right if two => {
            open.side = 1;
            here.min(open.places().saturating_sub(1))
        }
        Command::Left if grid && !here.is_multiple_of(GRID) => here - 1,
        Command::Right if grid && here % GRID + 1 < GRID => (here + 1).min(last),
        Command::Up if grid => here.checked_sub(GRID).unwrap_or(here),
        Command::Down if grid && here + GRID < count => here + GRID,
        Command::Down | Command::PageDown | Command::PageUp if grid => here,
        command => moved(here, command, count, page),
    };
}

fn step(model: &mut Model, forward: bool) -> Vec<Effect> {
    let Some(open) = model.duel().open() else {
        return Vec::new();
    };
    let to = if forward {
        Some(open.task + 1)
    } else {
        open.task.checked_sub(1)
    };
    match to.filter(|to| *to < open.session.tasks.len()) {
        Some(to) => go(model, to),
        None => {
            model.inform(if forward {
                "this is the last task"
            } else {
                "this is the first task"
            });
            Vec::new()
        }
    }
}

/// Opens the text under the cursor.
fn read(model: &mut Model) -> Vec<Effect> {
    let Some(open) = model.duel_mut().open_mut() else {
        return Vec::new();
    };
    let Some(card) = open.card() else {
        return Vec::new();
    };
    let Some(document) = card.document.clone() else {
        let choose = key_on(commands::CHOOSE_WHOLE, Screen::DUEL);
        model.inform(&format!(
            "there is nothing to read; press {choose} to choose it"
        ));
        return Vec::new();
    };
    let chosen = open
        .choice(&card.document)
        .and_then(|choice| choice.passage);
    open.reading = Some(Reading::new(card, chosen));
    model.stack.push(Screen::PASSAGE);
    record(
        model,
        Action::Open {
            document: Some(document),
        },
    )
}

/// Hides the task and stops its clock, or resumes.
pub(crate) fn pause(model: &mut Model) -> Vec<Effect> {
    let now = model.now;
    let Some(open) = model.duel_mut().open_mut() else {
        return Vec::new();
    };
    if open.paused {
        open.paused = false;
        if open.task_cards().is_some() {
            open.clock.start(now);
        }
        return Vec::new();
    }
    let effects = record(model, Action::Leave);
    if let Some(open) = model.duel_mut().open_mut() {
        open.paused = true;
        open.clock.stop();
    }
    effects
}

/// `Esc` ends a pause and closes the list of tasks before it leaves the screen.
pub(super) fn closes(model: &mut Model) -> bool {
    let tasks = |open: &mut OpenDuel| open.tasks_cursor.take().is_some();
    ends_pause(model) || model.duel_mut().open_mut().is_some_and(tasks)
}

/// Ends a pause; returns false if there is none.
pub(crate) fn ends_pause(model: &mut Model) -> bool {
    let paused = model.duel().open().is_some_and(|open| open.paused);
    if paused {
        pause(model);
    }
    paused
}

pub(crate) fn pause_label(model: &Model) -> &'static [(&'static str, &'static str)] {
    if model.duel().open().is_some_and(|open| open.paused) {
        &[("pause", "continue")]
    } else {
        &[]
    }
}

/// The duel is visible again.
pub(super) fn returned(model: &mut Model) -> Vec<Effect> {
    let now = model.now;
    if let Some(open) = model.duel_mut().open_mut()
        && open.task_cards().is_some()
    {
        open.clock.start(now);
    }
    Vec::new()
}

/// The person leaves the duel, or one of its texts if the program ends.
pub(super) fn leave(model: &mut Model) -> Vec<Effect> {
    let paused = model.duel().open().is_none_or(|open| open.paused);
    if model.screen() == Screen::DUEL && !paused {
        record(model, Action::Leave)
    } else {
        Vec::new()
    }
}

/// Shows a summary of the work since the duel was opened.
pub(super) fn closed(model: &mut Model) {
    summary::show(model);
    if let Some(open) = model.duel_mut().open_mut() {
        open.clock.stop();
    }
}

/// Shows the result. A person with open tasks is asked first, since it ends their blindness.
fn ask_for_result(model: &mut Model) -> Vec<Effect> {
    let Some(open) = model.duel().open() else {
        return Vec::new();
    };
    if open.all_done() || open.has_seen_result() {
        return show_result(model);
    }
    let left = open.session.tasks.len() - open.done();
    let question = format!(
        "{} not done yet. The result says which ranking is which; later answers are marked as not \
         blind. Show it?",
        match left {
            1 => "1 task is".to_owned(),
            left => format!("{left} tasks are"),
        }
    );
    model.confirm("Result", &question, ConfirmFor::Screen(Screen::DUEL));
    Vec::new()
}

pub(crate) fn show_result(model: &mut Model) -> Vec<Effect> {
    let Some(open) = model.duel().open() else {
        return Vec::new();
    };
    let (key, seen) = (open.session.key, open.has_seen_result());
    let mut effects = if seen {
        Vec::new()
    } else {
        record(model, Action::Reveal)
    };
    model.inform("calculating the result …");
    effects.push(model.read_duel_result(key));
    effects
}

/// A click moves the cursor; a click on the cursor opens the text.
pub(super) fn click(model: &mut Model, column: u16, row: u16) -> Click {
    let areas = model.areas;
    if let DuelPhase::Choosing(chooser) = &mut model.duel_mut().state {
        return chooser::click(chooser, areas, row);
    }
    let Some(open) = model.duel_mut().open_mut() else {
        return Click::Moved;
    };
    if open.paused {
        return Click::Moved;
    }
    if let Some(cursor) = open.tasks_cursor {
        let clicked = areas.first + usize::from(row.saturating_sub(areas.list.y));
        if clicked == cursor {
            return Click::Open;
        }
        if clicked < open.session.tasks.len() {
            open.tasks_cursor = Some(clicked);
        }
        return Click::Moved;
    }
    let Some((side, place)) = super::view::place_at(open, areas, (column, row)) else {
        return Click::Moved;
    };
    if (side, place) == (open.side, open.cursor) {
        return Click::Open;
    }
    open.side = side;
    if place < open.places() {
        open.cursor = place;
    }
    Click::Moved
}
