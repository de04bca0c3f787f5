//! `overrule evaluate`: evaluates a ranking against labels.

use super::command::{CommandContext, CommandFailure, CommandResult, option_set, usage};
use super::output::{self, or_dash};
use crate::app::evaluate::{
    Comparand, EvaluationOptions, EvaluationReport, MetricRow, TruthInput, evaluate_run,
    evaluate_zbench,
};
use crate::app::output_file::{CSV, SVG, check_ending, write_whole};
use crate::app::text_format::{counted, p_value};
use crate::app::truth::{GradeBasis, Truth, TruthSource, project_truth};
use crate::domain::metrics::{EvaluationRules, ScoreWidth, zbench};
use crate::domain::number_words::{fixed, signed};
use crate::formats::svg::histogram_svg;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(
    override_usage = "overrule evaluate [OPTIONS] <TRUTH> <TEST>\n       overrule evaluate \
                      [OPTIONS] --truth <TRUTH> <TEST>",
    after_help = "TRUTH is a file of labels (TREC's 4 columns, BEIR's .tsv, or a table with \
                  ratings) or a dataset whose documents have metadata.grade or a score. Scores count as zELO and
become grades (--cuts); if there are grades as well, only --cuts rank, score and labels use the
scores. With --truth, TRUTH can also be one of the project's own: qrels, rulings (the labels
corrected by the rulings) or zelo (the judges); write ./qrels for a file of that name. TEST is a run
(TREC's 6 columns), a table with scores or ranks, or a dataset with scores. If the ranking lacks
judged queries, the exit code is 3.

Values are those of trec_eval: documents are ordered by score and, if scores are equal, by
descending document id; unjudged documents are not relevant; queries without relevant documents
count as 0.

--profile zbench takes two datasets with scores, computes ndcg, accuracy and recall@K as zBench
does, and uses the first 10 documents of each query of TEST.

Examples:
  overrule evaluate qrels/test.tsv bm25.trec
  overrule evaluate qrels.txt reranked.trec --metrics ndcg@10,map --baseline bm25.trec
  overrule evaluate reranked.trec --truth zelo            against the judges; needs no labels
  overrule evaluate corrected.tsv bm25.trec --before qrels/test.tsv
  overrule evaluate zelo_annotated.jsonl bm25.trec        against the scores of a file
  overrule evaluate qrels.txt bm25.trec --histogram       how ndcg is distributed over the queries
  overrule evaluate qrels/test.tsv bm25.trec --metrics recall@10,mrr@10 --csv per_query.csv --summary-csv summary.csv
  overrule evaluate zelo.jsonl reranker.jsonl --profile zbench --json"
)]
pub(super) struct EvaluateCommand {
    /// Labels (unless --truth is given) and the ranking to measure
    #[arg(required = true, num_args = 1..=2, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Labels: a file, or qrels, rulings or zelo of the project
    #[arg(long, value_name = "TRUTH")]
    truth: Option<PathBuf>,
    /// Compare with this ranking
    #[arg(long, value_name = "RUN")]
    baseline: Option<PathBuf>,
    /// Compare with the same ranking under these labels, to see what correcting labels changed
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
        help = "ndcg@K, mrr@K, map, p@K, recall@K, …; an invalid name prints the full list \
                [default: ndcg@10,mrr@10,map,recall@10,p@5,judged@10]"
    )]
    metrics: Vec<String>,
    /// Definitions of the metrics
    #[arg(long, value_enum, default_value = "trec")]
    profile: MeasureProfile,
    /// Lowest relevant grade; ndcg uses the grades themselves
    #[arg(long, value_name = "GRADE", default_value_t = 1)]
    level: i32,
    /// Precision of scores: 32 bits (trec_eval up to version 9, pytrec_eval) or 64 bits (trec_eval
    /// 10)
    #[arg(long, value_enum, default_value = "double")]
    scores: ScoreWidthName,
    /// Count missing queries as 0 instead of skipping them
    #[arg(long)]
    count_missing: bool,
    /// Keep documents with the id of their query, as trec_eval does; BEIR skips them
    #[arg(long)]
    keep_identical_ids: bool,
    /// Accept rankings that lack judged queries (exit code 0 instead of 3)
    #[arg(long, conflicts_with = "count_missing")]
    partial: bool,
    /// How to convert zELO scores to grades
    #[arg(long, value_enum, default_value = "auto")]
    cuts: GradeBasis,
    /// With --profile zbench, number of documents per query, from the top of the file; 0 for all
    #[arg(
        long,
        visible_aliases = ["document_limit", "document-threshold", "document_threshold"],
        value_name = "N",
        default_value_t = zbench::DOCUMENT_LIMIT
    )]
    document_limit: usize,
    /// Print how ndcg is distributed over the queries; with --json, its counts by tenth are always
    /// there
    #[arg(long)]
    histogram: bool,
    /// Draw these histograms to this SVG file
    #[arg(long, value_name = "FILE")]
    histogram_svg: Option<PathBuf>,
    /// Write one row per query as CSV: query_id, n_rel, n_rel_retrieved (in the first ten) and the
    /// metrics
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write the means as CSV
    #[arg(long, value_name = "FILE")]
    summary_csv: Option<PathBuf>,
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
    pub(crate) fn new(
        truth: PathBuf,
        test: PathBuf,
        baseline: PathBuf,
        how: MeasureOptions,
    ) -> Self {
        Self {
            files: vec![test],
            truth: Some(truth),
            baseline: Some(baseline),
            before: None,
            how,
        }
    }

    /// The truth and the ranking.
    fn operands(&self) -> Result<(&Path, &Path), CommandFailure> {
        match (&self.truth, self.files.as_slice()) {
            (Some(truth), [test]) => Ok((truth, test)),
            (None, [truth, test]) => Ok((truth, test)),
            (Some(_), _) => Err(usage!("--truth names the labels; name one ranking as well")),
            (None, _) => Err(usage!(
                "name the labels and then the ranking, or the ranking with --truth \
                 qrels|rulings|zelo"
            )),
        }
    }

    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let (truth, test) = self.operands()?;
        let how = &self.how;
        let tables = || how.csv.iter().chain(&how.summary_csv).map(PathBuf::as_path);
        let pictures = || how.histogram_svg.as_deref().into_iter();
        if how.profile == MeasureProfile::Zbench && tables().next().is_some() {
            return Err(usage!(
                "--csv and --summary-csv count relevant documents, which --profile zbench does not \
                 know"
            ));
        }
        let others = [("baseline", &self.baseline), ("before", &self.before)].into_iter();
        let inputs: Vec<(&str, &Path)> = others
            .filter_map(|(what, path)| Some((what, path.as_deref()?)))
            .chain([("truth", truth), ("ranking", test)])
            .collect();
        let written = tables().chain(pictures());
        context.check_targets(written, &inputs, option_set(&[(how.json, "--json")]))?;
        tables().try_for_each(|path| check_ending(path, &[CSV]))?;
        pictures().try_for_each(|path| check_ending(path, &[SVG]))?;
        let report = match (how.profile, &self.before) {
            (MeasureProfile::Trec, before) => {
                // Two arguments are files, whatever their names.
                let own = match self.truth {
                    Some(_) => project_truth_of(truth, how.cuts, context)?,
                    None => None,
                };
                let truth = own
                    .as_ref()
                    .map_or(TruthInput::File(truth, how.cuts), TruthInput::Project);
                let comparand = match (&self.baseline, before) {
                    (Some(path), _) => Comparand::Baseline(path),
                    (None, Some(path)) => Comparand::Before(TruthInput::File(path, how.cuts)),
                    (None, None) => Comparand::Nothing,
                };
                let rules = EvaluationRules {
                    relevant_from: how.level,
                    scores: match how.scores {
                        ScoreWidthName::Single => ScoreWidth::Single,
                        ScoreWidthName::Double => ScoreWidth::Double,
                    },
                    count_missing: how.count_missing,
                    keep_own: how.keep_identical_ids,
                };
                let options = EvaluationOptions {
                    metrics: how.metrics.clone(),
                    rules,
                    partial: how.partial,
                    counts: how.csv.is_some(),
                };
                evaluate_run(truth, test, comparand, &options)?
            }
            (MeasureProfile::Zbench, Some(_)) => {
                return Err(usage!(
                    "--before compares labels, which --profile zbench does not read"
                ));
            }
            (MeasureProfile::Zbench, None) => {
                let baseline = self.baseline.as_deref();
                let limit = (how.document_limit > 0).then_some(how.document_limit);
                evaluate_zbench(truth, test, baseline, &how.metrics, limit, how.partial)?
            }
        };
        let wants_histogram = how.histogram || how.histogram_svg.is_some();
        let distributions = report.ndcg_distributions();
        if wants_histogram && distributions.is_empty() {
            return Err(usage!("--histogram is of ndcg, which --metrics leaves out"));
        }
        if let Some(path) = &how.histogram_svg {
            let title = "ndcg by query";
            let caption = format!("{}, {}", counted(report.queries, "query"), report.truth);
            let picture = histogram_svg(&distributions, "ndcg", title, &caption);
            write_whole(path, |out| Ok(out.write_all(picture.as_bytes())?))?;
            output::wrote(path);
        }
        if let Some(path) = &how.csv {
            write_whole(path, |out| report.write_per_query(out))?;
            output::wrote(path);
        }
        if let Some(path) = &how.summary_csv {
            write_whole(path, |out| report.write_summary(out))?;
            output::wrote(path);
        }
        if how.json {
            output::json(&report.json())?;
        } else {
            for warning in &report.warnings {
                output::message(&format!("note: {warning}"));
            }
            output::text(&describe(&report))?;
            if how.histogram {
                output::text(&output::histograms(&distributions))?;
            }
        }
        if !report.incomplete {
            return Ok(());
        }
        output::message(&format!(
            "overrule: incomplete: {} of {} measured",
            report.queries,
            counted(report.judged, "judged query")
        ));
        Err(CommandFailure::incomplete())
    }
}

/// The project's truth with this name; `None` for a file. These words never refer to files,
/// whatever the folder contains.
pub(crate) fn project_truth_of(
    name: &Path,
    cuts: GradeBasis,
    context: &CommandContext,
) -> Result<Option<Truth>, CommandFailure> {
    let source = name.to_str().and_then(TruthSource::of);
    if let Some(source) = source.filter(|_| name.is_file()) {
        output::message(&format!(
            "note: {source} means the project's own data; use ./{} for the file of that name",
            name.display()
        ));
    }
    let truth = source.map(|source| {
        let store = context.open()?;
        Ok::<_, CommandFailure>(project_truth(&store, source, cuts)?)
    });
    truth.transpose()
}

fn describe(report: &EvaluationReport) -> String {
    let compared = report.rows.iter().any(|row| row.against.is_some());
    let other = format!(">{}", report.other);
    let mut header = vec!["metric", ">mean", "95 % interval"];
    if compared {
        header.extend([&other, ">difference", "95 % interval"]);
        if report.tested {
            header.extend([">p (randomization)", ">p (t-test)"]);
        }
        header.push("better/equal/worse");
    }
    let rows = report.rows.iter();
    let rows = rows.map(|row| cells(row, compared, report.tested));
    let rows: Vec<Vec<String>> = rows.collect();
    let mut queries = counted(report.queries, "query");
    if let Some(against) = report.against {
        queries = format!("{queries}, {against}");
    }
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
        cells.push(or_dash(comparison, |of| signed(of.mean_difference, 4)));
        cells.push(range(comparison.and_then(|of| of.interval)));
        if tested {
            cells.push(or_dash(comparison.map(|of| of.randomization_p), p_value));
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

fn number(value: Option<f64>) -> String {
    or_dash(value, |value| fixed(value, 4))
}

fn range(interval: Option<(f64, f64)>) -> String {
    or_dash(interval, |(low, high)| {
        format!("{} to {}", fixed(low, 4), fixed(high, 4))
    })
}
