//! Exports the documents of each query by zELO as a TREC run, or with the scores of a ranking as a
//! run or in zBench's format.

use super::row_files::RunFile;
use crate::app::error::{AppError, invalid};
use crate::app::scored_pools::scored_pools;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::sanitize;
use crate::formats::dataset::{self, Unscored};
use crate::store::corpus::QueryKey;
use crate::store::{Db, Store};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Write;

/// A ranking of queries, best first.
#[derive(Clone, Debug, Default)]
pub struct FoundRanking {
    /// Its name from here on.
    pub name: String,
    pub orders: BTreeMap<QueryId, Vec<(DocId, f64)>>,
    /// The scores that a method gave to the documents of `orders`, `None` for documents that it did
    /// not score. Queries are missing if the method gives no scores, or `orders` has them all.
    pub partly_scored: BTreeMap<QueryId, Vec<Option<f64>>>,
    /// Queries whose scores in `orders` are positions counted from the end, because the ranking
    /// gives no scores.
    pub placed: BTreeSet<QueryId>,
    /// Notes on it.
    pub notes: Vec<String>,
}

/// A query's documents in the order of a ranking.
struct ScoredOrder<'a> {
    /// With their scores, if they have one.
    documents: Vec<(&'a DocId, Option<f64>)>,
    /// Whether the scores are positions.
    placed: bool,
}

/// How a ranking was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WrittenRanking {
    /// Queries whose scores are positions counted from the end.
    pub placed: usize,
    /// Documents that the ranking does not score and that follow its scored ones.
    pub appended: usize,
    /// Documents with the score of the one before that readers of runs put in front of it, because
    /// they order equal scores by descending identifier.
    pub tied: usize,
    /// Documents that were not written.
    pub left_out: usize,
    /// Queries that were not written.
    pub missing: usize,
}

impl FoundRanking {
    /// Number of queries whose scores in `orders` are positions counted from the end.
    pub fn queries_by_place(&self) -> usize {
        self.placed.len() + self.partly_scored.len()
    }

    /// The scores of a query; `None` if the ranking lacks the query.
    fn scored(&self, query: &QueryId) -> Option<ScoredOrder<'_>> {
        let order = self.orders.get(query)?;
        let documents = order.iter().map(|(document, _)| document);
        Some(match self.partly_scored.get(query) {
            Some(scores) => ScoredOrder {
                documents: documents.zip(scores.iter().copied()).collect(),
                placed: false,
            },
            None => ScoredOrder {
                documents: order
                    .iter()
                    .map(|(document, score)| (document, Some(*score)))
                    .collect(),
                placed: self.placed.contains(query),
            },
        })
    }
}

/// Scores that put documents in this order: those given, and below them one less per document that
/// has none. `None` if the given scores contradict the order.
fn descending(scores: impl Iterator<Item = Option<f64>>) -> Option<(Vec<f64>, usize)> {
    let (mut found, mut appended): (Vec<f64>, usize) = (Vec::new(), 0);
    for score in scores {
        match score {
            Some(_) if appended > 0 => return None,
            Some(score) if found.last().is_some_and(|above| *above < score) => return None,
            Some(score) => found.push(score),
            None => {
                found.push(found.last()? - 1.0);
                appended += 1;
            }
        }
    }
    Some((found, appended))
}

/// Writes a run whose last column is `tag`. Returns the number of documents without a score, which
/// are skipped.
///
/// # Errors
/// No document has a score, or an identifier does not fit in a column.
pub fn write_run(
    store: &Store,
    keys: &[QueryKey],
    tag: &str,
    mut out: RunFile<'_>,
) -> Result<usize, AppError> {
    let (mut written, mut left_out) = (0, 0);
    for pool in scored_pools(store, keys)? {
        let ranking = pool.ranking();
        left_out += pool.documents.len() - ranking.len();
        written += ranking.len();
        out.add(&pool.query, &ranking, tag)?;
    }
    out.finish()?;
    match written {
        0 => Err(invalid!(
            "no document has a zELO score; run `overrule annotate` first"
        )),
        _ => Ok(left_out),
    }
}

/// Writes a ranking of the requested queries as a run, with its own scores where they put the
/// documents in its order, else with positions counted from the end; with `places`, always with
/// positions. The last column is `tag`, or the ranking's name.
///
/// # Errors
/// The ranking has none of the queries, or an identifier does not fit in a column.
pub fn write_ranking(
    ranking: &FoundRanking,
    wants: impl Fn(&QueryId) -> bool,
    tag: Option<&str>,
    places: bool,
    mut out: RunFile<'_>,
) -> Result<WrittenRanking, AppError> {
    let tag = tag.unwrap_or(&ranking.name);
    let (mut written, mut documents) = (WrittenRanking::default(), 0);
    for query in ranking.orders.keys().filter(|query| wants(query)) {
        let Some(ScoredOrder {
            documents: scored,
            placed,
        }) = ranking.scored(query)
        else {
            continue;
        };
        let scores = (!places && !placed)
            .then(|| descending(scored.iter().map(|(_, score)| *score)))
            .flatten();
        let scores = match scores {
            Some((scores, appended)) => {
                written.appended += appended;
                scores
            }
            None => {
                written.placed += usize::from(!places);
                (1..=scored.len()).rev().map(|place| place as f64).collect()
            }
        };
        let ids = scored.into_iter().map(|(document, _)| document.clone());
        let order: Vec<(DocId, f64)> = ids.zip(scores).collect();
        let differs = |two: &&[(DocId, f64)]| two[0].1 == two[1].1 && two[0].0 < two[1].0;
        written.tied += order.windows(2).filter(differs).count();
        out.add(query, &order, tag)?;
        documents += order.len();
    }
    out.finish()?;
    match documents {
        0 => Err(no_order(ranking)),
        _ => Ok(written),
    }
}

/// Writes the documents of some queries with the scores of a ranking, in zBench's annotated format.
/// Documents without a score are written with `null` if `keep` is set and skipped otherwise, as are
/// documents that are not in the pool of their query.
///
/// # Errors
/// The ranking has none of the queries.
pub fn write_scored_by(
    store: &Store,
    keys: &[QueryKey],
    ranking: &FoundRanking,
    keep: bool,
    mut out: &mut dyn Write,
) -> Result<WrittenRanking, AppError> {
    let mut written = WrittenRanking::default();
    store.read_each(keys, Db::pool, |_, pool| {
        let Some(ScoredOrder { documents, placed }) = ranking.scored(&pool.query.id) else {
            written.missing += 1;
            return Ok::<(), AppError>(());
        };
        let given: HashMap<&DocId, f64> = documents
            .into_iter()
            .filter_map(|(document, score)| Some((document, score?)))
            .collect();
        let scores: Vec<Option<f64>> = pool
            .documents
            .iter()
            .map(|document| given.get(&document.id).copied())
            .collect();
        let outside = given.len() - scores.iter().flatten().count();
        let missing = dataset::write_annotated(&mut out, &pool, &scores, Unscored::keep(keep))?;
        written.left_out += outside + if keep { 0 } else { missing };
        written.placed += usize::from(placed);
        Ok(())
    })?;
    if written.missing == keys.len() {
        return Err(no_order(ranking));
    }
    Ok(written)
}

fn no_order(ranking: &FoundRanking) -> AppError {
    invalid!(
        "{} does not rank these queries",
        sanitize::line(&ranking.name)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn scores_that_contradict_the_order_are_not_used() {
        let of = |scores: &[Option<f64>]| descending(scores.iter().copied());
        assert_eq!(
            of(&[Some(0.9), Some(0.9), Some(-2.0)]),
            Some((vec![0.9, 0.9, -2.0], 0))
        );
        assert_eq!(of(&[Some(3.0), None, None]), Some((vec![3.0, 2.0, 1.0], 2)));
        assert_eq!(of(&[Some(1.0), Some(2.0)]), None);
        assert_eq!(of(&[Some(1.0), None, Some(0.5)]), None);
        assert_eq!(of(&[None]), None);
    }

    proptest! {
        #[test]
        fn written_scores_never_rise(scores in prop::collection::vec(prop::option::of(-5.0..5.0), 1..9)) {
            if let Some((written, appended)) = descending(scores.iter().copied()) {
                prop_assert_eq!(written.len(), scores.len());
                prop_assert!(written.windows(2).all(|two| two[0] >= two[1]));
                prop_assert_eq!(appended, scores.iter().filter(|score| score.is_none()).count());
                let kept = scores.iter().zip(&written).filter_map(|(given, score)| Some((*given)? == *score));
                prop_assert!(kept.into_iter().all(|same| same));
            }
        }
    }
}
