//! Compares retrieval with DuckDB's full-text extension, and pools with the original's SQL.

mod court;

use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::{EvaluationRules, Metric, Qrels, RankedRun, evaluate};
use crate::domain::retrieval::{
    AnalysisProfile, Bm25Index, JudgingPool, PoolLayout, SlotSource, build_pool,
};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};

const SAMPLE: &str = include_str!("../../../data/scifact.jsonl");
const SCORES: &str = include_str!("../../../tests/golden/hep/duckdb_sample.json");
const TOKENS: &str = include_str!("../../../tests/golden/hep/tokenize_vectors.json");
const PORTER: &str = include_str!("../../../tests/golden/hep/porter_vectors.tsv");
const POOLS: &str = include_str!("../../../tests/golden/hep/pools.json");

fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    AnalysisProfile::Duckdb.each_word(text, |word| words.push(word.to_owned()));
    words
}

#[test]
fn words_are_duckdbs() {
    #[derive(Deserialize)]
    struct Case {
        text: String,
        tokens: Vec<String>,
    }
    let cases: Value = serde_json::from_str(TOKENS).unwrap();
    for mut case in serde_json::from_value::<Vec<Case>>(cases["tokenize"].clone()).unwrap() {
        // DuckDB's empty tokens at either end are not words.
        case.tokens.retain(|token| !token.is_empty());
        assert_eq!(words(&case.text), case.tokens, "{}", case.text);
    }
}

#[test]
fn stems_are_porters() {
    let cases: Value = serde_json::from_str(TOKENS).unwrap();
    let listed = cases["stem"].as_array().unwrap().iter();
    let listed = listed.map(|case| {
        (
            case["word"].as_str().unwrap(),
            case["porter"].as_str().unwrap(),
        )
    });
    let mut tried = 0;
    for (word, stem) in PORTER
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .chain(listed)
    {
        assert_eq!(AnalysisProfile::Duckdb.query_terms(word), [stem], "{word}");
        tried += 1;
    }
    assert!(tried > 2000);
}

/// The bundled sample's distinct documents in order of first appearance, with separate title and
/// text.
fn sample() -> Vec<(DocId, String, String)> {
    let mut seen = HashSet::new();
    let mut documents = Vec::new();
    for line in SAMPLE.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        for document in line["documents"].as_array().unwrap() {
            let of = |value: &Value| value.as_str().unwrap().to_owned();
            let (id, title) = (of(&document["id"]), of(&document["metadata"]["title"]));
            let text = of(&document["content"])[title.len()..]
                .trim_start()
                .to_owned();
            if seen.insert(id.clone()) {
                documents.push((DocId::new(id), title, text));
            }
        }
    }
    documents
}

#[test]
fn scores_are_duckdbs() {
    #[derive(Deserialize)]
    struct Golden {
        documents: usize,
        mean_length: f64,
        terms: usize,
        queries: Vec<Query>,
    }
    #[derive(Deserialize)]
    struct Query {
        query: String,
        matching: usize,
        top: Vec<(String, f64)>,
    }
    let golden: Golden = serde_json::from_str(SCORES).unwrap();
    let sample = sample();
    let mut index = Bm25Index::new(AnalysisProfile::Duckdb);
    for (id, title, text) in &sample {
        index.add(id.clone(), title, text);
    }
    assert_eq!(
        (index.documents(), index.vocabulary()),
        (golden.documents, golden.terms)
    );
    assert_eq!(index.mean_length(), Some(golden.mean_length));
    for Query {
        query,
        matching,
        top,
    } in golden.queries
    {
        let hits = index.search(&query, usize::MAX);
        assert_eq!(hits.len(), matching, "{query}");
        for (hit, (id, score)) in hits.iter().zip(top) {
            let found = index.id(hit.document).unwrap();
            assert!(
                found.as_str() == id && (hit.score - score).abs() < 1e-12,
                "{query} {found} {id}"
            );
        }
    }
}

#[derive(Deserialize)]
struct Pools {
    queries: BTreeMap<QueryId, PoolRow>,
    summary: BTreeMap<String, String>,
    stubs: Value,
    inspection: Vec<[String; 3]>,
}

#[derive(Deserialize)]
struct PoolRow {
    positives: String,
    candidates: String,
    /// Ranks.
    fill: Vec<usize>,
    found: usize,
    recall: f64,
    mrr: f64,
}

fn pools() -> Pools {
    serde_json::from_str(POOLS).unwrap()
}

fn ids(text: &str) -> Vec<DocId> {
    text.split(' ').map(DocId::new).collect()
}

/// The original's pools of ten documents.
fn original(pools: &Pools) -> Vec<JudgingPool> {
    let queries = pools.queries.iter();
    queries
        .map(|(query, row)| {
            build_pool(
                query,
                &ids(&row.positives),
                &ids(&row.candidates),
                10,
                PoolLayout::Original,
            )
        })
        .collect()
}

#[test]
fn pools_are_the_originals() {
    let golden = pools();
    let pools = original(&golden);
    assert_eq!(pools.len(), 300);
    let mut sources: BTreeMap<SlotSource, usize> = BTreeMap::new();
    for pool in &pools {
        let row = &golden.queries[&pool.query];
        let (positives, candidates) = (ids(&row.positives), ids(&row.candidates));
        let expected = positives
            .iter()
            .chain(row.fill.iter().map(|rank| &candidates[rank - 1]));
        assert!(
            pool.slots.iter().map(|slot| &slot.document).eq(expected),
            "{}",
            pool.query
        );
        assert_eq!((pool.slots.len(), pool.positives()), (10, positives.len()));
        let of = |source| {
            pool.slots
                .iter()
                .filter(|slot| slot.source() == source)
                .count()
        };
        assert_eq!(of(SlotSource::LabelFound), row.found);
        for source in [
            SlotSource::LabelFound,
            SlotSource::LabelMissed,
            SlotSource::Fill,
        ] {
            *sources.entry(source).or_default() += of(source);
        }
    }
    assert_eq!(sources[&SlotSource::Fill], 2661);
    assert_eq!(
        sources[&SlotSource::LabelFound] + sources[&SlotSource::LabelMissed],
        339
    );
}

#[test]
fn the_first_stage_is_worth_what_the_original_printed() {
    let golden = pools();
    let mut qrels = Qrels::new();
    let mut run = RankedRun::new();
    for (query, row) in &golden.queries {
        qrels.insert(
            query.clone(),
            ids(&row.positives).into_iter().map(|id| (id, 1)).collect(),
        );
        let scored = ids(&row.candidates)
            .into_iter()
            .enumerate()
            .map(|(above, id)| (id, -(above as f64)));
        run.insert(query.clone(), scored.collect());
    }
    let metrics: [Metric; 2] = ["recall@10", "mrr@10"].map(|name| name.parse().unwrap());
    let evaluation = evaluate(&qrels, &run, &metrics, &EvaluationRules::default()).unwrap();
    for of in &evaluation.queries {
        let row = &golden.queries[&of.query];
        assert_eq!(of.values, [Some(row.recall), Some(row.mrr)], "{}", of.query);
    }
    for (metric, name) in metrics.iter().zip(["avg_recall_at_10", "avg_mrr_at_10"]) {
        let printed: f64 = golden.summary[name].parse().unwrap();
        assert!((evaluation.mean(*metric).unwrap() - printed).abs() < 1e-12);
    }
}
