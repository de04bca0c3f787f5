//! Compares the metrics with trec_eval, ranx, scipy and zBench's own code.

mod grades;
mod statistics;

use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::{
    EvaluationError, EvaluationRules, Metric, Qrels, RankedRun, ScoreWidth, evaluate,
    sort_as_trec_eval,
};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

const TREC: &str = include_str!("../../../tests/golden/metrics/trec_eval.json");
const FLOATS: &str = include_str!("../../../tests/golden/metrics/float32_ties.json");
const CASES: &str = include_str!("../../../tests/golden/science/metrics_cases.json");

#[derive(Deserialize)]
struct Trec {
    metrics: Vec<Metric>,
    ranx_metrics: Vec<Metric>,
    queries: BTreeMap<QueryId, TrecQuery>,
    mean: Vec<f64>,
}

#[derive(Deserialize)]
struct TrecQuery {
    qrels: Option<BTreeMap<DocId, i32>>,
    run: Option<BTreeMap<DocId, f64>>,
    order: Option<String>,
    values: Option<Vec<f64>>,
    level_2: Option<Vec<f64>>,
    ranx: Option<Vec<f64>>,
}

impl Trec {
    fn new() -> Self {
        serde_json::from_str(TREC).unwrap()
    }

    fn qrels(&self) -> Qrels {
        let labelled =
            |(query, of): (&QueryId, &TrecQuery)| Some((query.clone(), of.qrels.clone()?));
        self.queries.iter().filter_map(labelled).collect()
    }

    fn run(&self) -> RankedRun {
        let scored = |(query, of): (&QueryId, &TrecQuery)| {
            Some((query.clone(), of.run.clone()?.into_iter().collect()))
        };
        self.queries.iter().filter_map(scored).collect()
    }

    /// Checks all evaluated queries for which `golden` has values, and returns their number.
    fn check(
        &self,
        rules: &EvaluationRules,
        metrics: &[Metric],
        golden: impl Fn(&TrecQuery) -> Option<&Vec<f64>>,
        within: f64,
    ) -> usize {
        let evaluation = evaluate(&self.qrels(), &self.run(), metrics, rules).unwrap();
        let mut checked = 0;
        for of in &evaluation.queries {
            let Some(values) = golden(&self.queries[&of.query]) else {
                continue;
            };
            checked += 1;
            for ((metric, value), golden) in metrics.iter().zip(&of.values).zip(values) {
                close(
                    value.unwrap(),
                    *golden,
                    within,
                    &format!("{} {metric}", of.query),
                );
            }
        }
        checked
    }
}

fn close(value: f64, golden: f64, within: f64, what: &str) {
    assert!(
        (value - golden).abs() <= within,
        "{what}: {value} instead of {golden}"
    );
}

#[test]
fn every_value_is_trec_evals() {
    let trec = Trec::new();
    assert_eq!(
        trec.check(
            &EvaluationRules::default(),
            &trec.metrics,
            |of| of.values.as_ref(),
            1e-12
        ),
        50
    );
    let strict = EvaluationRules {
        relevant_from: 2,
        ..EvaluationRules::default()
    };
    assert_eq!(
        trec.check(&strict, &trec.metrics, |of| of.level_2.as_ref(), 1e-12),
        8
    );
    assert_eq!(
        trec.check(
            &EvaluationRules::default(),
            &trec.ranx_metrics,
            |of| of.ranx.as_ref(),
            1e-9
        ),
        50
    );
}

#[test]
fn means_and_queries_left_out_are_trec_evals() {
    let trec = Trec::new();
    let (qrels, run) = (trec.qrels(), trec.run());
    let evaluation = evaluate(&qrels, &run, &trec.metrics, &EvaluationRules::default()).unwrap();
    for (metric, golden) in trec.metrics.iter().zip(&trec.mean) {
        close(
            evaluation.mean(*metric).unwrap(),
            *golden,
            1e-12,
            &metric.to_string(),
        );
    }
    let names = |ids: &[QueryId]| {
        ids.iter()
            .map(|id| id.as_str().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&evaluation.without_positives), ["q41", "q42", "q43"]);
    assert_eq!(names(&evaluation.missing_from_run), ["q_missing_in_run"]);
    assert_eq!(
        names(&evaluation.missing_from_qrels),
        ["q_missing_in_qrels"]
    );

    let counted = EvaluationRules {
        count_missing: true,
        ..EvaluationRules::default()
    };
    let counted = evaluate(&qrels, &run, &trec.metrics, &counted).unwrap();
    let ndcg = "ndcg".parse().unwrap();
    let (mean, all) = (evaluation.mean(ndcg).unwrap(), counted.mean(ndcg).unwrap());
    close(all, mean * 50.0 / 51.0, 1e-15, "counting the missing query");
    assert_eq!(counted.mean("judged@10".parse().unwrap()), None);
}

#[test]
fn the_order_is_trec_evals() {
    let trec = Trec::new();
    for (query, of) in &trec.queries {
        let (Some(run), Some(order)) = (&of.run, &of.order) else {
            continue;
        };
        let mut ranked: Vec<(DocId, f64)> = run.clone().into_iter().collect();
        sort_as_trec_eval(&mut ranked, ScoreWidth::Single);
        assert!(
            ranked
                .iter()
                .map(|(id, _)| id.as_str())
                .eq(order.split(' ')),
            "{query}"
        );
    }
}

#[test]
fn scores_are_compared_as_32_bit_numbers_unless_told_otherwise() {
    #[derive(Deserialize)]
    struct Case {
        score_a: f64,
        score_b: f64,
        recip_rank_of_a: f64,
    }
    let qrels = Qrels::from([(QueryId::new("q"), BTreeMap::from([(DocId::new("a"), 1)]))]);
    let mrr: Metric = "mrr".parse().unwrap();
    for case in serde_json::from_str::<Vec<Case>>(FLOATS).unwrap() {
        let documents = vec![
            (DocId::new("a"), case.score_a),
            (DocId::new("b"), case.score_b),
        ];
        let run = RankedRun::from([(QueryId::new("q"), documents)]);
        let of = |scores| {
            let rules = EvaluationRules {
                scores,
                ..EvaluationRules::default()
            };
            evaluate(&qrels, &run, &[mrr], &rules).unwrap()
        };
        let single = of(ScoreWidth::Single);
        assert_eq!(single.mean(mrr), Some(case.recip_rank_of_a));
        // A tie between a relevant and an unjudged document: the value depends on the IDs.
        assert_eq!(single.tied.is_empty(), case.score_a == 1e39);
        let double = if case.score_a > case.score_b {
            1.0
        } else {
            0.5
        };
        assert_eq!(of(ScoreWidth::Double).mean(mrr), Some(double));
    }
}

#[test]
fn rankings_that_are_none_are_refused() {
    let qrels = Qrels::from([(QueryId::new("q"), BTreeMap::new())]);
    let of = |documents: &[(&str, f64)]| {
        let documents = documents
            .iter()
            .map(|(id, score)| (DocId::new(*id), *score))
            .collect();
        evaluate(
            &qrels,
            &RankedRun::from([(QueryId::new("q"), documents)]),
            &[],
            &EvaluationRules::default(),
        )
    };
    let (query, document) = (QueryId::new("q"), DocId::new("a"));
    assert_eq!(
        of(&[("a", 1.0), ("b", 1.0), ("a", 0.0)]),
        Err(EvaluationError::Duplicate {
            query: query.clone(),
            document: document.clone()
        })
    );
    assert_eq!(
        of(&[("a", f64::NAN)]),
        Err(EvaluationError::NotANumber { query, document })
    );
    assert!(of(&[("a", f64::INFINITY), ("b", f64::NEG_INFINITY)]).is_ok());
}

#[derive(Deserialize)]
struct Cases {
    zbench: Vec<BTreeMap<String, Value>>,
    trec: Vec<TrecCase>,
    correlations: Vec<statistics::Correlation>,
    paired: Vec<statistics::Paired>,
}

#[derive(Deserialize)]
struct TrecCase {
    name: String,
    qrel: BTreeMap<DocId, i32>,
    run: BTreeMap<DocId, f64>,
    trec_eval: BTreeMap<String, f64>,
    ranx: Option<BTreeMap<String, f64>>,
}

fn cases() -> Cases {
    serde_json::from_str(CASES).unwrap()
}

#[test]
fn small_cases_are_trec_evals_too() {
    for case in cases().trec {
        let query = QueryId::new("q");
        let qrels = Qrels::from([(query.clone(), case.qrel)]);
        let run = RankedRun::from([(query, case.run.into_iter().collect())]);
        let names = case
            .trec_eval
            .iter()
            .map(|(name, golden)| (name, golden, 1e-12));
        // ranx breaks ties differently from trec_eval; the cases with its values have no ties.
        let ranx = case
            .ranx
            .iter()
            .flatten()
            .map(|(name, golden)| (name, golden, 1e-9));
        for (name, golden, within) in names.chain(ranx) {
            let name = name
                .replace("_cut_", "@")
                .replace("recip_rank", "mrr")
                .replace("Rprec", "rprec");
            let name = name
                .replace("ndcg_burges", "ndcg_exp")
                .replace("recall_", "recall@");
            let name = name.replace("P_", "p@").replace("success_", "success@");
            let metric: Metric = name.parse().unwrap();
            let evaluation =
                evaluate(&qrels, &run, &[metric], &EvaluationRules::default()).unwrap();
            close(
                evaluation.mean(metric).unwrap(),
                *golden,
                within,
                &format!("{} {name}", case.name),
            );
        }
    }
}

proptest! {
    #[test]
    fn values_are_shares_and_the_ideal_order_is_the_best(
        grades in prop::collection::vec(-1i32..4, 1..15),
        scores in prop::collection::vec(0u8..6, 15),
    ) {
        let ids: Vec<DocId> = (0..grades.len()).map(|n| DocId::new(n.to_string())).collect();
        let query = QueryId::new("q");
        let qrels = Qrels::from([(query.clone(), ids.iter().cloned().zip(grades.iter().copied()).collect())]);
        let metrics: Vec<Metric> = ["ndcg", "ndcg@3", "ndcg_exp@3", "mrr", "map", "map@3", "bpref", "rprec", "recall@3", "p@3", "success@3", "judged@3"]
            .iter()
            .map(|name| name.parse().unwrap())
            .collect();
        let values = |score: &dyn Fn(usize) -> f64| {
            let documents = ids.iter().cloned().enumerate().map(|(at, id)| (id, score(at))).collect();
            let run = RankedRun::from([(query.clone(), documents)]);
            evaluate(&qrels, &run, &metrics, &EvaluationRules::default()).unwrap().queries.remove(0).values
        };
        let any = values(&|at| f64::from(scores[at]));
        let best = values(&|at| f64::from(grades[at]));
        for ((metric, any), best) in metrics.iter().zip(any).zip(best) {
            let (any, best) = (any.unwrap(), best.unwrap());
            prop_assert!((0.0..=1.0 + 1e-12).contains(&any), "{} {}", metric, any);
            prop_assert!(any <= best + 1e-12, "{} {} {}", metric, any, best);
        }
    }
}
