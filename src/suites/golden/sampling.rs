//! Mutual information, pick sequences and Kendall τ-b against a reference implementation
//! (science.md § Choosing pairs).

use crate::domain::battle::Pair;
use crate::domain::judge_set::JudgeSet;
use crate::domain::rating::{Observation, RatingOptions, covariance, fit};
use crate::domain::sampling::adaptive::information::{mutual_information, top_probabilities};
use crate::domain::sampling::adaptive::{
    JudgeChoice, Round, Sampler, SamplingState, Strategy, next_round,
};
use crate::features::lab::domain::quality;
use rstest::rstest;
use serde::Deserialize;

const CASES: &str = include_str!("../../../tests/golden/science/sampling.json");

#[derive(Deserialize)]
#[allow(non_snake_case)]
struct Cases {
    mutual_information: Vec<Information>,
    mi_max_abs_err: f64,
    picks_sim_K10_c4: Picks,
    picks_sim_K25_c4: Picks,
    kendall: Vec<Kendall>,
}

#[derive(Deserialize)]
struct Kendall {
    name: String,
    x: Vec<f64>,
    y: Vec<f64>,
    kendall_b: f64,
}

#[derive(Deserialize)]
struct Information {
    mu: f64,
    v: f64,
    closed_form_bits: f64,
    exact_bits: f64,
}

#[derive(Deserialize)]
struct Picks {
    battles: Vec<Row>,
    scores: Vec<f64>,
    eig: Vec<(usize, usize, f64)>,
    top5_floor_0_3: Vec<(usize, usize, f64)>,
    p_top5: Vec<f64>,
}

#[derive(Deserialize)]
struct Row {
    a: usize,
    b: usize,
    s: f64,
    n: f64,
}

fn cases() -> Cases {
    serde_json::from_str(CASES).unwrap()
}

impl Picks {
    /// The reference uses one game per vote: three games and λ = 0.15 correspond to one battle and
    /// λ = 0.05.
    fn observations(&self) -> Vec<Observation> {
        self.battles
            .iter()
            .map(|row| Observation::new(row.a, row.b, row.s, row.n / 3.0))
            .collect()
    }

    fn state(&self) -> SamplingState {
        let asked = self.battles.iter().map(|row| {
            let pair = Pair::new(row.a, row.b).unwrap();
            (pair, JudgeSet::first(3))
        });
        SamplingState::fitted(
            self.scores.len(),
            3,
            asked.collect(),
            self.observations(),
            0.05,
        )
    }

    fn next(&self, sampler: Sampler, picks: usize) -> Vec<(usize, usize)> {
        let strategy = Strategy {
            top: 5,
            size: Some(picks),
            ..Strategy::new(sampler, JudgeChoice::All)
        };
        let round = Round {
            seed: 1,
            query: "q",
            number: 1,
            calls: usize::MAX,
        };
        next_round(&self.state(), &strategy, &round)
            .iter()
            .map(|task| (task.pair.low(), task.pair.high()))
            .collect()
    }
}

fn pairs(picks: &[(usize, usize, f64)]) -> Vec<(usize, usize)> {
    picks
        .iter()
        .map(|(i, j, _)| (*i.min(j), *i.max(j)))
        .collect()
}

#[test]
fn the_mutual_information_is_that_of_the_closed_form() {
    let cases = cases();
    for case in &cases.mutual_information {
        for gap in [case.mu, -case.mu] {
            let bits = mutual_information(gap, case.v);
            assert!(
                (bits - case.closed_form_bits).abs() < 1e-9,
                "{gap} {}: {bits}",
                case.v
            );
            assert!((bits - case.exact_bits).abs() < cases.mi_max_abs_err + 1e-9);
        }
    }
}

#[rstest]
#[case(cases().picks_sim_K10_c4)]
#[case(cases().picks_sim_K25_c4)]
fn the_picks_are_those_of_the_reference(#[case] case: Picks) {
    for (score, expected) in case.state().scores().iter().zip(&case.scores) {
        assert!((score - expected).abs() < 1e-9, "{score} {expected}");
    }
    assert_eq!(case.next(Sampler::Eig, case.eig.len()), pairs(&case.eig));
    assert_eq!(
        case.next(Sampler::Top, case.top5_floor_0_3.len()),
        pairs(&case.top5_floor_0_3)
    );
}

#[rstest]
#[case(cases().picks_sim_K10_c4)]
#[case(cases().picks_sim_K25_c4)]
fn the_chances_of_the_top_are_those_of_the_reference(#[case] case: Picks) {
    let (documents, options) = (case.scores.len(), RatingOptions::default());
    let observations = case.observations();
    let fit = fit(documents, &observations, &options, None).unwrap();
    let covariance = covariance(documents, &observations, &fit, &options, 1.0 / 3.0).unwrap();
    let chances = top_probabilities(&fit.scores, &covariance, 5);
    for (chance, expected) in chances.iter().zip(&case.p_top5) {
        assert!((chance - expected).abs() < 1e-9, "{chance} {expected}");
    }
}

#[test]
fn kendalls_tau_is_that_of_the_reference() {
    for case in cases().kendall {
        let tau = quality(&case.x, &case.y).tau.unwrap();
        assert!((tau - case.kendall_b).abs() < 1e-12, "{}: {tau}", case.name);
    }
}
