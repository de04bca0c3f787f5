//! Parses a program's output line: scores, or the IDs in order.

use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;

#[derive(Deserialize)]
struct ProgramAnswer {
    ranking: Option<Vec<Value>>,
    scores: Option<Vec<Value>>,
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
}

/// One score for each of `ids`, and whether only an order is known: then the last one has score 1,
/// the one before it 2, and so on.
pub(super) fn read(line: &[u8], ids: &[&str]) -> Result<(Vec<f64>, bool), InvalidAnswerLine> {
    let answer: ProgramAnswer =
        serde_json::from_slice(line).map_err(|_| InvalidAnswerLine::Unreadable)?;
    match (answer.ranking, answer.scores) {
        (Some(ranking), None) => Ok((places(&ranking, ids)?, true)),
        (None, Some(scores)) => Ok((numbers(&scores, ids.len())?, false)),
        (None, None) => Err(InvalidAnswerLine::Neither),
        (Some(_), Some(_)) => Err(InvalidAnswerLine::Both),
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
            Ok((vec![1.0, -0.5, 2000.0], false))
        );
        assert_eq!(
            read(r#" {"ranking": ["b", "c", "a"], "note": 1} "#),
            Ok((vec![1.0, 3.0, 2.0], true))
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
        ] {
            let found = read(line).unwrap_err().to_string();
            assert!(found.contains(why), "{line}: {found}");
        }
    }
}
