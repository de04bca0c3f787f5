//! `overrule scale simulate`: simulates the accuracy of anchors and links.

use crate::app::text_format::counted;
use crate::cli::command::CommandResult;
use crate::cli::output::{self, or_dash};
use crate::features::scale::app::{SimulatedDesign, simulate_designs};
use clap::Args;
use serde_json::json;

#[derive(Debug, Args)]
#[command(after_help = "\
Simulates worlds of 60 queries with 30 documents and four cycles of battles by three judges. The
figures are correlations of linked scores with the truth over all documents, in worlds where the
levels of queries vary half as much as the documents within a query, and as much. Drift is the
standard deviation of the anchor judge's own shift from query to query, in units of the truth
(1.82 within a query).

Example:
  overrule scale simulate --worlds 6")]
pub(super) struct SimulateCommand {
    /// Number of simulated worlds per design
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..))]
    worlds: u8,
    /// Random seed of the first world
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl SimulateCommand {
    pub(super) fn run(self) -> CommandResult {
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
            ">calls per query",
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
    let mut cells = vec![
        of.name.to_owned(),
        or_dash(of.calls, |calls| calls.to_string()),
    ];
    for found in of.correlations {
        cells.push(or_dash(found, |(mean, _)| format!("{mean:.3}")));
        let error = found.and_then(|(_, error)| error);
        cells.push(or_dash(error, |error| format!("{error:.3}")));
    }
    cells
}
