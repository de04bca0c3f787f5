//! `overrule lab sampler`: compares sampling strategies in simulation.

use crate::app::text_format::counted;
use crate::cli::argument::{ArgumentError, number};
use crate::cli::command::{CommandContext, CommandResult};
use crate::cli::output::{self, or_dash};
use crate::cli::simulation_progress::SimulationProgress;
use crate::domain::number_words;
use crate::domain::ranking::{PriorPrecision, RankingSettings};
use crate::domain::sampling::adaptive::AdaptivePlan;
use crate::features::lab::app::{
    ProjectWorlds, RankIntervalCoverage, Simulation, SimulationPhase, StrategyResult, WorldSource,
};
use crate::features::lab::domain::{
    MeanInterval, Noise, QualitySummary, Theta, quality_differences, summarize_quality,
};
use clap::Args;
use serde_json::{Value, json};

/// Twelve cycles, cheaper plans with fewer cycles, and strategies that match the former at the
/// price of the latter.
const HEADLINE: &str = "cycles:12,cycles:4,cycles:2,swiss:2,swiss:4,swiss+rotate:2,top:2,top+escalate:2,top+escalate:4";

/// Judges in a simulated ensemble.
const JUDGES: usize = 3;

#[derive(Debug, Args)]
#[command(
    after_help = "A strategy is SAMPLER:BATTLES or SAMPLER+JUDGING:BATTLES, as in `annotate \
                  --sampler top --judging escalate \
--battles 2`. BATTLES is the number of calls per document, in battles of the whole ensemble. All \
strategies see the same queries and \
the same votes. Intervals are 95 % intervals of the mean over queries (Student's t), and changes \
are relative to the first strategy. The \
second table shows how often the 95 % rank intervals contain the true rank, with the dispersion \
and prior that a project of these queries would use.

In pools of 100, top+escalate:2 has the NDCG@10 of cycles:12 at a sixth of the cost, but a lower \
Kendall τ than cycles:4; \
top+escalate:4 has a higher one. In pools of 50, top+escalate:2 matches cycles:12 on NDCG@10 and \
is worse on recall@10; in pools of 25 \
it is worse on both. If scores are used as training targets, use swiss or eig. Simulated judges do \
not have the preferences of real ones.

Examples:
  overrule lab sampler
  overrule lab sampler --documents 25 --theta graded --strategies cycles:4,swiss:2,top+escalate:2
  overrule lab sampler --resample --json     simulate the project's own judges and scores"
)]
pub(crate) struct SamplerCommand {
    /// Documents per query
    #[arg(long, default_value_t = 100, value_name = "K", value_parser = clap::value_parser!(u32).range(2..=1000))]
    documents: u32,
    /// Number of queries
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    queries: u32,
    /// Distribution of true scores: gaussian, skew (a long upper tail) or graded (four grades)
    #[arg(long, default_value = "gaussian")]
    theta: Theta,
    /// Standard deviation of a judge's own error on a pair; that of the true scores is 1.82
    #[arg(long, default_value_t = 1.0, value_name = "X", value_parser = noise)]
    noise: f64,
    /// Prior precision of the measured scores; auto learns it from the votes of each strategy
    #[arg(long, default_value_t = PriorPrecision::Auto, value_name = "auto|NUMBER", value_parser = prior)]
    lambda: PriorPrecision,
    /// Strategies to compare; the first is the baseline
    #[arg(long, value_delimiter = ',', value_name = "STRATEGY,…", default_value = HEADLINE)]
    strategies: Vec<AdaptivePlan>,
    /// Simulate the project: draw true scores from the fit of each query, and votes from the
    /// parameters fitted to each judge
    #[arg(long, conflicts_with_all = ["documents", "theta", "noise"])]
    resample: bool,
    /// Number of threads [default: one per CPU]; does not change the result
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Random seed
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl SamplerCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let source = if self.resample {
            let worlds = ProjectWorlds::load(&context.open()?, self.seed)?;
            if worlds.left_out > 0 {
                output::message(&format!(
                    "skipped {}: no votes, no fit with standard errors, or not the same judges as most queries",
                    counted(worlds.left_out, "query")
                ));
            }
            WorldSource::Project(worlds)
        } else {
            let noise = Noise::standard(JUDGES).with_own(self.noise);
            WorldSource::Synthetic(self.theta, self.documents as usize, noise)
        };
        let simulation = Simulation {
            queries: self.queries as usize,
            strategies: self.strategies.clone(),
            prior: self.lambda,
            threads: self.threads.map(usize::from),
            seed: self.seed,
        };
        let mut shown: Option<(SimulationPhase, SimulationProgress)> = None;
        let table = simulation.run(&source, &mut |phase, done| {
            if shown.as_ref().is_none_or(|(known, _)| *known != phase) {
                let what = match phase {
                    SimulationPhase::Played => "queries played",
                    SimulationPhase::Measured => "queries measured",
                };
                shown = Some((phase, SimulationProgress::new(simulation.queries, what)));
            }
            if let Some((_, display)) = &mut shown {
                display.show(done);
            }
        })?;
        if self.json {
            output::json(&self.as_json(&source, &table))
        } else {
            output::text(&self.as_text(&source, &table))
        }
    }

    fn heading(&self, source: &WorldSource) -> String {
        let queries = self.queries;
        match source {
            WorldSource::Synthetic(theta, documents, noise) => format!(
                "{queries} simulated queries of {documents} documents, {theta} scores, {} \
                 simulated judges, seed {}",
                noise.judges.len(),
                self.seed
            ),
            WorldSource::Project(worlds) => format!(
                "{queries} simulated queries drawn from {} of the project, {} judges as fitted to \
                 their votes, seed {}",
                worlds.queries(),
                worlds.noise().judges.len(),
                self.seed
            ),
        }
    }

    fn as_text(&self, source: &WorldSource, table: &[StrategyResult]) -> String {
        let text = self.heading(source) + "\n\n";
        let Some((first, cost)) = table
            .first()
            .and_then(|row| Some((row, row.mean(|query| query.battles)?)))
        else {
            return text;
        };
        let baseline = first.qualities();
        let rows = table.iter().enumerate().map(|(at, row)| {
            let own = row.qualities();
            let value = summarize_quality(&own);
            let change = quality_differences(&own, &baseline);
            let battles = row.mean(|query| query.battles);
            let rounds = row.mean(|query| query.rounds as f64);
            let mut cells = vec![
                row.plan.to_string(),
                or_dash(battles, |battles| format!("{battles:.2}")),
                or_dash(battles, |battles| {
                    format!("{:.0} %", 100.0 * battles / cost)
                }),
                or_dash(rounds, |rounds| format!("{rounds:.0}")),
            ];
            for (value, change) in [
                (value.ndcg, change.ndcg),
                (value.tau, change.tau),
                (value.recall, change.recall),
            ] {
                cells.push(describe(value, false));
                cells.push(describe(change.filter(|_| at > 0), true));
            }
            cells
        });
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
        let rows: Vec<Vec<String>> = rows.collect();
        format!(
            "{text}{}{}\n± is half of the 95 % interval of a mean over queries; price and change \
             are against {}, change query by query.\n\
             Simulated: no model was asked, and real judges err in ways that these do not.\n",
            output::table(&header, &rows),
            intervals_table(table),
            first.plan
        )
    }

    fn as_json(&self, source: &WorldSource, table: &[StrategyResult]) -> Value {
        let baseline = table.first().map(StrategyResult::qualities);
        let strategies = table.iter().enumerate().map(|(at, row)| {
            let own = row.qualities();
            let change = baseline.as_ref().filter(|_| at > 0);
            json!({
                "strategy": row.plan.to_string(),
                "sampler": row.plan.strategy.sampler,
                "judging": row.plan.strategy.judging,
                "battles_per_document": row.mean(|query| query.battles),
                "rounds": row.mean(|query| query.rounds as f64),
                "pairs": row.mean(|query| query.pairs as f64),
                "quality": summary_json(&summarize_quality(&own)),
                "change": change.map(|change| summary_json(&quality_differences(&own, change))),
                "rank_intervals": row.intervals.as_ref().map(intervals_json),
            })
        });
        let strategies: Vec<Value> = strategies.collect();
        let (from, documents, noise) = match source {
            WorldSource::Synthetic(theta, documents, noise) => {
                (theta.name(), Some(documents), noise)
            }
            WorldSource::Project(worlds) => ("project", None, worlds.noise()),
        };
        json!({
            "simulated": true,
            "scores": from,
            "documents": documents,
            "queries": self.queries,
            "seed": self.seed,
            "noise": noise,
            "against": table.first().map(|row| row.plan.to_string()),
            "strategies": strategies,
        })
    }
}

pub(super) fn noise(text: &str) -> Result<f64, ArgumentError> {
    number(text, "a number from 0 to 1000", |noise| {
        (0.0..=1e3).contains(noise)
    })
}

fn prior(text: &str) -> anyhow::Result<PriorPrecision> {
    let settings = RankingSettings {
        lambda: text.parse()?,
        ..RankingSettings::default()
    };
    Ok(settings.checked()?.lambda)
}

/// One row per strategy; empty if no strategy has intervals.
fn intervals_table(table: &[StrategyResult]) -> String {
    let rows = table.iter().filter_map(|row| {
        let intervals = row.intervals?;
        Some(vec![
            row.plan.to_string(),
            describe(Some(intervals.all), false),
            describe(Some(intervals.top), false),
            format!("{:.1}", intervals.width.mean),
            describe(Some(intervals.at_once), false),
            format!("{:.1}", intervals.width_at_once.mean),
            format!("{:.3}", intervals.phi),
            intervals.lambda.to_string(),
        ])
    });
    let rows: Vec<Vec<String>> = rows.collect();
    if rows.is_empty() {
        return String::new();
    }
    let header = [
        "95 % rank intervals",
        ">hold the true rank",
        ">of the first 10",
        ">ranks wide",
        ">all at once",
        ">ranks wide",
        ">dispersion φ",
        ">prior λ",
    ];
    format!("\n{}", output::table(&header, &rows))
}

/// `0.912 ± 0.013`, with a sign for a change.
pub(super) fn describe(mean: Option<MeanInterval>, signed: bool) -> String {
    or_dash(mean, |mean| {
        let half = mean
            .half_width
            .map_or(String::new(), |half| format!(" ± {half:.3}"));
        if signed {
            format!("{}{half}", number_words::signed(mean.mean, 3))
        } else {
            format!("{}{half}", number_words::fixed(mean.mean, 3))
        }
    })
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

fn intervals_json(intervals: &RankIntervalCoverage) -> Value {
    json!({
        "level": 0.95,
        "phi": intervals.phi,
        "lambda": intervals.lambda,
        "covered": mean_json(intervals.all),
        "covered_first_10": mean_json(intervals.top),
        "width": mean_json(intervals.width),
        "all_at_once": mean_json(intervals.at_once),
        "width_at_once": mean_json(intervals.width_at_once),
    })
}

pub(super) fn mean_json(mean: MeanInterval) -> Value {
    json!({
        "mean": mean.mean,
        "low": mean.half_width.map(|half| mean.mean - half),
        "high": mean.half_width.map(|half| mean.mean + half),
        "queries": mean.count,
    })
}
