//! `overrule methods`: compares the quality, calls, cost and latency of reranking methods.

pub mod rerank;

use crate::app::evaluate::TruthInput;
use crate::app::output_file::write_whole;
use crate::app::text_format::{counted, duration, p_value};
use crate::app::truth::{GradeBasis, Truth, TruthSource, project_truth};
use crate::cli::command::{CommandContext, CommandFailure, CommandResult, option_set, usage};
use crate::cli::evaluate::project_truth_of;
use crate::cli::output;
use crate::cli::output::{clean, or_dash};
use crate::cli::picture_options::PictureOptions;
use crate::cli::slices::{SliceOptions, slices_table};
use crate::domain::number_words;
use crate::domain::number_words::{fixed, signed};
use crate::features::methods::app::{
    MethodEntry, MethodsOptions, MethodsReport, SlicedMethods, compare_methods,
};
use crate::formats::csv_cell::SafeCsv;
use crate::formats::safe_json;
use crate::formats::safe_stdout::SafeStdout;
use crate::formats::svg::histogram_svg;
use crate::store::Store;
use clap::{Args, Subcommand};
use serde_json::json;
use std::io::Write as _;
use std::path::PathBuf;

/// Maximum number of failed queries of a method that are named.
const NAMED: usize = 5;

/// The commands of this feature.
#[derive(Debug, Subcommand)]
pub(crate) enum MethodsSubcommand {
    /// Rerank candidates with LLMs, reranking services or programs
    Rerank(rerank::RerankCommand),
    /// Compare the quality and cost of reranking methods
    Methods(MethodsCommand),
}

impl MethodsSubcommand {
    pub(crate) fn run(self, context: &CommandContext) -> CommandResult {
        match self {
            Self::Rerank(command) => command.run(context),
            Self::Methods(command) => command.run(context),
        }
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "Prints one row per method that `overrule rerank` has run, and one for the \
                  first-stage order, which is called original.
Values are means over the queries that were run and are judged, where a failed query counts as 0;
--json also has the means over answered queries. Tests are against the baseline, over the queries
that both answered, two-sided, and corrected by Holm's method. * marks the methods that no other
method beats in both quality and cost.

Examples:
  overrule methods                                       against the labels, or the judges if \
  there are none
  overrule methods --truth zelo --baseline original --at 5
  overrule methods --md > methods.md
  overrule methods --slice topic                         which group of queries is worse, by method
  overrule methods --histogram                           how ndcg@10 is distributed over the queries
  overrule methods --truth zelo_annotated.jsonl          against the scores of a file
  overrule methods --svg plane.svg --export artifact.json"
)]
pub(crate) struct MethodsCommand {
    /// Labels: a file of labels or of documents with scores, or qrels, rulings or zelo of the
    /// project [default: qrels if there are labels, otherwise zelo]
    #[arg(long, value_name = "TRUTH")]
    truth: Option<PathBuf>,
    /// How to convert zELO scores to grades
    #[arg(long, value_enum, default_value = "auto")]
    cuts: GradeBasis,
    /// Method to test the others against [default: original]
    #[arg(long, value_name = "METHOD")]
    baseline: Option<String>,
    /// Cutoff rank of ndcg, mrr, recall, p and judged
    #[arg(long, value_name = "K", default_value_t = 10)]
    at: usize,
    /// Lowest relevant grade; ndcg uses the grades themselves
    #[arg(long, value_name = "GRADE", default_value_t = 1)]
    level: i32,
    /// Print JSON with the values of every query
    #[arg(long, conflicts_with_all = ["csv", "md"])]
    json: bool,
    /// Print CSV
    #[arg(long, conflicts_with = "md")]
    csv: bool,
    /// Print a table in Markdown
    #[arg(long)]
    md: bool,
    /// Print how the first metric is distributed over the queries, by method
    #[arg(long, conflicts_with_all = ["json", "csv", "md"])]
    histogram: bool,
    /// Draw these histograms to this SVG file
    #[arg(long, value_name = "FILE")]
    histogram_svg: Option<PathBuf>,
    #[command(flatten)]
    picture: PictureOptions,
    /// Write the values and rankings of all queries to this file, in the format of
    /// compare_reranking
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,
    #[command(flatten)]
    slices: SliceOptions,
    /// Accept queries without a ranking (exit code 0 instead of 3)
    #[arg(long)]
    partial: bool,
}

impl MethodsCommand {
    pub(crate) fn run(self, context: &CommandContext) -> CommandResult {
        self.picture.check()?;
        let files = self.export.iter().chain(&self.histogram_svg);
        let files = files.map(PathBuf::as_path).chain(self.picture.files());
        let printing = [
            (self.json, "--json"),
            (self.csv, "--csv"),
            (self.md, "--md"),
        ];
        context.check_targets(files, &[], option_set(&printing))?;
        if self.at == 0 {
            return Err(usage!("--at must be at least 1"));
        }
        let store = context.open()?;
        let truth = self.truth(context, &store)?;
        let options = MethodsOptions {
            baseline: self.baseline.clone(),
            depth: self.at,
            level: self.level,
        };
        if self.slices.is_given() && (self.csv || self.md) {
            return Err(usage!("--slice is printed as text or with --json"));
        }
        let field = self.slices.field_in(&store)?;
        let report = compare_methods(&store, &truth, &options)?;
        let slices = field.map(|field| report.sliced(&field)).transpose()?;
        self.picture.write(|| Ok(report.quality_cost_svg()))?;
        self.picture.files().for_each(output::wrote);
        if let Some(path) = &self.histogram_svg {
            let metric = report.metrics.first().map(ToString::to_string);
            let metric = metric.unwrap_or_default();
            let title = format!("{metric} by query");
            let caption = report.heading();
            let picture = histogram_svg(&report.distributions(), &metric, &title, &caption);
            write_whole(path, |out| Ok(out.write_all(picture.as_bytes())?))?;
            output::wrote(path);
        }
        if let Some(path) = &self.export {
            let artifact = safe_json::pretty(&report.artifact(self.at))?;
            write_whole(path, |out| Ok(out.write_all(artifact.as_bytes())?))?;
            output::wrote(path);
        }
        if self.json {
            let mut printed = report.json();
            printed["slices"] = json!(slices.as_ref().map(SlicedMethods::json));
            output::json(&printed)?;
        } else {
            for note in &report.notes {
                output::message(&format!("note: {note}"));
            }
            match (self.csv, self.md) {
                (true, _) => csv(&report)?,
                (_, true) => output::raw(&markdown(&report))?,
                _ => output::text(&table(&report))?,
            }
            if let Some(slices) = &slices {
                let methods = slices.methods.iter();
                let tables =
                    methods.map(|(_, of)| slices_table(of, &slices.field, &report.baseline));
                output::text(&tables.collect::<String>())?;
            }
            if self.histogram {
                output::text(&output::histograms(&report.distributions()))?;
            }
        }
        let failed: usize = report
            .methods
            .iter()
            .map(|method| method.effort.failed)
            .sum();
        for method in &report.methods {
            for (query, failure) in method.failures(&report.queries).take(NAMED) {
                output::message(&format!(
                    "{}: query {} failed ({}): {}",
                    clean(&method.name),
                    clean(query.as_str()),
                    failure.kind,
                    clean(&failure.message)
                ));
            }
            let more = method.effort.failed.saturating_sub(NAMED);
            if more > 0 {
                output::message(&format!(
                    "{}: {more} more failed; --json and --export list all",
                    clean(&method.name)
                ));
            }
        }
        if failed == 0 || self.partial {
            return Ok(());
        }
        output::message(&format!(
            "overrule: incomplete: {} without an order; `overrule rerank --retry-failed` asks \
             again",
            counted(failed, "result")
        ));
        Err(CommandFailure::incomplete())
    }

    /// The named truth, or else the labels, or the judges if there are none.
    fn truth(&self, context: &CommandContext, store: &Store) -> Result<Truth, CommandFailure> {
        let Some(name) = &self.truth else {
            let labels = store.read_blocking(|db| db.labels())?;
            let source = if labels.is_empty() {
                TruthSource::Zelo
            } else {
                TruthSource::Qrels
            };
            return Ok(project_truth(store, source, self.cuts)?);
        };
        match project_truth_of(name, self.cuts, context)? {
            Some(truth) => Ok(truth),
            None => Ok(TruthInput::File(name, self.cuts).read()?),
        }
    }
}

/// The columns of all tables: their headings, and a method's cells.
fn columns(report: &MethodsReport) -> Vec<String> {
    let mut columns = vec!["method".to_owned()];
    for (at, metric) in report.metrics.iter().enumerate() {
        columns.push(format!(">{metric}"));
        if at == 0 {
            columns.push("95 % interval".to_owned());
            columns.push(format!(">− {}", report.baseline));
            columns.push(">p (Holm)".to_owned());
            columns.push("better/equal/worse".to_owned());
        }
    }
    let rest = [
        ">failed",
        ">not run",
        ">repaired",
        ">cut",
        ">calls/query",
        ">$/query",
        ">p50",
        ">p95",
    ];
    columns.extend(rest.map(str::to_owned));
    columns
}

fn cells(report: &MethodsReport, method: &MethodEntry) -> Vec<String> {
    let star = if method.on_front { " *" } else { "" };
    let mut cells = vec![format!("{}{star}", clean(&method.name))];
    for (at, values) in method.values.iter().enumerate() {
        cells.push(or_dash(values.all, |of| fixed(of.mean, 4)));
        if at > 0 {
            continue;
        }
        let interval = values.all.and_then(|of| of.interval);
        cells.push(or_dash(interval, |(low, high)| {
            format!("{} to {}", fixed(low, 4), fixed(high, 4))
        }));
        let test = method.tests.first().copied().flatten();
        cells.push(or_dash(test, |test| {
            signed(test.comparison.mean_difference, 4)
        }));
        cells.push(or_dash(
            test.and_then(|test| test.randomization_holm),
            p_value,
        ));
        cells.push(or_dash(test, |test| {
            let (better, equal, worse) = test.comparison.wins_ties_losses;
            format!("{better}/{equal}/{worse}")
        }));
    }
    let effort = &method.effort;
    let milliseconds = |time: Option<u64>| or_dash(time, |ms| duration(ms as f64 / 1000.0));
    cells.push(format!("{}/{}", effort.failed, effort.queries));
    cells.push(method.not_run(&report.queries).count().to_string());
    cells.push(effort.repaired.to_string());
    cells.push(effort.truncated.to_string());
    cells.push(or_dash(effort.a_query(effort.calls), |calls| {
        format!("{calls:.1}")
    }));
    cells.push(or_dash(effort.usd_a_query(), number_words::usd));
    cells.push(milliseconds(effort.wall_p50_ms));
    cells.push(milliseconds(effort.wall_p95_ms));
    debug_assert_eq!(cells.len(), columns(report).len());
    cells
}

/// Number of columns in the first table: the method, and the first metric with its tests. The rest
/// forms a table below.
const FIRST: usize = 6;

fn table(report: &MethodsReport) -> String {
    let columns = columns(report);
    let rows: Vec<Vec<String>> = report
        .methods
        .iter()
        .map(|method| cells(report, method))
        .collect();
    let part = |wanted: &dyn Fn(usize) -> bool| {
        let heads = columns.iter().enumerate();
        let heads: Vec<&str> = heads
            .filter(|(at, _)| wanted(*at))
            .map(|(_, head)| head.as_str())
            .collect();
        let rows = rows.iter().map(|row| {
            row.iter()
                .enumerate()
                .filter(|(at, _)| wanted(*at))
                .map(|(_, cell)| cell.clone())
                .collect()
        });
        output::table(&heads, &rows.collect::<Vec<Vec<String>>>())
    };
    format!(
        "{}\n{}\n{}* no other method is better and cheaper ({})\n",
        report.heading(),
        part(&|at| at < FIRST),
        part(&|at| at == 0 || at >= FIRST),
        report.cost_unit()
    )
}

fn markdown(report: &MethodsReport) -> String {
    let columns = columns(report);
    let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | ").replace('\n', " "));
    let heads = columns
        .iter()
        .map(|name| name.trim_start_matches('>').to_owned());
    let rules = columns.iter().map(|name| {
        if name.starts_with('>') {
            "---:".to_owned()
        } else {
            "---".to_owned()
        }
    });
    let mut text = format!(
        "{}\n\n{}{}",
        report.heading(),
        row(heads.collect()),
        row(rules.collect())
    );
    for method in &report.methods {
        let cells = cells(report, method);
        text += &row(cells
            .into_iter()
            .map(|cell| cell.replace('|', "\\|"))
            .collect());
    }
    text
}

fn csv(report: &MethodsReport) -> CommandResult {
    let mut out = SafeStdout::default();
    let mut table = SafeCsv::new(&mut out);
    let mut heads = vec!["method".to_owned(), "judges".to_owned()];
    for metric in &report.metrics {
        for part in [
            "",
            "_low",
            "_high",
            "_answered_only",
            "_difference",
            "_p_holm",
        ] {
            heads.push(format!("{metric}{part}"));
        }
    }
    let rest = [
        "queries",
        "failed",
        "repaired",
        "calls",
        "failed_calls",
        "tokens_in",
        "tokens_out",
        "usd_a_query",
        "wall_ms_p50",
        "wall_ms_p95",
        "on_front",
        "not_run",
        "shared_calls",
        "truncated_documents",
        "max_document_chars",
    ];
    heads.extend(rest.map(str::to_owned));
    table.row(&heads)?;
    for method in &report.methods {
        let text = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        let mut row = vec![method.name.clone(), method.judges.join(" ")];
        for (values, test) in method.values.iter().zip(&method.tests) {
            let interval = values.all.and_then(|of| of.interval);
            row.push(text(values.all.map(|of| of.mean)));
            row.push(text(interval.map(|(low, _)| low)));
            row.push(text(interval.map(|(_, high)| high)));
            row.push(text(values.answered.map(|of| of.mean)));
            row.push(text(test.map(|test| test.comparison.mean_difference)));
            row.push(text(test.and_then(|test| test.randomization_holm)));
        }
        let effort = &method.effort;
        let whole = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
        row.extend([
            effort.queries.to_string(),
            effort.failed.to_string(),
            effort.repaired.to_string(),
            effort.calls.to_string(),
            effort.failed_calls.to_string(),
            effort.tokens_in.to_string(),
            effort.tokens_out.to_string(),
            text(effort.usd_a_query()),
            whole(effort.wall_p50_ms),
            whole(effort.wall_p95_ms),
            method.on_front.to_string(),
            method.not_run(&report.queries).count().to_string(),
            whole(effort.shared_calls),
            effort.truncated.to_string(),
            whole(effort.document_chars.map(|chars| chars as u64)),
        ]);
        table.row(&row)?;
    }
    drop(table);
    Ok(out.flush()?)
}
