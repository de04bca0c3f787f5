//! `overrule evaluate`: a ranking against labels.

mod report;
mod zbench;

use super::{CommandFailure, CommandResult, benchmark, output};
use crate::domain::corpus::QueryId;
use crate::domain::metrics::{
    Evaluation, EvaluationRules, Metric, Qrels, RankedRun, Resampling, ScoreWidth, evaluate,
};
use anyhow::anyhow;
use clap::{Args, ValueEnum};
use report::EvaluationReport;
use std::path::{Path, PathBuf};

/// What is measured when nothing else is said.
const METRICS: &str = "ndcg@10,mrr@10,map,recall@10,p@5,judged@10";

#[derive(Debug, Args)]
#[command(
    after_help = "TRUTH is qrels (TREC's 4 columns, or BEIR's .tsv) or a dataset whose documents carry metadata.grade; TEST is a run (TREC's
6 columns) or a dataset with scores. Values are trec_eval's: equal scores are ordered by descending document id,
unjudged documents are not relevant, queries without relevant documents count as 0.

--profile zbench takes two datasets with scores, measures ndcg, accuracy and recall@K as zBench does, and looks at
the first 10 documents of each query of TEST.

Examples:
  overrule evaluate qrels/test.tsv bm25.trec
  overrule evaluate qrels.txt reranked.trec --metrics ndcg@10,map --baseline bm25.trec
  overrule evaluate corrected.tsv bm25.trec --before qrels/test.tsv
  overrule evaluate zelo.jsonl reranker.jsonl --profile zbench --json"
)]
pub(super) struct EvaluateCommand {
    /// The labels
    truth: PathBuf,
    /// The ranking to measure
    test: PathBuf,
    /// Compare with this ranking, query by query
    #[arg(long, value_name = "RUN")]
    baseline: Option<PathBuf>,
    /// Compare with the same ranking under these labels, query by query: what correcting them changed
    #[arg(long, value_name = "QRELS", conflicts_with = "baseline")]
    before: Option<PathBuf>,
    #[command(flatten)]
    how: MeasureOptions,
}

/// What is measured, and by which conventions.
#[derive(Debug, Args)]
pub(super) struct MeasureOptions {
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "NAME,…",
        help = "ndcg@K, mrr@K, map, p@K, recall@K, …; a wrong one lists them all [default: ndcg@10,mrr@10,map,recall@10,p@5,judged@10]"
    )]
    metrics: Vec<String>,
    /// Whose conventions
    #[arg(long, value_enum, default_value = "trec")]
    profile: MeasureProfile,
    /// The grade from which on a document is relevant; ndcg uses the grades themselves
    #[arg(long, value_name = "GRADE", default_value_t = 1)]
    level: i32,
    /// Compare scores as 32-bit numbers (trec_eval to version 9, pytrec_eval) or as 64-bit ones (trec_eval 10)
    #[arg(long, value_enum, default_value = "double")]
    scores: ScoreWidthName,
    /// Count queries that the ranking lacks as 0 instead of leaving them out
    #[arg(long)]
    count_missing: bool,
    /// zBench only: documents of a query looked at, from the top of the file; 0 for all
    #[arg(long, visible_alias = "document_limit", value_name = "N", default_value_t = crate::domain::metrics::zbench::DOCUMENT_LIMIT)]
    document_limit: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MeasureProfile {
    Trec,
    Zbench,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ScoreWidthName {
    Single,
    Double,
}

impl EvaluateCommand {
    pub(super) fn new(
        truth: PathBuf,
        test: PathBuf,
        baseline: Option<PathBuf>,
        how: MeasureOptions,
    ) -> Self {
        Self {
            truth,
            test,
            baseline,
            before: None,
            how,
        }
    }

    pub(super) fn run(self) -> CommandResult {
        let report = match self.how.profile {
            MeasureProfile::Trec => self.trec()?,
            MeasureProfile::Zbench if self.before.is_some() => {
                return Err(CommandFailure::usage(anyhow!(
                    "--before compares labels, which --profile zbench does not read"
                )));
            }
            MeasureProfile::Zbench => self.zbench()?,
        };
        report.print(self.how.json)
    }

    fn trec(&self) -> Result<EvaluationReport, CommandFailure> {
        let names = match self.how.metrics.is_empty() {
            true => METRICS.split(',').map(str::to_owned).collect(),
            false => self.how.metrics.clone(),
        };
        let metrics = names
            .iter()
            .map(|name| name.parse::<Metric>())
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| CommandFailure::usage(anyhow!("--metrics: {error}")))?;
        let rules = EvaluationRules {
            relevant_from: self.how.level,
            scores: match self.how.scores {
                ScoreWidthName::Single => ScoreWidth::Single,
                ScoreWidthName::Double => ScoreWidth::Double,
            },
            count_missing: self.how.count_missing,
        };
        let qrels = benchmark::labels(&self.truth)?;
        let mut warnings = Vec::new();
        let measured = measure(&qrels, &self.test, &metrics, &rules, &mut warnings)?;
        let resampling = Resampling::default();
        let mut report = EvaluationReport::new(measured.queries.len());
        let baseline = match (&self.baseline, &self.before) {
            (Some(path), _) => Some(measure(&qrels, path, &metrics, &rules, &mut warnings)?),
            (None, Some(path)) => {
                report.other = "before";
                let before = benchmark::labels(path)?;
                let mut told = Vec::new();
                let measured = measure(&before, &self.test, &metrics, &rules, &mut told)?;
                let of = |warning| format!("under {}: {warning}", path.display());
                warnings.extend(told.into_iter().map(of));
                Some(measured)
            }
            (None, None) => None,
        };
        for metric in metrics {
            let values = measured
                .queries
                .iter()
                .zip(per_query(&measured, metric))
                .map(|(query, value)| (query.query.clone(), value))
                .collect();
            report.add(
                metric.to_string(),
                measured.estimate(metric, &resampling),
                values,
            );
            if let Some(baseline) = &baseline {
                let comparison = measured.against(baseline, metric, &resampling);
                let both = comparison.map_or(0, |of| of.n);
                let [mine, theirs] = [&measured, baseline].map(|one| one.values(metric).len());
                if (mine, theirs) != (both, both) {
                    warnings.push(format!(
                        "{metric}: the means are over {mine} and {theirs} queries, the difference over the {both} that both have"
                    ));
                }
                report.compare(baseline.mean(metric), comparison);
            }
        }
        report.warnings = warnings;
        Ok(report)
    }

    fn zbench(&self) -> Result<EvaluationReport, CommandFailure> {
        let limit = (self.how.document_limit > 0).then_some(self.how.document_limit);
        zbench::report(
            &self.truth,
            &self.test,
            self.baseline.as_deref(),
            &self.how.metrics,
            limit,
        )
    }
}

fn per_query(evaluation: &Evaluation, metric: Metric) -> impl Iterator<Item = Option<f64>> {
    let at = evaluation.metrics.iter().position(|known| *known == metric);
    evaluation
        .queries
        .iter()
        .map(move |query| query.values.get(at?).copied().flatten())
}

fn measure(
    qrels: &Qrels,
    path: &Path,
    metrics: &[Metric],
    rules: &EvaluationRules,
    warnings: &mut Vec<String>,
) -> Result<Evaluation, CommandFailure> {
    let name = path.display();
    let run = benchmark::ranking(path, warnings)?;
    let wrong = |error| CommandFailure::usage(anyhow!("{name}: {error}"));
    let evaluation = evaluate(qrels, &run, metrics, rules).map_err(wrong)?;
    if evaluation.queries.is_empty() {
        return Err(CommandFailure::usage(anyhow!(
            "{name}: shares no query with the labels; compare the query ids of the two files"
        )));
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
        &changed(qrels, &run, rules, &evaluation)?,
        "whose values change when scores are compared as numbers of the other width (--scores)",
    );
    Ok(evaluation)
}

/// The queries whose values would be others if scores were compared more, or less, precisely.
fn changed(
    qrels: &Qrels,
    run: &RankedRun,
    rules: &EvaluationRules,
    evaluation: &Evaluation,
) -> Result<Vec<QueryId>, CommandFailure> {
    let other = EvaluationRules {
        scores: match rules.scores {
            ScoreWidth::Single => ScoreWidth::Double,
            ScoreWidth::Double => ScoreWidth::Single,
        },
        ..*rules
    };
    let other = evaluate(qrels, run, &evaluation.metrics, &other)?;
    let pairs = evaluation.queries.iter().zip(&other.queries);
    Ok(pairs
        .filter(|(one, other)| one.values != other.values)
        .map(|(one, _)| one.query.clone())
        .collect())
}

/// `3 queries WHAT: a, b, c`.
fn listed(queries: &[QueryId], what: &str) -> String {
    let names: Vec<&str> = queries.iter().map(QueryId::as_str).collect();
    format!(
        "{} {what}: {}",
        output::counted(queries.len(), "query"),
        output::first_names(&names)
    )
}
