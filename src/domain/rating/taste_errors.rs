//! The tastes of judges with their errors.

use super::tastes::JudgeCurvature;
use super::{Covariance, Fit, Observation, RatingOptions};
use crate::domain::numeric::dot;

impl JudgeCurvature {
    /// With G = κ(H + κI)⁻¹ and the covariance C of the scores, cov(e) = φ(H + κI)⁻¹ + G C Gᵀ and
    /// cov(u) = φ(H + κI)⁻¹ + (I − G) C (I − G)ᵀ.
    fn errors(self, covariance: &Covariance) -> JudgeErrors {
        let size = self.documents.len();
        let shared: Vec<f64> = self.cells(|i, j| covariance.get(i, j));
        let kept: Vec<f64> = self.inverse.iter().map(|c| self.precision * c).collect();
        let spread = product(&kept, &shared, size);
        let carried = product(&spread, &kept, size);
        let own = carried.iter().zip(&self.inverse);
        let own: Vec<f64> = own.map(|(c, v)| c + covariance.phi() * v).collect();
        let variances = (0..size).map(|i| {
            // (I − G)C(I − G)ᵀ on the diagonal: C − 2GC + GCGᵀ.
            let at = i * size + i;
            own[at] + shared[at] - 2.0 * spread[at]
        });
        JudgeErrors {
            judge: self.judge,
            variances: variances.collect(),
            documents: self.documents,
            values: self.values,
            own,
            half_log_det: self.half_log_det,
        }
    }

    /// A matrix over the documents of the judge, in row order.
    fn cells(&self, cell: impl Fn(usize, usize) -> f64) -> Vec<f64> {
        let rows = self.documents.iter();
        rows.flat_map(|i| {
            self.documents
                .iter()
                .map(|j| cell(*i, *j))
                .collect::<Vec<_>>()
        })
        .collect()
    }
}

/// The product of two square matrices in row order, the second of which is symmetric.
fn product(left: &[f64], right: &[f64], size: usize) -> Vec<f64> {
    let rows = || left.chunks_exact(size.max(1));
    let columns = || right.chunks_exact(size.max(1));
    rows()
        .flat_map(|row| columns().map(|column| dot::<8>(row, column)))
        .collect()
}

/// The tastes of one judge with their errors.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgeErrors {
    pub judge: u32,
    /// The documents that the judge has compared, ascending.
    pub documents: Vec<usize>,
    /// The judge's taste for each of them, in score units.
    pub values: Vec<f64>,
    /// The variance of each taste.
    pub variances: Vec<f64>,
    /// The covariance of the judge's own scores of these documents, in row order.
    pub own: Vec<f64>,
    /// ½ ln det(I + H/κ) for the curvature H of its answers.
    pub half_log_det: f64,
}

/// The tastes of each judge, in the order of their numbers, with their errors given the covariance of
/// the fit's scores; none unless the options model tastes. `None` if a matrix cannot be inverted.
pub fn taste_errors(
    observations: &[Observation],
    fit: &Fit,
    options: &RatingOptions,
    covariance: &Covariance,
) -> Option<Vec<JudgeErrors>> {
    let judges = JudgeCurvature::of(observations, fit, options)?.into_iter();
    Some(judges.map(|judge| judge.errors(covariance)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::numeric::sigma;
    use crate::domain::rating::{self, Taste, TasteEvidence};
    use crate::domain::sampling::SeededRng;

    fn votes(documents: usize, judges: u32, taste: f64, rounds: usize) -> Vec<Observation> {
        let mut rng = SeededRng::new(7, &["tastes"]);
        let strengths: Vec<f64> = (0..documents).map(|_| 2.0 * rng.normal()).collect();
        let own: Vec<Vec<f64>> = (0..judges)
            .map(|_| strengths.iter().map(|e| e + taste * rng.normal()).collect())
            .collect();
        let mut votes = Vec::new();
        for _ in 0..rounds {
            for a in 0..documents {
                let b = (a + 1 + rng.below(documents - 1)) % documents;
                for judge in 0..judges {
                    let scores = &own[judge as usize];
                    let wins = rng.unit() < sigma(scores[b] - scores[a]);
                    votes.push(Observation {
                        judge: Some(judge),
                        ..Observation::new(a, b, f64::from(u8::from(wins)), 1.0 / f64::from(judges))
                    });
                }
            }
        }
        votes
    }

    fn options(taste: f64) -> RatingOptions {
        RatingOptions {
            lambda: 0.1,
            taste,
            ..RatingOptions::default()
        }
    }

    /// The derivatives of the objective by the scores and by the tastes are 0, and the covariance is
    /// the scores' block of the whole inverse Hessian.
    #[test]
    fn the_fit_is_the_maximum_of_scores_and_tastes() {
        let (documents, options) = (6, options(0.4));
        let mut observations = votes(documents, 3, 1.0, 3);
        observations.retain(|o| o.judge != Some(2) || (o.a < 4 && o.b < 4));
        observations.push(Observation::new(0, 5, 1.0, 2.0));
        let fit = rating::fit(documents, &observations, &options, None).unwrap();
        assert!(fit.converged);
        assert_eq!(fit.tastes.len(), 6 + 6 + 4);
        let precision = options.taste_precision().unwrap();
        let place = |judge: Option<u32>, document: usize| {
            let mut tastes = fit.tastes.iter();
            let of = |of: &Taste| Some(of.judge) == judge && of.document == document;
            tastes.position(of).map_or(document, |at| documents + at)
        };
        let mut scores = fit.scores.clone();
        for taste in &fit.tastes {
            scores.push(fit.scores[taste.document] + taste.value);
        }
        let size = scores.len();
        let (mut gradient, mut hessian) = (vec![0.0; size], vec![0.0; size * size]);
        let mut spring = |a: usize, b: usize, stiffness: f64| {
            hessian[a * size + a] += stiffness;
            hessian[b * size + b] += stiffness;
            hessian[a * size + b] -= stiffness;
            hessian[b * size + a] -= stiffness;
        };
        for o in &observations {
            let (a, b) = (place(o.judge, o.a), place(o.judge, o.b));
            let p = sigma(scores[b] - scores[a]);
            gradient[b] += o.weight * (o.score - p);
            gradient[a] -= o.weight * (o.score - p);
            spring(a, b, o.weight * p * (1.0 - p));
        }
        for (own, taste) in (documents..).zip(&fit.tastes) {
            gradient[own] -= precision * taste.value;
            gradient[taste.document] += precision * taste.value;
            spring(own, taste.document, precision);
        }
        for document in 0..documents {
            gradient[document] -= options.lambda * scores[document];
            hessian[document * size + document] += options.lambda;
        }
        assert!(gradient.iter().all(|g| g.abs() < 1e-9), "{gradient:?}");
        let whole = Covariance::of_hessian(hessian, size, 0.5).unwrap();
        let found = rating::covariance(documents, &observations, &fit, &options, 0.5).unwrap();
        for i in 0..documents {
            for j in 0..documents {
                assert!((found.get(i, j) - whole.get(i, j)).abs() < 1e-9, "{i} {j}");
            }
        }
        for judge in taste_errors(&observations, &fit, &options, &found).unwrap() {
            for (at, document) in judge.documents.iter().enumerate() {
                let own = place(Some(judge.judge), *document);
                let cell = judge.own[at * judge.documents.len() + at];
                assert!((cell - whole.get(own, own)).abs() < 1e-9);
                let variance = whole.gap_se(own, *document).powi(2);
                assert!((judge.variances[at] - variance).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn without_tastes_the_judge_changes_no_bit() {
        let observations = votes(8, 3, 0.0, 4);
        let plain: Vec<Observation> = observations
            .iter()
            .map(|o| Observation { judge: None, ..*o })
            .collect();
        let [one, other] = [&observations, &plain]
            .map(|observations| rating::fit(8, observations, &options(0.0), None).unwrap());
        assert_eq!(one, other);
        let of = |observations| rating::covariance(8, observations, &one, &options(0.0), 0.4);
        assert_eq!(of(&observations), of(&plain));
    }

    #[test]
    fn tastes_are_found_only_where_judges_have_some() {
        for (taste, found) in [(0.0, false), (1.5, true)] {
            let mut pooled = TasteEvidence::default();
            for _ in 0..3 {
                let votes = votes(12, 3, taste, 8);
                let evidence = TasteEvidence::of(12, &votes, &options(0.0), 1.0 / 3.0).unwrap();
                pooled = pooled.pooled(&evidence);
            }
            assert_eq!(pooled.best() > 0.0, found, "{taste}: {pooled:?}");
        }
        assert_eq!(TasteEvidence::default().best(), 0.0);
    }
}
