//! `overrule evaluate`: evaluates a ranking against labels.

use super::argument::{ArgumentError, number as parse_number};
use super::command::{CommandContext, CommandFailure, CommandResult, option_set, usage};
use super::output::{self, clean, or_dash};
use super::slices::{SliceOptions, slices_table};
use crate::app::evaluate::{
    Comparand, EvaluationOptions, EvaluationReport, MetricRow, SlicedReport, TruthInput,
    evaluate_run, evaluate_zbench,
};
use crate::app::input_files::display_name;
use crate::app::output_file::{CSV, SVG, check_ending, write_whole};
use crate::app::text_format::{counted, p_value};
use crate::app::truth::{GradeBasis, Truth, TruthSource, project_truth};
use crate::domain::metrics::{EvaluationRules, ScoreWidth, zbench};
use crate::domain::number_words::{fixed, signed};
use crate::formats::svg::histogram_svg;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
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
  overrule evaluate qrels.txt new.trec --baseline old.trec --tost 0.02    are they equal within 0.02?
  overrule evaluate corrected.tsv bm25.trec --before qrels/test.tsv
  overrule evaluate zelo_annotated.jsonl bm25.trec        against the scores of a file
  overrule evaluate qrels.txt bm25.trec --histogram       how ndcg is distributed over the queries
  overrule evaluate qrels.txt bm25.trec --slice topic --tags topics.csv   is a group of queries worse?
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
    /// Compare with this ranking; can be repeated
    #[arg(long, value_name = "RUN")]
    baseline: Vec<PathBuf>,
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
    /// Test whether differences are within ±MARGIN (two one-sided t-tests)
    #[arg(long, value_name = "MARGIN", value_parser = margin)]
    tost: Option<f64>,
    /// Draw these histograms to this SVG file
    #[arg(long, value_name = "FILE")]
    histogram_svg: Option<PathBuf>,
    #[command(flatten)]
    slices: SliceOptions,
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
        baseline: Vec<PathBuf>,
        how: MeasureOptions,
    ) -> Self {
        Self {
            files: vec![test],
            truth: Some(truth),
            baseline,
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
        if how.tost.is_some() && self.baseline.is_empty() {
            return Err(usage!(
                "--tost tests a difference; name a second ranking with --baseline"
            ));
        }
        if self.baseline.len() > 1 {
            self.check_several([truth, test])?;
        }
        let baselines = self
            .baseline
            .iter()
            .map(|path| ("baseline", path.as_path()));
        let before = self.before.iter().map(|path| ("before", path.as_path()));
        let inputs: Vec<(&str, &Path)> = baselines
            .chain(before)
            .chain([("truth", truth), ("ranking", test)])
            .chain(how.slices.file().map(|path| ("tags", path)))
            .collect();
        let written = tables().chain(pictures());
        context.check_targets(written, &inputs, option_set(&[(how.json, "--json")]))?;
        tables().try_for_each(|path| check_ending(path, &[CSV]))?;
        pictures().try_for_each(|path| check_ending(path, &[SVG]))?;
        let own = match (&self.truth, how.profile) {
            // Two arguments are files, whatever their names.
            (Some(_), MeasureProfile::Trec) => project_truth_of(truth, how.cuts, context)?,
            _ => None,
        };
        let evaluate = |baseline| self.evaluate(own.as_ref(), truth, test, baseline);
        if self.baseline.len() > 1 {
            let reports = self
                .baseline
                .iter()
                .map(|path| evaluate(Some(path.as_path())));
            let mut reports = reports.collect::<Result<Vec<_>, _>>()?;
            EvaluationReport::correct(&mut reports);
            return print_several(&reports, test, how.json);
        }
        let field = how.slices.field(|| context.open())?;
        let report = evaluate(self.baseline.first().map(PathBuf::as_path))?;
        let slices = field
            .map(|field| SlicedReport::of(&report, &field))
            .transpose()?;
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
            let mut printed = report.json();
            printed["slices"] = json!(slices.as_ref().map(SlicedReport::json));
            output::json(&printed)?;
        } else {
            for warning in &report.warnings {
                output::message(&format!("note: {warning}"));
            }
            output::text(&describe(&report))?;
            if let Some(slices) = &slices {
                let metrics = slices.metrics.iter();
                let tables = metrics.map(|of| slices_table(of, &slices.field, report.other));
                output::text(&tables.collect::<String>())?;
            }
            if how.histogram {
                output::text(&output::histograms(&distributions))?;
            }
        }
        complete(&report)
    }

    /// Refuses options that describe a single comparison.
    fn check_several(&self, others: [&Path; 2]) -> CommandResult {
        let how = &self.how;
        for (is_given, option) in [
            (how.csv.is_some(), "--csv"),
            (how.summary_csv.is_some(), "--summary-csv"),
            (how.histogram, "--histogram"),
            (how.histogram_svg.is_some(), "--histogram-svg"),
            (how.slices.is_given(), "--slice"),
        ] {
            if is_given {
                return Err(usage!(
                    "{option} describes one comparison; name two rankings, or use --json"
                ));
            }
        }
        let mut inputs = self.baseline.iter().map(PathBuf::as_path).chain(others);
        if inputs.any(|path| path == Path::new("-")) {
            return Err(usage!(
                "standard input can be read only once; name files if there are several comparisons"
            ));
        }
        Ok(())
    }

    /// Evaluates the ranking, and compares it with a baseline.
    fn evaluate(
        &self,
        own: Option<&Truth>,
        truth: &Path,
        test: &Path,
        baseline: Option<&Path>,
    ) -> Result<EvaluationReport, CommandFailure> {
        let how = &self.how;
        let mut report = match (how.profile, &self.before) {
            (MeasureProfile::Trec, before) => {
                let truth = own.map_or(TruthInput::File(truth, how.cuts), TruthInput::Project);
                let comparand = match (baseline, before) {
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
                let limit = (how.document_limit > 0).then_some(how.document_limit);
                evaluate_zbench(truth, test, baseline, &how.metrics, limit, how.partial)?
            }
        };
        report.margin = how.tost;
        report.other_name = baseline.map(display_name).unwrap_or_default();
        Ok(report)
    }
}

/// Parses a margin.
fn margin(text: &str) -> Result<f64, ArgumentError> {
    parse_number(text, "a number above 0", |margin| {
        (f64::MIN_POSITIVE..f64::INFINITY).contains(margin)
    })
}

/// Ends with exit code 3 if queries are missing.
fn complete(report: &EvaluationReport) -> CommandResult {
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

/// Prints the comparisons of a ranking with several others.
fn print_several(reports: &[EvaluationReport], test: &Path, json: bool) -> CommandResult {
    if json {
        let comparisons: Vec<Value> = reports
            .iter()
            .map(|report| {
                let mut comparison = report.json();
                comparison["baseline"] = json!(report.other_name);
                comparison
            })
            .collect();
        output::json(&json!({
            "ranking": display_name(test),
            "comparisons": comparisons,
        }))?;
    } else {
        let mut printed = Vec::new();
        for warning in reports.iter().flat_map(|report| &report.warnings) {
            if !printed.contains(&warning) {
                output::message(&format!("note: {warning}"));
                printed.push(warning);
            }
        }
        output::text(&describe_several(reports, test))?;
    }
    reports.iter().try_for_each(complete)
}

/// A table with the ranking and each baseline, by metric.
fn describe_several(reports: &[EvaluationReport], test: &Path) -> String {
    let Some(first) = reports.first() else {
        return String::new();
    };
    let margin = first.margin;
    let equal = margin.map(|margin| format!(">p (within {margin}, Holm)"));
    let mut header = vec!["metric", "ranking", ">mean", ">difference", "95 % interval"];
    header.extend([">p (randomization)", ">p (Holm)"]);
    header.extend(equal.as_deref());
    header.extend(["better/equal/worse", "verdict"]);
    let mut rows = Vec::new();
    for (at, row) in first.rows.iter().enumerate() {
        let mean = number(row.estimate.map(|estimate| estimate.mean));
        let mut cells = vec![row.name.clone(), clean(display_name(test)), mean];
        cells.resize(header.len(), String::new());
        rows.push(cells);
        for report in reports {
            if let Some(row) = report.rows.get(at) {
                let mut cells = vec![row.name.clone(), clean(&report.other_name)];
                cells.extend(compared_cells(row));
                let corrected = row.corrected();
                let p = |p: Option<f64>| or_dash(p, p_value);
                cells.push(p(corrected.and_then(|of| of.randomization)));
                if margin.is_some() {
                    cells.push(p(corrected.and_then(|of| of.equivalence)));
                }
                cells.extend(end_cells(row, margin));
                rows.push(cells);
            }
        }
    }
    let against = first.against.map_or(String::new(), |of| format!(", {of}"));
    format!(
        "{}{against}; differences are {} minus the other ranking\n{}",
        counted(first.queries, "query"),
        clean(display_name(test)),
        output::table(&header, &rows)
    )
}

/// The baseline's mean, the difference with its interval, and the p-value.
fn compared_cells(row: &MetricRow) -> [String; 4] {
    let (baseline, comparison) = row.against.unwrap_or_default();
    [
        number(baseline),
        or_dash(comparison, |of| signed(of.mean_difference, 4)),
        range(comparison.and_then(|of| of.interval)),
        or_dash(comparison.map(|of| of.randomization_p), p_value),
    ]
}

/// The number of better, equal and worse queries, and the verdict.
fn end_cells(row: &MetricRow, margin: Option<f64>) -> [String; 2] {
    let comparison = row.against.and_then(|(_, comparison)| comparison);
    [
        or_dash(comparison, |of| {
            let (better, equal, worse) = of.wins_ties_losses;
            format!("{better}/{equal}/{worse}")
        }),
        or_dash(row.verdict(margin), |verdict| verdict.words().to_owned()),
    ]
}

/// The header of the p-values of two one-sided tests.
fn equal_header(margin: f64) -> String {
    format!(">p (within {margin})")
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
    let margin = report.margin;
    let equal = margin.map(equal_header);
    let mut header = vec!["metric", ">mean", "95 % interval"];
    if compared {
        header.extend([&other, ">difference", "95 % interval"]);
        if report.tested {
            header.extend([">p (randomization)", ">p (t-test)"]);
        }
        header.extend(equal.as_deref());
        header.push("better/equal/worse");
        header.extend(margin.map(|_| "verdict"));
    }
    let rows = report.rows.iter();
    let rows = rows.map(|row| cells(row, compared, report));
    let rows: Vec<Vec<String>> = rows.collect();
    let mut queries = counted(report.queries, "query");
    if let Some(against) = report.against {
        queries = format!("{queries}, {against}");
    }
    format!("{queries}\n{}", output::table(&header, &rows))
}

fn cells(row: &MetricRow, compared: bool, report: &EvaluationReport) -> Vec<String> {
    let interval = row.estimate.and_then(|estimate| estimate.interval);
    let mut cells = vec![
        row.name.clone(),
        number(row.estimate.map(|estimate| estimate.mean)),
        range(interval),
    ];
    if compared {
        let [baseline, difference, interval, p] = compared_cells(row);
        cells.extend([baseline, difference, interval]);
        let comparison = row.against.and_then(|(_, comparison)| comparison);
        if report.tested {
            cells.push(p);
            cells.push(or_dash(
                comparison.and_then(|of| Some(of.t_test?.p)),
                p_value,
            ));
        }
        let [counts, verdict] = end_cells(row, report.margin);
        if report.margin.is_some() {
            cells.push(or_dash(row.equivalence_p(report.margin), p_value));
            cells.extend([counts, verdict]);
        } else {
            cells.push(counts);
        }
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
