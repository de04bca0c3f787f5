//! `overrule scale`: calibrates scores across queries.

mod run;
mod simulate;
mod watch_links;

use crate::app::output_file::{CSV, JSON_LINES, check_ending, write_whole};
use crate::app::text_format::counted;
use crate::cli::command::{CommandContext, CommandResult, option_set};
use crate::cli::output;
use crate::cli::output::{clean, or_dash};
use crate::domain::number_words::signed;
use crate::features::scale::app::{GradeSource, ScaleReport, anchors, scale_report};
use clap::{Args, Subcommand};
use run::RunCommand;
use serde_json::json;
use simulate::SimulateCommand;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  overrule scale run --judge gpt --dry-run
  overrule scale run --judge gpt
  overrule scale fit --out linked.jsonl")]
pub(crate) struct ScaleCommand {
    #[command(subcommand)]
    action: ScaleAction,
}

#[derive(Debug, Subcommand)]
enum ScaleAction {
    /// Have a judge grade a few documents of each query (anchors), or compare documents of two
    /// queries (links)
    Run(RunCommand),
    /// List the documents of each query to grade yourself
    Anchors(AnchorsCommand),
    /// Calibrate the scores of all queries with anchors or links
    Fit(FitCommand),
    /// Simulate how much anchors and links help
    Simulate(SimulateCommand),
}

#[derive(Debug, Args)]
#[command(
    after_help = "zELO scores have mean 0 in each query, so they cannot be compared across \
                  queries. One judge who grades a few documents of each query, one by one, puts all queries
on one scale. These documents, the anchors, are spread over the ranking by zELO, from the first
rank to the 60 % quantile.

Example:
  overrule scale anchors --count 5        query, document and rank, separated by tabs, with header"
)]
struct AnchorsCommand {
    /// Number of documents per query
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..))]
    count: u8,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The grades come from `overrule scale run`, or from a file: labels of one judge, \
                  in TREC's or BEIR's columns or ranx's JSON. A document's linked score is its zELO
score plus the offset of its query. Linked scores are converted to grades by the project's labels
and rulings if there are at least 30, with 5 on each side of grade 1; otherwise by the anchors'
judge. Queries without an anchor get no linked score.

Examples:
  overrule scale fit --out linked.jsonl           use the anchors that a judge of the project graded
  overrule scale fit grades.qrels                 use the grades of a file"
)]
struct FitCommand {
    /// Grades of the anchors [default: those of the judge who graded the most queries]
    #[arg(conflicts_with = "judge")]
    grades: Option<PathBuf>,
    /// Use the grades of this judge of the project
    #[arg(long, value_name = "NAME")]
    judge: Option<String>,
    /// Write one row per document to this file (JSON lines, or a table for .csv): zelo,
    /// zelo_linked, their standard errors, grade, probabilities
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl ScaleCommand {
    pub(crate) fn run(self, context: &CommandContext) -> CommandResult {
        match self.action {
            ScaleAction::Run(run) => run.run(context),
            ScaleAction::Anchors(anchors) => anchors.run(context),
            ScaleAction::Fit(fit) => fit.run(context),
            ScaleAction::Simulate(simulate) => simulate.run(),
        }
    }
}

impl AnchorsCommand {
    fn run(self, context: &CommandContext) -> CommandResult {
        let found = anchors(&context.open()?, usize::from(self.count))?;
        if self.json {
            let rows = found
                .iter()
                .map(|of| json!({"query": of.query, "document": of.document, "rank": of.rank}));
            return output::json(&rows.collect::<Vec<_>>());
        }
        let mut table = csv::WriterBuilder::new()
            .delimiter(b'\t')
            .from_writer(Vec::new());
        table.write_record(["query", "document", "rank"])?;
        for of in &found {
            let (query, document) = (clean(of.query.as_str()), clean(of.document.as_str()));
            table.write_record([query, document, of.rank.to_string()])?;
        }
        let table = table.into_inner().map_err(|error| error.into_error())?;
        output::text(&String::from_utf8_lossy(&table))
    }
}

impl FitCommand {
    fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        if let Some(path) = &self.out {
            let grades: Vec<_> = self
                .grades
                .iter()
                .map(|file| ("grades", file.as_path()))
                .collect();
            let printing = option_set(&[(self.json, "--json")]);
            context.check_targets([path.as_path()], &grades, printing)?;
            check_ending(path, &[JSON_LINES, CSV])?;
        }
        let source = match (&self.grades, &self.judge) {
            (Some(file), _) => GradeSource::File(file),
            (None, Some(judge)) => GradeSource::Judge(judge),
            (None, None) => GradeSource::Stored,
        };
        let report = scale_report(&store, source)?;
        if let Some(path) = &self.out {
            let csv = path
                .extension()
                .is_some_and(|ending| ending.eq_ignore_ascii_case("csv"));
            write_whole(path, |out| report.write(csv, out))?;
            output::wrote(path);
        }
        if self.json {
            return output::json(&report.json());
        }
        for note in &report.notes {
            output::message(&format!("note: {note}"));
        }
        output::text(&describe(&report))
    }
}

fn describe(report: &ScaleReport) -> String {
    let rows: Vec<Vec<String>> = report
        .queries
        .iter()
        .map(|query| {
            vec![
                clean(query.id.as_str()),
                query.count.to_string(),
                or_dash(query.offset, |of| signed(of.value, 2)),
                or_dash(query.offset, |of| format!("{:.2}", of.se)),
                or_dash(query.expected_relevant, |of| format!("{of:.1}")),
            ]
        })
        .collect();
    let count = format!(">{}", report.scale.kind.noun());
    let header = [
        "query",
        count.as_str(),
        ">offset",
        ">± 1 se",
        ">expected relevant",
    ];
    let on_scale = report.queries.iter();
    let on_scale = on_scale.filter(|query| query.offset.is_some()).count();
    let queries = if on_scale == report.queries.len() {
        counted(on_scale, "query")
    } else {
        format!("{on_scale} of {}", counted(report.queries.len(), "query"))
    };
    format!(
        "{}\n{queries} on one scale by {}; standard deviation of their offsets {:.2} zELO\n",
        output::table(&header, &rows),
        clean(&report.scale.basis),
        report.scale.spread
    )
}
