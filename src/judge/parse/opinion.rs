//! The opinion in a reply, read first by the contract and then once more for what models do to it.

use super::choice::{from_odds, margin as choice_margin};
use super::error::{ParseError, shown};
use super::reply_text::{ReplyFields, lines, thoughts, trimmed, unfence};
use super::{number, scan};
use crate::domain::vote::Margin;
use crate::judge::call::{AnswerProbabilities, Opinion};

/// The opinion in a judge's reply, read strictly or, where that fails, tolerantly.
pub fn parse(text: &str) -> Result<Opinion, ParseError> {
    strict(text).or_else(|error| tolerant(text, "score", &error))
}

/// The opinion in a reply with a choice that keeps to the contract.
pub fn strict_choice(text: &str) -> Result<Opinion, ParseError> {
    by_contract(text, "choice", choice_margin)
}

/// Whether a reply is one letter and nothing else.
pub fn strict_letter(text: &str) -> bool {
    matches!(text.trim(), "A" | "B" | "T")
}

/// The opinion in `{"thoughts": […], "choice": "A" | "B" | "tie"}`, as tolerantly as [`parse`].
pub fn choice(text: &str) -> Result<Opinion, ParseError> {
    strict_choice(text).or_else(|error| tolerant(text, "choice", &error))
}

/// The reasoning of a letter that came alone.
pub const WITHOUT_PROBABILITIES: &str = "one letter, without the model's probabilities";

/// The opinion in a reply of one letter. Where the model's own probabilities are known, the margin is the probability
/// of B less that of A, tie included in the whole, and 0 where a tie is the likeliest; without them it is −1, 0 or 1.
pub fn letter(text: &str, odds: Option<AnswerProbabilities>) -> Result<Opinion, ParseError> {
    if let Some(opinion) = odds.and_then(from_odds) {
        return Ok(opinion);
    }
    let text = scan::without_thinking(trimmed(text)?);
    if text.is_empty() {
        return Err(ParseError::Empty);
    }
    match choice_margin(text) {
        Ok(margin) => Ok(Opinion {
            margin,
            thoughts: vec![WITHOUT_PROBABILITIES.to_owned()],
        }),
        Err(_) if scan::declines(text) => Err(ParseError::Declined(shown(text))),
        Err(error) => choice(text).map_err(|_| error),
    }
}

/// The opinion in a reply with a score that keeps to the contract: one object, in a `json` fence at most.
pub fn strict(text: &str) -> Result<Opinion, ParseError> {
    by_contract(text, "score", number::strict)
}

fn by_contract(
    text: &str,
    key: &'static str,
    margin: fn(&str) -> Result<Margin, ParseError>,
) -> Result<Opinion, ParseError> {
    let object = unfence(trimmed(text)?);
    if !object.starts_with('{') {
        return Err(ParseError::NotAnObject);
    }
    let fields = ReplyFields::read(object)?;
    Ok(Opinion {
        margin: margin(fields.one(key)?)?,
        thoughts: thoughts(fields.one("thoughts")?)?,
    })
}

/// The opinion in the one object of `text` that has `key`, or in its one tag of that name.
fn tolerant(text: &str, key: &'static str, error: &ParseError) -> Result<Opinion, ParseError> {
    let text = scan::without_thinking(trimmed(text)?);
    if text.is_empty() {
        return Err(ParseError::Empty);
    }
    let margin = |raw: &str| match key {
        "score" => number::tolerant(raw),
        _ => choice_margin(raw),
    };
    let tagged = match scan::tag(text, key)? {
        Some((value, around)) => Some((margin(value)?, around)),
        None => None,
    };
    match (scan::object(text, key)?, tagged) {
        (Some(object), tagged) => {
            let object = match key {
                "score" => number::respelt(object),
                _ => object.into(),
            };
            let fields = ReplyFields::read(&object)?;
            let found = margin(fields.one(key)?)?;
            if tagged.is_some_and(|(tagged, _)| tagged != found) {
                return Err(ParseError::Duplicate(key));
            }
            Ok(Opinion {
                margin: found,
                thoughts: thoughts(fields.one("thoughts")?)?,
            })
        }
        (None, Some((margin, around))) => Ok(Opinion {
            margin,
            thoughts: lines(&around),
        }),
        (None, None) if scan::declines(text) => Err(ParseError::Declined(shown(text))),
        (None, None) => Err(error.clone()),
    }
}
