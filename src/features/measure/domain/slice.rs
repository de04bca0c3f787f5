//! The value of a slice of the queries, from the draws that fell into it.

use super::design::DrawDesign;
use super::estimate::{CombinedEstimate, DrawEstimate};
use super::series::{Draw, MeasuredSeries};
use std::collections::HashMap;

/// Smallest p(1 − p) in the variance of a slice. The relevance model can be wrong about a slice
/// while it holds on average: with p = .02 and a true share of .10 to .50, a confidence sequence is
/// wrong at some time in up to 12 % of simulations with .05, and in less than 5 % with .15.
const SMALLEST_VARIANCE: f64 = 0.15;
/// Bytes of an encoded part.
const PART: usize = 24;
/// Largest relative deviation of stored parts from the draw that they belong to.
const ROUNDING: f64 = 1e-6;

/// What a draw says about one query of the frame, for the estimates of slices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueryPart {
    /// The expected value of the query before the ruling.
    pub value: f64,
    /// The probability that one of its documents was drawn.
    pub probability: f64,
    /// Sum over its documents of gradient²·max(p(1 − p), .15)/probability.
    pub variance: f64,
}

/// The parts of draws, by annotator and step.
pub type DrawParts = HashMap<(String, usize), Vec<QueryPart>>;

/// What is known of the mean value of some queries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SliceState {
    /// Number of documents whose ruling can change the value, and how many are ruled on.
    pub documents: usize,
    pub ruled: usize,
    /// `None` as long as documents are open and none of the slice was drawn and ruled on.
    pub estimate: Option<CombinedEstimate>,
    /// The smallest and the largest value that the rulings leave possible.
    pub limits: (f64, f64),
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
    /// What the next draw says about each query.
    pub fn parts(&self) -> Vec<QueryPart> {
        let part = |value: &f64| QueryPart {
            value: *value,
            probability: 0.0,
            variance: 0.0,
        };
        let mut parts: Vec<QueryPart> = self.values.iter().map(part).collect();
        for of in &self.candidates {
            let spread = (of.relevance * (1.0 - of.relevance)).max(SMALLEST_VARIANCE);
            if let Some(part) = parts.get_mut(of.query) {
                part.probability += of.probability;
                part.variance += of.gradient.powi(2) * spread / of.probability;
            }
        }
        parts
    }
}

impl Draw {
    /// The stored parts of this draw, for a frame with this number of queries; `None` if they do
    /// not agree with the draw itself.
    pub fn checked_parts(&self, bytes: &[u8], queries: usize) -> Option<Vec<QueryPart>> {
        let parts = decode_parts(bytes)?;
        let is_possible = |of: &QueryPart| {
            of.value.abs() <= 1.0 + ROUNDING
                && (0.0..=1.0 + ROUNDING).contains(&of.probability)
                && (0.0..f64::MAX).contains(&of.variance)
        };
        let sum = |of: fn(&QueryPart) -> f64| parts.iter().map(of).sum::<f64>();
        let count = queries as f64;
        let variance = sum(|of| of.variance) / count.powi(2);
        let own = parts.get(self.query)?;
        let agrees = parts.len() == queries
            && parts.iter().all(is_possible)
            && (sum(|of| of.probability) - 1.0).abs() <= ROUNDING
            && (sum(|of| of.value) / count - self.mean).abs() <= ROUNDING
            && own.probability >= self.probability * (1.0 - ROUNDING)
            && own.variance > 0.0
            // Between the variance with the smaller bound on p(1 − p), .01, and 15 times that.
            && variance >= self.variance * (1.0 - ROUNDING)
            && variance <= self.variance * 15.0 * (1.0 + ROUNDING);
        agrees.then_some(parts)
    }
}

impl MeasuredSeries {
    /// The mean value of the queries in `members` (indexes in the frame, not empty), for a metric
    /// that is a sum over documents.
    ///
    /// A draw that fell into the slice is drawn from the documents of the slice, with its
    /// probability divided by that of the slice. Given the earlier rulings and that the draw fell
    /// into the slice, its estimate is unbiased, so that estimates and intervals are those of a
    /// measurement of the slice alone. `next` is the state before the next draw.
    pub fn slice(&self, members: &[usize], next: &DrawDesign, parts: &DrawParts) -> SliceState {
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
        let is_open = next.candidates.iter().any(|of| is_member[of.query]);
        let (documents, ruled) = self.documents_of(members);
        let expected = members.iter().map(|at| next.values[*at]).sum::<f64>() / count;
        SliceState {
            documents,
            ruled,
            estimate: if is_open {
                CombinedEstimate::of(&estimates)
            } else {
                Some(CombinedEstimate::exact(expected, estimates.len()))
            },
            limits: self.limits(members),
        }
    }
}
