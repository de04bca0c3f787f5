//! Judges' tastes: what a judge persistently adds to the score of a document (science.md § Tastes).
//!
//! A judge's own scores are e = θ + u, where θ are the scores and u is normal with mean 0. Answers
//! of the same judge about a document share its taste, so they say less about θ than answers of
//! different judges.

use super::link::stiffness;
use super::matrix::{add_spring, gram, inverse_factor};
use super::{Fit, Observation, RatingOptions};
use std::collections::{BTreeMap, HashMap};

/// The limits of the variance of tastes, relative to that of scores. Smaller tastes have no
/// visible effect; with larger ones, judges have hardly anything in common.
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
    pub(super) judge: u32,
    /// The documents that the judge has compared, ascending, and its tastes for them.
    pub(super) documents: Vec<usize>,
    pub(super) values: Vec<f64>,
    pub(super) precision: f64,
    /// (H + κI)⁻¹ for the curvature H of its answers by its own scores, in row order.
    pub(super) inverse: Vec<f64>,
    /// ½ ln det(I + H/κ).
    pub(super) half_log_det: f64,
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
            let own = with_tastes(&fit.scores, &documents, &values);
            let size = documents.len();
            let mut matrix = vec![0.0; size * size];
            (0..size).for_each(|i| matrix[i * size + i] = precision);
            let answers = observations.iter().filter(|o| o.counts());
            for o in answers.filter(|o| o.judge == Some(judge)) {
                let (a, b) = (
                    documents.binary_search(&o.a).ok()?,
                    documents.binary_search(&o.b).ok()?,
                );
                add_spring(&mut matrix, size, (a, b), stiffness(o, options.model, &own));
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

    /// The judge's number, and its own scores of all documents.
    pub(super) fn own_scores(&self, fit: &Fit) -> (u32, Vec<f64>) {
        let scores = with_tastes(&fit.scores, &self.documents, &self.values);
        (self.judge, scores)
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
}

/// A judge's own scores, given its tastes for some documents.
fn with_tastes(scores: &[f64], documents: &[usize], tastes: &[f64]) -> Vec<f64> {
    let mut own = scores.to_vec();
    for (document, taste) in documents.iter().zip(tastes) {
        own[*document] += taste;
    }
    own
}

/// The weight that a vote share of `votes` judges with tastes has in the fit of scores alone: what
/// they say about a gap with the curvature `v` is as uncertain as this many battles. `weight` itself
/// without tastes.
///
/// A share of weight w has the variance φ/(wv) as an estimate of the gap; the mean of the judges'
/// tastes adds 2τ²/votes, where τ² = φ/κ.
pub fn weight_with_tastes(weight: f64, votes: usize, v: f64, options: &RatingOptions) -> f64 {
    match options.taste_precision() {
        Some(precision) if votes > 0 => 1.0 / (1.0 / weight + 2.0 * v / (precision * votes as f64)),
        _ => weight,
    }
}
