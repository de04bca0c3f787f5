//! What the list calls of a project cost and answered, by judge.

use super::answered::{ListOutcome, answered_lists};
use crate::store::{Db, Result};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The list calls of one kind and purpose to one judge.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct JudgeLists {
    pub judge: String,
    /// Whether these are probes, which count in no ranking.
    pub probes: bool,
    /// Number of documents shown.
    pub size: usize,
    /// The form of the answer, in words.
    pub answer: String,
    pub queries: usize,
    pub answered: usize,
    pub malformed: usize,
    /// Calls without a reply: not asked yet, or failed.
    pub outstanding: usize,
    /// Calls that open batches make.
    pub in_batches: usize,
    pub tokens_input: u64,
    pub tokens_output: u64,
    /// US dollars; `None` if a price is unknown.
    pub cost_usd: Option<f64>,
}

/// The list calls of the project. Identical calls are paid for once and counted once, also those
/// that merged copies planned both.
pub fn overview(db: &Db) -> Result<Vec<JudgeLists>> {
    let mut rows: BTreeMap<_, (JudgeLists, BTreeSet<String>)> = BTreeMap::new();
    let (mut seen, mut paid) = (BTreeSet::new(), BTreeSet::new());
    for of in answered_lists(db, None)? {
        let size = of.list.shown.len();
        let probes = of.is_probe();
        let place = (of.list.judge.clone(), size, of.list.form.clone(), probes);
        if !seen.insert((place.clone(), of.list.key)) {
            continue;
        }
        let (row, queries) = rows.entry(place).or_insert_with(|| {
            let row = JudgeLists {
                judge: of.list.judge.clone(),
                probes,
                size,
                answer: of.list.form.clone(),
                cost_usd: Some(0.0),
                ..JudgeLists::default()
            };
            (row, BTreeSet::new())
        });
        queries.insert(of.list.query.as_str().to_owned());
        match of.outcome {
            ListOutcome::Outstanding => row.outstanding += 1,
            ListOutcome::InBatch => row.in_batches += 1,
            ListOutcome::Malformed(_) => row.malformed += 1,
            ListOutcome::Answered(_) => row.answered += 1,
        }
        if let Some(reply) = of.reply.filter(|_| paid.insert(of.list.key)) {
            row.tokens_input += reply.tokens_input;
            row.tokens_output += reply.tokens_output;
            row.cost_usd = row.cost_usd.zip(reply.cost_usd).map(|(sum, usd)| sum + usd);
        }
    }
    let rows = rows.into_values();
    Ok(rows
        .map(|(row, queries)| JudgeLists {
            queries: queries.len(),
            ..row
        })
        .collect())
}
