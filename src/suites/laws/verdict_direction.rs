//! A verdict moves the ranking in its direction, and ties share a rank.

use super::views::{given, record, rows};
use crate::domain::battle::Pair;
use crate::domain::prediction::{OutcomeProbabilities, PairPrediction, QueryPredictions};
use crate::domain::ranking::{
    CountedAnswer, CountedAnswers, JudgeWeights, PriorOpinion, PriorPrecision, QueryRows,
    RankingSettings, Tastes, View, prior_evidence,
};
use crate::domain::rating::{Observation, RatingModel};
use crate::domain::verdict::{Decision, OverrideMode};
use crate::domain::vote::{JudgeId, VoteRule};
use proptest::prelude::*;

/// Maximum decrease of a gap by rounding if exact arithmetic leaves it equal.
const ROUNDING: f64 = 1e-7;

fn settings() -> impl Strategy<Value = RankingSettings> {
    (
        prop_oneof![
            Just(RatingModel::Map),
            Just(RatingModel::Mle),
            Just(RatingModel::Thurstone)
        ],
        prop_oneof![Just(OverrideMode::Alongside), Just(OverrideMode::Replace)],
        prop_oneof![Just(JudgeWeights::Equal), Just(JudgeWeights::Joint)],
        prop_oneof![
            Just(VoteRule::Ternary),
            Just(VoteRule::Zbench),
            Just(VoteRule::Margin)
        ],
        0.1..=3.0f64,
        0.01..=8.0f64,
        prop_oneof![Just(Tastes::Off), (0.01..4.0f64).prop_map(Tastes::Set)],
    )
        .prop_map(
            |(model, override_mode, judge_weights, vote_rule, override_weight, lambda, tastes)| {
                RankingSettings {
                    model,
                    tastes,
                    lambda: PriorPrecision::Set(lambda),
                    override_mode,
                    override_weight,
                    judge_weights,
                    vote_rule,
                    ..RankingSettings::default()
                }
            },
        )
}

/// Judges with sharpness and position bias, battles that only some judges were asked about, orders
/// of several documents, and a student that predicts every pair.
fn project() -> impl Strategy<Value = QueryRows> {
    let response = (0.2..3.0f64, -1.0..1.0f64);
    (
        rows(),
        prop::array::uniform3(response),
        any::<bool>(),
        prop::option::of((0.0..=1.0f64, 0.1..4.0f64)),
        prop::option::of(prop::collection::vec(order(), 0..4)),
    )
        .prop_map(|(rows, responses, some_asked, student, orders)| {
            let mut rows = QueryRows {
                verdicts: Vec::new(),
                responses: responses.to_vec(),
                ..rows
            };
            for (at, record) in rows.battles.iter_mut().enumerate() {
                if some_asked && at % 2 == 0 {
                    record.asked = Some(record.votes.iter().map(|vote| vote.judge).collect());
                    record.failed.clear();
                }
                for vote in &mut record.votes {
                    vote.swapped = (at as i64 + vote.judge.0) % 2 == 0;
                }
            }
            rows.answers = orders.map(|orders| answers(rows.documents, &orders));
            rows.student = student.map(|(b, weight)| PriorOpinion {
                name: "s".into(),
                predictions: predictions(rows.documents, b).into(),
                weight,
            });
            rows
        })
}

/// Some of eight documents, best first.
fn order() -> impl Strategy<Value = Vec<usize>> {
    Just((0..8).collect::<Vec<usize>>()).prop_shuffle()
}

/// Orders of the documents of a pool, whose pairs count as half a battle.
fn answers(documents: usize, orders: &[Vec<usize>]) -> CountedAnswers {
    let answer = |order: &Vec<usize>| {
        let mut order = order.clone();
        order.retain(|document| *document < documents);
        order.truncate(5);
        let pairs = (0..order.len()).flat_map(|i| (i + 1..order.len()).map(move |j| (i, j)));
        CountedAnswer {
            uid: String::new(),
            number: 1,
            shown: Vec::new(),
            judge: "one".to_owned(),
            pairs: pairs
                .map(|(i, j)| Observation {
                    judge: Some(order[0] as u32 % 4),
                    ..Observation::new(order[j], order[i], 1.0, 0.5)
                })
                .collect(),
        }
    };
    CountedAnswers {
        noun: "list call",
        phi: 1.0,
        answers: orders.iter().map(answer).collect(),
    }
}

fn predictions(documents: usize, b: f64) -> QueryPredictions {
    let predicted =
        PairPrediction::in_order(OutcomeProbabilities::new(0.9 * (1.0 - b), 0.9 * b).unwrap());
    (0..documents)
        .flat_map(|low| (low + 1..documents).filter_map(move |high| Pair::new(low, high)))
        .map(|pair| (pair, predicted))
        .collect()
}

/// The gap zELO(w) − zELO(l) with a verdict, if the fit has a solution.
fn gap(
    rows: &QueryRows,
    settings: RankingSettings,
    verdict: Option<Decision>,
    w: usize,
    l: usize,
) -> Option<f64> {
    let mut rows = rows.clone();
    // The verdict's A is the winner for A decisions.
    rows.verdicts = verdict
        .map(|decision| given(w, l, decision))
        .into_iter()
        .collect();
    let view = View::new(rows, settings);
    view.fit.as_ref().ok()?;
    Some(view.standings[w]?.zelo - view.standings[l]?.zelo)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_verdict_never_lowers_the_document_that_it_prefers(
        rows in project(),
        settings in settings(),
        (w, l) in (0..8usize, 0..8usize),
    ) {
        prop_assume!(w != l && w < rows.documents && l < rows.documents);
        let before = gap(&rows, settings, None, w, l);
        let plain = gap(&rows, settings, Some(Decision::A), w, l);
        let much = gap(&rows, settings, Some(Decision::MuchA), w, l);
        if let (Some(before), Some(plain)) = (before, plain) {
            prop_assert!(plain >= before - ROUNDING, "{before} fell to {plain}");
        }
        if let (Some(plain), Some(much)) = (plain, much) {
            prop_assert!(much >= plain - ROUNDING, "by far {much} is below better {plain}");
        }
        // The same verdict, given with the documents swapped.
        let turned = gap(&rows, settings, Some(Decision::B), l, w);
        if let (Some(plain), Some(turned)) = (plain, turned) {
            prop_assert!((plain + turned).abs() < ROUNDING, "{plain} against {turned}");
        }
    }

    #[test]
    fn a_verdict_that_replaces_votes_masks_its_pair_where_an_order_contradicts_it(
        rows in project(),
        settings in settings(),
        (w, l) in (0..8usize, 0..8usize),
    ) {
        prop_assume!(w != l && w < rows.documents && l < rows.documents);
        let mut rows = rows;
        rows.verdicts = vec![given(w, l, Decision::A)];
        let view = View::new(rows, settings);
        let replaces = settings.effective_override_mode() == OverrideMode::Replace;
        for of in view.answers_in_fit().iter().flat_map(|answer| &answer.pairs) {
            let loses = of.a == w && of.b == l;
            prop_assert_eq!(view.is_masked(of), replaces && loses);
        }
    }

    #[test]
    fn verdicts_teach_the_prior_nothing(rows in project(), decision in 0..Decision::ALL.len()) {
        let mut judged = rows.clone();
        judged.verdicts = vec![given(0, 1, Decision::ALL[decision])];
        let settings = RankingSettings::default();
        prop_assert_eq!(prior_evidence(&rows, &settings), prior_evidence(&judged, &settings));
    }

    #[test]
    fn cannot_tell_changes_no_score(rows in project(), settings in settings()) {
        let mut judged = rows.clone();
        judged.verdicts = vec![given(0, 1, Decision::CannotTell)];
        let (one, other) = (View::new(rows, settings), View::new(judged, settings));
        prop_assert_eq!(one.scores(), other.scores());
    }
}

/// `w` (0) beats x, y and z, which beat `l` (1); the judges' votes on w–l are as given.
fn contested(votes: [f64; 3]) -> QueryRows {
    let pairs = [(2, 0), (3, 0), (4, 0), (1, 2), (1, 3), (1, 4)];
    let mut battles: Vec<_> = (0..)
        .zip(pairs)
        .map(|(id, (a, b))| record(id, a, b, [Some(1.0); 3]))
        .collect();
    battles.push(record(6, 0, 1, votes.map(Some)));
    QueryRows {
        documents: 5,
        depth: Some(5),
        judges: (1..=3).map(JudgeId).collect(),
        battles,
        ..QueryRows::default()
    }
}

#[test]
fn a_contradicting_verdict_raises_its_winner_and_the_former_rule_lowered_it() {
    let zelo = |rows: &QueryRows, mode, decision: Option<Decision>| {
        let settings = RankingSettings {
            override_mode: mode,
            ..RankingSettings::default()
        };
        let mut rows = rows.clone();
        rows.verdicts = decision
            .map(|decision| given(0, 1, decision))
            .into_iter()
            .collect();
        View::new(rows, settings).standings[0].unwrap().zelo
    };
    for (votes, before) in [([-1.0, 1.0, 1.0], 1.271), ([-1.0, 0.0, 1.0], 1.534)] {
        let rows = contested(votes);
        let of = |mode, decision| zelo(&rows, mode, decision);
        assert!((of(OverrideMode::Alongside, None) - before).abs() < 5e-4);
        assert!((of(OverrideMode::Legacy, Some(Decision::A)) - 1.094).abs() < 5e-4);
        for mode in [OverrideMode::Alongside, OverrideMode::Replace] {
            let plain = of(mode, Some(Decision::A));
            assert!(plain > before, "{mode}: {before} became {plain}");
            assert!(of(mode, Some(Decision::MuchA)) > plain, "{mode}");
        }
    }
}

#[test]
fn with_joint_judge_weights_replace_counts_as_alongside() {
    let mut rows = contested([-1.0, 1.0, 1.0]);
    rows.responses = vec![(2.0, 0.1), (0.5, 0.0), (1.0, -0.1)];
    rows.verdicts = vec![given(0, 1, Decision::A)];
    let of = |override_mode| {
        let settings = RankingSettings {
            override_mode,
            judge_weights: JudgeWeights::Joint,
            ..RankingSettings::default()
        };
        View::new(rows.clone(), settings).scores()
    };
    assert_eq!(of(OverrideMode::Replace), of(OverrideMode::Alongside));
    assert_ne!(of(OverrideMode::Legacy), of(OverrideMode::Alongside));
}

#[test]
fn with_tastes_replace_counts_as_alongside() {
    let mut rows = contested([-1.0, 1.0, 1.0]);
    rows.answers = Some(answers(rows.documents, &[vec![1, 0, 2, 3, 4]]));
    rows.verdicts = vec![given(0, 1, Decision::A)];
    let of = |override_mode, tastes| {
        let settings = RankingSettings {
            override_mode,
            tastes,
            ..RankingSettings::default()
        };
        View::new(rows.clone(), settings).scores()
    };
    let [off, set] = [Tastes::Off, Tastes::Set(0.5)];
    assert_eq!(
        of(OverrideMode::Replace, set),
        of(OverrideMode::Alongside, set)
    );
    assert_ne!(
        of(OverrideMode::Replace, off),
        of(OverrideMode::Alongside, off)
    );
}

#[test]
fn documents_that_exact_arithmetic_ties_share_a_rank() {
    // `first` beats all middle documents, which beat `last`: the middle ones have scores of exactly
    // 0.
    for middle in 1..=40 {
        let (first, last) = (middle, middle + 1);
        let battles = (0..middle)
            .flat_map(|at| [(at, first), (last, at)])
            .enumerate()
            .map(|(id, (a, b))| record(id, a, b, [Some(1.0); 3]))
            .collect();
        let rows = QueryRows {
            documents: middle + 2,
            depth: Some(middle + 2),
            judges: (1..=3).map(JudgeId).collect(),
            battles,
            ..QueryRows::default()
        };
        for model in [
            RatingModel::Map,
            RatingModel::Thurstone,
            RatingModel::Zbench,
        ] {
            let settings = RankingSettings {
                model,
                ..RankingSettings::default()
            };
            let view = View::new(rows.clone(), settings);
            let ranks: Vec<usize> = view.standings.iter().map(|s| s.unwrap().rank).collect();
            assert!(
                ranks[..middle].iter().all(|rank| *rank == 2),
                "{model} {middle}: {ranks:?}"
            );
            assert_eq!((ranks[first], ranks[last]), (1, middle + 2), "{model}");
            // Ties are listed in hybrid order.
            assert!(
                view.by_zelo[1..=middle].is_sorted(),
                "{model}: {:?}",
                view.by_zelo
            );
        }
    }
}
