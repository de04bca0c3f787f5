//! Rounds in which a judge is asked about its pairs, and their stored answers.

use crate::client::call_key::identity_of;
use crate::domain::frozen_pair::FrozenPair;
use crate::domain::vote::Outcome;
use crate::features::drift::store::StoredRound;
use crate::store::frozen_sets::FrozenSet;
use crate::store::{Db, Result as StoreResult};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::time::Duration;

/// The rounds at the start: two answers to each question.
pub(super) const REFERENCE_ROUNDS: usize = 2;

/// Whether a judge should be checked again.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Due {
    /// The models and fingerprints that its votes have named since the last round, and not before.
    pub served: BTreeSet<String>,
    /// Milliseconds since the last round; `None` if there is none.
    pub age_ms: Option<i64>,
    /// Whether the last round is older than wanted.
    pub is_old: bool,
}

impl Due {
    pub fn is_due(&self) -> bool {
        self.is_old || !self.served.is_empty()
    }
}

/// The set of the judge with this name that was asked last; with an identity, only a set of that
/// identity.
pub(super) fn latest_set(
    db: &Db,
    judge: &str,
    identity: Option<&[u8; 32]>,
) -> StoreResult<Option<FrozenSet>> {
    let sets = db.drift_sets()?;
    Ok(sets.into_iter().find(|set| {
        set.judge == judge && identity.is_none_or(|identity| set.identity == *identity)
    }))
}

/// Key of the answer to a question in a round.
pub(super) fn answer_key(set: &str, number: usize, question: &[u8; 32]) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update("drift round");
    hash.update((set.len() as u64).to_le_bytes());
    hash.update(set);
    hash.update((number as u64).to_le_bytes());
    hash.update(question);
    hash.finalize().into()
}

/// The answers of a round, by pair.
pub(super) struct RoundAnswers {
    /// In the order of the pairs; `None` without a readable answer.
    pub(super) outcomes: Vec<Option<Outcome>>,
    /// The pairs without any answer, also without an unreadable one, by their place.
    pub(super) missing: Vec<usize>,
    /// The models that the answers name.
    pub(super) served: BTreeSet<String>,
}

impl RoundAnswers {
    pub(super) fn read(
        db: &Db,
        set: &FrozenSet,
        number: usize,
        pairs: &[FrozenPair],
    ) -> StoreResult<Self> {
        let mut round = Self {
            outcomes: Vec::with_capacity(pairs.len()),
            missing: Vec::new(),
            served: BTreeSet::new(),
        };
        for (place, pair) in pairs.iter().enumerate() {
            let key = answer_key(&set.uid, number, &pair.key);
            let answer = db.served_answer(&key)?;
            if answer.is_none() && db.rerank_answer(&key, false)?.is_none() {
                round.missing.push(place);
            }
            round
                .outcomes
                .push(answer.as_ref().map(|of| of.margin.outcome()));
            if let Some(answer) = answer {
                round.served.extend(answer.model);
            }
        }
        Ok(round)
    }
}

/// Whether the judge of a set should be checked again, also if its last round is `every` old.
pub(super) fn due(
    db: &Db,
    set: &FrozenSet,
    rounds: &[StoredRound],
    now: i64,
    every: Option<Duration>,
) -> StoreResult<Due> {
    let Some(last) = rounds.last() else {
        return Ok(Due::default());
    };
    let pairs = db.drift_pairs(&set.uid)?;
    let mut seen = BTreeSet::new();
    for round in rounds {
        seen.extend(RoundAnswers::read(db, set, round.number, &pairs)?.served);
    }
    let mut models = db.answering_models()?;
    let mut served = BTreeSet::new();
    for (judge, spec) in db.all_judges()? {
        if identity_of(&spec) != set.identity {
            continue;
        }
        let models = models.remove(&judge).unwrap_or_default();
        let models = models
            .into_iter()
            .filter(|of| of.first_ms > last.created_ms);
        served.extend(models.map(|of| of.model));
        served.extend(db.weights_replaced_since(judge, last.created_ms)?);
    }
    let age_ms = now - last.created_ms;
    let is_old = every.is_some_and(|every| age_ms as f64 >= every.as_secs_f64() * 1e3);
    Ok(Due {
        served: served.difference(&seen).cloned().collect(),
        age_ms: Some(age_ms),
        is_old,
    })
}
