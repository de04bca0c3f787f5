//! Properties of the figures; their golden values are in `src/features/student/golden.rs`.

use super::*;
use crate::domain::sampling::SeededRng;
use proptest::prelude::*;

fn options(draws: usize) -> FigureOptions {
    FigureOptions {
        buckets: 20,
        segments: (4, 5),
        resampling: Resampling {
            draws,
            ..Resampling::default()
        },
    }
}

/// Battles whose outcomes follow the student's own probabilities.
fn calibrated(seed: u64, queries: usize, battles: usize) -> Vec<StudentRow> {
    let mut rng = SeededRng::new(seed, &["calibrated"]);
    let mut rows = Vec::new();
    for query in 0..queries {
        for _ in 0..battles {
            let favor = 1.0 / (1.0 + (-3.0 * rng.normal()).exp());
            let decided = 0.6 + 0.4 * rng.unit();
            let predicted =
                OutcomeProbabilities::new(decided * (1.0 - favor), decided * favor).unwrap();
            let draw = rng.unit();
            let score = match draw {
                draw if draw < predicted.a() => 0.0,
                draw if draw < predicted.a() + predicted.b() => 1.0,
                _ => 0.5,
            };
            rows.push(StudentRow {
                score,
                predicted,
                query,
            });
        }
    }
    rows
}

#[test]
fn nothing_and_nonsense_have_no_figures() {
    assert_eq!(Figures::of(Vec::new(), &options(10)), None);
    let mut rows = calibrated(1, 1, 2);
    rows[0].score = f64::NAN;
    assert_eq!(Figures::of(rows.clone(), &options(10)), None);
}

#[test]
fn rows_that_are_not_kept_change_no_figure() {
    let rows = calibrated(2, 40, 30);
    let mut stored = StudentRows::new(&InMemory).unwrap();
    rows.iter().for_each(|row| stored.push(*row).unwrap());
    let kept = Figures::of(rows, &options(50)).unwrap();
    let found = Figures::measure(&stored, &options(50), false, &InMemory);
    let found = found.unwrap().unwrap();
    let json = |of: &Figures| serde_json::to_string(of).unwrap();
    assert_eq!(json(&found), json(&kept));
    assert!(found.rows.is_empty() && found.score_buckets[0].rows.is_empty());
    assert_eq!(kept.rows.len(), kept.n);
}

#[test]
fn a_calibrated_student_is_as_far_off_as_chance_says() {
    let found = Figures::of(calibrated(3, 100, 40), &options(200)).unwrap();
    let calibration = &found.calibration;
    let chance = calibration.ece_by_chance.unwrap();
    assert!((0.5..2.0).contains(&(calibration.ece.value / chance)));
    assert_eq!(calibration.ece.interval.unwrap().0, 0.0);
    let murphy = calibration.murphy;
    let sum = murphy.reliability - murphy.resolution + murphy.uncertainty;
    // The difference comes from the spread of the expectations within a bucket.
    assert!((sum - calibration.brier.value).abs() < 2e-3);
    assert_eq!((found.n, found.queries), (4_000, 100));
}

#[test]
fn a_student_that_is_too_sure_is_found_out() {
    let sure = |row: &StudentRow| {
        let p = row.predicted;
        let (a, b) = (p.a().powi(4), p.b().powi(4));
        StudentRow {
            predicted: OutcomeProbabilities::new(a / (a + b), b / (a + b)).unwrap(),
            ..*row
        }
    };
    let rows: Vec<StudentRow> = calibrated(3, 100, 40).iter().map(sure).collect();
    let found = Figures::of(rows.clone(), &options(200)).unwrap();
    let ece = found.calibration.ece;
    let (low, high) = ece.interval.unwrap();
    assert!(
        low > 0.03 && low < ece.value && ece.value <= high,
        "{ece:?}"
    );
    assert!(found.calibration.mce.value >= ece.value);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_axes_are_what_they_are_called(a in 0.0..=1.0f64, share in 0.0..=1.0f64, sixths in 0u8..=6) {
        let predicted = OutcomeProbabilities::new(a, (1.0 - a) * share).unwrap();
        let row = StudentRow { score: f64::from(sixths) / 6.0, predicted, query: 0 };
        let folded = FoldedRow::of(&row);
        prop_assert!(folded.x >= folded.y);
        prop_assert!((folded.distance_to_certain() / std::f64::consts::SQRT_2 - folded.expected()).abs() < 1e-15);
        let decided = 1.0 - std::f64::consts::SQRT_2 * folded.distance_to_decided();
        prop_assert!((decided - predicted.decisiveness()).abs() < 1e-15);
        prop_assert!((0.0..=1.0 + 1e-12).contains(&folded.radius));
        let expected = if folded.turned { 1.0 - predicted.score() } else { predicted.score() };
        prop_assert!((folded.expected() - expected).abs() < 1e-15);
    }

    #[test]
    fn exchanging_documents_changes_no_figure(seed in 0u64..50) {
        let rows = calibrated(seed, 7, 20);
        let swap = |row: &StudentRow| StudentRow {
            score: 1.0 - row.score,
            predicted: row.predicted.swapped(),
            query: row.query,
        };
        let other: Vec<StudentRow> = rows.iter().map(swap).collect();
        let (one, other) = (Figures::of(rows.clone(), &options(5)).unwrap(), Figures::of(other, &options(5)).unwrap());
        prop_assert_eq!(one.consensus_accuracy, other.consensus_accuracy);
        prop_assert_eq!(one.score_buckets, other.score_buckets);
        prop_assert_eq!(one.segments, other.segments);
        prop_assert_eq!(one.by_rank, other.by_rank);
    }

    #[test]
    fn every_battle_is_in_one_bucket_and_one_segment(n in 1usize..90, seed in 0u64..9) {
        let rows = calibrated(seed, n, 1);
        let found = Figures::of(rows.clone(), &options(2)).unwrap();
        let all = |groups: Vec<&Vec<usize>>| {
            let mut rows: Vec<usize> = groups.into_iter().flatten().copied().collect();
            rows.sort_unstable();
            rows
        };
        let expected: Vec<usize> = (0..n).collect();
        prop_assert_eq!(&all(found.score_buckets.iter().map(|one| &one.rows).collect()), &expected);
        prop_assert_eq!(&all(found.radius_buckets.iter().map(|one| &one.rows).collect()), &expected);
        prop_assert_eq!(&all(found.segments.iter().map(|one| &one.rows).collect()), &expected);
        prop_assert_eq!(found.by_rank.last().unwrap().n, n);
        prop_assert_eq!(found.by_radius.last().unwrap().n, n);
    }
}
