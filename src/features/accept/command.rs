//! `overrule accept`: which battles need no person.

use crate::app::text_format::rfc_3339;
use crate::cli::argument::{ArgumentError, number};
use crate::cli::command::{CommandContext, CommandFailure, CommandResult, usage};
use crate::cli::output;
use crate::client::now_ms;
use crate::domain::number_words::counted;
use crate::features::accept::app::{AcceptReport, AcceptState, read_report, start};
use crate::features::accept::domain::{CONTROLS, DEFAULT_ALPHA};
use clap::Args;
use serde_json::{Value, json};

#[derive(Debug, Args)]
#[command(
    after_help = "The first call fixes --alpha, takes the battles that never had a verdict, and \
draws 100 of them as controls. Rule on the controls before anything else: in the workbench (`w`, \
then `o` until the order is accept), or with `overrule queue --policy accept` and `overrule \
override --item`. Then call the command again.

A decision is the sign of the fitted gap of a battle, and its certainty |z| is the gap divided by \
its standard error, in the fit without verdicts. All decisions from a threshold of |z| upward are \
accepted. The threshold is learned from the controls so that more than --alpha of the accepted \
decisions are wrong with a probability of at most 10 %. Before all controls are ruled on, there is \
no result. A smaller --alpha accepts fewer.

--alpha cannot be changed afterwards. --new starts again with other controls; earlier ones have a \
verdict by then.

Exit codes: 0 if battles are accepted, 1 if none can be, 3 if controls are open or the votes have \
changed. With --json, test `state`; errors have the exit codes 1 and 2, too.

Examples:
  overrule accept --alpha 0.10
  overrule queue --policy accept --limit 100
  overrule accept --json | jq '{state, accepted, left}'
  overrule export votes --out votes.jsonl     # with the member `accepted`"
)]
pub(crate) struct AcceptCommand {
    /// Largest share of errors among the accepted decisions [default: 0.1]
    #[arg(long, value_name = "SHARE", value_parser = alpha)]
    alpha: Option<f64>,
    /// Start again, with the battles that have no verdict now
    #[arg(long)]
    new: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Parses a share of errors.
fn alpha(text: &str) -> Result<f64, ArgumentError> {
    number(text, "a number from 0.001 to 0.5", |alpha| {
        (0.001..=0.5).contains(alpha)
    })
}

impl AcceptCommand {
    pub(crate) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let known = read_report(&store)?.filter(|_| !self.new);
        let report = match known {
            Some(report) => {
                let fixed = report.acceptance.alpha;
                if self.alpha.is_some_and(|alpha| alpha != fixed) {
                    return Err(usage!(
                        "--alpha is fixed at {fixed}, because the controls are drawn; use --new to \
                         start again with other controls"
                    ));
                }
                report
            }
            None => {
                let alpha = self.alpha.unwrap_or(DEFAULT_ALPHA);
                let (author, seed) = (context.annotator(), context.config.run.seed);
                let started = start(&store, alpha, &author, seed, now_ms())?;
                output::message(&format!(
                    "fixed alpha at {alpha}, and drew {CONTROLS} controls from {}",
                    counted(started.battles, "battle")
                ));
                read_report(&store)?
                    .ok_or_else(|| usage!("the acceptance was not stored; run the command again"))?
            }
        };
        if self.json {
            output::json(&as_json(&report))?;
        } else {
            let remarks = report.remarks().join("\n");
            output::text(&format!("{}\n\n{remarks}\n", report.sentence()))?;
        }
        match report.state {
            AcceptState::Accepted => Ok(()),
            AcceptState::Nothing => Err(CommandFailure::negative()),
            AcceptState::Incomplete | AcceptState::Stale => Err(CommandFailure::incomplete()),
        }
    }
}

fn as_json(report: &AcceptReport) -> Value {
    let AcceptReport {
        acceptance,
        threshold,
        ..
    } = report;
    let known = threshold.is_some();
    json!({
        "state": report.state,
        "sentence": report.sentence(),
        "conditions": report.remarks(),
        "alpha": acceptance.alpha,
        "delta": acceptance.delta,
        "seed": acceptance.seed,
        "author": acceptance.author,
        "started": rfc_3339(acceptance.created_ms),
        "battles": acceptance.battles,
        "controls": report.controls,
        "fewest_controls": report.fewest,
        "threshold": threshold.map(|of| of.score),
        "bound": threshold.map(|of| of.bound),
        "controls_at_threshold": threshold.map(|of| of.controls),
        "wrong_at_threshold": threshold.map(|of| of.errors),
        "accepted": known.then_some(report.accepted),
        "share": report.share(),
        "left": known.then_some(report.left),
        "judged_early": report.early,
        "changed_queries": report.changed,
        "acceptances": report.started,
    })
}

#[cfg(test)]
mod tests {
    use super::alpha;

    #[test]
    fn alpha_is_a_share() {
        assert_eq!(alpha(".10").ok(), Some(0.1));
        for bad in ["0", "1", "-0.1", "NaN", "ten"] {
            assert!(alpha(bad).is_err(), "{bad}");
        }
    }
}
