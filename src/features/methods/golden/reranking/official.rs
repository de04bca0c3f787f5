//! Compares RankGPT with runs of its authors' code, given the same answers.

use super::{strategy, strict};
use crate::domain::candidate_question::Answer;
use crate::features::methods::domain::reranking::validation::AnswerFault;
use crate::features::methods::domain::reranking::{Method, MethodKind, Validation, play};
use serde::Deserialize;
use std::collections::BTreeMap;

const OFFICIAL: &str = include_str!("../../../../../tests/golden/ranksmith/official_rankgpt.json");

#[derive(Deserialize)]
struct Official {
    scores: BTreeMap<usize, Vec<i64>>,
    vectors: Vec<OfficialVector>,
    receive_permutation: Vec<Permutation>,
}

#[derive(Deserialize)]
struct OfficialVector {
    n: usize,
    window_size: usize,
    step: usize,
    positions_never_in_a_window: Vec<usize>,
    final_order: Vec<usize>,
}

#[derive(Deserialize)]
struct Permutation {
    response: String,
    n: usize,
    order: Vec<usize>,
}

#[test]
fn the_authors_rankgpt_differs_only_where_it_leaves_candidates_unseen() {
    let golden: Official = serde_json::from_str(OFFICIAL).unwrap();
    let mut same = 0;
    for vector in &golden.vectors {
        let scores = &golden.scores.get(&vector.n);
        let Some(scores) = scores else {
            continue;
        };
        let kind = MethodKind::RankGpt {
            window: vector.window_size,
            stride: vector.step,
        };
        let mut seen = vec![vector.n < 2; vector.n];
        let played = play(strategy(kind, vector.n).as_mut(), &mut |question| {
            let shown = question.shown();
            shown.iter().for_each(|candidate| seen[*candidate] = true);
            let mut order: Vec<usize> = (0..shown.len()).collect();
            order.sort_by_key(|at| -scores[shown[*at]]);
            Answer::Numbers(order.into_iter().map(|at| at as i64 + 1).collect())
        });
        let order = played.unwrap().ranking.order;
        assert!(seen.iter().all(|seen| *seen), "everyone is looked at");
        if vector.positions_never_in_a_window.is_empty() {
            assert_eq!(order, vector.final_order);
            same += 1;
        }
    }
    assert!(same > 5, "{same}");
}

#[test]
fn answers_are_repaired_as_the_authors_repair_them_where_a_part_is_usable() {
    let golden: Official = serde_json::from_str(OFFICIAL).unwrap();
    for case in &golden.receive_permutation {
        let digits = case.response.split(|letter: char| !letter.is_ascii_digit());
        let answered: Vec<i64> = digits.filter_map(|digits| digits.parse().ok()).collect();
        let kind = MethodKind::RankGpt {
            window: case.n,
            stride: 1,
        };
        let method = Method {
            validation: Validation::Repair,
            ..strict(kind)
        };
        let played = play(method.strategy(case.n, 0, 1).as_mut(), &mut |_| {
            Answer::Numbers(answered.clone())
        });
        // The authors treat an answer without any of the numbers shown as the old order.
        let usable = answered
            .iter()
            .any(|number| (1..=case.n as i64).contains(number));
        let Ok(played) = played else {
            assert!(!usable, "{}", case.response);
            continue;
        };
        assert_eq!(played.ranking.order, case.order, "{}", case.response);
        let whole = AnswerFault::of(&answered, case.n, case.n).is_none();
        assert_eq!(played.repairs, usize::from(!whole));
    }
}
