//! `overrule gate`: decides whether a judge may replace another one.

pub(crate) mod prompt_check;

use crate::cli::argument::{ArgumentError, number};
use crate::cli::command::{CommandContext, CommandFailure, CommandResult};
use crate::cli::output;
use crate::domain::non_inferiority::GateDecision;
use crate::features::gate::app::{GateJudge, GateReport, GateRequest, gate};
use clap::Args;
use serde_json::{Value, json};

#[derive(Debug, Args)]
#[command(
    after_help = "The pairs are reference pairs: pairs with a blind verdict of a person, or with a \
known answer (`overrule gold import`), that no prompt was tuned on. In a project in which a prompt \
was written or tried, these are the held-out pairs of `overrule prompt set`. Both judges' answers \
are their first votes on these pairs; nothing is asked. Pairs that lack the answer of one judge \
stay in the test, and the decision must hold whatever the answer is.

The decision and the exit code:

  pass       0   the loss is below the margin: the lower limit of the 90 % interval is above it
  worse      1   the new judge is worse: the upper limit is below zero
  undecided  3   neither

If no decision is printed, there is none: exit code 1 or 2 then means an error.

The pairs are taken in the order of a hash, one per query if there are enough queries, with \
Newcombe's interval; otherwise the interval is computed over queries. Choose --pairs before looking \
at a result. With --early, every pair may be looked at: e-values decide, one pair per query.

Chance to pass with a margin of .10, by the share of pairs about which only one judge is right, and \
by the loss of the new judge:

  judges differ on   loss   100 pairs   200 pairs   --early: 100   200   300
  10 %                  0         91%        >99%            68%   94%   98%
  10 %                .05         45%         70%            20%   38%   46%
  10 %                .10          6%          6%             2%    2%    2%
  20 %                  0         71%         93%            42%   72%   88%
  20 %                .05         29%         47%            13%   23%   31%
  20 %                .10          5%          5%             2%    3%    3%
  30 %                  0         57%         82%            30%   54%   71%
  30 %                .05         23%         36%            10%   16%   22%
  30 %                .10          5%          5%             3%    3%    3%

Examples:
  overrule gate --judge gpt-mini --against gpt
  overrule gate --judge gpt@1f3a --against gpt --margin 0.05 --pairs 300
  overrule gate --judge gpt-mini --against gpt --early --json | jq -e '.decision == \"pass\"'"
)]
pub(crate) struct GateCommand {
    /// The new judge: its name, or NAME@VERSION with the start of its prompt's hash, or its model
    #[arg(long, value_name = "NAME")]
    judge: String,
    /// The judge that it would replace
    #[arg(long, value_name = "NAME")]
    against: String,
    #[command(flatten)]
    test: TestOptions,
}

/// Options of a test for not being worse.
#[derive(Debug, Args)]
pub(crate) struct TestOptions {
    /// The smallest loss that matters, as a share of the pairs
    #[arg(long, value_name = "SHARE", default_value = "0.10", value_parser = margin)]
    pub(crate) margin: f64,
    /// Number of pairs to test [default: 100; with --early, all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) pairs: Option<u32>,
    /// Take one pair per query after the other, and stop at the first decision
    #[arg(long)]
    pub(crate) early: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Parses a margin.
fn margin(text: &str) -> Result<f64, ArgumentError> {
    number(text, "a number above 0 and below 1", |margin| {
        (f64::MIN_POSITIVE..1.0).contains(margin)
    })
}

impl GateCommand {
    pub(crate) fn run(self, context: &CommandContext) -> CommandResult {
        let request = GateRequest {
            judge: self.judge,
            against: self.against,
            margin: self.test.margin,
            pairs: self.test.pairs.map(|pairs| pairs as usize),
            early: self.test.early,
            author: context.annotator(),
        };
        let report = gate(&context.open()?, &request)?;
        print(&report, self.test.json)
    }
}

/// Prints a report, and ends with the exit code of its decision.
pub(crate) fn print(report: &GateReport, json: bool) -> CommandResult {
    if json {
        output::json(&as_json(report))?;
    } else {
        let remarks = report.remarks().join("\n");
        output::text(&format!("{}\n\n{remarks}\n", report.sentence()))?;
    }
    exit_code(report.test.decision)
}

/// The exit code of a decision that was printed.
fn exit_code(decision: GateDecision) -> CommandResult {
    match decision {
        GateDecision::Pass => Ok(()),
        GateDecision::Undecided => Err(CommandFailure::incomplete()),
        GateDecision::Worse => Err(CommandFailure::negative()),
    }
}

fn as_json(report: &GateReport) -> Value {
    let judge = |of: &GateJudge| {
        json!({
            "name": of.spec.name, "model": of.spec.model, "prompt": of.spec.prompt_hash,
        })
    };
    let test = &report.test;
    let [new_right, old_right] = test.counts.right();
    json!({
        "decision": test.decision,
        "sentence": report.sentence(),
        "judge": judge(&report.judge),
        "against": judge(&report.against),
        "margin": test.margin,
        "method": test.method,
        "pairs": test.counts.pairs(),
        "queries": test.queries,
        "judge_right": new_right,
        "against_right": old_right,
        "both_right": test.counts.both_right,
        "only_judge_right": test.counts.only_new,
        "only_against_right": test.counts.only_old,
        "both_wrong": test.counts.both_wrong,
        "difference": test.difference,
        "interval_90": test.interval,
        "e_values": test.evidence,
        "better_mid_p": test.better_p,
        "wanted": report.wanted,
        "without_answer": {"judge": test.without_new, "against": test.without_old},
        "reference_pairs": report.reference,
        "lacking": report.lacking,
        "looks": report.looks,
        "is_unlogged_look": report.is_unlogged,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::non_inferiority::power;
    use clap::Command;

    #[test]
    fn the_help_contains_the_computed_power() {
        let help = GateCommand::augment_args(Command::new("gate"))
            .render_long_help()
            .to_string();
        let table = power::table();
        assert!(help.contains(&table), "{table}");
    }

    #[test]
    fn a_margin_is_a_share() {
        assert!(margin("0.05").is_ok());
        for bad in ["0", "1", "-0.1", "NaN", "ten"] {
            assert!(margin(bad).is_err(), "{bad}");
        }
    }
}
