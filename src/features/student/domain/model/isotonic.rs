//! Isotonic calibration of three outcomes: one increasing curve for both documents and one for the
//! tie, whose results are scaled to sum to 1.

use crate::domain::prediction::OutcomeProbabilities;
use serde::{Deserialize, Serialize};

/// Minimum number of probabilities per point of a curve, and maximum number of points.
const PER_POINT: usize = 40;
const POINTS: usize = 50;
/// Minimum number of points that a curve is fitted to.
const FEWEST: usize = 5;

/// Replacements for the probabilities: a shared curve for A and B, and one for a tie.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IsotonicCurves {
    pub better: RisingCurve,
    pub tie: RisingCurve,
}

/// Points with increasing positions and nondecreasing levels; linear between them, constant beyond
/// them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RisingCurve(Vec<(f64, f64)>);

/// Predictions with their targets, sorted by probability: sorted once for all curves that leave out
/// a part of them.
pub(super) struct SortedPredictions {
    better: Vec<Placed>,
    tie: Vec<Placed>,
}

#[derive(Clone, Copy)]
struct Placed {
    place: f64,
    target: f64,
    weight: f64,
    part: usize,
}

impl SortedPredictions {
    /// Sorts predictions with their targets, weights and parts.
    pub(super) fn new(
        rows: impl Iterator<Item = (OutcomeProbabilities, OutcomeProbabilities, f64, usize)>,
    ) -> Self {
        let (mut better, mut tie) = (Vec::new(), Vec::new());
        for (found, target, weight, part) in rows {
            let add = |to: &mut Vec<Placed>, place, target| {
                to.push(Placed {
                    place,
                    target,
                    weight,
                    part,
                });
            };
            add(&mut better, found.a(), target.a());
            add(&mut better, found.b(), target.b());
            add(&mut tie, found.tie(), target.tie());
        }
        // Sort by all three, so that sums do not depend on the order of the rows.
        let order = |x: &Placed, y: &Placed| {
            x.place
                .total_cmp(&y.place)
                .then(x.target.total_cmp(&y.target))
                .then(x.weight.total_cmp(&y.weight))
        };
        better.sort_unstable_by(order);
        tie.sort_unstable_by(order);
        Self { better, tie }
    }

    /// The curves of all predictions except those of one part; `None` for fewer than 200.
    ///
    /// Swapping the documents of a prediction changes nothing: P(A) and P(B) share one curve.
    pub(super) fn curves(&self, without: Option<usize>) -> Option<IsotonicCurves> {
        let of = |all: &[Placed]| -> Vec<Placed> {
            all.iter()
                .filter(|row| Some(row.part) != without)
                .copied()
                .collect()
        };
        let tie = of(&self.tie);
        let enough = tie.len() >= FEWEST * PER_POINT;
        enough.then(|| IsotonicCurves {
            better: RisingCurve::fit(&of(&self.better)),
            tie: RisingCurve::fit(&tie),
        })
    }
}

impl IsotonicCurves {
    pub(super) fn apply(&self, found: OutcomeProbabilities) -> OutcomeProbabilities {
        let (a, b) = (self.better.at(found.a()), self.better.at(found.b()));
        let tie = self.tie.at(found.tie());
        // Add in this order, so that swapping the documents does not change the last bit.
        let sum = (a + b) + tie;
        OutcomeProbabilities::new(a / sum, b / sum).unwrap_or(found)
    }
}

impl RisingCurve {
    /// Weighted isotonic regression (pool adjacent violators; Ayer et al. 1955) of sorted rows in
    /// groups of about equal size. Levels keep a distance from 0 and 1 that corresponds to one
    /// battle.
    fn fit(rows: &[Placed]) -> Self {
        let margin = 1.0 / (rows.iter().map(|row| row.weight).sum::<f64>() + 2.0);
        let groups = (rows.len() / PER_POINT).clamp(1, POINTS);
        let mut pooled: Vec<Group> = Vec::new();
        let mut begin = 0;
        for group in 1..=groups {
            let mut end = (group * rows.len() / groups).max(begin);
            // Keep equal predictions in one group.
            while end > begin && end < rows.len() && rows[end].place == rows[end - 1].place {
                end += 1;
            }
            if end == begin {
                continue;
            }
            let mut next = Group::of(&rows[begin..end]);
            begin = end;
            while let Some(last) = pooled.pop_if(|last| last.level() >= next.level()) {
                next = next.with(last);
            }
            pooled.push(next);
        }
        let point = |group: &Group| (group.place(), group.level().clamp(margin, 1.0 - margin));
        Self(pooled.iter().map(point).collect())
    }

    fn at(&self, place: f64) -> f64 {
        let after = self.0.partition_point(|(at, _)| *at <= place);
        let below = after.checked_sub(1).and_then(|at| self.0.get(at));
        match (below, self.0.get(after)) {
            (Some((x, low)), Some((y, high))) => low + (high - low) * (place - x) / (y - x),
            (Some((_, level)), None) | (None, Some((_, level))) => *level,
            (None, None) => place,
        }
    }
}

/// A group of similar predictions: weighted sums.
#[derive(Clone, Copy, Debug)]
struct Group {
    weight: f64,
    places: f64,
    targets: f64,
}

impl Group {
    fn of(rows: &[Placed]) -> Self {
        let sum = |of: fn(&Placed) -> f64| rows.iter().map(of).sum();
        Self {
            weight: sum(|row| row.weight),
            places: sum(|row| row.weight * row.place),
            targets: sum(|row| row.weight * row.target),
        }
    }

    fn with(self, other: Self) -> Self {
        Self {
            weight: self.weight + other.weight,
            places: self.places + other.places,
            targets: self.targets + other.targets,
        }
    }

    fn place(&self) -> f64 {
        self.places / self.weight
    }

    fn level(&self) -> f64 {
        self.targets / self.weight
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::sampling::SeededRng;
    use proptest::prelude::*;

    fn p(a: f64, b: f64) -> OutcomeProbabilities {
        OutcomeProbabilities::new(a, b).unwrap()
    }

    fn fit(
        rows: impl Iterator<Item = (OutcomeProbabilities, OutcomeProbabilities, f64)>,
    ) -> Option<IsotonicCurves> {
        let rows = rows.map(|(found, target, weight)| (found, target, weight, 0));
        SortedPredictions::new(rows).curves(None)
    }

    /// Overconfident predictions: the true probabilities are half as far from a third.
    fn rows(n: usize, seed: u64) -> Vec<(OutcomeProbabilities, OutcomeProbabilities, f64)> {
        let mut rng = SeededRng::new(seed, &["isotonic"]);
        let row = |_| {
            let (x, y, z) = (rng.unit(), rng.unit(), rng.unit());
            let found = p(x / (x + y + z), y / (x + y + z));
            let soft = |share: f64| 0.5 * (share + 1.0 / 3.0);
            let draw = rng.unit();
            let target = match draw {
                draw if draw < soft(found.a()) => p(1.0, 0.0),
                draw if draw < soft(found.a()) + soft(found.b()) => p(0.0, 1.0),
                _ => p(0.0, 0.0),
            };
            (found, target, 1.0)
        };
        (0..n).map(row).collect()
    }

    #[test]
    fn levels_rise_and_find_what_happens() {
        let curves = fit(rows(20_000, 3).into_iter()).unwrap();
        for curve in [&curves.better, &curves.tie] {
            assert!(
                curve.0.is_sorted_by(|x, y| x.0 < y.0 && x.1 <= y.1),
                "{curve:?}"
            );
            for at in [0.1, 0.3, 0.6] {
                let expected = 0.5 * (at + 1.0 / 3.0);
                assert!(
                    (curve.at(at) - expected).abs() < 0.03,
                    "{at}: {}",
                    curve.at(at)
                );
            }
        }
        let found = curves.apply(p(0.8, 0.1));
        assert!((found.a() - 0.567).abs() < 0.04, "{found:?}");
    }

    #[test]
    fn curves_without_a_part_are_those_of_the_others() {
        let rows = rows(900, 5);
        let parts = rows.iter().enumerate();
        let parts = parts.map(|(at, (found, target, weight))| (*found, *target, *weight, at % 3));
        let sorted = SortedPredictions::new(parts);
        let others = rows.iter().enumerate().filter(|(at, _)| at % 3 != 1);
        assert_eq!(sorted.curves(Some(1)), fit(others.map(|(_, row)| *row)));
        assert_ne!(sorted.curves(Some(1)), sorted.curves(None));
    }

    #[test]
    fn few_rows_have_no_curves_and_no_outcome_becomes_impossible() {
        assert_eq!(fit(rows(199, 1).into_iter()), None);
        let certain = (0..400).map(|at| {
            let a = f64::from(at) / 400.0;
            (p(a, 0.0), p(if at < 200 { 0.0 } else { 1.0 }, 0.0), 1.0)
        });
        let curves = fit(certain).unwrap();
        let found = curves.apply(p(0.99, 0.0));
        assert!(
            found.a() > 0.98 && found.b() > 0.0 && found.tie() > 0.0,
            "{found:?}"
        );
    }

    proptest! {
        #[test]
        fn exchanging_the_documents_exchanges_the_probabilities_exactly(
            seed in 0u64..20, a in 0.0..=1.0f64, share in 0.0..=1.0f64,
        ) {
            let rows = rows(300, seed);
            let turned = rows.iter().map(|(x, y, weight)| (x.swapped(), y.swapped(), *weight));
            let curves = fit(rows.iter().copied()).unwrap();
            prop_assert_eq!(fit(turned), Some(curves.clone()));
            let one = p(a, (1.0 - a) * share);
            prop_assert_eq!(curves.apply(one).swapped(), curves.apply(one.swapped()));
        }
    }
}
