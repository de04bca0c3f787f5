//! Evaluates a run against labels, per query.

use super::measure::{GradedRanking, Metric};
use super::significance::{Comparison, MeanEstimate, Resampling, compare, estimate, estimates};
use crate::domain::corpus::{DocId, QueryId};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use thiserror::Error;

/// Human grades by query and document. Documents that are not listed are unjudged.
pub type Qrels = BTreeMap<QueryId, BTreeMap<DocId, i32>>;

/// What each document contributes to a discounted cumulative gain if that is not an integer: its
/// expected grade.
pub type Gains = BTreeMap<QueryId, BTreeMap<DocId, f64>>;

/// Scored documents by query, in any order; larger scores are better.
pub type RankedRun = BTreeMap<QueryId, Vec<(DocId, f64)>>;

/// The precision at which scores are compared for ties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScoreWidth {
    /// As 32-bit numbers: trec_eval up to version 9 and pytrec_eval.
    Single,
    /// As 64-bit numbers: trec_eval 10.
    #[default]
    Double,
}

/// The conventions of an evaluation. The defaults are those of trec_eval, except that a query's own
/// document is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvaluationRules {
    /// The lowest grade that counts as relevant (trec_eval `-l`). NDCG uses the grades themselves.
    pub relevant_from: i32,
    /// The precision at which scores are compared.
    pub scores: ScoreWidth,
    /// Whether a query with labels that is missing from the run counts as an empty ranking
    /// (trec_eval `-c`) or is skipped.
    pub count_missing: bool,
    /// Whether a query's own document is evaluated like any other (trec_eval) or skipped; see
    /// [`is_own_document`].
    pub keep_own: bool,
}

impl Default for EvaluationRules {
    fn default() -> Self {
        Self {
            relevant_from: 1,
            scores: ScoreWidth::default(),
            count_missing: false,
            keep_own: false,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EvaluationError {
    #[error("document {:?} occurs twice in the ranking of query {:?}", document.as_str(), query.as_str())]
    Duplicate { query: QueryId, document: DocId },
    #[error("the score of document {:?} for query {:?} is not a number", document.as_str(), query.as_str())]
    NotANumber { query: QueryId, document: DocId },
}

#[derive(Clone, Debug, PartialEq)]
pub struct QueryValues {
    pub query: QueryId,
    /// One value per metric, in the order of [`Evaluation::metrics`]; `None` if undefined.
    pub values: Vec<Option<f64>>,
    pub retrieved: usize,
    /// Relevant documents, retrieved or not.
    pub relevant: usize,
}

/// A run's values on every query that it shares with the labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    pub metrics: Vec<Metric>,
    /// The evaluated queries by identifier.
    pub queries: Vec<QueryValues>,
    /// Evaluated queries without a relevant document: they count in the mean, as 0 for measures
    /// that need relevant documents.
    pub without_positives: Vec<QueryId>,
    /// Queries with labels that are missing from the run; see [`EvaluationRules::count_missing`].
    pub missing_from_run: Vec<QueryId>,
    /// Queries of the run without labels; they are not evaluated.
    pub missing_from_qrels: Vec<QueryId>,
    /// Evaluated queries in which documents of different grades tie, so that the values depend on
    /// the document IDs.
    pub tied: Vec<QueryId>,
    /// Evaluated queries whose own document was skipped; see [`EvaluationRules::keep_own`].
    pub own_left_out: Vec<QueryId>,
}

impl Evaluation {
    /// The values of one metric with their queries, without undefined ones; empty for a metric that
    /// was not evaluated.
    pub fn values(&self, metric: Metric) -> Vec<(&QueryId, f64)> {
        let Some(at) = self.metrics.iter().position(|known| *known == metric) else {
            return Vec::new();
        };
        let value = |query: &QueryValues| query.values.get(at).copied().flatten();
        self.queries
            .iter()
            .filter_map(|query| Some((&query.query, value(query)?)))
            .collect()
    }

    pub fn mean(&self, metric: Metric) -> Option<f64> {
        let values = self.values(metric);
        let sum: f64 = values.iter().map(|(_, value)| value).sum();
        // The sum of −0 values only is −0; adding 0 makes it 0.
        (!values.is_empty()).then(|| sum / values.len() as f64 + 0.0)
    }

    /// The mean with its interval over queries.
    pub fn estimate(&self, metric: Metric, how: &Resampling) -> Option<MeanEstimate> {
        estimate(&self.column(metric), how)
    }

    /// The means of several metrics, each with its interval.
    pub fn estimates(&self, metrics: &[Metric], how: &Resampling) -> Vec<Option<MeanEstimate>> {
        let columns: Vec<Vec<f64>> = metrics.iter().map(|metric| self.column(*metric)).collect();
        estimates(&columns, how)
    }

    fn column(&self, metric: Metric) -> Vec<f64> {
        self.values(metric).into_iter().map(|(_, v)| v).collect()
    }

    /// Compares this run with a baseline on the queries for which both have a value; positive
    /// differences favor this run.
    pub fn against(&self, baseline: &Self, metric: Metric, how: &Resampling) -> Option<Comparison> {
        let theirs: BTreeMap<&QueryId, f64> = baseline.values(metric).into_iter().collect();
        let both = |(query, mine)| Some((mine, *theirs.get(query)?));
        let (mine, theirs): (Vec<f64>, Vec<f64>) =
            self.values(metric).into_iter().filter_map(both).unzip();
        compare(&mine, &theirs, how)
    }
}

/// Evaluates `run` on every query that it shares with `qrels`.
///
/// # Errors
/// If a ranking lists a document twice or has a score that is not a number.
pub fn evaluate(
    qrels: &Qrels,
    run: &RankedRun,
    metrics: &[Metric],
    rules: &EvaluationRules,
) -> Result<Evaluation, EvaluationError> {
    evaluate_gains(qrels, None, run, metrics, rules)
}

/// As [`evaluate`], but `ndcg` and `ndcg_exp` use `gains` for the labeled documents. A document
/// without a gain contributes nothing.
///
/// # Errors
/// As for [`evaluate`].
pub fn evaluate_gains(
    qrels: &Qrels,
    gains: Option<&Gains>,
    run: &RankedRun,
    metrics: &[Metric],
    rules: &EvaluationRules,
) -> Result<Evaluation, EvaluationError> {
    let mut evaluation = Evaluation {
        metrics: metrics.to_vec(),
        queries: Vec::new(),
        without_positives: Vec::new(),
        missing_from_run: Vec::new(),
        missing_from_qrels: run
            .keys()
            .filter(|query| !qrels.contains_key(*query))
            .cloned()
            .collect(),
        tied: Vec::new(),
        own_left_out: Vec::new(),
    };
    for (query, grades) in qrels {
        let documents = match run.get(query) {
            Some(documents) => documents.as_slice(),
            None => {
                evaluation.missing_from_run.push(query.clone());
                if !rules.count_missing {
                    continue;
                }
                &[]
            }
        };
        let is_own = |(document, _): &(DocId, f64)| is_own_document(query, document, grades);
        let others: Vec<(DocId, f64)>;
        let documents = if !rules.keep_own && documents.iter().any(is_own) {
            evaluation.own_left_out.push(query.clone());
            others = documents.iter().filter(|of| !is_own(of)).cloned().collect();
            &others
        } else {
            documents
        };
        let (order, grade_of) = ranked_with_grades(query, documents, grades, rules.scores)?;
        let ranked: Vec<Option<i32>> = order
            .iter()
            .map(|at| grade_of.get(*at).copied().flatten())
            .collect();
        let own = gains.map(|gains| gains.get(query));
        let gain = |document: &DocId| match own {
            Some(own) => own.and_then(|own| own.get(document)).copied(),
            None => grades.get(document).map(|grade| f64::from(*grade)),
        };
        let gain = |document: &DocId| gain(document).unwrap_or(0.0).max(0.0);
        let found: Vec<f64> = match own {
            Some(_) => order.iter().map(|at| gain(&documents[*at].0)).collect(),
            None => {
                let grades = ranked.iter();
                grades
                    .map(|grade| f64::from(grade.unwrap_or(0).max(0)))
                    .collect()
            }
        };
        let splits = |at: usize| {
            found[at] != found[at + 1]
                && compared(
                    documents[order[at]].1,
                    documents[order[at + 1]].1,
                    rules.scores,
                )
                .is_eq()
        };
        if (0..order.len().saturating_sub(1)).any(splits) {
            evaluation.tied.push(query.clone());
        }
        let mut ideal: Vec<f64> = grades.keys().map(gain).collect();
        ideal.retain(|gain| *gain > 0.0);
        ideal.sort_unstable_by(|x, y| y.total_cmp(x));
        let relevant = grades
            .values()
            .filter(|grade| **grade >= rules.relevant_from)
            .count();
        let graded = GradedRanking {
            ranked,
            gains: found,
            ideal,
            relevant_from: rules.relevant_from,
            relevant,
            irrelevant: grades
                .values()
                .filter(|grade| (0..rules.relevant_from).contains(*grade))
                .count(),
        };
        if relevant == 0 {
            evaluation.without_positives.push(query.clone());
        }
        evaluation.queries.push(QueryValues {
            query: query.clone(),
            values: metrics
                .iter()
                .map(|metric| metric.value(&graded).map(|value| value + 0.0))
                .collect(),
            retrieved: documents.len(),
            relevant,
        });
    }
    Ok(evaluation)
}

/// Whether a document is the query itself: it has the query's identifier and no label. Benchmarks
/// that take their queries from the corpus (ArguAna, Quora) do not evaluate it (BEIR's
/// `ignore_identical_ids`).
pub fn is_own_document(query: &QueryId, document: &DocId, labels: &BTreeMap<DocId, i32>) -> bool {
    query.as_str() == document.as_str() && !labels.contains_key(document)
}

/// The queries whose rankings contain their own document.
pub fn ranked_with_own<'a, D>(
    qrels: &Qrels,
    rankings: impl IntoIterator<Item = (&'a QueryId, D)>,
) -> BTreeSet<&'a QueryId>
where
    D: IntoIterator<Item = &'a DocId>,
{
    let has_own = |query: &QueryId, documents: D| {
        let labels = qrels.get(query);
        let mut documents = documents.into_iter();
        labels.is_some_and(|labels| documents.any(|id| is_own_document(query, id, labels)))
    };
    rankings
        .into_iter()
        .filter_map(|(query, documents)| has_own(query, documents).then_some(query))
        .collect()
}

/// Sorts the documents of one query, best first: by score, and by descending identifier for equal
/// scores (trec_eval).
pub fn sort_as_trec_eval(documents: &mut [(DocId, f64)], scores: ScoreWidth) {
    documents.sort_by(|x, y| by_trec_eval(x, y, scores));
}

fn by_trec_eval(x: &(DocId, f64), y: &(DocId, f64), scores: ScoreWidth) -> Ordering {
    compared(y.1, x.1, scores).then_with(|| y.0.cmp(&x.0))
}

/// The indexes of the documents, best first, and the grade of the document at each rank. There are
/// few labels and many documents, so each label is looked up among the documents.
fn ranked_with_grades(
    query: &QueryId,
    documents: &[(DocId, f64)],
    grades: &BTreeMap<DocId, i32>,
    scores: ScoreWidth,
) -> Result<(Vec<usize>, Vec<Option<i32>>), EvaluationError> {
    let mut place_of = HashMap::with_capacity(documents.len());
    for (at, (document, score)) in documents.iter().enumerate() {
        let place = || (query.clone(), document.clone());
        if score.is_nan() {
            let (query, document) = place();
            return Err(EvaluationError::NotANumber { query, document });
        }
        if place_of.insert(document, at).is_some() {
            let (query, document) = place();
            return Err(EvaluationError::Duplicate { query, document });
        }
    }
    let mut grade_of = vec![None; documents.len()];
    for (document, grade) in grades {
        if let Some(at) = place_of.get(document) {
            grade_of[*at] = Some(*grade);
        }
    }
    let mut order: Vec<usize> = (0..documents.len()).collect();
    order.sort_unstable_by(|x, y| by_trec_eval(&documents[*x], &documents[*y], scores));
    Ok((order, grade_of))
}

/// Whether some scores are equal at one precision but not at the other, so that the order may
/// differ.
pub fn depends_on_width(documents: &[(DocId, f64)]) -> bool {
    let mut scores: Vec<f64> = documents.iter().map(|(_, score)| *score).collect();
    scores.sort_unstable_by(f64::total_cmp);
    scores.windows(2).any(|pair| {
        compared(pair[0], pair[1], ScoreWidth::Single).is_eq()
            && compared(pair[0], pair[1], ScoreWidth::Double).is_ne()
    })
}

fn compared(x: f64, y: f64, scores: ScoreWidth) -> Ordering {
    // Adding zero makes −0 equal to 0.
    match scores {
        ScoreWidth::Single => (x as f32 + 0.0).total_cmp(&(y as f32 + 0.0)),
        ScoreWidth::Double => (x + 0.0).total_cmp(&(y + 0.0)),
    }
}
