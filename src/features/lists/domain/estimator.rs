//! Fits list answers and votes of one query under given dispersions and tastes.

use super::block::Block;
use super::kind::ListKind;
use crate::domain::numeric::{dot, sigma};
use crate::domain::rating::{self, Covariance, MAX_DENSE, Observation, RatingOptions};
use std::collections::BTreeMap;

/// Maximum number of Newton steps, and the largest gradient of a finished fit.
const MAX_STEPS: usize = 100;
const TOLERANCE: f64 = 1e-10;

/// Maximum change of a score in one step.
const STEP_CAP: f64 = 4.0;

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
    /// By seat; empty without tastes.
    pub(super) tastes: Vec<JudgeTaste>,
    /// The objective at its maximum: Σ (w/φ) ln σ(…) − p/2·|θ|² − Σ u²/2τ².
    pub(super) objective: f64,
}

/// How one judge values the documents of a query.
#[derive(Clone, Debug)]
pub(super) struct JudgeTaste {
    /// What the judge adds to the score of each document.
    pub(super) values: Vec<f64>,
    /// The covariance of the judge's own scores e = θ + u, in row order.
    pub(super) own: Vec<f64>,
    /// The variance of each taste.
    pub(super) variances: Vec<f64>,
    /// Documents in an answer of the judge.
    pub(super) seen: Vec<bool>,
    /// ½ ln det(I + τ²H) for the curvature H of the judge's answers.
    pub(super) half_log_det: f64,
}

/// Maximizes Σ (w/φ) ln σ(e_i − e_j) − p/2·|θ|² − Σ u²/2τ² over the scores θ and the tastes u, where
/// e = θ + u_judge, and returns θ with its block of the inverse Hessian.
///
/// Without tastes, this is the fit of the votes' model ([`rating::fit`]), bit for bit. `None` if an
/// answer is about a document outside the pool, if the precision or a dispersion is not above 0,
/// and above [`MAX_DENSE`] documents.
pub fn fit_blocks(documents: usize, blocks: &[Block], model: &ListModel) -> Option<ListFit> {
    let observations = model.observations(blocks);
    let options = RatingOptions {
        lambda: model.precision,
        ..RatingOptions::default()
    };
    let plain = rating::fit(documents, &observations, &options, None).ok()?;
    if model.taste > 0.0 {
        return JointFit::new(documents, blocks, model).maximize(plain.scores);
    }
    let covariance = rating::covariance(documents, &observations, &plain, &options, 1.0)?;
    let likelihood: f64 = observations
        .iter()
        .map(|o| log_likelihood(o, &plain.scores))
        .sum();
    let objective = likelihood - 0.5 * model.precision * dot::<4>(&plain.scores, &plain.scores);
    Some(ListFit {
        scores: plain.scores,
        covariance,
        tastes: Vec::new(),
        objective,
    })
}

fn log_likelihood(o: &Observation, scores: &[f64]) -> f64 {
    // ln σ(z) without overflow.
    let ln_sigma = |z: f64| z.min(0.0) - (-z.abs()).exp().ln_1p();
    let gap = scores[o.b] - scores[o.a];
    o.weight * (o.score * ln_sigma(gap) + (1.0 - o.score) * ln_sigma(-gap))
}

/// The answers of each judge, for the joint fit of scores and tastes.
struct JointFit {
    documents: usize,
    precision: f64,
    taste: f64,
    judges: Vec<Vec<Observation>>,
}

/// The objective's derivatives by a judge's own scores e = θ + u.
struct JudgeTerms {
    gradient: Vec<f64>,
    /// The curvature H of the judge's answers, in row order.
    curvature: Vec<f64>,
}

/// The factorized curvature of a judge's tastes.
struct JudgeCurvature {
    /// (H + I/τ²)⁻¹.
    inverse: Covariance,
}

impl JointFit {
    fn new(documents: usize, blocks: &[Block], model: &ListModel) -> Self {
        let seats = blocks.iter().map(|block| block.judge() + 1).max();
        let of_seat = |seat| {
            let own = blocks.iter().filter(|block| block.judge() == seat);
            model.observations(own)
        };
        Self {
            documents,
            precision: model.precision,
            taste: model.taste,
            judges: (0..seats.unwrap_or(0)).map(of_seat).collect(),
        }
    }

    fn objective(&self, scores: &[f64], tastes: &[Vec<f64>]) -> f64 {
        let of_judge = |(answers, taste): (&Vec<Observation>, &Vec<f64>)| {
            let own = sum(scores, taste);
            let likelihood: f64 = answers.iter().map(|o| log_likelihood(o, &own)).sum();
            likelihood - 0.5 * dot::<4>(taste, taste) / self.taste
        };
        let judged: f64 = self.judges.iter().zip(tastes).map(of_judge).sum();
        judged - 0.5 * self.precision * dot::<4>(scores, scores)
    }

    fn terms(&self, answers: &[Observation], own: &[f64]) -> JudgeTerms {
        let n = self.documents;
        let mut terms = JudgeTerms {
            gradient: vec![0.0; n],
            curvature: vec![0.0; n * n],
        };
        for o in answers {
            let p = sigma(own[o.b] - own[o.a]);
            let pull = o.weight * (o.score - p);
            terms.gradient[o.b] += pull;
            terms.gradient[o.a] -= pull;
            let stiffness = o.weight * p * (1.0 - p);
            for (i, j, sign) in [
                (o.a, o.a, 1.0),
                (o.b, o.b, 1.0),
                (o.a, o.b, -1.0),
                (o.b, o.a, -1.0),
            ] {
                terms.curvature[i * n + j] += sign * stiffness;
            }
        }
        terms
    }

    fn judge_curvature(&self, terms: &JudgeTerms) -> Option<JudgeCurvature> {
        let n = self.documents;
        let mut matrix = terms.curvature.clone();
        (0..n).for_each(|i| matrix[i * n + i] += 1.0 / self.taste);
        let inverse = Covariance::of_hessian(matrix, n, 1.0)?;
        Some(JudgeCurvature { inverse })
    }

    /// The inverse of the scores' curvature once tastes are integrated out:
    /// p·I + Σ (I/τ² − (H + I/τ²)⁻¹/τ⁴).
    fn marginal(&self, judges: &[JudgeCurvature]) -> Option<Covariance> {
        let n = self.documents;
        let mut matrix = vec![0.0; n * n];
        (0..n).for_each(|i| matrix[i * n + i] = self.precision);
        for judge in judges {
            for i in 0..n {
                matrix[i * n + i] += 1.0 / self.taste;
                for j in 0..n {
                    matrix[i * n + j] -= judge.inverse.get(i, j) / (self.taste * self.taste);
                }
            }
        }
        Covariance::of_hessian(matrix, n, 1.0)
    }

    /// Newton's method from the scores without tastes, with a step length that never lowers the
    /// objective. `None` if a matrix cannot be inverted.
    fn maximize(&self, start: Vec<f64>) -> Option<ListFit> {
        let n = self.documents;
        if n > MAX_DENSE {
            return None;
        }
        let mut scores = start;
        let mut tastes = vec![vec![0.0; n]; self.judges.len()];
        let mut value = self.objective(&scores, &tastes);
        for step in 0.. {
            let terms: Vec<JudgeTerms> = self
                .judges
                .iter()
                .zip(&tastes)
                .map(|(answers, taste)| self.terms(answers, &sum(&scores, taste)))
                .collect();
            let curvatures: Vec<JudgeCurvature> = terms
                .iter()
                .map(|terms| self.judge_curvature(terms))
                .collect::<Option<_>>()?;
            let marginal = self.marginal(&curvatures)?;
            let of_scores: Vec<f64> = (0..n)
                .map(|i| {
                    let pull: f64 = terms.iter().map(|terms| terms.gradient[i]).sum();
                    pull - self.precision * scores[i]
                })
                .collect();
            let of_tastes: Vec<Vec<f64>> = terms
                .iter()
                .zip(&tastes)
                .map(|(terms, taste)| {
                    let parts = terms.gradient.iter().zip(taste);
                    parts.map(|(pull, u)| pull - u / self.taste).collect()
                })
                .collect();
            let gradient = largest(of_tastes.iter().chain([&of_scores]));
            if gradient <= TOLERANCE || step == MAX_STEPS {
                return Some(self.finish(scores, tastes, value, &curvatures, marginal));
            }
            let (score_step, taste_steps) =
                self.newton_step(&terms, &curvatures, &marginal, &of_scores, &of_tastes);
            let reach = largest(taste_steps.iter().chain([&score_step]));
            let mut length = (STEP_CAP / reach).min(1.0);
            let slack = 1e-13 * (1.0 + value.abs());
            for _ in 0..60 {
                let new_scores = along(&scores, length, &score_step);
                let new_tastes: Vec<Vec<f64>> = tastes
                    .iter()
                    .zip(&taste_steps)
                    .map(|(taste, step)| along(taste, length, step))
                    .collect();
                let reached = self.objective(&new_scores, &new_tastes);
                if reached >= value - slack {
                    (scores, tastes, value) = (new_scores, new_tastes, reached);
                    break;
                }
                length *= 0.5;
            }
        }
        None
    }

    /// Solves the Newton equations by eliminating the tastes.
    fn newton_step(
        &self,
        terms: &[JudgeTerms],
        curvatures: &[JudgeCurvature],
        marginal: &Covariance,
        of_scores: &[f64],
        of_tastes: &[Vec<f64>],
    ) -> (Vec<f64>, Vec<Vec<f64>>) {
        let n = self.documents;
        let mut right = of_scores.to_vec();
        for ((terms, curvature), residual) in terms.iter().zip(curvatures).zip(of_tastes) {
            let solved = times(&curvature.inverse, residual);
            for (i, right) in right.iter_mut().enumerate() {
                *right -= dot::<4>(&terms.curvature[i * n..(i + 1) * n], &solved);
            }
        }
        let score_step = times(marginal, &right);
        let taste_steps = terms
            .iter()
            .zip(curvatures)
            .zip(of_tastes)
            .map(|((terms, curvature), residual)| {
                let left: Vec<f64> = residual
                    .iter()
                    .enumerate()
                    .map(|(i, r)| r - dot::<4>(&terms.curvature[i * n..(i + 1) * n], &score_step))
                    .collect();
                times(&curvature.inverse, &left)
            })
            .collect();
        (score_step, taste_steps)
    }

    fn finish(
        &self,
        scores: Vec<f64>,
        tastes: Vec<Vec<f64>>,
        objective: f64,
        curvatures: &[JudgeCurvature],
        covariance: Covariance,
    ) -> ListFit {
        let tastes = tastes
            .into_iter()
            .zip(curvatures)
            .zip(&self.judges)
            .map(|((values, curvature), answers)| {
                self.judge_taste(values, curvature, answers, &covariance)
            })
            .collect();
        ListFit {
            scores,
            covariance,
            tastes,
            objective,
        }
    }

    /// With G = (H + I/τ²)⁻¹/τ² and the covariance C of the scores, cov(e) = (H + I/τ²)⁻¹ + G C Gᵀ
    /// and cov(u) = (H + I/τ²)⁻¹ + (I − G) C (I − G)ᵀ.
    fn judge_taste(
        &self,
        values: Vec<f64>,
        curvature: &JudgeCurvature,
        answers: &[Observation],
        covariance: &Covariance,
    ) -> JudgeTaste {
        let n = self.documents;
        let inverse = &curvature.inverse;
        let (mut own, mut variances) = (vec![0.0; n * n], vec![0.0; n]);
        for i in 0..n {
            let kept: Vec<f64> = (0..n).map(|k| inverse.get(i, k) / self.taste).collect();
            let spread = times(covariance, &kept);
            for j in 0..n {
                let carried: f64 = (0..n).map(|k| spread[k] * inverse.get(k, j)).sum();
                own[i * n + j] = inverse.get(i, j) + carried / self.taste;
            }
            // (I − G)C(I − G)ᵀ on the diagonal: C − 2GC + GCGᵀ.
            variances[i] = own[i * n + i] + covariance.get(i, i) - 2.0 * spread[i];
        }
        let mut seen = vec![false; n];
        for o in answers {
            (seen[o.a], seen[o.b]) = (true, true);
        }
        JudgeTaste {
            values,
            own,
            variances,
            seen,
            half_log_det: inverse.half_log_det() + 0.5 * n as f64 * self.taste.ln(),
        }
    }
}

fn times(matrix: &Covariance, vector: &[f64]) -> Vec<f64> {
    let n = vector.len();
    (0..n)
        .map(|i| (0..n).map(|j| matrix.get(i, j) * vector[j]).sum())
        .collect()
}

fn sum(x: &[f64], y: &[f64]) -> Vec<f64> {
    along(x, 1.0, y)
}

/// x + length · y.
fn along(x: &[f64], length: f64, y: &[f64]) -> Vec<f64> {
    x.iter().zip(y).map(|(x, y)| x + length * y).collect()
}

fn largest<'a>(vectors: impl Iterator<Item = &'a Vec<f64>>) -> f64 {
    vectors.flatten().fold(0.0, |most, x| x.abs().max(most))
}
