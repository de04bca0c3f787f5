//! Grades and gains from scores, and rankings evaluated with them.

use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::{
    EvaluationRules, Gains, GradeModel, GradedScore, Qrels, RankedRun, evaluate_gains,
};
use serde::Deserialize;
use std::collections::BTreeMap;

const SCALE: &str = include_str!("../../../../tests/golden/trust/scale.json");
const TRUTH: &str = include_str!("../../../../tests/golden/trust/zelo_truth.json");

#[derive(Deserialize)]
struct Scale {
    tolerance: f64,
    e: Vec<f64>,
    grade: Vec<i32>,
    weights: Vec<f64>,
    fit: Parameters,
    binary: Parameters,
    weighted: Parameters,
    exact: Exact,
}

#[derive(Deserialize)]
struct Parameters {
    beta: f64,
    cuts: Vec<f64>,
}

#[derive(Deserialize)]
struct Exact {
    beta: f64,
    cuts: Vec<f64>,
    e: Vec<f64>,
    probabilities: Vec<Vec<f64>>,
    gain: Vec<f64>,
}

fn model(beta: f64, cuts: &[f64]) -> GradeModel {
    let levels = (1..).take(cuts.len()).collect();
    GradeModel::new(beta, cuts.to_vec(), levels).unwrap()
}

#[test]
fn cut_points_are_those_of_the_oracle() {
    let golden: Scale = serde_json::from_str(SCALE).unwrap();
    let graded = |grade: fn(i32) -> i32, weight: &dyn Fn(usize) -> f64| -> Vec<GradedScore> {
        let scores = golden.e.iter().zip(&golden.grade).enumerate();
        scores
            .map(|(at, (score, found))| GradedScore {
                score: *score,
                grade: grade(*found),
                weight: weight(at),
            })
            .collect()
    };
    let cases = [
        (graded(|g| g, &|_| 1.0), &golden.fit),
        (graded(|g| g.min(1), &|_| 1.0), &golden.binary),
        (graded(|g| g, &|at| golden.weights[at]), &golden.weighted),
    ];
    for (graded, expected) in cases {
        let found = GradeModel::fit(&graded).unwrap();
        let expected = model(expected.beta, &expected.cuts);
        for score in [-4.0, -1.0, 0.5, 1.5, 2.0, 3.0, 4.5] {
            let pairs = found.probabilities(score).into_iter();
            for (mine, oracle) in pairs.zip(expected.probabilities(score)) {
                assert!((mine - oracle).abs() < golden.tolerance, "{mine} {oracle}");
            }
        }
    }
    let exact = &golden.exact;
    let known = model(exact.beta, &exact.cuts);
    for ((score, probabilities), gain) in exact.e.iter().zip(&exact.probabilities).zip(&exact.gain)
    {
        let found = known.probabilities(*score);
        assert_eq!(found.len(), probabilities.len());
        let mut pairs = found.iter().zip(probabilities);
        assert!(pairs.all(|(mine, oracle)| (mine - oracle).abs() < 1e-12));
        assert!((known.gain(*score) - gain).abs() < 1e-12);
    }
}

#[derive(Deserialize)]
struct ZeloTruth {
    tolerance: f64,
    e: Vec<f64>,
    cholesky: Vec<Vec<f64>>,
    z: Vec<Vec<f64>>,
    beta: f64,
    cuts: Vec<f64>,
    order: Vec<usize>,
    k: usize,
    point: f64,
    draws: Vec<f64>,
}

#[test]
fn ndcg_against_scores_is_the_oracles() {
    let golden: ZeloTruth = serde_json::from_str(TRUTH).unwrap();
    let model = model(golden.beta, &golden.cuts);
    let query = QueryId::new("q");
    let id = |at: usize| DocId::new(format!("d{at}"));
    let ranked = golden.order.iter().enumerate();
    let ranked = ranked.map(|(above, at)| (id(*at), -(above as f64)));
    let run = RankedRun::from([(query.clone(), ranked.collect())]);
    let labels: BTreeMap<DocId, i32> = (0..golden.e.len()).map(|at| (id(at), 0)).collect();
    let labels = Qrels::from([(query.clone(), labels)]);
    let metric = format!("ndcg@{}", golden.k).parse().unwrap();
    let ndcg = |scores: &[f64]| {
        let gains = scores.iter().enumerate();
        let gains = gains.map(|(at, score)| (id(at), model.gain(*score)));
        let gains = Gains::from([(query.clone(), gains.collect())]);
        let rules = EvaluationRules::default();
        let found = evaluate_gains(&labels, Some(&gains), &run, &[metric], &rules).unwrap();
        found.mean(metric).unwrap()
    };
    assert!((ndcg(&golden.e) - golden.point).abs() < golden.tolerance);
    for (z, expected) in golden.z.iter().zip(&golden.draws) {
        let moved = golden.e.iter().zip(&golden.cholesky);
        let moved: Vec<f64> = moved
            .map(|(e, row)| e + row.iter().zip(z).map(|(l, z)| l * z).sum::<f64>())
            .collect();
        assert!((ndcg(&moved) - expected).abs() < golden.tolerance);
    }
}
