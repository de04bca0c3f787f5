//! Parses a program's output line: scores, the IDs in order, or a question to the judges.

use crate::judge::reranker::asked::{AskedPair, PairReply};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;

#[derive(Deserialize)]
struct ProgramAnswer {
    ranking: Option<Vec<Value>>,
    scores: Option<Vec<Value>>,
    ask: Option<Value>,
}

/// A line that a program wrote.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ProgramLine {
    /// One score for each document, and whether only an order is known: then the last one has score
    /// 1, the one before it 2, and so on.
    Ranked(Vec<f64>, bool),
    Asks(AskedPairs),
}

/// The pairs of a question to the judges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AskedPairs {
    pub(super) pairs: Vec<AskedPair>,
    /// Whether they were sent as a list, as their replies are then.
    is_list: bool,
}

const WANTED: &str = "expected one line of JSON, {\"ranking\": [ids]} or {\"scores\": [numbers]}";

/// Why the output of a program is not an answer. Values are quoted as JSON.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum InvalidAnswerLine {
    #[error("its answer cannot be read; {WANTED}")]
    Unreadable,
    #[error("its answer has neither ranking nor scores; {WANTED}")]
    Neither,
    #[error("its answer has both ranking and scores; {WANTED}")]
    Both,
    #[error("{found} scores came for {documents} documents")]
    ScoreCount { found: usize, documents: usize },
    #[error("a score is not a number: {0}")]
    NotANumber(String),
    #[error("the ranking names {0}, which was not sent")]
    NotSent(String),
    #[error("the ranking is too long")]
    TooLong,
    #[error("the ranking names {0} twice")]
    Twice(String),
    #[error("the ranking names {found} of {documents} documents; it must name all of them")]
    Incomplete { found: usize, documents: usize },
    #[error("its line has both a question to the judges and an answer; write one of them")]
    AskAndAnswer,
    #[error(
        "its question to the judges cannot be read: {0}; expected {{\"ask\": {{\"a\": id, \"b\": id}}}}, \
         or a list of such pairs"
    )]
    NoPair(String),
    #[error("its question to the judges names {0}, which was not sent")]
    StrangePair(String),
    #[error("its question to the judges names {0} twice; a pair is of two documents")]
    SamePair(String),
    #[error("it asks the judges; `asks = true` in its block of overrule.toml allows that")]
    MayNotAsk,
    #[error("it asked the judges without reading the line that it was sent")]
    AskedUnread,
    #[error(
        "it asked the judges about more than {most} pairs of {documents} documents, each pair more \
         than {REPEATS} times in both orders"
    )]
    TooManyPairs { most: usize, documents: usize },
}

/// How often a program may ask about each pair in both orders, on average.
const REPEATS: usize = 10;

/// Maximum number of pairs that a program may ask about while it ranks this many documents.
pub(super) fn most_pairs(documents: usize) -> usize {
    REPEATS * documents * documents.saturating_sub(1)
}

/// Reads a line about the documents with these ids.
pub(super) fn read(line: &[u8], ids: &[&str]) -> Result<ProgramLine, InvalidAnswerLine> {
    let answer: ProgramAnswer =
        serde_json::from_slice(line).map_err(|_| InvalidAnswerLine::Unreadable)?;
    match (answer.ranking, answer.scores, answer.ask) {
        (Some(ranking), None, None) => Ok(ProgramLine::Ranked(places(&ranking, ids)?, true)),
        (None, Some(scores), None) => Ok(ProgramLine::Ranked(numbers(&scores, ids.len())?, false)),
        (None, None, Some(ask)) => Ok(ProgramLine::Asks(AskedPairs::read(&ask, ids)?)),
        (None, None, None) => Err(InvalidAnswerLine::Neither),
        (Some(_), Some(_), None) => Err(InvalidAnswerLine::Both),
        (.., Some(_)) => Err(InvalidAnswerLine::AskAndAnswer),
    }
}

impl AskedPairs {
    fn read(ask: &Value, ids: &[&str]) -> Result<Self, InvalidAnswerLine> {
        let (asked, is_list) = match ask {
            Value::Array(list) if !list.is_empty() => (list.iter().collect(), true),
            one => (vec![one], false),
        };
        let place = |pair: &Value, name: &str| {
            let id = pair
                .get(name)
                .ok_or_else(|| InvalidAnswerLine::NoPair(shown(pair)))?;
            let known = ids.iter().position(|known| Some(*known) == id.as_str());
            known.ok_or_else(|| InvalidAnswerLine::StrangePair(shown(id)))
        };
        let pair = |pair: &Value| match (place(pair, "a")?, place(pair, "b")?) {
            (a, b) if a == b => Err(InvalidAnswerLine::SamePair(
                pair.get("a").map_or_else(String::new, shown),
            )),
            (a, b) => Ok(AskedPair { a, b }),
        };
        Ok(Self {
            pairs: asked.into_iter().map(pair).collect::<Result<_, _>>()?,
            is_list,
        })
    }

    /// The line with the replies to these pairs.
    pub(super) fn reply(&self, replies: &[PairReply]) -> String {
        match replies {
            [one] if !self.is_list => json!({"reply": one}).to_string(),
            all => json!({"reply": all}).to_string(),
        }
    }
}

fn numbers(scores: &[Value], count: usize) -> Result<Vec<f64>, InvalidAnswerLine> {
    if scores.len() != count {
        return Err(InvalidAnswerLine::ScoreCount {
            found: scores.len(),
            documents: count,
        });
    }
    let number = |score: &Value| {
        score
            .as_f64()
            .filter(|number| number.is_finite())
            .ok_or_else(|| InvalidAnswerLine::NotANumber(shown(score)))
    };
    scores.iter().map(number).collect()
}

fn places(ranking: &[Value], ids: &[&str]) -> Result<Vec<f64>, InvalidAnswerLine> {
    let known: HashMap<&str, usize> = ids.iter().enumerate().map(|(at, id)| (*id, at)).collect();
    let mut scores = vec![None; ids.len()];
    for (rank, id) in ranking.iter().enumerate() {
        let at = id.as_str().and_then(|id| known.get(id));
        let at = *at.ok_or_else(|| InvalidAnswerLine::NotSent(shown(id)))?;
        let place = scores.get_mut(at).ok_or(InvalidAnswerLine::TooLong)?;
        if place
            .replace(ids.len().saturating_sub(rank) as f64)
            .is_some()
        {
            return Err(InvalidAnswerLine::Twice(shown(id)));
        }
    }
    let all: Option<Vec<f64>> = scores.into_iter().collect();
    all.ok_or(InvalidAnswerLine::Incomplete {
        found: ranking.len(),
        documents: ids.len(),
    })
}

fn shown(value: &Value) -> String {
    value.to_string().chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_and_rankings_are_read() {
        let read = |line: &str| read(line.as_bytes(), &["a", "b", "c"]);
        assert_eq!(
            read(r#"{"scores": [1, -0.5, 2e3]}"#),
            Ok(ProgramLine::Ranked(vec![1.0, -0.5, 2000.0], false))
        );
        assert_eq!(
            read(r#" {"ranking": ["b", "c", "a"], "note": 1} "#),
            Ok(ProgramLine::Ranked(vec![1.0, 3.0, 2.0], true))
        );
        for (line, why) in [
            ("hello", "cannot be read"),
            ("[1, 2, 3]", "cannot be read"),
            ("{}", "neither"),
            (
                r#"{"scores": [1, 2, 3], "ranking": ["a", "b", "c"]}"#,
                "both",
            ),
            (r#"{"scores": [1, 2]}"#, "2 scores came for 3 documents"),
            (r#"{"scores": [1, 2, null]}"#, "not a number: null"),
            (r#"{"scores": [1, 2, true]}"#, "not a number: true"),
            (r#"{"scores": [1, 2, 1e999]}"#, "cannot be read"),
            (r#"{"ranking": ["a", "b"]}"#, "names 2 of 3 documents"),
            (r#"{"ranking": ["a", "b", "b"]}"#, "names \"b\" twice"),
            (
                r#"{"ranking": ["a", "b", "d"]}"#,
                "names \"d\", which was not sent",
            ),
            (r#"{"ranking": [1, 2, 3]}"#, "names 1, which was not sent"),
            (
                r#"{"ask": {"a": "a", "b": "b"}, "scores": [1, 2, 3]}"#,
                "both a question to the judges and an answer",
            ),
            (
                r#"{"ask": []}"#,
                "cannot be read: []; expected {\"ask\": {\"a\": id",
            ),
            (r#"{"ask": "a"}"#, "cannot be read: \"a\""),
            (r#"{"ask": {"a": "a"}}"#, "cannot be read: {\"a\":\"a\"}"),
            (
                r#"{"ask": {"a": "a", "b": "d"}}"#,
                "names \"d\", which was not sent",
            ),
            (
                r#"{"ask": {"a": 1, "b": "b"}}"#,
                "names 1, which was not sent",
            ),
            (r#"{"ask": {"a": "c", "b": "c"}}"#, "names \"c\" twice"),
            (
                r#"{"ask": [{"a": "a", "b": "b"}, {"a": "a", "b": "x"}]}"#,
                "names \"x\", which was not sent",
            ),
        ] {
            let found = read(line).unwrap_err().to_string();
            assert!(found.contains(why), "{line}: {found}");
        }
    }

    #[test]
    fn questions_are_read_and_replied_to_in_their_form() {
        let asked = |line: &str| match read(line.as_bytes(), &["a", "b", "c"]) {
            Ok(ProgramLine::Asks(asked)) => asked,
            other => panic!("{other:?}"),
        };
        let reply = PairReply::new(Vec::new(), Vec::new());
        let one = asked(r#"{"ask": {"a": "c", "b": "a"}}"#);
        assert_eq!(one.pairs, [AskedPair { a: 2, b: 0 }]);
        let empty = r#"{"margin":null,"votes":[],"failures":[]}"#;
        let told = |line: &str| serde_json::from_str::<Value>(line).unwrap();
        assert_eq!(
            told(&one.reply(std::slice::from_ref(&reply))),
            told(&format!("{{\"reply\":{empty}}}"))
        );
        let list = asked(r#"{"ask": [{"a": "c", "b": "a"}]}"#);
        assert_eq!(
            told(&list.reply(&[reply])),
            told(&format!("{{\"reply\":[{empty}]}}"))
        );
        assert_eq!((most_pairs(0), most_pairs(1), most_pairs(3)), (0, 0, 60));
    }
}
