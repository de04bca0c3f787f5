//! Isotonic calibration of three outcomes: one increasing curve for both documents and one for the
//! tie, whose results are scaled to sum to 1.

use super::ScoredGroup;
use crate::domain::parallel::both;
use crate::domain::prediction::OutcomeProbabilities;
use crate::features::student::domain::spool::{Scratch, Sorted, Sorter, SpoolError};
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

/// A predicted probability with its target and weight.
#[derive(Clone, Copy)]
struct PlacedTarget {
    place: f64,
    target: f64,
    weight: f64,
}

/// The probabilities of some outcomes in ascending order, each with the index of its group: sorted
/// once for all curves that leave out a group.
struct SortedPlaces {
    places: Sorted<4>,
    groups: usize,
}

impl SortedPlaces {
    fn new(
        outcomes: &[Outcome],
        groups: &[ScoredGroup],
        predict: impl Fn((f64, f64)) -> OutcomeProbabilities,
        scratch: &dyn Scratch,
    ) -> Result<Self, SpoolError> {
        // Sort by place, target and weight, so that sums do not depend on the order of the rows.
        let mut places = Sorter::new(scratch, 3)?;
        for (group, of) in groups.iter().enumerate() {
            let mut result = Ok(());
            of.each(|(logits, score, weight)| {
                let found = predict(logits);
                let target = OutcomeProbabilities::soft_target(score);
                for outcome in outcomes {
                    let place = [outcome.of(found), outcome.of(target), weight, group as f64];
                    if result.is_ok() {
                        result = places.push(place);
                    }
                }
            })?;
            result?;
        }
        Ok(Self {
            places: places.sorted(),
            groups: groups.len(),
        })
    }

    /// The curve of all groups, then those without each group.
    fn curves(&self) -> Result<Vec<RisingCurve>, SpoolError> {
        let mut sizes = vec![CurveSize::default(); 1 + self.groups];
        self.each(&mut sizes, CurveSize::add)?;
        let mut fits: Vec<CurveFit> = sizes.into_iter().map(CurveFit::new).collect();
        self.each(&mut fits, CurveFit::add)?;
        Ok(fits.into_iter().map(CurveFit::curve).collect())
    }

    /// Passes each probability to the first of `curves`, and to those that do not leave out its
    /// group.
    fn each<T>(
        &self,
        curves: &mut [T],
        add: impl Fn(&mut T, PlacedTarget),
    ) -> Result<(), SpoolError> {
        self.places.each(|[place, target, weight, group]| {
            let placed = PlacedTarget {
                place,
                target,
                weight,
            };
            let left_out = 1 + group as usize;
            for (at, curve) in curves.iter_mut().enumerate() {
                if at != left_out {
                    add(curve, placed);
                }
            }
        })
    }
}

/// The curves of all groups, then those without each group, for the probabilities that `predict`
/// gives for logits; `None` for fewer than 200 rows.
///
/// Swapping the documents of a prediction changes nothing: P(A) and P(B) share one curve.
pub(super) fn curves(
    groups: &[ScoredGroup],
    predict: impl Fn((f64, f64)) -> OutcomeProbabilities + Sync,
    scratch: &dyn Scratch,
) -> Result<Vec<Option<IsotonicCurves>>, SpoolError> {
    let fit =
        |outcomes: &[Outcome]| SortedPlaces::new(outcomes, groups, &predict, scratch)?.curves();
    let (better, tie) = both(|| fit(&[Outcome::A, Outcome::B]), || fit(&[Outcome::Tie]));
    let rows = |without| -> usize {
        let groups = groups.iter().enumerate();
        let others = groups.filter(|(at, _)| Some(*at) != without);
        others.map(|(_, group)| group.rows.len()).sum()
    };
    let left_out = std::iter::once(None).chain((0..groups.len()).map(Some));
    let curves = left_out.zip(better?).zip(tie?);
    Ok(curves
        .map(|((without, better), tie)| {
            (rows(without) >= FEWEST * PER_POINT).then_some(IsotonicCurves { better, tie })
        })
        .collect())
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

/// Number and weight of the rows of a curve.
#[derive(Clone, Copy, Debug, Default)]
struct CurveSize {
    count: usize,
    weight: f64,
}

impl CurveSize {
    fn add(&mut self, row: PlacedTarget) {
        self.count += 1;
        self.weight += row.weight;
    }
}

/// Weighted isotonic regression (pool adjacent violators; Ayer et al. 1955) of sorted rows in
/// groups of about equal size. Levels keep a distance from 0 and 1 that corresponds to one battle.
struct CurveFit {
    size: CurveSize,
    /// Number of rows that were added, and of groups that are complete.
    added: usize,
    complete: usize,
    /// The next group, with the place of its last row.
    next: Option<(Group, f64)>,
    pooled: Vec<Group>,
}

impl CurveFit {
    fn new(size: CurveSize) -> Self {
        Self {
            size,
            added: 0,
            complete: 0,
            next: None,
            pooled: Vec::new(),
        }
    }

    fn add(&mut self, row: PlacedTarget) {
        let groups = (self.size.count / PER_POINT).clamp(1, POINTS);
        // Keep equal predictions in one group.
        while self.added >= (self.complete + 1) * self.size.count / groups
            && self.next.is_none_or(|(_, last)| last != row.place)
        {
            self.pool();
            self.complete += 1;
        }
        let sum = self.next.map_or(Group::default(), |(sum, _)| sum);
        self.next = Some((sum.with(Group::of(row)), row.place));
        self.added += 1;
    }

    /// Adds the next group to the curve.
    fn pool(&mut self) {
        let Some((mut next, _)) = self.next.take() else {
            return;
        };
        while let Some(last) = self.pooled.pop_if(|last| last.level() >= next.level()) {
            next = next.with(last);
        }
        self.pooled.push(next);
    }

    fn curve(mut self) -> RisingCurve {
        self.pool();
        let margin = 1.0 / (self.size.weight + 2.0);
        let point = |group: &Group| (group.place(), group.level().clamp(margin, 1.0 - margin));
        RisingCurve(self.pooled.iter().map(point).collect())
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
    use crate::features::student::domain::spool::{InMemory, Spool};
    use proptest::prelude::*;

    fn p(a: f64, b: f64) -> OutcomeProbabilities {
        OutcomeProbabilities::new(a, b).unwrap()
    }

    type Row = (OutcomeProbabilities, OutcomeProbabilities, f64);

    /// The curves of all rows, then without each group.
    fn of_groups(groups: &[Vec<Row>]) -> Vec<Option<IsotonicCurves>> {
        let scored = groups.iter().map(|rows| {
            let mut spool = Spool::new(&InMemory).unwrap();
            for (found, target, weight) in rows {
                let row = [found.a(), found.b(), target.score(), *weight];
                spool.push(row).unwrap();
            }
            ScoredGroup { rows: spool }
        });
        curves(&scored.collect::<Vec<_>>(), |(a, b)| p(a, b), &InMemory).unwrap()
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
