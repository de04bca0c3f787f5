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

/// The judge's answers on the regression set. If both orders of a pair were answered, a hash chooses
/// one, the same for every judge and prompt.
pub fn stored_answers(store: &Store, judge: &PairJudge) -> Result<StoredAnswers> {
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
            for later_first in [first, !first] {
                places.push(((*query, decided.pair), later_first));
                asked.push(AskedPair {
                    query: *query,
                    case: presented(pool, decided.pair, later_first),
                });
            }
        }
        let answers = judge.known(db, &asked, false)?;
        let mut found = StoredAnswers::new();
        for ((place, later_first), answer) in places.into_iter().zip(answers) {
            if let Some(outcome) = answer.and_then(|answer| preferred(&answer, later_first)) {
                found.entry(place).or_insert(outcome);
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
