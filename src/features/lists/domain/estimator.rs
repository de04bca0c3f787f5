//! Fits list answers and votes of one query under given dispersions and tastes.

use super::block::Block;
use super::kind::ListKind;
use crate::domain::numeric::dot;
use crate::domain::rating::{self, Covariance, JudgeErrors, Observation, RatingOptions};
use std::collections::BTreeMap;

/// What a fit assumes about the scores and the answers.
#[derive(Clone, Debug, PartialEq)]
pub struct ListModel {
    /// Precision of the normal prior of a score, above 0: one over the variance of true scores.
    pub precision: f64,
    /// The dispersion φ of the answers of each kind; 1 for kinds that are not listed.
    pub phi: BTreeMap<ListKind, f64>,
    /// The variance τ² of a judge's taste for a document, in squared score units; 0 if judges have
    /// no tastes.
    pub taste: f64,
}

impl Default for ListModel {
    fn default() -> Self {
        Self {
            precision: 0.15,
            phi: BTreeMap::new(),
            taste: 0.0,
        }
    }
}

impl ListModel {
    /// The dispersion of the answers of a kind.
    pub fn phi_of(&self, kind: ListKind) -> f64 {
        self.phi.get(&kind).copied().unwrap_or(1.0)
    }

    pub(super) fn observations<'a>(
        &'a self,
        blocks: impl IntoIterator<Item = &'a Block>,
    ) -> Vec<Observation> {
        blocks
            .into_iter()
            .flat_map(|block| block.observations(self.phi_of(block.kind())))
            .collect()
    }
}

/// The fit of one query.
#[derive(Clone, Debug)]
pub struct ListFit {
    /// One score per document, in natural units, summing to 0.
    pub scores: Vec<f64>,
    /// The covariance of the scores, which includes the dispersions.
    pub covariance: Covariance,
    /// The judges with tastes, by seat; empty without tastes.
    pub(super) tastes: Vec<JudgeErrors>,
    /// The objective at its maximum: Σ (w/φ) ln σ(…) − p/2·|θ|² − Σ u²/2τ².
    pub(super) objective: f64,
}

/// Maximizes Σ (w/φ) ln σ(e_i − e_j) − p/2·|θ|² − Σ u²/2τ² over the scores θ and the tastes u, where
/// e = θ + u_judge, and returns θ with its block of the inverse Hessian.
///
/// Without tastes, this is the fit of the votes' model ([`rating::fit`]), bit for bit. `None` if an
/// answer is about a document outside the pool, if the precision, a dispersion or the taste is out of
/// range, and above [`MAX_DENSE`](rating::MAX_DENSE) documents.
pub fn fit_blocks(documents: usize, blocks: &[Block], model: &ListModel) -> Option<ListFit> {
    let observations = model.observations(blocks);
    let options = RatingOptions {
        lambda: model.precision,
        taste: model.taste * model.precision,
        ..RatingOptions::default()
    };
    let fit = rating::fit(documents, &observations, &options, None).ok()?;
    let covariance = rating::covariance(documents, &observations, &fit, &options, 1.0)?;
    let tastes = rating::taste_errors(&observations, &fit, &options, &covariance)?;
    let own = |o: &Observation, document: usize| {
        let taste = o.judge.and_then(|judge| taste_of(&tastes, judge, document));
        fit.scores[document] + taste.unwrap_or(0.0)
    };
    let likelihood: f64 = observations
        .iter()
        .map(|o| log_likelihood(o, own(o, o.b) - own(o, o.a)))
        .sum();
    let squared: f64 = tastes
        .iter()
        .map(|of| dot::<4>(&of.values, &of.values))
        .sum();
    let penalty = if model.taste > 0.0 {
        0.5 * squared / model.taste
    } else {
        0.0
    };
    let prior = 0.5 * model.precision * dot::<4>(&fit.scores, &fit.scores);
    Some(ListFit {
        scores: fit.scores,
        covariance,
        tastes,
        objective: likelihood - prior - penalty,
    })
}

/// The taste of a judge for a document; `None` if it has not compared it.
pub(super) fn taste_of(tastes: &[JudgeErrors], judge: u32, document: usize) -> Option<f64> {
    let of = tastes.iter().find(|of| of.judge == judge)?;
    let at = of.documents.binary_search(&document).ok()?;
    of.values.get(at).copied()
}

fn log_likelihood(o: &Observation, gap: f64) -> f64 {
    // ln σ(z) without overflow.
    let ln_sigma = |z: f64| z.min(0.0) - (-z.abs()).exp().ln_1p();
    o.weight * (o.score * ln_sigma(gap) + (1.0 - o.score) * ln_sigma(-gap))
}
