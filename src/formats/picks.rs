//! Reads picks as JSON lines: one line per call that was answered or that finally failed. The file
//! is append-only.

use super::lines::{NotText, TextLine};
use super::problem::quoted;
use super::records::{LineRecords, ParseLine};
use crate::domain::adjudication::PickRecord;
use crate::formats::json::reason;
use std::io::BufRead;

/// Reads picks with their line numbers; `file` is the file's name in problems. An invalid line
/// yields a problem, and reading continues with the next one.
pub fn read_picks<R: BufRead>(
    reader: R,
    file: &str,
) -> LineRecords<R, impl ParseLine<Record = (u64, PickRecord)> + use<R>> {
    LineRecords::new(reader, file, |line: &TextLine<'_>| {
        let record = line.text().map_err(InvalidPickLine::from).and_then(record);
        match record {
            Ok(record) => Ok(Some((line.number, record))),
            Err(error) => Err(vec![error.to_string()]),
        }
    })
}

/// Why a line is not a pick.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum InvalidPickLine {
    #[error(transparent)]
    NotText(#[from] NotText),
    #[error("is not a pick: {why}; the line begins with {}", quoted(.line))]
    NotAPick { why: String, line: String },
    /// Two of its members contradict each other.
    #[error("{0}")]
    Contradiction(String),
}

fn record(text: &str) -> Result<PickRecord, InvalidPickLine> {
    let record: PickRecord =
        serde_json::from_str(text).map_err(|error| InvalidPickLine::NotAPick {
            why: reason(&error),
            line: text.to_owned(),
        })?;
    match record.contradiction() {
        Some(what) => Err(InvalidPickLine::Contradiction(what)),
        None => Ok(record),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::adjudication::{InvalidPick, PickRequest, PickResult, SlotVerdict};
    use crate::domain::corpus::{DocId, QueryId};

    fn example(result: PickResult) -> PickRecord {
        PickRecord {
            query: QueryId::new("1"),
            judge: "gpt".to_owned(),
            provider: "openai".to_owned(),
            model: "m".to_owned(),
            prompt: "0123".to_owned(),
            call: "ab".to_owned(),
            permutation: 1,
            ask: PickRequest::Exactly(1),
            order: vec![DocId::new("a"), DocId::new("b")],
            attempt: 1,
            result,
            again: false,
            thoughts: vec!["so".to_owned()],
            answered_by: None,
            raw: Some("{}".to_owned()),
            truncated: false,
            tokens_input: 7,
            tokens_output: 2,
            cost_usd: Some(0.001),
            latency_ms: 1.5,
            created_ms: 3,
        }
    }

    fn verdicts(words: [&str; 2]) -> Vec<SlotVerdict> {
        let verdict = |(slot, word): (usize, &str)| {
            let sentence = (word != "not_enough").then_some("so");
            serde_json::json!({"slot": slot, "verdict": word, "sentence": sentence})
        };
        let verdicts = (1..).zip(words).map(verdict);
        serde_json::from_value(verdicts.collect()).unwrap()
    }

    #[test]
    fn records_survive_writing_and_reading() {
        for (result, spelt) in [
            (PickResult::Slots(vec![2]), r#""slots":[2]"#),
            (
                PickResult::Invalid(InvalidPick::WrongCount { given: 2, asked: 1 }),
                r#""invalid":{"wrong-count":{"given":2,"asked":1}}"#,
            ),
            (
                PickResult::Verdicts(verdicts(["not_enough", "refutes"])),
                r#""verdicts":[{"slot":1,"verdict":"not_enough","sentence":null},{"slot":2,"verdict":"refutes","sentence":"so"}]"#,
            ),
            (
                PickResult::Invalid(InvalidPick::NotJson),
                r#""invalid":"not-json""#,
            ),
            (
                PickResult::Failure("server error: x".to_owned()),
                r#""failure":"server error: x""#,
            ),
        ] {
            let record = example(result);
            let line = serde_json::to_string(&record).unwrap();
            assert!(
                line.contains(spelt) && line.contains(r#""ask":{"exactly":1}"#),
                "{line}"
            );
            let read = read_picks(line.as_bytes(), "p").next().unwrap();
            assert_eq!(read, Ok((1, record)));
        }
    }

    #[test]
    fn what_is_no_pick_is_told() {
        let bad = serde_json::to_string(&example(PickResult::Slots(vec![2, 1]))).unwrap();
        let mut lone = verdicts(["not_enough", "refutes"]);
        lone.truncate(1);
        let lone = serde_json::to_string(&example(PickResult::Verdicts(lone))).unwrap();
        let told: Vec<String> = read_picks(format!("\n7\n{{\n{bad}\n{lone}\n").as_bytes(), "p")
            .filter_map(|item| item.err().map(|problem| problem.to_string()))
            .collect();
        assert_eq!(told.len(), 4);
        assert!(
            told[0].starts_with("p:2: is not a pick: invalid type: integer `7`"),
            "{}",
            told[0]
        );
        assert!(
            told[1].starts_with("p:3: is not a pick: EOF"),
            "{}",
            told[1]
        );
        assert_eq!(told[2], "p:4: slots: 2 slots where 1 were asked for");
        assert_eq!(told[3], "p:5: verdicts: slot 2 has no verdict");
    }
}
