//! Compares the aggregation of methods with the evaluation of another reranking program.

pub mod reranking;

use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::{EvaluationRules, Metric, Qrels, RankedRun, Resampling, evaluate};
use crate::features::methods::domain::{
    MethodEffort, MethodRow, MethodValues, RankingFailure, nearest_rank,
};
use crate::judge::Usage;
use crate::judge::price::{CacheWrites, Price, TokenRates};
use serde::Deserialize;
use std::collections::BTreeMap;

const HELPERS: &str = include_str!("../../../tests/golden/ranksmith/mteb_helpers.json");
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
            judges: vec!["gpt".to_owned()],
            order: ["d", "e"].map(DocId::new).to_vec(),
            scores: None,
            calls: row.llm_calls,
            failed_calls: 0,
            shared_calls: Some(0),
            tokens_in: row.usage.map_or(0, |usage| usage[0]),
            tokens_out: row.usage.map_or(0, |usage| usage[1]),
            cost_usd: row.cost,
            wall_ms: Some(row.latency_ms as u64),
            service_ms: 0,
            repairs: 0,
            truncated: 0,
            document_chars: None,
            cut: Some(Vec::new()),
            failure: row.failure_type.as_ref().map(|kind| RankingFailure {
                kind: kind.parse().unwrap(),
                message: kind.clone(),
            }),
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
    // A query without a price has no cost; it is not free.
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

#[derive(Deserialize)]
struct Helpers {
    percentile: Vec<GoldenPercentile>,
    cost: Vec<GoldenCost>,
    query_metrics: Vec<GoldenQuery>,
}

#[derive(Deserialize)]
struct GoldenPercentile {
    values: Vec<f64>,
    p: usize,
    value: f64,
}

#[derive(Deserialize)]
struct GoldenCost {
    usage: Option<[u64; 2]>,
    prices: Option<[f64; 2]>,
    value: Option<f64>,
}

#[derive(Deserialize)]
struct GoldenQuery {
    labels: Vec<f64>,
    order: Option<Vec<usize>>,
    metrics: BTreeMap<String, f64>,
}

fn helpers() -> Helpers {
    serde_json::from_str(HELPERS).unwrap()
}

#[test]
fn percentiles_are_the_same() {
    let golden = helpers().percentile;
    assert!(golden.len() > 50);
    for case in golden {
        // There are tenths, but latencies are integers here.
        let tenths = |value: f64| (10.0 * value).round() as u64;
        let mut values: Vec<u64> = case.values.iter().copied().map(tenths).collect();
        values.sort_unstable();
        // For an empty list, theirs is 0 and ours is undefined.
        let expected = (!values.is_empty()).then(|| tenths(case.value));
        assert_eq!(nearest_rank(&values, case.p), expected);
    }
}

#[test]
fn calls_cost_the_same() {
    for case in helpers().cost {
        let (Some([input, output]), Some(prices)) = (case.usage, case.prices) else {
            assert_eq!(case.value, None);
            continue;
        };
        let price = TokenRates {
            input: prices[0],
            output: prices[1],
            cached: None,
        };
        let usage = Usage {
            input,
            output,
            ..Usage::default()
        };
        let found = Price::from(price).cost(&usage, CacheWrites::default());
        assert!((found - case.value.unwrap()).abs() < 1e-15, "{found}");
    }
}

#[test]
fn queries_have_the_same_values() {
    let id = |at: usize| DocId::new(format!("d{at}"));
    let query = QueryId::new("q");
    let mut measured = 0;
    for case in helpers().query_metrics {
        // Grades are integers here, and those below 0 do not reduce a gain.
        let whole = |label: &f64| label.fract() == 0.0 && *label >= 0.0;
        let Some(order) = case.order.filter(|_| case.labels.iter().all(whole)) else {
            continue;
        };
        measured += 1;
        let grades = case.labels.iter().enumerate();
        let grades = grades.map(|(at, label)| (id(at), *label as i32)).collect();
        let ranked = order.iter().enumerate();
        let ranked = ranked.map(|(above, at)| (id(*at), -(above as f64)));
        let run = RankedRun::from_iter([(query.clone(), ranked.collect())]);
        let qrels = Qrels::from_iter([(query.clone(), grades)]);
        for (name, expected) in &case.metrics {
            let metric: Metric = name.parse().unwrap();
            let found = evaluate(&qrels, &run, &[metric], &EvaluationRules::default()).unwrap();
            let found = found.queries[0].values[0].unwrap();
            assert!(
                (found - expected).abs() < 1e-12,
                "{name} {found} {expected}"
            );
        }
    }
    assert_eq!(measured, 8);
}
