//! The value of a slice of the queries, from the draws that fell into it.

use super::design::{DrawDesign, SMALLEST_VARIANCE};
use super::estimate::{CombinedEstimate, DrawEstimate, IntervalKind};
use super::series::{Draw, MeasuredSeries};
use std::collections::HashMap;

/// Bytes of an encoded part.
const PART: usize = 24;
/// Largest relative deviation of stored parts from the draw that they belong to.
const ROUNDING: f64 = 1e-6;

/// The numbers of a draw for one query of the frame, for the estimates of slices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueryPart {
    /// The expected value of the query before the ruling.
    pub value: f64,
    /// The probability that one of its documents was drawn.
    pub probability: f64,
    /// Sum over its documents of gradient²·max(p, 1 − p)²/probability. The square is the largest
    /// squared difference of a ruling from p: the relevance model can be wrong about a slice while it
    /// holds on average.
    pub variance: f64,
}

/// The parts of draws, by annotator and step.
pub type DrawParts = HashMap<(String, usize), Vec<QueryPart>>;

/// The state of the mean value of some queries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SliceState {
    /// Number of documents whose ruling can change the value, and how many are ruled on.
    pub documents: usize,
    pub ruled: usize,
    /// `None` as long as documents are open and there is no ruling on a draw of the slice.
    pub estimate: Option<CombinedEstimate>,
    /// The smallest and the largest value that the rulings leave possible.
    pub limits: (f64, f64),
}

impl SliceState {
    /// The value, within the limits.
    pub fn value(&self) -> Option<f64> {
        let (least, greatest) = self.limits;
        Some(self.estimate?.value.clamp(least, greatest))
    }

    /// The confidence sequence with two-sided error `alpha`, within the limits.
    pub fn interval(&self, alpha: f64) -> Option<(f64, f64)> {
        let (least, greatest) = self.limits;
        let of = self.estimate?;
        let half = of.half_width(IntervalKind::Sequence, alpha);
        let within = |end: f64| end.clamp(least, greatest);
        Some((within(of.value - half), within(of.value + half)))
    }

    /// The p-value of a value of 0; 1 if nothing is known.
    pub fn p(&self) -> f64 {
        let (least, greatest) = self.limits;
        if least > 0.0 || greatest < 0.0 {
            return 0.0;
        }
        self.estimate.map_or(1.0, |of| of.sequence_p())
    }
}

/// The parts as little-endian float64.
pub fn encode_parts(parts: &[QueryPart]) -> Vec<u8> {
    let numbers = parts.iter();
    numbers
        .flat_map(|of| [of.value, of.probability, of.variance])
        .flat_map(f64::to_le_bytes)
        .collect()
}

fn decode_parts(bytes: &[u8]) -> Option<Vec<QueryPart>> {
    let (parts, []) = bytes.as_chunks::<PART>() else {
        return None;
    };
    let part = |bytes: &[u8; PART]| {
        let (numbers, _) = bytes.as_chunks::<8>();
        let [value, probability, variance] = numbers else {
            return None;
        };
        Some(QueryPart {
            value: f64::from_le_bytes(*value),
            probability: f64::from_le_bytes(*probability),
            variance: f64::from_le_bytes(*variance),
        })
    };
    parts.iter().map(part).collect()
}

impl DrawDesign {
    /// The numbers of the next draw for each query.
    pub fn parts(&self) -> Vec<QueryPart> {
        let part = |value: &f64| QueryPart {
            value: *value,
            probability: 0.0,
            variance: 0.0,
        };
        let mut parts: Vec<QueryPart> = self.values.iter().map(part).collect();
        for of in &self.candidates {
            if let Some(part) = parts.get_mut(of.query) {
                part.probability += of.probability;
                part.variance += part_variance(of.gradient, of.relevance, of.probability);
            }
        }
        parts
    }
}

/// The share of a document in [`QueryPart::variance`].
fn part_variance(gradient: f64, relevance: f64, probability: f64) -> f64 {
    (gradient * relevance.max(1.0 - relevance)).powi(2) / probability
}

impl MeasuredSeries {
    /// The stored parts of a draw; `None` if they do not agree with the draw, or the draw not with
    /// the frame.
    pub fn checked_parts(&self, draw: &Draw, bytes: &[u8]) -> Option<Vec<QueryPart>> {
        let parts = decode_parts(bytes)?;
        let is_possible = |of: &QueryPart| {
            of.value.abs() <= 1.0 + ROUNDING
                && (0.0..=1.0 + ROUNDING).contains(&of.probability)
                && (0.0..f64::MAX).contains(&of.variance)
                && (of.variance > 0.0) == (of.probability > 0.0)
        };
        let sum = |of: fn(&QueryPart) -> f64| parts.iter().map(of).sum::<f64>();
        let count = self.queries() as f64;
        let variance = sum(|of| of.variance) / count.powi(2);
        let own = parts.get(draw.query)?;
        let gradient = self.gradient(draw.query, draw.document);
        let agrees = parts.len() == self.queries()
            && (draw.gradient - gradient).abs() <= ROUNDING * gradient.abs()
            && parts.iter().all(is_possible)
            && (sum(|of| of.probability) - 1.0).abs() <= ROUNDING
            && (sum(|of| of.value) / count - draw.mean).abs() <= ROUNDING
            && own.probability >= draw.probability * (1.0 - ROUNDING)
            && own.variance
                >= part_variance(gradient, draw.relevance, draw.probability) * (1.0 - ROUNDING)
            // The variance of the draw has max(p(1 − p), SMALLEST_VARIANCE) in place of
            // max(p, 1 − p)², which is at most 1.
            && variance >= draw.variance * (1.0 - ROUNDING)
            && variance <= draw.variance / SMALLEST_VARIANCE * (1.0 + ROUNDING);
        agrees.then_some(parts)
    }

    /// The mean value of the queries in `members` (indexes in the frame, not empty), for a metric
    /// that is a sum over documents.
    ///
    /// A draw that fell into the slice is drawn from the documents of the slice, with its
    /// probability divided by that of the slice. Given the earlier rulings and that the draw fell
    /// into the slice, its estimate is unbiased, so that estimates and intervals are those of a
    /// measurement of the slice alone.
    pub fn slice(&self, members: &[usize], parts: &DrawParts) -> SliceState {
        let count = members.len() as f64;
        let mut is_member = vec![false; self.queries()];
        members.iter().for_each(|at| is_member[*at] = true);
        let estimate = |(draw, relevant): (&Draw, bool)| {
            let parts = parts.get(&(draw.annotator.clone(), draw.step))?;
            let sum =
                |of: fn(&QueryPart) -> f64| members.iter().map(|at| of(&parts[*at])).sum::<f64>();
            let of_slice = sum(|of| of.probability);
            let residual = f64::from(u8::from(relevant)) - draw.relevance;
            Some(DrawEstimate {
                value: (sum(|of| of.value)
                    + draw.gradient * residual * of_slice / draw.probability)
                    / count,
                variance: of_slice * sum(|of| of.variance) / count.powi(2),
            })
        };
        let drawn = self.ruled_draws().into_iter();
        let drawn = drawn.filter(|(draw, _)| is_member[draw.query]);
        let estimates: Vec<DrawEstimate> = drawn.filter_map(estimate).collect();
        let (documents, ruled) = self.documents_of(members);
        let limits = self.limits(members);
        SliceState {
            documents,
            ruled,
            estimate: if ruled < documents {
                CombinedEstimate::of(&estimates)
            } else {
                Some(CombinedEstimate::exact(limits.0, estimates.len()))
            },
            limits,
        }
    }
}
