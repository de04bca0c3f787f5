//! Parses verdicts: a judge's verdict on each document, with the sentence that proves it. Nothing
//! is repaired.

use super::slots::{object, thoughts};
use super::written::Written;
use crate::domain::adjudication::{InvalidPick, SlotVerdict, VerdictsReply};

/// The verdicts on the documents with these texts, by slot, with the accompanying thoughts; or why
/// the reply is invalid.
///
/// The object may be surrounded by the same things as for [`slots`](super::slots()).
pub fn verdicts(
    written: Written<'_>,
    documents: &[impl AsRef<str>],
) -> Result<(Vec<SlotVerdict>, Vec<String>), InvalidPick> {
    let object = object(&written, "verdicts")?;
    let reply: VerdictsReply =
        serde_json::from_str(&object).map_err(|_| InvalidPick::NoVerdicts)?;
    Ok((reply.check(documents)?, thoughts(&object)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: [&str; 2] = ["Fever is common.", "Bread."];

    #[test]
    fn verdicts_are_read_with_their_thoughts() {
        let plain = r#"{"thoughts":["so"],"verdicts":[{"slot":2,"sentence":null,"verdict":"not_enough"},{"slot":1,"sentence":"fever is common","verdict":"supports"}]}"#;
        for text in [
            plain.to_owned(),
            format!("```json\n{plain}\n```"),
            format!("<think>{{}}</think>{plain}"),
        ] {
            let (verdicts, thoughts) = super::verdicts(text.as_str().into(), &TEXTS).unwrap();
            assert_eq!((verdicts[0].slot, thoughts), (1, vec!["so".to_owned()]));
        }
    }

    #[test]
    fn what_is_no_list_of_verdicts_is_none() {
        let cause = |text: &str| verdicts(text.into(), &TEXTS).unwrap_err().cause();
        for (text, expected) in [
            ("", "not-json"),
            ("slot 1 supports", "not-json"),
            (r#"{"verdicts":[]} so"#, "contradictory"),
            (r#"{"slots":[1]}"#, "no-verdicts"),
            (r#"{"verdicts":{"1":"supports"}}"#, "no-verdicts"),
            (r#"{"verdicts":["supports","refutes"]}"#, "no-verdicts"),
            (
                r#"{"verdicts":[{"slot":1.0,"verdict":"supports"}]}"#,
                "no-verdicts",
            ),
            (
                r#"{"verdicts":[{"slot":"1","verdict":"supports"}]}"#,
                "no-verdicts",
            ),
            (r#"{"verdicts":[{"slot":1,"verdict":null}]}"#, "no-verdicts"),
            (
                r#"{"verdicts":[{"slot":1,"verdict":"supports","sentence":["a"]}]}"#,
                "no-verdicts",
            ),
            (
                r#"{"verdicts":[{"slot":1,"slot":2,"verdict":"not_enough"}]}"#,
                "no-verdicts",
            ),
            (r#"{"verdicts":[],"verdicts":[]}"#, "no-verdicts"),
            (
                r#"{"verdicts":[{"slot":1,"verdict":"not_enough"}]}"#,
                "missing-slot",
            ),
        ] {
            assert_eq!(cause(text), expected, "{text}");
        }
    }
}
