//! Decides when to stop: the certainty of the top k, and the number of battles needed to tell two
//! documents apart.

use crate::domain::battle::Pair;
use crate::domain::ranking::View;
use crate::domain::rating::TopDraws;
use crate::domain::{analysis, rating};
use statrs::distribution::{ContinuousCDF, Normal};

/// The seed of the posterior draws, fixed so that the same rows always give the same certainty.
const SEED: u64 = 0x70b5;

/// The certainty of a query's top ranks.
#[derive(Clone, Debug, PartialEq)]
pub struct Certainty {
    /// Number of top ranks.
    pub top: usize,
    /// P(the top contains exactly the documents that truly belong there, in any order): the share
    /// of 1000 draws from the joint posterior of the scores in which it does.
    pub probability: f64,
    /// Lower end of the 95 % Wilson interval of `probability`, for the sampling error of 1000
    /// draws.
    pub at_least: f64,
    /// P(the document truly belongs in the top), by pool index, from the same draws; `None` for
    /// documents without a score.
    pub inside: Vec<Option<f64>>,
}

impl Certainty {
    /// Whether the top is settled at a level such as 0.95, so that one may stop: given the
    /// judgments so far, the probability that the top is wrong is at most 1 − level. This is a
    /// statement about the model's posterior and does not include errors shared by all judges.
    pub fn settled(&self, level: f64) -> bool {
        self.at_least >= level
    }
}

/// The certainty of the first `top` ranks of a query. It uses joint draws instead of a bound over
/// pairs: the pairs that straddle the cutoff share their errors, so a union bound over them would
/// call most settled queries open.
///
/// `None` if the model has no errors, and if `top` leaves nothing to decide.
pub fn certainty(view: &View, top: usize) -> Option<Certainty> {
    let draws = top_draws(view, top)?;
    let mut inside = vec![None; view.rows().documents];
    for (place, document) in view.entered().iter().enumerate() {
        if let Some(entry) = inside.get_mut(*document) {
            *entry = Some(draws.inside(place) as f64 / draws.draws as f64);
        }
    }
    let (at_least, _) = analysis::wilson(draws.same, draws.draws, 0.95)?;
    Some(Certainty {
        top,
        probability: draws.same as f64 / draws.draws as f64,
        at_least,
        inside,
    })
}

/// The members of the first `top` ranks in draws from the joint posterior, by index among the
/// documents with a score. All statements about a view's top use the same draws. `None` if the
/// model has no errors, and if `top` leaves nothing to decide.
pub(super) fn top_draws(view: &View, top: usize) -> Option<TopDraws> {
    let fit = view.fit.as_ref().ok()?;
    rating::top_draws(&fit.scores, view.covariance()?, top, SEED)
}

/// The effort needed to tell two documents apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Separation {
    /// Further battles between the two; 0 if they are already separated.
    pub battles: usize,
    /// Judge calls for these battles: battles times the number of judges that count.
    pub calls: usize,
}

/// Battles between two documents until P(the better one is truly better) reaches `level`, if their
/// gap d does not change.
///
/// n battles add the information n p(1 − p) to the gap: 1/R(n) = 1/R + n p(1 − p), and n is the
/// smallest number with Φ(|d| / √(φ R(n))) ≥ level (science.md § Uncertainty). Battles against
/// other documents are less informative about the pair, so this is the minimum for any plan. `None`
/// for a gap of 0, which no number of battles can separate; for a level outside 0.5..1; and if the
/// model has no errors.
pub fn separation(view: &View, pair: Pair, level: f64) -> Option<Separation> {
    let fit = view.fit.as_ref().ok()?;
    let (x, y) = view.places(pair)?;
    let gap = fit.scores.get(y)? - fit.scores.get(x)?;
    let covariance = view.covariance()?;
    let battles = battles_to_separate(
        gap,
        covariance.resistance(x, y),
        covariance.phi(),
        view.expected(pair.high(), pair.low())?,
        level,
    )?;
    Some(Separation {
        battles,
        calls: battles.saturating_mul(view.rows().judges.len()),
    })
}

/// The documents at ranks `top` and `top` + 1 of the current order.
pub fn at_the_cut(view: &View, top: usize) -> Option<Pair> {
    let scored = |document: &usize| view.standings.get(*document).is_some_and(Option::is_some);
    let last = view
        .by_zelo
        .get(top.checked_sub(1)?)
        .filter(|d| scored(d))?;
    let next = view.by_zelo.get(top).filter(|d| scored(d))?;
    Pair::new(*last, *next)
}

fn battles_to_separate(
    gap: f64,
    resistance: f64,
    phi: f64,
    probability: f64,
    level: f64,
) -> Option<usize> {
    if gap == 0.0 || !(0.5..1.0).contains(&level) {
        return None;
    }
    let z = Normal::standard().inverse_cdf(level);
    let wanted = phi * (z / gap).powi(2);
    let each = probability * (1.0 - probability);
    let battles = ((wanted - 1.0 / resistance) / each).max(0.0).ceil();
    // A gap of the size of a rounding error needs more battles than can be counted.
    (battles.is_finite() && battles < u32::MAX.into()).then_some(battles as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tie_is_never_separated_and_a_clear_gap_needs_nothing() {
        assert_eq!(battles_to_separate(0.0, 1.0, 1.0, 0.5, 0.95), None);
        assert_eq!(battles_to_separate(1e-9, 1.0, 1.0, 0.5, 0.95), None);
        assert_eq!(battles_to_separate(5.0, 1.0, 1.0, 0.99, 0.95), Some(0));
        assert_eq!(battles_to_separate(1.0, 1.0, 1.0, 0.7, 1.0), None);
        // z = 1.645: 2.706 needed, 0.25 known, 0.25 per battle.
        assert_eq!(battles_to_separate(-1.0, 4.0, 1.0, 0.5, 0.95), Some(10));
    }
}
