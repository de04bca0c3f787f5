//! Converts two documents' scores to a margin, using only operations that IEEE 754 defines exactly,
//! so that results are identical on all platforms.

/// Differences below this many pool scales are ties.
const DEAD_ZONE: f64 = 0.02;

/// Small differences in a pool are not amplified: the scale is at least this share of its best
/// score.
const LEAST_SCALE: f64 = 0.05;

/// The scale of a pool's scores, in which their differences are measured: the standard deviation,
/// with a lower bound.
///
/// Zero if all scores are.
pub(super) fn scale(scores: &[f64]) -> f64 {
    let count = scores.len().max(1) as f64;
    let mean = scores.iter().sum::<f64>() / count;
    let variance = scores
        .iter()
        .map(|score| (score - mean) * (score - mean))
        .sum::<f64>()
        / count;
    let best = scores.iter().fold(0.0, |best: f64, score| best.max(*score));
    variance.sqrt().max(LEAST_SCALE * best)
}

/// The margin of the documents presented as A and B, to three decimals: negative prefers A, 0
/// neither.
pub(super) fn margin(a: f64, b: f64, scale: f64) -> f64 {
    if scale <= 0.0 {
        return 0.0;
    }
    let difference = (b - a) / scale;
    let beyond = (difference.abs() - DEAD_ZONE).clamp(0.0, 1e6);
    // A sigmoid based on a square root, because the last bit of the C library's tanh differs
    // between platforms.
    let strength = beyond / (1.0 + beyond * beyond).sqrt();
    let rounded = (strength * 1000.0).round() / 1000.0;
    if rounded == 0.0 {
        0.0
    } else {
        rounded.copysign(difference)
    }
}

/// The natural logarithm of a positive normal number as a series, because `f64::ln` may differ
/// between platforms.
pub(super) fn ln(value: f64) -> f64 {
    let bits = value.to_bits();
    let mut exponent = ((bits >> 52) & 0x7ff) as f64 - 1023.0;
    let mut mantissa = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | 0x3ff0_0000_0000_0000);
    if mantissa > std::f64::consts::SQRT_2 {
        mantissa /= 2.0;
        exponent += 1.0;
    }
    let ratio = (mantissa - 1.0) / (mantissa + 1.0);
    let square = ratio * ratio;
    let series = (0..12)
        .rev()
        .fold(0.0, |sum, k| sum * square + 1.0 / f64::from(2 * k + 1));
    2.0 * ratio * series + exponent * std::f64::consts::LN_2
}

/// The inverse document frequency of a term in `holding` of `documents`, never negative (Robertson
/// & Zaragoza 2009, with the usual 1 added).
pub(super) fn idf(documents: usize, holding: usize) -> f64 {
    ln(1.0 + (documents.saturating_sub(holding) as f64 + 0.5) / (holding as f64 + 0.5))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn swapping_the_documents_flips_the_sign_exactly(a in 0.0..99.0f64, b in 0.0..99.0f64, scale in 0.0..9.0f64) {
            let (there, back) = (margin(a, b, scale), margin(b, a, scale));
            prop_assert_eq!((0.0 - there).to_bits(), (back + 0.0).to_bits());
            prop_assert!((-1.0..=1.0).contains(&there));
            prop_assert_eq!(margin(a, a, scale).to_bits(), 0.0f64.to_bits());
        }

        #[test]
        fn the_logarithm_is_the_logarithm(value in 1e-9..1e9f64) {
            prop_assert!((ln(value) - value.ln()).abs() < 1e-13 * (1.0 + value.ln().abs()));
        }
    }

    #[test]
    fn a_margin_grows_with_the_difference_and_the_smallest_are_ties() {
        let row: Vec<f64> = [0.0, 0.02, 0.03, 0.5, 1.0, 3.0, 1e9]
            .iter()
            .map(|b| margin(0.0, *b, 1.0))
            .collect();
        assert_eq!(row, [0.0, 0.0, 0.01, 0.433, 0.7, 0.948, 1.0]);
    }

    #[test]
    fn the_scale_is_the_spread_but_never_a_sliver_of_the_best_score() {
        assert_eq!(scale(&[]), 0.0);
        assert_eq!(scale(&[0.0, 0.0]), 0.0);
        assert_eq!(scale(&[1.0, 3.0]), 1.0);
        assert_eq!(scale(&[10.0, 10.0]), 0.5);
    }

    #[test]
    fn what_every_document_holds_still_weighs_a_little() {
        assert!(idf(10, 10) > 0.0 && idf(10, 10) < idf(10, 1));
        assert!((idf(1, 1) - (4.0f64 / 3.0).ln()).abs() < 1e-15);
    }
}
