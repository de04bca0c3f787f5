//! The lowest score from which decisions are accepted, by learn-then-test with a fixed sequence of
//! thresholds (Angelopoulos et al. 2021, *Learn then Test*).

use statrs::distribution::{Beta, ContinuousCDF as _};

/// Number of controls of an acceptance.
pub const CONTROLS: usize = 100;

/// The largest share of errors among accepted decisions, unless the user sets another one.
pub const DEFAULT_ALPHA: f64 = 0.10;

/// The probability with which the share of errors may be larger.
pub const DELTA: f64 = 0.10;

/// A control that a person has decided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RuledControl {
    /// The certainty of the judges' decision, from 0: |gap| / standard error of the gap.
    pub score: f64,
    /// Whether the person's direction is the opposite of the decision's.
    pub is_wrong: bool,
}

/// A threshold with the controls at or above it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LearnedThreshold {
    /// The lowest accepted score.
    pub score: f64,
    pub controls: usize,
    pub errors: usize,
    /// The upper bound of the share of errors at level δ, at most α.
    pub bound: f64,
}

/// The fewest controls with which a share of errors of at most `alpha` can be shown at level
/// `delta`, if none is wrong: ⌈ln δ / ln(1 − α)⌉. Both are in 0..1.
pub fn fewest_controls(alpha: f64, delta: f64) -> usize {
    (delta.ln() / (-alpha).ln_1p()).ceil() as usize
}

/// The exact one-sided upper bound of a share (Clopper & Pearson 1934): the largest p for which
/// P(X ≤ errors) ≥ `delta`, where X is binomial with `trials` and p. 1 if all trials are errors.
pub fn upper_bound(errors: usize, trials: usize, delta: f64) -> f64 {
    let right = trials.saturating_sub(errors) as f64;
    Beta::new(errors as f64 + 1.0, right).map_or(1.0, |beta| beta.inverse_cdf(1.0 - delta))
}

/// The lowest threshold such that, with probability at least 1 − δ, at most a share α of the
/// decisions at or above it are wrong; `None` if there is none. The controls are drawn uniformly
/// from the decisions.
///
/// The thresholds are the distinct scores of the controls, tested from the highest one down.
/// Thresholds with too few controls to reach α are skipped, which uses only the scores. The first
/// one whose [`upper_bound`] exceeds α ends the sequence.
pub fn learn_threshold(
    controls: &[RuledControl],
    alpha: f64,
    delta: f64,
) -> Option<LearnedThreshold> {
    let mut sorted = controls.to_vec();
    sorted.sort_by(|one, other| other.score.total_cmp(&one.score));
    let needed = fewest_controls(alpha, delta);
    let mut best = None;
    let (mut above, mut errors) = (0, 0);
    for same in sorted.chunk_by(|one, other| one.score == other.score) {
        above += same.len();
        errors += same.iter().filter(|control| control.is_wrong).count();
        if above < needed {
            continue;
        }
        let bound = upper_bound(errors, above, delta);
        if bound > alpha {
            break;
        }
        best = Some(LearnedThreshold {
            score: same[0].score,
            controls: above,
            errors,
            bound,
        });
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn controls(ruled: &[(u8, bool)]) -> Vec<RuledControl> {
        let control = |&(score, is_wrong): &(u8, bool)| RuledControl {
            score: f64::from(score),
            is_wrong,
        };
        ruled.iter().map(control).collect()
    }

    #[test]
    fn the_fewest_controls_are_those_without_an_error_that_reach_alpha() {
        let fewest = [0.05, 0.10, 0.20].map(|alpha| fewest_controls(alpha, DELTA));
        assert_eq!(fewest, [45, 22, 11]);
        for (alpha, fewest) in [0.05, 0.10, 0.20].into_iter().zip(fewest) {
            assert!(upper_bound(0, fewest, DELTA) <= alpha);
            assert!(upper_bound(0, fewest - 1, DELTA) > alpha);
        }
        assert_eq!(
            learn_threshold(&controls(&[(1, false); 21]), 0.1, DELTA),
            None
        );
        assert!(learn_threshold(&controls(&[(1, false); 22]), 0.1, DELTA).is_some());
    }

    #[test]
    fn a_threshold_below_one_that_fails_is_never_accepted() {
        // 30 right ones, then 10 wrong ones, then more right ones than would outweigh them.
        let mut ruled = vec![(9, false); 30];
        ruled.extend([(8, true); 10]);
        ruled.extend([(7, false); 200]);
        let found = learn_threshold(&controls(&ruled), 0.1, DELTA).unwrap();
        assert_eq!((found.score, found.controls, found.errors), (9.0, 30, 0));
    }

    proptest! {
        #[test]
        fn more_errors_never_accept_more(
            ruled in prop::collection::vec((0_u8..8, prop::bool::weighted(0.1)), 0..120),
            also_wrong: prop::sample::Index,
        ) {
            let of = |ruled: &[(u8, bool)]| {
                let found = learn_threshold(&controls(ruled), 0.1, DELTA);
                found.map_or(f64::INFINITY, |of| of.score)
            };
            let mut worse = ruled.clone();
            if let Some(control) = (!ruled.is_empty()).then(|| also_wrong.index(ruled.len())) {
                worse[control].1 = true;
            }
            prop_assert!(of(&worse) >= of(&ruled));
            let mut turned = ruled.clone();
            turned.reverse();
            prop_assert_eq!(of(&turned), of(&ruled));
        }
    }
}
