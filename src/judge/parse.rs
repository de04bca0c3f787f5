//! Reply text to opinion, strictly: one JSON object `{"thoughts": [string…] or string, "score": number in -1..=1}`.

use super::Opinion;
use crate::domain::vote::Margin;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// The most characters of a reply repeated in a message.
const SHOWN: usize = 40;

/// Why a reply is not an opinion.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// Nothing but white space.
    #[error("the reply is empty")]
    Empty,
    /// A code fence that is not one closed pair around the object, marked `json`.
    #[error("the reply's code fence is not a single closed ```json fence")]
    Fence,
    /// Text, a list, a number.
    #[error("the reply is not a JSON object")]
    NotAnObject,
    /// Broken JSON, or something after the object.
    #[error("the reply is not valid JSON: {0}")]
    Json(String),
    /// A key that counts is there twice.
    #[error("the reply has more than one \"{0}\"")]
    Duplicate(&'static str),
    /// No `score`.
    #[error("the reply has no \"score\"")]
    MissingScore,
    /// `score` is a string, a list, `null`.
    #[error("\"score\" is not a number: {0}")]
    ScoreNotNumber(String),
    /// `score` is beyond what a float holds.
    #[error("\"score\" is not a finite number: {0}")]
    ScoreNotFinite(String),
    /// `score` is a number outside −1..=1.
    #[error("\"score\" is not between -1 and 1: {0}")]
    ScoreOutOfRange(String),
    /// No `thoughts`.
    #[error("the reply has no \"thoughts\"")]
    MissingThoughts,
    /// `thoughts` is neither a string nor a list of strings.
    #[error("\"thoughts\" is neither a string nor a list of strings")]
    ThoughtsNotText,
}

/// The opinion in a judge's reply. White space and a byte order mark around it, one `json` code fence and further keys
/// are accepted; a single string of thoughts becomes one thought a line.
pub fn parse(text: &str) -> Result<Opinion, ParseError> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Err(ParseError::Empty);
    }
    let object = unfence(text)?;
    if !object.starts_with('{') {
        return Err(ParseError::NotAnObject);
    }
    let fields: Fields =
        serde_json::from_str(object).map_err(|error| ParseError::Json(error.to_string()))?;
    let score = score(single(&fields.scores, "score")?.ok_or(ParseError::MissingScore)?)?;
    let thoughts =
        thoughts(single(&fields.thoughts, "thoughts")?.ok_or(ParseError::MissingThoughts)?)?;
    Ok(Opinion {
        margin: score,
        thoughts,
    })
}

/// What is inside the code fence, or all of it where there is none.
fn unfence(text: &str) -> Result<&str, ParseError> {
    let Some(inner) = text.strip_prefix("```") else {
        return Ok(text);
    };
    let inner = inner
        .strip_prefix("json")
        .and_then(|inner| inner.strip_suffix("```"));
    let inner = inner
        .filter(|inner| inner.starts_with(char::is_whitespace))
        .ok_or(ParseError::Fence)?;
    Ok(inner.trim())
}

fn single<'a>(values: &[&'a RawValue], key: &'static str) -> Result<Option<&'a str>, ParseError> {
    match values {
        [] => Ok(None),
        [value] => Ok(Some(value.get())),
        _ => Err(ParseError::Duplicate(key)),
    }
}

fn score(raw: &str) -> Result<Margin, ParseError> {
    let shown = || raw.chars().take(SHOWN).collect::<String>();
    if !raw.starts_with(|c: char| c == '-' || c.is_ascii_digit()) {
        return Err(ParseError::ScoreNotNumber(shown()));
    }
    match raw.parse::<f64>() {
        Ok(value) if value.is_finite() => {
            Margin::new(value).ok_or_else(|| ParseError::ScoreOutOfRange(shown()))
        }
        Ok(_) => Err(ParseError::ScoreNotFinite(shown())),
        Err(_) => Err(ParseError::ScoreNotNumber(shown())),
    }
}

fn thoughts(raw: &str) -> Result<Vec<String>, ParseError> {
    if raw.starts_with('"') {
        let whole: String =
            serde_json::from_str(raw).map_err(|error| ParseError::Json(error.to_string()))?;
        return Ok(whole
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect());
    }
    serde_json::from_str(raw).map_err(|_| ParseError::ThoughtsNotText)
}

/// The values of the keys that count, each as often as it occurs: a JSON map would silently keep the last.
#[derive(Default)]
struct Fields<'a> {
    scores: Vec<&'a RawValue>,
    thoughts: Vec<&'a RawValue>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Collect)
    }
}

struct Collect;

impl<'de> Visitor<'de> for Collect {
    type Value = Fields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with \"thoughts\" and \"score\"")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut fields = Fields::default();
        while let Some((key, value)) = map.next_entry::<String, &RawValue>()? {
            match key.as_str() {
                "score" => fields.scores.push(value),
                "thoughts" => fields.thoughts.push(value),
                _ => {}
            }
        }
        Ok(fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn opinion(score: f64, thoughts: &[&str]) -> Result<Opinion, ParseError> {
        let thoughts = thoughts
            .iter()
            .map(|thought| (*thought).to_owned())
            .collect();
        Ok(Opinion {
            margin: Margin::new(score).unwrap(),
            thoughts,
        })
    }

    #[test]
    fn a_reply_by_the_contract_is_an_opinion() {
        for text in [
            r#"{"thoughts": ["a", "b"], "score": -0.25}"#,
            r#"{"score": -0.25, "thoughts": "a\n\n  b "}"#,
            "\u{feff}\n {\"thoughts\":[\"a\",\"b\"],\"confidence\":{\"score\":3},\"score\":-25e-2}\r\n",
            "```json\n{\"thoughts\": [\"a\", \"b\"], \"score\": -0.25}\n```",
            " ```json {\"thoughts\": [\"a\", \"b\"], \"score\": -0.25} ``` ",
        ] {
            assert_eq!(parse(text), opinion(-0.25, &["a", "b"]), "{text}");
        }
        assert_eq!(parse(r#"{"thoughts": [], "score": 1}"#), opinion(1.0, &[]));
        assert_eq!(
            parse(r#"{"thoughts": "", "score": -1.0}"#),
            opinion(-1.0, &[])
        );
        assert_eq!(
            parse(r#"{"thoughts": "``` {", "score": -0}"#),
            opinion(0.0, &["``` {"])
        );
    }

    #[test]
    fn anything_else_says_what_is_wrong() {
        for (text, message) in [
            ("", "the reply is empty"),
            ("\u{feff} \n", "the reply is empty"),
            ("Document B is better.", "the reply is not a JSON object"),
            ("[1]", "the reply is not a JSON object"),
            ("0.5", "the reply is not a JSON object"),
            (
                "Sure! {\"thoughts\":[],\"score\":0}",
                "the reply is not a JSON object",
            ),
            ("```json\n```", "the reply is not a JSON object"),
            (
                "```\n{}\n```",
                "the reply's code fence is not a single closed ```json fence",
            ),
            (
                "```json\n{}",
                "the reply's code fence is not a single closed ```json fence",
            ),
            (
                "```jsonc\n{}\n```",
                "the reply's code fence is not a single closed ```json fence",
            ),
            (
                "```json\n{}\n```\n```json\n{}\n```",
                "the reply is not valid JSON: trailing characters at line 2 column 1",
            ),
            (
                "{\"score\": 0,}",
                "the reply is not valid JSON: trailing comma at line 1 column 13",
            ),
            (
                "{\"score\": NaN}",
                "the reply is not valid JSON: expected value at line 1 column 11",
            ),
            (
                "{\"thoughts\":[],\"score\":0} x",
                "the reply is not valid JSON: trailing characters at line 1 column 27",
            ),
            (
                "{\"score\":1,\"score\":-1}",
                "the reply has more than one \"score\"",
            ),
            (
                "{\"score\":1,\"thoughts\":[],\"thoughts\":[]}",
                "the reply has more than one \"thoughts\"",
            ),
            ("{}", "the reply has no \"score\""),
            (
                "{\"Score\":1,\"thoughts\":[]}",
                "the reply has no \"score\"",
            ),
            (
                "{\"thoughts\":[],\"score\":\"0.5\"}",
                "\"score\" is not a number: \"0.5\"",
            ),
            (
                "{\"thoughts\":[],\"score\":null}",
                "\"score\" is not a number: null",
            ),
            (
                "{\"thoughts\":[],\"score\":1e999}",
                "\"score\" is not a finite number: 1e999",
            ),
            (
                "{\"thoughts\":[],\"score\":-1.001}",
                "\"score\" is not between -1 and 1: -1.001",
            ),
            (
                "{\"thoughts\":[],\"score\":75}",
                "\"score\" is not between -1 and 1: 75",
            ),
            ("{\"score\":1}", "the reply has no \"thoughts\""),
            (
                "{\"thoughts\":[1],\"score\":1}",
                "\"thoughts\" is neither a string nor a list of strings",
            ),
            (
                "{\"thoughts\":{},\"score\":1}",
                "\"thoughts\" is neither a string nor a list of strings",
            ),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), message, "{text}");
        }
    }

    #[test]
    fn deep_nesting_is_no_stack_overflow() {
        let deep = format!(
            "{{\"x\":{},\"thoughts\":[],\"score\":0}}",
            "[".repeat(100_000)
        );
        assert!(parse(&deep).is_err());
        let deep = format!(
            "{{\"thoughts\":{}{},\"score\":0}}",
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        assert_eq!(parse(&deep), Err(ParseError::ThoughtsNotText));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(score in -1.0..=1.0f64, thoughts in prop::collection::vec(".*", 0..4)) {
            let text = serde_json::json!({"thoughts": &thoughts, "score": score}).to_string();
            let opinion = parse(&text).unwrap();
            prop_assert_eq!(opinion.margin.get(), score);
            prop_assert_eq!(opinion.thoughts, thoughts);
        }

        #[test]
        fn no_text_panics(text in "[ -~“\\u{0}\\u{202e}]{0,40}", cut in 0..60usize) {
            let _ = parse(&text);
            let whole = r#"```json {"thoughts": ["a"], "score": 0.5} ```"#;
            let _ = parse(&whole[..cut.min(whole.len())]);
        }
    }
}
