//! Compares impacts, cycles and top-k probabilities with a reference implementation.

use crate::domain::battle::{Battle, BattleId, Pair};
use crate::domain::metrics::kendall_tau_b;
use crate::domain::numeric::best_first;
use crate::domain::priority::impact::{Impact, flipped_gap, impacts};
use crate::domain::priority::{
    Policy, Scoring, certainty, cyclic_triads, decided_pairs, decided_pairs_of_judge, score_pairs,
};
use crate::domain::ranking::{BattleRecord, QueryRows, RankingSettings, View};
use crate::domain::rating::{Observation, RatingOptions, covariance, fit};
use crate::domain::sampling::adaptive::information::top_probabilities;
use crate::domain::vote::{JudgeId, Margin, Vote};
use serde::Deserialize;
use std::collections::HashMap;

const BT_CASES: &str = include_str!("../../../tests/golden/science/bt_cases.json");
const PRIORITY: &str = include_str!("../../../tests/golden/science/priority_misc.json");

#[derive(Deserialize)]
struct Cases {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    n_docs: usize,
    battles: Vec<Row>,
}

#[derive(Clone, Deserialize)]
struct Row {
    a: usize,
    b: usize,
    s: f64,
    votes: Option<Vec<f64>>,
}

#[derive(Deserialize)]
struct Golden {
    #[serde(rename = "flip_impacts_sim_K25_c4")]
    flips: Flips,
    triads: HashMap<String, Triads>,
    top5: HashMap<String, Vec<f64>>,
}

#[derive(Deserialize)]
struct Flips {
    base: Vec<f64>,
    rows: Vec<Flip>,
}

#[derive(Deserialize)]
struct Flip {
    battle: usize,
    s_new: f64,
    exact: Vec<f64>,
    gap_exact: f64,
    gap_secant: f64,
    self_ndcg10_loss: f64,
    top10_swaps: usize,
}

#[derive(Deserialize)]
struct Triads {
    battles: Option<Vec<Row>>,
    decided_triangles: usize,
    cyclic: usize,
    list: Option<Vec<[usize; 3]>>,
}

fn golden() -> Golden {
    serde_json::from_str(PRIORITY).unwrap()
}

fn case(name: &str) -> Case {
    let cases: Cases = serde_json::from_str(BT_CASES).unwrap();
    cases.cases.into_iter().find(|c| c.name == name).unwrap()
}

fn observations(battles: &[Row]) -> Vec<Observation> {
    let plain = |row: &Row| Observation::new(row.a, row.b, row.s, 1.0);
    battles.iter().map(plain).collect()
}

/// The battles as a query with three judges; a battle without votes gets one vote with its score.
fn view(documents: usize, battles: &[Row]) -> View {
    let judges: Vec<JudgeId> = (0..3).map(JudgeId).collect();
    let record = |(at, row): (usize, &Row)| {
        let votes = row.votes.clone().unwrap_or_else(|| vec![row.s; 3]);
        let vote = |(judge, value): (&JudgeId, f64)| Vote {
            judge: *judge,
            margin: Margin::new(2.0 * value - 1.0).unwrap(),
            swapped: false,
        };
        BattleRecord {
            battle: Battle {
                id: BattleId(at as i64),
                a: row.a,
                b: row.b,
                game: 0,
            },
            votes: judges.iter().zip(votes).map(vote).collect(),
            failed: Vec::new(),
            asked: None,
        }
    };
    let rows = QueryRows {
        by_identifier: Vec::new(),
        responses: Vec::new(),
        curves: Vec::new(),
        answers: None,
        student: None,
        documents,
        depth: Some(documents),
        judges: judges.clone(),
        battles: battles.iter().enumerate().map(record).collect(),
        probes: Vec::new(),
        verdicts: Vec::new(),
    };
    View::new(rows, RankingSettings::default())
}

#[test]
fn exact_flips_match_the_reference() {
    let flips = golden().flips;
    let case = case("sim_K25_c4");
    let observations = observations(&case.battles);
    let options = RatingOptions::default();
    let base = fit(case.n_docs, &observations, &options, None).unwrap();
    let covariance = covariance(case.n_docs, &observations, &base, &options, 1.0).unwrap();
    for flip in flips.rows {
        let battle = observations[flip.battle];
        let mut flipped = observations.clone();
        flipped[flip.battle].score = flip.s_new;
        let refitted = fit(case.n_docs, &flipped, &options, Some(&base.scores)).unwrap();
        for (found, expected) in refitted.scores.iter().zip(&flip.exact) {
            assert!((found - expected).abs() < 1e-8, "{found} {expected}");
        }
        let gap = refitted.scores[battle.b] - refitted.scores[battle.a];
        assert!((gap - flip.gap_exact).abs() < 1e-8);
        let resistance = covariance.resistance(battle.a, battle.b);
        let secant = flipped_gap(&battle, flip.s_new, &base.scores, resistance).unwrap();
        assert!((secant - flip.gap_secant).abs() < 1e-8, "{secant}");
        let impact = Impact::between(
            &flips.base,
            &best_first(&flips.base),
            &refitted.scores,
            10,
            true,
        );
        assert_eq!(impact.entering, flip.top10_swaps, "{impact:?}");
        assert!(
            (impact.ndcg_loss - flip.self_ndcg10_loss).abs() < 1e-12,
            "{impact:?}"
        );
    }
}

#[test]
fn a_pair_is_flipped_as_a_whole_one_at_a_time_or_all_at_once() {
    let flips = golden().flips;
    let case = case("sim_K25_c4");
    let view = view(case.n_docs, &case.battles);
    let all = impacts(&view, 10, usize::MAX);
    let pairs = |row: &Row| Pair::new(row.a, row.b).unwrap();
    let mut fought: Vec<Pair> = case.battles.iter().map(pairs).collect();
    fought.sort_unstable();
    fought.dedup();
    assert_eq!(
        all.iter().map(|(pair, _)| *pair).collect::<Vec<_>>(),
        fought
    );
    let mut checked = 0;
    for flip in flips.rows {
        let pair = pairs(&case.battles[flip.battle]);
        let (_, found) = all.iter().find(|(of, _)| *of == pair).unwrap();
        // The reference flips one battle, which is the same if the pair has one battle without a
        // tie.
        let tied = (case.battles[flip.battle].s - 0.5).abs() < 1e-9;
        if view.battles_of(pair).len() == 1 && !tied {
            let expected =
                Impact::between(&flips.base, &best_first(&flips.base), &flip.exact, 10, true);
            assert_eq!(found.entering, expected.entering);
            assert_eq!(found.places, expected.places);
            assert!((found.ndcg_loss - expected.ndcg_loss).abs() < 1e-12);
            assert!((found.score - expected.score).abs() < 1e-8);
            checked += 1;
        }
    }
    assert!(checked >= 15, "{checked}");
}

#[test]
fn the_estimate_ranks_the_pairs_like_the_refit() {
    let case = case("sim_K100_c4");
    let view = view(case.n_docs, &case.battles);
    let exact = impacts(&view, 10, usize::MAX);
    let estimated = impacts(&view, 10, 0);
    assert!(exact.iter().all(|(_, impact)| impact.exact));
    assert!(estimated.iter().all(|(_, impact)| !impact.exact));
    let of = |impacts: &[(Pair, Impact)], part: fn(&Impact) -> f64| -> Vec<f64> {
        impacts.iter().map(|(_, impact)| part(impact)).collect()
    };
    let score = |impact: &Impact| impact.score;
    let tau = kendall_tau_b(&of(&exact, score), &of(&estimated, score)).unwrap();
    assert!(tau > 0.8, "{tau}");
    let same = exact.iter().zip(&estimated);
    let same = same.filter(|(x, y)| x.1.entering == y.1.entering).count();
    assert!(same * 10 >= exact.len() * 9, "{same} of {}", exact.len());
    // Exact where it matters: the prefilter includes the pair with the largest impact in its first
    // 40.
    let largest = |impacts: &[(Pair, Impact)]| {
        let size = |(_, impact): &(Pair, Impact)| impact.size();
        impacts.iter().map(size).fold(0.0, f64::max)
    };
    let some = impacts(&view, 10, 40);
    assert_eq!(some.iter().filter(|(_, impact)| impact.exact).count(), 40);
    assert_eq!(largest(&some), largest(&exact));
}

#[test]
fn cycles_match_the_reference() {
    for (name, reference) in golden().triads {
        let (documents, battles) = match &reference.battles {
            Some(battles) => (9, battles.clone()),
            None => {
                let case = case(&name);
                (case.n_docs, case.battles)
            }
        };
        let view = view(documents, &battles);
        assert_eq!(
            view.triads,
            (reference.cyclic, reference.decided_triangles),
            "{name}"
        );
        let triads = cyclic_triads(&decided_pairs(&view));
        let mut found: Vec<[usize; 3]> = triads.iter().map(|triad| triad.documents).collect();
        found.sort_unstable();
        assert_eq!(found.len(), reference.cyclic, "{name}");
        if let Some(list) = reference.list {
            assert_eq!(found, list, "{name}");
        }
        for pair in triads.windows(2) {
            assert!(pair[0].against >= pair[1].against - 1e-8);
        }
        for triad in &triads {
            assert!(triad.against >= 2.0 * triad.strength - 1e-8);
            let flagged = score_pairs(&view, &Scoring::new(Policy::Cycle));
            let flagged = flagged.iter().find(|s| s.pair == triad.weakest).unwrap();
            assert!(flagged.priority.unwrap() >= triad.against);
        }
    }
}

#[test]
fn one_judge_who_decides_everything_has_the_cycles_of_the_battles() {
    let golden = golden();
    let battles = golden.triads["full_tournament_K9"].battles.clone().unwrap();
    let view = view(9, &battles);
    let of_judge = decided_pairs_of_judge(&view, JudgeId(1));
    assert_eq!(of_judge.len(), 36);
    assert_eq!(
        cyclic_triads(&of_judge),
        cyclic_triads(&decided_pairs(&view))
    );
    assert!(decided_pairs_of_judge(&view, JudgeId(7)).is_empty());
}

#[test]
fn top_five_probabilities_match_the_reference() {
    for (name, reference) in golden().top5 {
        let case = case(&name);
        let view = view(case.n_docs, &case.battles[..2 * case.n_docs]);
        let scores = &view.fit.as_ref().unwrap().scores;
        let found = top_probabilities(scores, view.covariance().unwrap(), 5);
        assert_eq!(found.len(), reference.len(), "{name}");
        for (found, expected) in found.iter().zip(&reference) {
            assert!((found - expected).abs() < 1e-9, "{name}");
        }
        // The queue's probability is sampled and accounts for correlated errors of ranks, so it is
        // close but not equal.
        let drawn = certainty(&view, 5).unwrap().inside;
        for (drawn, expected) in drawn.iter().zip(&reference) {
            assert!(
                (drawn.unwrap() - expected).abs() < 0.12,
                "{name}: {drawn:?} {expected}"
            );
        }
    }
}
