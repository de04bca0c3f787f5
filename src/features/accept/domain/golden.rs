//! Compares bounds and thresholds with reference values of an independent implementation.

use super::threshold::upper_bound;
use super::{RuledControl, fewest_controls, learn_threshold};
use serde::Deserialize;

const BLOCK: &str = include_str!("../../../../tests/golden/trust2/accept_block.json");
const SELECTIVE: &str = include_str!("../../../../tests/golden/trust/selective.json");
const TOLERANCE: f64 = 1e-9;

#[derive(Deserialize)]
struct Blocks {
    cases: Vec<Block>,
}

#[derive(Deserialize)]
struct Block {
    score: Vec<f64>,
    wrong: Vec<u8>,
    alpha: f64,
    delta: f64,
    threshold: Option<f64>,
}

impl Block {
    fn controls(&self) -> Vec<RuledControl> {
        let scores = self.score.iter().zip(&self.wrong);
        let control = |(score, wrong): (&f64, &u8)| RuledControl {
            score: *score,
            is_wrong: *wrong == 1,
        };
        scores.map(control).collect()
    }
}

#[test]
fn thresholds_of_blocks() {
    let golden: Blocks = serde_json::from_str(BLOCK).unwrap();
    assert!(!golden.cases.is_empty());
    for (at, case) in golden.cases.iter().enumerate() {
        let found = learn_threshold(&case.controls(), case.alpha, case.delta);
        assert_eq!(found.map(|of| of.score), case.threshold, "case {at}");
    }
}

#[derive(Deserialize)]
struct Selective {
    bounds: Vec<Bound>,
    cases: Vec<SelectiveCase>,
}

#[derive(Deserialize)]
struct Bound {
    errors: usize,
    n: usize,
    delta: f64,
    upper: f64,
}

#[derive(Deserialize)]
struct SelectiveCase {
    #[serde(flatten)]
    block: Block,
    needed: usize,
    accepted: usize,
    errors: usize,
    bound: Option<f64>,
}

#[test]
fn bounds_and_accepted_controls() {
    let golden: Selective = serde_json::from_str(SELECTIVE).unwrap();
    assert!(golden.bounds.len() > 5 && golden.cases.len() > 3);
    for of in &golden.bounds {
        let found = upper_bound(of.errors, of.n, of.delta);
        assert!((found - of.upper).abs() < TOLERANCE, "{found} {}", of.upper);
    }
    for (at, case) in golden.cases.iter().enumerate() {
        let Block { alpha, delta, .. } = case.block;
        assert_eq!(fewest_controls(alpha, delta), case.needed, "case {at}");
        let found = learn_threshold(&case.block.controls(), alpha, delta);
        assert_eq!(found.map(|of| of.score), case.block.threshold, "case {at}");
        let counts = found.map_or((0, 0), |of| (of.controls, of.errors));
        assert_eq!(counts, (case.accepted, case.errors), "case {at}");
        match (found, case.bound) {
            (Some(of), Some(bound)) => assert!((of.bound - bound).abs() < TOLERANCE, "case {at}"),
            (found, bound) => assert!(found.is_none() && bound.is_none(), "case {at}"),
        }
    }
}
