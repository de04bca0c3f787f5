//! Compares expected metrics, draws, estimates and intervals with reference values, which come from
//! an independent implementation and, for expectations, from enumeration.

use super::design::{FrameQuery, MeasuredFrame};
use super::estimate::{ALPHA, CombinedEstimate, DrawEstimate, IntervalKind};
use super::expected::ExpectedMetric;
use serde::Deserialize;

const EXPECTED: &str = include_str!("../../../../tests/golden/trust/expected_metrics.json");
const CORRECTED: &str = include_str!("../../../../tests/golden/trust/corrected_metrics.json");
const TOLERANCE: f64 = 1e-9;

fn metric(name: &str, cutoff: usize) -> ExpectedMetric {
    let metric = format!("{name}@{cutoff}").parse().expect("a metric");
    ExpectedMetric::of(metric).expect("an expected metric")
}

/// Rank 0 stands for a document that was not retrieved.
fn ranks(ranks: &[usize]) -> Vec<Option<usize>> {
    ranks
        .iter()
        .map(|of| Some(*of).filter(|of| *of > 0))
        .collect()
}

#[track_caller]
fn assert_close(found: f64, expected: f64, what: &str) {
    assert!(
        (found - expected).abs() < TOLERANCE,
        "{what}: {found} {expected}"
    );
}

#[derive(Deserialize)]
struct Expected {
    cases: Vec<ExpectedCase>,
}

#[derive(Deserialize)]
struct ExpectedCase {
    metric: String,
    k: usize,
    p: Vec<f64>,
    rank: Vec<usize>,
    expected: f64,
    gradient: Vec<f64>,
}

#[test]
fn expected_values_and_gradients() {
    let golden: Expected = serde_json::from_str(EXPECTED).expect("golden expectations");
    assert_eq!(golden.cases.len(), 60);
    for case in &golden.cases {
        let (metric, ranks) = (metric(&case.metric, case.k), ranks(&case.rank));
        assert_close(metric.mean(&case.p, &ranks), case.expected, &case.metric);
        for (found, expected) in metric.gradient(&case.p, &ranks).iter().zip(&case.gradient) {
            assert_close(*found, *expected, &case.metric);
        }
    }
}

#[derive(Deserialize)]
struct Corrected {
    cases: Vec<Replay>,
}

#[derive(Deserialize)]
struct Replay {
    metric: String,
    k: usize,
    p: Vec<Vec<f64>>,
    runs: Vec<Vec<Vec<usize>>>,
    #[serde(rename = "floor")]
    uniform_share: f64,
    steps: Vec<Step>,
    rows: Vec<Row>,
    final_mean: f64,
    combined: Combined,
    sequence: Sequence,
}

#[derive(Deserialize)]
struct Step {
    kind: String,
    q: usize,
    d: usize,
    y: u8,
}

#[derive(Deserialize)]
struct Row {
    mean: f64,
    gradient: f64,
    probability: Option<f64>,
    z: Option<f64>,
    sigma2: Option<f64>,
}

#[derive(Deserialize)]
struct Combined {
    estimate: f64,
    variance: f64,
    df: f64,
    low: f64,
    high: f64,
}

#[derive(Deserialize)]
struct Sequence {
    estimate: Vec<f64>,
    half: Vec<f64>,
}

fn frame(of: &Replay) -> MeasuredFrame {
    let query = |at: usize| FrameQuery {
        runs: of.runs.iter().map(|run| ranks(&run[at])).collect(),
    };
    MeasuredFrame {
        metric: metric(&of.metric, of.k),
        queries: (0..of.p.len()).map(query).collect(),
    }
}

#[test]
fn replays_of_draws_with_their_estimates_and_intervals() {
    let golden: Corrected = serde_json::from_str(CORRECTED).expect("golden replays");
    assert_eq!(golden.cases.len(), 4);
    for case in &golden.cases {
        let frame = frame(case);
        let queries = frame.queries.len() as f64;
        let mut known: Vec<Vec<Option<bool>>> =
            case.p.iter().map(|of| vec![None; of.len()]).collect();
        let mut estimates = Vec::new();
        for (step, row) in case.steps.iter().zip(&case.rows) {
            let mut design = frame.design(&known, &case.p);
            let share = if step.kind == "uniform" {
                1.0
            } else {
                case.uniform_share
            };
            design.set_probabilities(queries, share);
            let here =
                |of: &&super::design::DrawCandidate| (of.query, of.document) == (step.q, step.d);
            let drawn = design.candidates.iter().find(here).expect("a candidate");
            assert_close(design.mean, row.mean, "mean");
            assert_close(drawn.gradient, row.gradient, "gradient");
            if let (Some(probability), Some(z), Some(sigma2)) = (row.probability, row.z, row.sigma2)
            {
                assert_close(drawn.probability, probability, "probability");
                assert_close(design.variance, sigma2, "variance");
                let residual = f64::from(step.y) - drawn.relevance;
                let value = design.mean + drawn.gradient * residual / (probability * queries);
                assert_close(value, z, "z");
                estimates.push(DrawEstimate {
                    value,
                    variance: design.variance,
                });
            }
            known[step.q][step.d] = Some(step.y == 1);
        }
        assert_close(
            frame.design(&known, &case.p).mean,
            case.final_mean,
            "final mean",
        );
        let combined = CombinedEstimate::of(&estimates).expect("an estimate");
        assert_close(combined.value, case.combined.estimate, "estimate");
        assert_close(combined.variance, case.combined.variance, "variance");
        assert_close(combined.degrees, case.combined.df, "degrees of freedom");
        let half = combined.half_width(IntervalKind::Student, ALPHA);
        assert_close(combined.value - half, case.combined.low, "low");
        assert_close(combined.value + half, case.combined.high, "high");
        assert_eq!(case.sequence.half.len(), estimates.len());
        for (at, half) in case.sequence.half.iter().enumerate() {
            let combined = CombinedEstimate::of(&estimates[..=at]).expect("an estimate");
            assert_close(combined.value, case.sequence.estimate[at], "sequence");
            let found = combined.half_width(IntervalKind::Sequence, ALPHA);
            assert_close(found, *half, "half width");
        }
    }
}
