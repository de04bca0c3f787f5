//! Finds pairs on which one judge disagrees with the others.

use crate::domain::battle::Pair;
use crate::domain::vote::{JudgeId, Margin, Outcome, VoteRule};
use crate::store::corpus::QueryKey;
use crate::store::{Db, Result};
use std::collections::{HashMap, HashSet};

/// The pairs on which a judge disagrees with the combined vote of the others that count.
pub(super) fn pairs_against(db: &Db, judge: JudgeId) -> Result<HashSet<(QueryKey, Pair)>> {
    let mut counting: HashMap<QueryKey, HashSet<JudgeId>> = HashMap::new();
    for (key, _) in db.query_names()? {
        let judges = db.judges_of(key)?;
        counting.insert(key, judges.into_iter().map(|(id, _)| id).collect());
    }
    let mut votes: HashMap<(QueryKey, Pair), [Vec<Margin>; 2]> = HashMap::new();
    db.each_margin(|query, pair, id, margin| {
        let judges = counting.get(&query);
        if judges.is_some_and(|judges| judges.contains(&id)) {
            votes.entry((query, pair)).or_default()[usize::from(id != judge)].push(margin);
        }
    })?;
    let differ = |[own, others]: &[Vec<Margin>; 2]| {
        let outcome = |votes: &[Margin]| combined_outcome(votes.iter().copied());
        matches!((outcome(own), outcome(others)), (Some(own), Some(others)) if own != others)
    };
    Ok(votes
        .into_iter()
        .filter(|(_, votes)| differ(votes))
        .map(|(pair, _)| pair)
        .collect())
}

/// The combined outcome of several votes.
pub(super) fn combined_outcome(margins: impl IntoIterator<Item = Margin>) -> Option<Outcome> {
    let score = VoteRule::Ternary.score(margins)?;
    Margin::new(2.0 * score - 1.0).map(Margin::outcome)
}
