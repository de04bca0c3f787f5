//! `overrule status`: shows the status of the project.

mod certainty;
mod requirements;

use super::command::{CommandContext, CommandFailure, CommandResult};
use super::config::{RatingSettings, StudentInForce};
use super::output::{self, clean};
use crate::app::status::{PartOf, ProjectStatus, Spending};
use crate::app::text_format::counted;
use crate::domain::agreement::{Interval, Share};
use crate::domain::answering_models::changed_model;
use crate::domain::number_words::{self, count};
use crate::domain::ranking::override_mode_note;
use crate::judge::OFFLINE_LABEL;
use crate::store::ledger::Spent;
use clap::Args;
use requirements::{Requirement, requirement};
use serde_json::{Value, json};
use std::iter;

#[derive(Debug, Args)]
#[command(
    after_help = "--require takes settled, fought, unanimous and cyclic as shares from 0 to 1, and \
                  verdicts, failures, missing and conflicts as numbers. settled, fought, unanimous \
                  and verdicts are lower bounds, the others upper bounds. A value that was not run \
                  does not meet a requirement. The exit code is 1 if a requirement is not met.

Examples:
  overrule status
  overrule status --json | jq .votes
  overrule status --require settled=0.9,failures=0"
)]
pub(super) struct StatusCommand {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Fail unless the project has reached these values (repeatable)
    #[arg(
        long,
        value_name = "NAME=VALUE",
        value_delimiter = ',',
        value_parser = requirement
    )]
    require: Vec<Requirement>,
}

impl StatusCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let status = ProjectStatus::read(&store)?;
        let project = store.path().display().to_string();
        if self.json {
            let mut told = as_json(&project, &status);
            if !self.require.is_empty() {
                let all = self.require.iter().map(|one| one.json(&status));
                told["requirements"] = all.collect();
            }
            output::json(&told)?;
        } else {
            output::text(&as_text(&project, &status))?;
        }
        let mut failed = self.require.iter().filter(|one| !one.is_met(&status));
        let Some(first) = failed.next() else {
            return Ok(());
        };
        for one in iter::once(first).chain(failed) {
            output::message(&format!("overrule: {}", one.words(&status)));
        }
        Err(CommandFailure::negative())
    }
}

fn as_json(project: &str, status: &ProjectStatus) -> Value {
    let (spending, adjudication) = (&status.spending, &status.adjudication);
    let spent = spending.total();
    let PartOf { part, whole } = status.unanimous;
    let per_query = status
        .queries
        .iter()
        .map(|(info, summary)| certainty::json(info, summary, status.usd_per_battle));
    let judges = status
        .judges
        .iter()
        .map(|(names, queries)| json!({ "judges": names, "queries": queries }));
    let models = status
        .models
        .iter()
        .map(|(judge, models)| json!({ "judge": judge, "models": models }));
    let mut told = json!({
        "project": project,
        "queries": status.queries.len(),
        "documents": status.documents,
        "battles": status.fought.whole,
        "battles_fought": status.fought.part,
        "votes": status.votes,
        "votes_missing": status.votes_missing,
        "failures": status.failures,
        "consensus": {
            "unanimous": part,
            "judged": whole,
            "interval_95": consensus_interval(status).map(|interval| [interval.low, interval.high]),
        },
        "triads": { "cyclic": status.cyclic.part, "all": status.cyclic.whole },
        "certainty": {
            "queries": status.settled.whole,
            "settled_95": status.settled.part,
            "per_query": per_query.collect::<Vec<_>>(),
            "battles_to_separate_assumes": certainty::ASSUMES,
        },
        "verdicts": status.verdicts,
        "conflicts": status.conflicts,
        "calls": spending.calls(),
        "spent_usd": spent.told_usd(),
        "spent_known_usd": spent.known_usd,
        "spent_assumed_usd": spent.assumed_usd,
        "in_flight": { "calls": spending.open_calls(), "worst_usd": spending.open_usd() },
        "calls_without_price": spent.unpriced,
        "spending": spending.rows,
        "batches": { "calls_open": status.batched.0, "worst_usd": status.batched.1 },
        "judges": judges.collect::<Vec<_>>(),
        "models": models.collect::<Vec<_>>(),
        "offline_judges": status.offline,
        "telling_margins": status.telling_margins,
        "adjudication": {
            "labels": adjudication.labels,
            "rankings": adjudication.rankings,
            "picks": adjudication.picks,
            "picks_spent_usd": spending.on_picks().told_usd(),
            "rulings": adjudication.rulings,
        },
    });
    for feature in &status.features {
        told[feature.key] = feature.json.clone();
    }
    told["student"] = json!(status.student.clone().map(StudentInForce::from));
    told["rating"] = json!(RatingSettings::new(status.settings, &status.rule));
    told
}

/// The interval of the consensus share over queries, some of which are harder than others.
fn consensus_interval(status: &ProjectStatus) -> Option<Interval> {
    let of_query = status.queries.iter();
    let of_query = of_query.map(|(_, query)| (query.unanimous as f64, query.judged));
    Some(Share::of_clusters(of_query)?.interval)
}

fn as_text(project: &str, status: &ProjectStatus) -> String {
    let share = |PartOf { part, whole }: PartOf| match whole {
        0 => "not run".to_owned(),
        _ => format!(
            "{} of {} ({:.1} %)",
            count(part),
            count(whole),
            100.0 * part as f64 / whole as f64
        ),
    };
    let interval = consensus_interval(status).map_or(String::new(), |Interval { low, high }| {
        format!(" (95 %: {:.1}–{:.1} %)", 100.0 * low, 100.0 * high)
    });
    let differ = match status.conflicts {
        0 => String::new(),
        pairs => format!(
            "; people differ on {} ({} counts)",
            counted(pairs, "pair"),
            status.rule.name()
        ),
    };
    let consensus = match status.unanimous.whole {
        0 => "not run".to_owned(),
        _ => format!(
            "{} battles with two votes or more are unanimous{interval}",
            share(status.unanimous)
        ),
    };
    let certainty = match status.settled.whole {
        0 => "not run".to_owned(),
        _ => format!(
            "the top is settled at 95 % for {} queries, where further judgments are not expected \
             to change it",
            share(status.settled)
        ),
    };
    let mut lines = vec![
        format!("project       {}", clean(project)),
        format!(
            "queries       {} with {}",
            count(status.queries.len()),
            counted(status.documents, "document")
        ),
        format!("battles       {}", share(status.fought)),
        format!(
            "votes         {} stored, {} missing, {} failed",
            count(status.votes),
            count(status.votes_missing),
            count(status.failures)
        ),
        format!("consensus     {consensus}"),
        format!(
            "cycles        decided triads that are cyclic: {}",
            share(status.cyclic)
        ),
        format!("certainty     {certainty}"),
        format!(
            "verdicts      {} that count{differ}",
            count(status.verdicts)
        ),
    ];
    lines.extend(override_mode_note(&status.settings).map(|note| format!("              {note}")));
    lines.extend(spending_lines(&status.spending));
    lines.push(format!(
        "model         {}, prior precision λ per battle: {}",
        status.settings.model,
        status.settings.lambda.words(status.settings.learned)
    ));
    let adjudication = status.adjudication;
    if adjudication.labels + adjudication.picks + adjudication.rankings > 0 {
        lines.push(format!(
            "adjudication  {}, {}, {} on pools for {}, {} (`overrule adjudication`)",
            counted(adjudication.labels, "label"),
            counted(adjudication.rankings, "ranking"),
            counted(adjudication.picks, "answer"),
            status.spending.on_picks().in_short(),
            counted(adjudication.rulings, "ruling")
        ));
    }
    lines.extend(status.features.iter().flat_map(|of| of.lines.clone()));
    if let Some((student, effect)) = &status.student {
        lines.push(format!(
            "student       {} {}",
            clean(&student.name),
            student.words(effect)
        ));
    }
    let (calls, usd) = status.batched;
    if calls > 0 {
        lines.push(format!(
            "batches       {} open, costing at most {} (`overrule batch status`)",
            counted(calls, "call"),
            number_words::usd(usd)
        ));
    }
    for (names, queries) in &status.judges {
        let names = clean(names.join(", "));
        lines.push(format!(
            "judges        {names}: their votes count for {}",
            counted(*queries, "query")
        ));
    }
    for (judge, models) in &status.models {
        lines.extend(
            changed_model(models).map(|words| format!("models        {} {words}", clean(judge))),
        );
    }
    if !status.telling_margins.is_empty() {
        lines.push(format!(
            "margins       those of {} are informative beyond their direction (latest judge \
             report): `overrule config project --vote-rule calibrated` counts their size",
            clean(status.telling_margins.join(", "))
        ));
    }
    if status.offline {
        lines.push(format!("note          {OFFLINE_LABEL}"));
    }
    lines.join("\n") + "\n" + &certainty::table(&status.queries, status.usd_per_battle)
}

/// The lines of `status` on spending: the sum, and each judge's part if several were paid.
fn spending_lines(spending: &Spending) -> Vec<String> {
    let calls = counted(spending.calls(), "call");
    let mut sum = format!("spent         {calls}: {}", spending.total().words());
    let assumed: usize = spending.rows.iter().map(|row| row.assumed_calls).sum();
    if assumed > 0 {
        let calls = counted(assumed, "call");
        sum += &format!("; {calls} did not report a cost");
    }
    let mut lines = vec![sum];
    if spending.open_calls() > 0 {
        lines.push(format!(
            "in flight     {}, costing at most {}",
            counted(spending.open_calls(), "call"),
            number_words::usd(spending.open_usd())
        ));
    }
    let paid = |row: &&Spent| row.usd() > 0.0 || row.unpriced > 0;
    if spending.rows.iter().filter(paid).count() > 1 {
        lines.extend(spending.rows.iter().filter(paid).map(|row| {
            format!(
                "              {} for {}: {}",
                clean(&row.service),
                row.purpose,
                row.spend().words()
            )
        }));
    }
    lines
}
