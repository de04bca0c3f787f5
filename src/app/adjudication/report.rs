//! Evaluation of a judge's picks against the labels and against chance.

use super::evidence::{by_verdict, verdicts_json};
use crate::app::estimate_json::share_json;
use crate::domain::adjudication::{
    EvidenceLabel, JudgeAnswers, PickAnswer, PickCounts, PickMode, PickSummary, PoolAnswer,
    PoolSet, PooledCounts, summarize_answers,
};
use crate::domain::agreement::Share;
use crate::domain::analysis::wilson;
use crate::domain::metrics::{Resampling, estimate};
use crate::judge::OFFLINE;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

pub const LEVEL: f64 = 0.95;

/// One judge's picks, by order.
#[derive(Debug)]
pub struct JudgePickReport<'a> {
    pools: &'a PoolSet,
    pub answers: &'a JudgeAnswers,
    pub orders: Vec<OrderReport>,
    /// Agreement of the later orders with the first.
    pub consistency: Vec<OrderConsistency>,
}

/// The picks in one order of the pools.
#[derive(Debug)]
pub struct OrderReport {
    /// Number of the order, from 1.
    pub permutation: usize,
    /// Valid and invalid answers, with a summary of the picks.
    pub summary: PickSummary,
    /// Number of questions whose call failed.
    pub failed: usize,
    /// Pick counts of each pool with picks.
    boxes: BTreeMap<usize, PickCounts>,
    /// Pick counts of the documents with each verdict.
    pub by_verdict: Vec<(EvidenceLabel, PooledCounts)>,
}

/// Agreement of the picks in one order with those in the first.
#[derive(Debug)]
pub struct OrderConsistency {
    /// Number of the order, from 2.
    pub permutation: usize,
    /// Number of pools with picks in both.
    pub pools: usize,
    /// Number of pools with identical picks.
    pub same: usize,
    /// Mean overlap: documents picked both times divided by documents picked at least once.
    pub overlap: Option<f64>,
    pub overlap_interval: Option<(f64, f64)>,
}

impl<'a> JudgePickReport<'a> {
    pub fn new(pools: &'a PoolSet, answers: &'a JudgeAnswers) -> Self {
        let orders = answers
            .orders
            .iter()
            .map(|(permutation, given)| OrderReport::new(*permutation, given))
            .collect();
        let first = answers.orders.first_key_value();
        let others = answers.orders.iter().skip(1);
        let consistencies = first.into_iter().flat_map(|(_, first)| {
            others
                .clone()
                .map(|(permutation, given)| consistency(*permutation, first, given))
        });
        Self {
            pools,
            answers,
            orders,
            consistency: consistencies.collect(),
        }
    }

    pub fn json(&self) -> Value {
        let answers = self.answers;
        let orders: Vec<Value> = self
            .orders
            .iter()
            .map(|order| self.order_json(order))
            .collect();
        let consistency: Vec<Value> = self
            .consistency
            .iter()
            .map(OrderConsistency::json)
            .collect();
        json!({
            "judge": answers.judge,
            "provider": answers.provider,
            "model": answers.model,
            "prompt": answers.prompt,
            "offline": answers.provider == OFFLINE,
            "ask": answers.way,
            "truncated": answers.truncated,
            "tokens_input": answers.tokens.0,
            "tokens_output": answers.tokens.1,
            "cost_usd": answers.spend.told_usd(),
            "permutations": orders,
            "consistency": consistency,
        })
    }

    fn order_json(&self, order: &OrderReport) -> Value {
        let summary = &order.summary;
        let (boxes, intervals, chance) = (&summary.boxes, &summary.intervals, &summary.chance);
        let by_slot: Vec<Value> = summary
            .by_slot
            .iter()
            .enumerate()
            .map(|(at, counts)| {
                let mut value = pooled_json(counts);
                if let Value::Object(object) = &mut value {
                    object.insert("slot".to_owned(), json!(at + 1));
                }
                value
            })
            .collect();
        let by_source: Map<String, Value> = summary
            .by_source
            .iter()
            .map(|(source, counts)| (source.name().to_owned(), pooled_json(counts)))
            .collect();
        let by_verdict: Map<String, Value> = order
            .by_verdict
            .iter()
            .map(|(verdict, counts)| (verdict.name().to_owned(), pooled_json(counts)))
            .collect();
        let (invalid, answers) = order.invalid();
        json!({
            "permutation": order.permutation,
            "valid": summary.valid,
            "invalid": summary.invalid,
            "invalid_rate": share_json(summary.invalid_rate(), wilson(invalid, answers, LEVEL)),
            "failed": order.failed,
            "missing": self.missing(order),
            "boxes": boxes_json(boxes),
            "agreement": beside_chance(boxes.agreement(), intervals.agreement, chance.agreement),
            "precision": beside_chance(boxes.precision(), intervals.precision, chance.precision),
            "recall": beside_chance(boxes.recall(), intervals.recall, chance.recall),
            "kappa": beside_chance(boxes.kappa(), intervals.kappa, chance.kappa),
            "chance": {"agreed": chance.agreed, "sd": chance.sd},
            "by_slot": by_slot,
            "by_source": by_source,
            "by_verdict": by_verdict,
            "per_query": self.per_query(order),
        })
    }

    /// Number of pools without any answer in this order.
    pub fn missing(&self, order: &OrderReport) -> usize {
        let given = self.answers.orders.get(&order.permutation);
        let given = given.map_or(0, BTreeMap::len);
        let asked = self.pools.pools.iter().filter(|pool| {
            let positives = pool.positives();
            self.answers.way != PickMode::Exactly || positives > 0
        });
        asked.count().saturating_sub(given)
    }

    fn per_query(&self, order: &OrderReport) -> Map<String, Value> {
        let given = self.answers.orders.get(&order.permutation);
        given
            .into_iter()
            .flatten()
            .map(|(at, given)| {
                let value = match &given.answer {
                    PickAnswer::Picks(_) => {
                        let mut value = order.boxes.get(at).map_or(Value::Null, boxes_json);
                        if let Value::Object(object) = &mut value {
                            object.insert("picks".to_owned(), json!(given.picked()));
                            let verdicts = verdicts_json(given);
                            object.extend(verdicts.map(|all| ("verdicts".to_owned(), all)));
                        }
                        value
                    }
                    PickAnswer::Invalid(invalid) => json!({ "invalid": invalid.cause() }),
                    PickAnswer::Failed => json!({ "failed": true }),
                };
                (given.pool.query.as_str().to_owned(), value)
            })
            .collect()
    }
}

impl OrderReport {
    fn new(permutation: usize, given: &BTreeMap<usize, PoolAnswer>) -> Self {
        let (summary, failed) = summarize_answers(given);
        Self {
            permutation,
            summary,
            failed,
            boxes: given
                .iter()
                .filter_map(|(at, given)| Some((*at, given.boxes()?)))
                .collect(),
            by_verdict: by_verdict(given.values()),
        }
    }

    /// Number of invalid answers, and of all answers.
    pub fn invalid(&self) -> (usize, usize) {
        let invalid: usize = self.summary.invalid.values().sum();
        (invalid, invalid + self.summary.valid)
    }
}

/// A share of all documents, and the expected value for random picks.
fn beside_chance(value: Option<f64>, interval: Option<(f64, f64)>, chance: Option<f64>) -> Value {
    let mut value = share_json(value, interval);
    if let Value::Object(object) = &mut value {
        object.insert("chance".to_owned(), json!(chance));
    }
    value
}

fn consistency(
    permutation: usize,
    first: &BTreeMap<usize, PoolAnswer>,
    other: &BTreeMap<usize, PoolAnswer>,
) -> OrderConsistency {
    let mut overlaps = Vec::new();
    let mut same = 0;
    for (at, one) in first {
        let Some(two) = other.get(at) else { continue };
        let both = [one, two].map(|given| matches!(given.answer, PickAnswer::Picks(_)));
        if both != [true, true] {
            continue;
        }
        let [one, two] =
            [one, two].map(|given| given.picked().into_iter().collect::<BTreeSet<_>>());
        let all = one.union(&two).count();
        same += usize::from(one == two);
        overlaps.push(match all {
            0 => 1.0,
            all => one.intersection(&two).count() as f64 / all as f64,
        });
    }
    let mean = estimate(&overlaps, &Resampling::default());
    OrderConsistency {
        permutation,
        pools: overlaps.len(),
        same,
        overlap: mean.map(|mean| mean.mean),
        overlap_interval: mean.and_then(|mean| mean.interval),
    }
}

impl OrderConsistency {
    fn json(&self) -> Value {
        json!({
            "permutation": self.permutation,
            "against": 1,
            "pools": self.pools,
            "same": self.same,
            "same_rate": share_json(
                (self.pools > 0).then(|| self.same as f64 / self.pools as f64),
                wilson(self.same, self.pools, LEVEL),
            ),
            "overlap": share_json(self.overlap, self.overlap_interval),
        })
    }
}

/// Pick counts with confidence intervals of their shares.
fn pooled_json(counts: &PooledCounts) -> Value {
    let interval = |share: Option<Share>| share.map(|share| share.interval);
    let mut value = boxes_json(&counts.boxes);
    if let Value::Object(object) = &mut value {
        let shares = [
            ("picked_of_labelled_95", counts.picked_of_labelled()),
            ("picked_of_others_95", counts.picked_of_others()),
        ];
        object.extend(shares.map(|(name, share)| (name.to_owned(), json!(interval(share)))));
    }
    value
}

fn boxes_json(boxes: &PickCounts) -> Value {
    json!({
        "agreed": boxes.agreed,
        "label_only": boxes.label_only,
        "pick_only": boxes.pick_only,
        "neither": boxes.neither,
        "unproven": boxes.unproven,
        "pick_rate": boxes.pick_rate(),
        "picked_of_labelled": boxes.recall(),
        "picked_of_others": boxes.false_pick_rate(),
    })
}
