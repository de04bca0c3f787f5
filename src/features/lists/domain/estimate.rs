//! Estimates the variance of scores, the dispersions and the tastes from the answers of many
//! queries.

use super::block::Block;
use super::estimator::{ListFit, ListModel, fit_blocks, taste_of};
use super::kind::ListKind;
use crate::domain::numeric::sigma;
use crate::domain::rating::{CLEAR_GAIN, JudgeErrors, MAX_TASTE, MIN_TASTE};
use std::collections::BTreeMap;

/// Refits without tastes, and with them.
const ROUNDS: usize = 4;
const TASTE_ROUNDS: usize = 8;

/// The variance of tastes from which the search starts, relative to that of the scores.
const FIRST_TASTE: f64 = 0.1;

/// The least share of an answer's curvature that its own fit leaves.
const LEAST_LEFT: f64 = 0.05;

/// The lower limit of an estimated dispersion. Independent votes have 1, so an answer never counts
/// more than four times as much as independent ones would. Without a limit, the dispersion of a judge
/// that never contradicts itself goes to 0. The scale of its scores stays uncertain: no answer tells
/// how far apart they are.
const LEAST_PHI: f64 = 0.25;

/// The answers about one query.
#[derive(Clone, Debug)]
pub struct QueryBlocks {
    /// Number of documents in the pool.
    pub documents: usize,
    pub blocks: Vec<Block>,
}

/// Estimates the model of the answers, pooled over queries.
///
/// The dispersion of a kind is φ = Σ‖g‖² / Σ max(.05 tr H, tr H − tr(HCH)/φ), where g and H are the
/// gradient and the curvature of one answer and C is the covariance of the scores; it is at least .25.
/// The variances of
/// scores and tastes are the pooled means of their squares plus their posterior variances (EM).
/// Tastes are 0 unless they raise the log-evidence by at least 3.
pub fn estimate(queries: &[QueryBlocks]) -> ListModel {
    let mut plain = ListModel::default();
    for _ in 0..ROUNDS {
        plain = updated(queries, &plain);
    }
    let mut with_tastes = ListModel {
        taste: FIRST_TASTE / plain.precision,
        ..plain.clone()
    };
    for _ in 0..TASTE_ROUNDS {
        with_tastes = updated(queries, &with_tastes);
    }
    // The same dispersions, or the likelihoods would not be comparable.
    let without = [plain.precision, with_tastes.precision].map(|precision| {
        let model = ListModel {
            precision,
            taste: 0.0,
            ..with_tastes.clone()
        };
        log_evidence(queries, &model)
    });
    let gain = log_evidence(queries, &with_tastes) - without[0].max(without[1]);
    if gain >= CLEAR_GAIN {
        with_tastes
    } else {
        plain
    }
}

impl ListModel {
    /// Whether the dispersion of answers of a kind is at the lower limit of [`estimate`].
    pub fn is_limited(&self, kind: ListKind) -> bool {
        self.phi_of(kind) <= LEAST_PHI
    }
}

/// The model that the fits under another model support.
fn updated(queries: &[QueryBlocks], model: &ListModel) -> ListModel {
    let (mut scores, mut tastes) = (MeanSquare::default(), MeanSquare::default());
    let mut dispersions: BTreeMap<ListKind, BlockDispersion> = BTreeMap::new();
    for query in queries {
        let Some(fit) = fit_blocks(query.documents, &query.blocks, model) else {
            continue;
        };
        let mut seen = vec![false; query.documents];
        for block in &query.blocks {
            block.documents().into_iter().for_each(|d| seen[d] = true);
            let sums = BlockDispersion::of(block, &fit, model.phi_of(block.kind()));
            dispersions.entry(block.kind()).or_default().add(sums);
        }
        for document in (0..query.documents).filter(|document| seen[*document]) {
            let variance = fit.covariance.get(document, document);
            scores.add(fit.scores[document], variance);
        }
        for judge in &fit.tastes {
            for (value, variance) in judge.values.iter().zip(&judge.variances) {
                tastes.add(*value, *variance);
            }
        }
    }
    let precision = scores.mean().map_or(model.precision, |mean| 1.0 / mean);
    // A step of EM is too short while most of a taste is uncertain, so it is taken twice.
    let taste = tastes.mean().map_or(0.0, |mean| mean * mean / model.taste);
    let is_taste = (MIN_TASTE..=MAX_TASTE).contains(&(taste * precision));
    ListModel {
        precision,
        phi: dispersions
            .into_iter()
            .filter_map(|(kind, sums)| Some((kind, sums.phi()?.max(LEAST_PHI))))
            .collect(),
        taste: if is_taste { taste } else { 0.0 },
    }
}

/// The Laplace evidence of the variances of scores and tastes, up to a constant.
fn log_evidence(queries: &[QueryBlocks], model: &ListModel) -> f64 {
    queries
        .iter()
        .filter_map(|query| {
            let fit = fit_blocks(query.documents, &query.blocks, model)?;
            let prior = 0.5 * query.documents as f64 * model.precision.ln();
            let tastes: f64 = fit.tastes.iter().map(|judge| judge.half_log_det).sum();
            Some(fit.objective + prior - fit.covariance.half_log_det() - tastes)
        })
        .sum()
}

#[derive(Default)]
struct MeanSquare {
    sum: f64,
    count: f64,
}

impl MeanSquare {
    fn add(&mut self, value: f64, variance: f64) {
        self.sum += value * value + variance;
        self.count += 1.0;
    }

    fn mean(&self) -> Option<f64> {
        (self.sum > 0.0).then(|| self.sum / self.count)
    }
}

/// The dispersion of answers of one kind, as the two sums whose quotient it is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct BlockDispersion {
    pub(crate) numerator: f64,
    pub(crate) denominator: f64,
}

impl BlockDispersion {
    /// The part of one answer, given the dispersion that it was fitted with.
    pub(crate) fn of(block: &Block, fit: &ListFit, phi: f64) -> Self {
        let documents = block.documents();
        let place = |document: usize| documents.partition_point(|d| *d < document);
        let number = block.judge() as u32;
        let score = |document: usize| {
            fit.scores[document] + taste_of(&fit.tastes, number, document).unwrap_or(0.0)
        };
        let judge = fit.tastes.iter().find(|of| of.judge == number);
        let own_places = |judge: &JudgeErrors| -> Option<Vec<usize>> {
            let places = documents.iter().map(|d| judge.documents.binary_search(d));
            places.map(Result::ok).collect()
        };
        let own = judge.and_then(|judge| Some((judge, own_places(judge)?)));
        let covariance = |i: usize, j: usize| match &own {
            Some((judge, places)) => judge.own[places[i] * judge.documents.len() + places[j]],
            None => fit.covariance.get(documents[i], documents[j]),
        };
        let n = documents.len();
        let (mut gradient, mut curvature) = (vec![0.0; n], vec![0.0; n * n]);
        for o in block.battles() {
            let p = sigma(score(o.b) - score(o.a));
            let (a, b) = (place(o.a), place(o.b));
            let pull = o.weight * (o.score - p);
            gradient[b] += pull;
            gradient[a] -= pull;
            let stiffness = o.weight * p * (1.0 - p);
            curvature[a * n + a] += stiffness;
            curvature[b * n + b] += stiffness;
            curvature[a * n + b] -= stiffness;
            curvature[b * n + a] -= stiffness;
        }
        let trace: f64 = (0..n).map(|i| curvature[i * n + i]).sum();
        // tr(HCH) = Σ C_ij (H²)_ij.
        let mut used = 0.0;
        for i in 0..n {
            for j in 0..n {
                let square: f64 = (0..n)
                    .map(|k| curvature[i * n + k] * curvature[k * n + j])
                    .sum();
                used += covariance(i, j) * square;
            }
        }
        Self {
            numerator: gradient.iter().map(|g| g * g).sum(),
            denominator: (trace - used / phi).max(LEAST_LEFT * trace),
        }
    }

    pub(crate) fn add(&mut self, more: Self) {
        self.numerator += more.numerator;
        self.denominator += more.denominator;
    }

    /// φ; `None` if no outcome was uncertain.
    pub(crate) fn phi(self) -> Option<f64> {
        (self.numerator > 0.0 && self.denominator > 0.0).then(|| self.numerator / self.denominator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::sampling::SeededRng;
    use crate::features::lists::domain::AnswerForm;

    #[test]
    fn the_dispersion_of_a_judge_that_never_contradicts_itself_is_limited() {
        let five = ListKind::new(5, AnswerForm::Order).unwrap();
        let mut rng = SeededRng::new(1, &["consistent"]);
        let queries: Vec<QueryBlocks> = (0..6)
            .map(|_| QueryBlocks {
                documents: 10,
                blocks: (0..30)
                    .map(|_| {
                        let mut documents: Vec<usize> = (0..10).collect();
                        rng.shuffle(&mut documents);
                        documents.truncate(5);
                        documents.sort_unstable();
                        Block::list(0, five, &documents).unwrap()
                    })
                    .collect(),
            })
            .collect();
        let model = estimate(&queries);
        assert_eq!(model.phi_of(five), LEAST_PHI);
        assert!(model.is_limited(five));
        let fit = fit_blocks(10, &queries[0].blocks, &model).unwrap();
        assert!(fit.scores.is_sorted_by(|x, y| x > y), "{:?}", fit.scores);
    }
}
