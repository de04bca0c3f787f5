//! The stored answers of a battery.

use crate::domain::frozen_pair::FrozenPair;
use crate::domain::vote::{Margin, Outcome};
use crate::features::battery::domain::Manipulation;
use crate::store::frozen_sets::FrozenSet;
use crate::store::{Db, Result};
use sha2::{Digest as _, Sha256};

/// Name of the question without a manipulation, which is asked if there is no vote.
const PLAIN: &str = "plain";

/// Key of the answer to a question: of the plain one without a manipulation. No run and no other
/// question uses an answer with this key.
pub(super) fn answer_key(
    battery: &FrozenSet,
    pair: &FrozenPair,
    manipulation: Option<Manipulation>,
) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in [
        "battery",
        &battery.uid,
        manipulation.map_or(PLAIN, Manipulation::name),
    ] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.update(pair.key);
    hash.finalize().into()
}

/// Whether there is an answer. An unreadable one is an answer: it is paid for, and asked for once.
pub(super) fn is_answered(db: &Db, key: &[u8; 32]) -> Result<bool> {
    Ok(db.rerank_answer(key, false)?.is_some())
}

/// The answers of a judge about a pair, where A is the document that is shown first unless the order
/// is swapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PairAnswers {
    /// Without a manipulation; `None` without a readable answer.
    pub(super) plain: Option<Outcome>,
    /// In the order of [`Manipulation::ALL`].
    pub(super) manipulated: [Option<Outcome>; Manipulation::ALL.len()],
}

impl PairAnswers {
    pub(super) fn read(db: &Db, battery: &FrozenSet, pair: &FrozenPair) -> Result<Self> {
        let answer = |manipulation| -> Result<Option<Outcome>> {
            let found = db.served_answer(&answer_key(battery, pair, manipulation))?;
            Ok(found.map(|of| of.margin.outcome()))
        };
        let mut manipulated = [None; Manipulation::ALL.len()];
        for (place, manipulation) in manipulated.iter_mut().zip(Manipulation::ALL) {
            let found = answer(Some(manipulation))?;
            *place = if manipulation == Manipulation::Order {
                found.map(Outcome::flipped)
            } else {
                found
            };
        }
        Ok(Self {
            plain: match pair.vote.map(Margin::outcome) {
                Some(vote) => Some(vote),
                None => answer(None)?,
            },
            manipulated,
        })
    }
}
