//! Compares the figures and the scores of a student with reference values.

use crate::domain::battle::Pair;
use crate::domain::metrics::Resampling;
use crate::domain::prediction::{OutcomeProbabilities, QueryPredictions};
use crate::domain::rating::{RatingModel, RatingOptions};
use crate::features::student::domain::distilled::{DistilledScores, PairStrength};
use crate::features::student::domain::figures::{
    Bucket, Category, FigureOptions, Figures, StudentRow, YieldPoint,
};
use serde_json::Value;

const FIGURES: &str = include_str!("../../../tests/golden/science/figures_cases.json");

fn near(found: f64, expected: &Value, what: &str) {
    let expected = expected
        .as_f64()
        .unwrap_or_else(|| panic!("{what}: {expected}"));
    assert!(
        (found - expected).abs() <= 1e-12,
        "{what}: {found}, expected {expected}"
    );
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name]
        .as_array()
        .unwrap_or_else(|| panic!("{name} is no list"))
}

fn composition(found: &[f64; 5], expected: &Value, what: &str) {
    for (found, expected) in found
        .iter()
        .zip(expected.as_array().expect("a composition"))
    {
        near(*found, expected, what);
    }
}

fn points(found: &[YieldPoint], expected: &[Value], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        near(found.radius, &expected["r"], what);
        let n = expected.get("n").or(expected.get("rank"));
        assert_eq!(n.and_then(Value::as_u64), Some(found.n as u64), "{what}");
        if let Some(share) = expected.get("yield_") {
            near(found.share, share, what);
        }
        if let Some(found) = &found.composition {
            composition(found, &expected["composition"], what);
        }
    }
}

fn buckets(found: &[Bucket], expected: &[Value], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(expected["n"].as_u64(), Some(found.n as u64), "{what}");
        assert_eq!(found.rows.len(), found.n, "{what}");
        for (value, name) in [
            (found.low, "lo"),
            (found.high, "hi"),
            (found.expected, "mu_pred"),
            (found.observed, "mu_obs"),
            (found.observed_se.expect("more than one battle"), "se_obs"),
            (found.tie, "mean_pT"),
            (found.observed_decisiveness, "mean_absC"),
        ] {
            near(value, &expected[name], name);
        }
        composition(&found.composition, &expected["composition"], what);
    }
}

/// The largest number under a name in a list, plus one.
fn count_of(list: &[Value], name: &str) -> usize {
    let numbers = list.iter().filter_map(|one| one[name].as_u64());
    numbers.max().map_or(0, |most| most as usize + 1)
}

#[test]
fn the_figures_of_a_student() {
    let cases: Vec<Value> = serde_json::from_str(FIGURES).expect("golden figures");
    assert_eq!(cases.len(), 3);
    for case in &cases {
        let name = case["name"].as_str().expect("a name");
        let rows: Vec<StudentRow> = list(case, "rows")
            .iter()
            .map(|row| {
                let number = |at: usize| row[at].as_f64().expect("a number");
                StudentRow {
                    score: number(0),
                    predicted: OutcomeProbabilities::new(number(1), number(2))
                        .expect("probabilities"),
                    query: 0,
                }
            })
            .collect();
        let result = &case["result"];
        let segments = list(result, "fig10_cells");
        let options = FigureOptions {
            buckets: list(result, "fig7_buckets_by_mu").len(),
            segments: (count_of(segments, "i"), count_of(segments, "j")),
            resampling: Resampling {
                draws: 1,
                ..Resampling::default()
            },
        };
        assert_eq!(
            (options.buckets, options.segments),
            {
                let usual = FigureOptions::of(rows.len());
                (usual.buckets, usual.segments)
            },
            "{name}"
        );
        let found = Figures::of(rows.clone(), &options).expect("figures");
        assert_eq!(result["N"].as_u64(), Some(found.n as u64));
        assert_eq!(
            result["n_consensus"].as_u64(),
            Some(found.consensus as u64),
            "{name}"
        );
        let calibration = &found.calibration;
        for (value, key) in [
            (
                found.consensus_accuracy.expect("consensus").value,
                "consensus_accuracy",
            ),
            (found.cross_entropy.value, "soft_cross_entropy"),
            (found.target_entropy, "soft_target_entropy"),
            (found.divergence(), "kl"),
            (found.score_cross_entropy, "bce_mu"),
            (calibration.brier.value, "brier_mu"),
            (calibration.brier_ternary.value, "brier_ternary"),
            (calibration.ece.value, "ece_mu_20_equal_mass"),
            (
                calibration.ece_equal_width.value,
                "ece_mu_20_equal_width_unfolded",
            ),
            (calibration.mce.value, "mce_mu_20_equal_mass"),
            (calibration.ece_decisiveness.value, "ece_absC_20_equal_mass"),
            (
                found.decisiveness_correlation.expect("both vary"),
                "corr_EabsC_absC",
            ),
        ] {
            near(value, &result[key], &format!("{name}: {key}"));
        }
        let murphy = calibration.murphy;
        for (value, key) in [
            (murphy.reliability, "reliability"),
            (murphy.resolution, "resolution"),
            (murphy.uncertainty, "uncertainty"),
        ] {
            near(value, &result["murphy"][key], key);
        }
        points(&found.by_radius, list(result, "fig5_by_radius"), "figure 5");
        points(&found.by_rank, list(result, "fig6_by_rank"), "figure 6");
        buckets(
            &found.radius_buckets,
            list(result, "fig7_buckets_by_r"),
            "figure 7 by radius",
        );
        buckets(
            &found.score_buckets,
            list(result, "fig7_buckets_by_mu"),
            "figure 7 by score",
        );
        let ties = list(result, "fig8_within_mu_bucket");
        assert_eq!(found.residual_ties.len(), ties.len(), "{name}");
        for (found, expected) in found.residual_ties.iter().zip(ties) {
            near(found.low, &expected["lo"], "figure 8");
            near(found.high, &expected["hi"], "figure 8");
            assert_eq!(expected["n"].as_u64(), Some(found.rows.len() as u64));
            match found.correlation {
                Some(value) => near(value, &expected["corr_pT_absC"], "figure 8"),
                None => assert!(expected["corr_pT_absC"].is_null(), "{name}"),
            }
        }
        assert_eq!(found.segments.len(), segments.len(), "{name}");
        for (found, expected) in found.segments.iter().zip(segments) {
            assert_eq!(expected["i"].as_u64(), Some(found.strip as u64));
            assert_eq!(expected["j"].as_u64(), Some(found.cell as u64));
            assert_eq!(expected["n"].as_u64(), Some(found.n as u64));
            for (value, key) in [
                (found.expected, "mean_pred_mu"),
                (found.observed, "mean_obs_mu"),
                (found.decisiveness, "mean_pred_absC"),
                (found.observed_decisiveness, "mean_obs_absC"),
                (found.wrong, "misclassified"),
            ] {
                near(value, &expected[key], key);
            }
            for (range, key) in [
                (found.expected_range, "EC"),
                (found.decisiveness_range, "EabsC"),
            ] {
                near(range.0, &expected[key][0], key);
                near(range.1, &expected[key][1], key);
            }
        }
        let first = &result["first10"];
        for (at, row) in found.rows.iter().take(10).enumerate() {
            near(row.radius, &first["r"][at], "r");
            near(row.expected(), &first["mu_folded"][at], "mu");
            near(row.score, &first["s_folded"][at], "s");
            near(row.distance_to_certain(), &first["d1"][at], "d1");
            near(row.distance_to_decided(), &first["d2"][at], "d2");
            let category = Category::ALL.iter().position(|one| *one == row.category);
            assert_eq!(
                first["cat"][at].as_u64(),
                category.map(|at| at as u64),
                "{name}: {at}"
            );
        }
        let strengths: Vec<f64> = rows.iter().map(|row| row.predicted.strength()).collect();
        for (at, strength) in strengths.iter().take(10).enumerate() {
            near(*strength, &result["strength_first10"][at], "strength");
        }
        let mean = strengths.iter().sum::<f64>() / strengths.len() as f64;
        near(mean, &result["strength_mean"], "strength");
    }
}

const ELOS: &str = include_str!("../../../tests/golden/zelo/student_elos.json");

/// Scores of predictions by zBench's own `calculate_elos`, run on W[b][a] += strength · s and
/// W[a][b] += strength · (1 − s) for each prediction, with zBench's diagonal.
#[test]
fn scores_of_predictions_are_those_of_calculate_elos() {
    let cases: Vec<Value> = serde_json::from_str(ELOS).expect("golden scores");
    let options = RatingOptions {
        model: RatingModel::Zbench,
        ..RatingOptions::default()
    };
    let mut compared = 0;
    for case in &cases {
        let documents = list(case, "predictions")
            .iter()
            .flat_map(|line| [line[0].as_u64(), line[1].as_u64()])
            .flatten()
            .max()
            .map_or(0, |most| most as usize + 1);
        assert_eq!(case["n"].as_u64(), Some(documents as u64));
        let mut predictions = QueryPredictions::new();
        for line in list(case, "predictions") {
            let place = |at: usize| line[at].as_u64().expect("a document") as usize;
            let share = |at: usize| line[at].as_f64().expect("a probability");
            let predicted = OutcomeProbabilities::new(share(2), share(3)).expect("probabilities");
            let pair = Pair::new(place(0), place(1)).expect("a pair");
            let is_turned = place(0) == pair.high();
            let orders = &mut predictions.entry(pair).or_default().orders;
            orders[usize::from(is_turned)] = Some(if is_turned {
                predicted.swapped()
            } else {
                predicted
            });
        }
        for strength in PairStrength::ALL {
            let found = DistilledScores::fit(documents, &predictions, strength, &options);
            let found = found.expect("scores").scores;
            let golden = &case["strengths"][strength.name()];
            for (found, expected) in found.iter().zip(list(golden, "elos")) {
                let found = found.expect("a score");
                near(
                    found,
                    expected,
                    &format!("{documents} documents, {strength}"),
                );
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 5 * (2 + 3 + 8 + 20 + 50));
}
