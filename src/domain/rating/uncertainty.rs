//! Uncertainty of the scores: the covariance of the Laplace approximation, and the dispersion of
//! the battles.

use super::link;
use super::matrix::{add_spring, gram, inverse_factor};
use super::tastes::{JudgeCurvature, weight_with_tastes};
use super::{Fit, Observation, RatingModel, RatingOptions, check};
use crate::domain::numeric::{axpy, dot};

/// Maximum number of documents for a dense covariance, which takes 16 MB and 0.2 s.
pub const MAX_DENSE: usize = 1000;

/// Number of draws computed at once, which fit in a few registers.
pub(super) const LANES: usize = 8;

/// Leverage is capped at this value, so that one decisive battle cannot make the dispersion
/// explode.
const LEVERAGE_CAP: f64 = 0.95;

/// The covariance of the scores of one fit, φ · H⁻¹, dense.
#[derive(Clone, Debug, PartialEq)]
pub struct Covariance {
    documents: usize,
    phi: f64,
    cells: Vec<f64>,
    /// The inverse Cholesky factor of the Hessian, lower triangular, in row order, without φ; its
    /// documents are in `order`.
    factor: Vec<f64>,
    /// The documents in the order in which errors are drawn.
    order: Vec<usize>,
}

impl Covariance {
    /// φ · H⁻¹ for the Hessian H of `documents` scores, in row order. `None` if H has another size
    /// or is not positive definite, and above [`MAX_DENSE`] documents.
    pub fn of_hessian(hessian: Vec<f64>, documents: usize, phi: f64) -> Option<Self> {
        if documents > MAX_DENSE || hessian.len() != documents * documents {
            return None;
        }
        let order: Vec<usize> = (0..documents).collect();
        Self::inverted(hessian, order.clone(), &order, 0.0, phi)
    }

    /// φ · (H⁻¹ − `anchor`), where the rows of the Hessian are in `order` and `place` is the inverse
    /// of that permutation.
    fn inverted(
        hessian: Vec<f64>,
        order: Vec<usize>,
        place: &[usize],
        anchor: f64,
        phi: f64,
    ) -> Option<Self> {
        let documents = order.len();
        let factor = inverse_factor(hessian, documents)?;
        let placed = gram(&factor, documents);
        let cells = place
            .iter()
            .flat_map(|i| place.iter().map(move |j| (i, j)))
            .map(|(i, j)| placed[i * documents + j] - anchor)
            .collect();
        Some(Self {
            documents,
            phi,
            cells,
            factor,
            order,
        })
    }

    pub fn documents(&self) -> usize {
        self.documents
    }

    /// The dispersion φ it was scaled with.
    pub fn phi(&self) -> f64 {
        self.phi
    }

    pub fn get(&self, i: usize, j: usize) -> f64 {
        self.phi * self.cell(i, j)
    }

    /// The same errors with another dispersion.
    #[must_use]
    pub fn with_phi(self, phi: f64) -> Self {
        Self { phi, ..self }
    }

    pub fn se(&self, i: usize) -> f64 {
        self.get(i, i).max(0.0).sqrt()
    }

    /// The standard error of the gap between the scores of `i` and `j`.
    pub fn gap_se(&self, i: usize, j: usize) -> f64 {
        (self.phi * self.resistance(i, j)).sqrt()
    }

    /// The probability that `i` is truly better than `j`: Φ((e_i − e_j) / se of the gap), one half
    /// for `i` = `j`.
    pub fn outranks(&self, scores: &[f64], i: usize, j: usize) -> f64 {
        let gap = scores[i] - scores[j];
        if gap == 0.0 {
            return 0.5;
        }
        link::normal_cdf(gap / self.gap_se(i, j))
    }

    /// The probability that the true score of `i` is above `bar`: Φ((e_i − bar) / se_i)
    /// (science.md § Uncertainty).
    pub fn exceeds(&self, scores: &[f64], i: usize, bar: f64) -> f64 {
        let gap = scores[i] - bar;
        if gap == 0.0 {
            return 0.5;
        }
        link::normal_cdf(gap / self.se(i))
    }

    /// ½ ln det of the Hessian whose inverse it is, for a model with a prior.
    pub(crate) fn half_log_det(&self) -> f64 {
        let step = self.documents + 1;
        -self
            .factor
            .iter()
            .step_by(step)
            .map(|f| f.ln())
            .sum::<f64>()
    }

    /// Transforms independent standard normals into one draw of the scores' error. It may include a
    /// shift common to all documents.
    pub(crate) fn spread(&self, normals: &[f64], error: &mut [f64]) {
        let mut drawn = vec![0.0; self.documents];
        let scale = self.phi.sqrt();
        for (k, row) in self.factor.chunks_exact(self.documents.max(1)).enumerate() {
            axpy(scale * normals[k], &row[..=k], &mut drawn[..=k]);
        }
        for (document, drawn) in self.order.iter().zip(drawn) {
            error[*document] = drawn;
        }
    }

    /// The factor by columns, each from the diagonal down, as [`Covariance::spread_lanes`] expects.
    pub(super) fn columns(&self) -> Vec<f64> {
        let size = self.documents;
        let column = |i: usize| (i..size).map(move |k| self.factor[k * size + i]);
        (0..size).flat_map(column).collect()
    }

    /// [`Covariance::spread`] for several draws at once, with the same sums in the same order.
    /// Scales `normals` in place.
    pub(super) fn spread_lanes(
        &self,
        columns: &[f64],
        normals: &mut [[f64; LANES]],
        errors: &mut [[f64; LANES]],
    ) {
        let scale = self.phi.sqrt();
        for normal in normals.iter_mut().flatten() {
            *normal *= scale;
        }
        let mut rest = columns;
        for (i, document) in self.order.iter().enumerate() {
            let (column, next) = rest.split_at(self.documents - i);
            rest = next;
            let mut sums = [0.0; LANES];
            for (factor, normal) in column.iter().zip(&normals[i..]) {
                for lane in 0..LANES {
                    sums[lane] += factor * normal[lane];
                }
            }
            errors[*document] = sums;
        }
    }

    fn cell(&self, i: usize, j: usize) -> f64 {
        self.cells[i * self.documents + j]
    }

    /// The effective resistance between two documents: the variance of their gap without φ.
    pub fn resistance(&self, i: usize, j: usize) -> f64 {
        (self.cell(i, i) + self.cell(j, j) - 2.0 * self.cell(i, j)).max(0.0)
    }
}

/// The covariance of a fit's scores with the dispersion `phi` (1/M if M judges share a battle of
/// weight 1).
///
/// With a prior it is φ · H⁻¹, without one φ · [(L + 11ᵀ/K)⁻¹ − 11ᵀ/K]. `None` for `Zbench`, whose
/// scores depend on its stopping rule and not on a Hessian; above [`MAX_DENSE`] documents; if the
/// fit or an observation does not belong to the pool; and if the Hessian is singular.
pub fn covariance(
    documents: usize,
    observations: &[Observation],
    fit: &Fit,
    options: &RatingOptions,
    phi: f64,
) -> Option<Covariance> {
    let order: Vec<usize> = (0..documents).collect();
    covariance_drawn_in(order, observations, fit, options, phi)
}

/// As [`covariance`], drawing errors for the documents in the given order. An order that does not
/// depend on the numbering of the documents, such as that of their identifiers, gives every
/// document the same draws under any numbering. Also `None` if `order` is not a permutation of the
/// documents.
pub fn covariance_drawn_in(
    order: Vec<usize>,
    observations: &[Observation],
    fit: &Fit,
    options: &RatingOptions,
    phi: f64,
) -> Option<Covariance> {
    let documents = order.len();
    let mut place = vec![usize::MAX; documents];
    for (at, document) in order.iter().enumerate() {
        *place.get_mut(*document)? = at;
    }
    if place.contains(&usize::MAX) {
        return None;
    }
    if options.model == RatingModel::Zbench
        || documents > MAX_DENSE
        || fit.scores.len() != documents
        || check(documents, observations).is_err()
    {
        return None;
    }
    let anchor = if options.model == RatingModel::Mle {
        1.0 / documents.max(1) as f64
    } else {
        0.0
    };
    let mut hessian = vec![anchor; documents * documents];
    for i in 0..documents {
        hessian[i * documents + i] += options.precision();
    }
    let has_tastes = options.taste_precision().is_some();
    let of_scores = |o: &&Observation| o.counts() && !(has_tastes && o.judge.is_some());
    for o in observations.iter().filter(of_scores) {
        let stiffness = link::stiffness(o, options.model, &fit.scores);
        add_spring(&mut hessian, documents, (place[o.a], place[o.b]), stiffness);
    }
    for judge in JudgeCurvature::of(observations, fit, options)? {
        for (i, j, softened) in judge.softened() {
            hessian[place[i] * documents + place[j]] += softened;
        }
    }
    Covariance::inverted(hessian, order, &place, anchor, phi)
}

/// The leverage of a battle: how much of its score the fit has taken from that battle itself, at
/// least 0. With tastes, its weight is that of [`super::weight_with_tastes`].
pub fn leverage(
    o: &Observation,
    options: &RatingOptions,
    fit: &Fit,
    covariance: &Covariance,
) -> f64 {
    link::stiffness(o, options.model, &fit.scores) * covariance.resistance(o.a, o.b)
}

/// The Hessian's diagonal: the precision of each score if the others were fixed.
pub fn firmness(
    documents: usize,
    observations: &[Observation],
    fit: &Fit,
    options: &RatingOptions,
) -> Vec<f64> {
    let mut diagonal = vec![options.precision(); documents];
    for o in observations.iter().filter(|o| o.counts()) {
        let v = link::local(o, options.model, &fit.scores).curvature;
        let judges = usize::from(o.judge.is_some());
        let weight = weight_with_tastes(o.weight, judges, v, options);
        let stiffness = weight * o.slope * o.slope * v;
        diagonal[o.a] += stiffness;
        diagonal[o.b] += stiffness;
    }
    diagonal
}

/// The dispersion of one or more fits, as the two sums whose quotient it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Dispersion {
    /// Σ weight · (score − p)².
    pub numerator: f64,
    /// Σ p(1 − p)(1 − leverage).
    pub denominator: f64,
    /// The change of the denominator per unit of φ, because the prior has pulled the fitted p
    /// toward one half; 0 in data stored by older versions.
    #[serde(default)]
    pub drift: f64,
    /// Σ leverage, uncapped: the degrees of freedom used by the scores, in battles.
    pub leverage: f64,
    pub battles: usize,
}

impl Dispersion {
    /// φ̂: 1 for battles as noisy as single games, about 1/M if M judges share one. `None` if there
    /// is no battle whose outcome is uncertain.
    ///
    /// It solves φ · (denominator + φ · drift) = numerator. Without the drift it would be .25 to
    /// .31 if the true value is ⅓.
    pub fn phi(&self) -> Option<f64> {
        let inside = self.denominator.powi(2) + 4.0 * self.drift * self.numerator;
        let root = inside.max(0.0).sqrt();
        (self.denominator > 0.0).then(|| 2.0 * self.numerator / (self.denominator + root))
    }

    /// The combined dispersion of this and another query.
    #[must_use]
    pub fn pooled(self, other: Self) -> Self {
        Self {
            numerator: self.numerator + other.numerator,
            denominator: self.denominator + other.denominator,
            drift: self.drift + other.drift,
            leverage: self.leverage + other.leverage,
            battles: self.battles + other.battles,
        }
    }
}

/// The dispersion of the battles of a fit relative to the model's variance of single games. `None`
/// without battles.
///
/// The covariance is that of the same fit; its φ does not matter.
pub fn dispersion(
    observations: &[Observation],
    fit: &Fit,
    options: &RatingOptions,
    covariance: &Covariance,
) -> Option<Dispersion> {
    let documents = covariance.documents();
    if fit.scores.len() != documents || check(documents, observations).is_err() {
        return None;
    }
    let mut sums = Dispersion::default();
    let lean = lean(observations, fit, options, covariance);
    for o in observations.iter().filter(|o| o.counts()) {
        let p = o.expected(options.model, &fit.scores);
        let leverage = leverage(o, options, fit, covariance);
        sums.numerator += o.weight * (o.score - p).powi(2);
        let left = 1.0 - leverage.min(LEVERAGE_CAP);
        sums.denominator += p * (1.0 - p) * left;
        if let Some(lean) = &lean {
            let v = p * (1.0 - p);
            let shift = o.slope * (lean[o.b] - lean[o.a]);
            let spread = o.slope * o.slope * covariance.resistance(o.a, o.b);
            sums.drift += left * v * ((1.0 - 2.0 * p) * shift + 0.5 * (1.0 - 6.0 * v) * spread);
        }
        sums.leverage += leverage;
        sums.battles += 1;
    }
    (sums.battles > 0).then_some(sums)
}

/// The difference between each score's posterior mean and its mode, per unit of φ: −½ H⁻¹ Σ ∇(H's
/// diagonal) · resistance, the first term of its expansion (Tierney and Kadane 1986). `None` for
/// links other than the logistic.
///
/// The curvature of a battle decreases as its documents move apart, so the posterior is skewed
/// outward: computed at the modes alone, battles look closer than they are, and p(1 − p) is 3 to 15
/// % too large.
fn lean(
    observations: &[Observation],
    fit: &Fit,
    options: &RatingOptions,
    covariance: &Covariance,
) -> Option<Vec<f64>> {
    if options.model == RatingModel::Thurstone {
        return None;
    }
    let documents = covariance.documents();
    let mut pull = vec![0.0; documents];
    for o in observations.iter().filter(|o| o.counts()) {
        let p = o.expected(options.model, &fit.scores);
        let steepening = o.weight * o.slope.powi(3) * p * (1.0 - p) * (1.0 - 2.0 * p);
        let force = 0.5 * steepening * covariance.resistance(o.a, o.b);
        pull[o.b] -= force;
        pull[o.a] += force;
    }
    Some(
        covariance
            .cells
            .chunks_exact(documents.max(1))
            .map(|row| dot::<8>(row, &pull))
            .collect(),
    )
}
