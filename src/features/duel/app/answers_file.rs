//! Imports answers given elsewhere as a participant's own.

use super::session::{DuelSession, open_duel, task_texts};
use crate::app::error::{AppError, FileProblems};
use crate::app::input_files::{display_name, open};
use crate::client::now_ms;
use crate::domain::corpus::{DocId, QueryId};
use crate::features::duel::domain::{
    Action, Answer, Content, DuelForm, Passage, Side, Task, TaskKey, TaskKind, answers_of,
};
use crate::features::duel::store::{DuelKey, NewDuelEvent};
use crate::formats::problem::Problem;
use crate::store::Store;
use serde::Deserialize;
use std::collections::HashSet;
use std::io::BufRead as _;
use std::path::Path;

/// The content of a line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerLine {
    query: String,
    #[serde(default = "query_task")]
    task: TaskKind,
    #[serde(default)]
    selected: Vec<ChosenDocument>,
    #[serde(default)]
    none_serves: bool,
    /// From −2 (A much better) to 2 (B much better).
    prefer: Option<i8>,
    #[serde(default)]
    seconds: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChosenDocument {
    document: Option<DocId>,
    start: Option<usize>,
    end: Option<usize>,
}

fn query_task() -> TaskKind {
    TaskKind::Query
}

/// A task with its answer.
struct ReadAnswer {
    key: TaskKey,
    actions: Vec<Action>,
    active_ms: i64,
}

impl ReadAnswer {
    /// Turns it into the answer that replaces an existing one: choices that it does not name are
    /// undone, and if it equals the existing one, nothing is done.
    fn in_place_of(mut self, standing: Option<&Answer>) -> Self {
        let Some(standing) = standing else {
            return self;
        };
        let names = |document: &Option<DocId>| {
            self.actions.iter().any(
                |action| matches!(action, Action::Select { document: named, .. } if named == document),
            )
        };
        let stale: Vec<Action> = standing
            .selected
            .keys()
            .filter(|document| !names(document))
            .map(|document| Action::Unselect {
                document: document.clone(),
            })
            .collect();
        let said = |action: &Action| match action {
            Action::Select { document, passage } => {
                standing.selected.get(document) == Some(passage)
            }
            Action::NoneServes => standing.none_serves,
            Action::Prefer { step } => standing.preference == Some(*step),
            Action::Finish => standing.finished,
            _ => false,
        };
        if stale.is_empty() && self.actions.iter().all(said) {
            self.actions.clear();
        }
        self.actions.splice(0..0, stale);
        self
    }
}

/// Maximum time of an answer in seconds: one day.
const MOST_SECONDS: f64 = 86_400.0;

/// Imports the answers of a file as the annotator's, either all or none, and returns the number of
/// tasks. Lines are
/// `{"query": …, "selected": [{"document": …, "start": …, "end": …}], "seconds": …}`,
/// `{"query": …, "none_serves": true}`, or, for two lists, `{"query": …, "prefer": -1}` from −2 (A
/// much better) to 2 (B much better); `task` names a control.
pub fn take_answers(
    store: &Store,
    key: DuelKey,
    annotator: &str,
    path: &Path,
) -> Result<usize, AppError> {
    let name = display_name(path);
    let reader = open(path)?;
    let lines: Vec<String> = reader.lines().collect::<Result<_, _>>()?;
    let mut problems = FileProblems::of(path);
    let who = annotator.to_owned();
    // Joining the duel is the only change before every line has been checked.
    let session = store.write_blocking(move |db| open_duel(db, Some(key), &who, now_ms()))?;
    let Some(session) = session else {
        return Ok(0);
    };
    let mut answers = Vec::new();
    let standing = answers_of(&session.events);
    let mut seen = HashSet::new();
    for (at, line) in (1..).zip(&lines) {
        let line = line.trim_start_matches('\u{feff}');
        if line.trim().is_empty() {
            continue;
        }
        let read = read(store, &session, line)?.and_then(|read| {
            if seen.insert(read.key.clone()) {
                let standing = standing.get(&read.key);
                Ok(read.in_place_of(standing))
            } else {
                Err(AnswerLineError::Repeated)
            }
        });
        let read = read.map_err(|what| Problem::new(&name, Some(at), what));
        answers.extend(problems.keep(read));
    }
    problems.refuse("nothing was imported; correct the file")?;
    let count = answers.len();
    let who = annotator.to_owned();
    store.write_blocking(move |db| {
        for answer in answers {
            let mut active_ms = answer.active_ms;
            for action in answer.actions {
                db.add_duel_event(
                    key,
                    &NewDuelEvent {
                        annotator: who.clone(),
                        kind: answer.key.kind,
                        query: answer.key.query.clone(),
                        action,
                        active_ms: std::mem::take(&mut active_ms),
                        created_ms: now_ms(),
                    },
                )?;
            }
        }
        Ok(())
    })?;
    Ok(count)
}

/// What is wrong with a line of answers.
#[derive(Debug, PartialEq, thiserror::Error)]
enum AnswerLineError {
    #[error("{0}")]
    Json(String),
    #[error("this task has a line above; give one line per task")]
    Repeated,
    #[error("seconds: {0} is not a time: expected a number from 0 to {MOST_SECONDS}")]
    Seconds(f64),
    #[error(
        "query: no {kind} task on {query:?} is among those of {annotator}, who is number {number} \
         of the duel"
    )]
    NoTask {
        kind: TaskKind,
        query: String,
        annotator: String,
        /// From 1.
        number: usize,
    },
    #[error("prefer: is not a whole number from -2 to 2")]
    PreferRange,
    #[error("prefer: is missing; two lists are compared from -2 to 2")]
    PreferMissing,
    #[error("prefer: is for two lists, and this is {0}")]
    PreferNotAllowed(DuelForm),
    #[error("either documents are selected, or none_serves is true")]
    NothingSelected,
    #[error("selected: document {:?} is not shown in this task", .0.as_ref().map_or("null", DocId::as_str))]
    NotShown(Option<DocId>),
    #[error("selected: start and end go together")]
    HalfPassage,
    #[error("selected: the passage is not within the text of {characters} characters")]
    PassageOutside { characters: usize },
}

/// Parses a line; the inner error describes what is wrong with it.
fn read(
    store: &Store,
    session: &DuelSession,
    line: &str,
) -> Result<Result<ReadAnswer, AnswerLineError>, AppError> {
    let line: AnswerLine = match serde_json::from_str(line) {
        Ok(line) => line,
        Err(error) => return Ok(Err(AnswerLineError::Json(error.to_string()))),
    };
    if !(0.0..=MOST_SECONDS).contains(&line.seconds) {
        return Ok(Err(AnswerLineError::Seconds(line.seconds)));
    }
    let key = TaskKey {
        kind: line.task,
        query: QueryId::new(line.query.as_str()),
    };
    let Some(task) = session.tasks.iter().find(|task| task.key == key) else {
        return Ok(Err(AnswerLineError::NoTask {
            kind: line.task,
            query: line.query.clone(),
            annotator: session.annotator.clone(),
            number: session.number + 1,
        }));
    };
    let wanted = task.clone();
    let texts = store.read_blocking(move |db| task_texts(db, &wanted))?;
    let length = |document: &DocId| {
        texts
            .texts
            .get(document)
            .map_or(0, |text| text.chars().count())
    };
    Ok(
        actions(session.duel.form, task, &line, length).map(|actions| ReadAnswer {
            key,
            actions,
            active_ms: (line.seconds * 1000.0) as i64,
        }),
    )
}

fn actions(
    form: DuelForm,
    task: &Task,
    line: &AnswerLine,
    length: impl Fn(&DocId) -> usize,
) -> Result<Vec<Action>, AnswerLineError> {
    let mut actions = Vec::new();
    match (&task.content, line.prefer) {
        (Content::Lists { left, .. }, Some(step)) => {
            if !(-2..=2).contains(&step) {
                return Err(AnswerLineError::PreferRange);
            }
            let step = match left {
                Side::A => step,
                Side::B => -step,
            };
            actions.push(Action::Prefer { step });
        }
        (Content::Lists { .. }, None) => {
            return Err(AnswerLineError::PreferMissing);
        }
        (Content::Places(_), Some(_)) => {
            return Err(AnswerLineError::PreferNotAllowed(form));
        }
        (Content::Places(places), None) => {
            if line.none_serves != line.selected.is_empty() {
                return Err(AnswerLineError::NothingSelected);
            }
            for chosen in &line.selected {
                let document = &chosen.document;
                if !places.iter().any(|place| place.document == *document) {
                    return Err(AnswerLineError::NotShown(document.clone()));
                }
                let passage = match (chosen.start, chosen.end) {
                    (Some(start), Some(end)) => Some(Passage { start, end }),
                    (None, None) => None,
                    _ => return Err(AnswerLineError::HalfPassage),
                };
                let end = document.as_ref().map_or(0, &length);
                if passage.is_some_and(|passage| passage.start >= passage.end || passage.end > end)
                {
                    return Err(AnswerLineError::PassageOutside { characters: end });
                }
                actions.push(Action::Select {
                    document: document.clone(),
                    passage,
                });
            }
            if line.none_serves {
                actions.push(Action::NoneServes);
            }
        }
    }
    actions.push(Action::Finish);
    Ok(actions)
}
