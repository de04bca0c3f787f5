//! Computes κ and α of raters who judged pairs of documents.
//!
//! Which document of a pair is called A is arbitrary, so every pair is counted in both
//! orientations, each with half the weight. Pairs of one query are similar, so errors are clustered
//! by query.

use super::alpha::{AlphaUnit, CodedUnits};
use super::{Alpha, ClusteredError, Kappa, kappa};
use crate::domain::vote::Outcome;

/// A rater's label of a pair: the shares of its votes for A, tie and B. A rater who contradicts
/// itself on a pair has parts of both labels, which is different from a tie.
pub type LabelShares = [f64; 3];

/// The label shares of a rater's votes on one pair; `None` without a vote.
pub fn label_shares(votes: impl IntoIterator<Item = Outcome>) -> Option<LabelShares> {
    let mut counts = [0.0; 3];
    for vote in votes {
        counts[place(vote)] += 1.0;
    }
    let all: f64 = counts.iter().sum();
    (all > 0.0).then(|| counts.map(|count| count / all))
}

/// Pairs of one query with the same labels, all with the same orientation.
#[derive(Clone, Debug, PartialEq)]
pub struct BattleLabels {
    pub query: usize,
    /// Number of raters who said A, tie and B: the sum of their label shares.
    pub labels: [f64; 3],
    /// Σ over the raters of the squares of their label shares; equal to the number of raters if
    /// none contradicts itself.
    pub squares: f64,
    pub raters: usize,
    /// Number of such pairs.
    pub times: usize,
}

impl BattleLabels {
    /// One pair, from the label shares of each of its raters.
    pub fn of(query: usize, raters: &[LabelShares]) -> Self {
        let sum = |label: usize| raters.iter().map(|shares| shares[label]).sum();
        Self {
            query,
            labels: [sum(0), sum(1), sum(2)],
            squares: raters.iter().flatten().map(|share| share * share).sum(),
            raters: raters.len(),
            times: 1,
        }
    }

    /// The pair as a unit of α, both orientations at half weight; `None` for fewer than two raters.
    ///
    /// Coincidences are counted between different raters only: o_ck = Σ_{i≠j} f_i(c) f_j(k) /
    /// (m − 1) for m raters with the label shares f_i.
    fn unit(&self) -> Option<AlphaUnit> {
        if self.raters < 2 || self.times == 0 {
            return None;
        }
        let [a, tie, b] = self.labels;
        let size = self.raters as f64;
        let same: f64 = self.labels.iter().map(|count| count * count).sum();
        let side = 0.5 * (a + b);
        Some(AlphaUnit {
            cluster: self.query,
            times: self.times,
            size: self.raters,
            counts: vec![(0, side), (1, tie), (2, side)],
            disagreement: (size * (size - 1.0) - same + self.squares) / (size - 1.0),
        })
    }
}

/// The labels of two raters on the pairs of one query: the number of pairs with each label of the
/// first (row) and the second (column), in the order A, tie, B. A pair to which a rater gave two
/// labels is split over several cells.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LabelTable {
    pub query: usize,
    pub counts: [[f64; 3]; 3],
}

impl LabelTable {
    /// Adds a pair.
    pub fn add(&mut self, first: &LabelShares, second: &LabelShares) {
        for (row, x) in self.counts.iter_mut().zip(first) {
            for (cell, y) in row.iter_mut().zip(second) {
                *cell += x * y;
            }
        }
    }

    /// Each cell: row, column and number of pairs.
    fn cells(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        let cell = |x: usize, y: usize| (x, y, self.counts[x][y]);
        (0..3).flat_map(move |x| (0..3).map(move |y| cell(x, y)))
    }

    /// Number of pairs.
    pub fn all(&self) -> usize {
        self.counts.iter().flatten().sum::<f64>().round() as usize
    }

    /// Number of pairs on which both labels agree: Σ of the products of the two raters' shares of
    /// each label.
    pub fn same(&self) -> f64 {
        (0..3).map(|at| self.counts[at][at]).sum()
    }
}

/// The index of an outcome in tables: A, tie, B.
pub fn place(outcome: Outcome) -> usize {
    match outcome {
        Outcome::A => 0,
        Outcome::Tie => 1,
        Outcome::B => 2,
    }
}

/// Cohen's κ of two raters over pairs.
///
/// p_e is computed from the margins of both orientations together: with r and c the raters'
/// margins, r(A) = r(B). The error is linearized and summed by query; the influence of a pair with
/// labels x and y is [(o − p_o)(1 − p_e) − (1 − p_o)(c(x) + r(y) − 2 p_e)] / (1 − p_e)², with o = 1
/// if the labels agree and 0 otherwise. `None` in the same cases as [`kappa`].
pub fn battle_kappa(tables: &[LabelTable]) -> Option<Kappa> {
    let mut both = vec![vec![0.0; 3]; 3];
    for (x, y, count) in tables.iter().flat_map(LabelTable::cells) {
        both[x][y] += count;
        both[2 - x][2 - y] += count;
    }
    let table = kappa(&both)?;
    let pairs: usize = tables.iter().map(LabelTable::all).sum();
    let n = pairs as f64;
    let row = |at: usize| both[at].iter().sum::<f64>() / (2.0 * n);
    let column = |at: usize| both.iter().map(|row| row[at]).sum::<f64>() / (2.0 * n);
    let (observed, expected) = (table.observed, table.expected);
    let pull = |x: usize, y: usize| {
        let agree = f64::from(u8::from(x == y));
        let chance = column(x) + row(y) - 2.0 * expected;
        let influence = (agree - observed) * (1.0 - expected) - (1.0 - observed) * chance;
        influence / (1.0 - expected).powi(2) / n
    };
    let pulls = tables.iter().flat_map(|table| {
        table
            .cells()
            .map(|(x, y, count)| (table.query, pull(x, y), count))
    });
    let error = ClusteredError::weighted(pulls);
    // If the raters never differ, the error is only rounding noise.
    let differ = |table: &LabelTable| table.same() < table.all() as f64 - 1e-9;
    let error = error.filter(|_| tables.iter().any(differ));
    Some(Kappa {
        se: error.map_or(0.0, |error| error.se),
        interval: error.and_then(|error| error.interval(table.value, -1.0, 1.0)),
        n: pairs,
        ..table
    })
}

/// Krippendorff's nominal α of any number of raters over pairs.
pub fn battle_alpha(pairs: &[BattleLabels]) -> Option<Alpha> {
    CodedUnits {
        labels: 3,
        units: pairs.iter().filter_map(BattleLabels::unit).collect(),
    }
    .alpha()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::sampling::SeededRng;
    use Outcome::{A, B, Tie};
    use proptest::prelude::*;

    fn turned(outcome: Outcome) -> Outcome {
        match outcome {
            A => B,
            Tie => Tie,
            B => A,
        }
    }

    /// The query of a pair and the labels of the two raters.
    type LabelledPair = (usize, Outcome, Outcome);

    fn labels(pairs: &[LabelledPair]) -> Vec<BattleLabels> {
        pairs
            .iter()
            .map(|(query, first, second)| {
                let shares = [*first, *second].map(|label| label_shares([label]).unwrap());
                BattleLabels::of(*query, &shares)
            })
            .collect()
    }

    fn kappa_of(pairs: &[LabelledPair]) -> Option<Kappa> {
        let of = |(query, first, second): &LabelledPair| {
            let mut table = LabelTable {
                query: *query,
                ..LabelTable::default()
            };
            table.counts[place(*first)][place(*second)] += 1.0;
            table
        };
        battle_kappa(&pairs.iter().map(of).collect::<Vec<_>>())
    }

    #[test]
    fn pairs_that_are_alike_may_be_counted_together() {
        let pairs = [
            (0, A, A),
            (0, A, A),
            (0, A, B),
            (0, Tie, B),
            (1, B, B),
            (1, A, Tie),
        ];
        for pairs in [&pairs[..], &pairs[..4]] {
            let mut tables: Vec<LabelTable> = Vec::new();
            let mut units: Vec<BattleLabels> = Vec::new();
            for ((query, first, second), unit) in pairs.iter().zip(labels(pairs)) {
                if tables.last().is_none_or(|table| table.query != *query) {
                    tables.push(LabelTable {
                        query: *query,
                        ..LabelTable::default()
                    });
                }
                tables.last_mut().unwrap().counts[place(*first)][place(*second)] += 1.0;
                let like = |known: &&mut BattleLabels| {
                    (known.query, known.labels) == (unit.query, unit.labels)
                };
                match units.iter_mut().find(like) {
                    Some(known) => known.times += 1,
                    None => units.push(unit),
                }
            }
            let (one, other) = (kappa_of(pairs).unwrap(), battle_kappa(&tables).unwrap());
            assert_eq!((one.value, one.n), (other.value, other.n));
            assert!((one.se - other.se).abs() < 1e-12 && one.se > 0.0);
            let (one, other) = (battle_alpha(&labels(pairs)), battle_alpha(&units));
            let (one, other) = (one.unwrap(), other.unwrap());
            assert_eq!((one.units, one.values), (other.units, other.values));
            assert!((one.value - other.value).abs() < 1e-12);
            let low = |alpha: Alpha| alpha.interval.unwrap().low;
            assert!((low(one) - low(other)).abs() < 1e-12);
        }
    }

    #[test]
    fn chance_is_that_of_both_orientations() {
        // Two judges always name the better document, which is always called A: chance is ½, not 1.
        let mut pairs = vec![(0, A, A); 9];
        pairs.push((0, A, B));
        let kappa = kappa_of(&pairs).unwrap();
        assert!((kappa.expected - 0.5).abs() < 1e-12 && (kappa.value - 0.8).abs() < 1e-12);
        // Σ (o − .9)² / n² · n / (n − 1) over (1 − p_e)²: .9 · .1 / 9 · 4.
        assert!((kappa.se - 0.2).abs() < 1e-12, "{kappa:?}");
        assert_eq!(kappa.n, 10);
        // n = 20 labels, n_A = n_B = 10, one pair of ten differs: α = 1 − 19 · 2 / 200.
        let alpha = battle_alpha(&labels(&pairs)).unwrap();
        assert!((alpha.value - 0.81).abs() < 1e-12, "{alpha:?}");
        assert_eq!((alpha.units, alpha.values), (10, 20));
        assert_eq!(kappa_of(&[(0, Tie, Tie)]), None);
        assert_eq!(kappa_of(&[(0, A, A)]).unwrap().interval, None);
        assert_eq!(kappa_of(&[]), None);
    }

    #[test]
    fn errors_are_those_of_leaving_queries_out() {
        let mut rng = SeededRng::new(3, &["battles"]);
        let mut pairs = Vec::new();
        for query in 0..60 {
            let good = 0.5 + 0.5 * rng.unit();
            for _ in 0..8 {
                let mut said = || match (rng.unit() < 0.15, rng.unit() < good) {
                    (true, _) => Tie,
                    (_, true) => A,
                    (_, false) => B,
                };
                pairs.push((query, said(), said()));
            }
        }
        let jackknife = |statistic: &dyn Fn(&[LabelledPair]) -> f64| {
            let without = |query: usize| {
                let rest = pairs.iter().filter(|(of, ..)| *of != query);
                statistic(&rest.copied().collect::<Vec<_>>())
            };
            let left: Vec<f64> = (0..60).map(without).collect();
            let mean = left.iter().sum::<f64>() / 60.0;
            let squares: f64 = left.iter().map(|value| (value - mean).powi(2)).sum();
            (59.0 / 60.0 * squares).sqrt()
        };
        let kappa = kappa_of(&pairs).unwrap();
        let se = jackknife(&|rest| kappa_of(rest).unwrap().value);
        assert!((kappa.se / se - 1.0).abs() < 0.03, "{} {se}", kappa.se);
        let interval = battle_alpha(&labels(&pairs)).unwrap().interval.unwrap();
        let half = 2.000_995 * jackknife(&|rest| battle_alpha(&labels(rest)).unwrap().value);
        let width = interval.high - interval.low;
        assert!((width / (2.0 * half) - 1.0).abs() < 0.03, "{width} {half}");
    }

    proptest! {
            #[test]
            fn calling_the_documents_the_other_way_round_changes_nothing(
                rows in prop::collection::vec((0usize..4, 0usize..3, 0usize..3, any::<bool>()), 1..40),
            ) {
                let all = [A, Tie, B];
                let pairs = |turn: bool| -> Vec<LabelledPair> {
                    let pair = |(query, x, y, swap): &(usize, usize, usize, bool)| if turn && *swap {
    (*query, turned(all[*x]), turned(all[*y]))
    } else {
    (*query, all[*x], all[*y])
    };
                    rows.iter().map(pair).collect()
                };
                let near = |x: f64, y: f64| (x - y).abs() < 1e-9;
                let (there, back) = (kappa_of(&pairs(false)), kappa_of(&pairs(true)));
                prop_assert_eq!(there.is_some(), back.is_some());
                if let (Some(there), Some(back)) = (there, back) {
                    prop_assert!(near(there.value, back.value) && near(there.se, back.se));
                }
                let alpha = |turn: bool| battle_alpha(&labels(&pairs(turn)));
                let (there, back) = (alpha(false), alpha(true));
                prop_assert_eq!(there.is_some(), back.is_some());
                if let (Some(there), Some(back)) = (there, back) {
                    prop_assert!(near(there.value, back.value));
                    let low = |alpha: &Alpha| alpha.interval.map(|interval| interval.low);
                    match (low(&there), low(&back)) {
                        (Some(x), Some(y)) => prop_assert!(near(x, y)),
                        (x, y) => prop_assert_eq!(x.is_some(), y.is_some()),
                    }
                }
            }
        }
}
