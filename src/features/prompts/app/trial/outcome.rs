//! The result of a trial.

use super::case::TrialCase;
use crate::domain::vote::Outcome;
use crate::features::methods::app::rerank::pair_judge::PairAnswer;
use crate::features::prompts::domain::{
    ComparedPair, DecidedPair, OrderEffect, PairChange, PromptComparison, order_effect,
};
use crate::features::prompts::store::PairVote;
use crate::store::corpus::QueryKey;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;

/// Statistics of a judge's answers under a prompt.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct JudgeFigures {
    /// `None` if no pair was seen in both orders.
    pub order: Option<OrderEffect>,
    /// Share of the answers that are ties.
    pub ties: Option<f64>,
    /// Share of the questions that ended without a readable answer, of all that ended. An attempt
    /// that was repeated is not counted.
    pub invalid: Option<f64>,
    /// Mean number of tokens of a call, input plus output.
    pub tokens_per_call: Option<f64>,
    /// US dollars for 1,000 votes; `None` if a price is unknown.
    pub usd_per_1000: Option<f64>,
}

/// A pair that was compared.
#[derive(Clone, Debug, PartialEq)]
pub struct TriedPair {
    pub query: QueryKey,
    pub decided: DecidedPair,
    pub change: PairChange,
    pub old: PairVote,
    /// The margin under the new prompt, negative if the document earlier in the pool is better, in
    /// the order of the old vote.
    pub new_margin: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TrialResult {
    pub comparison: PromptComparison,
    /// Changed pairs first.
    pub pairs: Vec<TriedPair>,
    pub old: JudgeFigures,
    pub new: JudgeFigures,
    /// Number of questions that were not answered yet.
    pub missing: usize,
    /// Number of questions whose answers cannot be read.
    pub unreadable: usize,
    /// Dollars that the answers have cost; `None` if a price is unknown.
    pub cost_usd: Option<f64>,
}

/// The answers under the new prompt, and those of the old judge on all pairs.
pub(super) struct TrialAnswers {
    /// Two for each case.
    pub(super) new: Vec<Option<PairAnswer>>,
    /// Number of questions under the new prompt without an answer, because their calls failed.
    pub(super) failed: usize,
    /// The votes of the old judge on pairs that it voted on several times.
    pub(super) repeated: Vec<PairVote>,
    /// Number of votes of the old judge, and of questions without a vote because their calls failed.
    pub(super) old: (usize, usize),
}

impl TrialResult {
    pub(super) fn of(cases: &[TrialCase], answers: &TrialAnswers) -> Self {
        let both: Vec<[Option<&PairAnswer>; 2]> = answers
            .new
            .chunks_exact(2)
            .map(|two| [two[0].as_ref(), two[1].as_ref()])
            .collect();
        let mut tried = Vec::new();
        let mut compared = Vec::new();
        let mut orders = Vec::new();
        for (case, [same, other]) in cases.iter().zip(&both) {
            let margin = |answer: &Option<&PairAnswer>, later_first: bool| {
                let margin = answer.and_then(|answer| answer.margin.as_ref().ok().copied())?;
                Some(if later_first {
                    margin.flipped()
                } else {
                    margin
                })
            };
            let shown = case.old.later_first;
            let (same, other) = (margin(same, shown), margin(other, !shown));
            if let (Some(same), Some(other)) = (same, other) {
                let (low_first, high_first) = if shown { (other, same) } else { (same, other) };
                let query = usize::try_from(case.query.0).unwrap_or_default();
                orders.push((query, low_first.outcome(), high_first.outcome()));
            }
            let Some(new) = same else {
                continue;
            };
            let pair = compared_pair(case, new.outcome());
            compared.push(pair);
            tried.push(TriedPair {
                query: case.query,
                decided: case.decided.clone(),
                change: pair.change(),
                old: case.old,
                new_margin: new.get(),
            });
        }
        tried.sort_by_key(|pair| pair.change);
        let given: Vec<&PairAnswer> = answers.new.iter().flatten().collect();
        let unreadable = given.iter().filter(|answer| answer.margin.is_err()).count();
        Self {
            comparison: PromptComparison::of(&compared),
            pairs: tried,
            old: old_figures(cases, &answers.repeated, answers.old),
            new: JudgeFigures {
                order: order_effect(&orders),
                ..new_figures(&given, answers.failed)
            },
            missing: answers.new.len() - given.len(),
            unreadable,
            cost_usd: given.iter().map(|answer| answer.cost_usd).sum(),
        }
    }

    /// Hash of the pairs, of what people decided, and of the answers.
    pub(super) fn fingerprint(&self) -> [u8; 32] {
        let mut rows: Vec<String> = self
            .pairs
            .iter()
            .map(|pair| {
                let of = &pair.decided;
                format!(
                    "{:?} {} {} {:?} {:?} {:?}\n",
                    of.query.as_str(),
                    of.pair.low(),
                    of.pair.high(),
                    of.people,
                    pair.old.margin.outcome(),
                    pair.change
                )
            })
            .collect();
        rows.sort_unstable();
        Sha256::digest(rows.concat()).into()
    }
}

fn compared_pair(case: &TrialCase, new: Outcome) -> ComparedPair {
    ComparedPair {
        query: usize::try_from(case.query.0).unwrap_or_default(),
        inclusion: case.decided.inclusion,
        cause: case.decided.cause,
        people: case.decided.people,
        old: case.old.margin.outcome(),
        new,
    }
}

fn share(part: usize, n: usize) -> Option<f64> {
    (n > 0).then(|| part as f64 / n as f64)
}

fn new_figures(given: &[&PairAnswer], failed: usize) -> JudgeFigures {
    let margins: Vec<_> = given
        .iter()
        .filter_map(|answer| answer.margin.as_ref().ok())
        .collect();
    let ties = margins
        .iter()
        .filter(|margin| margin.outcome() == Outcome::Tie)
        .count();
    // Pairs with the same texts share an answer, which has tokens and a cost only once.
    let tokens = |answer: &PairAnswer| answer.tokens_input + answer.tokens_output;
    let made: Vec<_> = given.iter().filter(|answer| tokens(answer) > 0).collect();
    let votes = made.iter().filter(|answer| answer.margin.is_ok()).count();
    let cost: Option<f64> = made.iter().map(|answer| answer.cost_usd).sum();
    let total: u64 = made.iter().map(|answer| tokens(answer)).sum();
    JudgeFigures {
        order: None,
        ties: share(ties, margins.len()),
        invalid: share(given.len() - margins.len() + failed, given.len() + failed),
        tokens_per_call: (!made.is_empty()).then(|| total as f64 / made.len() as f64),
        usd_per_1000: cost
            .filter(|_| votes > 0)
            .map(|cost| 1_000.0 * cost / votes as f64),
    }
}

/// Figures of the old votes on the tried pairs; the effect of the order is that of all pairs which
/// the judge saw in both orders.
fn old_figures(
    cases: &[TrialCase],
    repeated: &[PairVote],
    (votes, failures): (usize, usize),
) -> JudgeFigures {
    // A vote that shares the answer of another call has no tokens and no cost.
    let paid: Vec<&PairVote> = cases
        .iter()
        .map(|case| &case.old)
        .filter(|vote| vote.tokens_input + vote.tokens_output > 0)
        .collect();
    let ties = cases
        .iter()
        .filter(|case| case.old.margin.outcome() == Outcome::Tie)
        .count();
    let tokens: u64 = paid
        .iter()
        .map(|vote| vote.tokens_input + vote.tokens_output)
        .sum();
    let cost: Option<f64> = paid.iter().map(|vote| vote.cost_usd).sum();
    let mean = |sum: f64| (!paid.is_empty()).then(|| sum / paid.len() as f64);
    JudgeFigures {
        order: order_effect(&in_both_orders(repeated)),
        ties: share(ties, cases.len()),
        invalid: share(failures, votes + failures),
        tokens_per_call: mean(tokens as f64),
        usd_per_1000: cost.and_then(mean).map(|usd| 1_000.0 * usd),
    }
}

/// The first vote in each order on pairs seen in both.
fn in_both_orders(votes: &[PairVote]) -> Vec<(usize, Outcome, Outcome)> {
    let mut first: HashMap<_, [Option<Outcome>; 2]> = HashMap::new();
    let mut places = Vec::new();
    for vote in votes {
        let place = (vote.query, vote.pair);
        let orders = first.entry(place).or_insert_with(|| {
            places.push(place);
            [None; 2]
        });
        let of_order = &mut orders[usize::from(vote.later_first)];
        *of_order = of_order.or(Some(vote.margin.outcome()));
    }
    places
        .into_iter()
        .filter_map(|place| {
            let [low_first, high_first] = first.get(&place).copied()?;
            let query = usize::try_from(place.0.0).unwrap_or_default();
            Some((query, low_first?, high_first?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::vote::Margin;

    #[test]
    fn failed_and_unreadable_questions_are_counted_by_how_they_ended() {
        let answer = |margin| PairAnswer {
            margin,
            tokens_input: 3,
            tokens_output: 1,
            cost_usd: Some(0.5),
        };
        let readable = answer(Ok(Margin::new(0.0).unwrap()));
        let unreadable = answer(Err("no number".to_owned()));
        let figures = new_figures(&[&readable, &unreadable, &readable], 1);
        assert_eq!(figures.invalid, Some(0.5));
        assert_eq!(figures.ties, Some(1.0));
        assert_eq!(figures.usd_per_1000, Some(750.0));
        assert_eq!(new_figures(&[], 0), JudgeFigures::default());
    }
}
