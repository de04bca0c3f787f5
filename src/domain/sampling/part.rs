//! Parts of a query's plain plan, for processes that share its calls.

use super::PlannedBattle;
use crate::domain::battle::Pair;
use std::collections::HashSet;

/// Number of pairs in a part.
pub const PAIRS_PER_PART: usize = 25;

/// Number of pairs in a part of a round: few, since the next round waits for all of them.
pub const PAIRS_PER_ROUND_PART: usize = 5;

/// Number of parts of a plan. All battles of a pair belong to the same part, since the order of its
/// documents in one depends on the others.
#[cfg(feature = "remote")]
pub fn parts(planned: &[PlannedBattle]) -> usize {
    pairs(planned).count().div_ceil(PAIRS_PER_PART)
}

/// The pairs of a part, which is counted from 0.
pub fn pairs_of_part(planned: &[PlannedBattle], part: usize) -> HashSet<Pair> {
    let first = part.saturating_mul(PAIRS_PER_PART);
    pairs(planned).skip(first).take(PAIRS_PER_PART).collect()
}

/// The pairs of a plan, in the order of their first battles.
fn pairs(planned: &[PlannedBattle]) -> impl Iterator<Item = Pair> {
    let mut seen = HashSet::new();
    let pairs = planned.iter().map(|battle| battle.pair);
    pairs.filter(move |pair| seen.insert(*pair))
}

#[cfg(test)]
#[cfg(feature = "remote")]
mod tests {
    use super::*;
    use crate::domain::sampling::plan;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_pair_is_in_exactly_one_part(
            query: String,
            documents in 0usize..40,
            cycles in 1usize..6,
        ) {
            let planned = plan(1, &query, documents, cycles);
            let all: HashSet<Pair> = planned.iter().map(|battle| battle.pair).collect();
            let of_parts: Vec<Pair> = (0..parts(&planned))
                .flat_map(|part| pairs_of_part(&planned, part))
                .collect();
            prop_assert_eq!(of_parts.len(), all.len());
            prop_assert_eq!(of_parts.into_iter().collect::<HashSet<_>>(), all);
            prop_assert!(pairs_of_part(&planned, parts(&planned)).is_empty());
        }
    }
}
