//! Parses a program's output line: scores, or the IDs in order.

use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;

#[derive(Deserialize)]
struct ProgramAnswer {
    ranking: Option<Vec<Value>>,
    scores: Option<Vec<Value>>,
}

/// One score for each of `ids`, and whether only an order is known: then the last one has score 1,
/// the one before it 2, and so on.
pub(super) fn read(line: &[u8], ids: &[&str]) -> Result<(Vec<f64>, bool), String> {
    const WANTED: &str =
        "expected one line of JSON, {\"ranking\": [ids]} or {\"scores\": [numbers]}";
    let answer: ProgramAnswer =
        serde_json::from_slice(line).map_err(|_| format!("its answer cannot be read; {WANTED}"))?;
    match (answer.ranking, answer.scores) {
        (Some(ranking), None) => Ok((places(&ranking, ids)?, true)),
        (None, Some(scores)) => Ok((numbers(&scores, ids.len())?, false)),
        (None, None) => Err(format!(
            "its answer has neither ranking nor scores; {WANTED}"
        )),
        (Some(_), Some(_)) => Err(format!("its answer has both ranking and scores; {WANTED}")),
    }
}

fn numbers(scores: &[Value], count: usize) -> Result<Vec<f64>, String> {
    if scores.len() != count {
        return Err(format!(
            "{} scores came for {count} documents",
            scores.len()
        ));
    }
    let number = |score: &Value| {
        score
            .as_f64()
            .filter(|number| number.is_finite())
            .ok_or_else(|| format!("a score is not a number: {}", shown(score)))
    };
    scores.iter().map(number).collect()
}

fn places(ranking: &[Value], ids: &[&str]) -> Result<Vec<f64>, String> {
    let known: HashMap<&str, usize> = ids.iter().enumerate().map(|(at, id)| (*id, at)).collect();
    let mut scores = vec![None; ids.len()];
    for (rank, id) in ranking.iter().enumerate() {
        let at = id.as_str().and_then(|id| known.get(id));
        let at =
            *at.ok_or_else(|| format!("the ranking names {}, which was not sent", shown(id)))?;
        let place = scores.get_mut(at).ok_or("the ranking is too long")?;
        if place
            .replace(ids.len().saturating_sub(rank) as f64)
            .is_some()
        {
            return Err(format!("the ranking names {} twice", shown(id)));
        }
    }
    let all: Option<Vec<f64>> = scores.into_iter().collect();
    all.ok_or_else(|| {
        format!(
            "the ranking names {} of {} documents; it must name all of them",
            ranking.len(),
            ids.len()
        )
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
            let found = read(line).unwrap_err();
            assert!(found.contains(why), "{line}: {found}");
        }
    }
}
