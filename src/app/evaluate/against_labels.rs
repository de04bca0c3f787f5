//! A ranking against labels, as trec_eval measures it.

use super::report::{EvaluationReport, listed};
use crate::app::error::{AppError, invalid};
use crate::app::input_files::{read_labels, read_ranking};
use crate::app::wording::UNTESTED;
use crate::domain::corpus::QueryId;
use crate::domain::metrics::{
    Evaluation, EvaluationRules, Metric, Qrels, QueryValues, RankedRun, Resampling, ScoreWidth,
    depends_on_width, evaluate,
};
use std::path::Path;
use std::thread;

/// What is measured when nothing else is said.
const METRICS: &str = "ndcg@10,mrr@10,map,recall@10,p@5,judged@10";

#[derive(Clone, Debug)]
pub struct EvaluationOptions {
    /// Names of metrics; none means the usual ones.
    pub metrics: Vec<String>,
    pub rules: EvaluationRules,
}

/// What a ranking is compared with.
#[derive(Clone, Copy, Debug)]
pub enum Comparand<'a> {
    Nothing,
    /// Another ranking, under the same labels.
    Baseline(&'a Path),
    /// The same ranking, under other labels.
    Before(&'a Path),
}

/// Measures a ranking, and how it differs from another.
pub fn evaluate_run(
    truth: &Path,
    test: &Path,
    comparand: Comparand<'_>,
    options: &EvaluationOptions,
) -> Result<EvaluationReport, AppError> {
    let usual: Vec<String> = METRICS.split(',').map(str::to_owned).collect();
    let names = match options.metrics.is_empty() {
        true => &usual,
        false => &options.metrics,
    };
    let metrics = names.iter().map(|name| name.parse::<Metric>());
    let metrics: Vec<Metric> = metrics
        .collect::<Result<_, _>>()
        .map_err(|error| invalid!("--metrics: {error}"))?;
    let rules = &options.rules;
    let resampling = Resampling::default();
    let Files { qrels, test, other } = Files::read(truth, test, comparand)?;
    let mut warnings = Vec::new();
    let measured = test.measure(&qrels, &metrics, rules, &mut warnings)?;
    let mut report = EvaluationReport::new(measured.queries.len());
    let other = match other {
        OtherFile::Nothing => None,
        OtherFile::Baseline(run) => Some(run.measure(&qrels, &metrics, rules, &mut warnings)?),
        OtherFile::Before(path, labels) => {
            report.other = "before";
            report.tested = false;
            warnings.push(UNTESTED.to_owned());
            let mut of_before = Vec::new();
            let before = test.measure(&labels, &metrics, rules, &mut of_before)?;
            let under = |warning| format!("under {}: {warning}", path.display());
            warnings.extend(of_before.into_iter().map(under));
            Some(before)
        }
    };
    // Resampling takes longer than measuring: every comparison at the same time, and the means beside them.
    let (estimates, comparisons) = thread::scope(|scope| {
        let compare = |metric: Metric| {
            let (measured, other, resampling) = (&measured, other.as_ref(), &resampling);
            other.map(|other| scope.spawn(move || measured.against(other, metric, resampling)))
        };
        let started: Vec<_> = metrics.iter().map(|metric| compare(*metric)).collect();
        let estimates = measured.estimates(&metrics, &resampling);
        let ends = started.into_iter().map(|thread| match thread {
            Some(thread) => joined(thread.join()),
            None => Ok(None),
        });
        Ok::<_, AppError>((estimates, ends.collect::<Result<Vec<_>, _>>()?))
    })?;
    let results = estimates.into_iter().zip(comparisons);
    for (metric, (estimate, comparison)) in metrics.into_iter().zip(results) {
        let values = measured.queries.iter().zip(per_query(&measured, metric));
        let values = values
            .map(|(query, value)| (query.query.clone(), value))
            .collect();
        report.add(metric.to_string(), estimate, values);
        if let Some(other) = &other {
            let both = comparison.map_or(0, |of| of.n);
            let [mine, theirs] = [&measured, other].map(|one| one.values(metric).len());
            if (mine, theirs) != (both, both) {
                warnings.push(format!(
                    "{metric}: the means are over {mine} and {theirs} queries, the difference over the {both} that both have"
                ));
            }
            report.compare(other.mean(metric), comparison);
        }
    }
    report.warnings = warnings;
    Ok(report)
}

fn joined<T>(end: thread::Result<T>) -> Result<T, AppError> {
    end.map_err(|_| AppError::Failed("a thread of the evaluation has crashed".to_owned()))
}

/// A ranking as it was read.
struct RankingFile<'a> {
    path: &'a Path,
    run: RankedRun,
    /// What was left out, a sentence each.
    notes: Vec<String>,
}

/// What a ranking is compared with, as it was read.
enum OtherFile<'a> {
    Nothing,
    Baseline(RankingFile<'a>),
    Before(&'a Path, Qrels),
}

/// All that an evaluation reads.
struct Files<'a> {
    qrels: Qrels,
    test: RankingFile<'a>,
    other: OtherFile<'a>,
}

impl<'a> Files<'a> {
    /// Reads the files at the same time. Of several that are wrong, the first is told of.
    fn read(truth: &Path, test: &'a Path, comparand: Comparand<'a>) -> Result<Self, AppError> {
        thread::scope(|scope| {
            let qrels = scope.spawn(|| read_labels(truth));
            let other = scope.spawn(|| OtherFile::read(comparand));
            let test = RankingFile::read(test);
            Ok(Self {
                qrels: joined(qrels.join())??,
                test: test?,
                other: joined(other.join())??,
            })
        })
    }
}

impl<'a> OtherFile<'a> {
    fn read(comparand: Comparand<'a>) -> Result<Self, AppError> {
        Ok(match comparand {
            Comparand::Nothing => Self::Nothing,
            Comparand::Baseline(path) => Self::Baseline(RankingFile::read(path)?),
            Comparand::Before(path) => Self::Before(path, read_labels(path)?),
        })
    }
}

fn per_query(evaluation: &Evaluation, metric: Metric) -> impl Iterator<Item = Option<f64>> {
    let at = evaluation.metrics.iter().position(|known| *known == metric);
    evaluation
        .queries
        .iter()
        .map(move |query| query.values.get(at?).copied().flatten())
}

impl<'a> RankingFile<'a> {
    fn read(path: &'a Path) -> Result<Self, AppError> {
        let mut notes = Vec::new();
        let run = read_ranking(path, &mut notes)?;
        Ok(Self { path, run, notes })
    }

    fn measure(
        &self,
        qrels: &Qrels,
        metrics: &[Metric],
        rules: &EvaluationRules,
        warnings: &mut Vec<String>,
    ) -> Result<Evaluation, AppError> {
        let (name, run) = (self.path.display(), &self.run);
        warnings.extend(self.notes.iter().cloned());
        let wrong = |error| invalid!("{name}: {error}");
        let evaluation = evaluate(qrels, run, metrics, rules).map_err(wrong)?;
        if evaluation.queries.is_empty() {
            return Err(invalid!(
                "{name}: shares no query with the labels; compare the query ids of the two files"
            ));
        }
        let mut warn = |queries: &[QueryId], what: &str| {
            if !queries.is_empty() {
                warnings.push(format!("{name}: {}", listed(queries, what)));
            }
        };
        warn(
            &evaluation.without_positives,
            "without a relevant document: they count as 0 where a measure asks for one",
        );
        let missing = match rules.count_missing {
            true => "missing from the ranking: they count as 0",
            false => "missing from the ranking: left out (--count-missing counts them as 0)",
        };
        warn(&evaluation.missing_from_run, missing);
        warn(&evaluation.missing_from_qrels, "without labels: left out");
        warn(
            &evaluation.tied,
            "with equal scores for documents of different grades: the document ids decide there",
        );
        warn(
            &changed(qrels, run, rules, &evaluation)?,
            "whose values change when scores are compared as numbers of the other width (--scores)",
        );
        Ok(evaluation)
    }
}

/// The queries whose values would be others if scores were compared more, or less, precisely.
fn changed(
    qrels: &Qrels,
    run: &RankedRun,
    rules: &EvaluationRules,
    evaluation: &Evaluation,
) -> Result<Vec<QueryId>, AppError> {
    let other = EvaluationRules {
        scores: match rules.scores {
            ScoreWidth::Single => ScoreWidth::Double,
            ScoreWidth::Double => ScoreWidth::Single,
        },
        ..*rules
    };
    let run: RankedRun = run
        .iter()
        .filter(|(_, documents)| depends_on_width(documents))
        .map(|(query, documents)| (query.clone(), documents.clone()))
        .collect();
    let labels = run
        .keys()
        .filter_map(|query| Some((query.clone(), qrels.get(query)?.clone())));
    let other = evaluate(&labels.collect(), &run, &evaluation.metrics, &other)?;
    let differs = |one: &QueryValues| {
        let known = evaluation
            .queries
            .binary_search_by(|query| query.query.cmp(&one.query));
        known.is_ok_and(|at| evaluation.queries[at].values != one.values)
    };
    let differing = other.queries.into_iter().filter(differs);
    Ok(differing.map(|one| one.query).collect())
}
