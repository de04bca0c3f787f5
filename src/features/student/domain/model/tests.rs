use super::*;
use crate::domain::battle::Pair;
use crate::domain::ranking::PairTarget;
use crate::domain::sampling::SeededRng;
use crate::features::student::domain::features::QueryFeatures;
use crate::features::student::domain::spool::InMemory;
use proptest::prelude::*;

/// A pair for training by its differences.
#[derive(Clone)]
struct TrainingRow {
    odd: Vec<f64>,
    score: f64,
    query: usize,
}

impl TrainingRow {
    fn features(&self) -> PairFeatures {
        QueryFeatures::default().pair(0, 1, &self.odd, &[])
    }
}

/// Rows, ordered by query.
fn training(rows: &[TrainingRow]) -> TrainingPairs {
    let features = QueryFeatures::default();
    let mut found = TrainingPairs::new(&InMemory).unwrap();
    for rows in rows.chunk_by(|x, y| x.query == y.query) {
        let pairs = rows.iter().map(|row| PairTarget {
            pair: Pair::new(0, 1).unwrap(),
            score: row.score,
            weight: 1.0,
        });
        let odd: Vec<f64> = rows.iter().flat_map(|row| row.odd.clone()).collect();
        let query = TrainingQuery {
            query: rows[0].query,
            features: &features,
            pairs: &pairs.collect::<Vec<_>>(),
            differences: &odd,
            others: &[],
        };
        found.add(query, UnjudgedNumbers::default()).unwrap();
    }
    found
}

impl StudentModel {
    fn fit(rows: &[TrainingRow], precision: f64) -> Option<Self> {
        let pairs = training(rows);
        let all: Vec<usize> = pairs.judged().map(|(place, _)| place).collect();
        Self::of_pairs(&pairs, &all, precision, None).unwrap()
    }
}

fn validated(rows: &[TrainingRow], folds: usize, seed: u64) -> Result<CrossValidation, NoModel> {
    cross_validate(&training(rows), folds, seed, &InMemory, &|| true)
}

impl CrossValidation {
    /// The prediction for a row without its query.
    fn left_out(&self, row: &TrainingRow) -> OutcomeProbabilities {
        self.predict(row.query, &row.features())
    }
}

/// Queries whose documents have three numbers, of which the first two determine their quality.
fn rows(queries: usize, pairs: usize, seed: u64) -> Vec<TrainingRow> {
    let mut rng = SeededRng::new(seed, &["rows"]);
    let mut rows = Vec::new();
    for query in 0..queries {
        let numbers: Vec<Vec<Option<f64>>> = (0..12)
            .map(|_| (0..3).map(|_| Some(rng.normal())).collect())
            .collect();
        let features = QueryFeatures::new(&numbers);
        for _ in 0..pairs {
            let (a, b) = (rng.below(12), rng.below(12));
            let pair = features.pair(a, b, &[], &[]);
            let eta = 1.5 * pair.odd()[0] + 0.7 * pair.odd()[1];
            let tau = 1.0 - 0.4 * pair.even()[1];
            let p = probabilities(eta, tau);
            let draw = rng.unit();
            let score = match draw {
                draw if draw < p.a() => 0.0,
                draw if draw < p.a() + p.b() => 1.0,
                _ => 0.5,
            };
            rows.push(TrainingRow {
                odd: pair.odd().to_vec(),
                score,
                query,
            });
        }
    }
    rows
}

#[test]
fn the_fit_finds_what_the_votes_were_drawn_from() {
    let rows = rows(60, 40, 5);
    let model = StudentModel::fit(&rows, 1e-3).unwrap();
    for (found, expected) in model.odd.iter().zip([1.5, 0.7, 0.0]) {
        assert!((found - expected).abs() < 0.15, "{model:?}");
    }
    assert!((model.even[0] - 1.0).abs() < 0.25, "{model:?}");
    assert!((model.even[1] + 0.4).abs() < 0.2, "{model:?}");
    assert_eq!(StudentModel::fit(&rows, 1e-3), Some(model));
}

#[test]
fn the_fit_is_where_the_gradient_is_zero() {
    let rows = rows(10, 10, 6);
    let model = StudentModel::fit(&rows, 0.5).unwrap();
    let loss = |model: &StudentModel| {
        let squares = model.odd.iter().chain(&model.even[1..]).map(|w| w * w);
        let penalty = 0.25 * squares.sum::<f64>();
        let of = |row: &TrainingRow| {
            let (eta, tau) = model.logits(&row.features());
            newton::cross_entropy(eta, tau, row.score)
        };
        penalty + rows.iter().map(of).sum::<f64>()
    };
    let step = 1e-5;
    for at in 0..model.odd.len() + model.even.len() {
        let moved = |by: f64| {
            let mut other = model.clone();
            match at.checked_sub(other.odd.len()) {
                None => other.odd[at] += by,
                Some(at) => other.even[at] += by,
            }
            loss(&other)
        };
        let slope = (moved(step) - moved(-step)) / (2.0 * step);
        assert!(slope.abs() < 1e-5, "{at}: {slope}");
    }
}

#[test]
fn queries_left_out_are_predicted_nearly_as_well_and_calibrated() {
    let rows = rows(30, 20, 7);
    let found = validated(&rows, 5, 1).unwrap();
    assert_eq!(found.folds, 5);
    assert!((0.8..1.25).contains(&found.model.temperature), "{found:?}");
    let right = |of: &dyn Fn(usize) -> OutcomeProbabilities| {
        let decided = (0..rows.len()).filter(|at| rows[*at].score != 0.5);
        let hit = |at: &usize| (of(*at).preference() > 0.0) == (rows[*at].score > 0.5);
        decided.clone().filter(hit).count() as f64 / decided.count() as f64
    };
    let inside = right(&|at| found.model.predict(&rows[at].features()));
    let outside = right(&|at| found.left_out(&rows[at]));
    assert!(
        outside > 0.82 && (inside - outside).abs() < 0.03,
        "{inside} {outside}"
    );
    assert_eq!(validated(&rows, 5, 1).as_ref(), Ok(&found));
    assert_eq!(validated(&rows[..20], 5, 1), Err(NoModel::TooFewQueries));
    let mut wrong = rows;
    wrong[3].odd[0] = f64::INFINITY;
    for folds in [2, 5] {
        assert_eq!(validated(&wrong, folds, 1), Err(NoModel::NotFitted));
    }
}

#[test]
fn no_pair_of_a_query_is_predicted_by_a_model_that_saw_its_votes() {
    let rows = rows(30, 20, 7);
    let found = validated(&rows, 5, 1).unwrap();
    // Another vote on query 4 changes the predictions for other queries, and none of the
    // predictions for its own pairs, judged or not.
    let mut other = rows.clone();
    let row = other
        .iter_mut()
        .find(|row| row.query == 4 && row.score != 0.5 && row.odd[0] != 0.0);
    let row = row.unwrap();
    row.score = 1.0 - row.score;
    let changed = validated(&other, 5, 1).unwrap();
    let pair = &rows[0].features();
    assert_eq!(changed.precision, found.precision);
    // The minimum is the same up to rounding, wherever the search started.
    let (before, after) = (found.predict(4, pair), changed.predict(4, pair));
    let moved = [after.a() - before.a(), after.b() - before.b()];
    assert!(moved.iter().all(|x| x.abs() < 1e-9), "{moved:?}");
    let moved = changed.model.predict(pair).a() - found.model.predict(pair).a();
    assert!(moved.abs() > 1e-6, "{moved}");
    // A query without votes is predicted by the model of all rows.
    assert_eq!(found.predict(99, pair), found.model.predict(pair));
}

#[test]
fn a_fit_that_nobody_waits_for_ends() {
    let rows = rows(10, 10, 3);
    for fits in 0..23 {
        let left = std::sync::atomic::AtomicUsize::new(fits);
        let wanted = || {
            let less = |left: usize| left.checked_sub(1);
            let relaxed = std::sync::atomic::Ordering::Relaxed;
            left.fetch_update(relaxed, relaxed, less).is_ok()
        };
        assert_eq!(
            cross_validate(&training(&rows), 3, 1, &InMemory, &wanted),
            Err(NoModel::NotWanted),
            "{fits}"
        );
    }
}

#[test]
fn what_a_temperature_cannot_mend_is_mended_by_curves() {
    // Every third vote is a tie, however different the documents are, which no temperature can
    // represent.
    let mut rows = rows(60, 40, 9);
    let mut rng = SeededRng::new(2, &["ties"]);
    for row in &mut rows {
        let far = row.odd[0] > 0.0;
        row.score = match rng.below(3) {
            0 => 0.5,
            _ if far => 1.0,
            _ => 0.0,
        };
    }
    let found = validated(&rows, 5, 1).unwrap();
    assert!(found.model.isotonic.is_some(), "{found:?}");
    let loss = |of: &dyn Fn(usize) -> OutcomeProbabilities| -> f64 {
        rows.iter()
            .enumerate()
            .map(|(at, row)| newton::cross_entropy_of(row.score, of(at)))
            .sum()
    };
    let temperature = StudentModel {
        isotonic: None,
        ..found.model.clone()
    };
    let repaired = loss(&|at| found.left_out(&rows[at]));
    let plain = loss(&|at| temperature.predict(&rows[at].features()));
    assert!(repaired < plain, "{repaired} {plain}");
}

#[test]
fn what_cannot_be_fitted_has_no_model() {
    let mut some = rows(2, 5, 8);
    assert_eq!(StudentModel::fit(&[], 1.0), None);
    assert_eq!(StudentModel::fit(&some, 0.0), None);
    some[3].odd.pop();
    assert_eq!(StudentModel::fit(&some, 1.0), None);
    // With a single outcome, the penalty keeps the model finite, and it predicts this outcome with
    // confidence.
    let mut ties = rows(2, 20, 8);
    ties.iter_mut().for_each(|row| row.score = 0.5);
    let model = StudentModel::fit(&ties, 1.0).unwrap();
    assert!(model.predict(&ties[0].features()).tie() > 0.9);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn exchanging_the_documents_exchanges_the_probabilities_exactly(seed in 0u64..30) {
        let rows = rows(4, 10, seed);
        let model = StudentModel::fit(&rows, 1.0).unwrap();
        let mut rng = SeededRng::new(seed, &["others"]);
        let numbers: Vec<Vec<Option<f64>>> =
            (0..2).map(|_| (0..3).map(|_| Some(rng.normal())).collect()).collect();
        let features = QueryFeatures::new(&numbers);
        let one = model.predict(&features.pair(0, 1, &[], &[]));
        let other = model.predict(&features.pair(1, 0, &[], &[]));
        prop_assert_eq!(one, other.swapped());
    }

    #[test]
    fn turning_every_row_leaves_the_model_as_it_is(seed in 0u64..30) {
        let rows = rows(4, 10, seed);
        let turned: Vec<TrainingRow> = rows
            .iter()
            .map(|row| TrainingRow {
                odd: row.odd.iter().map(|x| -x).collect(),
                score: 1.0 - row.score,
                ..row.clone()
            })
            .collect();
        prop_assert_eq!(StudentModel::fit(&rows, 1.0), StudentModel::fit(&turned, 1.0));
    }
}

proptest! {
    #[test]
    fn the_exponential_of_the_largest_logit_is_that_of_zero(
        eta in -9.0..9.0f64, tau in -9.0..9.0f64, special in 0usize..8,
    ) {
        let (eta, tau) = match special {
            0 => (eta, eta.abs()),
            1 => (0.0, tau),
            2 => (-0.0, 0.0),
            3 => (f64::INFINITY, tau),
            4 => (eta, f64::NAN),
            _ => (eta, tau),
        };
        let found = Exponentials::of(eta, tau);
        let top = eta.abs().max(tau);
        let bits = [found.a, found.b, found.sum].map(f64::to_bits);
        let (a, b, tie) = ((-eta - top).exp(), (eta - top).exp(), (tau - top).exp());
        let expected = [a, b, (a + b) + tie];
        for (bits, expected) in bits.into_iter().zip(expected) {
            prop_assert!(bits == expected.to_bits() || expected.is_nan() && f64::from_bits(bits).is_nan());
        }
    }
}
