//! Finds a ranking by name: in the project, as the first stage's order, as the result of a method,
//! or in a file.

use crate::app::error::{AppError, invalid};
use crate::app::export::FoundRanking;
use crate::app::input_files::{read_ranking, stem};
use crate::app::text_format::{counted, first_of};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::named::did_you_mean;
use crate::domain::sanitize;
use crate::features::methods::app::ORIGINAL;
use crate::features::methods::domain::MethodRow;
use crate::store::corpus::first_stage_order;
use crate::store::{Db, Store};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Maximum number of names listed for an unknown name.
const LISTED: usize = 12;

/// The names of the project's rankings, `original` and the results of methods, in the order in
/// which [`find_ranking`] searches them.
pub fn ranking_names(db: &Db) -> crate::store::Result<Vec<String>> {
    let rankings = db.rankings()?.into_iter().map(|(name, _)| name);
    let methods = methods(db)?.into_keys();
    Ok(rankings
        .chain([ORIGINAL.to_owned()])
        .chain(methods)
        .collect())
}

/// The distance between the tops of two rankings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TopDifference {
    /// The mean over queries of 1 − the average overlap of both tops (Webber, Moffat & Zobel 2010):
    /// over all depths, the share of one ranking's first documents that are not among the other's.
    /// 0 for the same order, 1 for nothing in common.
    pub distance: f64,
    /// Number of queries in both.
    pub queries: usize,
}

/// The rankings available for a duel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DuelRankings {
    /// As in [`ranking_names`].
    pub names: Vec<String>,
    /// Number of ranks that count as the top in the project.
    pub top: usize,
    /// The difference between two of them, keyed by their indices with the smaller first; missing
    /// if they have no query in common.
    pub differences: BTreeMap<(usize, usize), TopDifference>,
}

impl DuelRankings {
    /// Reads all rankings of the project and computes their pairwise differences.
    pub fn read(db: &Db) -> crate::store::Result<Self> {
        let compared = db.settings()?.top;
        let top = |order: &[(DocId, f64)]| -> Vec<DocId> {
            order
                .iter()
                .take(compared)
                .map(|(document, _)| document.clone())
                .collect()
        };
        let tops =
            |orders: &BTreeMap<QueryId, Vec<(DocId, f64)>>| -> BTreeMap<QueryId, Vec<DocId>> {
                let filled = orders.iter().filter(|(_, order)| !order.is_empty());
                filled
                    .map(|(query, order)| (query.clone(), top(order)))
                    .collect()
            };
        let mut found: Vec<(String, BTreeMap<QueryId, Vec<DocId>>)> = Vec::new();
        for (name, run) in db.rankings()? {
            found.push((name, tops(&run.into_iter().collect())));
        }
        found.push((ORIGINAL.to_owned(), tops(&original(db)?)));
        for (name, method) in methods(db)? {
            found.push((name, tops(&method.orders)));
        }
        let mut differences = BTreeMap::new();
        for (b, (_, of_b)) in found.iter().enumerate() {
            for (a, (_, of_a)) in found[..b].iter().enumerate() {
                differences.extend(difference(of_a, of_b).map(|found| ((a, b), found)));
            }
        }
        Ok(Self {
            names: found.into_iter().map(|(name, _)| name).collect(),
            top: compared,
            differences,
        })
    }

    /// The difference between two rankings, given by index.
    pub fn between(&self, a: usize, b: usize) -> Option<TopDifference> {
        self.differences.get(&(a.min(b), a.max(b))).copied()
    }

    /// The two rankings with the largest distance, preferring the first such pair, or else the
    /// first two.
    pub fn farthest(&self) -> Option<(usize, usize)> {
        let mut farthest: Option<((usize, usize), f64)> = None;
        for (pair, difference) in &self.differences {
            if farthest.is_none_or(|(_, most)| difference.distance > most) {
                farthest = Some((*pair, difference.distance));
            }
        }
        let first = (self.names.len() > 1).then_some((0, 1));
        farthest.map(|(pair, _)| pair).or(first)
    }
}

fn difference(
    a: &BTreeMap<QueryId, Vec<DocId>>,
    b: &BTreeMap<QueryId, Vec<DocId>>,
) -> Option<TopDifference> {
    let both = a
        .iter()
        .filter_map(|(query, of_a)| Some((of_a, b.get(query)?)));
    let distances: Vec<f64> = both
        .map(|(of_a, of_b)| {
            let depths = 1..=of_a.len().max(of_b.len());
            let apart = depths.clone().map(|depth| {
                let of_b = &of_b[..depth.min(of_b.len())];
                let common = of_a
                    .iter()
                    .take(depth)
                    .filter(|document| of_b.contains(document))
                    .count();
                1.0 - common as f64 / depth as f64
            });
            apart.sum::<f64>() / depths.count() as f64
        })
        .collect();
    let queries = distances.len();
    (queries > 0).then(|| TopDifference {
        distance: distances.iter().sum::<f64>() / queries as f64,
        queries,
    })
}

/// The ranking with this name. Searches the project's rankings, then `original`, then results of
/// methods, then files.
pub fn find_ranking(store: &Store, name: &str) -> Result<FoundRanking, AppError> {
    let wanted = name.to_owned();
    let found = store.read_blocking(move |db| {
        let (rankings, mut methods) = (db.rankings()?, methods(db)?);
        let known = rankings.into_iter().find(|(known, _)| *known == wanted);
        if let Some((name, run)) = known {
            return Ok(Ok(FoundRanking {
                name,
                orders: run.into_iter().collect(),
                ..FoundRanking::default()
            }));
        }
        if wanted == ORIGINAL {
            let orders = original(db)?;
            return Ok(Ok(FoundRanking {
                name: wanted,
                placed: orders.keys().cloned().collect(),
                orders,
                ..FoundRanking::default()
            }));
        }
        let of_method = of_method(&methods, &wanted).map(str::to_owned);
        let of_method = of_method.and_then(|name| methods.remove_entry(&name));
        Ok(match of_method {
            Some((name, made)) => Ok(FoundRanking {
                name,
                orders: made.orders,
                partly_scored: made.partly_scored,
                placed: made.placed,
                notes: made.notes,
            }),
            None => Err(ranking_names(db)?),
        })
    })?;
    let names = match found {
        Ok(ranking) => return Ok(ranking),
        Err(names) => names,
    };
    let path = Path::new(name);
    if !path.is_file() {
        return Err(invalid!(
            "{:?}: no such ranking or file{}; the project has {}",
            sanitize::line(name),
            did_you_mean(name, &names),
            first_of(&names, LISTED)
        ));
    }
    let mut notes = Vec::new();
    let orders = read_ranking(path, &mut notes)?;
    Ok(FoundRanking {
        name: stem(path),
        orders,
        notes,
        ..FoundRanking::default()
    })
}

/// Best first, with scores counted from the end.
fn by_place(order: Vec<DocId>) -> Vec<(DocId, f64)> {
    let count = order.len();
    let places = order.into_iter().enumerate();
    places
        .map(|(above, document)| (document, (count - above) as f64))
        .collect()
}

/// The first stage's order of every query.
fn original(db: &Db) -> crate::store::Result<BTreeMap<QueryId, Vec<(DocId, f64)>>> {
    let mut orders = BTreeMap::new();
    for query in db.queries()? {
        let documents = db.documents(query.key)?;
        let order = first_stage_order(documents.iter().map(|document| &document.metadata));
        let order = order.into_iter().filter_map(|at| documents.get(at));
        orders.insert(
            query.id,
            by_place(order.map(|one| one.id.clone()).collect()),
        );
    }
    Ok(orders)
}

/// The results of a method, by query.
#[derive(Default)]
struct MethodOrders {
    orders: BTreeMap<QueryId, Vec<(DocId, f64)>>,
    partly_scored: BTreeMap<QueryId, Vec<Option<f64>>>,
    placed: BTreeSet<QueryId>,
    failed: usize,
    notes: Vec<String>,
}

impl MethodOrders {
    /// Adds a query with its scores if all documents have one, else with positions.
    fn add(&mut self, row: MethodRow) {
        let complete = row.scores.as_ref().and_then(|scores| {
            let scores: Option<Vec<f64>> = scores.iter().copied().collect();
            scores.filter(|scores| scores.len() == row.order.len())
        });
        let order = match (complete, row.scores) {
            (Some(scores), _) => row.order.into_iter().zip(scores).collect(),
            (None, Some(scores)) if scores.iter().any(Option::is_some) => {
                self.partly_scored.insert(row.query.clone(), scores);
                by_place(row.order)
            }
            (None, _) => {
                self.placed.insert(row.query.clone());
                by_place(row.order)
            }
        };
        self.orders.insert(row.query, order);
    }
}

/// The method with this name, or the only one that consists of this name plus parameters or judges.
fn of_method<'a>(methods: &'a BTreeMap<String, MethodOrders>, wanted: &str) -> Option<&'a str> {
    if let Some((name, _)) = methods.get_key_value(wanted) {
        return Some(name);
    }
    let goes_on = |name: &&String| {
        let rest = name.strip_prefix(wanted);
        !wanted.is_empty() && rest.is_some_and(|rest| rest.starts_with([':', '/']))
    };
    let mut beginning = methods.keys().filter(goes_on);
    let found = beginning.next()?;
    beginning.next().is_none().then_some(found)
}

fn methods(db: &Db) -> crate::store::Result<BTreeMap<String, MethodOrders>> {
    let mut methods: BTreeMap<String, MethodOrders> = BTreeMap::new();
    for result in db.rerank_results()? {
        let row = result.row;
        let method = methods.entry(row.method.clone()).or_default();
        match row.failure {
            Some(_) => method.failed += 1,
            None => method.add(row),
        }
    }
    for (name, method) in &mut methods {
        if method.failed > 0 {
            method.notes.push(format!(
                "{}: failed on {}, which are skipped",
                sanitize::line(name),
                counted(method.failed, "query")
            ));
        }
    }
    Ok(methods)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tops(of: &[(&str, &[&str])]) -> BTreeMap<QueryId, Vec<DocId>> {
        let documents = |ids: &[&str]| ids.iter().map(|id| DocId::new(*id)).collect();
        of.iter()
            .map(|(query, ids)| (QueryId::new(*query), documents(ids)))
            .collect()
    }

    #[test]
    fn the_two_rankings_that_are_farthest_apart_are_found() {
        let one = tops(&[("q", &["a", "b"]), ("r", &["a", "b"])]);
        let near = tops(&[("q", &["a", "b"]), ("r", &["b", "a"])]);
        let far = tops(&[("q", &["c", "d", "a", "e"])]);
        let found = difference(&one, &near).unwrap();
        // Two documents in opposite orders: different at depth 1, equal at depth 2.
        assert_eq!((found.distance, found.queries), (0.25, 2));
        let found = difference(&one, &far).unwrap();
        let expected = (1.0 + 1.0 + 2.0 / 3.0 + 0.75) / 4.0;
        assert!((found.distance - expected).abs() < 1e-12, "{found:?}");
        assert_eq!(found.queries, 1);
        assert_eq!(difference(&one, &tops(&[])), None);
        let of = |distance| TopDifference {
            distance,
            queries: 1,
        };
        let rankings = DuelRankings {
            names: ["x", "y", "z"].map(str::to_owned).to_vec(),
            top: 10,
            differences: [((0, 1), of(0.0)), ((0, 2), of(0.5)), ((1, 2), of(0.5))].into(),
        };
        assert_eq!(rankings.farthest(), Some((0, 2)));
        assert_eq!(rankings.between(2, 0), Some(of(0.5)));
        let unknown = DuelRankings {
            differences: BTreeMap::new(),
            ..rankings
        };
        assert_eq!(unknown.farthest(), Some((0, 1)));
        assert_eq!(DuelRankings::default().farthest(), None);
    }
}
