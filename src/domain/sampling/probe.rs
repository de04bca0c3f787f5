//! The probe of a run: a few of its pairs that judges see in both orders, to measure early how the
//! order affects a judge.

use super::{PlannedBattle, SeededRng};
use crate::domain::battle::Pair;
use std::collections::HashSet;

/// Default number of pairs in the probe of a run; the standard error of a judge's position bias is
/// then .03 to .05.
pub const PROBED_PAIRS: usize = 60;

/// Judge calls per pair of the probe, so that it costs at most 2 %.
const CALLS_A_PAIR: usize = 50;

/// Runs with fewer calls have no probe, because a single pair would be useless.
const FEWEST_CALLS: usize = 100;

/// The number of pairs to probe in each query, given the queries' numbers of documents and the
/// number of cycles: at most `most` in total and one per fifty calls of a judge, spread over the
/// queries. Pairs that the plan itself shows in both orders are subtracted.
pub fn probe_shares(most: usize, documents: &[usize], cycles: usize) -> Vec<usize> {
    let planned: Vec<(usize, usize)> = documents
        .iter()
        .map(|documents| battles(*documents, cycles))
        .collect();
    let calls: usize = planned.iter().map(|(battles, _)| battles).sum();
    let twice: usize = planned.iter().map(|(_, twice)| twice).sum();
    let affordable = match calls {
        ..FEWEST_CALLS => 0,
        _ => calls / CALLS_A_PAIR,
    };
    let pairs = most.min(affordable).saturating_sub(twice);
    let mut before = 0;
    planned
        .iter()
        .map(|(battles, _)| {
            let share = |calls_so_far: usize| calls_so_far * pairs / calls.max(1);
            let own = share(before + battles) - share(before);
            before += battles;
            own
        })
        .collect()
}

/// The number of battles of a plan, and how many of them are a pair's second battle.
fn battles(documents: usize, cycles: usize) -> (usize, usize) {
    let pairs = documents * documents.saturating_sub(1) / 2;
    let planned = (documents * cycles.min(documents)).min(2 * pairs);
    (planned, planned.saturating_sub(pairs))
}

/// The pairs of a query's plan to probe, among those with a single battle; the same for every
/// judge.
pub fn probe_pairs(seed: u64, query: &str, planned: &[PlannedBattle], count: usize) -> Vec<Pair> {
    if count == 0 {
        return Vec::new();
    }
    let again: HashSet<Pair> = planned
        .iter()
        .filter(|battle| battle.game > 0)
        .map(|battle| battle.pair)
        .collect();
    let mut pairs: Vec<Pair> = planned
        .iter()
        .map(|battle| battle.pair)
        .filter(|pair| !again.contains(pair))
        .collect();
    SeededRng::new(seed, &["probe", query]).shuffle(&mut pairs);
    pairs.truncate(count);
    pairs
}

#[cfg(test)]
mod tests {
    use super::super::plan;
    use super::*;
    use rstest::rstest;

    #[rstest]
    // Too few calls for a pair.
    #[case(60, &[9, 6], 0)]
    #[case(60, &[9, 9], 0)]
    #[case(60, &[9, 9, 9], 2)]
    // 2 % of 400 calls.
    #[case(60, &[20, 20, 20, 20, 20], 8)]
    #[case(60, &[100; 100], 60)]
    #[case(5, &[100; 100], 5)]
    #[case(0, &[100; 100], 0)]
    // Pools of five are asked about half of their pairs in both orders anyway.
    #[case(60, &[5; 100], 0)]
    #[case(60, &[], 0)]
    fn a_probe_is_bounded_and_spread(
        #[case] most: usize,
        #[case] documents: &[usize],
        #[case] pairs: usize,
    ) {
        let shares = probe_shares(most, documents, 4);
        assert_eq!(shares.iter().sum::<usize>(), pairs);
        assert_eq!(shares.len(), documents.len());
        let (least, most) = (shares.iter().min(), shares.iter().max());
        assert!(
            most.zip(least)
                .is_none_or(|(most, least)| most - least <= 1)
        );
    }

    #[test]
    fn plans_are_as_long_as_expected() {
        for documents in [0, 1, 2, 3, 5, 9, 10, 30, 40] {
            let planned = plan(3, "q", documents, 4);
            let twice = planned.iter().filter(|battle| battle.game > 0).count();
            assert_eq!((planned.len(), twice), battles(documents, 4), "{documents}");
        }
    }

    #[test]
    fn probed_pairs_are_of_the_plan_and_fight_once() {
        let planned = plan(1, "q", 6, 4);
        let pairs = probe_pairs(1, "q", &planned, 4);
        assert_eq!(
            (pairs.len(), pairs.clone()),
            (4, probe_pairs(1, "q", &planned, 4))
        );
        for pair in &pairs {
            assert_eq!(
                planned.iter().filter(|battle| battle.pair == *pair).count(),
                1
            );
        }
        // A longer probe starts with the shorter one.
        assert_eq!(probe_pairs(1, "q", &planned, 2), pairs[..2]);
    }
}
