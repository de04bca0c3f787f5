//! Answers to reranking questions. A reader says what was answered, or that nothing was; whether the numbers are those that
//! the question allows is checked, and repaired where that is wanted, by the method that asked.
//!
//! | reply | strictly | tolerantly |
//! | --- | --- | --- |
//! | `{"ranking": [2, 1]}`, further keys, the last of two equal ones, white space around it | read | read |
//! | a fence, a byte order mark, a leading `<think>…</think>`, prose around one object | no answer | read |
//! | `[2] > [1]`, `[2, 1]`, `2, 1` and nothing else, where numbers are asked for | no answer | read |
//! | `2.0`, `"2"` for a number, `"b"` or `"Document B"` for a winner | no answer | read |
//! | `true` for a number, `2.5`, a nested list, `null`, two objects with the key | no answer | no answer |

#[cfg(test)]
mod tests;

use super::error::shown;
use super::reply_text::trimmed;
use super::scan;
use crate::domain::reranking::{Answer, GradeScale};
use crate::judge::call::{AnswerProbabilities, FailureCause, JudgeReply};
use crate::judge::presented::{PresentedQuestion, RerankAsk};
use serde_json::Value;

/// The highest grade of [`GradeScale::ZeroToThree`].
const HIGHEST_GRADE: i64 = 3;

/// Why a reply is no answer to a reranking question.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAnswer {
    #[error("the reply is empty")]
    Empty,
    #[error("the model declined to answer: {0}")]
    Declined(String),
    #[error("the reply is not valid JSON")]
    NotJson,
    /// The key is missing, or holds another kind of value.
    #[error("the reply has no {what} in {key:?}")]
    Missing {
        key: &'static str,
        what: &'static str,
    },
    #[error("{key:?} holds something that is no whole number: {found}")]
    NotInteger { key: &'static str, found: String },
    #[error("the winner is neither A nor B: {0}")]
    NotAWinner(String),
    #[error("the grade is none of 0, 1, 2 and 3: {0}")]
    NotAGrade(String),
    #[error("the reply is neither Yes nor No: {0}")]
    NeitherYesNorNo(String),
}

impl InvalidAnswer {
    pub fn cause(&self) -> FailureCause {
        match self {
            Self::Declined(_) => FailureCause::Refused,
            _ => FailureCause::Malformed,
        }
    }
}

/// The answer in a reply to `question`, by the contract or, where that fails, by what models make of it.
///
/// # Errors
/// The reply says nothing that could be an answer.
pub fn read_answer(
    question: &PresentedQuestion,
    reply: &JudgeReply,
) -> Result<Answer, InvalidAnswer> {
    let ask = question.ask;
    read_answer_strictly(question, reply).or_else(|error| {
        let text = trimmed(&reply.text).map_err(|_| InvalidAnswer::Empty)?;
        let text = scan::without_thinking(text);
        if text.is_empty() {
            return Err(InvalidAnswer::Empty);
        }
        match tolerant(ask, text) {
            Some(answer) => answer,
            None if scan::declines(text) => Err(InvalidAnswer::Declined(shown(text))),
            None => Err(error),
        }
    })
}

/// The answer in a reply that keeps to the contract to the letter.
///
/// # Errors
/// What of the contract it breaks first.
pub fn read_answer_strictly(
    question: &PresentedQuestion,
    reply: &JudgeReply,
) -> Result<Answer, InvalidAnswer> {
    let ask = question.ask;
    if let Some(answer) = reply.odds.and_then(|odds| from_odds(ask, odds)) {
        return Ok(answer);
    }
    if ask == RerankAsk::Grade(GradeScale::YesNo) {
        return match reply.text.trim() {
            "Yes" => Ok(Answer::Grade(1.0)),
            "No" => Ok(Answer::Grade(0.0)),
            other => Err(InvalidAnswer::NeitherYesNorNo(shown(other))),
        };
    }
    let value = serde_json::from_str(&reply.text).map_err(|_| InvalidAnswer::NotJson)?;
    in_object(ask, &value, strict_integer, strict_winner)
}

/// What the model's own probabilities say, where they are of the answers to `ask`.
fn from_odds(ask: RerankAsk, odds: AnswerProbabilities) -> Option<Answer> {
    let whole = odds.a + odds.b;
    if !whole.is_finite() || whole <= 0.0 || odds.a < 0.0 || odds.b < 0.0 {
        return None;
    }
    match ask {
        RerankAsk::Grade(GradeScale::YesNo) => Some(Answer::Grade(odds.a / whole)),
        RerankAsk::Compare => Some(Answer::SecondWins(odds.b > odds.a)),
        _ => None,
    }
}

/// The key of the answer, and what its value is.
fn contract(ask: RerankAsk) -> (&'static str, &'static str) {
    match ask {
        RerankAsk::Rank => ("ranking", "list"),
        RerankAsk::Select { .. } => ("selected", "list"),
        RerankAsk::Best => ("best", "number"),
        RerankAsk::Compare | RerankAsk::Link => ("winner", "letter"),
        RerankAsk::Grade(_) => ("grade", "number"),
    }
}

fn in_object(
    ask: RerankAsk,
    value: &Value,
    integer: fn(&Value) -> Option<i64>,
    winner: fn(&str) -> Option<bool>,
) -> Result<Answer, InvalidAnswer> {
    let (key, what) = contract(ask);
    let missing = || InvalidAnswer::Missing { key, what };
    let found = value.get(key).ok_or_else(missing)?;
    let number = |value: &Value| {
        integer(value).ok_or_else(|| InvalidAnswer::NotInteger {
            key,
            found: shown(&value.to_string()),
        })
    };
    match ask {
        RerankAsk::Rank | RerankAsk::Select { .. } => {
            let list = found.as_array().ok_or_else(missing)?;
            let numbers = list.iter().map(number);
            Ok(Answer::Numbers(numbers.collect::<Result<_, _>>()?))
        }
        RerankAsk::Best => Ok(Answer::Numbers(vec![number(found)?])),
        RerankAsk::Compare | RerankAsk::Link => {
            let text = found.as_str();
            let wins = text.and_then(winner);
            wins.map(Answer::SecondWins)
                .ok_or_else(|| InvalidAnswer::NotAWinner(shown(&found.to_string())))
        }
        RerankAsk::Grade(_) => match number(found)? {
            grade @ 0..=HIGHEST_GRADE => Ok(Answer::Grade(grade as f64 / HIGHEST_GRADE as f64)),
            other => Err(InvalidAnswer::NotAGrade(other.to_string())),
        },
    }
}

/// A JSON integer. One that no counter holds is as far out of range as can be said.
fn strict_integer(value: &Value) -> Option<i64> {
    let number = value.as_number()?;
    let text = number.to_string();
    if text.contains(['.', 'e', 'E']) && !beyond(number.as_f64()?) {
        return None;
    }
    Some(number.as_i64().unwrap_or(match text.starts_with('-') {
        true => i64::MIN,
        false => i64::MAX,
    }))
}

/// Whether a number is larger than an integer of 64 bits can be, so that it was read as a float whatever its spelling.
fn beyond(number: f64) -> bool {
    number.abs() >= 9.2e18
}

/// The same, written as a float or as text.
fn tolerant_integer(value: &Value) -> Option<i64> {
    let whole = |number: f64| (number.fract() == 0.0 && !beyond(number)).then_some(number as i64);
    match value {
        Value::String(text) => text.trim().trim_matches(['[', ']']).parse().ok(),
        Value::Number(number) => strict_integer(value).or_else(|| number.as_f64().and_then(whole)),
        _ => None,
    }
}

fn strict_winner(text: &str) -> Option<bool> {
    match text {
        "A" => Some(false),
        "B" => Some(true),
        _ => None,
    }
}

fn tolerant_winner(text: &str) -> Option<bool> {
    let word = text
        .trim_matches(|c: char| c.is_whitespace() || "\"'`*.()[]".contains(c))
        .to_ascii_lowercase();
    match word.as_str() {
        "a" | "document a" | "passage a" => Some(false),
        "b" | "document b" | "passage b" => Some(true),
        _ => None,
    }
}

/// The answer in what a model has made of the contract; `None` where nothing looks like one.
fn tolerant(ask: RerankAsk, text: &str) -> Option<Result<Answer, InvalidAnswer>> {
    if ask == RerankAsk::Grade(GradeScale::YesNo) {
        let first = text
            .split(|c: char| !c.is_alphabetic())
            .find(|word| !word.is_empty())?;
        return match first.to_ascii_lowercase().as_str() {
            "yes" => Some(Ok(Answer::Grade(1.0))),
            "no" => Some(Ok(Answer::Grade(0.0))),
            _ => None,
        };
    }
    let (key, _) = contract(ask);
    match scan::object(text, key) {
        Ok(Some(object)) => {
            let value = serde_json::from_str(object).ok()?;
            Some(in_object(ask, &value, tolerant_integer, tolerant_winner))
        }
        Ok(None) => bare(ask, text).map(Ok),
        // Two answers, or half of one, are none.
        Err(_) => None,
    }
}

/// An answer without an object around it.
fn bare(ask: RerankAsk, text: &str) -> Option<Answer> {
    let text = text.trim_matches('`').trim();
    match ask {
        RerankAsk::Compare | RerankAsk::Link => tolerant_winner(text).map(Answer::SecondWins),
        RerankAsk::Rank | RerankAsk::Select { .. } | RerankAsk::Best => {
            let plain = |c: char| c.is_ascii_digit() || c.is_whitespace() || "[]>,".contains(c);
            if !text.chars().all(plain) {
                return None;
            }
            let numbers = text.split(|c: char| !c.is_ascii_digit());
            let numbers: Option<Vec<i64>> = numbers
                .filter(|number| !number.is_empty())
                .map(|number| number.parse().ok())
                .collect();
            let numbers = numbers.filter(|numbers| !numbers.is_empty())?;
            let one = ask != RerankAsk::Best || numbers.len() == 1;
            one.then_some(Answer::Numbers(numbers))
        }
        RerankAsk::Grade(_) => {
            let grade: i64 = text.parse().ok()?;
            let fits = (0..=HIGHEST_GRADE).contains(&grade);
            fits.then_some(Answer::Grade(grade as f64 / HIGHEST_GRADE as f64))
        }
    }
}
