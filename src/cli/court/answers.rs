//! The answers of a file of picks: by judge and way of asking, by the order shown, by pool.

use super::super::import::{display_name, open};
use super::super::{Failure, benchmark, output};
use super::{Bench, reordered};
use crate::domain::court::{Invalid, SlotVerdict, Way, picks_of};
use crate::domain::retrieval::JudgingPool;
use crate::formats::picks::{PickRecord, PickResult, read_picks};
use std::collections::BTreeMap;
use std::path::Path;

/// One judge, asked in one way.
pub(super) struct Group {
    pub(super) judge: String,
    pub(super) provider: String,
    pub(super) model: String,
    /// The hash of the prompt's template.
    pub(super) prompt: String,
    pub(super) way: Way,
    /// By the order shown, from 1; then by the pool's place in the file.
    pub(super) orders: BTreeMap<usize, BTreeMap<usize, Given>>,
    /// Whether documents were cut for it.
    pub(super) truncated: usize,
    pub(super) tokens: (u64, u64),
    /// Dollars, as far as they are known.
    pub(super) cost_usd: Option<f64>,
}

/// How a question about a pool ended.
pub(super) struct Given {
    /// The pool in the order shown.
    pub(super) pool: JudgingPool,
    /// The positions picked in that order; or why the last answer is none; or that there was no answer.
    pub(super) answer: Answer,
    /// The verdicts that make the picks, where those were asked for.
    pub(super) verdicts: Vec<SlotVerdict>,
}

/// An answer, the better ones last.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    Failed,
    Invalid(Invalid),
    Picks(Vec<usize>),
}

impl Answer {
    fn worth(&self) -> u8 {
        match self {
            Self::Failed => 0,
            Self::Invalid(_) => 1,
            Self::Picks(_) => 2,
        }
    }
}

/// Reads the answers, the judges in the order of their names. Of several to one question the latest counts, but picks
/// before what is none. What was left out goes into `notes`.
pub(super) fn read(
    path: &Path,
    bench: &Bench,
    notes: &mut Vec<String>,
) -> Result<Vec<Group>, Failure> {
    let name = display_name(path);
    let mut complaints = output::Complaints::about(&name);
    let mut groups: BTreeMap<(String, String, String, String, Way), Group> = BTreeMap::new();
    let (mut unknown, mut others) = (0, 0);
    for record in read_picks(open(path)?, &name) {
        let record = match record {
            Ok((_, record)) => record,
            Err(problem) => {
                complaints.tell(&problem);
                continue;
            }
        };
        let Some(at) = bench.by_query.get(&record.query).copied() else {
            unknown += 1;
            continue;
        };
        let pool = bench.judging.get(at);
        let Some(pool) = pool.and_then(|pool| reordered(pool, &record.order)) else {
            others += 1;
            continue;
        };
        let way = record.ask.way();
        let key = (
            record.judge.clone(),
            record.provider.clone(),
            record.model.clone(),
            record.prompt.clone(),
            way,
        );
        let group = groups.entry(key).or_insert_with(|| Group::of(&record, way));
        group.take(at, pool, record);
    }
    benchmark::refuse(&name, complaints.end())?;
    for (count, what) in [
        (unknown, "of queries that the pools lack"),
        (others, "of pools with other documents than now"),
    ] {
        if count > 0 {
            let count = output::counted(count, "answer");
            notes.push(format!("{count} {what}: left out"));
        }
    }
    Ok(groups.into_values().collect())
}

impl Group {
    fn of(record: &PickRecord, way: Way) -> Self {
        Self {
            judge: record.judge.clone(),
            provider: record.provider.clone(),
            model: record.model.clone(),
            prompt: record.prompt.clone(),
            way,
            orders: BTreeMap::new(),
            truncated: 0,
            tokens: (0, 0),
            cost_usd: None,
        }
    }

    fn take(&mut self, at: usize, pool: JudgingPool, record: PickRecord) {
        self.tokens.0 += record.tokens_input;
        self.tokens.1 += record.tokens_output;
        if let Some(cost) = record.cost_usd {
            self.cost_usd = Some(self.cost_usd.unwrap_or(0.0) + cost);
        }
        let mut verdicts = Vec::new();
        let answer = match record.result {
            PickResult::Slots(slots) => Answer::Picks(
                slots
                    .iter()
                    .filter_map(|slot| slot.checked_sub(1))
                    .collect(),
            ),
            PickResult::Verdicts(given) => {
                verdicts = given;
                Answer::Picks(picks_of(&verdicts))
            }
            PickResult::Invalid(invalid) => Answer::Invalid(invalid),
            PickResult::Failure(_) => Answer::Failed,
        };
        let order = self.orders.entry(record.permutation).or_default();
        let known = order.get(&at).map_or(0, |given| given.answer.worth());
        if answer.worth() >= known {
            self.truncated += usize::from(record.truncated && matches!(answer, Answer::Picks(_)));
            let given = Given {
                pool,
                answer,
                verdicts,
            };
            order.insert(at, given);
        }
    }
}
