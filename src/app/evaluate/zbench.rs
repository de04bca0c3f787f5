//! zBench's own metrics: a comparison of scores with scores, document by document.

use super::report::{EvaluationReport, PerQuery, listed};
use crate::app::error::{AppError, invalid};
use crate::app::input_files::{display_name, kind, read_pools};
use crate::app::text_format::counted;
use crate::domain::corpus::{DocId, Pool, QueryId};
use crate::domain::metrics::zbench::{ndcg, pairwise_accuracy, recall};
use crate::domain::metrics::{Resampling, compare, estimate};
use crate::formats::file_kind::FileKind;
use std::collections::HashMap;
use std::path::Path;

/// The default metrics.
const METRICS: [&str; 3] = ["ndcg", "accuracy", "recall@5"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ZbenchMeasure {
    Ndcg,
    Accuracy,
    /// The share of the k truly best documents among the k best by test score.
    Recall {
        test: usize,
        truth: usize,
    },
}

impl ZbenchMeasure {
    fn parse(text: &str) -> Option<Self> {
        let lower = text.trim().to_ascii_lowercase();
        match lower.as_str() {
            "ndcg" => return Some(Self::Ndcg),
            "accuracy" => return Some(Self::Accuracy),
            _ => {}
        }
        let numbers = lower.strip_prefix("recall@")?;
        let (test, truth) = numbers.split_once('/').unwrap_or((numbers, numbers));
        let count = |text: &str| text.parse().ok().filter(|count| *count > 0);
        Some(Self::Recall {
            test: count(test)?,
            truth: count(truth)?,
        })
    }

    fn name(self) -> String {
        match self {
            Self::Ndcg => "ndcg".to_owned(),
            Self::Accuracy => "accuracy".to_owned(),
            Self::Recall { test, truth } if test == truth => format!("recall@{test}"),
            Self::Recall { test, truth } => format!("recall@{test}/{truth}"),
        }
    }

    fn value(self, scores: &ScorePairs, limit: Option<usize>) -> Option<f64> {
        let (test, truth) = (&scores.test, &scores.truth);
        match self {
            Self::Ndcg => ndcg(test, truth, limit),
            Self::Accuracy => pairwise_accuracy(test, truth, limit),
            Self::Recall { test: k, truth: g } => recall(test, truth, k, g, limit),
        }
    }
}

/// The scores of one query's documents, in the order of the test file.
#[derive(Default)]
struct ScorePairs {
    test: Vec<f64>,
    truth: Vec<f64>,
}

/// Evaluates the scores of `test`, and of `baseline` if given, against those of `truth`.
pub fn evaluate_zbench(
    truth: &Path,
    test: &Path,
    baseline: Option<&Path>,
    metrics: &[String],
    limit: Option<usize>,
    partial: bool,
) -> Result<EvaluationReport, AppError> {
    let names: Vec<&str> = if metrics.is_empty() {
        METRICS.to_vec()
    } else {
        metrics.iter().map(String::as_str).collect()
    };
    let measures = names
        .iter()
        .map(|name| {
            ZbenchMeasure::parse(name).ok_or_else(|| {
                invalid!(
                    "--metrics: {name:?} is not a zBench metric: expected ndcg, accuracy, \
                     recall@K, recall@K/G"
                )
            })
        })
        .collect::<Result<Vec<_>, _>>()?;
    let known = known(truth)?;
    let mut warnings = Vec::new();
    let tested = scores(&known, test, &mut warnings)?;
    let baseline = match baseline {
        Some(path) => Some(scores(&known, path, &mut warnings)?),
        None => None,
    };
    let how = Resampling::default();
    let mut report = EvaluationReport::new(tested.len());
    report.judged = known.len();
    report.truth = display_name(truth);
    let covered = baseline.iter().chain(std::iter::once(&tested));
    report.incomplete = !partial && covered.map(Vec::len).any(|queries| queries < known.len());
    if report.incomplete {
        warnings.push(format!(
            "{} of {} with true scores: not the mean over all of them (--partial accepts this)",
            tested.len(),
            counted(known.len(), "query")
        ));
    }
    for measure in measures {
        let values: Vec<(QueryId, Option<f64>)> = tested
            .iter()
            .map(|(query, scores)| (query.clone(), measure.value(scores, limit)))
            .collect();
        let present: Vec<f64> = values.iter().filter_map(|(_, value)| *value).collect();
        let mean = estimate(&present, &how);
        if let Some(baseline) = &baseline {
            let theirs: HashMap<&QueryId, f64> = baseline
                .iter()
                .filter_map(|(query, scores)| Some((query, measure.value(scores, limit)?)))
                .collect();
            let both =
                |(query, value): &(QueryId, Option<f64>)| Some(((*value)?, *theirs.get(query)?));
            let (mine, other): (Vec<f64>, Vec<f64>) = values.iter().filter_map(both).unzip();
            let per_query: PerQuery = baseline
                .iter()
                .map(|(query, scores)| (query.clone(), measure.value(scores, limit)))
                .collect();
            let all: Vec<f64> = per_query.iter().filter_map(|(_, value)| *value).collect();
            report.add(measure.name(), mean, values);
            report.compare(
                estimate(&all, &how).map(|estimate| estimate.mean),
                compare(&mine, &other, &how),
                per_query,
            );
        } else {
            report.add(measure.name(), mean, values);
        }
    }
    report.warnings = warnings;
    Ok(report)
}

type TrueScores = HashMap<QueryId, HashMap<DocId, f64>>;

fn dataset(path: &Path) -> Result<Vec<Pool>, AppError> {
    match kind(path)? {
        FileKind::Dataset => read_pools(path),
        kind => Err(invalid!(
            "{}: holds {}; --profile zbench takes datasets with scores",
            path.display(),
            kind.describe()
        )),
    }
}

fn known(path: &Path) -> Result<TrueScores, AppError> {
    let of = |pool: Pool| {
        let scores = pool.documents.into_iter();
        let scores = scores.filter_map(|document| Some((document.id, document.input_score?)));
        (pool.query.id, scores.collect())
    };
    Ok(dataset(path)?.into_iter().map(of).collect())
}

fn scores(
    known: &TrueScores,
    path: &Path,
    warnings: &mut Vec<String>,
) -> Result<Vec<(QueryId, ScorePairs)>, AppError> {
    let (mut missing, mut alone) = (0, Vec::new());
    let mut found = Vec::new();
    for pool in dataset(path)? {
        let Some(truth) = known.get(&pool.query.id) else {
            alone.push(pool.query.id);
            continue;
        };
        let mut scores = ScorePairs::default();
        for document in &pool.documents {
            match (document.input_score, truth.get(&document.id)) {
                (Some(test), Some(truth)) => {
                    scores.test.push(test);
                    scores.truth.push(*truth);
                }
                _ => missing += 1,
            }
        }
        found.push((pool.query.id, scores));
    }
    let name = path.display();
    if !alone.is_empty() {
        let what = "missing from the truth: skipped";
        warnings.push(format!("{name}: {}", listed(&alone, what)));
    }
    if missing > 0 {
        let count = counted(missing, "document");
        warnings.push(format!(
            "{name}: skipped {count} without a score in both files"
        ));
    }
    if found.iter().all(|(_, scores)| scores.test.is_empty()) {
        return Err(invalid!(
            "{name}: has no document with a score in both files; compare their ids, or annotate \
             first"
        ));
    }
    Ok(found)
}
