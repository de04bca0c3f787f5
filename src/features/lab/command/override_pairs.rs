//! `overrule lab override`: how much verdicts improve a ranking, in simulation.

use super::sampler::{describe, mean_json, noise};
use crate::cli::argument::{ArgumentError, number};
use crate::cli::command::CommandResult;
use crate::cli::output;
use crate::cli::simulation_progress::SimulationProgress;
use crate::domain::number_words::count;
use crate::domain::ranking::DIRECTION_SLOPE;
use crate::domain::rating::RatingOptions;
use crate::domain::verdict::OverrideMode;
use crate::features::lab::app::{OverrideSimulation, VerdictRule};
use crate::features::lab::domain::{
    MeanInterval, Quality, ReviewedQuery, Reviewer, Theta, quality_differences,
};
use clap::Args;
use serde_json::{Value, json};

#[derive(Debug, Args)]
#[command(
    after_help = "After the judges have voted, a simulated person reviews the first pairs of the \
                  queue `value` of each query. All rules start from the \
same votes, and the person perceives the same gaps. Gains are changes of the query's ranking; ± is \
half of the 95 % interval of a mean over queries (Student's t). A \
verdict that lowers the gap of the preferred document counts as moved the wrong way.

Examples:
  overrule lab override
  overrule lab override --documents 10 --slopes 2,3,4,6 --modes alongside --json"
)]
pub(crate) struct OverrideCommand {
    /// Documents per query
    #[arg(long, default_value_t = 25, value_name = "K", value_parser = clap::value_parser!(u32).range(2..=150))]
    documents: u32,
    /// Number of queries
    #[arg(long, default_value_t = 200, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    queries: u32,
    /// Verdicts per query
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    verdicts: u32,
    /// Random cycles of battles before the review
    #[arg(long, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    cycles: u32,
    /// Distribution of true scores: gaussian, skew (a long upper tail) or graded (four grades)
    #[arg(long, default_value = "gaussian")]
    theta: Theta,
    /// Standard deviation of a judge's own error on a pair; that of the true scores is 1.82
    #[arg(long, default_value_t = 1.0, value_name = "X", value_parser = noise)]
    noise: f64,
    /// Standard deviation of the person's error on a pair
    #[arg(long, default_value_t = 0.35, value_name = "X", value_parser = noise)]
    person: f64,
    /// Let the person also say "equal" and "by far"
    #[arg(long)]
    graded: bool,
    /// Override modes to compare
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "MODE,…",
        default_value = "alongside,replace,legacy,legacy-beside"
    )]
    modes: Vec<OverrideMode>,
    /// Slopes of the direction term to compare, for the modes that are not legacy
    #[arg(long, value_delimiter = ',', value_name = "X,…", default_values_t = [DIRECTION_SLOPE], value_parser = slope)]
    slopes: Vec<f64>,
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

fn slope(text: &str) -> Result<f64, ArgumentError> {
    number(text, "a number above 0 and at most 100", |slope| {
        *slope > 0.0 && *slope <= 100.0
    })
}

impl OverrideCommand {
    pub(super) fn run(self) -> CommandResult {
        let rules = self.rules();
        let simulation = OverrideSimulation {
            theta: self.theta,
            documents: self.documents as usize,
            queries: self.queries as usize,
            noise: self.noise,
            reviewer: Reviewer {
                cycles: self.cycles as usize,
                verdicts: self.verdicts as usize,
                error: self.person,
                graded: self.graded,
                seed: self.seed,
            },
            rules: rules.clone(),
            lambda: RatingOptions::default().lambda,
            threads: self.threads.map(usize::from),
        };
        let mut progress = SimulationProgress::new(simulation.queries, "queries reviewed");
        let results = simulation.run(&mut |done| progress.show(done))?;
        let rows: Vec<RuleResult> = rules
            .into_iter()
            .zip(&results)
            .map(|(rule, queries)| RuleResult::new(rule, queries))
            .collect();
        if self.json {
            output::json(&self.as_json(&rows))
        } else {
            output::text(&self.as_text(&rows))
        }
    }

    fn rules(&self) -> Vec<VerdictRule> {
        self.modes
            .iter()
            .flat_map(|&mode| -> Vec<VerdictRule> {
                if mode.is_legacy() {
                    return vec![VerdictRule { mode, slope: None }];
                }
                self.slopes
                    .iter()
                    .map(|&slope| VerdictRule {
                        mode,
                        slope: Some(slope),
                    })
                    .collect()
            })
            .collect()
    }

    fn as_text(&self, rows: &[RuleResult]) -> String {
        let header = [
            "rule",
            ">slope",
            ">gain in Kendall τ",
            ">gain in NDCG@10",
            ">verdicts for a document",
            ">contradicting",
            ">moved the wrong way",
        ];
        let cells: Vec<Vec<String>> = rows
            .iter()
            .map(|row| {
                vec![
                    row.rule.mode.to_string(),
                    output::or_dash(row.rule.slope, |slope| slope.to_string()),
                    describe(row.tau, true),
                    describe(row.ndcg, true),
                    count(row.directed),
                    count(row.contradicting),
                    count(row.wrong_way),
                ]
            })
            .collect();
        format!(
            "{} simulated queries of {} documents, {} verdicts each after {} cycles of 3 judges \
             (noise {}, person {}), seed {}\n\n{}\n\
             Simulated: no model and no person was asked.\n",
            self.queries,
            self.documents,
            self.verdicts,
            self.cycles,
            self.noise,
            self.person,
            self.seed,
            output::table(&header, &cells)
        )
    }

    fn as_json(&self, rows: &[RuleResult]) -> Value {
        let rules: Vec<Value> = rows
            .iter()
            .map(|row| {
                json!({
                    "mode": row.rule.mode,
                    "slope": row.rule.slope,
                    "tau_gain": row.tau.map(mean_json),
                    "ndcg@10_gain": row.ndcg.map(mean_json),
                    "directed_verdicts": row.directed,
                    "contradicting_verdicts": row.contradicting,
                    "moved_the_wrong_way": row.wrong_way,
                })
            })
            .collect();
        json!({
            "simulated": true,
            "documents": self.documents,
            "queries": self.queries,
            "verdicts": self.verdicts,
            "cycles": self.cycles,
            "theta": self.theta,
            "noise": self.noise,
            "person": self.person,
            "graded": self.graded,
            "seed": self.seed,
            "rules": rules,
        })
    }
}

/// The results of one rule over all queries.
struct RuleResult {
    rule: VerdictRule,
    tau: Option<MeanInterval>,
    ndcg: Option<MeanInterval>,
    directed: usize,
    contradicting: usize,
    wrong_way: usize,
}

impl RuleResult {
    fn new(rule: VerdictRule, queries: &[ReviewedQuery]) -> Self {
        let before: Vec<Quality> = queries.iter().map(|query| query.before).collect();
        let after: Vec<Quality> = queries.iter().map(|query| query.after).collect();
        let gain = quality_differences(&after, &before);
        let sum = |of: fn(&ReviewedQuery) -> usize| queries.iter().map(of).sum();
        Self {
            rule,
            tau: gain.tau,
            ndcg: gain.ndcg,
            directed: sum(|query| query.directed),
            contradicting: sum(|query| query.contradicting),
            wrong_way: sum(|query| query.wrong_way),
        }
    }
}
