//! Selecting a student, a checkpoint, a figure, and a group of its battles.

use super::commands;
use super::state::TRAINED;
use super::view;
use crate::app::error::AppError;
use crate::features::student::app::StudentsFound;
use crate::features::student::domain::figure::{Figure, FigureGroup};
use crate::tui::keymap::Command;
use crate::tui::message::Effect;
use crate::tui::model::{ConfirmFor, Model, Overlay};
use crate::tui::navigation::{cycled, moved, neighbor};
use crate::tui::screens::Screen;
use crate::tui::widgets::page::Page;
use crate::tui::widgets::toast::Level;

pub(crate) fn show(model: &mut Model) -> Vec<Effect> {
    model.stack.push(Screen::STUDENT);
    model.student_mut().found = None;
    model.student_mut().groups.clear();
    ask(model, None)
}

/// Requests the report on a student; on the first one for `None`.
pub(crate) fn ask(model: &mut Model, name: Option<String>) -> Vec<Effect> {
    model.report_student(name)
}

/// Requests the current report again, since a verdict changes the scores that the student is
/// compared with.
pub(crate) fn ask_again(model: &mut Model) -> Vec<Effect> {
    let name = model.student().report().map(|report| report.name.clone());
    ask(model, name)
}

pub(crate) fn reported(model: &mut Model, found: Result<Box<StudentsFound>, AppError>) {
    let before = model.student().report().map(|report| report.name.clone());
    model.student_mut().found = Some(found);
    let steps = model
        .student()
        .report()
        .map_or(0, |report| report.steps.len());
    let same = before.is_some() && before == model.student().report().map(|of| of.name.clone());
    // Show the latest checkpoint until the person chooses another one.
    if !same {
        model.student_mut().step = steps.saturating_sub(1);
    }
    model.student_mut().step = model.student().step.min(steps.saturating_sub(1));
    model.student_mut().regroup();
}

/// Asks whether to train the built-in student.
fn ask_to_train(model: &mut Model) {
    let question = format!(
        "The built-in student is trained on this computer, on the battles that are judged, and \
         stored as {TRAINED} with its predictions of all pairs. No judge is asked: it costs \
         nothing. Train?"
    );
    model.confirm(
        "Train a student",
        &question,
        ConfirmFor::Screen(Screen::STUDENT),
    );
}

pub(super) fn start_training(model: &mut Model) -> Vec<Effect> {
    model.inform("training the student …");
    model.train_student()
}

/// The student was trained and stored; shows it if the screen is still open.
pub(super) fn trained(model: &mut Model, kept: String) -> Vec<Effect> {
    model.say(Level::Good, &kept);
    if model.screen() == Screen::STUDENT {
        ask(model, Some(TRAINED.to_owned()))
    } else {
        Vec::new()
    }
}

/// Which commands are available now.
pub(super) fn offers(model: &Model, command: Command) -> bool {
    let steps = model
        .student()
        .report()
        .map_or(0, |report| report.steps.len());
    match command {
        commands::NEXT_STUDENT => model.student().names().len() > 1,
        commands::NEXT_CHECKPOINT | commands::PREVIOUS_CHECKPOINT => steps > 1,
        Command::Open => model
            .student()
            .group()
            .is_some_and(|group| !group.rows.is_empty()),
        commands::NEXT_FIGURE | commands::PREVIOUS_FIGURE | Command::ShowTables => steps > 0,
        _ => true,
    }
}

pub(super) fn update(model: &mut Model, command: Command) -> Vec<Effect> {
    if command == commands::TRAIN_STUDENT {
        ask_to_train(model);
        return Vec::new();
    }
    let Some(steps) = model.student().report().map(|report| report.steps.len()) else {
        return Vec::new();
    };
    match command {
        commands::NEXT_STUDENT | Command::PreviousPane => {
            let forward = command == commands::NEXT_STUDENT;
            return other_student(model, forward);
        }
        commands::NEXT_FIGURE | commands::PREVIOUS_FIGURE => {
            let forward = command == commands::NEXT_FIGURE;
            model.student_mut().figure = cycled(&Figure::ALL, model.student().figure, forward);
            model.student_mut().cursor = 0;
            model.student_mut().groups.clear();
            model.student_mut().regroup();
        }
        commands::NEXT_CHECKPOINT | commands::PREVIOUS_CHECKPOINT => {
            let forward = command == commands::NEXT_CHECKPOINT;
            match neighbor(model.student().step, forward, steps) {
                Some(step) => {
                    model.student_mut().step = step;
                    model.student_mut().regroup();
                }
                None => model.inform("no further checkpoint on this side"),
            }
        }
        Command::Open => match model.student().group() {
            Some(group) if !group.rows.is_empty() => {
                model.student_mut().battle_cursor = 0;
                model.student_mut().battles.clear();
                model.student_mut().sort_battles();
                model.stack.push(Screen::STUDENT_BATTLES);
            }
            _ => model.inform("no battle is here"),
        },
        Command::ShowTables => {
            if let Some(text) = view::page_text(model, Page::columns(model.size.0)) {
                let page = Page::new("Numbers", &text);
                model.overlays.push(Overlay::Page(page));
            }
        }
        _ => {
            let (at, page) = (model.student().cursor, model.areas.page);
            let groups = &model.student().groups;
            model.student_mut().cursor = if model.student().figure.is_plane() {
                next_group(groups, at, command).unwrap_or(at)
            } else {
                let along = match command {
                    Command::Right => Command::Down,
                    Command::Left => Command::Up,
                    other => other,
                };
                moved(at, along, groups.len(), page)
            };
        }
    }
    Vec::new()
}

fn other_student(model: &mut Model, forward: bool) -> Vec<Effect> {
    let names = model.student().names().to_vec();
    let here = model.student().report().map(|report| report.name.clone());
    let at = names.iter().position(|name| Some(name) == here.as_ref());
    let count = names.len();
    if count < 2 {
        model.inform("there is no other student");
        return Vec::new();
    }
    let step = if forward { 1 } else { count - 1 };
    let next = at.map_or(0, |at| (at + step) % count);
    ask(model, names.get(next).cloned())
}

/// The nearest group on one side in a plane, preferring one in line; the first or the last one for
/// their commands.
fn next_group(groups: &[FigureGroup], at: usize, command: Command) -> Option<usize> {
    let (column, row) = groups.get(at)?.place;
    let steps = |(x, y): (usize, usize)| {
        let (right, up) = (x as i64 - column as i64, y as i64 - row as i64);
        match command {
            Command::Right => (right, up),
            Command::Left => (-right, up),
            Command::Up => (up, right),
            Command::Down => (-up, right),
            _ => (0, 0),
        }
    };
    match command {
        Command::First => return Some(0),
        Command::Last => return groups.len().checked_sub(1),
        _ => {}
    }
    let ahead = groups.iter().enumerate().filter_map(|(index, group)| {
        let (ahead, aside) = steps(group.place);
        (ahead > 0).then_some((ahead + 3 * aside.abs(), index))
    });
    ahead.min().map(|(_, index)| index)
}
