//! The zELO scores of queries with their documents, and what people say of these documents.

use super::error::{AppError, invalid};
use crate::domain::adjudication::{
    LabelCorrection, corrected_labels, label_corrections, rulings_in_force,
};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::{GradeModel, GradedScore, Qrels};
use crate::store::Store;
use crate::store::corpus::QueryKey;

/// Labels of pool documents from which on cut points are fitted to them, and how many of grade 0 and above it.
pub(super) const ENOUGH_LABELS: usize = 30;
pub(super) const ENOUGH_ON_EACH_SIDE: usize = 5;

/// The scores of a query's documents.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredPool {
    pub query: QueryId,
    /// In hybrid order; `None` where nothing says how a document compares.
    pub documents: Vec<(DocId, Option<f64>)>,
    pub judges: Vec<String>,
}

impl ScoredPool {
    /// The documents with a score, best first, equal ones by descending identifier: the order in which every reader of a
    /// run puts them.
    pub fn ranking(&self) -> Vec<(DocId, f64)> {
        let scored = self.documents.iter();
        let scored = scored.filter_map(|(id, score)| Some((id.clone(), (*score)?)));
        let mut ranking: Vec<(DocId, f64)> = scored.collect();
        ranking.sort_unstable_by(|x, y| y.1.total_cmp(&x.1).then_with(|| y.0.cmp(&x.0)));
        ranking
    }
}

impl ScoredPool {
    /// Whether any document has a score.
    pub fn is_scored(&self) -> bool {
        self.documents.iter().any(|(_, score)| score.is_some())
    }

    pub fn holds(&self, document: &DocId) -> bool {
        self.documents.iter().any(|(id, _)| id == document)
    }
}

/// The zELO scores of some queries, in the order of the keys.
pub fn scored_pools(store: &Store, keys: &[QueryKey]) -> Result<Vec<ScoredPool>, AppError> {
    let mut pools = Vec::with_capacity(keys.len());
    store.read_each(
        keys,
        |db, key| {
            let query = db.query(key)?.id;
            let ids = db.documents(key)?.into_iter().map(|document| document.id);
            let judges = db.judges_of(key)?.into_iter();
            let judges = judges.map(|(_, judge)| judge.name).collect();
            Ok((query, ids.collect::<Vec<_>>(), judges, db.scores(key)?))
        },
        |_, (query, ids, judges, scores)| {
            let scores = scores.map_err(|error| invalid!("query {:?}: {error}", query.as_str()))?;
            pools.push(ScoredPool {
                query,
                documents: ids.into_iter().zip(scores).collect(),
                judges,
            });
            Ok::<(), AppError>(())
        },
    )?;
    Ok(pools)
}

/// The keys of all queries.
pub fn all_keys(store: &Store) -> Result<Vec<QueryKey>, AppError> {
    let queries = store.read_blocking(|db| db.queries())?;
    Ok(queries.into_iter().map(|query| query.key).collect())
}

/// What people say of documents.
#[derive(Debug)]
pub(super) struct PeoplesLabels {
    /// As they were imported.
    pub(super) labels: Qrels,
    /// What the rulings in force make of them.
    pub(super) corrections: Vec<LabelCorrection>,
}

impl PeoplesLabels {
    pub(super) fn read(store: &Store) -> Result<Self, AppError> {
        let (labels, rulings, rule) = store
            .read_blocking(|db| Ok((db.labels()?, db.standing_rulings()?, db.final_rule()?)))?;
        let standing: Vec<_> = rulings.into_iter().map(|row| row.ruling).collect();
        let (in_force, _) = rulings_in_force(&rule, &standing);
        let corrections = label_corrections(&labels, in_force, None);
        Ok(Self {
            labels,
            corrections,
        })
    }

    /// The labels with the rulings put in.
    pub(super) fn corrected(&self) -> Qrels {
        corrected_labels(&self.labels, &self.corrections)
    }
}

/// How many labels there are to fit cut points to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LabelCounts {
    pub(super) labels: usize,
    pub(super) zero: usize,
}

/// Cut points fitted to what people said, where there is enough of it.
pub(super) fn fit_to_labels(graded: &[GradedScore]) -> (Option<GradeModel>, LabelCounts) {
    let positive = graded.iter().filter(|one| one.grade > 0).count();
    let zero = graded.len() - positive;
    let enough = graded.len() >= ENOUGH_LABELS && positive.min(zero) >= ENOUGH_ON_EACH_SIDE;
    let counts = LabelCounts {
        labels: graded.len(),
        zero,
    };
    (enough.then(|| GradeModel::fit(graded)).flatten(), counts)
}

/// The documents that have a score and a label.
pub(super) fn graded_scores(pools: &[ScoredPool], labels: &Qrels) -> Vec<GradedScore> {
    let of = |pool: &ScoredPool| {
        let labels = labels.get(&pool.query);
        let documents = pool.documents.clone().into_iter();
        let graded = documents.filter_map(|(document, score)| {
            Some(GradedScore {
                score: score?,
                grade: *labels?.get(&document)?,
                weight: 1.0,
            })
        });
        graded.collect::<Vec<_>>()
    };
    pools.iter().flat_map(of).collect()
}
