//! Agreement between pairs of judges.

use super::Rating;
use crate::domain::agreement::{
    Alpha, BattleLabels, Kappa, LabelShares, LabelTable, Share, battle_alpha, battle_kappa,
    label_shares,
};
use crate::domain::battle::Pair;
use crate::domain::vote::Outcome;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Excluded, Unbounded};

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct JudgePair {
    /// The judge with the smaller number.
    pub a: usize,
    pub b: usize,
    /// Pairs of documents that both judged. A pair judged in several battles counts once.
    pub n: usize,
    /// The share of them with the same outcome (A, tie or B). If a judge has several votes on a
    /// pair, the probability that a random vote of each judge agrees.
    pub agree: Option<Share>,
    /// Cohen's κ of the three outcomes; `None` without pairs, or if both called every pair a tie.
    pub kappa: Option<Kappa>,
}

/// The label shares of each judge on each pair of each query, oriented from the document earlier in
/// the pool.
pub(super) fn pair_labels(
    ratings: &[Rating],
) -> BTreeMap<(usize, Pair), Vec<(usize, LabelShares)>> {
    let mut votes: BTreeMap<(usize, Pair), BTreeMap<usize, Vec<Outcome>>> = BTreeMap::new();
    for rating in ratings {
        if let Some((pair, outcome)) = rating.on_pair() {
            let by_judge = votes.entry(pair).or_default();
            by_judge.entry(rating.judge).or_default().push(outcome);
        }
    }
    votes
        .into_iter()
        .map(|(pair, by_judge)| {
            let shares = by_judge
                .into_iter()
                .filter_map(|(judge, votes)| Some((judge, label_shares(votes)?)))
                .collect();
            (pair, shares)
        })
        .collect()
}

/// The label tables of every two judges, per query.
pub(super) type JudgeTables = BTreeMap<(usize, usize), Vec<LabelTable>>;

/// The agreement of every two judges that occur in the ratings, in ascending order.
pub fn judge_pairs(ratings: &[Rating]) -> Vec<JudgePair> {
    let mut tables = JudgeTables::new();
    let judges: BTreeSet<usize> = ratings.iter().map(|rating| rating.judge).collect();
    for a in &judges {
        for b in judges.range((Excluded(a), Unbounded)) {
            tables.insert((*a, *b), Vec::new());
        }
    }
    for ((query, _), labels) in pair_labels(ratings) {
        for (at, (a, first)) in labels.iter().enumerate() {
            for (b, second) in &labels[at + 1..] {
                let tables = tables.entry((*a, *b)).or_default();
                if tables.last().is_none_or(|table| table.query != query) {
                    tables.push(LabelTable {
                        query,
                        ..LabelTable::default()
                    });
                }
                if let Some(table) = tables.last_mut() {
                    table.add(first, second);
                }
            }
        }
    }
    pairs_of(&tables)
}

/// The agreement of every two judges, computed from the tables.
pub(super) fn pairs_of(tables: &JudgeTables) -> Vec<JudgePair> {
    let pair = |((a, b), tables): (&(usize, usize), &Vec<LabelTable>)| {
        let same = |table: &LabelTable| (table.same(), table.all());
        JudgePair {
            a: *a,
            b: *b,
            n: tables.iter().map(LabelTable::all).sum(),
            agree: Share::of_clusters(tables.iter().map(same)),
            kappa: battle_kappa(tables),
        }
    };
    tables.iter().map(pair).collect()
}

/// Krippendorff's α of the judges over the pairs, nominal on the outcomes A, tie and B. See
/// [`battle_alpha`].
pub fn judge_alpha(ratings: &[Rating]) -> Option<Alpha> {
    let units: Vec<BattleLabels> = pair_labels(ratings)
        .into_iter()
        .map(|((query, _), judges)| {
            let shares: Vec<LabelShares> = judges.into_iter().map(|(_, shares)| shares).collect();
            BattleLabels::of(query, &shares)
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
            // With the documents swapped.
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
        // Eight labels, four A and four B over both orientations, 1 each of A B and B A: α = 1 − 7
        // · 2 / (64 − 16 − 16).
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
                // Judge 1 names the other document in the second battle of pair 3: half of each
                // label.
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
        assert_eq!((pair.n, pair.agree.unwrap().part), (3, 2.5));
        let alpha = judge_alpha(&ratings).unwrap();
        assert_eq!((alpha.units, alpha.values), (3, 6));
    }
}
