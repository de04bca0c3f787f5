//! Isotonic calibration of three outcomes: one increasing curve for both documents and one for the
//! tie, whose results are scaled to sum to 1.

use super::ScoredGroup;
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

#[derive(Clone, Copy)]
enum Outcome {
    A,
    B,
    Tie,
}

impl Outcome {
    fn of(self, probabilities: OutcomeProbabilities) -> f64 {
        match self {
            Self::A => probabilities.a(),
            Self::B => probabilities.b(),
            Self::Tie => probabilities.tie(),
        }
    }
}

/// The predicted probability of an outcome, and its row in a group.
#[derive(Clone, Copy)]
struct Placed {
    place: f64,
    row: u32,
    group: u16,
    outcome: Outcome,
}

/// A predicted probability with its target and weight.
#[derive(Clone, Copy)]
struct PlacedTarget {
    place: f64,
    target: f64,
    weight: f64,
}

/// The probabilities of some outcomes in ascending order: sorted once for all curves that leave out
/// a group.
struct SortedPlaces<'a> {
    groups: &'a [ScoredGroup<'a>],
    places: Vec<Placed>,
}

impl<'a> SortedPlaces<'a> {
    fn new(
        outcomes: &[Outcome],
        groups: &'a [ScoredGroup<'a>],
        predict: impl Fn((f64, f64)) -> OutcomeProbabilities,
    ) -> Self {
        let rows: usize = groups.iter().map(|group| group.logits.len()).sum();
        let mut places = Vec::with_capacity(outcomes.len() * rows);
        for (group, of) in (0..).zip(groups) {
            for (row, logits) in (0..).zip(&of.logits) {
                let found = predict(*logits);
                places.extend(outcomes.iter().map(|outcome| Placed {
                    place: outcome.of(found),
                    row,
                    group,
                    outcome: *outcome,
                }));
            }
        }
        // Sort by all three, so that sums do not depend on the order of the rows.
        places.sort_unstable_by(|x, y| {
            x.place.total_cmp(&y.place).then_with(|| {
                let (x, y) = (x.target(groups), y.target(groups));
                x.target
                    .total_cmp(&y.target)
                    .then(x.weight.total_cmp(&y.weight))
            })
        });
        Self { groups, places }
    }

    /// The curve of all groups except one.
    fn curve(&self, without: Option<usize>) -> RisingCurve {
        let is_in = |placed: &&Placed| Some(usize::from(placed.group)) != without;
        let places = self.places.iter().filter(is_in);
        RisingCurve::fit(places.map(|placed| placed.target(self.groups)))
    }
}

impl Placed {
    fn target(&self, groups: &[ScoredGroup<'_>]) -> PlacedTarget {
        let (score, weight) = groups[usize::from(self.group)].targets[self.row as usize];
        PlacedTarget {
            place: self.place,
            target: self.outcome.of(OutcomeProbabilities::soft_target(score)),
            weight,
        }
    }
}

/// The curves of all groups, then those without each group, for the probabilities that `predict`
/// gives for logits; `None` for fewer than 200 rows.
///
/// Swapping the documents of a prediction changes nothing: P(A) and P(B) share one curve.
pub(super) fn curves(
    groups: &[ScoredGroup<'_>],
    predict: impl Fn((f64, f64)) -> OutcomeProbabilities,
) -> Vec<Option<IsotonicCurves>> {
    let left_out = || std::iter::once(None).chain((0..groups.len()).map(Some));
    let fit = |outcomes: &[Outcome]| -> Vec<RisingCurve> {
        let sorted = SortedPlaces::new(outcomes, groups, &predict);
        left_out().map(|without| sorted.curve(without)).collect()
    };
    let better = fit(&[Outcome::A, Outcome::B]);
    let tie = fit(&[Outcome::Tie]);
    let rows = |without| -> usize {
        let groups = groups.iter().enumerate();
        let others = groups.filter(|(at, _)| Some(*at) != without);
        others.map(|(_, group)| group.logits.len()).sum()
    };
    let curves = left_out().zip(better).zip(tie);
    curves
        .map(|((without, better), tie)| {
            (rows(without) >= FEWEST * PER_POINT).then_some(IsotonicCurves { better, tie })
        })
        .collect()
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
    fn fit(rows: impl Iterator<Item = PlacedTarget> + Clone) -> Self {
        let (mut count, mut weight) = (0, 0.0);
        for row in rows.clone() {
            count += 1;
            weight += row.weight;
        }
        let margin = 1.0 / (weight + 2.0);
        let groups = (count / PER_POINT).clamp(1, POINTS);
        let mut pooled: Vec<Group> = Vec::new();
        let mut rest = rows.enumerate().peekable();
        for group in 1..=groups {
            let end = group * count / groups;
            let mut next: Option<(Group, f64)> = None;
            // Keep equal predictions in one group.
            while let Some((_, row)) = rest.next_if(|(at, row)| {
                *at < end || next.as_ref().is_some_and(|(_, last)| *last == row.place)
            }) {
                let sum = next.map_or(Group::default(), |(sum, _)| sum);
                next = Some((sum.with(Group::of(row)), row.place));
            }
            let Some((mut next, _)) = next else {
                continue;
            };
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
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    weight: f64,
    places: f64,
    targets: f64,
}

impl Group {
    fn of(row: PlacedTarget) -> Self {
        Self {
            weight: row.weight,
            places: row.weight * row.place,
            targets: row.weight * row.target,
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

    type Row = (OutcomeProbabilities, OutcomeProbabilities, f64);

    /// The curves of all rows, then without each group.
    fn of_groups(groups: &[Vec<Row>]) -> Vec<Option<IsotonicCurves>> {
        let targets = groups.iter().map(|rows| -> Vec<(f64, f64)> {
            rows.iter()
                .map(|(_, target, weight)| (target.score(), *weight))
                .collect()
        });
        let targets: Vec<Vec<(f64, f64)>> = targets.collect();
        let scored = groups
            .iter()
            .zip(&targets)
            .map(|(rows, targets)| ScoredGroup {
                logits: rows
                    .iter()
                    .map(|(found, ..)| (found.a(), found.b()))
                    .collect(),
                targets,
            });
        curves(&scored.collect::<Vec<_>>(), |(a, b)| p(a, b))
    }

    fn fit(rows: impl Iterator<Item = Row>) -> Option<IsotonicCurves> {
        of_groups(&[rows.collect()]).swap_remove(0)
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
        let third = |part: usize| rows.iter().copied().skip(part).step_by(3);
        let found = of_groups(&[0, 1, 2].map(|part| third(part).collect()));
        assert_eq!(found[2], fit(third(0).chain(third(2))));
        assert_ne!(found[2], found[0]);
        assert_eq!(found[0], fit(rows.iter().copied()));
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
