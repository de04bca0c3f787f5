//! Compares the evidence for the prior's precision with independent values, on a grid that includes
//! weak signals.

use crate::domain::rating::{
    Observation, PriorEvidence, PriorGridEnd, RatingModel, prior_grid_end,
};
use serde::Deserialize;

const GRID: &str = include_str!("../../../../tests/golden/trust2/lambda_grid.json");

#[derive(Deserialize)]
struct Golden {
    tolerance: f64,
    grid: Vec<f64>,
    phi: f64,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    documents: usize,
    /// The battles of each query: document A, document B, and the share of B.
    queries: Vec<Vec<(usize, usize, f64)>>,
    log_evidence: Vec<f64>,
    best: f64,
}

#[test]
fn the_evidence_finds_weak_signals_too() {
    let golden: Golden = serde_json::from_str(GRID).unwrap();
    for case in golden.cases {
        let evidence = case
            .queries
            .iter()
            .map(|query| {
                let battles: Vec<Observation> = query
                    .iter()
                    .map(|&(a, b, score)| Observation::new(a, b, score, 1.0))
                    .collect();
                PriorEvidence::of(case.documents, &battles, RatingModel::Map).unwrap()
            })
            .fold(PriorEvidence::default(), |sum, one| sum.pooled(&one));
        let found = evidence.log_evidence(golden.phi);
        assert_eq!(found.len(), golden.grid.len());
        for (((lambda, value), at), expected) in
            found.into_iter().zip(&golden.grid).zip(&case.log_evidence)
        {
            assert_eq!(lambda, *at);
            assert!(
                (value - expected).abs() < golden.tolerance,
                "λ {lambda}: {value} for {expected}"
            );
        }
        assert_eq!(evidence.best(|_| golden.phi), Some(case.best));
    }
    assert_eq!(prior_grid_end(0.01), Some(PriorGridEnd::Smallest));
    assert_eq!(prior_grid_end(8.0), Some(PriorGridEnd::Largest));
    assert_eq!(prior_grid_end(3.0), None);
}
