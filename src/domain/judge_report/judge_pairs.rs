//! Judge against judge.

use super::{Rating, score};
use crate::domain::agreement::{Alpha, Kappa, Share, alpha, kappa};
use crate::domain::vote::Outcome;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Excluded, Unbounded};

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct JudgePair {
    /// The judge of the smaller number.
    pub a: usize,
    pub b: usize,
    pub n: usize,
    /// The share of them with the same outcome A, tie or B.
    pub agree: Option<Share>,
    /// Cohen's κ of the three outcomes; `None` without battles, or where both gave one and the same outcome throughout.
    pub kappa: Option<Kappa>,
}

type OutcomesByBattle = BTreeMap<(usize, usize), BTreeMap<usize, Outcome>>;

/// What each judge said, by query and battle, in the orientation of the battle's first ballot. Of several ballots of a
/// judge in one battle the last counts.
fn outcomes(ratings: &[Rating]) -> OutcomesByBattle {
    let mut found = OutcomesByBattle::new();
    let mut first: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for rating in ratings.iter().filter(|rating| rating.a != rating.b) {
        let battle = (rating.query, rating.battle);
        let straight = *first.entry(battle).or_insert(rating.a) == rating.a;
        let margin = if straight {
            rating.margin
        } else {
            rating.margin.flipped()
        };
        let votes = found.entry(battle).or_default();
        votes.insert(rating.judge, margin.outcome());
    }
    found
}

/// Every pair of judges that occur in the ballots, in ascending order. The outcomes are A, tie and B as the battles are
/// stored; κ and α depend a little on which document of a battle is called A.
pub fn judge_pairs(ratings: &[Rating]) -> Vec<JudgePair> {
    let mut tables: BTreeMap<(usize, usize), [[usize; 3]; 3]> = BTreeMap::new();
    let judges: BTreeSet<usize> = ratings.iter().map(|rating| rating.judge).collect();
    for a in &judges {
        for b in judges.range((Excluded(a), Unbounded)) {
            tables.insert((*a, *b), [[0; 3]; 3]);
        }
    }
    let place = |outcome: Outcome| (2.0 * score(outcome)) as usize;
    for votes in outcomes(ratings).values() {
        for (a, first) in votes {
            for (b, second) in votes.range((Excluded(a), Unbounded)) {
                if let Some(table) = tables.get_mut(&(*a, *b)) {
                    table[place(*first)][place(*second)] += 1;
                }
            }
        }
    }
    tables
        .into_iter()
        .map(|((a, b), table)| {
            let n = table.iter().flatten().sum();
            JudgePair {
                a,
                b,
                n,
                agree: Share::of((0..3).map(|i| table[i][i]).sum(), n),
                kappa: kappa(&table.map(|row| row.to_vec())),
            }
        })
        .collect()
}

/// Krippendorff's α of the judges over the battles, nominal on the outcomes A, tie and B. See [`alpha`] for people.
pub fn judge_alpha(ratings: &[Rating], seed: Option<u64>) -> Option<Alpha> {
    let units: Vec<Vec<Option<f64>>> = outcomes(ratings)
        .values()
        .map(|votes| {
            votes
                .values()
                .map(|outcome| Some(score(*outcome)))
                .collect()
        })
        .collect();
    alpha(&units, seed)
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
        assert!((pairs[0].kappa.unwrap().value - 0.5).abs() < 1e-12);
        assert_eq!((pairs[1].kappa, pairs[1].agree), (None, None));
        // Coincidences: 2 · 2 of B B, 2 of A A, 1 each of A B: α = 1 − 7 · 2 / (64 − 9 − 25).
        let alpha = judge_alpha(&ratings, None).unwrap();
        assert!(
            (alpha.value - (1.0 - 14.0 / 30.0)).abs() < 1e-12,
            "{alpha:?}"
        );
        assert_eq!((alpha.units, alpha.values), (4, 8));
    }
}
