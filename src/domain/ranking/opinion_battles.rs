//! Adds predictions to the votes in a fit, and measures how much weight the votes
//! support.
//!
//! Only predictions of unjudged pairs count; for the other pairs, the votes do. A prediction is
//! worth (1 − a) / (a − m²) games, see [`OutcomeProbabilities::strength`]. Predictions are not
//! independent, because a model that misjudges a document is wrong on all of its pairs. All
//! predictions of a query together therefore count as a given number of battles per document,
//! divided in proportion to their strength.

use super::fit_inputs::FitInputs;
use super::named_opinion::OPINION_WEIGHTS;
use super::{QueryRows, RankingSettings};
use crate::domain::battle::Pair;
use crate::domain::prediction::{OutcomeProbabilities, QueryPredictions};
use crate::domain::rating::{self, Observation};
use std::collections::HashSet;

/// Number of groups of battles for cross-validation.
const FOLDS: usize = 4;

/// Predictions as battles of a fit. `pairs` lists each pair's documents by their positions in the
/// fit, with the prediction for the first as A; it must not contain pairs with a vote or a verdict.
///
/// Their total weight is `weight` battles for each of `documents` documents, divided in proportion
/// to their strength. Each counts for at most its strength in games; a battle of `judges` judges is
/// as many games as there are judges.
pub fn opinion_battles(
    documents: usize,
    judges: usize,
    weight: f64,
    pairs: &[((usize, usize), OutcomeProbabilities)],
) -> Vec<Observation> {
    let strengths = || pairs.iter().map(|(_, predicted)| predicted.strength());
    let total: f64 = strengths().sum();
    if weight <= 0.0 || total <= 0.0 {
        return Vec::new();
    }
    let a_game = (weight * documents as f64 / total).min(1.0 / judges.max(1) as f64);
    let weights = strengths().map(|strength| a_game * strength);
    pairs
        .iter()
        .zip(weights)
        .map(|(((a, b), predicted), weight)| Observation::new(*a, *b, predicted.score(), weight))
        .collect()
}

/// The predictions of pairs without any of these votes, by their documents' positions.
pub fn unvoted(
    documents: usize,
    votes: &[Observation],
    predictions: &QueryPredictions,
) -> Vec<((usize, usize), OutcomeProbabilities)> {
    let voted: HashSet<Pair> = votes
        .iter()
        .filter_map(|of| Pair::new(of.a, of.b))
        .collect();
    predictions
        .iter()
        .filter(|(pair, _)| pair.high() < documents && !voted.contains(pair))
        .filter_map(|(pair, of)| Some(((pair.low(), pair.high()), of.predicted()?)))
        .collect()
}

/// The rows' predictions as observations for their fit; empty without predictions, and if there are
/// no votes.
pub(super) fn opinion_observations(
    rows: &QueryRows,
    settings: &RankingSettings,
    entered: usize,
    compact: &[Option<usize>],
) -> Vec<Observation> {
    match &rows.student {
        Some(student) if entered > 0 => {
            let pairs = unjudged(rows, settings, compact, &student.predictions);
            opinion_battles(entered, rows.judges.len(), student.weight, &pairs)
        }
        _ => Vec::new(),
    }
}

/// The predictions for pairs without a vote or another answer, by positions in the fit.
///
/// A verdict leaves the prediction for its pair in the fit, as it leaves votes: removing it could
/// lower the document that the verdict prefers. The legacy modes remove it.
fn unjudged(
    rows: &QueryRows,
    settings: &RankingSettings,
    compact: &[Option<usize>],
    predictions: &QueryPredictions,
) -> Vec<((usize, usize), OutcomeProbabilities)> {
    let voted = rows
        .battles
        .iter()
        .filter(|record| !record.votes.is_empty())
        .map(|record| (record.battle.a, record.battle.b));
    let decided = rows
        .verdicts
        .iter()
        .filter(|_| settings.override_mode.is_legacy())
        .map(|verdict| (verdict.a, verdict.b));
    let answers = rows.answers_in_fit(settings).iter();
    let answered = answers.flat_map(|answer| answer.pairs.iter().map(|of| (of.a, of.b)));
    let judged: HashSet<Pair> = voted
        .chain(decided)
        .chain(answered)
        .filter_map(|(a, b)| Pair::new(a, b))
        .collect();
    let place = |document: usize| compact.get(document).copied().flatten();
    predictions
        .iter()
        .filter(|(pair, _)| !judged.contains(pair))
        .filter_map(|(pair, of)| Some(((place(pair.low())?, place(pair.high())?), of.predicted()?)))
        .collect()
}

/// How well a fit predicts held-out votes with the predictions at each of [`OPINION_WEIGHTS`]: the
/// sum over the battles of weight · (s ln p + (1 − s) ln (1 − p)), where each group of battles is
/// predicted by a fit of the others. `None` if there are too few battles to hold out any.
pub fn opinion_evidence(
    rows: &QueryRows,
    settings: &RankingSettings,
    predictions: &QueryPredictions,
) -> Option<[f64; OPINION_WEIGHTS.len()]> {
    // One observation per battle: the votes of a battle are held out together.
    let inputs = FitInputs::new(rows, &settings.without_tastes());
    let pairs = unjudged(rows, settings, &inputs.compact, predictions);
    held_out_likelihood(
        inputs.entered.len(),
        rows.judges.len(),
        &inputs.observations,
        &pairs,
        settings.lambda.value(settings.learned),
    )
}

/// [`opinion_evidence`] for the observations and predictions of a fit.
pub fn held_out_likelihood(
    documents: usize,
    judges: usize,
    votes: &[Observation],
    predictions: &[((usize, usize), OutcomeProbabilities)],
    lambda: f64,
) -> Option<[f64; OPINION_WEIGHTS.len()]> {
    if votes.len() < 2 * FOLDS || predictions.is_empty() {
        return None;
    }
    let options = rating::RatingOptions {
        lambda,
        ..rating::RatingOptions::default()
    };
    let mut sums = [0.0; OPINION_WEIGHTS.len()];
    for (sum, weight) in sums.iter_mut().zip(OPINION_WEIGHTS) {
        let student = opinion_battles(documents, judges, weight, predictions);
        let mut warm: Option<Vec<f64>> = None;
        for fold in 0..FOLDS {
            let kept = votes
                .iter()
                .enumerate()
                .filter(|(at, _)| at % FOLDS != fold);
            let mut battles: Vec<Observation> = kept.map(|(_, battle)| *battle).collect();
            battles.extend(&student);
            let fit = rating::fit(documents, &battles, &options, warm.as_deref()).ok()?;
            for (_, battle) in votes
                .iter()
                .enumerate()
                .filter(|(at, _)| at % FOLDS == fold)
            {
                let p = battle.expected(options.model, &fit.scores);
                let (p, q) = (p.max(f64::MIN_POSITIVE), (1.0 - p).max(f64::MIN_POSITIVE));
                *sum += battle.weight * (battle.score * p.ln() + (1.0 - battle.score) * q.ln());
            }
            warm = Some(fit.scores);
        }
    }
    Some(sums)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::prediction::PairPrediction;
    use crate::domain::ranking::OpinionShare;
    use crate::domain::rating::RatingModel;
    use proptest::prelude::*;

    fn p(a: f64, b: f64) -> OutcomeProbabilities {
        OutcomeProbabilities::new(a, b).unwrap()
    }

    #[test]
    fn weights_are_shared_by_strength_and_capped_by_it() {
        // (1 − a) / (a − m²): .3 / .45 and 1 / 0, capped at 30.
        let pairs = [((0, 1), p(0.1, 0.6)), ((0, 2), p(0.0, 0.0))];
        let battles = opinion_battles(3, 2, 1.0, &pairs);
        let total: f64 = battles.iter().map(|battle| battle.weight).sum();
        assert!((total - 3.0).abs() < 1e-12);
        let ratio = battles[0].weight / battles[1].weight;
        assert!((ratio - (0.3 / 0.45) / 30.0).abs() < 1e-12);
        assert!((battles[0].score - 0.75).abs() < 1e-12);
        let share = OpinionShare::of(&battles, 3).unwrap();
        assert!(share.pairs == 2 && (share.weight - 1.0).abs() < 1e-12);
        // Whatever the weight, a prediction counts for at most its strength in games: two games are
        // one battle of two judges.
        let most = opinion_battles(3, 2, 1e6, &pairs);
        assert!((most[1].weight - 15.0).abs() < 1e-12);
        let share = OpinionShare::of(&most, 3).unwrap();
        assert!((share.weight - (15.0 + 0.3 / 0.45 / 2.0) / 3.0).abs() < 1e-12);
        assert_eq!(OpinionShare::of(&[], 3), None);
        assert!(opinion_battles(3, 2, 0.0, &pairs).is_empty());
        assert!(opinion_battles(3, 2, 1.0, &[]).is_empty());
    }

    proptest! {
            #[test]
            fn exchanging_documents_changes_no_weight_and_turns_the_score(
                probabilities in prop::collection::vec((0.0..=1.0f64, 0.0..=1.0f64), 1..12),
                weight in 0.0..5.0f64,
            ) {
                let of = |turned: bool| -> Vec<((usize, usize), OutcomeProbabilities)> {
                    let one = |(at, (a, share)): (usize, &(f64, f64))| {
                        let predicted = p(*a, (1.0 - a) * share);
                        if turned {
    ((at + 1, 0), predicted.swapped())
    } else {
    ((0, at + 1), predicted)
    }
                    };
                    probabilities.iter().enumerate().map(one).collect()
                };
                let (one, other) = (opinion_battles(13, 3, weight, &of(false)), opinion_battles(13, 3, weight, &of(true)));
                prop_assert_eq!(one.len(), other.len());
                for (x, y) in one.iter().zip(&other) {
                    prop_assert_eq!(x.weight, y.weight);
                    prop_assert!((x.score + y.score - 1.0).abs() < 1e-12);
                    prop_assert!(x.weight >= 0.0 && (0.0..=1.0).contains(&x.score));
                }
                let total: f64 = one.iter().map(|battle| battle.weight).sum();
                prop_assert!(total <= weight * 13.0 + 1e-9);
            }
        }

    #[test]
    fn a_student_that_knows_the_truth_is_borne_out_and_one_that_knows_the_opposite_is_not() {
        let truth: Vec<f64> = (0..12).map(|at| 0.5 * f64::from(at)).collect();
        let win = |a: usize, b: usize| rating::expected(RatingModel::Map, &truth, a, b);
        let votes: Vec<Observation> = (0..12)
            .flat_map(|a| [1, 3].map(|step| (a, (a + step) % 12)))
            .map(|(a, b)| Observation::new(a, b, win(a, b), 1.0))
            .collect();
        let fought = |a: usize, b: usize| {
            votes
                .iter()
                .any(|of| (of.a, of.b) == (a, b) || (of.a, of.b) == (b, a))
        };
        let student = |sign: f64| -> Vec<((usize, usize), OutcomeProbabilities)> {
            let pairs = (0..12).flat_map(|a| (a + 1..12).map(move |b| (a, b)));
            pairs
                .filter(|(a, b)| !fought(*a, *b))
                .map(|(a, b)| {
                    let s = 0.5 + sign * (win(a, b) - 0.5);
                    ((a, b), p((1.0 - s).powi(2), s * s))
                })
                .collect()
        };
        let right = held_out_likelihood(12, 3, &votes, &student(1.0), 0.05).unwrap();
        let wrong = held_out_likelihood(12, 3, &votes, &student(-1.0), 0.05).unwrap();
        assert_eq!(right[0], wrong[0]);
        assert!(right[3] > right[0] && wrong[3] < wrong[0]);
        assert_eq!(
            held_out_likelihood(12, 3, &votes[..7], &student(1.0), 0.05),
            None
        );
    }

    #[test]
    fn predictions_of_judged_pairs_and_of_documents_without_a_score_count_for_nothing() {
        let rows = QueryRows {
            documents: 4,
            depth: Some(3),
            ..QueryRows::default()
        };
        let one = PairPrediction::in_order(p(0.2, 0.5));
        let predictions: QueryPredictions = [(0, 1), (0, 3), (1, 2)]
            .map(|(low, high)| (Pair::new(low, high).unwrap(), one))
            .into();
        let compact = [Some(0), Some(1), Some(2), None];
        let found = unjudged(&rows, &RankingSettings::default(), &compact, &predictions);
        let pairs: Vec<(usize, usize)> = found.iter().map(|(pair, _)| *pair).collect();
        assert_eq!(pairs, [(0, 1), (1, 2)]);
    }
}
