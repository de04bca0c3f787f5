//! `overrule evaluate`: a ranking against labels.

use super::command::{CommandResult, usage};
use super::output::{self, or_dash};
use crate::app::evaluate::{
    Comparand, EvaluationOptions, EvaluationReport, MetricRow, evaluate_run, evaluate_zbench,
};
use crate::app::wording::counted;
use crate::domain::metrics::{EvaluationRules, ScoreWidth, zbench};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

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
    #[arg(long, visible_alias = "document_limit", value_name = "N", default_value_t = zbench::DOCUMENT_LIMIT)]
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
        baseline: PathBuf,
        how: MeasureOptions,
    ) -> Self {
        Self {
            truth,
            test,
            baseline: Some(baseline),
            before: None,
            how,
        }
    }

    pub(super) fn run(self) -> CommandResult {
        let how = self.how;
        let report = match (how.profile, &self.before) {
            (MeasureProfile::Trec, before) => {
                let comparand = match (&self.baseline, before) {
                    (Some(path), _) => Comparand::Baseline(path),
                    (None, Some(path)) => Comparand::Before(path),
                    (None, None) => Comparand::Nothing,
                };
                let rules = EvaluationRules {
                    relevant_from: how.level,
                    scores: match how.scores {
                        ScoreWidthName::Single => ScoreWidth::Single,
                        ScoreWidthName::Double => ScoreWidth::Double,
                    },
                    count_missing: how.count_missing,
                };
                let metrics = how.metrics;
                let options = EvaluationOptions { metrics, rules };
                evaluate_run(&self.truth, &self.test, comparand, &options)?
            }
            (MeasureProfile::Zbench, Some(_)) => {
                return Err(usage!(
                    "--before compares labels, which --profile zbench does not read"
                ));
            }
            (MeasureProfile::Zbench, None) => {
                let baseline = self.baseline.as_deref();
                let limit = (how.document_limit > 0).then_some(how.document_limit);
                evaluate_zbench(&self.truth, &self.test, baseline, &how.metrics, limit)?
            }
        };
        if how.json {
            return output::json(&report.json());
        }
        for warning in &report.warnings {
            output::message(&format!("note: {warning}"));
        }
        output::text(&describe(&report))
    }
}

fn describe(report: &EvaluationReport) -> String {
    let compared = report.rows.iter().any(|row| row.against.is_some());
    let other = format!(">{}", report.other);
    let mut header = vec!["metric", ">mean", "95 % interval"];
    if compared {
        header.extend([&other, ">difference", "95 % interval"]);
        if report.tested {
            header.extend([">p (randomisation)", ">p (t-test)"]);
        }
        header.push("better/equal/worse");
    }
    let rows = report.rows.iter();
    let rows = rows.map(|row| cells(row, compared, report.tested));
    let rows: Vec<Vec<String>> = rows.collect();
    let queries = counted(report.queries, "query");
    format!("{queries}\n{}", output::table(&header, &rows))
}

fn cells(row: &MetricRow, compared: bool, tested: bool) -> Vec<String> {
    let interval = row.estimate.and_then(|estimate| estimate.interval);
    let mut cells = vec![
        row.name.clone(),
        number(row.estimate.map(|estimate| estimate.mean)),
        range(interval),
    ];
    if compared {
        let (baseline, comparison) = row.against.unwrap_or_default();
        cells.push(number(baseline));
        cells.push(or_dash(comparison, |of| {
            format!("{:+.4}", of.mean_difference)
        }));
        cells.push(range(comparison.and_then(|of| of.interval)));
        if tested {
            cells.push(or_dash(comparison.map(|of| of.randomisation_p), p_value));
            cells.push(or_dash(
                comparison.and_then(|of| Some(of.t_test?.p)),
                p_value,
            ));
        }
        cells.push(or_dash(comparison, |of| {
            let (better, equal, worse) = of.wins_ties_losses;
            format!("{better}/{equal}/{worse}")
        }));
    }
    cells
}

/// A probability that is rounded to nothing is none.
fn p_value(p: f64) -> String {
    match p {
        ..0.0001 => "< 0.0001".to_owned(),
        _ => format!("{p:.4}"),
    }
}

fn number(value: Option<f64>) -> String {
    or_dash(value, |value| format!("{value:.4}"))
}

fn range(interval: Option<(f64, f64)>) -> String {
    or_dash(interval, |(low, high)| format!("{low:.4} to {high:.4}"))
}
