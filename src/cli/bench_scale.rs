//! `overrule bench-scale`: what anchors and links are worth for one scale over queries, in simulation.

use super::bench_sampler::mean_json;
use super::command::CommandResult;
use super::output;
use super::simulation_progress::SimulationProgress;
use crate::app::simulate::ScaleSimulation;
use crate::app::wording::counted;
use clap::Args;
use serde_json::json;

#[derive(Debug, Args)]
#[command(
    after_help = "Queries are fought within by three judges, four cycles each; then they are put on one scale by each design. The value is the
correlation of absolute scores with the truth over all documents of a world; intervals are 95 % of the mean over worlds (Student's t). Drift is
how far a judge's mildness varies between queries, in units of the truth, which varies by 1.82 within queries. A link is a battle of
three judges over documents of two queries. These are simulations: no model is asked.

Examples:
  overrule bench-scale
  overrule bench-scale --between 0.5 --worlds 40 --json"
)]
pub(super) struct BenchScaleCommand {
    /// Queries a world
    #[arg(long, default_value_t = 60, value_name = "N", value_parser = clap::value_parser!(u32).range(3..=1000))]
    queries: u32,
    /// Documents a query
    #[arg(long, default_value_t = 30, value_name = "K", value_parser = clap::value_parser!(u32).range(5..=200))]
    documents: u32,
    /// Standard deviation of queries' means over that within queries
    #[arg(long, default_value_t = 1.0, value_name = "X", value_parser = ratio)]
    between: f64,
    /// Worlds
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    worlds: u32,
    /// Threads [default: one a processor]; the result does not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Seed of the first world
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn ratio(text: &str) -> Result<f64, String> {
    let value = text.parse::<f64>().ok();
    let fits = value.filter(|value| (0.0..=10.0).contains(value));
    fits.ok_or_else(|| "expected a number from 0 to 10".to_owned())
}

impl BenchScaleCommand {
    pub(super) fn run(self) -> CommandResult {
        let simulation = ScaleSimulation {
            worlds: self.worlds as usize,
            queries: self.queries as usize,
            documents: self.documents as usize,
            between: self.between,
            threads: self.threads.map(usize::from),
            seed: self.seed,
        };
        let mut display = SimulationProgress::new(simulation.worlds, "played");
        let found = simulation.run(&mut |done| display.show(done))?;
        if self.json {
            let designs = found.iter().map(|(design, mean)| {
                json!({
                    "design": design.to_string(),
                    "calls_per_query": design.calls(),
                    "correlation": mean.map(mean_json),
                })
            });
            return output::json(&json!({
                "simulated": true,
                "worlds": self.worlds,
                "queries": self.queries,
                "documents": self.documents,
                "between": self.between,
                "designs": designs.collect::<Vec<_>>(),
            }));
        }
        let rows = found.iter().map(|(design, mean)| {
            vec![
                design.to_string(),
                design.calls().to_string(),
                mean.map_or_else(|| "–".to_owned(), |mean| format!("{:.3}", mean.mean)),
                mean.and_then(|mean| mean.half_width)
                    .map_or_else(|| "–".to_owned(), |half| format!("±{half:.3}")),
            ]
        });
        let header = ["design", ">calls a query", ">correlation", ">95 % interval"];
        output::text(&output::table(&header, &rows.collect::<Vec<_>>()))?;
        output::text(&format!(
            "{}, each of {} with {}; queries differ {} times as much as documents within one; simulated, no model was asked\n",
            counted(self.worlds as usize, "world"),
            counted(self.queries as usize, "query"),
            counted(self.documents as usize, "document"),
            self.between,
        ))
    }
}
