//! Groups of rows: by radius, in buckets of equal population, and in segments of two axes. Each
//! group keeps the indexes of its rows.

use super::folded::{Category, FoldedRow};
use crate::domain::numeric::correlation;
use serde::Serialize;

/// Number of radii at which the yield is given.
const RADII: usize = 10;
/// Number of buckets, starting with the least certain, in which P(tie) is compared with ties.
const UNSURE_BUCKETS: usize = 5;

/// The battles up to a point of an order, and their composition.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct YieldPoint {
    /// The maximum radius of these battles.
    pub radius: f64,
    pub n: usize,
    /// Their share of all battles.
    pub share: f64,
    /// Shares by [`Category`]; `None` without battles.
    pub composition: Option<[f64; 5]>,
}

/// Battles with similar expectations.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bucket {
    pub n: usize,
    /// Lowest and highest value of the sort key.
    pub low: f64,
    pub high: f64,
    /// Mean folded score expected by the student and given by the ensemble, with the standard error
    /// of the latter treating battles as independent; `None` for one battle.
    pub expected: f64,
    pub observed: f64,
    pub observed_se: Option<f64>,
    /// Shares by [`Category`].
    pub composition: [f64; 5],
    /// Mean P(tie), and the ensemble's mean |C|.
    pub tie: f64,
    pub observed_decisiveness: f64,
    /// Indexes into the rows, sorted like the buckets.
    #[serde(skip)]
    pub rows: Vec<usize>,
}

/// Whether P(tie) distinguishes ties from splits among battles with nearly the same expected score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResidualTies {
    /// Lowest and highest expected score.
    pub low: f64,
    pub high: f64,
    pub n: usize,
    /// Correlation of P(tie) with the ensemble's |C|: negative if P(tie) carries more information.
    /// `None` if one does not vary.
    pub correlation: Option<f64>,
    #[serde(skip)]
    pub rows: Vec<usize>,
}

/// Battles that are similar in both E\[C\] and E|C|.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Segment {
    /// The index of the strip by expected score, and of its cell by E|C|.
    pub strip: usize,
    pub cell: usize,
    pub n: usize,
    /// Lowest and highest expected score and E|C| among its battles.
    pub expected_range: (f64, f64),
    pub decisiveness_range: (f64, f64),
    pub expected: f64,
    pub observed: f64,
    pub decisiveness: f64,
    pub observed_decisiveness: f64,
    /// Share of battles in which the ensemble prefers the other document.
    pub wrong: f64,
    #[serde(skip)]
    pub rows: Vec<usize>,
}

/// Indexes sorted by a key; ties in the order of the rows.
fn ordered(rows: impl IntoIterator<Item = usize>, key: impl Fn(usize) -> f64) -> Vec<usize> {
    let mut order: Vec<usize> = rows.into_iter().collect();
    order.sort_by(|x, y| key(*x).total_cmp(&key(*y)));
    order
}

/// Parts whose sizes differ by at most one; as many as requested, without empty ones.
pub(super) fn equal_parts<T>(items: &[T], parts: usize) -> impl Iterator<Item = (usize, &[T])> {
    let n = items.len();
    (0..parts)
        .map(move |part| {
            let (from, to) = (part * n / parts, (part + 1) * n / parts);
            (part, items.get(from..to).unwrap_or_default())
        })
        .filter(|(_, part)| !part.is_empty())
}

pub(super) fn mean(rows: &[usize], value: impl Fn(usize) -> f64) -> f64 {
    rows.iter().map(|at| value(*at)).sum::<f64>() / rows.len() as f64
}

fn composition(folded: &[FoldedRow], rows: &[usize]) -> Option<[f64; 5]> {
    let share = |category: Category| {
        rows.iter()
            .filter(|at| folded[**at].category == category)
            .count() as f64
            / rows.len() as f64
    };
    (!rows.is_empty()).then(|| Category::ALL.map(share))
}

fn range(rows: &[usize], value: impl Fn(usize) -> f64) -> (f64, f64) {
    let ends = (f64::INFINITY, f64::NEG_INFINITY);
    rows.iter().fold(ends, |(low, high), at| {
        (low.min(value(*at)), high.max(value(*at)))
    })
}

pub(super) fn yield_by_radius(folded: &[FoldedRow]) -> Vec<YieldPoint> {
    let points = (1..=RADII).map(|step| {
        let radius = step as f64 / RADII as f64;
        let within = |at: &usize| folded[*at].radius <= radius;
        let rows: Vec<usize> = (0..folded.len()).filter(within).collect();
        point(folded, &rows, radius)
    });
    points.collect()
}

pub(super) fn yield_by_rank(folded: &[FoldedRow], parts: usize) -> Vec<YieldPoint> {
    let order = ordered(0..folded.len(), |at| folded[at].radius);
    let mut taken = 0;
    equal_parts(&order, parts)
        .map(|(_, part)| {
            taken += part.len();
            let radius = part.last().map_or(0.0, |at| folded[*at].radius);
            point(folded, order.get(..taken).unwrap_or_default(), radius)
        })
        .collect()
}

fn point(folded: &[FoldedRow], rows: &[usize], radius: f64) -> YieldPoint {
    YieldPoint {
        radius,
        n: rows.len(),
        share: rows.len() as f64 / folded.len() as f64,
        composition: composition(folded, rows),
    }
}

pub(super) fn buckets(
    folded: &[FoldedRow],
    parts: usize,
    key: impl Fn(&FoldedRow) -> f64,
) -> Vec<Bucket> {
    let order = ordered(0..folded.len(), |at| key(&folded[at]));
    equal_parts(&order, parts)
        .map(|(_, rows)| {
            let (low, high) = range(rows, |at| key(&folded[at]));
            let observed = mean(rows, |at| folded[at].score);
            let n = rows.len() as f64;
            let squares = mean(rows, |at| (folded[at].score - observed).powi(2));
            Bucket {
                n: rows.len(),
                low,
                high,
                expected: mean(rows, |at| folded[at].expected()),
                observed,
                observed_se: (rows.len() > 1).then(|| (squares / (n - 1.0)).sqrt()),
                composition: composition(folded, rows).unwrap_or_default(),
                tie: mean(rows, |at| folded[at].tie()),
                observed_decisiveness: mean(rows, |at| folded[at].observed_decisiveness()),
                rows: rows.to_vec(),
            }
        })
        .collect()
}

pub(super) fn residual_ties(folded: &[FoldedRow], buckets: &[Bucket]) -> Vec<ResidualTies> {
    let from = buckets.len().saturating_sub(UNSURE_BUCKETS);
    let unsure = buckets.iter().skip(from);
    unsure
        .map(|bucket| {
            // Keep battles with the same expectation together, even if a bucket boundary falls
            // among them.
            let inside = |at: &usize| {
                let expected = folded[*at].expected();
                bucket.low <= expected && expected <= bucket.high
            };
            let rows: Vec<usize> = (0..folded.len()).filter(inside).collect();
            let pair = |at: &usize| (folded[*at].tie(), folded[*at].observed_decisiveness());
            ResidualTies {
                low: bucket.low,
                high: bucket.high,
                n: rows.len(),
                correlation: correlation(rows.iter().map(pair)),
                rows,
            }
        })
        .collect()
}

pub(super) fn segments(folded: &[FoldedRow], (strips, cells): (usize, usize)) -> Vec<Segment> {
    let order = ordered(0..folded.len(), |at| folded[at].expected());
    let mut found = Vec::new();
    for (strip, rows) in equal_parts(&order, strips) {
        let order = ordered(rows.iter().copied(), |at| folded[at].decisiveness());
        for (cell, rows) in equal_parts(&order, cells) {
            found.push(Segment {
                strip,
                cell,
                n: rows.len(),
                expected_range: range(rows, |at| folded[at].expected()),
                decisiveness_range: range(rows, |at| folded[at].decisiveness()),
                expected: mean(rows, |at| folded[at].expected()),
                observed: mean(rows, |at| folded[at].score),
                decisiveness: mean(rows, |at| folded[at].decisiveness()),
                observed_decisiveness: mean(rows, |at| folded[at].observed_decisiveness()),
                wrong: mean(rows, |at| f64::from(u8::from(folded[at].score > 0.5))),
                rows: rows.to_vec(),
            });
        }
    }
    found
}
