//! `overrule court`: picks against labels.

mod answers;
mod evidence;
mod report;
mod sheets;

use super::{Failure, Outcome, benchmark, export, output};
use crate::domain::corpus::{DocId, Pool, QueryId};
use crate::domain::retrieval::{JudgingPool, Layout, Slot};
use crate::formats::dataset::Marks;
use anyhow::anyhow;
use clap::Args;
use serde_json::json;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(
    after_help = "Every document falls into one of four boxes: agreed (labelled and picked), label only (missed, or the label is wrong), pick
only (the label may be missing: to be reviewed, not an error), neither. Each judge, prompt and way of asking is counted
by itself, and each order shown by itself. Where judges gave every document a verdict (pick --per-document), --json, --csv
and --inspect hold the verdicts with the sentences that prove them. Beside every share and Cohen's κ stands what picking as many documents at random would reach.

Examples:
  overrule court pools.jsonl pools_picks.jsonl
  overrule court pools.jsonl pools_picks.jsonl --json | jq '.judges[0].permutations[0].boxes'
  overrule court pools.jsonl pools_picks.jsonl --csv per_query.csv --inspect disagreements.csv"
)]
pub(super) struct Court {
    /// The pools that were picked from
    pools: PathBuf,
    /// The picks, as `overrule pick` writes them
    picks: PathBuf,
    /// The grade from which on a document counts as labelled relevant
    #[arg(long, value_name = "GRADE", default_value_t = 1)]
    level: i32,
    /// Write one row a query, judge and order as CSV
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write the documents that are labelled or picked, but not both, as CSV
    #[arg(long, value_name = "FILE")]
    inspect: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The pools, as texts and as slots.
pub(super) struct Bench {
    pools: Vec<Pool>,
    judging: Vec<JudgingPool>,
    by_query: HashMap<QueryId, usize>,
}

impl Court {
    pub(super) fn run(self) -> Outcome {
        let inputs: [(&str, &Path); 2] = [("pools", &self.pools), ("picks", &self.picks)];
        for path in self.csv.iter().chain(&self.inspect) {
            export::check_target(path, &inputs)?;
        }
        let bench = Bench::read(&self.pools, self.level)?;
        let mut notes = Vec::new();
        let groups = answers::read(&self.picks, &bench, &mut notes)?;
        if groups.is_empty() {
            return Err(Failure::usage(anyhow!(
                "{}: has no pick of these pools; `overrule pick {}` makes some",
                self.picks.display(),
                self.pools.display()
            )));
        }
        if bench.labels_stand_first() {
            notes.push(
                "the labelled documents stand first in every pool: a judge that names the first slots is always right"
                    .to_owned(),
            );
        }
        if let Some(path) = &self.csv {
            export::whole_file(path, |out| sheets::per_query(&bench, &groups, out))?;
        }
        if let Some(path) = &self.inspect {
            export::whole_file(path, |out| sheets::disagreements(&bench, &groups, out))?;
        }
        let reports: Vec<_> = groups
            .iter()
            .map(|group| report::Report::new(&bench, group))
            .collect();
        if self.json {
            let judges: Vec<_> = reports.iter().map(report::Report::json).collect();
            let pools = bench.judging.len();
            output::json(&json!({ "pools": pools, "judges": judges, "warnings": notes }))?;
            return Ok(());
        }
        for note in &notes {
            output::complain(&format!("note: {note}"));
        }
        let texts: Vec<String> = reports.iter().map(report::Report::words).collect();
        output::text(&texts.join("\n"))?;
        Ok(())
    }
}

impl Bench {
    fn read(path: &Path, level: i32) -> Result<Self, Failure> {
        let pools = benchmark::pools(path)?;
        let wrong = |what: String| Failure::usage(anyhow!("{}: {what}", path.display()));
        let judging = pools
            .iter()
            .map(|pool| slots(pool, level).map_err(wrong))
            .collect::<Result<Vec<_>, _>>()?;
        let by_query = pools
            .iter()
            .enumerate()
            .map(|(at, pool)| (pool.query.id.clone(), at))
            .collect();
        Ok(Self {
            pools,
            judging,
            by_query,
        })
    }

    /// Whether the slot gives the label away: in every pool where it could be otherwise the labelled documents are first.
    fn labels_stand_first(&self) -> bool {
        let mixed = self.judging.iter().filter(|pool| {
            let positives = pool.positives();
            positives > 0 && positives < pool.slots.len()
        });
        let mut first = mixed.map(|pool| {
            let positives = pool.positives();
            pool.slots.iter().take(positives).all(|slot| slot.positive)
        });
        // Two or three pools may look like that by chance.
        self.judging.len() > 3 && first.all(|first| first)
    }
}

/// A pool's documents as slots in the order of the file.
fn slots(pool: &Pool, level: i32) -> Result<JudgingPool, String> {
    let slots = pool
        .documents
        .iter()
        .enumerate()
        .map(|(at, document)| {
            let marks = Marks::of(document).map_err(|what| {
                format!("query {}: documents[{at}].{what}", pool.query.id.as_str())
            })?;
            Ok(Slot {
                document: document.id.clone(),
                positive: marks.grade.is_some_and(|grade| grade >= level),
                rank: marks.first_stage_rank,
            })
        })
        .collect::<Result<_, String>>()?;
    Ok(JudgingPool {
        query: pool.query.id.clone(),
        slots,
        // How the file's order came about changes nothing here.
        layout: Layout::Original,
    })
}

/// A pool in another order, or `None` where that has other documents.
fn reordered(pool: &JudgingPool, order: &[DocId]) -> Option<JudgingPool> {
    let by_id: HashMap<&DocId, &Slot> = pool
        .slots
        .iter()
        .map(|slot| (&slot.document, slot))
        .collect();
    let slots: Vec<Slot> = order
        .iter()
        .filter_map(|id| by_id.get(id).map(|slot| (*slot).clone()))
        .collect();
    let distinct: std::collections::HashSet<&DocId> = order.iter().collect();
    let same = slots.len() == order.len()
        && order.len() == pool.slots.len()
        && distinct.len() == order.len();
    same.then(|| JudgingPool {
        query: pool.query.clone(),
        slots,
        layout: pool.layout,
    })
}
