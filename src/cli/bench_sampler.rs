//! `overrule bench-sampler`: what a sampling strategy is worth, in simulation.

mod coverage;
mod display;
mod resample;

use crate::cli::command::{CommandContext, CommandFailure, CommandResult, usage};
use crate::cli::{output};
use crate::domain::sampling::adaptive::{AdaptivePlan, SamplingState};
use crate::domain::simulation::{
    MeanInterval, Noise, Quality, QualitySummary, SimulatedQuery, SimulationResult, Theta,
    quality_differences, run, summarise_quality,
};
use anyhow::anyhow;
use clap::Args;
use coverage::RankIntervalCoverage;
use display::SimulationProgress;
use resample::ProjectWorlds;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

/// Twelve cycles, what the plain plan costs, and what reaches the one at the price of the other.
const HEADLINE: &str = "cycles:12,cycles:4,cycles:2,swiss:2,swiss:4,swiss+rotate:2,top:2,top+escalate:2,top+escalate:4";

/// Judges of a simulated ensemble.
const JUDGES: usize = 3;

#[derive(Debug, Args)]
#[command(
    after_help = "A strategy is SAMPLER:BATTLES or SAMPLER+JUDGING:BATTLES, as in `annotate --sampler top --judging escalate \
--battles 2`; BATTLES counts calls a document, in battles of the whole ensemble. Every strategy meets the same queries and the \
same votes. RankIntervalCoverage are 95 % of the mean over queries (Student's t); changes are against the first strategy, query by query. The second \
table says how often the 95 % rank intervals hold the true rank, with the dispersion that a project with these queries would use.

What it shows: in pools of 100, top+escalate:2 has the NDCG@10 of cycles:12 for a sixth of the price, but a lower Kendall τ than \
cycles:4; top+escalate:4 has a higher one. In pools of 50, top+escalate:2 is level with \
cycles:12 on NDCG@10 and behind on recall@10; in pools of 25 it is behind on both. When scores are to be training targets, use \
swiss or eig. These are simulations: no model is asked, and real judges have tastes that these \
do not.

Examples:
  overrule bench-sampler
  overrule bench-sampler --documents 25 --theta graded --strategies cycles:4,swiss:2,top+escalate:2
  overrule bench-sampler --resample --json     the project's own judges and scores, fought again"
)]
pub(super) struct BenchSamplerCommand {
    /// Documents a query
    #[arg(long, default_value_t = 100, value_name = "K", value_parser = clap::value_parser!(u32).range(2..=1000))]
    documents: u32,
    /// Queries
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    queries: u32,
    /// How true scores are spread: gaussian, skew (a long upper tail) or graded (four grades)
    #[arg(long, default_value = "gaussian")]
    theta: Theta,
    /// What is compared, the first with all others
    #[arg(long, value_delimiter = ',', value_name = "STRATEGY,…", default_value = HEADLINE)]
    strategies: Vec<AdaptivePlan>,
    /// Take true scores and judges from the project's own votes instead: scores are drawn from each query's fit and its
    /// errors, votes from what was fitted to each judge
    #[arg(long, conflicts_with_all = ["documents", "theta"])]
    resample: bool,
    /// Threads [default: one a processor]; the result does not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Seed of worlds, votes and plans
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Where the queries come from.
enum WorldSource {
    Synthetic(Theta, usize, Noise),
    Project(ProjectWorlds),
}

impl WorldSource {
    fn world(&self, seed: u64, index: usize) -> Result<SimulatedQuery, CommandFailure> {
        match self {
            Self::Synthetic(theta, documents, noise) => Ok(SimulatedQuery::synthetic(
                *theta,
                *documents,
                noise.clone(),
                seed,
                index,
            )),
            Self::Project(resampled) => resampled.world(seed, index),
        }
    }
}

/// What one strategy came to on one query.
struct StrategyOnQuery {
    quality: Quality,
    state: SamplingState,
    /// Ensemble battles a document that were paid for.
    battles: f64,
    pairs: usize,
    rounds: usize,
}

/// What one strategy came to on all queries.
struct StrategyResult<'a> {
    campaign: AdaptivePlan,
    lines: Vec<&'a StrategyOnQuery>,
    intervals: Option<RankIntervalCoverage>,
}

impl StrategyOnQuery {
    fn of(world: &SimulatedQuery, played: SimulationResult) -> Self {
        let ensembles = (world.truth().len() * world.judges()).max(1);
        Self {
            quality: played.quality,
            state: played.state,
            battles: played.calls as f64 / ensembles as f64,
            pairs: played.pairs,
            rounds: played.rounds,
        }
    }
}

impl BenchSamplerCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        if self.strategies.is_empty() {
            return Err(usage!(
                "--strategies: name at least one"
            ));
        }
        let source = if self.resample {
            WorldSource::Project(ProjectWorlds::load(&context.open()?, self.seed)?)
        } else {
            let noise = Noise::standard(JUDGES);
            WorldSource::Synthetic(self.theta, self.documents as usize, noise)
        };
        let lines = self.every("played", |index| self.query(&source, index))?;
        let mut table: Vec<StrategyResult> = (0..)
            .zip(&self.strategies)
            .map(|(at, campaign)| StrategyResult {
                campaign: *campaign,
                lines: lines.iter().map(|query| &query[at]).collect(),
                intervals: None,
            })
            .collect();
        let phis: Vec<f64> = table.iter().map(|row| coverage::phi(&row.lines)).collect();
        let covered = self.every("measured", |index| {
            let world = source.world(self.seed, index)?;
            Ok(coverage::of_query(&world, &lines[index], &phis))
        })?;
        for (at, row) in table.iter_mut().enumerate() {
            row.intervals =
                RankIntervalCoverage::of(phis[at], covered.iter().filter_map(|query| query[at]));
        }
        if self.json {
            output::json(&self.as_json(&source, &table))?;
        } else {
            output::text(&self.as_text(&source, &table))?;
        }
        Ok(())
    }

    /// Does the work of every query, on all threads; one result a query, in order.
    fn every<T: Send>(
        &self,
        done: &'static str,
        work: impl Fn(usize) -> Result<T, CommandFailure> + Sync,
    ) -> Result<Vec<T>, CommandFailure> {
        let queries = self.queries as usize;
        let threads = self.threads.map_or_else(
            || thread::available_parallelism().map_or(1, usize::from),
            usize::from,
        );
        let next = AtomicUsize::new(0);
        let mut results: Vec<Option<T>> = (0..queries).map(|_| None).collect();
        thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            for _ in 0..threads.min(queries) {
                let (sender, next, work) = (sender.clone(), &next, &work);
                scope.spawn(move || {
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        if index >= queries || sender.send((index, work(index))).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            let mut display = SimulationProgress::new(queries, done);
            for (index, result) in receiver {
                results[index] = Some(result?);
                display.step();
            }
            Ok::<(), CommandFailure>(())
        })?;
        let results: Option<Vec<T>> = results.into_iter().collect();
        results.ok_or_else(|| anyhow!("a simulation ended unexpectedly").into())
    }

    fn query(
        &self,
        source: &WorldSource,
        index: usize,
    ) -> Result<Vec<StrategyOnQuery>, CommandFailure> {
        let world = source.world(self.seed, index)?;
        let play = |campaign: &AdaptivePlan| {
            let played = run(&world, &campaign.strategy, campaign.battles, self.seed);
            StrategyOnQuery::of(&world, played)
        };
        Ok(self.strategies.iter().map(play).collect())
    }

    fn heading(&self, source: &WorldSource) -> String {
        let queries = self.queries;
        match source {
            WorldSource::Synthetic(theta, documents, noise) => format!(
                "{queries} simulated queries of {documents} documents, {theta} scores, {} simulated judges, seed {}",
                noise.judges.len(),
                self.seed
            ),
            WorldSource::Project(resampled) => format!(
                "{queries} simulated queries drawn from {} of the project, {} judges as fitted to their votes, seed {}",
                resampled.queries(),
                resampled.noise().judges.len(),
                self.seed
            ),
        }
    }

    fn as_text(&self, source: &WorldSource, table: &[StrategyResult]) -> String {
        let mut text = self.heading(source) + "\n\n";
        let Some(((first, baseline), cost)) = table.first().and_then(|row| {
            let cost = mean(&row.lines, |line| line.battles)?;
            Some(((row.campaign, qualities(&row.lines)), cost))
        }) else {
            return text;
        };
        let rows: Vec<Vec<String>> = (0..)
            .zip(table)
            .map(|(at, row): (usize, &StrategyResult)| {
                let (campaign, lines) = (row.campaign, &row.lines);
                let own = qualities(lines);
                let (value, change) = (
                    summarise_quality(&own),
                    quality_differences(&own, &baseline),
                );
                let battles = mean(lines, |line| line.battles);
                let mut row = vec![
                    campaign.to_string(),
                    battles.map_or("–".to_owned(), |battles| format!("{battles:.2}")),
                    battles.map_or("–".to_owned(), |battles| {
                        format!("{:.0} %", 100.0 * battles / cost)
                    }),
                    mean(lines, |line| line.rounds as f64)
                        .map_or("–".to_owned(), |rounds| format!("{rounds:.0}")),
                ];
                for (value, change) in [
                    (value.ndcg, change.ndcg),
                    (value.tau, change.tau),
                    (value.recall, change.recall),
                ] {
                    row.push(words(value, false));
                    row.push(words(change.filter(|_| at > 0), true));
                }
                row
            })
            .collect();
        let header = [
            "strategy",
            ">battles/doc",
            ">price",
            ">rounds",
            ">NDCG@10",
            ">change",
            ">Kendall τ",
            ">change",
            ">recall@10",
            ">change",
        ];
        text.push_str(&output::table(&header, &rows));
        text.push_str(&coverage::text(table));
        text.push_str(&format!(
            "\n± is half of the 95 % interval of a mean over queries; price and change are against {first}, change query by query.\n\
             Simulated: no model was asked, and real judges err in ways that these do not.\n",
        ));
        text
    }

    fn as_json(&self, source: &WorldSource, table: &[StrategyResult]) -> Value {
        let baseline = table.first().map(|row| qualities(&row.lines));
        let strategies: Vec<Value> = (0..)
            .zip(table)
            .map(|(at, row): (usize, &StrategyResult)| {
                let (campaign, lines) = (row.campaign, &row.lines);
                let own = qualities(lines);
                let change = baseline
                    .as_ref()
                    .filter(|_| at > 0)
                    .map(|baseline| summary_json(&quality_differences(&own, baseline)));
                json!({
                    "strategy": campaign.to_string(),
                    "sampler": campaign.strategy.sampler,
                    "judging": campaign.strategy.judging,
                    "battles_per_document": mean(lines, |line| line.battles),
                    "rounds": mean(lines, |line| line.rounds as f64),
                    "pairs": mean(lines, |line| line.pairs as f64),
                    "quality": summary_json(&summarise_quality(&own)),
                    "change": change,
                    "rank_intervals": row.intervals.as_ref().map(RankIntervalCoverage::as_json),
                })
            })
            .collect();
        let (from, documents, noise) = match source {
            WorldSource::Synthetic(theta, documents, noise) => {
                (theta.name(), Some(documents), noise)
            }
            WorldSource::Project(resampled) => ("project", None, resampled.noise()),
        };
        json!({
            "simulated": true,
            "scores": from,
            "documents": documents,
            "queries": self.queries,
            "seed": self.seed,
            "noise": noise,
            "against": table.first().map(|row| row.campaign.to_string()),
            "strategies": strategies,
        })
    }
}

fn qualities(lines: &[&StrategyOnQuery]) -> Vec<Quality> {
    lines.iter().map(|line| line.quality).collect()
}

fn mean(lines: &[&StrategyOnQuery], value: impl Fn(&StrategyOnQuery) -> f64) -> Option<f64> {
    let sum: f64 = lines.iter().map(|line| value(line)).sum();
    (!lines.is_empty()).then(|| sum / lines.len() as f64)
}

/// `0.912 ± .013`, with a sign for a change.
fn words(mean: Option<MeanInterval>, signed: bool) -> String {
    let Some(mean) = mean else {
        return "–".to_owned();
    };
    let half = mean.half_width.map_or(String::new(), |half| {
        format!(" ± {}", format!("{half:.3}").trim_start_matches('0'))
    });
    if signed {
        format!("{:+.3}{half}", mean.mean)
    } else {
        format!("{:.3}{half}", mean.mean)
    }
}

fn summary_json(summary: &QualitySummary) -> Value {
    let of = |mean: Option<MeanInterval>| mean.map(mean_json);
    json!({
        "ndcg@10": of(summary.ndcg),
        "tau": of(summary.tau),
        "recall@10": of(summary.recall),
        "correlation": of(summary.correlation),
    })
}

fn mean_json(mean: MeanInterval) -> Value {
    json!({
        "mean": mean.mean,
        "low": mean.half_width.map(|half| mean.mean - half),
        "high": mean.half_width.map(|half| mean.mean + half),
        "queries": mean.count,
    })
}
