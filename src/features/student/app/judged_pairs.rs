//! The judged pairs of a project with the scores that the fit gives them, query by query.

use crate::app::error::AppError;
use crate::domain::battle::{Pair, all_pairs};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::hex::short_hex;
use crate::domain::ranking::PairTarget;
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result as StoreResult, Store};
use sha2::{Digest as _, Sha256};

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

impl JudgedQuery {
    pub(super) fn read(db: &Db, key: QueryKey) -> StoreResult<Self> {
        let mut documents = db.document_ids(key)?;
        documents.shrink_to_fit();
        let mut pairs = db.pair_targets(key)?;
        pairs.shrink_to_fit();
        Ok(Self {
            key,
            id: db.query(key)?.id,
            documents,
            pairs,
        })
    }

    /// The target of a pair in the fit, if it is judged.
    pub(super) fn target(&self, pair: Pair) -> Option<PairTarget> {
        let at = self.pairs.binary_search_by_key(&pair, |target| target.pair);
        self.pairs.get(at.ok()?).copied()
    }

    /// The names of the documents of a pair, that with the lower pool index first.
    pub(super) fn names(&self, pair: Pair) -> Option<[&str; 2]> {
        let name = |at: usize| self.documents.get(at).map(DocId::as_str);
        Some([name(pair.low())?, name(pair.high())?])
    }
}

/// The pairs of a query's documents without those that are judged, in the same order.
pub(super) fn unjudged(documents: usize, judged: &[PairTarget]) -> impl Iterator<Item = Pair> + '_ {
    let is_judged = |pair: &Pair| {
        let found = judged.binary_search_by_key(pair, |target| target.pair);
        found.is_ok()
    };
    all_pairs(documents).filter(move |pair| !is_judged(pair))
}

/// A short hash of pairs, by the names of their queries and documents. Queries are in ascending
/// order of their names, each with all of its pairs, in any order.
pub(super) fn hash_of_pairs<'a>(
    queries: impl Iterator<Item = (&'a str, Vec<[&'a str; 2]>)>,
) -> String {
    let mut hash = PairsHash::default();
    for (query, pairs) in queries {
        hash.add(query, pairs);
    }
    short_hash(hash.0)
}

/// [`hash_of_pairs`], query by query.
#[derive(Default)]
pub(super) struct PairsHash(pub(super) Sha256);

impl PairsHash {
    pub(super) fn add(&mut self, query: &str, mut pairs: Vec<[&str; 2]>) {
        pairs.sort_unstable();
        for name in pairs.iter().flat_map(|[a, b]| [query, a, b]) {
            self.0.update((name.len() as u64).to_le_bytes());
            self.0.update(name);
        }
    }
}

/// The first bytes of a hash in hexadecimal.
pub(super) fn short_hash(hash: Sha256) -> String {
    short_hex(&hash.finalize())
}

/// The judged pairs of all queries.
#[derive(Clone, Debug, Default)]
pub(super) struct JudgedPairs {
    /// Ordered by their names.
    pub(super) queries: Vec<JudgedQuery>,
    /// By query: the pool indexes of its documents, ordered by their names.
    by_name: Vec<Vec<usize>>,
}

impl JudgedPairs {
    pub(super) fn read(store: &Store, keys: &[QueryKey]) -> Result<Self, AppError> {
        let mut queries: Vec<JudgedQuery> = Vec::with_capacity(keys.len());
        store.read_each(keys, JudgedQuery::read, |_, query| {
            queries.push(query);
            Ok::<(), AppError>(())
        })?;
        // The order of queries in a project must not affect resampling.
        queries.sort_by(|x, y| x.id.cmp(&y.id));
        let by_name = queries.iter().map(|query| {
            let mut order: Vec<usize> = (0..query.documents.len()).collect();
            order.sort_unstable_by_key(|at| &query.documents[*at]);
            order
        });
        Ok(Self {
            by_name: by_name.collect(),
            queries,
        })
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
        let place = self.query_place(query.as_str())?;
        let (documents, order) = (
            &self.queries.get(place)?.documents,
            self.by_name.get(place)?,
        );
        let document = |id: &DocId| {
            let found = order.binary_search_by(|at| documents[*at].cmp(id));
            order.get(found.ok()?).copied()
        };
        Some((place, document(a)?, document(b)?))
    }

    /// The index of a query; `None` if the project does not have it.
    pub(super) fn query_place(&self, query: &str) -> Option<usize> {
        let queries = &self.queries;
        let place = queries.binary_search_by(|other| other.id.as_str().cmp(query));
        place.ok()
    }

    /// The target of a pair in the fit, if it is judged.
    pub(super) fn target(&self, query: usize, pair: Pair) -> Option<PairTarget> {
        self.queries.get(query)?.target(pair)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_known_by_their_names_and_not_by_their_number_or_order() {
        let q1 = || ("q1", vec![["a", "b"], ["a", "c"]]);
        let q2 = || ("q2", vec![["a", "b"]]);
        let all = hash_of_pairs([q1(), q2()].into_iter());
        let turned = ("q1", vec![["a", "c"], ["a", "b"]]);
        assert_eq!(hash_of_pairs([turned, q2()].into_iter()), all);
        for others in [vec![q1()], vec![("q1", vec![["a", "b"]]), q2()]] {
            assert_ne!(hash_of_pairs(others.into_iter()), all);
        }
        let split = |a, b| hash_of_pairs([("q1", vec![[a, b]])].into_iter());
        assert_ne!(split("ab", "c"), split("a", "bc"));
    }
}
