//! Calibration curves of judges' stated margins.

use super::{Margin, Outcome};
use serde::{Deserialize, Serialize};

/// Minimum number of comparisons for a curve, and minimum number at each of its points.
const FEWEST: usize = 100;
const PER_POINT: usize = 25;

/// Maximum number of points of a curve.
const POINTS: usize = 12;

/// How often someone else agrees with a judge, by the size of the stated margin: a nondecreasing
/// curve, fitted to the judge's own battles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MarginCurve {
    /// Margin sizes, increasing, each with the share in ½..=1 that agrees at it.
    points: Vec<(f64, f64)>,
    /// Number of comparisons it is based on.
    pub comparisons: usize,
}

impl MarginCurve {
    /// The curve of margins that were compared with someone else's answer on the pair: 1 if they
    /// named the same document, ½ for a tie, 0 for the other document. `None` for fewer than 100
    /// comparisons; margins of 0 are skipped.
    ///
    /// Isotonic regression (pool adjacent violators; Ayer et al. 1955) of up to twelve groups of
    /// about equal size. Values below ½ are raised to ½: a judge that is wrong more often than not
    /// is not inverted.
    pub fn fit(compared: impl IntoIterator<Item = (Margin, f64)>) -> Option<Self> {
        let sized = |(margin, agreed): (Margin, f64)| (margin.get().abs(), agreed);
        let mut votes: Vec<(f64, f64)> = compared.into_iter().map(sized).collect();
        votes.retain(|(size, _)| *size > 0.0);
        // Sort by both, so that sums do not depend on the order of the rows.
        votes.sort_by(|x, y| x.0.total_cmp(&y.0).then(x.1.total_cmp(&y.1)));
        let comparisons = votes.len();
        if comparisons < FEWEST {
            return None;
        }
        let groups = (comparisons / PER_POINT).min(POINTS);
        let mut pooled: Vec<Group> = Vec::new();
        let mut rest = votes.as_slice();
        for group in 1..=groups {
            let taken = comparisons - rest.len();
            let mut size = (group * comparisons / groups).saturating_sub(taken);
            while size > 0 && size < rest.len() && rest[size].0 == rest[size - 1].0 {
                size += 1;
            }
            let (inside, after) = rest.split_at(size.min(rest.len()));
            rest = after;
            if inside.is_empty() {
                continue;
            }
            let mut next = Group::default();
            inside.iter().for_each(|vote| next.add(*vote));
            while let Some(last) = pooled.pop_if(|last| last.agreed() >= next.agreed()) {
                next.join(last);
            }
            pooled.push(next);
        }
        let point = |group: &Group| (group.sizes / group.n, group.agreed().max(0.5));
        Some(Self {
            points: pooled.iter().map(point).collect(),
            comparisons,
        })
    }

    /// The score of a vote with this margin, in 0..=1 (1: B is better): linear between the points,
    /// constant beyond them.
    pub fn score(&self, margin: Margin) -> f64 {
        let share = self.share(margin.get().abs());
        match margin.outcome() {
            Outcome::A => 1.0 - share,
            Outcome::Tie => 0.5,
            Outcome::B => share,
        }
    }

    /// The share that agrees with margins of this size.
    pub fn share(&self, size: f64) -> f64 {
        let after = self.points.partition_point(|(at, _)| *at <= size);
        let below = after.checked_sub(1).and_then(|at| self.points.get(at));
        match (below, self.points.get(after)) {
            (Some((x, low)), Some((y, high))) => low + (high - low) * (size - x) / (y - x),
            (Some((_, share)), None) | (None, Some((_, share))) => *share,
            (None, None) => 0.5,
        }
    }
}

/// Votes with similar margins.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    n: f64,
    sizes: f64,
    agreements: f64,
}

impl Group {
    fn agreed(&self) -> f64 {
        self.agreements / self.n
    }

    fn add(&mut self, (size, agreed): (f64, f64)) {
        self.n += 1.0;
        self.sizes += size;
        self.agreements += agreed;
    }

    fn join(&mut self, other: Self) {
        self.n += other.n;
        self.sizes += other.sizes;
        self.agreements += other.agreements;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn votes(rows: &[(f64, f64, usize)]) -> Vec<(Margin, f64)> {
        let of = |(margin, agreed, n): &(f64, f64, usize)| {
            vec![(Margin::new(*margin).unwrap(), *agreed); *n]
        };
        rows.iter().flat_map(of).collect()
    }

    #[test]
    fn the_curve_goes_through_the_shares_and_never_falls() {
        // At .2 60 of 100 agree, at .5 half do, at −.9 90 of 100.
        let rows = [
            (0.2, 1.0, 60),
            (-0.2, 0.0, 40),
            (0.5, 0.5, 100),
            (-0.9, 1.0, 90),
            (0.9, 0.0, 10),
            (0.0, 1.0, 500),
        ];
        let mut votes = votes(&rows);
        let curve = MarginCurve::fit(votes.iter().copied()).unwrap();
        assert_eq!(curve.comparisons, 300);
        // The first two are merged: 55 of 100 at a mean of .35.
        let score = |margin: f64| curve.score(Margin::new(margin).unwrap());
        for (margin, expected) in [
            (0.35, 0.55),
            (0.1, 0.55),
            (0.9, 0.9),
            (-1.0, 0.1),
            (0.0, 0.5),
            (0.625, 0.725),
        ] {
            assert!(
                (score(margin) - expected).abs() < 1e-12,
                "{margin}: {}",
                score(margin)
            );
        }
        votes.reverse();
        assert_eq!(MarginCurve::fit(votes), Some(curve));
    }

    #[test]
    fn few_comparisons_make_no_curve_and_a_perverse_judge_says_nothing() {
        assert_eq!(MarginCurve::fit(votes(&[(0.5, 1.0, 99)])), None);
        let curve = MarginCurve::fit(votes(&[(0.5, 0.0, 100)])).unwrap();
        assert_eq!(curve.score(Margin::new(0.5).unwrap()), 0.5);
    }
}
