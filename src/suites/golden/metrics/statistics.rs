//! zBench's own metrics, correlations and paired tests.

use super::{cases, close};
use crate::domain::metrics::significance::{randomization_p, t_test};
use crate::domain::metrics::{Resampling, compare, estimate, kendall_tau_b, zbench};
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct Correlation {
    name: String,
    #[serde(default)]
    x: Vec<f64>,
    #[serde(default)]
    y: Vec<f64>,
    kendall_b: Option<f64>,
}

#[derive(Deserialize)]
pub(super) struct Paired {
    x: Vec<f64>,
    y: Vec<f64>,
    mean_diff: f64,
    t: f64,
    p_t: f64,
    se: f64,
}

#[test]
fn zbench_measures_are_its_own() {
    for case in cases().zbench {
        let scores = |key: &str| -> Vec<f64> { serde_json::from_value(case[key].clone()).unwrap() };
        let (test, truth) = (scores("test"), scores("gt"));
        let limit = case["document_limit"].as_u64().map(|limit| limit as usize);
        let name = case["name"].as_str().unwrap();
        let recall = |k, k_truth| zbench::recall(&test, &truth, k, k_truth, limit);
        // If documents tie, zBench's own order is numpy's; its reversed stable order equals ours.
        let ndcg = case["ndcg_stable_rev"].as_f64();
        let mine = [
            ("ndcg_stable_rev", zbench::ndcg(&test, &truth, limit)),
            ("accuracy", zbench::pairwise_accuracy(&test, &truth, limit)),
            ("recall@1", recall(1, 1)),
            ("recall@5", recall(5, 5)),
            ("recall@10", recall(10, 10)),
            ("recall@3_kgt5", recall(3, 5)),
        ];
        for (key, value) in mine {
            match (value, case[key].as_f64()) {
                (Some(value), Some(golden)) => {
                    close(value, golden, 1e-12, &format!("{name} {key}"))
                }
                // zBench overflows or divides by zero; it returns nothing without documents.
                (Some(_), None) => assert_eq!((name, key), ("overflow", "ndcg_stable_rev")),
                (None, _) => assert!(truth.len() < 2, "{name} {key}"),
            }
        }
        if let Some(ndcg) = ndcg
            && case["numpy_argsort_rev_order"] == case["stable_rev_order"]
        {
            close(case["ndcg"].as_f64().unwrap(), ndcg, 1e-12, name);
        }
    }
    let third = 1.0 / 4f64.log2();
    close(
        zbench::ndcg(&[1.0, 2.0, 3.0], &[800.0, 1.0, 0.0], None).unwrap(),
        third,
        1e-15,
        "overflow",
    );
    assert_eq!(zbench::ndcg(&[1.0], &[1.0, 2.0], None), None);
    assert_eq!(zbench::ndcg(&[f64::NAN], &[1.0], None), None);
}

#[test]
fn correlations_are_scipys() {
    for case in cases().correlations {
        if let Some(tau) = case.kendall_b {
            close(
                kendall_tau_b(&case.x, &case.y).unwrap(),
                tau,
                1e-12,
                &case.name,
            );
        }
    }
    for (x, y) in [
        (&[1.0, 1.0][..], &[1.0, 2.0][..]),
        (&[1.0], &[1.0]),
        (&[], &[]),
        (&[1.0, 2.0], &[1.0]),
        (&[1.0, f64::NAN], &[1.0, 2.0]),
    ] {
        assert_eq!(kendall_tau_b(x, y), None);
    }
}

#[test]
fn paired_tests_are_scipys() {
    for case in cases().paired {
        let comparison = compare(
            &case.y,
            &case.x,
            &Resampling {
                draws: 400,
                ..Resampling::default()
            },
        )
        .unwrap();
        close(
            comparison.mean_difference,
            case.mean_diff,
            1e-12,
            "mean difference",
        );
        let test = comparison.t_test.unwrap();
        assert_eq!(test.degrees + 1, case.x.len());
        close(test.t, case.t, 1e-10, "t");
        close(test.p, case.p_t, 1e-10, "p");
        close(test.standard_error, case.se, 1e-12, "standard error");
        let (low, high) = comparison.interval.unwrap();
        assert!(low < case.mean_diff && case.mean_diff < high);
        // The two tests are nearly equivalent; 400 random patterns have a resolution of about 0.05.
        close(comparison.randomization_p, case.p_t, 0.08, "randomisation");
    }
}

#[test]
fn a_randomization_test_counts_every_sign_pattern() {
    let how = Resampling::default();
    // Fisher's Darwin data (1935): differences of 15 pairs of maize plants in eighths of an inch.
    // He counted 1,726 of 32,768 patterns with a sum at least as far from zero as the observed 314,
    // p = 0.0527.
    let darwin = [
        49.0, -67.0, 8.0, 16.0, 6.0, 23.0, 28.0, 41.0, 14.0, 29.0, 56.0, 24.0, 75.0, 60.0, -48.0,
    ];
    let exact = Resampling {
        draws: 1 << 15,
        ..how
    };
    assert_eq!(randomization_p(&darwin, &exact), Some(1726.0 / 32768.0));
    close(
        randomization_p(&darwin, &Resampling { draws: 4000, ..how }).unwrap(),
        0.0527,
        0.01,
        "sampled",
    );
    close(
        t_test(&darwin).unwrap().t,
        2.148,
        5e-4,
        "Student's t of the same data",
    );
    assert_eq!(randomization_p(&[0.1, 0.2, 0.3], &how), Some(0.25));
    assert_eq!(randomization_p(&[0.0, 0.0], &how), Some(1.0));
    assert_eq!(randomization_p(&[], &how), None);
    // .8 − .7, .6 − .5 and .3 − .2 differ only in their last bits.
    let alike = compare(&[0.8, 0.6, 0.3], &[0.7, 0.5, 0.2], &how).unwrap();
    assert_eq!((alike.t_test, alike.interval), (None, None));
}

#[test]
fn no_interval_is_claimed_without_data() {
    let how = Resampling {
        draws: 50,
        ..Resampling::default()
    };
    assert_eq!(estimate(&[], &how), None);
    assert_eq!(compare(&[], &[], &how), None);
    assert_eq!(compare(&[1.0], &[], &how), None);
    let one = estimate(&[0.3], &how).unwrap();
    assert_eq!((one.mean, one.n, one.interval), (0.3, 1, None));
    let same = compare(&[0.5, 0.5], &[0.25, 0.25], &how).unwrap();
    assert_eq!(
        (same.t_test, same.interval, same.wins_ties_losses),
        (None, None, (2, 0, 0))
    );
}

proptest! {
    #[test]
    fn a_mean_lies_in_its_interval_and_runs_compare_the_same_way_round(
        pairs in prop::collection::vec((0.0f64..1.0, 0.0f64..1.0), 2..12),
        seed: u64,
    ) {
        let how = Resampling { draws: 200, level: 0.95, seed };
        let (x, y): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let of = estimate(&x, &how).unwrap();
        let (low, high) = of.interval.unwrap();
        prop_assert!(0.0 <= low && low <= of.mean + 1e-12 && of.mean <= high + 1e-12 && high <= 1.0);
        prop_assert_eq!(of, estimate(&x, &how).unwrap());
        let (there, back) = (compare(&x, &y, &how).unwrap(), compare(&y, &x, &how).unwrap());
        prop_assert!((there.mean_difference + back.mean_difference).abs() < 1e-14);
        prop_assert!((there.randomization_p - back.randomization_p).abs() < 1e-12);
        prop_assert!((0.0..=1.0).contains(&there.randomization_p));
        let last_first = |values: &[f64]| values.iter().rev().copied().collect::<Vec<f64>>();
        prop_assert_eq!(Some(there), compare(&last_first(&x), &last_first(&y), &how));
    }

    #[test]
    fn a_list_agrees_with_itself_and_not_with_its_reverse(values in prop::collection::btree_set(-50i32..50, 2..20)) {
        let x: Vec<f64> = values.iter().copied().map(f64::from).collect();
        let back: Vec<f64> = x.iter().map(|v| -v).collect();
        prop_assert_eq!((kendall_tau_b(&x, &x), kendall_tau_b(&x, &back)), (Some(1.0), Some(-1.0)));
    }
}
