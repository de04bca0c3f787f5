//! Evaluates a ranking against labels with trec_eval's metrics.

use super::report::{EvaluationReport, PerQuery, listed};
use crate::app::error::{AppError, invalid};
use crate::app::input_files::{display_name, read_ranking};
use crate::app::text_format::{OWN_DOCUMENT, UNTESTED};
use crate::app::truth::{AGAINST_ITSELF, AGAINST_JUDGES, GradeBasis, Truth, file_truth};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::{
    Evaluation, EvaluationRules, Measure, Metric, Qrels, QueryValues, RankedRun, Resampling,
    ScoreWidth, SharedOrigin, depends_on_width, evaluate_gains,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::thread;

/// Depth to which relevant documents are counted.
const FOUND_DEPTH: usize = 10;

/// The default metrics.
const METRICS: &str = "ndcg@10,mrr@10,map,recall@10,p@5,judged@10";

#[derive(Clone, Debug)]
pub struct EvaluationOptions {
    /// Names of metrics; empty for the defaults.
    pub metrics: Vec<String>,
    pub rules: EvaluationRules,
    /// Whether the ranking deliberately covers only some of the judged queries.
    pub partial: bool,
    /// Whether the relevant documents of each query are counted.
    pub counts: bool,
}

/// What a ranking is compared with.
#[derive(Clone, Copy, Debug)]
pub enum Comparand<'a> {
    Nothing,
    /// Another ranking, under the same labels.
    Baseline(&'a Path),
    /// The same ranking, under another truth.
    Before(TruthInput<'a>),
}

/// What a ranking is evaluated against.
#[derive(Clone, Copy, Debug)]
pub enum TruthInput<'a> {
    /// The labels of a file, or grades derived from its scores.
    File(&'a Path, GradeBasis),
    /// The project's own labels.
    Project(&'a Truth),
}

impl TruthInput<'_> {
    pub fn read(self) -> Result<Truth, AppError> {
        Ok(match self {
            Self::File(path, basis) => file_truth(path, basis)?,
            Self::Project(truth) => truth.clone(),
        })
    }
}

/// Evaluates a ranking, and its difference from another.
pub fn evaluate_run(
    truth: TruthInput<'_>,
    test: &Path,
    comparand: Comparand<'_>,
    options: &EvaluationOptions,
) -> Result<EvaluationReport, AppError> {
    let usual: Vec<String> = METRICS.split(',').map(str::to_owned).collect();
    let names = if options.metrics.is_empty() {
        &usual
    } else {
        &options.metrics
    };
    let metrics = names.iter().map(|name| name.parse::<Metric>());
    let metrics: Vec<Metric> = metrics
        .collect::<Result<_, _>>()
        .map_err(|error| invalid!("--metrics: {error}"))?;
    let resampling = Resampling::default();
    let Files { truth, test, other } = Files::read(truth, test, comparand)?;
    let mut warnings = truth.notes.clone();
    let mut shared = vec![test.shared(&truth)];
    if let OtherFile::Baseline(run) = &other {
        shared.push(run.shared(&truth));
    }
    let shared: Vec<(String, SharedOrigin)> = shared.into_iter().flatten().collect();
    warnings.extend(shared.iter().flat_map(|(name, of)| of.warnings(name)));
    let measured = test.measure(&truth, &metrics, options, &mut warnings)?;
    let mut report = EvaluationReport::new(measured.queries.len());
    report.judged = truth.qrels.len();
    report.truth.clone_from(&truth.name);
    report.shared = shared;
    report.against = if report.is_from_same_scores() {
        Some(AGAINST_ITSELF)
    } else {
        truth.is_of_judges().then_some(AGAINST_JUDGES)
    };
    if options.counts {
        report.found = test.found(&truth, options)?;
    }
    let other = match other {
        OtherFile::Nothing => None,
        OtherFile::Baseline(run) => Some(run.measure(&truth, &metrics, options, &mut warnings)?),
        OtherFile::Before(labels) => {
            report.other = "before";
            report.tested = false;
            warnings.push(UNTESTED.to_owned());
            let mut of_before = labels.notes.clone();
            let before = test.measure(&labels, &metrics, options, &mut of_before)?;
            let under = |warning| format!("under {}: {warning}", labels.name);
            warnings.extend(of_before.into_iter().map(under));
            Some(before)
        }
    };
    let lacks = |one: &Evaluation| {
        !options.rules.count_missing && !options.partial && !one.missing_from_run.is_empty()
    };
    report.incomplete = lacks(&measured) || other.as_ref().is_some_and(lacks);
    // Resampling takes longer than evaluation, so run all comparisons in parallel with the means.
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
        report.add(metric.to_string(), estimate, per_query(&measured, metric));
        if let Some(other) = &other {
            let both = comparison.map_or(0, |of| of.n);
            let [mine, theirs] = [&measured, other].map(|one| one.values(metric).len());
            if (mine, theirs) != (both, both) {
                warnings.push(format!(
                    "{metric}: the means are over {mine} and {theirs} queries, the difference over \
                     the {both} that both have"
                ));
            }
            report.compare(other.mean(metric), comparison, per_query(other, metric));
        }
    }
    report.warnings = warnings;
    Ok(report)
}

fn joined<T>(end: thread::Result<T>) -> Result<T, AppError> {
    end.map_err(|_| AppError::Failed("a thread of the evaluation has crashed".to_owned()))
}

/// A parsed ranking.
struct RankingFile<'a> {
    path: &'a Path,
    run: RankedRun,
    /// What was skipped, one sentence each.
    notes: Vec<String>,
}

/// The parsed input to compare a ranking with.
enum OtherFile<'a> {
    Nothing,
    Baseline(RankingFile<'a>),
    Before(Truth),
}

/// All parsed input of an evaluation.
struct Files<'a> {
    truth: Truth,
    test: RankingFile<'a>,
    other: OtherFile<'a>,
}

impl<'a> Files<'a> {
    /// Reads the files in parallel. If several are invalid, the error of the first is returned.
    fn read(
        truth: TruthInput<'a>,
        test: &'a Path,
        comparand: Comparand<'a>,
    ) -> Result<Self, AppError> {
        thread::scope(|scope| {
            let truth = scope.spawn(|| truth.read());
            let other = scope.spawn(|| OtherFile::read(comparand));
            let test = RankingFile::read(test);
            Ok(Self {
                truth: joined(truth.join())??,
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
            Comparand::Before(truth) => Self::Before(truth.read()?),
        })
    }
}

fn per_query(evaluation: &Evaluation, metric: Metric) -> PerQuery {
    let at = evaluation.metrics.iter().position(|known| *known == metric);
    let value = |query: &QueryValues| query.values.get(at?).copied().flatten();
    let queries = evaluation.queries.iter();
    queries
        .map(|query| (query.query.clone(), value(query)))
        .collect()
}

impl<'a> RankingFile<'a> {
    fn read(path: &'a Path) -> Result<Self, AppError> {
        let mut notes = Vec::new();
        let run = read_ranking(path, &mut notes)?;
        Ok(Self { path, run, notes })
    }

    /// What the ranking has in common with the scores that the truth is made of, if it is.
    fn shared(&self, truth: &Truth) -> Option<(String, SharedOrigin)> {
        let (name, origin) = (display_name(self.path), truth.origin.as_ref()?);
        let shared = origin.shared(&name, &self.run);
        Some((name, shared))
    }

    /// By query, the number of relevant documents, and of those among the first ten.
    fn found(
        &self,
        truth: &Truth,
        options: &EvaluationOptions,
    ) -> Result<Vec<(QueryId, [usize; 2])>, AppError> {
        let recall = Metric::new(Measure::Recall, Some(FOUND_DEPTH));
        let recall = [recall.map_err(|error| invalid!("{error}"))?];
        let found = evaluate_gains(&truth.qrels, None, &self.run, &recall, &options.rules)?;
        let counts = found.queries.into_iter().map(|of| {
            let share = of.values.first().copied().flatten().unwrap_or_default();
            let retrieved = (share * of.relevant as f64).round() as usize;
            (of.query, [of.relevant, retrieved])
        });
        Ok(counts.collect())
    }

    fn measure(
        &self,
        truth: &Truth,
        metrics: &[Metric],
        options: &EvaluationOptions,
        warnings: &mut Vec<String>,
    ) -> Result<Evaluation, AppError> {
        let (name, run) = (display_name(self.path), &self.run);
        let (rules, qrels) = (&options.rules, &truth.qrels);
        warnings.extend(self.notes.iter().cloned());
        check_overlap(&name, qrels, run)?;
        let wrong = |error| invalid!("{name}: {error}");
        let gains = truth.gains.as_ref();
        let evaluation = evaluate_gains(qrels, gains, run, metrics, rules).map_err(wrong)?;
        let mut warn = |queries: &[QueryId], what: &str| {
            if !queries.is_empty() {
                warnings.push(format!("{name}: {}", listed(queries, what)));
            }
        };
        warn(
            &evaluation.without_positives,
            "without a relevant document: they count as 0 in metrics that need one",
        );
        let missing = match (rules.count_missing, options.partial) {
            (true, _) => "missing from the ranking: they count as 0",
            (false, true) => "missing from the ranking: skipped",
            (false, false) => {
                "missing from the ranking: skipped, so this is not the mean over the judged \
                 queries (--count-missing counts them as 0, --partial accepts this)"
            }
        };
        warn(&evaluation.missing_from_run, missing);
        warn(&evaluation.missing_from_qrels, "without labels: skipped");
        warn(
            &evaluation.tied,
            "with equal scores for documents of different grades: the document ids decide there",
        );
        warn(
            &evaluation.own_left_out,
            &format!("{OWN_DOCUMENT}; --keep-identical-ids measures it"),
        );
        warn(
            &changed(truth, run, rules, &evaluation)?,
            "whose values change if scores are compared at the other precision (--scores)",
        );
        Ok(evaluation)
    }
}

/// Rejects a ranking that has nothing in common with the labels: every value would be 0 and
/// meaningless.
fn check_overlap(name: &str, qrels: &Qrels, run: &RankedRun) -> Result<(), AppError> {
    let mut shared = run
        .iter()
        .filter_map(|(query, documents)| Some((qrels.get(query)?, documents)))
        .peekable();
    if shared.peek().is_none() {
        return Err(invalid!(
            "{name}: shares no query with the labels; compare the query ids of the two files"
        ));
    }
    let labelled = |(grades, documents): (&BTreeMap<DocId, i32>, &Vec<(DocId, f64)>)| {
        documents.iter().any(|(id, _)| grades.contains_key(id))
    };
    if shared.any(labelled) {
        Ok(())
    } else {
        Err(invalid!(
            "{name}: none of its documents has a label; compare the document ids of the two files"
        ))
    }
}

/// The queries whose values would change if scores were compared with more or less precision.
fn changed(
    truth: &Truth,
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
        .filter_map(|query| Some((query.clone(), truth.qrels.get(query)?.clone())));
    let (labels, gains) = (labels.collect(), truth.gains.as_ref());
    let other = evaluate_gains(&labels, gains, &run, &evaluation.metrics, &other)?;
    let differs = |one: &QueryValues| {
        let known = evaluation
            .queries
            .binary_search_by(|query| query.query.cmp(&one.query));
        known.is_ok_and(|at| evaluation.queries[at].values != one.values)
    };
    Ok(other
        .queries
        .into_iter()
        .filter(differs)
        .map(|one| one.query)
        .collect())
}
