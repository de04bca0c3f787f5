//! The information of a battle, and the probability that a document is in the top.

use crate::domain::rating::{self, Covariance};
use statrs::distribution::{ContinuousCDF, Normal};
use std::f64::consts::{LN_2, PI};

/// The mutual information, in bits, between the winner of a battle and the gap between its two
/// scores, if the gap is normal with mean `gap` and variance `variance` ≥ 0.
///
/// h(Φ(m/√(s+1))) − C/√(s+C²) · exp(−m²/(2(s+C²))) with m = k·gap, s = k²·variance, k² = π/8 and C²
/// = π ln 2 / 2, at least 0 (BALD, Houlsby et al. 2011, with the probit instead of the logistic;
/// science.md § Choosing pairs: within 0.035 bit of the exact value).
pub(crate) fn mutual_information(gap: f64, variance: f64) -> f64 {
    let (square, spread) = (PI / 8.0 * gap * gap, PI / 8.0 * variance);
    let tail = Normal::standard().cdf(-(square / (spread + 1.0)).sqrt());
    let width = spread + PI * LN_2 / 2.0;
    let noise = (PI * LN_2 / 2.0 / width).sqrt() * (-square / (2.0 * width)).exp();
    (binary_entropy(tail) - noise).max(0.0)
}

fn binary_entropy(p: f64) -> f64 {
    if p <= 0.0 || p >= 1.0 {
        return 0.0;
    }
    -(p * p.log2() + (1.0 - p) * (-p).ln_1p() / LN_2)
}

/// For each document, the probability that it is in the top `top` (science.md § Uncertainty). All 1
/// if there are at most `top` documents.
pub(crate) fn top_probabilities(scores: &[f64], covariance: &Covariance, top: usize) -> Vec<f64> {
    let bar = rating::cut_below(scores, top);
    let inside = |document| covariance.exceeds(scores, document, bar);
    (0..scores.len()).map(inside).collect()
}
