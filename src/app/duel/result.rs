//! What a duel has come to, from its rows.

use crate::app::error::{AppError, invalid};
use crate::domain::duel::{DuelResult, Participant, answers_of, result};
use crate::store::duels::{DuelKey, StoredDuel};
use crate::store::{Db, Result, Store};

/// The duel that is meant: the latest where none is named.
///
/// # Errors
/// It is not there, or there is none.
pub fn chosen_duel(store: &Store, key: Option<DuelKey>) -> std::result::Result<DuelKey, AppError> {
    match key {
        Some(key) => Ok(store.read_blocking(move |db| db.duel(key))?.key),
        None => store.read_blocking(|db| db.latest_duel())?.ok_or_else(|| {
            invalid!("the project has no duel; `overrule duel --a RANKING --b RANKING` makes one")
        }),
    }
}

/// What a duel has come to so far.
pub fn duel_result(db: &Db, key: DuelKey) -> Result<DuelResult> {
    let StoredDuel { duel, .. } = db.duel(key)?;
    Ok(result(&duel, &participants(db, key)?))
}

/// Everyone who did something, with their answers, in the order of joining.
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
