//! When to stop: how sure the top k is, and how many more battles would tell two documents apart.

use crate::domain::battle::Pair;
use crate::domain::ranking::View;
use crate::domain::rating::TopDraws;
use crate::domain::{analysis, rating};
use statrs::distribution::{ContinuousCDF, Normal};

/// The seed of the posterior draws: the same rows give the same certainty everywhere.
const SEED: u64 = 0x70b5;

/// How sure the top of a query is.
#[derive(Clone, Debug, PartialEq)]
pub struct Certainty {
    /// The ranks in question.
    pub top: usize,
    /// P(the top holds the documents that it truly should, in any order): the share of 1000 draws from the joint posterior
    /// of the scores in which it does.
    pub probability: f64,
    /// Lower end of the 95 % Wilson interval of `probability`, for the chance in 1000 draws.
    pub at_least: f64,
    /// P(the document is truly in the top), by pool index, from the same draws; `None` for documents without a score.
    pub inside: Vec<Option<f64>>,
}

impl Certainty {
    /// Whether the top is settled at a level such as 0.95: one may stop, because the judgments so far leave the top a
    /// probability of being wrong of at most 1 − level. It is a statement about the model's posterior: errors that all
    /// judges share are not in it.
    pub fn settled(&self, level: f64) -> bool {
        self.at_least >= level
    }
}

/// How sure the first `top` ranks of a query are. The joint draws are used and not a bound over pairs: the pairs that
/// straddle the cut share their errors, and a union bound over them would call most settled queries open.
///
/// `None` where the model has no errors, and where `top` leaves nothing to decide.
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

/// Who is among the first `top` ranks in draws from the joint posterior, by place among the documents that have a score: the
/// same ones for all that is said of a view's top. `None` where the model has no errors, and where `top` leaves nothing to decide.
pub(super) fn top_draws(view: &View, top: usize) -> Option<TopDraws> {
    let fit = view.fit.as_ref().ok()?;
    rating::top_draws(&fit.scores, view.covariance()?, top, SEED)
}

/// What it takes to tell two documents apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Separation {
    /// Further battles between the two; 0 where they are apart already.
    pub battles: usize,
    /// Judge calls for them: battles times the judges that count.
    pub calls: usize,
}

/// Battles between two documents until P(the better one is truly better) reaches `level`, if their gap d stays what it is.
///
/// n battles add the information n p(1 − p) to the gap: 1/R(n) = 1/R + n p(1 − p), and Φ(|d| / √(φ R(n))) ≥ level is asked
/// for (SCIENCE §3). Battles against other documents say less about the pair, so this is what a plan needs at least. `None`
/// for a gap of 0, which no number of battles separates; for a level outside 0.5..1; and where the model has no errors.
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

/// The documents on ranks `top` and `top` + 1 of the present order.
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
    // A gap of a rounding error asks for more battles than anyone can count.
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
        // z = 1.645: 2.706 wanted, 0.25 known, 0.25 a battle.
        assert_eq!(battles_to_separate(-1.0, 4.0, 1.0, 0.5, 0.95), Some(10));
    }
}
