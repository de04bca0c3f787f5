//! Picks: the slots that a judge names. Nothing is repaired: an answer keeps to the question, or it is invalid.

use super::reply_text::{trimmed, unfence};
use super::scan;
use crate::domain::adjudication::{InvalidPick, PickRequest, SlotsReply};
use serde::de::IgnoredAny;
use serde_json::Value;

/// The positions picked among `count` documents, from 0, with the thoughts beside them; or why the reply is no answer.
///
/// White space, a byte order mark, a `json` fence and a leading `<think>…</think>` may stand around the object.
pub fn slots(
    text: &str,
    count: usize,
    ask: PickRequest,
) -> Result<(Vec<usize>, Vec<String>), InvalidPick> {
    let object = whole(text)?;
    let reply: SlotsReply = serde_json::from_str(object).map_err(|_| InvalidPick::NoSlots)?;
    let picks = reply.picks(count, ask)?;
    Ok((picks, thoughts(object)))
}

/// The JSON of a reply, which nothing but what [`slots`] names stands around.
pub(super) fn whole(text: &str) -> Result<&str, InvalidPick> {
    let text = trimmed(text).map_err(|_| InvalidPick::NotJson)?;
    let object = unfence(scan::without_thinking(text));
    // The whole text: decoding stops at what is no reply, before it is known whether the rest is JSON.
    let _: IgnoredAny = serde_json::from_str(object).map_err(|_| InvalidPick::NotJson)?;
    Ok(object)
}

/// The thoughts of an answer, none where they are not a list of texts.
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
        let read = |text: &str| slots(text, 10, PickRequest::Exactly(2));
        let thoughts = vec!["it \"says\" so".to_owned()];
        let plain = r#"{"thoughts": ["it \"says\" so", 7], "slots": [10, 1]}"#;
        for text in [
            plain.to_owned(),
            format!("\u{feff} ```json\n{plain}\n```\n"),
            format!("<think>slots: [3]</think>\n{plain}"),
        ] {
            assert_eq!(read(&text), Ok((vec![9, 0], thoughts.clone())), "{text}");
        }
        assert_eq!(
            slots(r#"{"slots":[]}"#, 10, PickRequest::AnyNumber),
            Ok((vec![], vec![]))
        );
    }

    #[test]
    fn what_is_no_answer_is_not_made_one() {
        let cause = |text: &str| {
            slots(text, 10, PickRequest::Exactly(2))
                .unwrap_err()
                .cause()
        };
        for (text, expected) in [
            ("", "not-json"),
            ("2 and 5", "not-json"),
            (r#"Sure: {"slots":[2,5]}"#, "not-json"),
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
