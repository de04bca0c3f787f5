//! `overrule status`: how far the project is.

mod certainty;

use super::command::{CommandContext, CommandResult};
use super::config::RatingSettings;
use super::output::{self, clean};
use crate::app::status::{Spending, summaries};
use crate::app::wording::counted;
use crate::domain::analysis::wilson;
use crate::judge::OFFLINE_LABEL;
use crate::store::ledger::Spent;
use crate::store::summary_cache::QuerySummary;
use clap::Args;
use serde_json::json;

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  overrule status --json | jq .votes")]
pub(super) struct StatusCommand {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl StatusCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let rows = summaries(&store)?;
        let (settings, rule, conflicts) = store.read_blocking(|db| {
            Ok((db.settings()?, db.final_rule()?, db.conflicts(None)?.len()))
        })?;
        let judges = store.read_blocking(|db| db.judges_in_force())?;
        let spending = Spending::read(&store)?;
        let (owed, owed_usd) = store.read_blocking(|db| db.committed())?;
        let sum = |of: fn(&QuerySummary) -> usize| {
            rows.iter().map(|(_, summary)| of(summary)).sum::<usize>()
        };
        let documents = sum(|s| s.documents);
        let (fought, battles) = (sum(|s| s.fought), sum(|s| s.battles));
        let (votes, missing, failures) =
            (sum(|s| s.votes), sum(|s| s.missing), sum(|s| s.failures));
        let (unanimous, judged) = (sum(|s| s.unanimous), sum(|s| s.judged));
        let (cyclic, triads, verdicts) =
            (sum(|s| s.cyclic), sum(|s| s.triads), sum(|s| s.verdicts));
        let offline = rows.iter().any(|(_, summary)| summary.offline);
        let decidable = sum(|s| usize::from(s.settled.is_some()));
        let settled = sum(|s| usize::from(s.stop));
        let usd = store.read_blocking(|db| db.usd_per_battle())?;
        let adjudication = store.read_blocking(|db| db.adjudication_counts())?;
        if self.json {
            return output::json(&json!({
                "project": store.path().display().to_string(),
                "queries": rows.len(),
                "documents": documents,
                "battles": battles,
                "battles_fought": fought,
                "votes": votes,
                "votes_missing": missing,
                "failures": failures,
                "consensus": {
                    "unanimous": unanimous,
                    "judged": judged,
                    "interval_95": wilson(unanimous, judged, 0.95),
                },
                "triads": { "cyclic": cyclic, "all": triads },
                "certainty": {
                    "queries": decidable,
                    "settled_95": settled,
                    "per_query": rows.iter().map(|(info, summary)| certainty::json(info, summary, usd))
                        .collect::<Vec<_>>(),
                },
                "verdicts": verdicts,
                "conflicts": conflicts,
                "calls": spending.calls(),
                "spent_usd": spending.known_usd() + spending.assumed_usd(),
                "spent_known_usd": spending.known_usd(),
                "spent_assumed_usd": spending.assumed_usd(),
                "in_flight": { "calls": spending.open_calls(), "worst_usd": spending.open_usd() },
                "calls_without_price": spending.unpriced(),
                "spending": spending.rows,
                "batches": { "calls_open": owed, "worst_usd": owed_usd },
                "judges": judges.iter().map(|(names, queries)| json!({ "judges": names, "queries": queries }))
                    .collect::<Vec<_>>(),
                "offline_judges": offline,
                "adjudication": {
                    "labels": adjudication.labels,
                    "rankings": adjudication.rankings,
                    "picks": adjudication.picks,
                    "picks_spent_usd": adjudication.spent_usd,
                    "rulings": adjudication.rulings,
                },
                "rating": RatingSettings::new(settings, &rule),
            }));
        }
        let share = |part: usize, whole: usize| match whole {
            0 => "not run".to_owned(),
            _ => format!(
                "{part} of {whole} ({:.1} %)",
                100.0 * part as f64 / whole as f64
            ),
        };
        let interval = wilson(unanimous, judged, 0.95).map_or(String::new(), |(low, high)| {
            format!(" (95 %: {:.1}–{:.1} %)", 100.0 * low, 100.0 * high)
        });
        let differ = match conflicts {
            0 => String::new(),
            1 => format!("; people differ on 1 pair ({} counts)", rule.name()),
            pairs => format!("; people differ on {pairs} pairs ({} counts)", rule.name()),
        };
        let mut lines = vec![
            format!(
                "project       {}",
                clean(store.path().display().to_string())
            ),
            format!("queries       {} with {documents} documents", rows.len()),
            format!("battles       {}", share(fought, battles)),
            format!("votes         {votes} there, {missing} missing, {failures} failed"),
            format!(
                "consensus     {} battles with two votes or more are unanimous{interval}",
                share(unanimous, judged)
            ),
            format!(
                "cycles        decided triads that are cyclic: {}",
                share(cyclic, triads)
            ),
            format!(
                "certainty     the top is settled at 95 % for {} queries; there, further judgments do not change it",
                share(settled, decidable)
            ),
            format!("verdicts      {verdicts} in force{differ}"),
        ];
        lines.extend(spending_lines(&spending));
        lines.extend([format!(
            "model         {}, prior precision {} a battle",
            settings.model, settings.lambda
        )]);
        if adjudication.labels + adjudication.picks + adjudication.rankings > 0 {
            lines.push(format!(
                "adjudication  {} labels, {} rankings, {} answers of judges on pools for ${:.4}, {} rulings (overrule adjudication)",
                adjudication.labels, adjudication.rankings, adjudication.picks, adjudication.spent_usd, adjudication.rulings
            ));
        }
        if owed > 0 {
            lines.push(format!(
                "batches       {owed} calls are being made, for ${owed_usd:.4} at most (overrule batch status)"
            ));
        }
        for (names, queries) in &judges {
            let names = clean(names.join(", "));
            lines.push(format!(
                "judges        {names}: their votes count for {queries} queries"
            ));
        }
        if offline {
            lines.push(format!("note          {OFFLINE_LABEL}"));
        }
        output::text(&(lines.join("\n") + "\n"))?;
        output::text(&certainty::table(&rows, usd))
    }
}

/// The lines of `status`: the sum, and each judge's part where there is more than one that was paid.
fn spending_lines(spending: &Spending) -> Vec<String> {
    let mut sum = format!(
        "spent         ${:.4} on {} calls, {} without a known price",
        spending.known_usd() + spending.assumed_usd(),
        spending.calls(),
        spending.unpriced()
    );
    let assumed: usize = spending.rows.iter().map(|row| row.assumed_calls).sum();
    if assumed > 0 {
        sum += &format!(
            "; ${:.4} of it assumed at the worst price, for {} that did not say what it cost",
            spending.assumed_usd(),
            counted(assumed, "call")
        );
    }
    let mut lines = vec![sum];
    if spending.open_calls() > 0 {
        lines.push(format!(
            "in flight     {}, for ${:.4} at most",
            counted(spending.open_calls(), "call"),
            spending.open_usd()
        ));
    }
    let paid = |row: &&Spent| row.usd() > 0.0;
    if spending.rows.iter().filter(paid).count() > 1 {
        lines.extend(spending.rows.iter().filter(paid).map(|row| {
            let assumed = match row.assumed_calls {
                0 => String::new(),
                _ => format!(", ${:.4} assumed", row.assumed_usd),
            };
            format!(
                "              {} for {}: ${:.4} known{assumed}",
                clean(&row.service),
                row.purpose,
                row.known_usd
            )
        }));
    }
    lines
}
