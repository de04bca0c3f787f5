//! Parses the opinion in a reply: first by the contract, then tolerantly of common deviations.

use super::afterwards::{Favored, Stance};
use super::choice::{from_odds, margin as choice_margin};
use super::conclusion::concluded;
use super::error::{NoAnswer, ParseError, shown};
use super::letter::{AnswerWord, word};
use super::number;
use super::reply_text::{ReplyFields, lines, thoughts, unfence};
use super::scan::{self, Statement, with_escaped_controls};
use super::thinking::answer_part;
use super::written::Written;
use crate::domain::vote::Margin;
use crate::judge::call::{AnswerProbabilities, Opinion};
use std::borrow::Cow;

/// Converts a value to a margin.
type ReadMargin = fn(&str) -> Result<Margin, ParseError>;

/// The opinion in a reply with a score, parsed strictly or, if that fails, tolerantly.
pub fn score(written: Written<'_>) -> Result<Opinion, ParseError> {
    read(&written, "score", number::strict, number::tolerant)
}

/// The opinion in `{"thoughts": […], "choice": "A" | "B" | "tie"}`, as tolerant as [`score`].
pub fn choice(written: Written<'_>) -> Result<Opinion, ParseError> {
    read(&written, "choice", choice_margin, choice_margin)
}

/// The opinion in a reply with a score that follows the contract: one object, optionally in a
/// `json` fence.
pub fn strict_score(text: &str) -> Result<Opinion, ParseError> {
    by_contract(Written::from(text).trimmed()?, "score", number::strict)
}

/// The opinion in a reply with a choice that follows the contract.
pub fn strict_choice(text: &str) -> Result<Opinion, ParseError> {
    by_contract(Written::from(text).trimmed()?, "choice", choice_margin)
}

/// Whether a reply is a single letter and nothing else.
pub fn strict_letter(text: &str) -> bool {
    matches!(text.trim(), "A" | "B" | "T")
}

/// The reasoning of a letter without probabilities.
pub const WITHOUT_PROBABILITIES: &str = "one letter, without the model's probabilities";

/// The opinion in a reply of one letter, after any reasoning. If the model's own probabilities are
/// known, the margin is the probability of B minus that of A, relative to the total including ties,
/// and 0 if a tie is most likely; without them it is −1, 0 or 1.
pub fn letter(
    written: Written<'_>,
    odds: Option<AnswerProbabilities>,
) -> Result<Opinion, ParseError> {
    let text = written.trimmed()?;
    let part = match written.outside {
        Some(_) => text,
        None => answer_part(text, &written),
    };
    if part.is_empty() {
        return Err(NoAnswer::OnlyThinking.into());
    }
    let margin = match word(part) {
        Some(AnswerWord::A) => -1.0,
        Some(AnswerWord::B) => 1.0,
        Some(AnswerWord::Tie) => 0.0,
        _ if written.outside.is_none() && scan::declines(part) => {
            return Err(NoAnswer::Declined(shown(part)).into());
        }
        _ => return Err(written.outside_or(ParseError::NotALetter(shown(part)))),
    };
    if let Some(opinion) = odds.and_then(from_odds) {
        return Ok(opinion);
    }
    Ok(Opinion {
        margin: Margin::new(margin).ok_or_else(|| ParseError::NotALetter(shown(part)))?,
        thoughts: vec![WITHOUT_PROBABILITIES.to_owned()],
    })
}

fn read(
    written: &Written<'_>,
    key: &'static str,
    strict: ReadMargin,
    tolerant: ReadMargin,
) -> Result<Opinion, ParseError> {
    let text = written.trimmed()?;
    let own = |opinion: Opinion, part: &str| {
        if written.is_copied(unfence(part), key) {
            Err(NoAnswer::Copied.into())
        } else {
            Ok(opinion)
        }
    };
    if written.outside.is_some() {
        return by_contract(text, key, strict)
            .map_err(|error| written.outside_or(error))
            .and_then(|opinion| own(opinion, text));
    }
    let part = answer_part(text, written);
    if part.is_empty() {
        return Err(NoAnswer::OnlyThinking.into());
    }
    match by_contract(part, key, strict) {
        Ok(opinion) => own(opinion, part),
        Err(error) => concluding(written, part, key, tolerant, error),
    }
}

fn by_contract(text: &str, key: &'static str, margin: ReadMargin) -> Result<Opinion, ParseError> {
    let object = unfence(text);
    if !object.starts_with('{') {
        return Err(ParseError::NotAnObject);
    }
    in_object(object, key, margin)
}

fn in_object(object: &str, key: &'static str, margin: ReadMargin) -> Result<Opinion, ParseError> {
    let fields = ReplyFields::read(object)?;
    Ok(Opinion {
        margin: margin(fields.one(key)?)?,
        thoughts: thoughts(fields.one("thoughts")?)?,
    })
}

/// The final opinion in `part` of a reply; `error` if there is none.
fn concluding(
    written: &Written<'_>,
    part: &str,
    key: &'static str,
    margin: ReadMargin,
    error: ParseError,
) -> Result<Opinion, ParseError> {
    let opinion = |statement: &Statement<'_>| match statement {
        Statement::Object { text, .. } => {
            let object = with_escaped_controls(text);
            let object = match key {
                "score" => Cow::Owned(number::respelt(&object).into_owned()),
                _ => object,
            };
            in_object(&object, key, margin)
        }
        Statement::Tag { value, range } => Ok(Opinion {
            margin: margin(value)?,
            thoughts: lines(&format!("{}\n{}", &part[..range.start], &part[range.end..])),
        }),
    };
    let found = concluded(
        written,
        part,
        key,
        |statement| opinion(statement).map(|opinion| opinion.margin),
        |margin| stance(*margin, key),
    )?;
    match found {
        Some((_, statement)) => opinion(&statement),
        None if scan::declines(part) => Err(NoAnswer::Declined(shown(part)).into()),
        None => Err(error),
    }
}

fn stance(margin: Margin, key: &str) -> Stance {
    let margin = margin.get();
    Stance {
        favored: Some(if margin < 0.0 {
            Favored::First
        } else if margin > 0.0 {
            Favored::Second
        } else {
            Favored::Neither
        }),
        score: (key == "score").then_some(margin),
    }
}
