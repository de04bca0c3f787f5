//! Chooses the pairs on which a judge is followed, and finds their texts.

use crate::app::frozen_pairs::{self, PairCandidate, PoolTexts, voted_pairs};
use crate::domain::battle::Pair;
use crate::domain::frozen_pair::FrozenPair;
use crate::features::methods::app::rerank::pair_judge::{AskedPair, PairJudge};
use crate::features::prompts::app::RegressionSet;
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result};
use std::collections::{BTreeMap, HashSet};

/// The pairs for a judge: pairs that people decided come first, then pairs with a vote of the judge.
/// Without `with_votes`, the votes of the judge are not compared later.
pub(super) fn choose_pairs(
    db: &Db,
    judge: &PairJudge,
    set: &RegressionSet,
    wanted: usize,
    with_votes: bool,
) -> Result<Vec<FrozenPair>> {
    let decided: HashSet<(QueryKey, Pair)> =
        set.pairs.iter().map(|(key, of)| (*key, of.pair)).collect();
    // By query and pair: whether the later document is shown first, if the judge has voted.
    let mut orders: BTreeMap<(QueryKey, Pair), Option<bool>> =
        decided.iter().map(|place| (*place, None)).collect();
    for vote in voted_pairs(db, judge.judge.spec())? {
        let order = orders.entry((vote.query, vote.pair)).or_default();
        order.get_or_insert(vote.later_first);
    }
    let candidate = |((query, pair), later_first)| PairCandidate {
        query,
        pair,
        later_first,
        is_secondary: !decided.contains(&(query, pair)),
    };
    let candidates: Vec<PairCandidate> = orders.into_iter().map(candidate).collect();
    let key = |query, case: &_| {
        judge.key(&AskedPair {
            query,
            case: Clone::clone(case),
        })
    };
    let vote = |key: &[u8; 32]| {
        if with_votes {
            Ok(db.answer_of_call(key)?.map(|answer| answer.margin))
        } else {
            Ok(None)
        }
    };
    frozen_pairs::choose_pairs(db, "drift pair", &candidates, wanted, key, vote)
}

/// The question about a stored pair, if its texts are as they were.
pub(super) fn unchanged(
    texts: &mut PoolTexts,
    db: &Db,
    judge: &PairJudge,
    pair: &FrozenPair,
) -> Result<Option<AskedPair>> {
    let asked = texts.question(db, pair)?;
    let asked = asked.map(|(query, case)| AskedPair { query, case });
    Ok(asked.filter(|asked| judge.key(asked) == pair.key))
}
