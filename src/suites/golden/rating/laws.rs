//! Invariants for all pools of battles.

use super::with_model;
use crate::domain::rating::{Fit, Observation, RatingModel, fit, structure};
use proptest::prelude::*;

fn pools() -> impl Strategy<Value = (usize, Vec<Observation>)> {
    (1usize..14).prop_flat_map(|documents| {
        let weight = prop_oneof![4 => Just(1.0), 1 => 0.01f64..20.0];
        let battle =
            (0..documents, 0..documents, 0u8..=6, weight).prop_map(|(a, b, score, weight)| {
                Observation::new(a, b, f64::from(score) / 6.0, weight)
            });
        (Just(documents), prop::collection::vec(battle, 0..50))
    })
}

fn fitted(documents: usize, observations: &[Observation], model: RatingModel) -> Fit {
    fit(documents, observations, &with_model(model), None).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(96) })]

    #[test]
    fn scores_sum_to_zero_and_converge((documents, observations) in pools()) {
        for model in [RatingModel::Map, RatingModel::Zbench, RatingModel::Thurstone] {
            let fit = fitted(documents, &observations, model);
            let sum: f64 = fit.scores.iter().sum();
            prop_assert!(sum.abs() < 1e-12, "{model} {sum}");
            prop_assert!(fit.converged || model == RatingModel::Zbench);
        }
    }

    #[test]
    fn relabelling_documents_permutes_the_scores(
        (documents, observations) in pools(),
        turn in 0usize..14,
    ) {
        let name = |d: usize| (documents - 1 - d + turn) % documents;
        let renamed: Vec<_> = observations
            .iter()
            .map(|o| Observation { a: name(o.a), b: name(o.b), ..*o })
            .collect();
        for model in [RatingModel::Map, RatingModel::Thurstone] {
            let (one, other) = (fitted(documents, &observations, model), fitted(documents, &renamed, model));
            for d in 0..documents {
                prop_assert!((one.scores[d] - other.scores[name(d)]).abs() < 1e-11);
            }
        }
    }

    #[test]
    fn the_order_and_orientation_of_battles_do_not_matter(
        (documents, observations) in pools(),
        turn in 0usize..50,
    ) {
        let mut shuffled: Vec<_> = observations
            .iter()
            .map(|o| Observation { a: o.b, b: o.a, score: 1.0 - o.score, ..*o })
            .collect();
        shuffled.reverse();
        let turn = turn.min(shuffled.len());
        shuffled.rotate_left(turn);
        for model in [RatingModel::Map, RatingModel::Thurstone] {
            let (one, other) = (fitted(documents, &observations, model), fitted(documents, &shuffled, model));
            for (one, other) in one.scores.iter().zip(&other.scores) {
                prop_assert!((one - other).abs() < 1e-12, "{model} {one} {other}");
            }
        }
    }

    #[test]
    fn what_weighs_nothing_or_fights_itself_changes_no_bit((documents, observations) in pools()) {
        let mut more = observations.clone();
        more.insert(0, Observation::new(0, documents - 1, 1.0, 0.0));
        more.push(Observation::new(0, 0, 0.25, 3.0));
        for model in [RatingModel::Map, RatingModel::Thurstone] {
            prop_assert_eq!(fitted(documents, &observations, model), fitted(documents, &more, model));
        }
        prop_assert_eq!(structure(documents, &observations), structure(documents, &more));
        more.pop();
        prop_assert_eq!(
            fitted(documents, &observations, RatingModel::Zbench),
            fitted(documents, &more, RatingModel::Zbench)
        );
    }

    #[test]
    fn a_warm_start_ends_where_a_cold_one_does(
        (documents, observations) in pools(),
        start in prop::collection::vec(-8.0f64..8.0, 14),
    ) {
        for model in [RatingModel::Map, RatingModel::Thurstone] {
            let cold = fitted(documents, &observations, model);
            let options = with_model(model);
            let warm = fit(documents, &observations, &options, Some(&start[..documents])).unwrap();
            for (cold, warm) in cold.scores.iter().zip(&warm.scores) {
                prop_assert!((cold - warm).abs() < 1e-11, "{model} {cold} {warm}");
            }
        }
    }

    #[test]
    fn the_likelihood_has_a_maximum_exactly_where_nobody_is_unbounded((documents, observations) in pools()) {
        let shape = structure(documents, &observations);
        match fit(documents, &observations, &with_model(RatingModel::Mle), None) {
            Ok(fit) => {
                prop_assert!(fit.converged, "{fit:?}");
                prop_assert!(shape.unbounded.is_empty() && shape.component_count <= 1);
            }
            Err(_) => prop_assert!(!shape.unbounded.is_empty() || shape.component_count > 1),
        }
        for document in shape.undefeated.iter().chain(&shape.winless) {
            prop_assert!(shape.unbounded.contains(document));
        }
    }
}
