//! The plain plan: random cycles through the documents, and the document shown first in each
//! battle.

use super::walecki::walecki;
use super::{MAX_GAMES, SeededRng};
use crate::domain::battle::Pair;
use foldhash::fast::RandomState;
use std::collections;

type HashMap<K, V> = collections::HashMap<K, V, RandomState>;

/// Pools up to this size get their cycles from one exact decomposition of the complete graph.
const EXACT_LIMIT: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlannedBattle {
    /// The two documents; the one earlier in the pool is A.
    pub pair: Pair,
    /// Number of earlier battles of the pair.
    pub game: u32,
    /// The cycle that contains it, from 0.
    pub cycle: usize,
}

/// A map with room for this many pairs.
fn with_room<T>(pairs: usize) -> HashMap<Pair, T> {
    HashMap::with_capacity_and_hasher(pairs, RandomState::default())
}

/// The battles of one query: `cycles` random cycles through its documents, ordered by cycle.
///
/// Every document has the same number of battles, and no pair battles again while a pair with fewer
/// battles could be used instead. Each pair battles at most [`MAX_GAMES`] times, so small pools
/// stop early: two documents have 2 battles, three have 6, and five with four cycles have 20. With
/// fewer than two documents there are none.
pub fn plan(seed: u64, query: &str, documents: usize, cycles: usize) -> Vec<PlannedBattle> {
    // More cycles than documents would need more games than a pair may have.
    let cycles = cycles.min(documents);
    let mut rng = SeededRng::new(seed, &["plan", query]);
    let rounds = if documents <= EXACT_LIMIT {
        exact_rounds(documents, cycles, &mut rng)
    } else {
        random_rounds(documents, cycles, &mut rng)
    };
    let mut games: HashMap<Pair, u32> = with_room(documents * cycles);
    let mut planned = Vec::with_capacity(documents * cycles);
    for (cycle, round) in rounds.into_iter().enumerate() {
        for pair in round {
            let game = games.entry(pair).or_default();
            if *game < MAX_GAMES {
                planned.push(PlannedBattle {
                    pair,
                    game: *game,
                    cycle,
                });
                *game += 1;
            }
        }
    }
    planned
}

/// Cycles for a small pool: Walecki's decomposition of the complete graph into Hamiltonian cycles
/// (and, for an even number of documents, one perfect matching), relabeled at random and taken in
/// random order, repeated as needed.
fn exact_rounds(documents: usize, cycles: usize, rng: &mut SeededRng) -> Vec<Vec<Pair>> {
    if documents < 2 {
        return Vec::new();
    }
    let degree = (2 * cycles).min((documents - 1) * MAX_GAMES as usize);
    let mut rounds = Vec::new();
    let mut reached = 0;
    while reached < degree {
        let mut label: Vec<usize> = (0..documents).collect();
        rng.shuffle(&mut label);
        let relabel = |edges: &[(usize, usize)]| -> Vec<Pair> {
            edges
                .iter()
                .filter_map(|&(x, y)| Pair::new(label[x], label[y]))
                .collect()
        };
        let (mut whole, matching) = walecki(documents);
        rng.shuffle(&mut whole);
        // The matching comes first: it adds one battle per document, so that an odd number of
        // battles is possible.
        if !matching.is_empty() && reached % 2 == 1 {
            rounds.push(relabel(&matching));
            reached += 1;
            for cycle in whole {
                if reached + 2 <= degree {
                    rounds.push(relabel(&cycle));
                    reached += 2;
                }
            }
            continue;
        }
        for cycle in whole {
            if reached + 2 <= degree {
                rounds.push(relabel(&cycle));
                reached += 2;
            }
        }
        if !matching.is_empty() && reached < degree {
            rounds.push(relabel(&matching));
            reached += 1;
        }
    }
    rounds
}

/// Cycles for a large pool: random permutations, repaired by reversing segments (2-opt) until no
/// pair repeats an earlier battle, or as few as possible.
fn random_rounds(documents: usize, cycles: usize, rng: &mut SeededRng) -> Vec<Vec<Pair>> {
    let mut fought: HashMap<Pair, u32> = with_room(documents * cycles);
    let mut rounds = Vec::with_capacity(cycles);
    for _ in 0..cycles.min((documents - 1) * MAX_GAMES as usize / 2) {
        let mut tour: Vec<usize> = (0..documents).collect();
        rng.shuffle(&mut tour);
        repair(&mut tour, &fought, rng);
        let round: Vec<Pair> = (0..documents)
            .filter_map(|at| Pair::new(tour[at], tour[(at + 1) % documents]))
            .collect();
        for pair in &round {
            *fought.entry(*pair).or_default() += 1;
        }
        rounds.push(round);
    }
    rounds
}

/// Reverses segments of the tour while that reduces the number of repeated battles.
fn repair(tour: &mut [usize], fought: &HashMap<Pair, u32>, rng: &mut SeededRng) {
    let n = tour.len();
    let cost = |x: usize, y: usize| {
        Pair::new(x, y)
            .and_then(|p| fought.get(&p))
            .copied()
            .unwrap_or(0)
    };
    let mut patience = 40 * n;
    loop {
        let bad: Vec<usize> = (0..n)
            .filter(|&at| cost(tour[at], tour[(at + 1) % n]) > 0)
            .collect();
        if bad.is_empty() || patience == 0 {
            return;
        }
        for at in bad {
            for _ in 0..n {
                patience = patience.saturating_sub(1);
                let to = rng.below(n);
                let (low, high) = (at.min(to), at.max(to));
                if high - low < 2 || (low == 0 && high == n - 1) {
                    continue;
                }
                let (a, b, c, d) = (tour[low], tour[low + 1], tour[high], tour[(high + 1) % n]);
                let before = cost(a, b) + cost(c, d);
                let after = cost(a, c) + cost(b, d);
                if after < before {
                    tour[low + 1..=high].reverse();
                    break;
                }
            }
        }
    }
}

/// Whether `judge` is shown document B first, for each battle of a plan.
///
/// Within each cycle, half of the battles (±½) are swapped, chosen at random for each judge; a
/// pair's second battle is shown in the opposite order of its first.
pub fn presentations(seed: u64, query: &str, judge: &str, planned: &[PlannedBattle]) -> Vec<bool> {
    let mut first_game: HashMap<Pair, bool> = with_room(planned.len());
    let mut swapped = vec![false; planned.len()];
    let mut start = 0;
    while start < planned.len() {
        let cycle = planned[start].cycle;
        let end = start
            + planned[start..]
                .iter()
                .take_while(|battle| battle.cycle == cycle)
                .count();
        let mut rng = SeededRng::new(seed, &["presentation", query, judge, &cycle.to_string()]);
        let fresh: Vec<usize> = (start..end).filter(|&at| planned[at].game == 0).collect();
        let mut sides: Vec<bool> = (0..fresh.len()).map(|at| at % 2 == 0).collect();
        if fresh.len() % 2 == 1 && rng.below(2) == 0 {
            for side in &mut sides {
                *side = !*side;
            }
        }
        rng.shuffle(&mut sides);
        for (at, side) in fresh.into_iter().zip(sides) {
            swapped[at] = side;
            first_game.insert(planned[at].pair, side);
        }
        for at in (start..end).filter(|&at| planned[at].game > 0) {
            swapped[at] = !first_game.get(&planned[at].pair).copied().unwrap_or(false);
        }
        start = end;
    }
    swapped
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{HashMap, HashSet};

    fn degrees(documents: usize, planned: &[PlannedBattle]) -> Vec<usize> {
        let mut degree = vec![0; documents];
        for battle in planned {
            degree[battle.pair.low()] += 1;
            degree[battle.pair.high()] += 1;
        }
        degree
    }

    #[test]
    fn small_pools_fight_what_there_is_to_fight() {
        for (documents, battles) in [
            (0, 0),
            (1, 0),
            (2, 2),
            (3, 6),
            (4, 12),
            (5, 20),
            (6, 24),
            (9, 36),
            (10, 40),
        ] {
            assert_eq!(
                plan(7, "q", documents, 4).len(),
                battles,
                "{documents} documents"
            );
        }
    }

    #[test]
    fn twenty_five_documents_fight_a_hundred_different_pairs() {
        for seed in 0..50 {
            let planned = plan(seed, "q", 25, 4);
            let pairs: HashSet<Pair> = planned.iter().map(|battle| battle.pair).collect();
            assert_eq!((planned.len(), pairs.len()), (100, 100));
        }
    }

    #[test]
    fn the_whole_graph_is_covered_before_anything_repeats() {
        for documents in 3..=EXACT_LIMIT {
            let cycles = (documents - 1) / 2;
            let pairs: HashSet<Pair> = plan(1, "q", documents, cycles)
                .iter()
                .map(|b| b.pair)
                .collect();
            assert_eq!(pairs.len(), documents * cycles, "{documents} documents");
        }
    }

    #[test]
    fn the_plan_is_the_same_on_every_machine() {
        let pairs: Vec<(usize, usize)> = plan(42, "q1", 7, 1)
            .iter()
            .map(|b| (b.pair.low(), b.pair.high()))
            .collect();
        assert_eq!(
            format!("{pairs:?}"),
            "[(4, 5), (1, 4), (1, 3), (2, 3), (0, 2), (0, 6), (5, 6)]"
        );
        let large: Vec<usize> = plan(42, "q1", 100, 4)
            .iter()
            .map(|b| b.pair.low() * 100 + b.pair.high())
            .collect();
        let sample: Vec<_> = large.iter().step_by(40).collect();
        assert_eq!(
            format!("{sample:?}"),
            "[5495, 350, 7996, 2665, 4398, 4562, 789, 2396, 9293, 7091]"
        );
    }

    #[test]
    fn ten_thousand_documents_are_planned() {
        let planned = plan(1, "q", 10_000, 4);
        assert_eq!(planned.len(), 40_000);
        assert_eq!(
            planned.iter().map(|b| b.pair).collect::<HashSet<_>>().len(),
            40_000
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn every_document_fights_equally_often(seed: u64, documents in 2usize..60, cycles in 0usize..8) {
            let planned = plan(seed, "q", documents, cycles);
            let degree = degrees(documents, &planned);
            let want = (2 * cycles).min(2 * (documents - 1));
            prop_assert!(degree.iter().all(|d| *d == want), "{:?}", degree);
        }

        #[test]
        fn games_of_pairs_differ_by_one_at_most(seed: u64, documents in 2usize..=EXACT_LIMIT, cycles in 1usize..8) {
            let mut games: HashMap<Pair, usize> = HashMap::new();
            for battle in plan(seed, "q", documents, cycles) {
                *games.entry(battle.pair).or_default() += 1;
            }
            let most = games.values().copied().max().unwrap_or(0);
            let least = if games.len() == documents * (documents - 1) / 2 {
                games.values().copied().min().unwrap_or(0)
            } else {
                0
            };
            prop_assert!(most - least <= 1, "{} to {}", least, most);
        }

        #[test]
        fn more_cycles_extend_the_plan(seed: u64, documents in 2usize..50, cycles in 0usize..5) {
            let (short, long) = (plan(seed, "q", documents, cycles), plan(seed, "q", documents, cycles + 1));
            let short: HashSet<_> = short.iter().map(|b| (b.pair, b.game)).collect();
            let long: HashSet<_> = long.iter().map(|b| (b.pair, b.game)).collect();
            prop_assert!(short.is_subset(&long));
        }

        #[test]
        fn presentations_are_balanced_and_second_games_mirrored(seed: u64, documents in 2usize..40) {
            let planned = plan(seed, "q", documents, 4);
            let swapped = presentations(seed, "q", "bm25", &planned);
            let first: Vec<bool> =
                planned.iter().zip(&swapped).filter(|(b, _)| b.game == 0).map(|(_, s)| *s).collect();
            let share = first.iter().filter(|s| **s).count() as f64;
            prop_assert!((share - first.len() as f64 / 2.0).abs() <= 2.0);
            let side: HashMap<_, _> = planned.iter().zip(&swapped).map(|(b, s)| ((b.pair, b.game), *s)).collect();
            for ((pair, game), shown) in &side {
                if *game == 1 {
                    prop_assert_ne!(side[&(*pair, 0)], *shown);
                }
            }
        }
    }
}
