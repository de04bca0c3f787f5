//! Finds the temperature that calibrates probabilities.

use super::ScoredLogits;
use super::newton::Outcomes;
use crate::domain::prediction::OutcomeProbabilities;

/// The minimum and maximum temperature.
pub(super) const TEMPERATURES: (f64, f64) = (0.1, 10.0);
const STEPS: usize = 100;

/// A Newton step that changes the inverse temperature by less than this fraction is the last: the
/// next one would change it by about its square.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LastStep(f64);

impl LastStep {
    /// The temperature is exact.
    pub(super) const EXACT: Self = Self(1e-9);
    /// The loss is exact: near its minimum, it changes by the square of a change in temperature.
    pub(super) const EXACT_LOSS: Self = Self(1e-5);
}

/// The temperature T in .1..=10 that minimizes the cross entropy of logits / T with their targets
/// over the rows that `each` visits, starting from `near`; returns `near` if the temperature makes
/// no difference.
///
/// The loss is convex in s = 1/T: with z the logits of an outcome and p their probabilities, its
/// slope is Σ w (E_p\[z\] − E_target\[z\]) and its curvature Σ w Var_p(z). A Newton step that
/// leaves the interval containing the minimum is replaced by a bisection.
pub(super) fn temperature<E>(
    each: impl Fn(&mut dyn FnMut(ScoredLogits)) -> Result<(), E>,
    near: f64,
    last: LastStep,
) -> Result<f64, E> {
    let (coldest, hottest) = TEMPERATURES;
    let (mut low, mut high) = (1.0 / hottest, 1.0 / coldest);
    let (mut low_known, mut high_known) = (false, false);
    let mut s = (1.0 / near).clamp(low, high);
    for _ in 0..STEPS {
        let (slope, curve) = derivatives(&each, s)?;
        if slope == 0.0 || (slope < 0.0 && s >= high) || (slope > 0.0 && s <= low) {
            break;
        }
        if slope > 0.0 {
            (high, high_known) = (s, true)
        } else {
            (low, low_known) = (s, true)
        }
        let middle = (low * high).sqrt();
        let next = match s - slope / curve {
            next if next > low && next < high => next,
            next if next >= high && !high_known => high,
            next if next <= low && !low_known => low,
            _ => middle,
        };
        let is_last = (next - s).abs() <= last.0 * s;
        s = next;
        if is_last {
            break;
        }
    }
    Ok(1.0 / s)
}

/// Slope and curvature of the loss with respect to the inverse temperature.
fn derivatives<E>(
    each: impl Fn(&mut dyn FnMut(ScoredLogits)) -> Result<(), E>,
    s: f64,
) -> Result<(f64, f64), E> {
    let (mut slope, mut curve) = (0.0, 0.0);
    each(&mut |((eta, tau), score, weight)| {
        let found = Outcomes::of(eta * s, tau * s);
        let target = OutcomeProbabilities::soft_target(score);
        let mean = eta * found.preference + tau * found.tie;
        let squares = eta * eta * found.decisiveness + tau * tau * found.tie;
        slope += weight * (mean - (eta * target.preference() + tau * target.tie()));
        curve += weight * (squares - mean * mean);
    })?;
    Ok((slope, curve))
}

#[cfg(test)]
mod tests {
    use super::super::newton::cross_entropy;
    use super::*;
    use proptest::prelude::*;
    use std::convert::Infallible;

    fn each(
        rows: &[ScoredLogits],
    ) -> impl Fn(&mut dyn FnMut(ScoredLogits)) -> Result<(), Infallible> + '_ {
        |visit| {
            rows.iter().copied().for_each(visit);
            Ok(())
        }
    }

    fn fitted(rows: &[ScoredLogits], near: f64) -> f64 {
        let Ok(found) = temperature(each(rows), near, LastStep::EXACT);
        found
    }

    fn loss(rows: &[ScoredLogits], temperature: f64) -> f64 {
        let of = |((eta, tau), score, weight): &ScoredLogits| {
            weight * cross_entropy(eta / temperature, tau / temperature, *score)
        };
        rows.iter().map(of).sum()
    }

    /// Golden-section search over its logarithm, which uses only the loss.
    fn by_golden_section(rows: &[ScoredLogits]) -> f64 {
        let golden = 0.5 * (5.0f64.sqrt() - 1.0);
        let (mut low, mut high) = (-(10.0f64.ln()), 10.0f64.ln());
        for _ in 0..60 {
            let (x, y) = (high - golden * (high - low), low + golden * (high - low));
            if loss(rows, x.exp()) <= loss(rows, y.exp()) {
                high = y
            } else {
                low = x
            }
        }
        (0.5 * (low + high)).exp()
    }

    proptest! {
        #[test]
        fn it_is_where_a_golden_section_of_the_loss_ends(
            rows in prop::collection::vec(
                ((-4.0..4.0f64, -3.0..3.0f64), prop::sample::select(vec![0.0, 1.0 / 3.0, 0.5, 0.8, 1.0]), 0.2..3.0f64),
                1..60,
            ),
            near in 0.1..10.0f64,
        ) {
            let found = fitted(&rows, near);
            let expected = by_golden_section(&rows);
            let (least, reached) = (loss(&rows, expected), loss(&rows, found));
            prop_assert!((reached - least).abs() <= 1e-9 * (1.0 + least), "{found} {expected}: {reached} {least}");
            let Ok(sooner) = temperature(each(&rows), near, LastStep::EXACT_LOSS);
            let sooner = loss(&rows, sooner);
            prop_assert!((sooner - reached).abs() <= 1e-12 * (1.0 + least), "{sooner} {reached}");
            // Values of a loss distinguish temperatures only up to the square root of their
            // rounding error, and not at all where the loss is flat.
            let Ok((_, curve)) = derivatives(each(&rows), 1.0 / found);
            let blur = 10.0 * (1e-15 * (1.0 + least) / curve).sqrt();
            prop_assert!((1.0 / found - 1.0 / expected).abs() <= 1e-9 + blur, "{found} {expected}");
        }
    }

    #[test]
    fn bounds_are_kept_and_what_makes_no_difference_stays() {
        let row = |eta, score| ((eta, -1.0), score, 1.0);
        assert_eq!(fitted(&[], 3.0), 3.0);
        assert_eq!(fitted(&[((0.0, 0.0), 1.0, 2.0)], 1.0), 1.0);
        assert_eq!(fitted(&[row(0.2, 1.0)], 1.0), 0.1);
        assert_eq!(fitted(&[row(2.0, 0.0)], 1.0), 10.0);
        assert_eq!(fitted(&[row(0.2, 1.0)], 10.0), 0.1);
        assert_eq!(fitted(&[row(2.0, 0.0)], 0.1), 10.0);
    }
}
