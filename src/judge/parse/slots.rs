//! Parses picks: the slots that a judge names. Nothing is repaired: an answer that does not match
//! the question is invalid.

use super::afterwards::Stance;
use super::conclusion::concluded;
use super::error::NoAnswer;
use super::reply_text::unfence;
use super::scan::{Statement, is_json, with_escaped_controls};
use super::thinking::answer_part;
use super::written::Written;
use crate::domain::adjudication::{InvalidPick, PickRequest, SlotsReply};
use serde_json::Value;
use std::borrow::Cow;

/// The positions picked among `count` documents, from 0, with the accompanying thoughts; or why the
/// reply is invalid.
///
/// The object may come after reasoning, a draft or other words, and in a fence.
pub fn slots(
    written: Written<'_>,
    count: usize,
    ask: PickRequest,
) -> Result<(Vec<usize>, Vec<String>), InvalidPick> {
    let object = object(&written, "slots")?;
    let reply: SlotsReply = serde_json::from_str(&object).map_err(|_| InvalidPick::NoSlots)?;
    let picks = reply.picks(count, ask)?;
    Ok((picks, thoughts(&object)))
}

/// The JSON of an answer whose list is in `key`.
pub(super) fn object<'a>(
    written: &Written<'a>,
    key: &'static str,
) -> Result<Cow<'a, str>, InvalidPick> {
    let text = written.trimmed().map_err(|_| InvalidPick::NotJson)?;
    let part = match written.outside {
        Some(_) => text,
        None => answer_part(text, written),
    };
    let json = with_escaped_controls(unfence(part));
    // Decode the whole text: decoding stops at the first unexpected value, before it is known
    // whether the rest is JSON.
    if is_json(&json) {
        return if written.is_copied(&json, key) {
            Err(InvalidPick::Copied)
        } else {
            Ok(json)
        };
    }
    if written.outside.is_some() {
        return Err(InvalidPick::OutsideContent);
    }
    let list = |statement: &Statement<'_>| match statement {
        Statement::Object { text, .. } => serde_json::from_str(&with_escaped_controls(text))
            .ok()
            .and_then(|object: Value| object.get(key).cloned())
            .ok_or(InvalidPick::NotJson),
        Statement::Tag { .. } => Err(InvalidPick::NotJson),
    };
    match concluded(written, part, key, list, |_| Stance::default())? {
        Some((_, Statement::Object { text, .. })) => Ok(with_escaped_controls(text)),
        _ => Err(InvalidPick::NotJson),
    }
}

impl From<NoAnswer> for InvalidPick {
    fn from(why: NoAnswer) -> Self {
        match why {
            NoAnswer::Copied => Self::Copied,
            NoAnswer::Differ | NoAnswer::TakenBack(_) => Self::Contradictory,
            NoAnswer::OutsideContent { .. } => Self::OutsideContent,
            NoAnswer::Empty
            | NoAnswer::OnlyThinking
            | NoAnswer::Declined(_)
            | NoAnswer::Unfinished => Self::NotJson,
        }
    }
}

/// The thoughts of an answer; empty if they are not a list of strings.
pub(super) fn thoughts(object: &str) -> Vec<String> {
    let value: Option<Value> = serde_json::from_str(object).ok();
    let thoughts = value.and_then(|value| Some(value.get("thoughts")?.as_array()?.clone()));
    thoughts
        .into_iter()
        .flatten()
        .filter_map(|thought| Some(thought.as_str()?.to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picks_are_read_with_their_thoughts() {
        let read = |text: &str| slots(text.into(), 10, PickRequest::Exactly(2));
        let thoughts = vec!["it \"says\" so".to_owned()];
        let plain = r#"{"thoughts": ["it \"says\" so", 7], "slots": [10, 1]}"#;
        for text in [
            plain.to_owned(),
            format!("\u{feff} ```json\n{plain}\n```\n"),
            format!("<think>slots: [3]</think>\n{plain}"),
            format!("{{\"slots\": [3]}}? No.\n</think>\n{plain}"),
            format!("Maybe {{\"slots\": [3]}}? No, two of them say so:\n{plain}"),
            format!("Sure: {plain}"),
        ] {
            assert_eq!(read(&text), Ok((vec![9, 0], thoughts.clone())), "{text}");
        }
        assert_eq!(
            slots(r#"{"slots":[]}"#.into(), 10, PickRequest::AnyNumber),
            Ok((vec![], vec![]))
        );
    }

    #[test]
    fn what_is_no_answer_is_not_made_one() {
        let cause = |text: &str| {
            slots(text.into(), 10, PickRequest::Exactly(2))
                .unwrap_err()
                .cause()
        };
        for (text, expected) in [
            ("", "not-json"),
            ("2 and 5", "not-json"),
            (r#"<think>{"slots":[2,5]}</think>"#, "not-json"),
            (r#"{"slots":[2,5]} or {"slots":[5,2]}"#, "contradictory"),
            ("{\"slots\":[2,5]}\nWait, no.", "contradictory"),
            (r#"{"slots":[2,5]"#, "not-json"),
            ("[2,5]", "no-slots"),
            (r#"{"slots":"2,5"}"#, "no-slots"),
            (r#"{"slots":[2.0,5]}"#, "no-slots"),
            (r#"{"slots":["2","5"]}"#, "no-slots"),
            (r#"{"picks":[2,5]}"#, "no-slots"),
            (r#"{"slots":[2]}"#, "wrong-count"),
            (r#"{"slots":[2,2]}"#, "duplicate"),
            (r#"{"slots":[2,11]}"#, "out-of-range"),
        ] {
            assert_eq!(cause(text), expected, "{text}");
        }
    }
}
