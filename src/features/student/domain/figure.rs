//! The ten figures by number, and the groups of battles in each of them.
//!
//! Every battle of a figure is in a group, so that everything drawn can be opened. The groups of
//! figures 5 and 6 are cumulative: each includes the battles of those before it.

use super::figures::{Figures, FoldedRow};

/// Number of cells along each axis of a scatter plot, and of rings around the corner of certainty.
pub const CELLS: usize = 10;

/// The 97.5 % quantile of the standard normal distribution.
const NORMAL: f64 = 1.959_964;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Figure {
    /// Accuracy on the battles on which the ensemble is unanimous.
    Accuracy,
    /// P(A) and P(B) as predicted.
    Triangle,
    /// The same with the favorite first.
    Fold,
    /// Distance from the corner of certainty.
    Radius,
    /// Battles within a radius.
    Yield,
    /// The most certain battles.
    Ranks,
    /// Expected and observed score: the calibration, which is shown first.
    #[default]
    Buckets,
    /// The information in P(tie) beyond the expected score.
    ResidualTies,
    /// Expected score and E|C|.
    Axes,
    /// The same divided into parts of equal population.
    Segments,
}

impl Figure {
    /// In the order of their numbers.
    pub const ALL: [Self; 10] = [
        Self::Accuracy,
        Self::Triangle,
        Self::Fold,
        Self::Radius,
        Self::Yield,
        Self::Ranks,
        Self::Buckets,
        Self::ResidualTies,
        Self::Axes,
        Self::Segments,
    ];

    /// From 1.
    pub fn number(self) -> usize {
        1 + self as usize
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::Accuracy => "Accuracy where the ensemble is unanimous",
            Self::Triangle => "Predicted probabilities",
            Self::Fold => "Predicted probabilities, favorite first",
            Self::Radius => "Distance from certainty",
            Self::Yield => "Yield within a distance from certainty",
            Self::Ranks => "Composition of the most certain battles",
            Self::Buckets => "Calibration: expected and observed score in buckets",
            Self::ResidualTies => "What P(tie) says beyond the expected score",
            Self::Axes => "Expected score and decisiveness",
            Self::Segments => "Segments of equal population",
        }
    }

    /// The labels of the horizontal and the vertical axis, with ranges.
    pub fn axes(self) -> (&'static str, &'static str) {
        match self {
            Self::Accuracy => ("checkpoint", "share right, 0 to 1"),
            Self::Triangle => ("P(A better)", "P(B better)"),
            Self::Fold | Self::Radius => ("P(favorite better)", "P(other better)"),
            Self::Yield => (
                "radius r from the certain corner (1, 0)",
                "share of all battles",
            ),
            Self::Ranks => (
                "share of the battles, the most certain first",
                "composition, share",
            ),
            Self::Buckets => (
                "bucket, by rising expected score",
                "score against the favorite, 0 to 1",
            ),
            Self::ResidualTies => (
                "bucket of expected score, the least sure last",
                "correlation of P(tie) with |C|",
            ),
            Self::Axes => ("expected score (1 − |E[C]|) / 2", "decisiveness E|C|"),
            Self::Segments => ("strip, by rising expected score", "cell, by rising E|C|"),
        }
    }

    /// Whether groups form a plane instead of a row.
    pub fn is_plane(self) -> bool {
        matches!(
            self,
            Self::Triangle | Self::Fold | Self::Axes | Self::Segments
        )
    }
}

/// Battles that are drawn together.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureGroup {
    /// The condition that they meet, such as `r ≤ 0.3`.
    pub name: String,
    /// Column and row in the figure, from the lower left.
    pub place: (usize, usize),
    /// Mean folded score expected by the student, in 0..=½, and given by the ensemble, in 0..=1;
    /// `None` without battles.
    pub expected: Option<f64>,
    pub observed: Option<f64>,
    /// 95 % interval of the latter, treating battles as independent, within 0..=1; `None` for one
    /// battle, and if all have the same score.
    pub interval: Option<(f64, f64)>,
    /// Their indexes into the rows of the figures, as sorted by the group.
    pub rows: Vec<usize>,
}

impl FigureGroup {
    fn new(figures: &Figures, name: String, place: (usize, usize), rows: Vec<usize>) -> Self {
        let of = |value: fn(&FoldedRow) -> f64| {
            let values: Vec<f64> = rows
                .iter()
                .filter_map(|at| figures.rows.get(*at).map(value))
                .collect();
            values
        };
        let scores = of(|row| row.score);
        let observed = mean(&scores);
        let interval = observed.and_then(|middle| score_interval(&scores, middle));
        Self {
            expected: mean(&of(FoldedRow::expected)),
            observed,
            interval,
            name,
            place,
            rows,
        }
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn score_interval(scores: &[f64], middle: f64) -> Option<(f64, f64)> {
    let n = scores.len() as f64;
    let squares: f64 = scores.iter().map(|score| (score - middle).powi(2)).sum();
    (scores.len() > 1 && squares > 1e-12).then(|| {
        let reach = NORMAL * (squares / (n * (n - 1.0))).sqrt();
        ((middle - reach).max(0.0), (middle + reach).min(1.0))
    })
}

/// 95 % interval of a correlation over `n` independent pairs, by Fisher's z; `None` for fewer than
/// four.
pub fn correlation_interval(correlation: f64, n: usize) -> Option<(f64, f64)> {
    (n > 3).then(|| {
        let z = correlation.clamp(-1.0, 1.0).atanh();
        let reach = NORMAL / ((n - 3) as f64).sqrt();
        ((z - reach).tanh(), (z + reach).tanh())
    })
}

/// The groups of a figure, row by row from the lower left. In scatter plots, empty groups are left
/// out.
pub fn groups(figures: &Figures, figure: Figure) -> Vec<FigureGroup> {
    match figure {
        Figure::Accuracy => accuracy(figures),
        Figure::Triangle => cells(figures, ("P(A)", "P(B)"), (1.0, 1.0), FoldedRow::predicted),
        Figure::Fold => cells(figures, ("favorite", "other"), (1.0, 1.0), |row| {
            (row.x, row.y)
        }),
        Figure::Axes => cells(figures, ("expected", "E|C|"), (0.5, 1.0), |row| {
            (row.expected(), row.decisiveness())
        }),
        Figure::Radius => rings(figures, false),
        Figure::Yield => rings(figures, true),
        Figure::Ranks => {
            let order = by_radius(figures);
            let group = |(at, point): (usize, &super::figures::YieldPoint)| {
                let name = format!("first {}", point.n);
                let rows = order.iter().take(point.n).copied().collect();
                FigureGroup::new(figures, name, (at, 0), rows)
            };
            figures.by_rank.iter().enumerate().map(group).collect()
        }
        Figure::Buckets => {
            let buckets = figures.score_buckets.iter().enumerate();
            let group = |(at, of): (usize, &super::figures::Bucket)| {
                let name = range(of.low, of.high);
                FigureGroup::new(figures, name, (at, 0), of.rows.clone())
            };
            buckets.map(group).collect()
        }
        Figure::ResidualTies => {
            let buckets = figures.residual_ties.iter().enumerate();
            let group = |(at, of): (usize, &super::figures::ResidualTies)| {
                let name = range(of.low, of.high);
                FigureGroup::new(figures, name, (at, 0), of.rows.clone())
            };
            buckets.map(group).collect()
        }
        Figure::Segments => {
            let group = |of: &super::figures::Segment| {
                let (expected, decided) = (of.expected_range, of.decisiveness_range);
                let name = format!(
                    "segment {}.{}: expected {}, E|C| {}",
                    of.strip + 1,
                    of.cell + 1,
                    range(expected.0, expected.1),
                    range(decided.0, decided.1)
                );
                FigureGroup::new(figures, name, (of.strip, of.cell), of.rows.clone())
            };
            let mut found: Vec<FigureGroup> = figures.segments.iter().map(group).collect();
            found.sort_by_key(|group| (group.place.1, group.place.0));
            found
        }
    }
}

fn range(from: f64, to: f64) -> String {
    format!("{from:.3}–{to:.3}")
}

/// Groups by the student's prediction for the battles on which the ensemble is unanimous.
fn accuracy(figures: &Figures) -> Vec<FigureGroup> {
    let kind = |row: &FoldedRow| match row.x == row.y {
        true => "no favorite",
        false if row.score < 0.5 => "right",
        false => "wrong",
    };
    let group = |(at, name): (usize, &str)| {
        let rows = figures.rows.iter().enumerate();
        let rows = rows.filter(|(_, row)| row.is_consensus() && kind(row) == name);
        let rows = rows.map(|(at, _)| at).collect();
        FigureGroup::new(figures, name.to_owned(), (at, 0), rows)
    };
    let kinds = ["right", "no favorite", "wrong"];
    kinds.into_iter().enumerate().map(group).collect()
}

fn cells(
    figures: &Figures,
    names: (&str, &str),
    ends: (f64, f64),
    place: impl Fn(&FoldedRow) -> (f64, f64),
) -> Vec<FigureGroup> {
    let part = |value: f64, end: f64| ((value / end * CELLS as f64) as usize).min(CELLS - 1);
    let mut members = vec![Vec::new(); CELLS * CELLS];
    for (at, row) in figures.rows.iter().enumerate() {
        let (x, y) = place(row);
        if let Some(cell) = members.get_mut(part(y, ends.1) * CELLS + part(x, ends.0)) {
            cell.push(at);
        }
    }
    let filled = members.into_iter().enumerate();
    let filled = filled.filter(|(_, rows)| !rows.is_empty());
    let range = |at: usize, end: f64| {
        let (step, digits) = (end / CELLS as f64, if end < 1.0 { 2 } else { 1 });
        let (from, to) = (at as f64 * step, (at + 1) as f64 * step);
        format!("{from:.digits$}–{to:.digits$}")
    };
    filled
        .map(|(at, rows)| {
            let (column, row) = (at % CELLS, at / CELLS);
            let name = format!(
                "{} {}, {} {}",
                names.0,
                range(column, ends.0),
                names.1,
                range(row, ends.1)
            );
            FigureGroup::new(figures, name, (column, row), rows)
        })
        .collect()
}

/// Rings around the corner of certainty, or the discs bounded by them.
fn rings(figures: &Figures, grown: bool) -> Vec<FigureGroup> {
    let order = by_radius(figures);
    let step = 1.0 / CELLS as f64;
    let ring = |at: usize| {
        let (from, to) = (at as f64 * step, (at + 1) as f64 * step);
        let inside = |radius: f64| match (grown, at) {
            (true, _) | (false, 0) => radius <= to,
            // The farthest point is at 1, up to rounding.
            (false, _) if at + 1 == CELLS => radius > from,
            (false, _) => from < radius && radius <= to,
        };
        let rows = order.iter().copied();
        let rows = rows.filter(|at| figures.rows.get(*at).is_some_and(|row| inside(row.radius)));
        let name = if grown {
            format!("r ≤ {to:.1}")
        } else {
            format!("r {from:.1}–{to:.1}")
        };
        FigureGroup::new(figures, name, (at, 0), rows.collect())
    };
    (0..CELLS).map(ring).collect()
}

/// The most certain first; ties in the order of the rows.
fn by_radius(figures: &Figures) -> Vec<usize> {
    let mut order: Vec<usize> = (0..figures.rows.len()).collect();
    let radius = |at: &usize| figures.rows.get(*at).map_or(f64::NAN, |row| row.radius);
    order.sort_by(|one, other| radius(one).total_cmp(&radius(other)));
    order
}

#[cfg(test)]
mod tests {
    use super::super::figures::{FigureOptions, StudentRow};
    use super::*;
    use crate::domain::prediction::OutcomeProbabilities;

    /// Battles spread over the whole triangle, with scores of three judges.
    fn figures() -> Figures {
        let mut rows = Vec::new();
        for at in 0..400_usize {
            let a = (at % 20) as f64 / 19.0;
            let b = (1.0 - a) * (at / 20) as f64 / 19.0;
            rows.push(StudentRow {
                score: (at % 7) as f64 / 6.0,
                predicted: OutcomeProbabilities::new(a, b).unwrap(),
                query: at % 11,
            });
        }
        let options = FigureOptions::of(rows.len());
        Figures::of(rows, &options).unwrap()
    }

    #[test]
    fn every_battle_is_in_one_group_of_its_figure() {
        let figures = figures();
        for figure in Figure::ALL {
            let groups = groups(&figures, figure);
            let mut rows: Vec<usize> = groups.iter().flat_map(|group| group.rows.clone()).collect();
            rows.sort_unstable();
            let all: Vec<usize> = (0..figures.n).collect();
            match figure {
                Figure::Accuracy => assert_eq!(rows.len(), figures.consensus),
                Figure::Yield | Figure::Ranks => {
                    assert_eq!(groups.last().unwrap().rows.len(), figures.n);
                }
                // Those buckets are the uncertain ones, and overlap where expectations are equal.
                Figure::ResidualTies => assert!(!rows.is_empty()),
                _ => assert_eq!(rows, all, "{figure:?}"),
            }
            let places: std::collections::BTreeSet<_> =
                groups.iter().map(|group| group.place).collect();
            assert_eq!(places.len(), groups.len(), "{figure:?}");
        }
    }

    #[test]
    fn groups_have_the_numbers_of_the_figures() {
        let figures = figures();
        for (group, bucket) in groups(&figures, Figure::Buckets)
            .iter()
            .zip(&figures.score_buckets)
        {
            assert!((group.expected.unwrap() - bucket.expected).abs() < 1e-12);
            assert!((group.observed.unwrap() - bucket.observed).abs() < 1e-12);
            let reach = NORMAL * bucket.observed_se.unwrap();
            let Some((low, high)) = group.interval else {
                assert!(reach < 1e-6);
                continue;
            };
            assert!((high - (bucket.observed + reach).min(1.0)).abs() < 1e-12);
            assert!((low - (bucket.observed - reach).max(0.0)).abs() < 1e-12);
        }
        for (group, point) in groups(&figures, Figure::Yield)
            .iter()
            .zip(&figures.by_radius)
        {
            assert_eq!(group.rows.len(), point.n);
        }
        let [right, neither, wrong] = groups(&figures, Figure::Accuracy).try_into().unwrap();
        let share =
            (right.rows.len() as f64 + 0.5 * neither.rows.len() as f64) / figures.consensus as f64;
        assert!((share - figures.consensus_accuracy.unwrap().value).abs() < 1e-12);
        assert!(!wrong.rows.is_empty());
    }

    #[test]
    fn a_correlation_has_an_interval_about_it() {
        assert_eq!(correlation_interval(0.5, 3), None);
        let (low, high) = correlation_interval(0.5, 103).unwrap();
        // tanh(.5493 ∓ .196).
        assert!((low - 0.3393).abs() < 1e-4 && (high - 0.6324).abs() < 1e-4);
        assert_eq!(correlation_interval(1.0, 50), Some((1.0, 1.0)));
    }

    #[test]
    fn figures_are_numbered_from_one() {
        let numbers: Vec<usize> = Figure::ALL.map(Figure::number).to_vec();
        assert_eq!(numbers, (1..=10).collect::<Vec<_>>());
    }
}
