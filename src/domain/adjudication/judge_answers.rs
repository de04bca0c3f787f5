//! Groups answers about pools by judge and prompt, by the order shown and by pool.

use super::disagreement::PoolPicks;
use super::evidence::{SlotVerdict, picks_of_verdicts, unproven_verdicts};
use super::pick_outcome::{PickCounts, PickOutcome, pick_outcomes};
use super::pick_record::{PickRecord, PickResult};
use super::pick_reply::{InvalidPick, PickMode};
use super::pick_summary::{PickSummary, summarize_picks};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::Resampling;
use crate::domain::retrieval::{JudgingPool, PoolSlot};
use crate::domain::spend::Spend;
use std::collections::{BTreeMap, HashMap, HashSet};

/// With this many pools or fewer, labels may come first by chance.
const FEW_POOLS: usize = 3;

#[derive(Clone, Debug, Default)]
pub struct PoolSet {
    pub pools: Vec<JudgingPool>,
    by_query: HashMap<QueryId, usize>,
}

impl PoolSet {
    /// Creates the set. If a query has several pools, the last one is used.
    pub fn new(pools: Vec<JudgingPool>) -> Self {
        let by_query = pools
            .iter()
            .enumerate()
            .map(|(at, pool)| (pool.query.clone(), at))
            .collect();
        Self { pools, by_query }
    }

    /// The index of a query's pool.
    pub fn place(&self, query: &QueryId) -> Option<usize> {
        self.by_query.get(query).copied()
    }

    /// Whether the slot reveals the label: in every pool where they could be elsewhere, the labeled
    /// documents come first.
    pub fn labels_stand_first(&self) -> bool {
        let mixed = self.pools.iter().filter(|pool| {
            let positives = pool.positives();
            positives > 0 && positives < pool.slots.len()
        });
        let first: Vec<bool> = mixed
            .map(|pool| {
                let positives = pool.positives();
                pool.slots.iter().take(positives).all(|slot| slot.positive)
            })
            .collect();
        // In two or three pools this may happen by chance.
        first.len() > FEW_POOLS && first.iter().all(|first| *first)
    }
}

#[derive(Clone, Debug)]
pub struct JudgeAnswers {
    pub judge: String,
    pub provider: String,
    pub model: String,
    /// The hash of the prompt template.
    pub prompt: String,
    pub way: PickMode,
    /// By the order shown, from 1; then by the index of the pool.
    pub orders: BTreeMap<usize, BTreeMap<usize, PoolAnswer>>,
    pub truncated: usize,
    pub tokens: (u64, u64),
    /// Total cost of its calls.
    pub spend: Spend,
}

#[derive(Clone, Debug)]
pub struct PoolAnswer {
    pub pool: JudgingPool,
    /// The positions picked in that order, why the last answer is invalid, or that there was no
    /// answer.
    pub answer: PickAnswer,
    pub thoughts: Vec<String>,
    /// The verdicts behind the picks, if verdicts were requested; slots are those of the order
    /// shown, from 1.
    pub verdicts: Vec<SlotVerdict>,
}

/// An answer; better ones compare greater.
#[derive(Clone, Debug, PartialEq)]
pub enum PickAnswer {
    Failed,
    Invalid(InvalidPick),
    /// Positions in the order shown, from 0.
    Picks(Vec<usize>),
}

impl PickAnswer {
    fn worth(&self) -> u8 {
        match self {
            Self::Failed => 0,
            Self::Invalid(_) => 1,
            Self::Picks(_) => 2,
        }
    }
}

impl PoolAnswer {
    pub fn picked(&self) -> Vec<&DocId> {
        let PickAnswer::Picks(positions) = &self.answer else {
            return Vec::new();
        };
        positions
            .iter()
            .filter_map(|at| self.pool.slots.get(*at))
            .map(|slot| &slot.document)
            .collect()
    }

    /// Each document with its verdict, in the order shown; empty if no verdicts were requested.
    pub fn told(&self) -> impl Iterator<Item = (&DocId, &SlotVerdict)> {
        self.verdicts.iter().filter_map(|given| {
            let slot = self.pool.slots.get(given.slot.checked_sub(1)?)?;
            Some((&slot.document, given))
        })
    }

    /// The verdict on a document.
    pub fn verdict_on(&self, document: &DocId) -> Option<&SlotVerdict> {
        self.told()
            .find_map(|(id, given)| (id == document).then_some(given))
    }

    /// Whether the judge picked a document; `None` if its verdict lacks the required proof.
    pub fn picks(&self, document: &DocId) -> Option<bool> {
        let unproven = self.verdict_on(document).and_then(|given| given.unproven);
        unproven
            .is_none()
            .then(|| self.picked().contains(&document))
    }

    /// The outcome in each slot of the order shown, if there are picks.
    pub fn outcomes(&self) -> Option<Vec<PickOutcome>> {
        match &self.answer {
            PickAnswer::Picks(picks) => {
                let unproven = unproven_verdicts(&self.verdicts);
                Some(pick_outcomes(&self.pool, picks, &unproven))
            }
            _ => None,
        }
    }

    /// The counts for the pool, if there are picks.
    pub fn boxes(&self) -> Option<PickCounts> {
        Some(self.outcomes()?.into_iter().collect())
    }
}

/// Answers that do not apply to the current pools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IgnoredAnswers {
    /// About queries that have no pool.
    pub unknown: usize,
    /// About pools whose documents have changed.
    pub changed: usize,
}

/// Groups answers by judge, sorted by the judge's name. If a question has several answers, the
/// latest one is used, but picks take precedence over failures and invalid answers.
pub fn group_answers(
    records: impl IntoIterator<Item = PickRecord>,
    pool_set: &PoolSet,
) -> (Vec<JudgeAnswers>, IgnoredAnswers) {
    let mut groups: BTreeMap<(String, String, String, String, PickMode), JudgeAnswers> =
        BTreeMap::new();
    let mut left_out = IgnoredAnswers::default();
    for record in records {
        let Some(at) = pool_set.place(&record.query) else {
            left_out.unknown += 1;
            continue;
        };
        let pool = pool_set.pools.get(at);
        let Some(pool) = pool.and_then(|pool| reordered(pool, &record.order)) else {
            left_out.changed += 1;
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
        let group = groups
            .entry(key)
            .or_insert_with(|| JudgeAnswers::of(&record, way));
        group.take(at, pool, record);
    }
    (groups.into_values().collect(), left_out)
}

impl JudgeAnswers {
    fn of(record: &PickRecord, way: PickMode) -> Self {
        Self {
            judge: record.judge.clone(),
            provider: record.provider.clone(),
            model: record.model.clone(),
            prompt: record.prompt.clone(),
            way,
            orders: BTreeMap::new(),
            truncated: 0,
            tokens: (0, 0),
            spend: Spend::default(),
        }
    }

    fn take(&mut self, at: usize, pool: JudgingPool, record: PickRecord) {
        self.tokens.0 += record.tokens_input;
        self.tokens.1 += record.tokens_output;
        self.spend += Spend::of(record.cost_usd);
        let mut verdicts = Vec::new();
        let answer = match record.result {
            PickResult::Slots(slots) => PickAnswer::Picks(
                slots
                    .iter()
                    .filter_map(|slot| slot.checked_sub(1))
                    .collect(),
            ),
            PickResult::Verdicts(given) => {
                verdicts = given;
                PickAnswer::Picks(picks_of_verdicts(&verdicts))
            }
            PickResult::Invalid(invalid) => PickAnswer::Invalid(invalid),
            PickResult::Failure(_) => PickAnswer::Failed,
        };
        let order = self.orders.entry(record.permutation).or_default();
        let known = order.get(&at).map_or(0, |given| given.answer.worth());
        if answer.worth() >= known {
            self.truncated +=
                usize::from(record.truncated && matches!(answer, PickAnswer::Picks(_)));
            let thoughts = record.thoughts;
            order.insert(
                at,
                PoolAnswer {
                    pool,
                    answer,
                    thoughts,
                    verdicts,
                },
            );
        }
    }
}

/// Summarizes the answers for one order of the pools and counts the failed calls.
pub fn summarize_answers(given: &BTreeMap<usize, PoolAnswer>) -> (PickSummary, usize) {
    let answers = given.values().filter_map(|given| match &given.answer {
        PickAnswer::Picks(_) => Some((&given.pool, Ok(given.outcomes()?))),
        PickAnswer::Invalid(invalid) => Some((&given.pool, Err(*invalid))),
        PickAnswer::Failed => None,
    });
    let summary = summarize_picks(answers, &Resampling::of(given.len()));
    let failed = given
        .values()
        .filter(|given| given.answer == PickAnswer::Failed);
    (summary, failed.count())
}

/// All valid answers of every judge and order, mapped back to the pool's own order.
pub fn valid_answers(groups: &[JudgeAnswers], pool_set: &PoolSet) -> Vec<PoolPicks> {
    let given = groups.iter().flat_map(|group| group.orders.values());
    let mut answers = Vec::new();
    for (at, given) in given.flatten() {
        if let (PickAnswer::Picks(_), Some(pool)) = (&given.answer, pool_set.pools.get(*at)) {
            let slots = pool.slots.iter();
            answers.push(PoolPicks {
                pool: *at,
                picked: slots.map(|slot| given.picks(&slot.document)).collect(),
            });
        }
    }
    answers
}

/// The pool in another order, or `None` if `order` has different documents.
fn reordered(pool: &JudgingPool, order: &[DocId]) -> Option<JudgingPool> {
    let by_id: HashMap<&DocId, &PoolSlot> = pool
        .slots
        .iter()
        .map(|slot| (&slot.document, slot))
        .collect();
    let slots: Vec<PoolSlot> = order
        .iter()
        .filter_map(|id| by_id.get(id).map(|slot| (*slot).clone()))
        .collect();
    let distinct: HashSet<&DocId> = order.iter().collect();
    let same = slots.len() == order.len()
        && order.len() == pool.slots.len()
        && distinct.len() == order.len();
    same.then(|| JudgingPool {
        query: pool.query.clone(),
        slots,
        layout: pool.layout,
    })
}
