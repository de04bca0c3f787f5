//! Runs a method on simulated answers to count its calls.

use super::volume::Sum;
use crate::domain::candidate_question::{Answer, Question};
use crate::domain::numeric::best_first;
use crate::domain::sampling::SeededRng;
use crate::features::methods::app::rerank::candidates::Candidates;
use crate::features::methods::app::rerank::prepared_method::PreparedMethod;
use crate::features::methods::app::rerank::question::Target;
use crate::features::methods::domain::reranking::play;

/// Deviation of simulated answers from the first-stage order, as a share of the number of
/// candidates.
const SPREAD: f64 = 0.35;

/// The quality of candidates if the first stage is right.
pub(super) fn steady(method: &PreparedMethod, candidates: &Candidates) -> Vec<f64> {
    (0..method.looks_at(candidates))
        .map(|at| -(at as f64))
        .collect()
}

/// The quality of candidates if the first stage is about right.
pub(super) fn shaken(method: &PreparedMethod, candidates: &Candidates) -> Vec<f64> {
    let mut rng = SeededRng::new(0, &["rerank estimate", candidates.query.as_str()]);
    let steady = steady(method, candidates);
    let spread = SPREAD * steady.len() as f64;
    steady
        .iter()
        .map(|value| value + spread * rng.normal())
        .collect()
}

/// The calls of a method if the quality of candidates is `utility`, each with its `usage`.
pub(super) fn played(
    method: &PreparedMethod,
    candidates: &Candidates,
    utility: &[f64],
    usage: impl Fn(&Target) -> Sum,
) -> Sum {
    let mut sum = Sum::default();
    if method.refusal(candidates).is_some() {
        return sum;
    }
    let mut strategy = method.strategy(candidates);
    let mut answer = |question: &Question| {
        if let Some(answer) = method.own_answer(candidates, question) {
            return answer;
        }
        for (_, _, target) in method.parts(candidates, question).into_iter().flatten() {
            sum.add(&usage(&target));
        }
        simulated(question, utility)
    };
    // A method that fails on simulated answers has still asked its questions.
    drop(play(strategy.as_mut(), &mut answer));
    sum
}

/// The answer if the quality of candidates is `utility`.
pub(super) fn simulated(question: &Question, utility: &[f64]) -> Answer {
    let of = |at: &usize| utility.get(*at).copied().unwrap_or(0.0);
    let numbers = |candidates: &[usize], count: usize| {
        let values: Vec<f64> = candidates.iter().map(of).collect();
        let best = best_first(&values).into_iter().take(count);
        Answer::Numbers(best.map(|at| at as i64 + 1).collect())
    };
    match question {
        Question::Rank { candidates } => numbers(candidates, candidates.len()),
        Question::Select { candidates, count } => numbers(candidates, *count),
        Question::Best { candidates } => numbers(candidates, 1),
        Question::Compare { a, b } => Answer::SecondWins(of(b) > of(a)),
        Question::Battle { a, b, .. } => Answer::Margin(if of(b) > of(a) { 1.0 } else { -1.0 }),
        Question::Grade { candidate, .. } => {
            let share = 1.0 + of(candidate) / utility.len().max(1) as f64;
            Answer::Grade(share.clamp(0.0, 1.0))
        }
        Question::Score { candidates } => Answer::Scores(candidates.iter().map(of).collect()),
    }
}
