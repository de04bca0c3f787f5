//! Compares κ and α with values computed from first principles (an explicit coincidence matrix, a
//! numerical delta method) on the labels of three people and two LLM judges over 999 battles.

use crate::domain::agreement::{Alpha, LabelUnits, alpha, kappa};
use crate::domain::judge_report::{Rating, judge_alpha, judge_pairs};
use crate::domain::sampling::SeededRng;
use crate::domain::vote::Margin;
use serde::Deserialize;
use std::collections::BTreeMap;

const LABELS: &str = include_str!("../../../tests/golden/agreement/pandalm_labels.json");

const REPEATS: &str = include_str!("../../../tests/golden/trust2/kappa_repeats.json");

#[derive(Deserialize)]
struct Repeats {
    tolerance: f64,
    cases: Vec<RepeatCase>,
}

#[derive(Deserialize)]
struct RepeatCase {
    /// The votes of each judge on each pair: −1 for A, 0 for a tie, 1 for B.
    pairs: Vec<BTreeMap<usize, Vec<f64>>>,
    /// Keyed by two judges, as `0,1`.
    kappa: BTreeMap<String, f64>,
    alpha: f64,
}

/// The votes on pairs, no two of which share a document.
fn ratings(pairs: &[BTreeMap<usize, Vec<f64>>]) -> Vec<Rating> {
    let mut ratings = Vec::new();
    for (at, judges) in pairs.iter().enumerate() {
        for (judge, votes) in judges {
            for (game, margin) in votes.iter().enumerate() {
                ratings.push(Rating {
                    query: at / 5,
                    battle: 10 * at + game,
                    a: 2 * at,
                    b: 2 * at + 1,
                    judge: *judge,
                    margin: Margin::new(*margin).unwrap(),
                    swapped: game % 2 == 1,
                    length_a: 0,
                    length_b: 0,
                    gap: None,
                });
            }
        }
    }
    ratings
}

#[test]
fn a_judge_with_several_votes_on_a_pair_has_their_distribution_for_a_label() {
    let golden: Repeats = serde_json::from_str(REPEATS).unwrap();
    for case in golden.cases {
        let ratings = ratings(&case.pairs);
        let pairs = judge_pairs(&ratings);
        assert_eq!(pairs.len(), case.kappa.len());
        for pair in pairs {
            let expected = case.kappa[&format!("{},{}", pair.a, pair.b)];
            let found = pair.kappa.unwrap().value;
            assert!(
                (found - expected).abs() < golden.tolerance,
                "{found} for {expected}"
            );
        }
        let found = judge_alpha(&ratings).unwrap().value;
        assert!(
            (found - case.alpha).abs() < golden.tolerance,
            "{found} for {}",
            case.alpha
        );
    }
}

#[test]
fn coin_tossers_who_are_asked_twice_do_not_agree() {
    let mut rng = SeededRng::new(1, &["coins"]);
    let pairs: Vec<BTreeMap<usize, Vec<f64>>> = (0..4_000)
        .map(|at| {
            let mut toss = || if rng.unit() < 0.5 { -1.0 } else { 1.0 };
            let votes = 1 + usize::from(at % 15 < 9);
            (0..2)
                .map(|judge| (judge, (0..votes).map(|_| toss()).collect()))
                .collect()
        })
        .collect();
    let ratings = ratings(&pairs);
    let kappa = judge_pairs(&ratings)[0].kappa.unwrap();
    let interval = kappa.interval.unwrap();
    assert!(interval.low < 0.0 && 0.0 < interval.high, "{kappa:?}");
    assert!(kappa.value.abs() < 0.04, "{kappa:?}");
    assert!(judge_alpha(&ratings).unwrap().value.abs() < 0.04);
}

#[derive(Deserialize)]
struct Labels {
    battles: Vec<String>,
}

fn battles() -> Vec<Vec<Option<f64>>> {
    let labels: Labels = serde_json::from_str(LABELS).unwrap();
    let code = |label: char| match label {
        '1' => Some(0.0),
        '0' => Some(0.5),
        '2' => Some(1.0),
        _ => None,
    };
    labels
        .battles
        .iter()
        .map(|row| row.chars().map(code).collect())
        .collect()
}

fn plain_alpha(rows: &[Vec<Option<f64>>]) -> Alpha {
    alpha(LabelUnits {
        rows,
        ..LabelUnits::default()
    })
    .unwrap()
}

#[test]
fn kappa_and_its_error_meet_the_independent_figures() {
    let battles = battles();
    for (first, second, value, error, n) in [
        (0, 1, 0.852_022_678_517, 0.015_077_906_1, 999),
        (0, 2, 0.878_943_811_250, 0.013_751_797_8, 999),
        (1, 2, 0.861_661_454_076, 0.014_556_706_8, 999),
        (0, 3, 0.479_370_655_787, 0.024_133_090_5, 974),
        (2, 4, 0.441_163_408_044, 0.024_044_121_5, 999),
        (3, 4, 0.472_680_023_597, 0.024_372_002_2, 974),
    ] {
        let mut table = vec![vec![0.0; 3]; 3];
        for row in &battles {
            if let (Some(one), Some(other)) = (row[first], row[second]) {
                table[(2.0 * one) as usize][(2.0 * other) as usize] += 1.0;
            }
        }
        let kappa = kappa(&table).unwrap();
        assert!(
            (kappa.value - value).abs() < 1e-11,
            "{first} {second} {kappa:?}"
        );
        assert!(
            (kappa.se - error).abs() < 1e-8,
            "{first} {second} {kappa:?}"
        );
        assert_eq!(kappa.n, n);
    }
}

#[test]
fn alpha_meets_the_independent_figures() {
    let battles = battles();
    for (raters, figure, in_units, values) in [
        (0..3, 0.864_220_685_196, 999, 2997),
        (3..5, 0.471_520_631_221, 974, 1948),
        (0..5, 0.580_139_293_235, 999, 4970),
    ] {
        let rows: Vec<Vec<Option<f64>>> = battles
            .iter()
            .map(|row| row[raters.clone()].to_vec())
            .collect();
        let alpha = plain_alpha(&rows);
        assert!((alpha.value - figure).abs() < 1e-11, "{alpha:?}");
        assert_eq!((alpha.units, alpha.values), (in_units, values));
    }
}

#[test]
fn the_interval_of_alpha_is_about_its_jackknife_one() {
    let battles = battles();
    let rows: Vec<Vec<Option<f64>>> = battles[..100].iter().map(|row| row[..3].to_vec()).collect();
    let whole = plain_alpha(&rows);
    let interval = whole.interval.unwrap();
    let without = |at: usize| {
        let mut rest = rows.clone();
        rest.remove(at);
        plain_alpha(&rest).value
    };
    let left_out: Vec<f64> = (0..100).map(without).collect();
    let mean = left_out.iter().sum::<f64>() / 100.0;
    let squares: f64 = left_out.iter().map(|value| (value - mean).powi(2)).sum();
    let half = 1.96 * (0.99 * squares).sqrt();
    assert!(
        (interval.low - (whole.value - half)).abs() < 0.25 * half,
        "{whole:?} {half}"
    );
    assert!(
        (interval.high - (whole.value + half)).abs() < 0.25 * half,
        "{whole:?} {half}"
    );
}
