//! Compares the estimator with reference values (prior precision .14), and checks its laws.

use super::domain::{AnswerForm, Block, BlockDispersion, ListFit, ListKind, ListModel, fit_blocks};
use crate::domain::rating::{self, Observation, RatingOptions};
use proptest::prelude::*;
use serde::Deserialize;
use std::collections::BTreeMap;

const ESTIMATOR: &str = include_str!("../../../tests/golden/lists/estimator.json");

#[derive(Deserialize)]
struct Golden {
    precision: f64,
    documents: usize,
    weights: BTreeMap<usize, f64>,
    lists: Vec<Vec<usize>>,
    judges: Vec<usize>,
    scores: Vec<f64>,
    errors: Vec<f64>,
    dispersion: [f64; 2],
    best_two: Vec<f64>,
    list_of_two: Vec<f64>,
    with_votes: WithVotes,
}

#[derive(Deserialize)]
struct WithVotes {
    scores: Vec<f64>,
    errors: Vec<f64>,
    at_phi: f64,
    scores_at_phi: Vec<f64>,
}

fn golden() -> Golden {
    serde_json::from_str(ESTIMATOR).expect("golden lists")
}

fn kind(size: usize, form: AnswerForm) -> ListKind {
    ListKind::new(size, form).expect("a kind")
}

impl Golden {
    fn blocks(&self) -> Vec<Block> {
        let five = kind(5, AnswerForm::Order);
        let lists = self.lists.iter().zip(&self.judges);
        lists
            .map(|(order, judge)| Block::list(*judge, five, order).expect("a list"))
            .collect()
    }

    fn model(&self) -> ListModel {
        ListModel {
            precision: self.precision,
            ..ListModel::default()
        }
    }

    fn fit(&self, blocks: &[Block]) -> ListFit {
        fit_blocks(self.documents, blocks, &self.model()).expect("a fit")
    }
}

fn same(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }
}

fn errors(fit: &ListFit) -> Vec<f64> {
    (0..fit.scores.len())
        .map(|i| fit.covariance.se(i))
        .collect()
}

#[test]
fn weights_of_list_pairs() {
    for (size, expected) in golden().weights {
        let found = kind(size, AnswerForm::Order).weight();
        assert!((found - expected).abs() < 1e-11, "{size}: {found}");
    }
}

#[test]
fn scores_errors_and_dispersion_of_lists() {
    let golden = golden();
    let blocks = golden.blocks();
    let fit = golden.fit(&blocks);
    same(&fit.scores, &golden.scores);
    same(&errors(&fit), &golden.errors);
    let mut sums = BlockDispersion::default();
    for block in &blocks {
        sums.add(BlockDispersion::of(block, &fit, 1.0));
    }
    same(&[sums.numerator, sums.denominator], &golden.dispersion);
}

#[test]
fn lists_next_to_votes() {
    let golden = golden();
    let mut blocks = golden.blocks();
    blocks.push(Block::vote(0, 2, 3, 1.0));
    blocks.push(Block::vote(1, 0, 5, 0.5));
    let mut model = golden.model();
    let fit = golden.fit(&blocks);
    same(&fit.scores, &golden.with_votes.scores);
    same(&errors(&fit), &golden.with_votes.errors);
    model
        .phi
        .insert(kind(5, AnswerForm::Order), golden.with_votes.at_phi);
    let fit = fit_blocks(golden.documents, &blocks, &model).expect("a fit");
    same(&fit.scores, &golden.with_votes.scores_at_phi);
}

#[test]
fn the_best_two_of_five_and_a_list_of_two() {
    let golden = golden();
    let best = kind(5, AnswerForm::Best(2));
    let order = &golden.lists[0];
    let fit = golden.fit(&[Block::list(0, best, order).expect("a list")]);
    same(&fit.scores, &golden.best_two);
    let pair = Block::list(0, ListKind::PAIR, &[1, 0]).expect("a list");
    same(&golden.fit(&[pair]).scores, &golden.list_of_two);
}

#[test]
fn partial_and_repeating_answers_are_no_lists() {
    let five = kind(5, AnswerForm::Order);
    for bad in [
        &[0, 1, 2, 3][..],
        &[0, 1, 2, 3, 3],
        &[0, 1, 2, 3, 4, 5],
        &[],
    ] {
        assert_eq!(Block::list(0, five, bad), None, "{bad:?}");
    }
}

prop_compose! {
    fn pairs()(pairs in prop::collection::vec((0usize..7, 0usize..6, 0usize..3), 1..30)) -> Vec<(usize, usize, usize)> {
        pairs.into_iter().map(|(x, y, judge)| (x, y + usize::from(y >= x), judge)).collect()
    }
}

proptest! {
    #[test]
    fn a_list_of_two_is_a_vote_bit_for_bit(pairs in pairs()) {
        let lists: Vec<Block> = pairs
            .iter()
            .map(|(best, worst, judge)| Block::list(*judge, ListKind::PAIR, &[*best, *worst]).unwrap())
            .collect();
        let votes: Vec<Observation> = pairs
            .iter()
            .map(|(best, worst, _)| {
                let score = if best > worst { 1.0 } else { 0.0 };
                Observation::new(*best.min(worst), *best.max(worst), score, 1.0)
            })
            .collect();
        let model = ListModel::default();
        let fit = fit_blocks(7, &lists, &model).unwrap();
        let options = RatingOptions { lambda: model.precision, ..RatingOptions::default() };
        let plain = rating::fit(7, &votes, &options, None).unwrap();
        let bits = |scores: &[f64]| scores.iter().map(|score| score.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!(bits(&fit.scores), bits(&plain.scores));
        prop_assert_eq!(fit.covariance, rating::covariance(7, &votes, &plain, &options, 1.0).unwrap());
    }

    /// With one judge, θ + u has the prior variance 1/p + τ²: the sum of the fits is that of a plain
    /// fit with this prior, and the scores are their share of it.
    #[test]
    fn the_taste_of_a_single_judge_is_a_wider_prior(pairs in pairs(), taste in 0.1f64..4.0) {
        let blocks: Vec<Block> = pairs
            .iter()
            .map(|(best, worst, _)| Block::list(0, ListKind::PAIR, &[*best, *worst]).unwrap())
            .collect();
        let precision = 0.2;
        let fit = fit_blocks(7, &blocks, &ListModel { precision, taste, ..ListModel::default() }).unwrap();
        let wider = 1.0 / (1.0 / precision + taste);
        let plain = fit_blocks(7, &blocks, &ListModel { precision: wider, ..ListModel::default() }).unwrap();
        let share = wider / precision;
        for i in 0..7 {
            prop_assert!((fit.scores[i] - share * plain.scores[i]).abs() < 1e-7);
            // var(θ) = var(θ | e) + share² · var(e).
            let expected = (1.0 - share) / precision + share * share * plain.covariance.get(i, i);
            prop_assert!((fit.covariance.get(i, i) - expected).abs() < 1e-7);
        }
    }
}
