//! `overrule scale`: one scale over queries.

use super::command::{CommandContext, CommandResult};
use super::output::{self, or_dash};
use crate::app::one_scale::{ScaleReport, SimulatedDesign, anchors, link_scale, simulate_designs};
use crate::app::output_file::write_whole;
use crate::app::wording::counted;
use crate::cli::output::clean;
use clap::{Args, Subcommand};
use serde_json::json;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct ScaleCommand {
    #[command(subcommand)]
    action: ScaleAction,
}

#[derive(Debug, Subcommand)]
enum ScaleAction {
    /// Which documents of each query to grade
    Anchors(AnchorsCommand),
    /// Put all queries on one scale by the grades of their anchors
    Fit(FitCommand),
    /// What anchors and links are worth, in simulation
    Simulate(SimulateCommand),
}

#[derive(Debug, Args)]
#[command(
    after_help = "zELO has mean 0 in each query and says nothing of two queries. A few documents of each, graded by one judge who sees them one by one,
put all queries on one scale. Anchors are spread over the ranking by zELO, from the first rank to the 60 % quantile.

Example:
  overrule scale anchors --count 5        query, document and rank, between tabs"
)]
struct AnchorsCommand {
    /// Documents of each query
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..))]
    count: u8,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "GRADES are labels of one judge, in TREC's or BEIR's columns or ranx's JSON. A document's linked score is its zELO plus the offset of its
query. Grades of linked scores follow from the project's labels and rulings where there are 30, 5 on each side of grade 1, else from the
anchors' judge itself. Queries without an anchor get no linked score.

Example:
  overrule scale fit grades.qrels --out linked.jsonl"
)]
struct FitCommand {
    /// The grades of the anchors
    grades: PathBuf,
    /// Write a JSON line a document here: zelo, zelo_linked, their standard errors, grade, probabilities
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Worlds of 60 queries with 30 documents, four cycles of battles by three judges. The number is the correlation of linked scores with the truth
over all documents, where the levels of queries spread half as far as documents within a query, and as far. Drift is the standard
deviation of the anchors' judge's own shift from query to query, in units of the truth (1.82 within a query).

Example:
  overrule scale simulate --worlds 6"
)]
struct SimulateCommand {
    /// Worlds that each design is played on
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..))]
    worlds: u8,
    /// The seed of the first world
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl ScaleCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        match self.action {
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
        let lines = found.iter().map(|of| {
            let (query, document) = (clean(of.query.as_str()), clean(of.document.as_str()));
            format!("{query}\t{document}\t{}\n", of.rank)
        });
        output::text(&lines.collect::<String>())
    }
}

impl FitCommand {
    fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        if let Some(path) = &self.out {
            context.check_target(path, &[("grades", &self.grades)])?;
        }
        let report = link_scale(&store, &self.grades)?;
        if let Some(path) = &self.out {
            write_whole(path, |out| report.write(out))?;
            output::message(&format!("wrote {}", path.display()));
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
                query.anchors.to_string(),
                or_dash(query.offset, |of| format!("{:+.2}", of.value)),
                or_dash(query.offset, |of| format!("{:.2}", of.se)),
                or_dash(query.expected_relevant(), |of| format!("{of:.1}")),
            ]
        })
        .collect();
    let header = [
        "query",
        ">anchors",
        ">offset",
        ">± 1 se",
        ">expected relevant",
    ];
    format!(
        "{}\n{}; offsets spread by {:.2} zELO\n",
        output::table(&header, &rows),
        counted(report.queries.len(), "query"),
        report.spread
    )
}

impl SimulateCommand {
    fn run(self) -> CommandResult {
        let found = simulate_designs(usize::from(self.worlds), self.seed, |of| {
            output::message(&format!("simulated: {}", of.name));
        });
        if self.json {
            let rows = found.iter().map(|of| {
                let number = |at: usize| of.correlations[at].map(|(mean, _)| mean);
                let error = |at: usize| of.correlations[at].and_then(|(_, error)| error);
                json!({
                    "design": of.name,
                    "calls_a_query": of.calls,
                    "levels_half": {"correlation": number(0), "se": error(0)},
                    "levels_full": {"correlation": number(1), "se": error(1)},
                })
            });
            return output::json(&rows.collect::<Vec<_>>());
        }
        let rows: Vec<Vec<String>> = found.iter().map(cells).collect();
        let header = [
            "design",
            ">calls a query",
            ">levels .5",
            ">± 1 se",
            ">levels 1",
            ">± 1 se",
        ];
        output::text(&format!(
            "correlation with the truth over all documents, {}\n{}",
            counted(usize::from(self.worlds), "world"),
            output::table(&header, &rows)
        ))
    }
}

fn cells(of: &SimulatedDesign) -> Vec<String> {
    let mut cells = vec![of.name.to_owned(), of.calls.to_string()];
    for found in of.correlations {
        cells.push(or_dash(found, |(mean, _)| format!("{mean:.3}")));
        let error = found.and_then(|(_, error)| error);
        cells.push(or_dash(error, |error| format!("{error:.3}")));
    }
    cells
}
