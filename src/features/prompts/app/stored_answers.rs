//! The answers of a judge on the regression set that the project holds, from votes and from trials.

use super::set::RegressionSet;
use super::set_texts::SetTexts;
use super::trial::presented;
use crate::domain::battle::Pair;
use crate::domain::sampling::SeededRng;
use crate::domain::vote::Outcome;
use crate::features::methods::app::rerank::pair_judge::{AskedPair, PairAnswer, PairJudge};
use crate::features::prompts::domain::DecidedPair;
use crate::store::corpus::QueryKey;
use crate::store::{Result, Store};
use std::collections::HashMap;

/// What a judge prefers on pairs, where A is the document earlier in the pool.
pub type StoredAnswers = HashMap<(QueryKey, Pair), Outcome>;

/// What a judge prefers on pairs in each of the two orders: first in the one that a hash of the pair
/// chooses, then in the other.
pub type OrderedAnswers = HashMap<(QueryKey, Pair), [Option<Outcome>; 2]>;

/// For each pair, the answer of `mine` in an order that `other` has answered, too, so that the
/// position of a document is no difference between the two; otherwise in the first order that
/// `mine` has answered.
pub fn comparable_answers(mine: &OrderedAnswers, other: &OrderedAnswers) -> StoredAnswers {
    let answer = |(place, mine): (&(QueryKey, Pair), &[Option<Outcome>; 2])| {
        let other = other.get(place).copied().unwrap_or_default();
        let in_both = (0..2).find(|order| mine[*order].is_some() && other[*order].is_some());
        let answer = in_both.and_then(|order| mine[order]);
        Some((*place, answer.or(mine[0]).or(mine[1])?))
    };
    mine.iter().filter_map(answer).collect()
}

/// The judge's answers on the regression set.
pub fn stored_answers(store: &Store, judge: &PairJudge) -> Result<OrderedAnswers> {
    let set = RegressionSet::read(store)?;
    let judge = judge.clone();
    store.read_blocking(move |db| {
        let texts = SetTexts::read(db, &set.pairs)?;
        let mut places = Vec::new();
        let mut asked = Vec::new();
        for (query, decided) in &set.pairs {
            let Some(pool) = texts.pools.get(query) else {
                continue;
            };
            let first = later_first(decided);
            for (order, later_first) in [first, !first].into_iter().enumerate() {
                places.push(((*query, decided.pair), order, later_first));
                asked.push(AskedPair {
                    query: *query,
                    case: presented(pool, decided.pair, later_first),
                });
            }
        }
        let answers = judge.known(db, &asked, false)?;
        let mut found = OrderedAnswers::new();
        for ((place, order, later_first), answer) in places.into_iter().zip(answers) {
            if let Some(outcome) = answer.and_then(|answer| preferred(&answer, later_first)) {
                found.entry(place).or_default()[order] = Some(outcome);
            }
        }
        Ok(found)
    })
}

/// Whether the document later in the pool is shown first, by a hash of the pair.
fn later_first(of: &DecidedPair) -> bool {
    let places = [of.pair.low(), of.pair.high()].map(|at| at.to_string());
    let [low, high] = places.each_ref().map(String::as_str);
    SeededRng::new(0, &["shown first", of.query.as_str(), low, high]).below(2) == 1
}

/// The document that an answer prefers; `None` for an unreadable answer.
fn preferred(answer: &PairAnswer, later_first: bool) -> Option<Outcome> {
    let margin = answer.margin.as_ref().ok().copied()?;
    let margin = if later_first {
        margin.flipped()
    } else {
        margin
    };
    Some(margin.outcome())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_prompts_are_compared_in_an_order_that_both_have_answered() {
        let place = |low| (QueryKey(1), Pair::new(low, 9).unwrap());
        let [a, b] = [Some(Outcome::A), Some(Outcome::B)];
        let new = HashMap::from([
            (place(1), [a, b]),
            (place(2), [a, b]),
            (place(3), [None, b]),
        ]);
        let old = HashMap::from([(place(1), [None, a]), (place(2), [b, a])]);
        let of_new = comparable_answers(&new, &old);
        assert_eq!(of_new[&place(1)], Outcome::B, "the order of the only vote");
        assert_eq!(
            of_new[&place(2)],
            Outcome::A,
            "the order that the hash chooses"
        );
        assert_eq!(of_new[&place(3)], Outcome::B, "the only order");
        let of_old = comparable_answers(&old, &new);
        assert_eq!(of_old[&place(1)], Outcome::A);
        assert_eq!(of_old[&place(2)], Outcome::B);
        assert_eq!(of_old.len(), 2);
    }
}
