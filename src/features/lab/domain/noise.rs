//! The error model of simulated judges.

use serde::{Deserialize, Serialize};

/// How strongly each judge of the standard ensemble favors the document shown first
/// (science.md § Simulations).
const ORDER_EFFECTS: [f64; 3] = [0.25, -0.10, 0.15];

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct JudgeNoise {
    /// The judge's response to a gap of one unit of true score, in units of the noise.
    pub slope: f64,
    /// Standard deviation of its individual error on a pair, fixed for the pair.
    pub own: f64,
    /// Added if B is shown first, subtracted if A is.
    pub order: f64,
    /// The judge calls a tie if its preference is at most this large.
    pub tie: f64,
}

/// The judges of an ensemble and their shared noise.
///
/// For documents a and b with true scores θ, judge m's preference is u = slope_m·(θ_b − θ_a) +
/// ε_ab + ν_abm + order_m·o + call·z, with ε ~ N(0, pair²) shared by all judges, ν ~ N(0, own_m²),
/// o = ±1 at random and z ~ N(0, 1). It votes B if u > tie_m, A if u < −tie_m, and tie otherwise.
/// The share `errors` of its calls fails and counts as a tie (science.md § Simulations).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// Standard deviation of the error on a pair that all judges share.
    pub pair: f64,
    /// Standard deviation of the error that varies between calls.
    pub call: f64,
    /// The share of calls, in 0..=1, that return a tie regardless of the documents.
    pub errors: f64,
    /// The judges, by seat.
    pub judges: Vec<JudgeNoise>,
}

impl Noise {
    /// The calibrated model for a number of judges (science.md § Simulations); from the fourth
    /// judge on, their order effects repeat.
    ///
    /// For true scores with standard deviation 1.82, three judges agree on 72 % of random pairs,
    /// and are then right in 97 %.
    pub fn standard(judges: usize) -> Self {
        let orders = ORDER_EFFECTS.into_iter().cycle().take(judges);
        Self {
            pair: 0.498,
            call: 0.3,
            errors: 0.005,
            judges: orders
                .map(|order| JudgeNoise {
                    slope: 1.0,
                    own: 1.0,
                    order,
                    tie: 0.05,
                })
                .collect(),
        }
    }

    /// The same judges, with this standard deviation for each judge's individual error on a pair.
    #[must_use]
    pub fn with_own(mut self, own: f64) -> Self {
        self.judges.iter_mut().for_each(|judge| judge.own = own);
        self
    }
}
