//! Parses answers to reranking questions. The parser only determines whether there is an answer.
//! The method that asked checks whether its numbers are valid for the question, and repairs them if
//! desired.
//!
//! | reply | strictly | tolerantly |
//! | --- | --- | --- |
//! | `{"ranking": [2, 1]}`, further keys, repeated keys (the last wins), whitespace around it | read | read |
//! | the same after reasoning, in a fence, after prose or a draft | no answer | read |
//! | only `[2] > [1]`, `[2, 1]` or `2, 1`, if numbers are requested | no answer | read |
//! | `2.0`, `"2"` for a number, `"b"` or `"Document B"` for a winner, a line break in a string | no answer | read |
//! | `{"prompt": "…"}`, if instructions are requested: any text that a prompt can hold in their place | read | read |
//! | `true` for a number, `2.5`, a nested list, `null`, two objects that differ, one copied from a document | no answer | no answer |
//! | `Yes` or `No`, with Markdown or a period, if requested; not with other words | no answer | read |

#[cfg(test)]
mod tests;

use super::afterwards::{Favored, Stance};
use super::conclusion::concluded;
use super::error::{NoAnswer, shown};
use super::letter::{AnswerWord, word};
use super::reply_text::unfence;
use super::scan::{self, Statement, with_escaped_controls};
use super::thinking::answer_part;
use super::written::Written;
use crate::domain::candidate_question::{Answer, GradeScale};
use crate::judge::call::{AnswerProbabilities, FailureCause, JudgeReply};
use crate::judge::presented::{PresentedQuestion, RerankAsk};
use crate::judge::prompt::{InstructionsError, check_instructions};
use serde_json::Value;

/// The highest grade of [`GradeScale::ZeroToThree`].
const HIGHEST_GRADE: i64 = 3;

/// Why a reply is not an answer to a reranking question.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAnswer {
    #[error(transparent)]
    NoAnswer(#[from] NoAnswer),
    #[error("the reply is not valid JSON: {0}")]
    NotJson(String),
    /// The key is missing, or has a value of another type.
    #[error("the reply has no {what} in {key:?}")]
    Missing {
        key: &'static str,
        what: &'static str,
    },
    #[error("{key:?} holds something that is not a whole number: {found}")]
    NotInteger { key: &'static str, found: String },
    #[error("the winner is neither A nor B: {0}")]
    NotAWinner(String),
    #[error("the grade is none of 0, 1, 2 and 3: {0}")]
    NotAGrade(String),
    #[error("the reply is neither Yes nor No: {0}")]
    NeitherYesNorNo(String),
    #[error(transparent)]
    NotInstructions(#[from] InstructionsError),
}

impl InvalidAnswer {
    pub fn cause(&self) -> FailureCause {
        match self {
            Self::NoAnswer(why) => why.cause(),
            _ => FailureCause::Malformed,
        }
    }
}

/// The answer in a reply to `question`, parsed by the contract or, if that fails, tolerantly.
///
/// # Errors
/// If the reply contains nothing that could be an answer.
pub fn read_answer(
    question: &PresentedQuestion,
    reply: &JudgeReply,
) -> Result<Answer, InvalidAnswer> {
    let ask = question.ask;
    let shown_texts = question.shown_texts();
    let written = Written::of(reply, &shown_texts);
    read_answer_strictly(question, reply).or_else(|error| {
        if written.outside.is_some() {
            return Err(error);
        }
        let part = answer_part(written.trimmed()?, &written);
        if part.is_empty() {
            return Err(NoAnswer::OnlyThinking.into());
        }
        let answer = match ask {
            RerankAsk::Grade(GradeScale::YesNo) => yes_or_no(part, reply.odds),
            _ => tolerant(ask, part, &written)?,
        };
        match answer {
            Some(answer) => accepted(question, answer),
            None if scan::declines(part) => Err(NoAnswer::Declined(shown(part)).into()),
            None => Err(error),
        }
    })
}

/// The answer in a reply that follows the contract exactly.
///
/// # Errors
/// The first violation of the contract.
pub fn read_answer_strictly(
    question: &PresentedQuestion,
    reply: &JudgeReply,
) -> Result<Answer, InvalidAnswer> {
    let ask = question.ask;
    let read = match ask {
        RerankAsk::Grade(GradeScale::YesNo) => match reply.text.trim() {
            text @ ("Yes" | "No") => yes_or_no(text, reply.odds),
            _ => None,
        }
        .ok_or_else(|| InvalidAnswer::NeitherYesNorNo(shown(reply.text.trim()))),
        _ => match reply.odds.and_then(|odds| from_odds(ask, odds)) {
            Some(answer) => Ok(answer),
            None => serde_json::from_str(&reply.text)
                .map_err(|_| InvalidAnswer::NotJson(shown(reply.text.trim())))
                .and_then(|value| in_object(ask, &value, strict_integer, strict_winner)),
        },
    };
    read.and_then(|answer| accepted(question, answer))
        .map_err(|error| Written::of(reply, &[]).outside_or(error))
}

/// The answer, unless it is a text that cannot replace the instructions shown.
fn accepted(question: &PresentedQuestion, answer: Answer) -> Result<Answer, InvalidAnswer> {
    if let Answer::Text(text) = &answer {
        check_instructions(&question.pool.query, text)?;
    }
    Ok(answer)
}

/// The probability of yes, if `part` is the word yes or no: the model's own probability, or else 1
/// or 0.
fn yes_or_no(part: &str, odds: Option<AnswerProbabilities>) -> Option<Answer> {
    let whole = match word(part)? {
        AnswerWord::Yes => 1.0,
        AnswerWord::No => 0.0,
        _ => return None,
    };
    let ask = RerankAsk::Grade(GradeScale::YesNo);
    odds.and_then(|odds| from_odds(ask, odds))
        .or(Some(Answer::Grade(whole)))
}

/// The answer according to the model's own probabilities, if they are about the answers to `ask`.
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

/// The key of the answer, and the type of its value.
fn contract(ask: RerankAsk) -> (&'static str, &'static str) {
    match ask {
        RerankAsk::Rank => ("ranking", "list"),
        RerankAsk::Select { .. } => ("selected", "list"),
        RerankAsk::Best | RerankAsk::BestWorst => ("best", "number"),
        RerankAsk::Compare | RerankAsk::Link => ("winner", "letter"),
        RerankAsk::Grade(_) => ("grade", "number"),
        RerankAsk::Revise => ("prompt", "text"),
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
    let number_in = |key, value: &Value| {
        integer(value).ok_or_else(|| InvalidAnswer::NotInteger {
            key,
            found: shown(&value.to_string()),
        })
    };
    let number = |value: &Value| number_in(key, value);
    match ask {
        RerankAsk::Rank | RerankAsk::Select { .. } => {
            let list = found.as_array().ok_or_else(missing)?;
            let numbers = list.iter().map(number);
            Ok(Answer::Numbers(numbers.collect::<Result<_, _>>()?))
        }
        RerankAsk::Best => Ok(Answer::Numbers(vec![number(found)?])),
        RerankAsk::BestWorst => {
            let key = "worst";
            let missing = InvalidAnswer::Missing { key, what };
            let worst = value.get(key).ok_or(missing)?;
            Ok(Answer::Numbers(vec![
                number(found)?,
                number_in(key, worst)?,
            ]))
        }
        RerankAsk::Compare | RerankAsk::Link => found
            .as_str()
            .and_then(winner)
            .map(Answer::SecondWins)
            .ok_or_else(|| InvalidAnswer::NotAWinner(shown(&found.to_string()))),
        RerankAsk::Grade(_) => match number(found)? {
            grade @ 0..=HIGHEST_GRADE => Ok(Answer::Grade(grade as f64 / HIGHEST_GRADE as f64)),
            other => Err(InvalidAnswer::NotAGrade(other.to_string())),
        },
        RerankAsk::Revise => found
            .as_str()
            .map(|text| Answer::Text(text.to_owned()))
            .ok_or_else(missing),
    }
}

/// A JSON integer. Integers beyond the range of `i64` are saturated, which is out of range in any
/// case.
fn strict_integer(value: &Value) -> Option<i64> {
    let number = value.as_number()?;
    let text = number.to_string();
    if text.contains(['.', 'e', 'E']) && !beyond(number.as_f64()?) {
        return None;
    }
    Some(number.as_i64().unwrap_or(if text.starts_with('-') {
        i64::MIN
    } else {
        i64::MAX
    }))
}

/// Whether a number exceeds the range of 64-bit integers, so that it was parsed as a float whatever
/// its spelling.
fn beyond(number: f64) -> bool {
    number.abs() >= 9.2e18
}

/// An integer, also if written as a float or as a string.
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

/// The answer in a reply that deviates from the contract; `None` if nothing looks like one.
fn tolerant(
    ask: RerankAsk,
    part: &str,
    written: &Written<'_>,
) -> Result<Option<Answer>, InvalidAnswer> {
    let (key, _) = contract(ask);
    let read = |statement: &Statement<'_>| match statement {
        Statement::Object { text, .. } => {
            let value = serde_json::from_str(&with_escaped_controls(text));
            let value = value.map_err(|_| InvalidAnswer::NotJson(shown(text)))?;
            in_object(ask, &value, tolerant_integer, tolerant_winner)
        }
        Statement::Tag { value, .. } => Err(InvalidAnswer::NotJson(shown(value))),
    };
    let object = unfence(part);
    // The contract has no thoughts, so an answer that is the whole reply may also be in a document
    // by chance.
    if scan::is_object(object) {
        let range = 0..object.len();
        let text = object;
        return read(&Statement::Object { range, text }).map(Some);
    }
    Ok(concluded(written, part, key, read, stance)?
        .map(|(answer, _)| answer)
        .or_else(|| bare(ask, part)))
}

fn stance(answer: &Answer) -> Stance {
    let favored = match answer {
        Answer::SecondWins(true) => Some(Favored::Second),
        Answer::SecondWins(false) => Some(Favored::First),
        _ => None,
    };
    Stance {
        favored,
        score: None,
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
        RerankAsk::BestWorst | RerankAsk::Revise => None,
        RerankAsk::Grade(_) => {
            let grade: i64 = text.parse().ok()?;
            (0..=HIGHEST_GRADE)
                .contains(&grade)
                .then_some(Answer::Grade(grade as f64 / HIGHEST_GRADE as f64))
        }
    }
}
