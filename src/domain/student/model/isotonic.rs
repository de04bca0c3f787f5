//! Isotonic calibration of three outcomes: a rising curve for the two that name a document, which is the same for both, and one
//! for the tie; what they give is scaled to a sum of 1.

use crate::domain::student::OutcomeProbabilities;
use serde::{Deserialize, Serialize};

/// The fewest probabilities at a point of a curve, and the most points.
const PER_POINT: usize = 40;
const POINTS: usize = 50;
/// The fewest points of probabilities that curves are drawn from.
const FEWEST: usize = 5;

/// What stands in place of a probability: for A and for B alike, and for a tie.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IsotonicCurves {
    pub better: RisingCurve,
    pub tie: RisingCurve,
}

/// Points with rising places and levels that do not fall; linear between them, level beyond them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RisingCurve(Vec<(f64, f64)>);

impl IsotonicCurves {
    /// The curves of predictions with what was to be predicted and a weight each; `None` for fewer than 200.
    ///
    /// Exchanging the documents of a prediction changes nothing: P(A) and P(B) are on one curve.
    pub(super) fn fit(
        rows: impl Iterator<Item = (OutcomeProbabilities, OutcomeProbabilities, f64)>,
    ) -> Option<Self> {
        let (mut better, mut tie) = (Vec::new(), Vec::new());
        for (found, target, weight) in rows {
            better.push((found.a(), target.a(), weight));
            better.push((found.b(), target.b(), weight));
            tie.push((found.tie(), target.tie(), weight));
        }
        let enough = tie.len() >= FEWEST * PER_POINT;
        enough.then(|| Self {
            better: RisingCurve::fit(better),
            tie: RisingCurve::fit(tie),
        })
    }

    pub(super) fn apply(&self, found: OutcomeProbabilities) -> OutcomeProbabilities {
        let (a, b) = (self.better.at(found.a()), self.better.at(found.b()));
        let tie = self.tie.at(found.tie());
        // In this order the documents can be exchanged without a change of the last bit.
        let sum = (a + b) + tie;
        OutcomeProbabilities::new(a / sum, b / sum).unwrap_or(found)
    }
}

impl RisingCurve {
    /// Weighted isotonic regression (pool adjacent violators; Ayer et al. 1955) of groups of about equal size, by place. Levels
    /// are kept as far from 0 and 1 as one battle more or less is worth.
    fn fit(mut rows: Vec<(f64, f64, f64)>) -> Self {
        // Sorting by all three keeps every sum the same whatever the order of the rows.
        rows.sort_by(|x, y| {
            let first = x.0.total_cmp(&y.0);
            first.then(x.1.total_cmp(&y.1)).then(x.2.total_cmp(&y.2))
        });
        let margin = 1.0 / (rows.iter().map(|row| row.2).sum::<f64>() + 2.0);
        let groups = (rows.len() / PER_POINT).clamp(1, POINTS);
        let mut pooled: Vec<Group> = Vec::new();
        let mut begin = 0;
        for group in 1..=groups {
            let mut end = (group * rows.len() / groups).max(begin);
            // What is predicted alike is of one group.
            while end > begin && end < rows.len() && rows[end].0 == rows[end - 1].0 {
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

/// Neighbouring predictions: sums over them, by weight.
#[derive(Clone, Copy, Debug)]
struct Group {
    weight: f64,
    places: f64,
    targets: f64,
}

impl Group {
    fn of(rows: &[(f64, f64, f64)]) -> Self {
        let sum = |of: fn(&(f64, f64, f64)) -> f64| rows.iter().map(of).sum();
        Self {
            weight: sum(|row| row.2),
            places: sum(|row| row.2 * row.0),
            targets: sum(|row| row.2 * row.1),
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

    /// Predictions that are too sure: what happens is half as far from a third.
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
        let curves = IsotonicCurves::fit(rows(20_000, 3).into_iter()).unwrap();
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
    fn few_rows_have_no_curves_and_no_outcome_becomes_impossible() {
        assert_eq!(IsotonicCurves::fit(rows(199, 1).into_iter()), None);
        let certain = (0..400).map(|at| {
            let a = f64::from(at) / 400.0;
            (p(a, 0.0), p(if at < 200 { 0.0 } else { 1.0 }, 0.0), 1.0)
        });
        let curves = IsotonicCurves::fit(certain).unwrap();
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
            let curves = IsotonicCurves::fit(rows.iter().copied()).unwrap();
            prop_assert_eq!(IsotonicCurves::fit(turned), Some(curves.clone()));
            let one = p(a, (1.0 - a) * share);
            prop_assert_eq!(curves.apply(one).swapped(), curves.apply(one.swapped()));
        }
    }
}
