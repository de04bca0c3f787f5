//! `overrule adjudication`: compares picks with labels, and shows the effect of rulings.

mod disagreements;
mod effect;
mod report;

use super::command::{CommandContext, CommandResult, option_set, usage};
use super::output;
use crate::app::adjudication::data::adjudication_data;
use crate::app::adjudication::{JudgePickReport, RulingEffect, notes, sheets};
use crate::app::output_file::write_whole;
use crate::domain::adjudication::{CONTROL_SHARE, DisagreementOrder, DisagreementRule};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "Every document is in one of four boxes: agreed (labeled and picked), label only (missed by the \
judge, or the label is wrong), pick only (the label may be missing: to be reviewed, not an error), \
or neither. Every combination of judge, prompt, kind of question and document order is counted \
separately. After `pick --per-document`, the output of --json, --csv and --inspect includes the \
verdicts with the sentences that prove them. Every share and Cohen's κ is shown with its value for \
picking the same number of documents at random. The last table compares the project's rankings \
before and after the rulings that count.

--disagreements lists the documents on which picks and labels differ and that you have not ruled on. \
Orders:
  impact      largest change of a ranking's NDCG, times the share of answers against the label
              (default)
  confidence  highest share of answers against the label
  query       query by query
  random      at random: the shares are representative of all disagreements
One in five is a random control. In the workbench, press C.

Examples:
  overrule adjudication
  overrule adjudication --json | jq '.judges[0].permutations[0].boxes'
  overrule adjudication --disagreements --order confidence --limit 10
  overrule adjudication --csv per_query.csv --inspect disagreements.csv"
)]
pub(super) struct AdjudicationCommand {
    /// Lowest grade that counts as relevant
    #[arg(long, value_name = "GRADE", default_value_t = 1)]
    level: i32,
    /// List the disagreements, most important first
    #[arg(long)]
    disagreements: bool,
    /// Order of the disagreements
    #[arg(
        long,
        value_name = "ORDER",
        default_value = "impact",
        requires = "disagreements"
    )]
    order: DisagreementOrder,
    /// Maximum number of disagreements
    #[arg(
        long,
        value_name = "N",
        default_value_t = 20,
        requires = "disagreements"
    )]
    limit: usize,
    /// Write one row per query, judge and order as CSV
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write the documents that are either labeled or picked, but not both, as CSV
    #[arg(long, value_name = "FILE")]
    inspect: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl AdjudicationCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let files = self.csv.iter().chain(&self.inspect).map(PathBuf::as_path);
        context.check_targets(files, &[], option_set(&[(self.json, "--json")]))?;
        let level = self.level;
        let data = store.read_blocking(move |db| adjudication_data(db, level))?;
        let mut notes = notes(&data);
        if data.groups.is_empty() {
            let nothing = data.labels.is_empty() || data.rankings.is_empty();
            if nothing || self.disagreements {
                let notes: Vec<String> = notes.iter().map(|note| format!(" ({note})")).collect();
                return Err(usage!(
                    "{}: no judge has picked from these pools{}; `overrule pick` asks them",
                    context.project().display(),
                    notes.concat()
                ));
            }
            notes.push("no judge has picked yet; `overrule pick` asks them".to_owned());
        }
        if self.disagreements {
            let rule = DisagreementRule {
                order: self.order,
                controls: CONTROL_SHARE,
                seed: context.config.run.seed,
            };
            let annotator = context.annotator();
            return disagreements::print(&store, &data, &rule, &annotator, self.limit, self.json);
        }
        if let Some(path) = &self.csv {
            write_whole(path, |out| {
                sheets::per_query(&data.pool_set, &data.groups, out)
            })?;
        }
        if let Some(path) = &self.inspect {
            let pool_at = |at: usize| {
                let key = data.keys.get(at).copied().unwrap_or_default();
                Ok(store.read_blocking(move |db| db.pool(key))?)
            };
            write_whole(path, |out| {
                sheets::disagreements(&data.groups, &pool_at, out)
            })?;
        }
        let reports = data.groups.iter();
        let reports: Vec<_> = reports
            .map(|answers| JudgePickReport::new(&data.pool_set, answers))
            .collect();
        let effect = RulingEffect::of(&data)?;
        if self.json {
            let judges: Vec<_> = reports.iter().map(JudgePickReport::json).collect();
            return output::json(&json!({
                "pools": data.pool_set.pools.len(),
                "judges": judges,
                "rulings": effect.rulings_json(),
                "rankings": effect.rankings_json(),
                "warnings": notes,
            }));
        }
        for note in &notes {
            output::message(&format!("note: {note}"));
        }
        let mut texts: Vec<String> = reports.iter().map(report::describe).collect();
        texts.push(effect::describe(&effect));
        output::text(&texts.join("\n"))
    }
}
