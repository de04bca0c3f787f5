//! `overrule lab duel`: how often a duel finds the better ranking, in simulation.

use crate::app::text_format::counted;
use crate::cli::argument::{ArgumentError, number};
use crate::cli::command::CommandResult;
use crate::cli::output::{self, or_dash};
use crate::cli::simulation_progress::SimulationProgress;
use crate::domain::number_words::signed;
use crate::features::lab::app::{Claims, DuelShare, DuelSimulation, DuelSummary};
use crate::features::lab::domain::SimulatedDuel;
use clap::Args;
use serde_json::{Value, json};

#[derive(Debug, Args)]
#[command(
    after_help = "Participants choose from grids of nine documents. A document is chosen with \
                  probability σ(−0.5 + utility). Utilities have a standard \
deviation of 1 in log-odds. Documents of B have --effects more than those of A, which varies from \
query to query by --query-effects. The \
first place of the grid has --place-bias more than the last, and the easy negative has 3 less.

The stop rule is that of `overrule duel --result`, checked after every judgment. For comparison, \
the table has a sign test at 5 % that is checked \
as often, which is wrong, and the tests at the end. A result is false if the named ranking is not \
better.

Examples:
  overrule lab duel
  overrule lab duel --queries 50 --participants 3 --effects 0,0.5,1
  overrule lab duel --place-bias 2 --effects 0 --json"
)]
pub(crate) struct DuelCommand {
    /// Queries per duel
    #[arg(long, default_value_t = 30, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    queries: u16,
    /// Participants, each of whom judges every query
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=50))]
    participants: u8,
    /// How much better the documents of B are, in log-odds; 0 for equal rankings
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "0,0.5,1,2",
        value_name = "X,…",
        value_parser = log_odds
    )]
    effects: Vec<f64>,
    /// Standard deviation of --effects over queries, in log-odds
    #[arg(long, default_value_t = 0.5, value_name = "X", value_parser = log_odds)]
    query_effects: f64,
    /// Advantage of the first place of the grid over the last, in log-odds
    #[arg(long, default_value_t = 0.5, value_name = "X", value_parser = log_odds)]
    place_bias: f64,
    /// Number of duels per effect
    #[arg(long, default_value_t = 1000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    duels: u32,
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

impl DuelCommand {
    pub(super) fn run(self) -> CommandResult {
        let duels = self.duels as usize;
        let mut progress = SimulationProgress::new(duels * self.effects.len(), "duels played");
        let mut summaries: Vec<DuelSummary> = Vec::new();
        for effect in &self.effects {
            let simulation = DuelSimulation {
                duel: SimulatedDuel {
                    queries: usize::from(self.queries),
                    participants: usize::from(self.participants),
                    effect: *effect,
                    query_effect: self.query_effects,
                    place_bias: self.place_bias,
                },
                duels,
                threads: self.threads.map(usize::from),
                seed: self.seed,
            };
            let before = duels * summaries.len();
            summaries.push(simulation.run(&mut |done| progress.show(before + done))?);
        }
        if self.json {
            output::json(&self.as_json(&summaries))
        } else {
            output::text(&self.as_text(&summaries))
        }
    }

    fn as_text(&self, summaries: &[DuelSummary]) -> String {
        let rules = summaries.iter().flat_map(|of| {
            let median = or_dash(of.judgments, |median| format!("{median}"));
            let row = |rule: &str, claims: &Claims, judgments: String| {
                vec![
                    of.simulated.effect.to_string(),
                    rule.to_owned(),
                    percent(claims.for_b),
                    percent(claims.false_ones),
                    judgments,
                ]
            };
            let end = (of.simulated.queries * of.simulated.participants).to_string();
            [
                row("stop rule", &of.stopped, median),
                row("sign test at every look", &of.peeked, "–".to_owned()),
                row("sign test at the end", &of.sign, end.clone()),
                row("permutation test at the end", &of.permutation, end),
            ]
        });
        let rules: Vec<Vec<String>> = rules.collect();
        let intervals = summaries.iter().map(|of| {
            vec![
                of.simulated.effect.to_string(),
                signed(-of.preference, 3),
                or_dash(of.covered, percent),
                percent(of.places),
            ]
        });
        let intervals: Vec<Vec<String>> = intervals.collect();
        let rule_header = [">effect", "rule", ">names B", ">false", ">judgments"];
        let interval_header = [
            ">effect",
            ">mean preference for B",
            ">its interval holds it",
            ">place bias found",
        ];
        format!(
            "{} of {} with {} for each effect, effects varying by {} from query to query, a place \
             bias of {}, seed {}\n\n{}\n{}\n\
             Shares are of duels, with 95 % intervals (Wilson). Judgments of the stop rule: the \
             median of the duels in which it stopped.\n\
             Simulated: nobody was asked, and people err in ways that these do not.\n",
            counted(self.duels as usize, "simulated duel"),
            counted(usize::from(self.queries), "query"),
            counted(usize::from(self.participants), "participant"),
            self.query_effects,
            self.place_bias,
            self.seed,
            output::table(&rule_header, &rules),
            output::table(&interval_header, &intervals),
        )
    }

    fn as_json(&self, summaries: &[DuelSummary]) -> Value {
        let effects = summaries.iter().map(|of| {
            json!({
                "effect": of.simulated.effect,
                "stop_rule": claims_json(&of.stopped),
                "median_judgments_to_stop": of.judgments,
                "sign_test_at_every_look": claims_json(&of.peeked),
                "sign_test_at_the_end": claims_json(&of.sign),
                "permutation_test_at_the_end": claims_json(&of.permutation),
                "mean_preference_for_b": 0.0 - of.preference,
                "interval_holds_it": of.covered.map(share_json),
                "place_bias_found": share_json(of.places),
            })
        });
        let effects: Vec<Value> = effects.collect();
        json!({
            "simulated": true,
            "duels": self.duels,
            "queries": self.queries,
            "participants": self.participants,
            "query_effects": self.query_effects,
            "place_bias": self.place_bias,
            "seed": self.seed,
            "effects": effects,
        })
    }
}

fn claims_json(claims: &Claims) -> Value {
    json!({
        "names_b": share_json(claims.for_b),
        "names_a": share_json(claims.for_a),
        "false": share_json(claims.false_ones),
    })
}

fn share_json(share: DuelShare) -> Value {
    let (low, high) = share.interval;
    json!({ "duels": share.count, "share": share.share, "low": low, "high": high })
}

/// A share in percent with its interval.
fn percent(share: DuelShare) -> String {
    let (low, high) = share.interval;
    let [share, low, high] = [share.share, low, high].map(|part| 100.0 * part);
    format!("{share:.1} % ({low:.1} to {high:.1})")
}

fn log_odds(text: &str) -> Result<f64, ArgumentError> {
    number(text, "a number from 0 to 10", |odds| {
        (0.0..=10.0).contains(odds)
    })
}
