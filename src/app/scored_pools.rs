//! The zELO scores of a project's queries, people's labels, and cut points derived from both.

use super::error::{AppError, invalid};
use super::text_format::counted;
use crate::domain::adjudication::{
    LabelCorrection, corrected_labels, label_corrections, rulings_in_force,
};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::{GradeModel, GradedScore, Qrels};
use crate::domain::rating::RatingError;
use crate::registry;
use crate::store::corpus::QueryKey;
use crate::store::{Store, StoreError};

/// Minimum number of labels of pool documents for fitting cut points, and of labels with grade 0
/// and with higher grades.
pub const ENOUGH_LABELS: usize = 30;
pub const ENOUGH_ON_EACH_SIDE: usize = 5;

/// Probability below which the most probable grade of a document is doubtful.
pub const SURE: f64 = 0.6;

/// What scores are based on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoreSource {
    /// Everything that counts in the project, including a student with a weight.
    Project,
    /// Only votes and verdicts, from which a student may learn.
    VotesAlone,
}

/// The scores of a query's documents.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredPool {
    pub query: QueryId,
    /// In hybrid order; `None` if nothing compares the document with others.
    pub documents: Vec<(DocId, Option<f64>)>,
    pub judges: Vec<String>,
    /// A note on the student that counts in the scores; `None` if there is none.
    pub student: Option<String>,
}

impl ScoredPool {
    /// The documents with a score, best first, equal ones by descending identifier, as every reader
    /// of a run sorts them.
    pub fn ranking(&self) -> Vec<(DocId, f64)> {
        let mut ranking: Vec<(DocId, f64)> = self
            .documents
            .iter()
            .filter_map(|(id, score)| Some((id.clone(), (*score)?)))
            .collect();
        ranking.sort_unstable_by(|x, y| y.1.total_cmp(&x.1).then_with(|| y.0.cmp(&x.0)));
        ranking
    }
}

/// A query whose votes cannot be fitted.
#[derive(Clone, Debug, PartialEq)]
pub struct Unfitted {
    pub query: QueryId,
    pub why: RatingError,
}

impl Unfitted {
    fn describe(&self) -> String {
        format!("query {:?}: {}", self.query.as_str(), self.why)
    }

    /// A note on skipped queries; `None` if there are none.
    pub fn note(unfitted: &[Self]) -> Option<String> {
        let first = unfitted.first()?;
        Some(format!(
            "skipped {} without a fit; the first: {}",
            counted(unfitted.len(), "query"),
            first.describe()
        ))
    }
}

/// The zELO scores of some queries, in the order of the keys.
///
/// # Errors
/// The votes of a query cannot be fitted.
pub fn scored_pools(store: &Store, keys: &[QueryKey]) -> Result<Vec<ScoredPool>, AppError> {
    let (pools, unfitted) = fitted_pools(store, keys, ScoreSource::Project)?;
    match unfitted.first() {
        Some(first) => Err(invalid!("{}", first.describe())),
        None => Ok(pools),
    }
}

/// The zELO scores of some queries, in the order of the keys. Queries whose votes cannot be fitted
/// have none, and are returned separately.
pub fn fitted_pools(
    store: &Store,
    keys: &[QueryKey],
    source: ScoreSource,
) -> Result<(Vec<ScoredPool>, Vec<Unfitted>), AppError> {
    let student = match source {
        ScoreSource::Project => student_in_scores(store, keys)?,
        ScoreSource::VotesAlone => None,
    };
    let mut pools = Vec::with_capacity(keys.len());
    let mut unfitted = Vec::new();
    store.read_each(
        keys,
        |db, key| {
            let query = db.query(key)?.id;
            let ids = db.documents(key)?.into_iter().map(|document| document.id);
            let judges = db.judges_of(key)?.into_iter();
            let judges = judges.map(|(_, judge)| judge.name).collect();
            let ids = ids.collect::<Vec<_>>();
            let scores = match source {
                ScoreSource::Project => db.scores(key)?,
                ScoreSource::VotesAlone => db.scores_without_student(key)?,
            };
            Ok((query, ids, judges, scores))
        },
        |_, (query, ids, judges, scores)| {
            let scores = scores.unwrap_or_else(|why| {
                let query = query.clone();
                unfitted.push(Unfitted { query, why });
                vec![None; ids.len()]
            });
            pools.push(ScoredPool {
                query,
                documents: ids.into_iter().zip(scores).collect(),
                judges,
                student: student.clone(),
            });
            Ok::<(), AppError>(())
        },
    )?;
    Ok((pools, unfitted))
}

/// The labels of a project, and the corrections by effective rulings.
pub fn labels_and_corrections(store: &Store) -> Result<(Qrels, Vec<LabelCorrection>), AppError> {
    let (labels, rulings, rule) =
        store.read_blocking(|db| Ok((db.labels()?, db.standing_rulings()?, db.final_rule()?)))?;
    let standing: Vec<_> = rulings.into_iter().map(|row| row.ruling).collect();
    let (in_force, _) = rulings_in_force(&rule, &standing);
    let corrections = label_corrections(&labels, in_force, None);
    Ok((labels, corrections))
}

/// The labels of a project with the rulings applied.
pub fn people_labels(store: &Store) -> Result<Qrels, AppError> {
    let (labels, corrections) = labels_and_corrections(store)?;
    Ok(corrected_labels(&labels, &corrections))
}

/// Cut points fitted to people's grades; `None` if there are too few, or all on one side.
pub fn cut_points(graded: &[GradedScore]) -> Option<GradeModel> {
    let positive = graded.iter().filter(|one| one.grade > 0).count();
    let fewest = positive.min(graded.len() - positive);
    let enough = graded.len() >= ENOUGH_LABELS && fewest >= ENOUGH_ON_EACH_SIDE;
    enough.then(|| GradeModel::fit(graded)).flatten()
}

/// The note to print with the scores of these queries if a student counts in them.
pub fn student_in_scores(store: &Store, keys: &[QueryKey]) -> Result<Option<String>, AppError> {
    let keys = keys.to_vec();
    Ok(store.read_blocking(move |db| {
        let Some(named) = registry::named_opinion(db)? else {
            return Ok(None);
        };
        Ok::<_, StoreError>(named.in_scores(&registry::opinion_effect(db, &keys)?))
    })?)
}
