//! Chooses the prior that the battles support: the Laplace evidence of its precision.

use super::link::local;
use super::tastes::JudgeCurvature;
use super::{
    Covariance, Dispersion, Fit, Observation, RatingModel, RatingOptions, covariance, dispersion,
    fit,
};
use std::collections::BTreeMap;

/// Minimum number of battles for learning the prior. (The dispersion needs more.)
pub const PRIOR_BATTLES: usize = 300;

/// The candidate precisions. The grid is coarse, so that a few more battles rarely change the
/// choice. The last value corresponds to judges who hardly distinguish documents: scores with a
/// standard deviation of about .2.
const GRID: [f64; 17] = [
    0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.45, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0,
];

/// An end of the grid: the battles may support a precision beyond it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriorGridEnd {
    Smallest,
    Largest,
}

/// The end of the grid at which a learned precision lies, if any.
pub fn prior_grid_end(lambda: f64) -> Option<PriorGridEnd> {
    if lambda <= GRID[0] {
        Some(PriorGridEnd::Smallest)
    } else if lambda >= GRID[GRID.len() - 1] {
        Some(PriorGridEnd::Largest)
    } else {
        None
    }
}

/// The grid index where the search starts: the default precision.
const START: usize = 3;

/// Maximum number of times the search restarts with the dispersion that its last choice gives.
const ROUNDS: usize = 4;

/// The evidence of the battles of one or more queries about the precision of the prior.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PriorEvidence {
    points: [EvidencePoint; GRID.len()],
}

/// The evidence at one precision.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct EvidencePoint {
    evidence: LogEvidence,
    dispersion: Dispersion,
}

/// The log-evidence of a fit's prior up to a constant, as two terms of which only the first depends
/// on φ.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct LogEvidence {
    /// Minus the objective at its maximum: ℓ − p/2·|θ̂|².
    fit: f64,
    /// The remaining part of the prior's volume: n/2·ln p − ½·ln det H.
    volume: f64,
}

impl PriorEvidence {
    /// The evidence of one query's battles, using the model's own fit at each precision. `None` if
    /// the model has no prior, without battles, and if there are too many documents for errors.
    pub fn of(documents: usize, observations: &[Observation], model: RatingModel) -> Option<Self> {
        if !matches!(model, RatingModel::Map | RatingModel::Thurstone) {
            return None;
        }
        let mut found = Self::default();
        let mut warm: Option<Vec<f64>> = None;
        for (point, lambda) in found.points.iter_mut().zip(GRID) {
            let options = RatingOptions {
                model,
                lambda,
                taste: 0.0,
            };
            let fit = fit(documents, observations, &options, warm.as_deref()).ok()?;
            let errors = covariance(documents, observations, &fit, &options, 1.0)?;
            point.evidence = LogEvidence::of(observations, &fit, &options, &errors, &[]);
            point.dispersion = dispersion(observations, &fit, &options, &errors)?;
            warm = Some(fit.scores);
        }
        Some(found)
    }

    /// The combined evidence of this and another query.
    #[must_use]
    pub fn pooled(mut self, other: &Self) -> Self {
        for (point, more) in self.points.iter_mut().zip(&other.points) {
            point.evidence.fit += more.evidence.fit;
            point.evidence.volume += more.evidence.volume;
            point.dispersion = point.dispersion.pooled(more.dispersion);
        }
        self
    }

    /// The log-evidence of each precision of the grid for a given φ, up to a constant.
    #[cfg(test)]
    pub(crate) fn log_evidence(&self, phi: f64) -> Vec<(f64, f64)> {
        GRID.into_iter()
            .zip(&self.points)
            .map(|(lambda, point)| (lambda, point.evidence.at(phi)))
            .collect()
    }

    pub fn battles(&self) -> usize {
        self.points[START].dispersion.battles
    }

    /// The precision with the largest evidence, given a function from dispersion to φ; `None`
    /// without battles.
    ///
    /// The two depend on each other: a prior that is too weak makes the battles look less noisy
    /// than they are. The search alternates between them until neither changes.
    pub fn best(&self, phi: impl Fn(Dispersion) -> f64) -> Option<f64> {
        let mut at = START;
        for _ in 0..ROUNDS {
            let phi = phi(self.points[at].dispersion);
            let value = |at: usize| self.points[at].evidence.at(phi);
            let best = (0..GRID.len()).reduce(|best, next| {
                if value(next) > value(best) {
                    next
                } else {
                    best
                }
            });
            match best {
                Some(best) if best != at => at = best,
                _ => break,
            }
        }
        (self.battles() > 0).then(|| GRID[at])
    }
}

/// The candidate variances of tastes, relative to that of scores.
const TASTES: [f64; 13] = [
    0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.45, 0.7, 1.0, 1.5, 2.0, 3.0,
];

/// The log-evidence that tastes must add: a Bayes factor of 20.
pub const CLEAR_GAIN: f64 = 3.0;

/// The evidence of the votes about one or more queries that judges have tastes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TasteEvidence {
    without: f64,
    /// For each of the candidates.
    with: [f64; TASTES.len()],
}

impl TasteEvidence {
    /// The evidence of one query's votes under a prior and the dispersion `phi`; `None` if the model
    /// has no tastes, and if there are too many documents for errors.
    pub fn of(
        documents: usize,
        observations: &[Observation],
        options: &RatingOptions,
        phi: f64,
    ) -> Option<Self> {
        if options.model != RatingModel::Map {
            return None;
        }
        let evidence = |taste: f64| {
            let options = RatingOptions { taste, ..*options };
            let fit = fit(documents, observations, &options, None).ok()?;
            let errors = covariance(documents, observations, &fit, &options, 1.0)?;
            let tastes = JudgeCurvature::of(observations, &fit, &options)?;
            Some(LogEvidence::of(observations, &fit, &options, &errors, &tastes).at(phi))
        };
        let mut found = Self {
            without: evidence(0.0)?,
            ..Self::default()
        };
        for (with, taste) in found.with.iter_mut().zip(TASTES) {
            *with = evidence(taste)?;
        }
        Some(found)
    }

    /// The combined evidence of this and another query.
    #[must_use]
    pub fn pooled(mut self, other: &Self) -> Self {
        self.without += other.without;
        for (with, more) in self.with.iter_mut().zip(&other.with) {
            *with += more;
        }
        self
    }

    /// The variance of tastes with the largest evidence, relative to that of scores; 0 unless it
    /// raises the log-evidence by at least [`CLEAR_GAIN`].
    pub fn best(&self) -> f64 {
        let candidates = TASTES.into_iter().zip(self.with);
        let best = candidates.reduce(|best, next| if next.1 > best.1 { next } else { best });
        best.map_or(0.0, |(taste, evidence)| {
            if evidence - self.without >= CLEAR_GAIN {
                taste
            } else {
                0.0
            }
        })
    }
}

impl LogEvidence {
    /// The log-evidence of a fit's prior at its maximum θ̂ (Laplace; MacKay 1992).
    ///
    /// The errors are φH⁻¹ with H the curvature of p/2·|θ|² − ℓ. They correspond to the posterior
    /// under the tempered likelihood exp(ℓ/φ) and the prior N(0, φ/p), whose density is
    /// (p/2πφ)^(n/2) · exp(−p/2φ·|θ|²). By Laplace,
    ///
    /// > ln Z = (ℓ − p/2·|θ̂|²)/φ + n/2·ln(p/2πφ) + n/2·ln 2π − ½·ln det(H/φ).
    ///
    /// det(H/φ) = φ⁻ⁿ·det H restores the n/2·ln φ that the prior removes:
    ///
    /// > ln Z = (ℓ − p/2·|θ̂|²)/φ + n/2·ln p − ½·ln det H.
    ///
    /// A shift common to all scores, and a document without battles, contribute ½·ln p to both of
    /// the last two terms and cancel. The normalization of exp(ℓ/φ) over the possible votes does
    /// not depend on p.
    ///
    /// Tastes u have the prior N(0, φ/κ), and are integrated out in the same way: the first term
    /// loses κ/2·|u|²/φ, and the volume ½·ln det(I + H/κ) of each judge.
    fn of(
        observations: &[Observation],
        fit: &Fit,
        options: &RatingOptions,
        errors: &Covariance,
        tastes: &[JudgeCurvature],
    ) -> Self {
        let precision = options.precision();
        let own: BTreeMap<u32, Vec<f64>> = tastes.iter().map(|of| of.own_scores(fit)).collect();
        let counted = observations.iter().filter(|o| o.counts());
        let misfit: f64 = counted
            .map(|o| {
                let scores = o.judge.and_then(|judge| own.get(&judge));
                o.weight * local(o, options.model, scores.unwrap_or(&fit.scores)).loss
            })
            .sum();
        let size: f64 = fit.scores.iter().map(|score| score * score).sum();
        let tasted: f64 = tastes
            .iter()
            .flat_map(|of| &of.values)
            .map(|taste| taste * taste)
            .sum();
        let taste_precision = options.taste_precision().unwrap_or_default();
        let of_tastes: f64 = tastes.iter().map(|of| of.half_log_det).sum();
        Self {
            fit: -misfit - 0.5 * precision * size - 0.5 * taste_precision * tasted,
            volume: 0.5 * fit.scores.len() as f64 * precision.ln()
                - errors.half_log_det()
                - of_tastes,
        }
    }

    fn at(self, phi: f64) -> f64 {
        self.fit / phi + self.volume
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::numeric::sigma;
    use std::f64::consts::TAU;

    fn laplace(documents: usize, battles: &[Observation], lambda: f64, phi: f64) -> f64 {
        let options = RatingOptions {
            lambda,
            ..RatingOptions::default()
        };
        let fit = fit(documents, battles, &options, None).unwrap();
        let errors = covariance(documents, battles, &fit, &options, phi).unwrap();
        LogEvidence::of(battles, &fit, &options, &errors, &[]).at(phi)
    }

    /// ln ∫ exp(ℓ/φ) · N(θ; 0, φ/p) dθ over a grid, for plain battles under the logistic link.
    fn integral(documents: usize, battles: &[Observation], precision: f64, phi: f64) -> f64 {
        let (reach, steps) = (6.0 * (phi / precision).sqrt(), 90usize);
        let width = 2.0 * reach / steps as f64;
        let at = |step: usize| -reach + (step as f64 + 0.5) * width;
        let mut sum = 0.0;
        for cell in 0..steps.pow(documents as u32) {
            let theta: Vec<f64> = (0..documents)
                .map(|i| at(cell / steps.pow(i as u32) % steps))
                .collect();
            let won = |o: &Observation| {
                let p = sigma(o.slope * (theta[o.b] - theta[o.a]) + o.offset);
                o.weight * (o.score * p.ln() + (1.0 - o.score) * (1.0 - p).ln())
            };
            let fit: f64 = battles.iter().map(won).sum();
            let size: f64 = theta.iter().map(|e| e * e).sum();
            sum += ((fit - 0.5 * precision * size) / phi).exp();
        }
        let volume = documents as f64 * width.ln();
        sum.ln() + volume + 0.5 * documents as f64 * (precision / (TAU * phi)).ln()
    }

    #[test]
    fn it_is_the_integral_over_all_scores() {
        let two = [
            Observation::new(0, 1, 2.0 / 3.0, 20.0),
            Observation {
                slope: 1.3,
                offset: 0.2,
                ..Observation::new(1, 0, 0.5, 18.0)
            },
        ];
        let three = [
            Observation::new(0, 1, 2.0 / 3.0, 20.0),
            Observation::new(1, 2, 0.5, 18.0),
            Observation::new(2, 0, 1.0 / 3.0, 15.0),
        ];
        for (documents, battles) in [(2, two.as_slice()), (3, three.as_slice())] {
            for phi in [1.0 / 3.0, 0.7] {
                for lambda in [0.2, 2.0] {
                    let laplace = laplace(documents, battles, lambda, phi);
                    let exact = integral(documents, battles, lambda, phi);
                    assert!(
                        (laplace - exact).abs() < 0.03,
                        "{documents} documents, φ {phi}, λ {lambda}: {laplace} for {exact}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_document_that_never_fought_adds_nothing() {
        let battles = [Observation::new(0, 1, 0.75, 3.0)];
        for (lambda, phi) in [(0.05, 0.3), (0.3, 1.0)] {
            let difference = laplace(2, &battles, lambda, phi) - laplace(5, &battles, lambda, phi);
            assert!(difference.abs() < 1e-12, "{difference}");
        }
        assert_eq!(PriorEvidence::of(2, &[], RatingModel::Map), None);
        assert_eq!(PriorEvidence::of(2, &battles, RatingModel::Zbench), None);
        assert_eq!(PriorEvidence::default().best(|_| 1.0), None);
    }

    #[test]
    fn the_texts_state_what_the_prior_is_learned_from() {
        let manual = include_str!("../../../assets/manual/numbers.md");
        let from = format!("from {PRIOR_BATTLES} battles on");
        let (least, most) = (GRID[0], GRID[GRID.len() - 1]);
        let among = format!("the range from {least} to {most}");
        assert!(manual.contains(&from) && manual.contains(&among));
        assert!(include_str!("../../../assets/config.toml").contains(&from));
        assert!(include_str!("../../cli/config.rs").contains(&from));
        let sampling = include_str!("../../../assets/manual/sampling.md");
        assert!(sampling.contains(&format!("once there are {PRIOR_BATTLES} battles")));
    }
}
