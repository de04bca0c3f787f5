//! Compares similarity-boosted ranking with the seed's own script, run with given vectors, and on
//! its real ColBERT lists.
//!
//! The texts of the real lists are not available, so only what follows from scores and similarities
//! is checked for them.

use crate::domain::corpus::DocId;
use crate::features::duel::domain::sbr::{
    SbrCandidate, SbrOptions, SbrProfile, SbrRow, boosted, boosted_ranking, distinct_candidates,
};
use serde::Deserialize;
use std::collections::BTreeMap;

const SMALL: &str = include_str!("../../../tests/golden/sbr/step1_small.json");
const REAL: &str = include_str!("../../../tests/golden/sbr/real.json");

#[derive(Deserialize)]
struct Case {
    name: String,
    top_k: usize,
    alpha: f64,
    input: Vec<Input>,
    output_sorted: Vec<Output>,
}

#[derive(Deserialize)]
struct Input {
    qid: u32,
    docno: DocId,
    score: f64,
    text: String,
    embedding: Vec<f64>,
}

#[derive(Deserialize)]
struct Output {
    qid: u32,
    docno: DocId,
    score: f64,
    normalized_score: f64,
    semantic_sim: f64,
    sbr_score: f64,
    sbr_rank: usize,
}

fn close(found: &SbrRow, expected: [f64; 4]) -> bool {
    let found = [
        found.score,
        found.normalized,
        found.semantic_sim,
        found.sbr_score,
    ];
    let pairs = found.iter().zip(expected);
    pairs
        .into_iter()
        .all(|(found, expected)| (found - expected).abs() < 1e-12)
}

#[test]
fn every_small_case_has_the_originals_rows() {
    let cases: Vec<Case> = serde_json::from_str(SMALL).unwrap();
    assert_eq!(cases.len(), 39);
    for case in cases {
        let options = SbrOptions {
            alpha: case.alpha,
            top_k: case.top_k,
            profile: SbrProfile::Original,
        };
        let mut by_query: BTreeMap<u32, Vec<&Input>> = BTreeMap::new();
        for row in &case.input {
            by_query.entry(row.qid).or_default().push(row);
        }
        let mut expected = case.output_sorted.iter();
        for (query, rows) in by_query {
            let candidates: Vec<SbrCandidate<'_>> = rows
                .iter()
                .map(|row| SbrCandidate {
                    id: &row.docno,
                    score: row.score,
                    text: &row.text,
                })
                .collect();
            let kept = distinct_candidates(&candidates, options.profile);
            let distinct: Vec<SbrCandidate<'_>> =
                kept.iter().map(|at| candidates[*at].clone()).collect();
            let vectors: Vec<Vec<f64>> =
                kept.iter().map(|at| rows[*at].embedding.clone()).collect();
            for row in boosted_ranking(&distinct, &vectors, &options) {
                let expected = expected.next().unwrap();
                assert_eq!(expected.qid, query, "{}", case.name);
                assert_eq!(distinct[row.at].id, &expected.docno, "{}", case.name);
                assert_eq!(row.sbr_rank, expected.sbr_rank, "{}", case.name);
                let values = [
                    expected.score,
                    expected.normalized_score,
                    expected.semantic_sim,
                    expected.sbr_score,
                ];
                assert!(close(&row, values), "{}: {row:?}", case.name);
            }
        }
        assert!(expected.next().is_none(), "{}", case.name);
    }
}

/// Rows in the original's order: score, normalized score, similarity, SBR score.
type RealRows = Vec<[f64; 4]>;

#[derive(Deserialize)]
struct Real {
    k5_alpha1: Vec<RealQuery>,
    others: BTreeMap<String, BTreeMap<String, RealRows>>,
}

#[derive(Deserialize)]
struct RealQuery {
    sbr: RealRows,
}

#[test]
fn the_real_lists_have_the_originals_scores_and_order() {
    let real: Real = serde_json::from_str(REAL).unwrap();
    assert_eq!(real.k5_alpha1.len(), 53);
    let mut lists: Vec<(f64, RealRows)> = Vec::new();
    lists.extend(real.k5_alpha1.into_iter().map(|query| (1.0, query.sbr)));
    for (setting, queries) in real.others {
        let alpha = if setting.contains("alpha=0.5") {
            0.5
        } else {
            1.0
        };
        lists.extend(queries.into_values().map(|rows| (alpha, rows)));
    }
    let mut documents = 0;
    for (alpha, rows) in lists {
        // Given in reverse, so that the order must be computed and is not just kept. Two equal
        // scores keep the order in which they are given, which is then reversed.
        let given: RealRows = rows.iter().rev().copied().collect();
        let scores: Vec<f64> = given.iter().map(|row| row[0]).collect();
        let similarities: Vec<f64> = given.iter().map(|row| row[2]).collect();
        let found = boosted(&scores, &similarities, alpha);
        assert_eq!(found.len(), rows.len());
        for (place, (row, expected)) in found.iter().zip(&rows).enumerate() {
            assert_eq!(row.sbr_rank, place + 1);
            let tied = |other: &&[f64; 4]| (other[3] - expected[3]).abs() < 1e-12;
            let tied = rows.iter().filter(tied).count() > 1;
            assert!(
                close(row, *expected) || tied && row.sbr_score == expected[3],
                "{row:?} {expected:?}"
            );
            documents += 1;
        }
    }
    assert!(documents > 4_505);
}
