//! The contribution of one observation to the objective, for each of the two links.

use super::{Observation, RatingModel};
use crate::domain::numeric::sigma;
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

/// From here on, exp(x²) · erfc(x) is computed as a continued fraction, since the product would
/// lose digits.
const FAR: f64 = 4.0;

/// Number of terms of the continued fraction: accurate to 1e-16 at `FAR`; fewer would suffice
/// beyond.
const TERMS: u32 = 60;

/// The loss of one observation of weight 1 at the argument `z`, with its derivatives.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkTerms {
    /// The negative log-likelihood.
    pub(super) loss: f64,
    /// Minus the first derivative: how strongly the observation pulls `z` up.
    pub(super) pull: f64,
    /// The second derivative, at least 0.
    pub(super) curvature: f64,
}

/// The Bradley–Terry link, accurate in both tails.
#[inline]
pub(super) fn logistic(z: f64, score: f64) -> LinkTerms {
    let tail = (-z.abs()).exp();
    let (near, far) = (1.0 / (1.0 + tail), tail / (1.0 + tail));
    let (up, down) = if z >= 0.0 { (near, far) } else { (far, near) };
    let against = if z >= 0.0 { 1.0 - score } else { score };
    LinkTerms {
        loss: tail.ln_1p() + against * z.abs(),
        pull: score * down - (1.0 - score) * up,
        curvature: near * far,
    }
}

/// The link of the zELO paper, P = (1 + erf z) / 2.
#[inline]
pub(super) fn erf_link(z: f64, score: f64) -> LinkTerms {
    let (near, far, sign) = if z >= 0.0 {
        (score, 1.0 - score, 1.0)
    } else {
        (1.0 - score, score, -1.0)
    };
    let x = z.abs();
    let bell = (-x * x).exp();
    let tail = Tail::at(x);
    let mass = bell * tail.scaled;
    let near_slope = FRAC_2_SQRT_PI * bell / (2.0 - mass);
    let far_slope = FRAC_2_SQRT_PI / tail.scaled;
    LinkTerms {
        loss: far * (x * x - (0.5 * tail.scaled).ln()) - near * (-0.5 * mass).ln_1p(),
        pull: sign * (near * near_slope - far * far_slope),
        curvature: near * near_slope * (2.0 * x + near_slope) + far * far_slope * tail.excess,
    }
}

/// The probability that B wins at the argument `z`.
pub(super) fn probability(model: RatingModel, z: f64) -> f64 {
    match model {
        RatingModel::Thurstone => 0.5 * libm::erfc(-z),
        RatingModel::Map | RatingModel::Mle | RatingModel::Zbench => sigma(z),
    }
}

/// The standard normal distribution function. (`erfc` of statrs 0.19 is only accurate to 4e-11.)
pub(super) fn normal_cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x * FRAC_1_SQRT_2)
}

/// The upper tail of the error function without its factor exp(−x²), to avoid underflow and
/// overflow.
struct Tail {
    /// exp(x²) · erfc(x).
    scaled: f64,
    /// 2 / (√π · scaled) − 2x, without cancellation for large x.
    excess: f64,
}

impl Tail {
    fn at(x: f64) -> Self {
        if x <= FAR {
            let scaled = libm::erfc(x) * (x * x).exp();
            return Self {
                scaled,
                excess: FRAC_2_SQRT_PI / scaled - 2.0 * x,
            };
        }
        // erfc(x) = exp(−x²) / (√π (x + rest)), rest = ½ / (x + 1 / (x + 3⁄2 / (x + …))).
        let rest = (1..=TERMS)
            .rev()
            .fold(0.0, |rest, k| 0.5 * f64::from(k) / (x + rest));
        Self {
            scaled: 0.5 * FRAC_2_SQRT_PI / (x + rest),
            excess: 2.0 * rest,
        }
    }
}

/// The curvature of an observation's loss by the gap of its scores.
pub(super) fn stiffness(o: &Observation, model: RatingModel, scores: &[f64]) -> f64 {
    o.weight * o.slope * o.slope * local(o, model, scores).curvature
}

/// The terms of an observation at some scores.
pub(super) fn local(o: &Observation, model: RatingModel, scores: &[f64]) -> LinkTerms {
    let z = o.argument(scores);
    match model {
        RatingModel::Thurstone => erf_link(z, o.score),
        RatingModel::Map | RatingModel::Mle | RatingModel::Zbench => logistic(z, o.score),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_links_agree_with_their_difference_quotients() {
        for link in [logistic as fn(f64, f64) -> LinkTerms, erf_link] {
            for step in -60..=60 {
                let z = f64::from(step) * 0.1 + 0.013;
                for score in [0.0, 0.3, 1.0] {
                    let (h, here) = (1e-5, link(z, score));
                    let (back, forth) = (link(z - h, score), link(z + h, score));
                    let pull = (back.loss - forth.loss) / (2.0 * h);
                    let curvature = (back.pull - forth.pull) / (2.0 * h);
                    let error = (here.pull - pull).abs() + (here.curvature - curvature).abs();
                    assert!(error < 1e-8 * (1.0 + here.pull.abs()), "{z} {here:?}");
                }
            }
        }
    }

    #[test]
    fn the_tail_of_the_erf_link_continues_its_middle() {
        for score in [0.0, 0.5, 1.0] {
            let (middle, tail) = (erf_link(-FAR, score), erf_link(-FAR - 1e-15, score));
            let error = (middle.loss - tail.loss).abs()
                + (middle.pull - tail.pull).abs()
                + (middle.curvature - tail.curvature).abs();
            assert!(error < 1e-12, "{middle:?} {tail:?}");
        }
    }

    #[test]
    fn nothing_overflows_however_wrong_the_scores_are() {
        for z in [-1e6, -800.0, -40.0, 40.0, 800.0, 1e6] {
            for score in [0.0, 0.5, 1.0] {
                for local in [logistic(z, score), erf_link(z, score)] {
                    assert!(local.loss.is_finite() && local.pull.is_finite());
                    assert!(local.curvature.is_finite() && local.curvature >= 0.0);
                }
            }
        }
        assert!((erf_link(-1e6, 1.0).curvature - 2.0).abs() < 1e-9);
    }

    #[test]
    fn probabilities_are_right_in_both_tails() {
        assert_eq!(probability(RatingModel::Map, -800.0), 0.0);
        assert_eq!(probability(RatingModel::Thurstone, 800.0), 1.0);
        assert!((probability(RatingModel::Map, -40.0) / (-40.0f64).exp() - 1.0).abs() < 1e-12);
        assert!((normal_cdf(1.0) - 0.841_344_746_068_542_9).abs() < 1e-15);
        for (x, expected) in [
            (0.1, 8.875_370_839_817_152e-1),
            (1.0, 1.572_992_070_502_851_3e-1),
            (2.0, 4.677_734_981_047_265e-3),
            (4.0, 1.541_725_790_028_002e-8),
            (6.0, 2.151_973_671_249_892e-17),
            (-1.0, 1.842_700_792_949_715),
        ] {
            let value = 2.0 * probability(RatingModel::Thurstone, -x);
            assert!((value / expected - 1.0).abs() < 1e-14, "{x}: {value}");
        }
    }
}
