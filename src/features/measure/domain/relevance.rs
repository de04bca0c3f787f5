//! The probability that a person finds a document relevant, from zELO, the query's offset and the
//! ranks in the runs.

use crate::domain::numeric::{dot, sigma, solve};

/// Intercept, zELO, offset of the query, standardized discount / 2.
const FEATURES: usize = 4;
const PRIOR_MEAN: [f64; FEATURES] = [-1.6, 1.6, 1.0, 0.2];
const PRIOR_PRECISION: [f64; FEATURES] = [1.0, 2.0, 2.0, 4.0];

/// Numbers of rulings on drawn documents after which the model is fitted again.
const REFITS: [usize; 4] = [10, 20, 40, 80];
/// Largest weight of a ruling; the mean is 1.
const LARGEST_WEIGHT: f64 = 5.0;
const STEPS: usize = 50;
const CONVERGED: f64 = 1e-10;

/// What is known of a document before a person has ruled.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RelevanceFeatures {
    /// Mean 0 in each pool; 0 for a document without a score.
    pub zelo: f64,
    /// What is added to the zELO of the query on the common scale; 0 without a scale.
    pub offset: f64,
    /// Mean of 1/log2(rank + 1) over the runs, standardized over the documents and halved.
    pub discount: f64,
}

impl RelevanceFeatures {
    fn row(&self) -> [f64; FEATURES] {
        [1.0, self.zelo, self.offset, self.discount]
    }
}

/// A ruling on a document that was drawn with this probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrawnRuling {
    pub features: RelevanceFeatures,
    pub probability: f64,
    pub relevant: bool,
}

/// A logistic regression with a Gaussian prior on its coefficients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RelevanceModel([f64; FEATURES]);

impl Default for RelevanceModel {
    /// The prior mean.
    fn default() -> Self {
        Self(PRIOR_MEAN)
    }
}

impl RelevanceModel {
    /// The model after these rulings, in the order in which they were made: the prior before the
    /// first refit, otherwise the posterior mode given the rulings up to the latest refit. Rulings
    /// are weighted by 1/probability.
    pub fn after(rulings: &[DrawnRuling]) -> Self {
        let refit = REFITS.iter().rev().find(|count| **count <= rulings.len());
        refit.map_or(Self::default(), |count| Self::fit(&rulings[..*count]))
    }

    fn fit(rulings: &[DrawnRuling]) -> Self {
        let mean =
            rulings.iter().map(|of| 1.0 / of.probability).sum::<f64>() / rulings.len() as f64;
        let weight = |of: &DrawnRuling| (1.0 / of.probability / mean).min(LARGEST_WEIGHT);
        let mut at = PRIOR_MEAN;
        // Newton's method with halved steps: the penalized likelihood is concave.
        for _ in 0..STEPS {
            let mut slope: Vec<f64> = (0..FEATURES)
                .map(|i| -PRIOR_PRECISION[i] * (at[i] - PRIOR_MEAN[i]))
                .collect();
            let mut curvature: Vec<Vec<f64>> = (0..FEATURES)
                .map(|i| {
                    let diagonal = |j| if i == j { PRIOR_PRECISION[i] } else { 0.0 };
                    (0..FEATURES).map(diagonal).collect()
                })
                .collect();
            for of in rulings {
                let (x, w) = (of.features.row(), weight(of));
                let p = sigma(dot::<1>(&x, &at));
                let y = f64::from(u8::from(of.relevant));
                for i in 0..FEATURES {
                    slope[i] += w * (y - p) * x[i];
                    for j in 0..FEATURES {
                        curvature[i][j] += w * p * (1.0 - p) * x[i] * x[j];
                    }
                }
            }
            let Some(step) = solve(curvature, &slope) else {
                break;
            };
            let before = log_posterior(&at, rulings, weight);
            let mut scale = 1.0;
            let next = loop {
                let next: [f64; FEATURES] = std::array::from_fn(|i| at[i] + scale * step[i]);
                if log_posterior(&next, rulings, weight) >= before || scale < 1e-6 {
                    break next;
                }
                scale /= 2.0;
            };
            at = next;
            if step.iter().all(|of| (of * scale).abs() < CONVERGED) {
                break;
            }
        }
        Self(at)
    }

    /// P(relevant), in the open interval (0, 1) except for rounding.
    pub fn probability(&self, of: &RelevanceFeatures) -> f64 {
        sigma(dot::<1>(&of.row(), &self.0))
    }
}

fn log_posterior(
    at: &[f64; FEATURES],
    rulings: &[DrawnRuling],
    weight: impl Fn(&DrawnRuling) -> f64,
) -> f64 {
    let likelihood: f64 = rulings
        .iter()
        .map(|of| {
            let eta = dot::<1>(&of.features.row(), at);
            let signed = if of.relevant { eta } else { -eta };
            // ln σ(x), without overflow.
            let log_sigma = signed.min(0.0) - (-signed.abs()).exp().ln_1p();
            weight(of) * log_sigma
        })
        .sum();
    let prior: f64 = (0..FEATURES)
        .map(|i| PRIOR_PRECISION[i] * (at[i] - PRIOR_MEAN[i]).powi(2) / 2.0)
        .sum();
    likelihood - prior
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::sampling::SeededRng;

    fn rulings(count: usize) -> Vec<DrawnRuling> {
        let mut rng = SeededRng::new(1, &["relevance"]);
        (0..count)
            .map(|_| {
                let features = RelevanceFeatures {
                    zelo: rng.normal(),
                    offset: rng.normal() / 2.0,
                    discount: rng.normal() / 2.0,
                };
                let truth = sigma(-0.5 + 2.0 * features.zelo + features.offset);
                DrawnRuling {
                    features,
                    probability: 0.001 + 0.01 * rng.unit(),
                    relevant: rng.unit() < truth,
                }
            })
            .collect()
    }

    #[test]
    fn the_model_is_the_prior_until_the_first_refit_and_changes_at_refits_alone() {
        let all = rulings(90);
        assert_eq!(RelevanceModel::after(&all[..9]), RelevanceModel::default());
        let at = |count: usize| RelevanceModel::after(&all[..count]);
        assert_ne!(at(10), RelevanceModel::default());
        assert_eq!(at(19), at(10));
        assert_ne!(at(20), at(10));
        assert_eq!(at(79), at(40));
        assert_eq!(at(90), at(80));
    }

    #[test]
    fn the_fit_is_the_mode_of_the_posterior() {
        let all = rulings(80);
        let RelevanceModel(mode) = RelevanceModel::after(&all);
        let mean = all.iter().map(|of| 1.0 / of.probability).sum::<f64>() / 80.0;
        let weight = |of: &DrawnRuling| (1.0 / of.probability / mean).min(LARGEST_WEIGHT);
        let best = log_posterior(&mode, &all, weight);
        for i in 0..FEATURES {
            for by in [-1e-3, 1e-3] {
                let mut near = mode;
                near[i] += by;
                assert!(log_posterior(&near, &all, weight) < best, "{mode:?}");
            }
        }
        assert!(mode[1] > 1.0, "{mode:?}");
    }

    #[test]
    fn unanimous_rulings_keep_the_coefficients_finite() {
        let mut all = rulings(80);
        all.iter_mut().for_each(|of| of.relevant = true);
        let RelevanceModel(mode) = RelevanceModel::after(&all);
        assert!(
            mode.iter().all(|of| of.is_finite() && of.abs() < 10.0),
            "{mode:?}"
        );
    }
}
