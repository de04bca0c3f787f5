//! Compares the rating with reference implementations: zBench's own code, and a Newton solver
//! verified with 40 digits; also checks invariants.

mod laws;
mod prior;

use crate::domain::rating::{
    Covariance, Fit, Observation, RatingError, RatingModel, RatingOptions, covariance, dispersion,
    expected, fit, rank_intervals, ranks, structure,
};
use crate::domain::vote::{Margin, VoteRule};
use serde::Deserialize;
use std::collections::HashMap;

const BT_CASES: &str = include_str!("../../../tests/golden/science/bt_cases.json");
const MISC_CASES: &str = include_str!("../../../tests/golden/science/rating_misc.json");
const ELOS: &str = include_str!("../../../tests/golden/zelo/calculate_elos.json");

#[derive(Deserialize)]
struct Cases {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    n_docs: usize,
    battles: Vec<Row>,
    weak_components: usize,
    strong_components: usize,
    undefeated: Vec<usize>,
    winless: Vec<usize>,
    isolated: Vec<usize>,
    zbench: Option<Zbench>,
    zbench_code_rule: Option<Zbench>,
    mle: Option<Mle>,
    map: Option<Map>,
}

#[derive(Deserialize)]
struct Row {
    a: usize,
    b: usize,
    s: f64,
    n: Option<f64>,
    beta: Option<f64>,
    off: Option<f64>,
    votes: Option<Vec<f64>>,
}

#[derive(Deserialize)]
struct Zbench {
    scores: Vec<f64>,
    iterations: usize,
}

#[derive(Deserialize)]
struct Mle {
    scores: Vec<f64>,
    se_pinv_phi1: Vec<f64>,
}

#[derive(Deserialize)]
struct Map {
    lam: f64,
    scores: Vec<f64>,
    phi: f64,
    se: Vec<f64>,
    cov: Option<Vec<Vec<f64>>>,
    p_i_outranks_j: Option<Vec<Vec<f64>>>,
}

#[derive(Deserialize)]
struct Elos {
    n: usize,
    w: Option<Vec<Vec<f64>>>,
    w_sparse: Option<Vec<(usize, usize, f64)>>,
    elos: Vec<f64>,
    iterations: usize,
}

#[derive(Deserialize)]
struct Misc {
    #[serde(rename = "thurstone_sim_K10_c4")]
    thurstone_sim: Thurstone,
    #[serde(rename = "thurstone_undefeated_top_K5")]
    thurstone_undefeated: Thurstone,
    thurstone_cyclic_triad: Thurstone,
    #[serde(rename = "flip_impacts_sim_K25_c4")]
    flip_impacts: Flips,
    dispersion: HashMap<String, Spread>,
}

#[derive(Deserialize)]
struct Thurstone {
    lam: f64,
    scores: Vec<f64>,
}

#[derive(Deserialize)]
struct Flips {
    base: Vec<f64>,
    rows: Vec<Flip>,
}

#[derive(Deserialize)]
struct Flip {
    battle: usize,
    s_old: f64,
    s_new: f64,
    p: f64,
    exact: Vec<f64>,
}

#[derive(Deserialize)]
struct Spread {
    phi: f64,
    sum_leverage: f64,
}

/// The default prior with another model.
fn with_model(model: RatingModel) -> RatingOptions {
    RatingOptions {
        model,
        ..RatingOptions::default()
    }
}

fn cases() -> Vec<Case> {
    serde_json::from_str::<Cases>(BT_CASES).unwrap().cases
}

fn case(name: &str) -> Case {
    cases().into_iter().find(|case| case.name == name).unwrap()
}

impl Case {
    fn observations(&self) -> Vec<Observation> {
        self.battles
            .iter()
            .map(|row| Observation {
                a: row.a,
                b: row.b,
                score: row.s,
                weight: row.n.unwrap_or(1.0),
                slope: row.beta.unwrap_or(1.0),
                offset: row.off.unwrap_or(0.0),
                judge: None,
            })
            .collect()
    }
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!(
            (found - expected).abs() <= tolerance,
            "{what}, document {i}: {found} is not {expected}"
        );
    }
}

fn errors(covariance: &Covariance) -> Vec<f64> {
    (0..covariance.documents())
        .map(|i| covariance.se(i))
        .collect()
}

#[test]
fn map_scores_and_their_errors_match_the_reference() {
    for case in cases() {
        let observations = case.observations();
        let Some(map) = &case.map else {
            assert_eq!(case.n_docs, 0);
            assert!(
                fit(0, &[], &RatingOptions::default(), None)
                    .unwrap()
                    .scores
                    .is_empty()
            );
            continue;
        };
        let options = RatingOptions {
            lambda: map.lam,
            ..RatingOptions::default()
        };
        let fit = fit(case.n_docs, &observations, &options, None).unwrap();
        assert_close(&fit.scores, &map.scores, 1e-9, &case.name);
        assert!(
            fit.converged && fit.gradient < 1e-10,
            "{}: {fit:?}",
            case.name
        );
        for &document in &case.isolated {
            assert_eq!(fit.scores[document], 0.0, "{}", case.name);
        }
        let covariance = covariance(case.n_docs, &observations, &fit, &options, map.phi).unwrap();
        assert_close(&errors(&covariance), &map.se, 1e-8, &case.name);
        for i in 0..case.n_docs {
            for j in 0..case.n_docs {
                if let Some(cells) = &map.cov {
                    assert!(
                        (covariance.get(i, j) - cells[i][j]).abs() < 1e-8,
                        "{}",
                        case.name
                    );
                }
                if let Some(cells) = &map.p_i_outranks_j {
                    let p = covariance.outranks(&fit.scores, i, j);
                    assert!((p - cells[i][j]).abs() < 1e-8, "{}: {p}", case.name);
                }
            }
        }
    }
}

#[test]
fn maximum_likelihood_matches_the_reference_or_is_refused() {
    let options = with_model(RatingModel::Mle);
    for case in cases() {
        let observations = case.observations();
        let result = fit(case.n_docs, &observations, &options, None);
        if case.strong_components > 1 {
            let Err(RatingError::NoFiniteMaximum {
                unbounded,
                components,
            }) = result
            else {
                panic!("{}: {result:?}", case.name);
            };
            assert_eq!(components, case.weak_components, "{}", case.name);
            for document in case.undefeated.iter().chain(&case.winless) {
                assert!(unbounded.contains(document), "{}", case.name);
            }
            continue;
        }
        let fit = result.unwrap();
        assert!(fit.gradient <= 1e-10, "{}", case.name);
        if let Some(mle) = &case.mle {
            assert_close(&fit.scores, &mle.scores, 1e-9, &case.name);
            let covariance = covariance(case.n_docs, &observations, &fit, &options, 1.0).unwrap();
            assert_close(&errors(&covariance), &mle.se_pinv_phi1, 1e-8, &case.name);
        }
    }
}

#[test]
fn the_shape_of_the_battles_matches_the_reference() {
    for case in cases() {
        let shape = structure(case.n_docs, &case.observations());
        assert_eq!(shape.component_count, case.weak_components, "{}", case.name);
        assert_eq!(shape.strong_count, case.strong_components, "{}", case.name);
        assert_eq!(shape.undefeated, case.undefeated, "{}", case.name);
        assert_eq!(shape.winless, case.winless, "{}", case.name);
        assert_eq!(shape.isolated, case.isolated, "{}", case.name);
    }
}

#[test]
fn zbench_scores_and_iterations_match_its_own_code() {
    let options = with_model(RatingModel::Zbench);
    let check = |case: &Case, observations: &[Observation], reference: &Zbench| {
        let fit = fit(case.n_docs, observations, &options, None).unwrap();
        assert_eq!(fit.iterations, reference.iterations, "{}", case.name);
        assert_close(&fit.scores, &reference.scores, 1e-9, &case.name);
        assert!(covariance(case.n_docs, observations, &fit, &options, 1.0).is_none());
    };
    let mut checked = 0;
    for case in cases() {
        let mut observations = case.observations();
        if let Some(reference) = &case.zbench {
            check(&case, &observations, reference);
            checked += 1;
        }
        if let Some(reference) = &case.zbench_code_rule {
            for (observation, row) in observations.iter_mut().zip(&case.battles) {
                let margins = row
                    .votes
                    .as_ref()
                    .unwrap()
                    .iter()
                    .map(|vote| Margin::new(2.0 * vote - 1.0).unwrap());
                observation.score = VoteRule::Zbench.score(margins).unwrap();
            }
            check(&case, &observations, reference);
            checked += 1;
        }
    }
    assert_eq!(checked, 29);
}

#[test]
fn zbench_on_win_matrices_matches_its_own_code() {
    for case in serde_json::from_str::<Vec<Elos>>(ELOS).unwrap() {
        let wins = case.w.unwrap_or_else(|| {
            let mut wins = vec![vec![0.0; case.n]; case.n];
            for (i, j, w) in case.w_sparse.unwrap() {
                wins[i][j] = w;
            }
            wins
        });
        let fit = zbench(&wins);
        assert_eq!(fit.iterations, case.iterations);
        assert_close(&fit.scores, &case.elos, 1e-9, "elos");
    }
}

#[test]
fn the_notebook_of_zbench_is_met_to_the_digit() {
    let fit = zbench(&[
        vec![0.5, 0.0, 3.0],
        vec![4.0, 0.5, 4.0],
        vec![1.0, 0.0, 0.5],
    ]);
    let expected = [-1.8984783374773527, 4.8935459093094655, -2.995067571832113];
    assert_close(&fit.scores, &expected, 1e-9, "notebook");
    assert_eq!((fit.iterations, fit.converged), (54, true));
}

/// zBench's scores for a win matrix with ½ on its diagonal, where `wins[i][j]` is the number of
/// wins of `i` over `j`.
fn zbench(wins: &[Vec<f64>]) -> Fit {
    let mut observations = Vec::new();
    for (i, row) in wins.iter().enumerate() {
        for (j, won) in row.iter().enumerate().filter(|(j, _)| *j != i) {
            observations.push(Observation::new(i, j, 0.0, *won));
        }
    }
    let options = with_model(RatingModel::Zbench);
    fit(wins.len(), &observations, &options, None).unwrap()
}

#[test]
fn thurstone_scores_match_the_reference() {
    let misc: Misc = serde_json::from_str(MISC_CASES).unwrap();
    for (name, reference) in [
        ("sim_K10_c4", misc.thurstone_sim),
        ("undefeated_top_K5", misc.thurstone_undefeated),
        ("cyclic_triad", misc.thurstone_cyclic_triad),
    ] {
        let case = case(name);
        let options = RatingOptions {
            model: RatingModel::Thurstone,
            lambda: reference.lam / 2.376f64.powi(2),
            taste: 0.0,
        };
        let observations = case.observations();
        let fit = fit(case.n_docs, &observations, &options, None).unwrap();
        assert_close(&fit.scores, &reference.scores, 1e-9, name);
        assert!(fit.converged && fit.gradient < 1e-10);
        assert!(covariance(case.n_docs, &observations, &fit, &options, 1.0).is_some());
    }
}

#[test]
fn a_flipped_battle_is_refitted_to_the_reference_and_back_to_the_same_bits() {
    let misc: Misc = serde_json::from_str(MISC_CASES).unwrap();
    let flips = misc.flip_impacts;
    let case = case("sim_K25_c4");
    let observations = case.observations();
    let options = RatingOptions::default();
    let base = fit(case.n_docs, &observations, &options, None).unwrap();
    assert_close(&base.scores, &flips.base, 1e-9, "base");
    for flip in flips.rows {
        let mut observations = observations.clone();
        let battle = observations[flip.battle];
        let p = expected(RatingModel::Map, &base.scores, battle.a, battle.b);
        assert!((p - flip.p).abs() < 1e-10);
        observations[flip.battle].score = flip.s_new;
        let refit = fit(case.n_docs, &observations, &options, Some(&base.scores)).unwrap();
        assert_close(&refit.scores, &flip.exact, 1e-9, "flip");
        observations[flip.battle].score = flip.s_old;
        assert_eq!(observations[flip.battle].score, battle.score);
        assert_eq!(
            fit(case.n_docs, &observations, &options, None).unwrap(),
            base
        );
    }
}

#[test]
fn dispersion_matches_the_reference_and_pools() {
    let misc: Misc = serde_json::from_str(MISC_CASES).unwrap();
    let options = RatingOptions::default();
    for (name, reference) in misc.dispersion {
        let case = case(&name);
        let observations = case.observations();
        let fit = fit(case.n_docs, &observations, &options, None).unwrap();
        let covariance = covariance(case.n_docs, &observations, &fit, &options, 0.5).unwrap();
        let found = dispersion(&observations, &fit, &options, &covariance).unwrap();
        assert!(
            (found.numerator / found.denominator - reference.phi).abs() < 1e-9,
            "{name}: {found:?}"
        );
        // The estimate solves its own equation, with the denominator that depends on it.
        let phi = found.phi().unwrap();
        let solved = found.numerator / (found.denominator + phi * found.drift);
        assert!((phi - solved).abs() < 1e-9, "{name}: {found:?}");
        assert!(
            (found.leverage - reference.sum_leverage).abs() < 1e-9,
            "{name}: {found:?}"
        );
        assert_eq!(found.battles, case.battles.len());
        let twice = found.pooled(found);
        assert!((twice.phi().unwrap() - phi).abs() < 1e-9);
    }
}

#[test]
fn rank_intervals_hold_the_rank_and_repeat_with_the_seed() {
    let case = case("sim_K100_c4");
    let observations = case.observations();
    let options = RatingOptions::default();
    let fit = fit(case.n_docs, &observations, &options, None).unwrap();
    let covariance = covariance(case.n_docs, &observations, &fit, &options, 1.0 / 3.0).unwrap();
    let intervals = rank_intervals(&fit.scores, &covariance, 42);
    assert_eq!(intervals, rank_intervals(&fit.scores, &covariance, 42));
    assert_eq!(intervals.len(), 100);
    let width: usize = intervals.iter().map(|i| i.high - i.low).sum();
    assert!((2000..3000).contains(&width), "{width}");
    for (interval, rank) in intervals.iter().zip(ranks(&fit.scores)) {
        assert_eq!(interval.rank, rank);
        assert!(interval.low <= rank && rank <= interval.high && interval.high <= 100);
    }
}

#[test]
fn observations_no_battle_can_produce_are_refused() {
    let good = Observation::new(0, 1, 0.5, 1.0);
    let bad = [
        Observation::new(0, 2, 0.5, 1.0),
        Observation::new(2, 0, 0.5, 1.0),
        Observation::new(0, 1, f64::NAN, 1.0),
        Observation::new(0, 1, 1.01, 1.0),
        Observation::new(0, 1, -0.01, 1.0),
        Observation::new(0, 1, 0.5, -1.0),
        Observation::new(0, 1, 0.5, f64::INFINITY),
        Observation {
            slope: f64::NAN,
            ..good
        },
        Observation {
            offset: f64::INFINITY,
            ..good
        },
    ];
    for model in RatingModel::ALL {
        for observation in bad {
            let result = fit(2, &[good, observation], &with_model(model), None);
            assert!(
                matches!(result, Err(RatingError::BadObservation { index: 1, .. })),
                "{observation:?}: {result:?}"
            );
        }
    }
    let unregularised = RatingOptions {
        lambda: 0.0,
        ..RatingOptions::default()
    };
    let result = fit(2, &[good], &unregularised, None);
    assert_eq!(result, Err(RatingError::BadPrior { lambda: 0.0 }));
}

#[test]
fn extreme_weights_converge_in_every_model_with_a_prior() {
    for model in [RatingModel::Map, RatingModel::Thurstone] {
        for weights in [[1e4, 1e-3], [1e6, 1.0], [1e-9, 1e-9], [1e4, 1e4]] {
            let observations = [
                Observation::new(0, 1, 1.0, weights[0]),
                Observation::new(1, 2, 0.0, weights[1]),
                Observation::new(2, 3, 1.0, weights[0]),
                Observation::new(3, 0, 1.0, weights[1]),
            ];
            let fit = fit(4, &observations, &with_model(model), None).unwrap();
            assert!(fit.converged, "{model} {weights:?}: {fit:?}");
        }
    }
}

#[test]
fn models_are_spelled_in_lower_case_everywhere() {
    for model in RatingModel::ALL {
        assert_eq!(model.to_string().parse(), Ok(model));
        assert_eq!(
            serde_json::to_string(&model).unwrap(),
            format!("\"{model}\"")
        );
    }
    assert!("MAP".parse::<RatingModel>().is_err());
}
