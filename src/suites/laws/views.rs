//! A view is a function of its rows: names, orders and failures do not matter, and large sizes
//! work.

use super::bench::{bench, bits};
use crate::app::annotate::RunRequest;
use crate::domain::battle::{Battle, BattleId, Pair};
use crate::domain::prediction::{OutcomeProbabilities, PairPrediction, QueryPredictions};
use crate::domain::priority::impact::impacts;
use crate::domain::ranking::{BattleRecord, PriorOpinion, QueryRows, RankingSettings, View};
use crate::domain::rating;
use crate::domain::sampling::{self, SeededRng};
use crate::domain::verdict::{Decision, Verdict};
use crate::domain::vote::{JudgeId, Margin, Vote};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A pool with random judgments: battles with up to three votes, some failures, and a few verdicts.
pub(super) fn rows() -> impl Strategy<Value = QueryRows> {
    let margin = prop_oneof![Just(None), Just(Some(0.0)), (-1.0..=1.0).prop_map(Some)];
    let battle = (0..8usize, 0..8usize, prop::array::uniform3(margin));
    let verdict = (0..8usize, 0..8usize, 0..Decision::ALL.len());
    (
        2..=8usize,
        prop::collection::vec(battle, 0..30),
        prop::collection::vec(verdict, 0..3),
    )
        .prop_map(|(documents, battles, verdicts)| {
            let battles = battles
                .into_iter()
                .filter(|(a, b, _)| a != b && *a < documents && *b < documents);
            let verdicts = verdicts
                .into_iter()
                .filter(|(a, b, _)| a != b && *a < documents && *b < documents);
            QueryRows {
                by_identifier: Vec::new(),
                responses: Vec::new(),
                curves: Vec::new(),
                answers: None,
                student: None,
                documents,
                depth: Some(documents),
                judges: (1..=3).map(JudgeId).collect(),
                battles: battles
                    .enumerate()
                    .map(|(id, (a, b, margins))| record(id, a, b, margins))
                    .collect(),
                probes: Vec::new(),
                verdicts: verdicts
                    .take(1)
                    .map(|(a, b, at)| given(a, b, Decision::ALL[at]))
                    .collect(),
            }
        })
}

pub(super) fn record(id: usize, a: usize, b: usize, margins: [Option<f64>; 3]) -> BattleRecord {
    let battle = Battle {
        id: BattleId(id as i64),
        a,
        b,
        game: 0,
    };
    let (mut votes, mut failed) = (Vec::new(), Vec::new());
    for (judge, margin) in (1..=3).map(JudgeId).zip(margins) {
        match margin.and_then(Margin::new) {
            Some(margin) => votes.push(Vote {
                judge,
                margin,
                swapped: false,
            }),
            None => failed.push(judge),
        }
    }
    BattleRecord {
        battle,
        votes,
        failed,
        asked: None,
    }
}

pub(super) fn given(a: usize, b: usize, decision: Decision) -> Verdict {
    Verdict {
        uid: format!("{a}-{b}"),
        a,
        b,
        decision,
        note: None,
        annotator: "eve".to_owned(),
        created_ms: 0,
    }
}

/// The same rows with document `d` at position `to[d]`.
fn relabelled(rows: &QueryRows, to: &[usize]) -> QueryRows {
    let mut rows = rows.clone();
    for document in &mut rows.by_identifier {
        *document = to[*document];
    }
    for record in &mut rows.battles {
        (record.battle.a, record.battle.b) = (to[record.battle.a], to[record.battle.b]);
    }
    for verdict in &mut rows.verdicts {
        (verdict.a, verdict.b) = (to[verdict.a], to[verdict.b]);
    }
    rows
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn relabelling_the_documents_permutes_the_scores(rows in rows(), seed in any::<u64>()) {
        let mut to: Vec<usize> = (0..rows.documents).collect();
        SeededRng::new(seed, &["relabel"]).shuffle(&mut to);
        let mut rows = rows;
        rows.by_identifier = (0..rows.documents).collect();
        let one = View::new(rows.clone(), RankingSettings::default());
        let other = View::new(relabelled(&rows, &to), RankingSettings::default());
        let sum: f64 = one.standings.iter().flatten().map(|standing| standing.zelo).sum();
        prop_assert!(sum.abs() < 1e-9, "the scores sum to {sum}");
        for (document, place) in to.iter().enumerate() {
            let (Some(one), Some(other)) = (one.standings[document], other.standings[*place]) else {
                prop_assert_eq!(one.standings[document].is_some(), other.standings[*place].is_some());
                continue;
            };
            prop_assert!((one.zelo - other.zelo).abs() < 1e-9, "{} became {}", one.zelo, other.zelo);
            prop_assert!((one.se.unwrap() - other.se.unwrap()).abs() < 1e-9);
            prop_assert_eq!((one.rank, one.interval), (other.rank, other.interval));
        }
        prop_assert_eq!(one.consensus, other.consensus);
        prop_assert_eq!(one.triads, other.triads);
        for (one, other) in one.battles.iter().zip(&other.battles) {
            prop_assert_eq!(one.score, other.score);
            prop_assert_eq!(one.expected.is_some(), other.expected.is_some());
            if let (Some(one), Some(other)) = (one.expected, other.expected) {
                prop_assert!((one - other).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn the_order_of_the_battles_moves_no_score(rows in rows(), seed in any::<u64>()) {
        let mut shuffled = rows.clone();
        SeededRng::new(seed, &["reorder"]).shuffle(&mut shuffled.battles);
        let (one, other) = (View::new(rows, RankingSettings::default()), View::new(shuffled, RankingSettings::default()));
        for (one, other) in one.standings.iter().flatten().zip(other.standings.iter().flatten()) {
            prop_assert!((one.zelo - other.zelo).abs() < 1e-9);
        }
    }

    #[test]
    fn failures_are_counted_and_count_for_nothing(rows in rows()) {
        let mut clean = rows.clone();
        for record in &mut clean.battles {
            record.failed.clear();
        }
        let (one, other) = (View::new(rows, RankingSettings::default()), View::new(clean, RankingSettings::default()));
        prop_assert_eq!(bits(&one), bits(&other));
    }

    #[test]
    fn a_battle_told_the_other_way_round_is_the_same_battle(rows in rows()) {
        let mut flipped = rows.clone();
        for record in &mut flipped.battles {
            (record.battle.a, record.battle.b) = (record.battle.b, record.battle.a);
            for vote in &mut record.votes {
                vote.margin = vote.margin.flipped();
            }
        }
        for verdict in &mut flipped.verdicts {
            (verdict.a, verdict.b, verdict.decision) = (verdict.b, verdict.a, verdict.decision.flipped());
        }
        let (one, other) = (View::new(rows, RankingSettings::default()), View::new(flipped, RankingSettings::default()));
        for (one, other) in one.standings.iter().flatten().zip(other.standings.iter().flatten()) {
            prop_assert!((one.zelo - other.zelo).abs() < 1e-9);
        }
        prop_assert_eq!(one.triads, other.triads);
    }
}

#[test]
fn ten_thousand_documents_in_one_query_have_a_plan_and_a_view() {
    let documents = 10_000;
    let planned = sampling::plan(0, "large", documents, sampling::DEFAULT_CYCLES);
    assert_eq!(
        planned,
        sampling::plan(0, "large", documents, sampling::DEFAULT_CYCLES)
    );
    assert_eq!(planned.len(), 4 * documents);
    let battles = planned.iter().enumerate().map(|(id, battle)| {
        let (a, b) = (battle.pair.low(), battle.pair.high());
        let margin = ((b * 7919) % documents) as f64 - ((a * 7919) % documents) as f64;
        record(
            id,
            a,
            b,
            [
                Some(margin.signum() * 0.5),
                None,
                Some(margin / documents as f64),
            ],
        )
    });
    let rows = QueryRows {
        by_identifier: Vec::new(),
        responses: Vec::new(),
        curves: Vec::new(),
        answers: None,
        student: None,
        documents,
        depth: Some(documents),
        judges: (1..=3).map(JudgeId).collect(),
        battles: battles.collect(),
        probes: Vec::new(),
        verdicts: Vec::new(),
    };
    let view = View::new(rows, RankingSettings::default());
    assert!(view.fit.as_ref().unwrap().converged);
    assert_eq!(view.by_zelo.len(), documents);
    let sum: f64 = view
        .standings
        .iter()
        .flatten()
        .map(|standing| standing.zelo)
        .sum();
    assert!(sum.abs() < 1e-6, "the scores sum to {sum}");
    assert!(
        view.standings[0].unwrap().se.is_none(),
        "errors are not computed for pools this large"
    );
    let strength = |place: usize| (view.by_zelo[place] * 7919) % documents;
    let (best, worst) = (
        (0..100).map(strength).sum::<usize>(),
        (9_900..documents).map(strength).sum::<usize>(),
    );
    assert!(best > 100 * 8_000 && worst < 100 * 2_000, "{best} {worst}");
}

#[test]
fn a_pool_of_two_thousand_documents_goes_through_the_store() {
    let bench = bench(&[2_000]);
    let key = bench.keys[0];
    let request = RunRequest::default();
    let planned = sampling::plan(request.seed, "q0", 2_000, 1);
    let (battles, view) = bench
        .store
        .write_blocking(move |db| {
            let ensemble = db.ensemble(&[])?;
            db.add_plan(key, &planned, 2_000, ensemble)?;
            Ok((db.rows(key)?.battles.len(), db.view(key)?))
        })
        .unwrap();
    assert_eq!(
        (battles, view.standings.iter().flatten().count()),
        (2_000, 0),
        "nobody has voted"
    );
    assert!(
        view.standings
            .iter()
            .flatten()
            .all(|standing| standing.zelo == 0.0)
    );
}

#[test]
fn a_student_moves_scores_makes_none_surer_and_is_no_pair_to_check() {
    let documents = 12;
    let battles = (0..documents).map(|a| record(a, a, (a + 1) % documents, [Some(0.6); 3]));
    let predictions: QueryPredictions = (0..documents)
        .flat_map(|low| (low + 2..documents).map(move |high| (low, high)))
        .filter_map(|(low, high)| {
            let predicted = OutcomeProbabilities::new(0.2, 0.6)?;
            Some((Pair::new(low, high)?, PairPrediction::in_order(predicted)))
        })
        .collect();
    let rows = |weight: Option<f64>| QueryRows {
        documents,
        depth: Some(documents),
        judges: (1..=3).map(JudgeId).collect(),
        battles: battles.clone().collect(),
        student: weight.map(|weight| PriorOpinion {
            name: "own".into(),
            predictions: predictions.clone().into(),
            weight,
        }),
        ..QueryRows::default()
    };
    let settings = RankingSettings::default();
    let alone = View::new(rows(None), settings);
    let with = View::new(rows(Some(3.0)), settings);
    assert!(with.student_in_fit().unwrap().1.pairs > 40);
    assert_ne!(with.scores(), alone.scores());
    let fit = with.fit.as_ref().unwrap();
    let of_votes = rating::covariance(
        documents,
        alone.observations(),
        fit,
        &settings.rating(),
        with.phi,
    );
    let of_votes = of_votes.unwrap();
    for document in 0..documents {
        let se = with.standings[document].unwrap().se.unwrap();
        assert!((se - of_votes.se(document)).abs() < 1e-12);
    }
    let judged: BTreeSet<Pair> = alone.pairs().collect();
    let checked: BTreeSet<Pair> = impacts(&with, 5, 100).into_iter().map(|of| of.0).collect();
    assert_eq!(checked, judged);
}
