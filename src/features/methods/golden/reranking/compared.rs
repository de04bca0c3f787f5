//! Compares whole runs of ranksmith's `compare_reranking`: orders, calls and metrics of every
//! query.

use super::strict;
use crate::domain::candidate_question::{Answer, Question};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::{EvaluationRules, Metric, Qrels, RankedRun, evaluate};
use crate::features::methods::domain::reranking::{MethodKind, play};
use rstest::rstest;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Deserialize)]
struct Comparison {
    top_k: usize,
    window_size: usize,
    stride: usize,
    passes: usize,
    call_estimates: BTreeMap<String, usize>,
    cases: BTreeMap<String, Case>,
    per_query: Vec<Ranked>,
    aggregate: Vec<Aggregate>,
}

#[derive(Deserialize)]
struct Case {
    first_stage: Vec<String>,
    /// Number of words that query and document share, which the judge of these runs used,
    /// preferring the earlier document or A on a tie.
    shared: Vec<usize>,
    qrels: BTreeMap<String, i32>,
}

#[derive(Deserialize)]
struct Ranked {
    algorithm: String,
    query_id: String,
    ranked_ids: Vec<String>,
    metrics: BTreeMap<String, f64>,
}

#[derive(Deserialize)]
struct Aggregate {
    algorithm: String,
    case_count: usize,
    metrics: BTreeMap<String, f64>,
}

impl Comparison {
    fn kind(&self, algorithm: &str) -> MethodKind {
        let (window, stride, passes) = (self.window_size, self.stride, self.passes);
        match algorithm {
            "rankgpt_sliding_window" => MethodKind::RankGpt { window, stride },
            "prp_sliding_k" => MethodKind::Prp { passes },
            other => panic!("{other}"),
        }
    }
}

impl Case {
    fn answer(&self, question: &Question) -> Answer {
        match question {
            Question::Compare { a, b } => Answer::SecondWins(self.shared[*b] > self.shared[*a]),
            _ => {
                let shown = question.shown();
                let mut order: Vec<usize> = (0..shown.len()).collect();
                order.sort_by_key(|at| usize::MAX - self.shared[shown[*at]]);
                Answer::Numbers(order.into_iter().map(|at| at as i64 + 1).collect())
            }
        }
    }
}

#[rstest]
#[case(
    include_str!("../../../../../tests/golden/ranksmith/compare/fixture.json"),
    6
)]
#[case(
    include_str!("../../../../../tests/golden/ranksmith/compare/scifact_first20.json"),
    40
)]
#[case(
    include_str!("../../../../../tests/golden/ranksmith/compare/scifact_oracle_random.json"),
    10
)]
fn comparisons_have_the_same_orders_calls_and_measures(#[case] golden: &str, #[case] rows: usize) {
    let golden: Comparison = serde_json::from_str(golden).unwrap();
    assert_eq!(golden.per_query.len(), rows);
    let mut sums: BTreeMap<(&str, &str), f64> = BTreeMap::new();
    let mut most_calls: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &golden.per_query {
        let case = &golden.cases[&row.query_id];
        let method = strict(golden.kind(&row.algorithm));
        let n = case.first_stage.len();
        let mut strategy = method.strategy(n, 0, 1);
        let played = play(strategy.as_mut(), &mut |question| case.answer(question)).unwrap();
        let order = played.ranking.order.iter();
        let order: Vec<&str> = order.map(|at| case.first_stage[*at].as_str()).collect();
        assert_eq!(order, row.ranked_ids, "{} {}", row.algorithm, row.query_id);
        // The original asks the same questions again in every pass.
        let bounds = method.calls(n, 1);
        assert!(played.calls <= bounds.most);
        *most_calls.entry(&row.algorithm).or_default() += match row.algorithm.as_str() {
            "prp_sliding_k" => 2 * golden.passes * (n - 1),
            _ => bounds.expected,
        };
        assert!(bounds.most <= 2 * golden.passes * (n - 1));

        let query = QueryId::new(row.query_id.as_str());
        let grades = case.qrels.iter();
        let grades = grades.map(|(id, grade)| (DocId::new(id.as_str()), *grade));
        let qrels = Qrels::from_iter([(query.clone(), grades.collect())]);
        let ranked = order.iter().enumerate();
        let ranked = ranked.map(|(above, id)| (DocId::new(*id), -(above as f64)));
        let run = RankedRun::from_iter([(query, ranked.collect())]);
        let names = ["ndcg", "mrr", "recall"].map(|name| format!("{name}@{}", golden.top_k));
        assert_eq!(row.metrics.len(), names.len());
        let metrics = names.each_ref().map(|name| name.parse::<Metric>().unwrap());
        let found = evaluate(&qrels, &run, &metrics, &EvaluationRules::default()).unwrap();
        for (name, found) in names.iter().zip(&found.queries[0].values) {
            let (known, expected) = row.metrics.get_key_value(name).unwrap();
            assert!((found.unwrap() - expected).abs() < 1e-12, "{name}");
            *sums.entry((&row.algorithm, known)).or_default() += found.unwrap();
        }
    }
    for (algorithm, calls) in most_calls {
        assert_eq!(golden.call_estimates[algorithm], calls, "{algorithm}");
    }
    for aggregate in &golden.aggregate {
        for (name, expected) in &aggregate.metrics {
            let sum = sums[&(aggregate.algorithm.as_str(), name.as_str())];
            let mean = sum / aggregate.case_count as f64;
            assert!((mean - expected).abs() < 1e-12, "{name}");
        }
    }
}
