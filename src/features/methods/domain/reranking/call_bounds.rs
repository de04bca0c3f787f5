//! Estimates how many calls a method needs for a query.

use super::{Strategy, play};
use crate::domain::candidate_question::{Answer, Question};
use crate::domain::numeric::best_first;
use crate::domain::sampling::SeededRng;

/// Number of simulated queries behind an expected value.
const QUERIES: usize = 12;

/// The number of calls for one query, if every call succeeds at the first attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallBounds {
    pub least: usize,
    pub expected: usize,
    pub most: usize,
}

impl CallBounds {
    pub fn exactly(calls: usize) -> Self {
        Self {
            least: calls,
            expected: calls,
            most: calls,
        }
    }

    /// The calls of a strategy for `n` candidates: the minimum, if every answer keeps the order;
    /// the maximum, if every answer is the second candidate; and the mean over simulated queries.
    ///
    /// In the simulation, the relevance of candidates is normal, the first stage correlates with it
    /// at 0.5, and each answer to a question about two or more of them sees it with independent
    /// errors of standard deviation 0.4.
    pub(super) fn simulated(n: usize, strategy: impl Fn(usize) -> Box<dyn Strategy>) -> Self {
        let calls = |answer: &mut dyn FnMut(&Question) -> Answer| {
            play(strategy(n).as_mut(), answer).map_or(0, |played| played.calls)
        };
        let always = |place: usize| {
            move |question: &Question| match question {
                Question::Compare { .. } => Answer::SecondWins(place > 0),
                _ => Answer::Numbers(vec![place as i64 + 1]),
            }
        };
        let (least, most) = (calls(&mut always(0)), calls(&mut always(1)));
        let sum: usize = (0..QUERIES)
            .map(|query| {
                let mut rng = SeededRng::new(0, &["call-bounds", &query.to_string()]);
                let relevance = candidates(n, &mut rng);
                calls(&mut |question| seen(question, &relevance, &mut rng))
            })
            .sum();
        Self {
            least,
            expected: (sum as f64 / QUERIES as f64).round() as usize,
            most: most.max(least),
        }
    }

    pub(super) fn with_most(self, most: usize) -> Self {
        Self { most, ..self }
    }
}

/// True relevance by first-stage rank.
fn candidates(n: usize, rng: &mut SeededRng) -> Vec<f64> {
    let relevance: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
    let first_stage: Vec<f64> = relevance
        .iter()
        .map(|relevance| relevance + 3f64.sqrt() * rng.normal())
        .collect();
    let order = best_first(&first_stage);
    order.into_iter().map(|at| relevance[at]).collect()
}

/// The answer of a judge who names the best candidate, or the better of two.
fn seen(question: &Question, relevance: &[f64], rng: &mut SeededRng) -> Answer {
    let shown = question.shown();
    let seen: Vec<f64> = shown
        .iter()
        .map(|at| relevance.get(*at).copied().unwrap_or(0.0) + 0.4 * rng.normal())
        .collect();
    let best = best_first(&seen);
    match question {
        Question::Compare { .. } => Answer::SecondWins(best.first() == Some(&1)),
        _ => Answer::Numbers(best.iter().take(1).map(|at| *at as i64 + 1).collect()),
    }
}
