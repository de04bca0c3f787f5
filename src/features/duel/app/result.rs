//! The result of a duel, computed from its rows.

use crate::app::error::{AppError, invalid};
use crate::client::now_ms;
use crate::features::duel::domain::{
    Action, DuelResult, Participant, TaskKind, answers_of, judgment_count, result, schedule,
};
use crate::features::duel::store::{DuelKey, NewDuelEvent, StoredDuel};
use crate::store::{Db, Result, Store};

/// The requested duel, or the latest if none is given.
///
/// # Errors
/// It does not exist, or there are no duels.
pub fn chosen_duel(store: &Store, key: Option<DuelKey>) -> std::result::Result<DuelKey, AppError> {
    match key {
        Some(key) => Ok(store.read_blocking(move |db| db.duel(key))?.key),
        None => store.read_blocking(|db| db.latest_duel())?.ok_or_else(|| {
            invalid!("the project has no duel; `overrule duel --a RANKING --b RANKING` makes one")
        }),
    }
}

/// The current result of a duel.
pub fn duel_result(db: &Db, key: DuelKey) -> Result<DuelResult> {
    let StoredDuel { duel, .. } = db.duel(key)?;
    Ok(result(&duel, &participants(db, key)?))
}

/// All participants with their answers, in the order of joining.
pub fn participants(db: &Db, key: DuelKey) -> Result<Vec<Participant>> {
    let mut events = db.duel_events_by_participant(key)?;
    let mut participants = Vec::new();
    for joined in db.duel_participants(key)? {
        if let Some(own) = events.remove(&joined.annotator) {
            participants.push(Participant {
                answers: answers_of(&own),
                name: joined.annotator,
                number: joined.number,
            });
        }
    }
    Ok(participants)
}

/// A duel with summary numbers.
#[derive(Clone, Debug)]
pub struct ListedDuel {
    pub stored: StoredDuel,
    /// Number of participants.
    pub participants: usize,
    /// Number of finished judgments of queries.
    pub judgments: usize,
}

/// All duels, oldest first.
pub fn listed_duels(db: &Db) -> Result<Vec<ListedDuel>> {
    let duels = db.duels()?.into_iter();
    duels
        .map(|stored| {
            Ok(ListedDuel {
                participants: db.duel_participants(stored.key)?.len(),
                judgments: judgment_count(&stored.duel, &participants(db, stored.key)?),
                stored,
            })
        })
        .collect()
}

/// Whether revealing the result of a duel would end the person's blindness: the person takes part,
/// has tasks left and has not seen the result.
pub fn ends_blindness(
    store: &Store,
    key: DuelKey,
    annotator: &str,
) -> std::result::Result<bool, AppError> {
    if store.is_read_only() {
        return Ok(false);
    }
    let who = annotator.to_owned();
    Ok(store.read_blocking(move |db| {
        let Some(number) = db.duel_number(key, &who)? else {
            return Ok(false);
        };
        let own = db.duel_events_by_participant(key)?.remove(&who);
        let own = own.unwrap_or_default();
        let seen = own.iter().any(|event| event.action == Action::Reveal);
        let answers = answers_of(&own);
        let left = schedule(&db.duel(key)?.duel, number)
            .into_iter()
            .any(|task| {
                let answer = answers.get(&task.key);
                !answer.is_some_and(|answer| answer.finished)
            });
        Ok(left && !seen)
    })?)
}

/// Records that a person has seen the result of a duel, or the origin of its documents. Returns
/// whether that is new and the person takes part: the person's further judgments are not blind.
/// Records nothing in a read-only project, where nothing can be judged either.
pub fn note_reveal(
    store: &Store,
    key: DuelKey,
    annotator: &str,
) -> std::result::Result<bool, AppError> {
    if store.is_read_only() {
        return Ok(false);
    }
    let who = annotator.to_owned();
    Ok(store.write_blocking(move |db| {
        let first = db.duel(key)?.duel.queries.into_iter().next();
        let (Some(first), Some(_)) = (first, db.duel_number(key, &who)?) else {
            return Ok(false);
        };
        let own = db.duel_events_by_participant(key)?.remove(&who);
        let mut own = own.iter().flatten();
        if own.any(|event| event.action == Action::Reveal) {
            return Ok(false);
        }
        db.add_duel_event(
            key,
            &NewDuelEvent {
                annotator: who.clone(),
                // It belongs to no particular task.
                kind: TaskKind::Query,
                query: first.query,
                action: Action::Reveal,
                active_ms: 0,
                created_ms: now_ms(),
            },
        )?;
        Ok(true)
    })?)
}
