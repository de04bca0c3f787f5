//! Judges' tastes: what a judge persistently adds to the score of a document (science.md § Tastes).
//!
//! A judge's own scores are e = θ + u, where θ are the scores and u is normal with mean 0. Answers
//! of the same judge about a document share its taste, so they say less about θ than answers of
//! different judges.

use super::uncertainty::{gram, inverse_factor, local};
use super::{Covariance, Fit, Observation, RatingOptions};
use std::collections::{BTreeMap, HashMap};

/// The limits of the variance of tastes, relative to that of scores. Smaller tastes change nothing
/// that shows; with larger ones, judges have hardly anything in common.
pub const MIN_TASTE: f64 = 1e-3;
pub const MAX_TASTE: f64 = 100.0;

/// A judge's taste for a document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Taste {
    /// The number of the judge, as in [`Observation::judge`].
    pub judge: u32,
    pub document: usize,
    /// What the judge adds to the document's score, in score units.
    pub value: f64,
}

/// A judge's own score and the document that it is tied to, as places in a fit.
#[derive(Clone, Copy)]
pub(super) struct Tie {
    pub(super) document: u32,
    pub(super) own: u32,
}

/// The places of the judges' own scores in a fit, after those of the documents.
pub(super) struct OwnScores {
    documents: usize,
    precision: f64,
    of: HashMap<(u32, usize), u32>,
    /// The judge and the document of each own score.
    scores: Vec<(u32, usize)>,
}

impl OwnScores {
    /// There are none unless the options model tastes.
    pub(super) fn new(
        documents: usize,
        observations: &[Observation],
        options: &RatingOptions,
    ) -> Self {
        let mut own = Self {
            documents,
            precision: 0.0,
            of: HashMap::new(),
            scores: Vec::new(),
        };
        let Some(precision) = options.taste_precision() else {
            return own;
        };
        own.precision = precision;
        for o in observations.iter().filter(|o| o.counts()) {
            for (judge, document) in o.judge.into_iter().flat_map(|j| [(j, o.a), (j, o.b)]) {
                let next = own.len() as u32;
                own.of.entry((judge, document)).or_insert_with(|| {
                    own.scores.push((judge, document));
                    next
                });
            }
        }
        own
    }

    pub(super) fn documents(&self) -> usize {
        self.documents
    }

    /// Number of documents and own scores.
    pub(super) fn len(&self) -> usize {
        self.documents + self.scores.len()
    }

    /// The precision κ of a taste.
    pub(super) fn precision(&self) -> f64 {
        self.precision
    }

    /// The place of the score that an observation compares for one of its documents.
    pub(super) fn place(&self, o: &Observation, document: usize) -> u32 {
        let own = o.judge.and_then(|judge| self.of.get(&(judge, document)));
        own.copied().unwrap_or(document as u32)
    }

    pub(super) fn ties(&self) -> Vec<Tie> {
        let own = (self.documents as u32..).zip(&self.scores);
        own.map(|(own, (_, document))| Tie {
            document: *document as u32,
            own,
        })
        .collect()
    }

    /// Appends the judges' own scores to the documents', without any taste.
    pub(super) fn extend(&self, scores: &mut Vec<f64>) {
        for (_, document) in &self.scores {
            scores.push(scores[*document]);
        }
    }

    /// The tastes, given the documents' scores and the judges' own.
    pub(super) fn tastes(&self, scores: &[f64]) -> Vec<Taste> {
        let own = self.scores.iter().zip(&scores[self.documents..]);
        own.map(|((judge, document), own)| Taste {
            judge: *judge,
            document: *document,
            value: own - scores[*document],
        })
        .collect()
    }
}

/// The curvature of the answers of one judge.
pub(super) struct JudgeCurvature {
    judge: u32,
    /// The documents that the judge has compared, ascending, and its tastes for them.
    documents: Vec<usize>,
    values: Vec<f64>,
    precision: f64,
    /// (H + κI)⁻¹ for the curvature H of its answers by its own scores, in row order.
    inverse: Vec<f64>,
    half_log_det: f64,
}

impl JudgeCurvature {
    /// The curvature of each judge, in the order of their numbers; none unless the options model
    /// tastes. `None` if a matrix cannot be inverted.
    pub(super) fn of(
        observations: &[Observation],
        fit: &Fit,
        options: &RatingOptions,
    ) -> Option<Vec<Self>> {
        let Some(precision) = options.taste_precision() else {
            return Some(Vec::new());
        };
        let mut judges: BTreeMap<u32, BTreeMap<usize, f64>> = BTreeMap::new();
        for taste in &fit.tastes {
            let own = judges.entry(taste.judge).or_default();
            own.insert(taste.document, taste.value);
        }
        let curvatures = judges.into_iter().map(|(judge, tastes)| {
            let documents: Vec<usize> = tastes.keys().copied().collect();
            let values: Vec<f64> = tastes.into_values().collect();
            let mut own = fit.scores.clone();
            for (document, value) in documents.iter().zip(&values) {
                own[*document] += value;
            }
            let size = documents.len();
            let mut matrix = vec![0.0; size * size];
            (0..size).for_each(|i| matrix[i * size + i] = precision);
            let answers = observations.iter().filter(|o| o.counts());
            for o in answers.filter(|o| o.judge == Some(judge)) {
                let (a, b) = (
                    documents.binary_search(&o.a).ok()?,
                    documents.binary_search(&o.b).ok()?,
                );
                let curvature = local(o, options.model, &own).curvature;
                let stiffness = o.weight * o.slope * o.slope * curvature;
                matrix[a * size + a] += stiffness;
                matrix[b * size + b] += stiffness;
                matrix[a * size + b] -= stiffness;
                matrix[b * size + a] -= stiffness;
            }
            let factor = inverse_factor(matrix, size)?;
            let diagonal = factor.iter().step_by(size + 1);
            Some(Self {
                judge,
                documents,
                values,
                precision,
                half_log_det: -diagonal.map(|f| f.ln()).sum::<f64>()
                    - 0.5 * size as f64 * precision.ln(),
                inverse: gram(&factor, size),
            })
        });
        curvatures.collect()
    }

    /// The answers' curvature by the scores once the tastes are integrated out, κI − κ²(H + κI)⁻¹,
    /// as entries for two documents.
    pub(super) fn softened(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        let (size, precision) = (self.documents.len(), self.precision);
        (0..size).flat_map(move |i| {
            (0..size).map(move |j| {
                let own = if i == j { precision } else { 0.0 };
                let softened = own - precision * precision * self.inverse[i * size + j];
                (self.documents[i], self.documents[j], softened)
            })
        })
    }

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
        .flat_map(|row| columns().map(|column| crate::domain::numeric::dot::<8>(row, column)))
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

/// Each judge's own scores of all documents.
pub(super) fn own_scores(fit: &Fit, tastes: &[JudgeErrors]) -> BTreeMap<u32, Vec<f64>> {
    let own = tastes.iter().map(|of| {
        let mut scores = fit.scores.clone();
        for (document, value) in of.documents.iter().zip(&of.values) {
            scores[*document] += value;
        }
        (of.judge, scores)
    });
    own.collect()
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

/// The weight that a vote share of `votes` judges with tastes has in the fit of scores alone: what
/// they say about a gap with the curvature `v` is as uncertain as this many battles. `weight` itself
/// without tastes.
///
/// A share of weight w has the variance φ/(wv) as an estimate of the gap; the mean of the judges' tastes
/// adds 2τ²/votes, where τ² = φ/κ.
pub fn weight_with_tastes(weight: f64, votes: usize, v: f64, options: &RatingOptions) -> f64 {
    match options.taste_precision() {
        Some(precision) if votes > 0 => 1.0 / (1.0 / weight + 2.0 * v / (precision * votes as f64)),
        _ => weight,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::numeric::sigma;
    use crate::domain::rating::{self, TasteEvidence};
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
