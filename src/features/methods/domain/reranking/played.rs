//! Runs a strategy to completion with immediately available answers.

use super::{AnswerError, Ranking, Strategy};
use crate::domain::candidate_question::{Answer, Question};

/// The result of a strategy.
#[derive(Clone, Debug, PartialEq)]
pub struct Played {
    pub ranking: Ranking,
    pub calls: usize,
    /// Number of texts shown, over all calls, which determines the prompt tokens.
    pub shown: usize,
    /// Number of rounds of waiting if everything that can be asked at once is.
    pub waits: usize,
    /// Answers that had to be repaired.
    pub repairs: usize,
}

/// Runs a strategy with these answers.
///
/// # Errors
/// The reason why the query failed, see [`Strategy::answer`].
pub fn play(
    strategy: &mut dyn Strategy,
    answer: &mut dyn FnMut(&Question) -> Answer,
) -> Result<Played, AnswerError> {
    let (mut calls, mut shown, mut waits) = (0, 0, 0);
    loop {
        let asked = strategy.next();
        if asked.is_empty() {
            break;
        }
        waits += 1;
        for call in asked {
            calls += 1;
            shown += call.question.shown().len();
            strategy.answer(call.id, answer(&call.question))?;
        }
    }
    Ok(Played {
        ranking: strategy.outcome().ok_or(AnswerError::NoOrder)?,
        calls,
        shown,
        waits,
        repairs: strategy.repairs(),
    })
}
