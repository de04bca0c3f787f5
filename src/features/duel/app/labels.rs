//! Converts participants' choices to labels and rulings.

use super::result::{chosen_duel, participants};
use crate::app::adjudication::data::ruling_context;
use crate::app::error::AppError;
use crate::app::export::AddedLabels;
use crate::app::text_format::counted;
use crate::client::now_ms;
use crate::domain::adjudication::Finding;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::Qrels;
use crate::features::duel::domain::{
    Answer, Content, DuelForm, Participant, Task, TaskKind, schedule,
};
use crate::features::duel::store::{DuelKey, StoredDuel};
use crate::store::rulings::{NewRuling, RulingContext};
use crate::store::{Db, Result, Store, StoreError};
use std::collections::BTreeMap;

/// The labels derived from the choices of a duel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct DuelLabels {
    /// 1 if more than half of those who judged the document chose it, and 0 if fewer than half did.
    labels: Qrels,
    /// Number of documents chosen by exactly half of the participants, which get no label.
    divided: usize,
}

/// A participant's finished tasks that count, each with its answer.
fn judged<'a>(
    tasks: &'a [Task],
    participant: &'a Participant,
) -> impl Iterator<Item = (&'a Task, &'a Answer)> {
    tasks.iter().filter_map(|task| {
        let answer = participant.answers.get(&task.key)?;
        let counts = task.key.kind == TaskKind::Query && answer.finished;
        counts.then_some((task, answer))
    })
}

/// The documents shown in a task.
fn shown(task: &Task) -> impl Iterator<Item = &DocId> {
    let places = match &task.content {
        Content::Places(places) => places.as_slice(),
        Content::Lists { .. } => &[],
    };
    places.iter().filter_map(|place| place.document.as_ref())
}

/// Rejects duels of two lists, in which no documents are chosen.
fn with_choices(db: &Db, key: DuelKey) -> Result<StoredDuel> {
    let stored = db.duel(key)?;
    match stored.duel.form {
        DuelForm::Lists => Err(StoreError::Conflict(format!(
            "duel {}: in the form of lists no document is chosen; a grid or an interleaved list \
             makes labels",
            key.0
        ))),
        DuelForm::Grid | DuelForm::Interleaved => Ok(stored),
    }
}

/// The labels from finished tasks, by majority of those who judged a document.
fn duel_labels(db: &Db, key: DuelKey) -> Result<DuelLabels> {
    let duel = with_choices(db, key)?.duel;
    let mut votes: BTreeMap<(QueryId, DocId), (usize, usize)> = BTreeMap::new();
    for participant in participants(db, key)? {
        let tasks = schedule(&duel, participant.number);
        for (task, answer) in judged(&tasks, &participant) {
            for document in shown(task) {
                let chosen = answer.selected.contains_key(&Some(document.clone()));
                let place = (task.key.query.clone(), document.clone());
                let (yes, all) = votes.entry(place).or_default();
                *yes += usize::from(chosen);
                *all += 1;
            }
        }
    }
    let mut made = DuelLabels::default();
    for ((query, document), (yes, all)) in votes {
        match (2 * yes).cmp(&all) {
            std::cmp::Ordering::Equal => made.divided += 1,
            side => {
                let grades = made.labels.entry(query).or_default();
                grades.insert(document, i32::from(side.is_gt()));
            }
        }
    }
    Ok(made)
}

/// The labels of a duel for an export; by default, of the latest duel.
pub fn chosen_labels(
    store: &Store,
    duel: Option<DuelKey>,
) -> std::result::Result<AddedLabels, AppError> {
    let key = chosen_duel(store, duel)?;
    let DuelLabels { labels, divided } = store.read_blocking(move |db| duel_labels(db, key))?;
    let divided = (divided > 0).then(|| {
        let documents = counted(divided, "document");
        format!("{documents} without one: half chose them, half did not")
    });
    Ok(AddedLabels {
        labels,
        origin: format!(
            "by what most participants of duel {} chose (1) or did not (0)",
            key.0
        ),
        notes: divided.into_iter().collect(),
    })
}

/// Result of [`rule_as_chosen`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RulingsMade {
    pub relevant: usize,
    pub not: usize,
    /// Number of documents on which the person already has a current ruling.
    pub known: usize,
    /// Number of new rulings made after the person had seen the result.
    pub not_blind: usize,
}

/// Makes rulings for an annotator from the choices in finished tasks: *relevant* for chosen
/// documents and, with `all`, *not* for documents shown but not chosen. Existing rulings are kept.
pub fn rule_as_chosen(db: &Db, key: DuelKey, annotator: &str, all: bool) -> Result<RulingsMade> {
    let duel = with_choices(db, key)?.duel;
    let everyone = participants(db, key)?;
    let Some(own) = everyone.iter().find(|one| one.name == annotator) else {
        return Err(StoreError::NotFound(format!(
            "{annotator:?} has done nothing in duel {}; --annotator names who has",
            key.0
        )));
    };
    let mut made = RulingsMade::default();
    let tasks = schedule(&duel, own.number);
    for (task, answer) in judged(&tasks, own) {
        let query = db.find_query(task.key.query.as_str())?;
        for document in shown(task) {
            let chosen = answer.selected.get(&Some(document.clone()));
            if chosen.is_none() && !all {
                continue;
            }
            let standing = db.rulings_on(query, document)?;
            if standing.iter().any(|row| row.ruling.annotator == annotator) {
                made.known += 1;
                continue;
            }
            let note = match chosen.copied().flatten() {
                Some(passage) => {
                    let position = db.find_document(query, document.as_str())?;
                    let text = db.document_text(query, position)?;
                    let marked = text.chars().skip(passage.start);
                    let marked: String = marked
                        .take(passage.end.saturating_sub(passage.start))
                        .collect();
                    format!("duel {}: {marked}", key.0)
                }
                None => format!("duel {}", key.0),
            };
            let finding = match chosen {
                Some(_) => Finding::Relevant,
                None => Finding::Not,
            };
            db.add_ruling(&NewRuling {
                query,
                document: document.clone(),
                finding,
                fault: None,
                note: Some(note),
                annotator: annotator.to_owned(),
                created_ms: now_ms(),
                about: RulingContext {
                    blind: !answer.after_reveal,
                    ..ruling_context(db, query, document, duel.level)?
                },
                after_reveal: false,
            })?;
            made.not_blind += usize::from(answer.after_reveal);
            match finding {
                Finding::Relevant => made.relevant += 1,
                _ => made.not += 1,
            }
        }
    }
    Ok(made)
}
