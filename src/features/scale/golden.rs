//! Compares the offsets of queries from battles across queries with reference values.

use crate::features::scale::domain::{LinkBattle, fit_links};
use serde::Deserialize;

const CROSS_QUERY: &str = include_str!("../../../tests/golden/science/cross_query.json");

#[derive(Deserialize)]
struct CrossQuery {
    within_scores: Vec<Vec<f64>>,
    battles: Vec<Battle>,
    lam: f64,
    offsets: Vec<f64>,
}

#[derive(Deserialize)]
struct Battle {
    q1: usize,
    i: usize,
    q2: usize,
    j: usize,
    s: f64,
    #[serde(default = "one")]
    n: f64,
}

fn one() -> f64 {
    1.0
}

#[test]
fn offsets_of_queries_from_links() {
    let golden: CrossQuery = serde_json::from_str(CROSS_QUERY).expect("golden offsets");
    assert_eq!(golden.lam, 0.05);
    let battles: Vec<LinkBattle> = golden
        .battles
        .iter()
        .map(|battle| LinkBattle {
            a: (battle.q1, golden.within_scores[battle.q1][battle.i]),
            b: (battle.q2, golden.within_scores[battle.q2][battle.j]),
            score: battle.s,
            weight: battle.n,
        })
        .collect();
    let found = fit_links(golden.offsets.len(), &battles, 1.0).expect("offsets");
    for (found, expected) in found.iter().zip(&golden.offsets) {
        assert!(
            (found.value - expected).abs() < 1e-9,
            "{found:?} {expected}"
        );
        assert!(found.se > 0.0 && found.se.is_finite());
    }
}
