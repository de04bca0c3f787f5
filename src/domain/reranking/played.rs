//! A strategy played to its end with answers that are there already.

use super::{Answer, Question, Ranking, Strategy};

/// The outcome of a strategy.
#[derive(Clone, Debug, PartialEq)]
pub struct Played {
    pub ranking: Ranking,
    pub calls: usize,
    /// Texts that were shown, over all calls: what the tokens of the prompts grow with.
    pub shown: usize,
    /// How often answers had to be waited for, where everything that can be asked at once is.
    pub waits: usize,
    /// Answers that had to be repaired.
    pub repairs: usize,
}

/// Plays a strategy with these answers.
///
/// # Errors
/// Why the query failed, see [`Strategy::answer`].
pub fn play(
    strategy: &mut dyn Strategy,
    answer: &mut dyn FnMut(&Question) -> Answer,
) -> Result<Played, String> {
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
    let unfinished = || "the method ended without an order".to_owned();
    Ok(Played {
        ranking: strategy.outcome().ok_or_else(unfinished)?,
        calls,
        shown,
        waits,
        repairs: strategy.repairs(),
    })
}
