//! The judged pairs of a project with the scores that the fit gives them, query by query.

use crate::app::error::AppError;
use crate::domain::battle::Pair;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::hex::short_hex;
use crate::domain::ranking::PairTarget;
use crate::store::Store;
use crate::store::corpus::QueryKey;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;

/// A query with its judged pairs.
#[derive(Clone, Debug)]
pub(super) struct JudgedQuery {
    pub(super) key: QueryKey,
    pub(super) id: QueryId,
    /// By pool index.
    pub(super) documents: Vec<DocId>,
    /// Ordered by their documents.
    pub(super) pairs: Vec<PairTarget>,
}

/// A short hash of pairs, by the names of their queries and documents; independent of the order of
/// pairs.
pub(super) fn hash_of_pairs<'a>(pairs: impl Iterator<Item = [&'a str; 3]>) -> String {
    let mut names: Vec<[&str; 3]> = pairs.collect();
    names.sort_unstable();
    let mut hash = Sha256::new();
    for name in names.as_flattened() {
        hash.update((name.len() as u64).to_le_bytes());
        hash.update(name);
    }
    short_hash(hash)
}

/// The first bytes of a hash in hexadecimal.
pub(super) fn short_hash(hash: Sha256) -> String {
    short_hex(&hash.finalize())
}

/// The judged pairs of all queries.
#[derive(Clone, Debug, Default)]
pub(super) struct JudgedPairs {
    pub(super) queries: Vec<JudgedQuery>,
    places: HashMap<QueryId, QueryPlace>,
}

#[derive(Clone, Debug)]
struct QueryPlace {
    query: usize,
    documents: HashMap<DocId, usize>,
    pairs: HashMap<Pair, usize>,
}

impl JudgedPairs {
    pub(super) fn read(store: &Store, keys: &[QueryKey]) -> Result<Self, AppError> {
        let mut queries: Vec<JudgedQuery> = Vec::with_capacity(keys.len());
        store.read_each(
            keys,
            |db, key| {
                let documents = db.documents(key)?.into_iter();
                Ok(JudgedQuery {
                    key,
                    id: db.query(key)?.id,
                    documents: documents.map(|document| document.id).collect(),
                    pairs: db.pair_targets(key)?,
                })
            },
            |_, query| {
                queries.push(query);
                Ok::<(), AppError>(())
            },
        )?;
        // The order of queries in a project must not affect resampling.
        queries.sort_by(|x, y| x.id.cmp(&y.id));
        let mut found = Self::default();
        queries.into_iter().for_each(|query| found.add(query));
        Ok(found)
    }

    fn add(&mut self, query: JudgedQuery) {
        let documents = query.documents.iter().cloned().enumerate();
        let pairs = query.pairs.iter().enumerate();
        let place = QueryPlace {
            query: self.queries.len(),
            documents: documents.map(|(at, id)| (id, at)).collect(),
            pairs: pairs.map(|(at, target)| (target.pair, at)).collect(),
        };
        self.places.insert(query.id.clone(), place);
        self.queries.push(query);
    }

    pub(super) fn len(&self) -> usize {
        self.queries.iter().map(|query| query.pairs.len()).sum()
    }

    /// The indices of a query and two of its documents; `None` if the project does not have them.
    pub(super) fn find(
        &self,
        query: &QueryId,
        a: &DocId,
        b: &DocId,
    ) -> Option<(usize, usize, usize)> {
        let place = self.places.get(query)?;
        let document = |id: &DocId| place.documents.get(id).copied();
        Some((place.query, document(a)?, document(b)?))
    }

    /// The index of a query; `None` if the project does not have it.
    pub(super) fn query_place(&self, query: &str) -> Option<usize> {
        Some(self.places.get(&QueryId::new(query))?.query)
    }

    /// The target of a pair in the fit, if it is judged.
    pub(super) fn target(&self, query: usize, pair: Pair) -> Option<PairTarget> {
        let query = self.queries.get(query)?;
        let at = self.places.get(&query.id)?.pairs.get(&pair)?;
        query.pairs.get(*at).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_known_by_their_names_and_not_by_their_number_or_order() {
        let pairs = [["q1", "a", "b"], ["q1", "a", "c"], ["q2", "a", "b"]];
        let hash = |pairs: &[[&'static str; 3]]| hash_of_pairs(pairs.iter().copied());
        let turned: Vec<_> = pairs.into_iter().rev().collect();
        assert_eq!(hash(&turned), hash(&pairs));
        assert_ne!(hash(&pairs[..2]), hash(&pairs[1..]));
        assert_ne!(hash(&[["q1", "ab", "c"]]), hash(&[["q1", "a", "bc"]]));
    }
}
