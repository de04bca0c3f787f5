//! The texts of the regression set, and the votes of a judge on it.

use crate::domain::battle::Pair;
use crate::features::prompts::domain::{DecidedPair, SetPart, normalized};
use crate::features::prompts::store::PairVote;
use crate::judge::PoolText;
use crate::store::corpus::QueryKey;
use crate::store::{Db, StoreError};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// The votes of a judge on the pairs of the set: the first vote on each.
pub(super) type SetVotes = HashMap<(QueryKey, Pair), PairVote>;

/// The texts of the queries and documents of the set.
pub(super) struct SetTexts {
    pub(super) pools: BTreeMap<QueryKey, Arc<PoolText>>,
    /// The texts of the held-out part, in lower case and with single spaces.
    pub(super) held_out: HashSet<String>,
}

impl SetTexts {
    pub(super) fn read(db: &Db, set: &[(QueryKey, DecidedPair)]) -> Result<Self, StoreError> {
        let mut depths: BTreeMap<QueryKey, usize> = BTreeMap::new();
        for (key, of) in set {
            let depth = depths.entry(*key).or_default();
            *depth = (of.pair.high() + 1).max(*depth);
        }
        let mut pools = BTreeMap::new();
        for (key, depth) in depths {
            pools.insert(key, Arc::new(db.pool_text(key, Some(depth))?));
        }
        let mut texts = Self {
            pools,
            held_out: HashSet::new(),
        };
        let held_out = set.iter().filter(|(_, of)| of.part() == SetPart::HeldOut);
        let held_out: Vec<String> = held_out
            .flat_map(|(key, of)| texts.of(*key, of.pair))
            .map(normalized)
            .collect();
        texts.held_out.extend(held_out);
        Ok(texts)
    }

    /// The texts of the query and of both documents.
    pub(super) fn of(&self, query: QueryKey, pair: Pair) -> [&str; 3] {
        self.pools.get(&query).map_or([""; 3], |pool| {
            let document = |at: usize| pool.documents.get(at).map_or("", |text| &**text);
            [&pool.query, document(pair.low()), document(pair.high())]
        })
    }

    /// Whether a tuning pair has a text in common with the held-out part, whatever its case and
    /// white space.
    pub(super) fn are_held_out(&self, query: QueryKey, pair: Pair) -> bool {
        let texts = self.of(query, pair);
        texts
            .iter()
            .any(|text| self.held_out.contains(&normalized(text)))
    }
}
