//! Judge against judge.

use super::Rating;
use crate::domain::agreement::{
    Alpha, BattleLabels, Kappa, LabelledPair, Share, battle_alpha, battle_kappa,
};
use crate::domain::battle::Pair;
use crate::domain::vote::Outcome;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Excluded, Unbounded};

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct JudgePair {
    /// The judge of the smaller number.
    pub a: usize,
    pub b: usize,
    /// Pairs of documents that both judged. A pair judged in several battles is one.
    pub n: usize,
    /// The share of them with the same outcome A, tie or B.
    pub agree: Option<Share>,
    /// Cohen's κ of the three outcomes; `None` without pairs, or where both called every pair a tie.
    pub kappa: Option<Kappa>,
}

/// What each judge says of each pair of each query, seen from the document earlier in the pool. Of a judge with several
/// votes on a pair it is what most of them say: a tie where as many name the one document as the other.
fn outcomes(ratings: &[Rating]) -> BTreeMap<(usize, Pair), BTreeMap<usize, Outcome>> {
    let mut leads: BTreeMap<(usize, Pair), BTreeMap<usize, i64>> = BTreeMap::new();
    for rating in ratings {
        if let Some((pair, outcome)) = rating.on_pair() {
            let lead = leads.entry(pair).or_default();
            *lead.entry(rating.judge).or_default() += match outcome {
                Outcome::A => -1,
                Outcome::Tie => 0,
                Outcome::B => 1,
            };
        }
    }
    let outcome = |lead: i64| match lead {
        ..0 => Outcome::A,
        0 => Outcome::Tie,
        1.. => Outcome::B,
    };
    let of_pair = |leads: BTreeMap<usize, i64>| {
        let judges = leads.into_iter();
        judges.map(|(judge, lead)| (judge, outcome(lead))).collect()
    };
    leads
        .into_iter()
        .map(|(pair, leads)| (pair, of_pair(leads)))
        .collect()
}

/// Every two judges that occur in the ratings, in ascending order.
pub fn judge_pairs(ratings: &[Rating]) -> Vec<JudgePair> {
    let mut shared: BTreeMap<(usize, usize), Vec<LabelledPair>> = BTreeMap::new();
    let judges: BTreeSet<usize> = ratings.iter().map(|rating| rating.judge).collect();
    for a in &judges {
        for b in judges.range((Excluded(a), Unbounded)) {
            shared.insert((*a, *b), Vec::new());
        }
    }
    for ((query, _), votes) in outcomes(ratings) {
        for (a, first) in &votes {
            for (b, second) in votes.range((Excluded(a), Unbounded)) {
                if let Some(pairs) = shared.get_mut(&(*a, *b)) {
                    pairs.push((query, *first, *second));
                }
            }
        }
    }
    let same =
        |(query, first, second): &LabelledPair| (*query, f64::from(u8::from(first == second)));
    shared
        .into_iter()
        .map(|((a, b), pairs)| JudgePair {
            a,
            b,
            n: pairs.len(),
            agree: Share::clustered(pairs.iter().map(same)),
            kappa: battle_kappa(&pairs),
        })
        .collect()
}

/// Krippendorff's α of the judges over the pairs, nominal on the outcomes A, tie and B. See [`battle_alpha`].
pub fn judge_alpha(ratings: &[Rating]) -> Option<Alpha> {
    let units: Vec<BattleLabels> = outcomes(ratings)
        .into_iter()
        .map(|((query, _), votes)| BattleLabels {
            query,
            labels: votes.into_values().collect(),
        })
        .collect();
    battle_alpha(&units)
}

#[cfg(test)]
mod tests {
    use super::super::tests::rating;
    use super::*;

    #[test]
    fn judges_are_compared_over_the_battles_they_share() {
        let mut ratings = Vec::new();
        for (at, (first, second)) in [(1.0, 1.0), (1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0)]
            .into_iter()
            .enumerate()
        {
            ratings.push(rating(4, at, 9, first));
            // Told the other way round.
            let battle = ratings.last().map_or(0, |first: &Rating| first.battle);
            let turned = Rating {
                battle,
                ..rating(7, 9, at, -second)
            };
            ratings.push(turned);
        }
        ratings.extend([rating(4, 5, 9, 0.0), rating(usize::MAX, 6, 9, 0.0)]);
        let pairs = judge_pairs(&ratings);
        let ends: Vec<(usize, usize, usize)> = pairs.iter().map(|p| (p.a, p.b, p.n)).collect();
        assert_eq!(ends, [(4, 7, 4), (4, usize::MAX, 0), (7, usize::MAX, 0)]);
        assert_eq!(pairs[0].agree.unwrap().value, 0.75);
        // Chance is ½ for both, whichever document is called A: (.75 − .5) / .5.
        assert!((pairs[0].kappa.unwrap().value - 0.5).abs() < 1e-12);
        assert_eq!((pairs[1].kappa, pairs[1].agree), (None, None));
        // Eight labels, four A and four B over both orientations, 1 each of A B and B A: α = 1 − 7 · 2 / (64 − 16 − 16).
        let alpha = judge_alpha(&ratings).unwrap();
        assert!(
            (alpha.value - (1.0 - 14.0 / 32.0)).abs() < 1e-12,
            "{alpha:?}"
        );
        assert_eq!((alpha.units, alpha.values), (4, 8));
    }

    #[test]
    fn a_pair_of_two_battles_counts_once() {
        let mut ratings = Vec::new();
        for judge in [0, 1] {
            for (pair, margin) in [(1, 1.0), (2, -1.0), (3, 1.0)] {
                // Judge 1 names the other document in the second battle of pair 3: a tie of the two votes.
                let second = if (judge, pair) == (1, 3) {
                    -margin
                } else {
                    margin
                };
                ratings.push(rating(judge, 0, pair, margin));
                ratings.push(Rating {
                    battle: 900 + pair,
                    swapped: true,
                    ..rating(judge, pair, 0, -second)
                });
            }
        }
        let pair = judge_pairs(&ratings)[0];
        assert_eq!((pair.n, pair.agree.unwrap().part), (3, 2.0));
        let alpha = judge_alpha(&ratings).unwrap();
        assert_eq!((alpha.units, alpha.values), (3, 6));
    }
}
