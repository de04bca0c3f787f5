//! Methods added up as the evaluation of another reranking program does it.

use crate::domain::corpus::{DocId, QueryId};
use crate::domain::methods::{MethodEffort, MethodRow, MethodValues};
use crate::domain::metrics::Resampling;
use serde::Deserialize;
use std::collections::BTreeMap;

const AGGREGATE: &str = include_str!("../../../tests/golden/ranksmith/mteb_aggregate.json");

#[derive(Deserialize)]
struct Golden {
    rows: Vec<GoldenRow>,
    aggregate: serde_json::Value,
}

#[derive(Deserialize)]
struct GoldenRow {
    metrics: BTreeMap<String, f64>,
    valid: bool,
    failure_type: Option<String>,
    latency_ms: f64,
    usage: Option<[u64; 2]>,
    llm_calls: u64,
    cost: Option<f64>,
}

#[test]
fn rows_add_up_to_the_same_figures() {
    let golden: Golden = serde_json::from_str(AGGREGATE).unwrap();
    let expected = |name: &str| golden.aggregate[name].as_f64().unwrap();
    let rows: Vec<MethodRow> = golden
        .rows
        .iter()
        .enumerate()
        .map(|(at, row)| MethodRow {
            query: QueryId::new(at.to_string()),
            method: "x".to_owned(),
            judges: Vec::new(),
            order: vec![DocId::new("d")],
            scores: None,
            calls: row.llm_calls,
            failed_calls: 0,
            tokens_in: row.usage.map_or(0, |usage| usage[0]),
            tokens_out: row.usage.map_or(0, |usage| usage[1]),
            cost_usd: row.cost,
            wall_ms: Some(row.latency_ms as u64),
            service_ms: 0,
            repairs: 0,
            truncated: 0,
            failure: row.failure_type.clone(),
            created_ms: 0,
        })
        .collect();
    let effort = MethodEffort::of(rows.iter());
    assert_eq!(effort.wall_p50_ms, Some(expected("latency_ms_p50") as u64));
    assert_eq!(effort.wall_p95_ms, Some(expected("latency_ms_p95") as u64));
    assert_eq!(effort.failed_share(), Some(expected("invalid_rate")));
    assert_eq!(effort.queries as f64, expected("query_count"));
    assert_eq!(
        (effort.queries - effort.failed) as f64,
        expected("valid_count")
    );
    assert_eq!(
        effort.a_query(effort.calls),
        Some(expected("llm_calls_mean"))
    );
    assert_eq!(effort.calls as f64, expected("llm_calls_total"));
    assert_eq!(effort.cost_usd, expected("cost_total"));
    let priced = effort.cost_usd / effort.priced as f64;
    assert_eq!(priced, expected("cost_mean_costed_only"));
    // A query without a price has none; it is not free.
    assert_eq!(effort.usd_a_query(), None);
    for metric in ["ndcg@10", "mrr@10"] {
        let value = |row: &GoldenRow| row.valid.then(|| row.metrics[metric]);
        let values: Vec<Option<f64>> = golden.rows.iter().map(value).collect();
        let found = MethodValues::new(values, &[true; 3], &Resampling::default());
        assert_eq!(found.all.unwrap().mean, expected(metric));
        let answered = format!("{metric}_valid_only");
        assert_eq!(found.answered.unwrap().mean, expected(&answered));
    }
}
