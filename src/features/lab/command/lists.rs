//! `overrule lab lists`: simulates list calls.

use super::sampler::{describe, mean_json};
use crate::cli::command::CommandResult;
use crate::cli::output::{self, or_dash};
use crate::cli::simulation_progress::SimulationProgress;
use crate::features::lab::app::{ListResult, ListSimulation};
use crate::features::lab::domain::{Coverage, ListCampaign, ListWorld, Theta, summarize_quality};
use clap::Args;
use serde_json::{Value, json};

/// Single votes, lists of five in every plan, and lists of ten, showing as many documents as the
/// second campaign of votes.
const HEADLINE: &str = "top:2:75,top:2:150,random:5:60,swiss:5:60,top:5:60,top:10:30";

#[derive(Debug, Args)]
#[command(
    after_help = "A campaign is PLAN:SIZE:CALLS or PLAN:SIZE:CALLS:ANSWER. PLAN is random, swiss \
(neighbors in the order so far) or top (the pairs that matter most for the top ten). SIZE is the \
number of documents that a call shows; 2 is a single vote of one judge. CALLS is per query. ANSWER \
is order (the default), best-worst or best:K. Three judges take turns.

Worlds: in plain, two documents of a list are as hard to distinguish as in a battle. In long, the \
variance of errors grows by 15 % per document, and judges favor the start of a list and neglect its \
middle. In taste, half of the variance is a judge's persistent taste for a document, and 15 % a \
taste that all judges share. In adverse, lists are long and judges have tastes in lists, but not \
in votes.

Examples:
  overrule lab lists
  overrule lab lists --documents 100 --queries 40 --campaigns top:2:600,top:5:80,top:10:60
  overrule lab lists --worlds adverse --campaigns top:5:60,top:5:60:best-worst --json"
)]
pub(crate) struct ListsCommand {
    /// Documents per query
    #[arg(long, default_value_t = 25, value_name = "K", value_parser = clap::value_parser!(u32).range(2..=1000))]
    documents: u32,
    /// Number of queries
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    queries: u32,
    /// How judges err in lists
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "WORLD,…",
        default_value = "plain,long,taste,adverse"
    )]
    worlds: Vec<ListWorld>,
    /// Campaigns to compare
    #[arg(long, value_delimiter = ',', value_name = "CAMPAIGN,…", default_value = HEADLINE)]
    campaigns: Vec<ListCampaign>,
    /// Distribution of true scores: gaussian, skew (a long upper tail) or graded (four grades)
    #[arg(long, default_value = "gaussian")]
    theta: Theta,
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

impl ListsCommand {
    pub(super) fn run(self) -> CommandResult {
        let simulation = ListSimulation {
            queries: self.queries as usize,
            worlds: self.worlds.clone(),
            campaigns: self.campaigns.clone(),
            theta: self.theta,
            documents: self.documents as usize,
            threads: self.threads.map(usize::from),
            seed: self.seed,
        };
        let runs = self.worlds.len() * self.campaigns.len();
        let mut progress = SimulationProgress::new(runs, "campaigns played");
        let results = simulation.run(&mut |done| progress.show(done))?;
        if self.json {
            output::json(&self.as_json(&results))
        } else {
            output::text(&self.as_text(&results))
        }
    }

    fn as_text(&self, results: &[ListResult]) -> String {
        let rows: Vec<Vec<String>> = results
            .iter()
            .map(|result| {
                let quality = summarize_quality(&result.qualities);
                let coverage = Coverage::means(&result.coverages);
                let calls = result.campaign.calls;
                let taste = result.taste_share();
                vec![
                    result.world.to_string(),
                    result.campaign.to_string(),
                    calls.to_string(),
                    (calls * result.campaign.kind.size()).to_string(),
                    describe(quality.ndcg, false),
                    describe(quality.tau, false),
                    describe(coverage.map(|[all, ..]| all), false),
                    describe(coverage.map(|[_, top, ..]| top), false),
                    or_dash(coverage, |[_, _, width, ..]| format!("{:.1}", width.mean)),
                    format!("{:.2}", result.phi()),
                    or_dash(Some(taste).filter(|taste| *taste > 0.0), |taste| {
                        format!("{taste:.3}")
                    }),
                ]
            })
            .collect();
        let header = [
            "world",
            "campaign",
            ">calls",
            ">texts",
            ">NDCG@10",
            ">Kendall τ",
            ">hold the true rank",
            ">of the first 10",
            ">ranks wide",
            ">dispersion φ",
            ">taste",
        ];
        format!(
            "{} simulated queries of {} documents, {} scores, 3 simulated judges, seed {}\n\n{}\n± \
             is half of the 95 % interval of a mean over queries. Taste is the variance of judges' \
             tastes relative to that of the scores, if the answers give clear evidence of it.\n\
             Simulated: no model was asked, and real judges err in ways that these do not.\n",
            self.queries,
            self.documents,
            self.theta,
            self.seed,
            output::table(&header, &rows),
        )
    }

    fn as_json(&self, results: &[ListResult]) -> Value {
        let results: Vec<Value> = results
            .iter()
            .map(|result| {
                let quality = summarize_quality(&result.qualities);
                let coverage = Coverage::means(&result.coverages);
                let calls = result.campaign.calls;
                json!({
                    "world": result.world,
                    "campaign": result.campaign.to_string(),
                    "calls": calls,
                    "texts": calls * result.campaign.kind.size(),
                    "ndcg@10": quality.ndcg.map(mean_json),
                    "tau": quality.tau.map(mean_json),
                    "rank_intervals": coverage.map(|[all, top, width, ..]| json!({
                        "level": 0.95,
                        "covered": mean_json(all),
                        "covered_first_10": mean_json(top),
                        "width": mean_json(width),
                    })),
                    "phi": result.phi(),
                    "taste_share": result.taste_share(),
                    "precision": result.model.precision,
                })
            })
            .collect();
        json!({
            "simulated": true,
            "scores": self.theta.name(),
            "documents": self.documents,
            "queries": self.queries,
            "seed": self.seed,
            "results": results,
        })
    }
}
