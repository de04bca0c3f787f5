//! The estimate from documents that were drawn one at a time, its intervals, and its verdict.
//!
//! Des Raj's ordered difference estimator (1956) around the expected metric, combined with weights
//! that are fixed before each ruling; a t interval for a number of rulings that was set beforehand,
//! and a normal-mixture confidence sequence (Robbins 1970) that holds after every ruling at once
//! (science.md § Measured differences).

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Two-sided error of the intervals.
pub const ALPHA: f64 = 0.05;
/// Number of rulings at which the confidence sequence is narrowest relative to the t interval.
const NARROWEST_AT: f64 = 100.0;
/// Number of rulings on drawn documents before which no estimate of the whole is shown: both
/// intervals are asymptotic. Slices have a larger variance instead.
pub const FEWEST_DRAWS: usize = 20;
/// An exact value closer to 0 is 0 with a rounding error.
const ROUNDING: f64 = 1e-12;

/// The estimate that one draw and its ruling give.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrawEstimate {
    /// Z: unbiased given the rulings before it, for metrics that are sums over documents.
    pub value: f64,
    /// The variance of Z expected before the ruling; 0 if nothing could change the value.
    pub variance: f64,
}

/// Which interval is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IntervalKind {
    /// Holds after every ruling at once, whenever somebody looks and stops.
    #[default]
    Sequence,
    /// Holds for a number of rulings that was set beforehand.
    Student,
}

/// The weighted mean of the draws' estimates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CombinedEstimate {
    /// Number of draws with a ruling.
    pub draws: usize,
    pub value: f64,
    /// Σw and Σw²(Z − mean)² with w = 1/variance.
    weight: f64,
    squares: f64,
    first_weight: f64,
    /// Variance of the mean: the larger of the empirical one and 1/Σw; 0 if the value is exact.
    pub variance: f64,
    /// Degrees of freedom, (Σw)²/Σw² − 1, at least 1.
    pub degrees: f64,
}

impl CombinedEstimate {
    /// `None` without any draw. A draw without variance gives the exact value.
    pub fn of(draws: &[DrawEstimate]) -> Option<Self> {
        let first = draws.first()?;
        if let Some(exact) = draws.iter().rev().find(|of| of.variance <= 0.0) {
            return Some(Self::exact(exact.value, draws.len()));
        }
        let weights = || draws.iter().map(|of| 1.0 / of.variance);
        let weight: f64 = weights().sum();
        let value = draws.iter().map(|of| of.value / of.variance).sum::<f64>() / weight;
        let squares: f64 = draws
            .iter()
            .map(|of| ((of.value - value) / of.variance).powi(2))
            .sum();
        let n = draws.len() as f64;
        let empirical = if draws.len() > 1 {
            n / (n - 1.0) * squares / weight.powi(2)
        } else {
            0.0
        };
        let degrees = weight.powi(2) / weights().map(|of| of * of).sum::<f64>() - 1.0;
        Some(Self {
            draws: draws.len(),
            value,
            weight,
            squares,
            first_weight: 1.0 / first.variance,
            variance: empirical.max(1.0 / weight),
            degrees: degrees.max(1.0),
        })
    }

    /// A value that all rulings together determine without error. Sums of floating-point numbers
    /// that should be 0 are 0.
    pub fn exact(value: f64, draws: usize) -> Self {
        Self {
            draws,
            value: if value.abs() < ROUNDING { 0.0 } else { value },
            weight: f64::INFINITY,
            squares: 0.0,
            first_weight: f64::INFINITY,
            variance: 0.0,
            degrees: 1.0,
        }
    }

    pub fn is_exact(&self) -> bool {
        self.variance <= 0.0
    }

    /// Half the width of an interval with two-sided error `alpha`.
    pub fn half_width(&self, kind: IntervalKind, alpha: f64) -> f64 {
        if self.is_exact() {
            return 0.0;
        }
        match kind {
            IntervalKind::Student => t_quantile(self.degrees, alpha) * self.variance.sqrt(),
            IntervalKind::Sequence => self.sequence_half_width(0.0, 0.0, alpha),
        }
    }

    /// Half the width of the confidence sequence after `more` draws of this weight that scatter as
    /// the draws so far.
    fn sequence_half_width(&self, more: f64, weight: f64, alpha: f64) -> f64 {
        let seen = self.squares.max(self.weight);
        let spread = seen / self.weight;
        let variance = seen + more * weight * spread;
        let rho = NARROWEST_AT * self.first_weight / mixture_optimum(alpha);
        let total = variance + rho;
        (total * (total / (rho * alpha * alpha)).ln()).sqrt() / (self.weight + more * weight)
    }

    /// The p-value of a value of 0, which holds after every ruling at once: the inverse of the normal
    /// mixture's e-value, at the mixture of the sequence with error [`ALPHA`].
    pub fn sequence_p(&self) -> f64 {
        if self.is_exact() {
            return if self.value == 0.0 { 1.0 } else { 0.0 };
        }
        let rho = NARROWEST_AT * self.first_weight / mixture_optimum(ALPHA);
        let total = self.squares.max(self.weight) + rho;
        let distance = (self.value * self.weight).powi(2) / (2.0 * total);
        ((total / rho).sqrt() * (-distance).exp()).min(1.0)
    }

    /// The interval for *queries like these*: adds the spread of the metric between queries, as
    /// independent of the rulings.
    pub fn half_width_like_these(
        &self,
        kind: IntervalKind,
        alpha: f64,
        between: QuerySpread,
    ) -> Option<f64> {
        let of_queries = between.variance / between.queries as f64;
        if between.queries < 2 {
            return None;
        }
        let queries_df = between.queries as f64 - 1.0;
        Some(match kind {
            // Welch and Satterthwaite's degrees of freedom of the sum.
            IntervalKind::Student => {
                let sum = self.variance + of_queries;
                let parts = self.variance.powi(2) / self.degrees + of_queries.powi(2) / queries_df;
                let degrees = if parts > 0.0 {
                    sum.powi(2) / parts
                } else {
                    1.0
                };
                t_quantile(degrees, alpha) * sum.sqrt()
            }
            IntervalKind::Sequence => {
                let queries = t_quantile(queries_df, alpha) * of_queries.sqrt();
                self.half_width(kind, alpha).hypot(queries)
            }
        })
    }

    /// The probability that the difference has the other sign once everything is ruled on, by the t
    /// distribution around the estimate; 1/2 for an estimate of 0.
    pub fn flip_probability(&self) -> f64 {
        if self.is_exact() {
            return if self.value == 0.0 { 0.5 } else { 0.0 };
        }
        let distance = -self.value.abs() / self.variance.sqrt();
        StudentsT::new(0.0, 1.0, self.degrees).map_or(0.5, |t| t.cdf(distance))
    }

    /// The verdict at error [`ALPHA`]; `margin` is the largest difference that counts as equal.
    pub fn verdict(&self, kind: IntervalKind, margin: f64) -> MeasuredVerdict {
        let half = self.half_width(kind, ALPHA);
        // Two one-sided tests at α are one interval at 2α.
        let both = self.half_width(kind, 2.0 * ALPHA);
        if self.value - half > 0.0 {
            MeasuredVerdict::Better
        } else if self.value + half < 0.0 {
            MeasuredVerdict::Worse
        } else if self.value.abs() + both < margin || self.is_exact() {
            MeasuredVerdict::Equal
        } else {
            MeasuredVerdict::Undecided
        }
    }

    /// The expected number of further rulings until the confidence sequence decides for better,
    /// worse or equal, if the estimate stays as it is and the next draws scatter as the ones so
    /// far: `weight` is that of the next draw. `None` if it is not below `left`, the number of
    /// documents after which the value is exact.
    pub fn rulings_to_decide(&self, weight: f64, left: usize, margin: f64) -> Option<usize> {
        let decides = |more: usize| {
            let half = |alpha| self.sequence_half_width(more as f64, weight, alpha);
            let distance = self.value.abs();
            half(ALPHA) < distance || distance + half(2.0 * ALPHA) < margin
        };
        if self.is_exact() {
            return Some(0);
        }
        // The width falls with the number of rulings, so that the first is found by bisection.
        let (mut low, mut high) = (0, left);
        while low < high {
            let middle = low + (high - low) / 2;
            if decides(middle) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        (low < left).then_some(low)
    }
}

/// The spread of a metric between queries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuerySpread {
    /// Sample variance over queries of the expected metric.
    pub variance: f64,
    pub queries: usize,
}

impl QuerySpread {
    pub fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Self {
            variance: if values.len() > 1 {
                squares / (n - 1.0)
            } else {
                0.0
            },
            queries: values.len(),
        }
    }
}

/// What a comparison has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MeasuredVerdict {
    Better,
    Worse,
    /// The difference is within the margin, by two one-sided tests.
    Equal,
    Undecided,
}

/// The v at which the normal mixture with ρ = V/v is narrowest: v = ln(1 + v) − 2 ln α, that is
/// −W₋₁(−α²/e) − 1 (Waudby-Smith et al.).
fn mixture_optimum(alpha: f64) -> f64 {
    let base = -2.0 * alpha.ln();
    (0..100).fold(base, |v, _| base + v.ln_1p())
}

fn t_quantile(degrees: f64, alpha: f64) -> f64 {
    let upper = 1.0 - alpha / 2.0;
    match StudentsT::new(0.0, 1.0, degrees) {
        Ok(t) => t.inverse_cdf(upper),
        Err(_) => Normal::standard().inverse_cdf(upper),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exact_difference_of_a_rounding_error_is_none() {
        for value in [-1e-17, 0.0, 3e-16] {
            let exact = CombinedEstimate::exact(value, 0);
            let verdict = exact.verdict(IntervalKind::Sequence, 0.05);
            assert_eq!((exact.value, verdict), (0.0, MeasuredVerdict::Equal));
            assert_eq!(exact.flip_probability(), 0.5);
        }
        let worse = CombinedEstimate::exact(-1e-4, 0);
        let verdict = worse.verdict(IntervalKind::Sequence, 0.05);
        assert_eq!(verdict, MeasuredVerdict::Worse);
    }

    /// The p-value of 0 is at most α exactly if the sequence with error α excludes 0.
    #[test]
    fn the_p_value_agrees_with_the_sequence() {
        let draw = |value| DrawEstimate {
            value,
            variance: 0.04,
        };
        let mut found = [false; 2];
        for count in [1, 2, 5, 20, 80] {
            for step in 0..60 {
                let value = f64::from(step) * 0.05 - 1.0;
                let draws: Vec<DrawEstimate> = (0..count)
                    .map(|at| draw(value + if at % 2 == 0 { 0.1 } else { -0.1 }))
                    .collect();
                let of = CombinedEstimate::of(&draws).expect("draws");
                let excludes = of.value.abs() >= of.half_width(IntervalKind::Sequence, ALPHA);
                assert_eq!(of.sequence_p() <= ALPHA, excludes, "{value} {count}");
                found[usize::from(excludes)] = true;
            }
        }
        assert_eq!(found, [true; 2]);
    }
}
