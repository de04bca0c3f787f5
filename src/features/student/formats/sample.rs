//! Reads a sample of pairs as JSON Lines: `query`, `a`, `b` and `side`, which is train or test.
//! Other fields are ignored.

use crate::domain::corpus::{DocId, QueryId};
use crate::formats::json::{ValueError, string};
use crate::formats::jsonl;
use crate::formats::lines::TextLine;
use crate::formats::object::ObjectReader;
use crate::formats::problem::{Problem, quoted};
use crate::formats::records::LineRecords;
use serde::Serialize;
use std::io::BufRead;

/// The purpose of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SampleSide {
    /// For training.
    Train,
    Test,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SampleLine {
    pub query: QueryId,
    pub a: DocId,
    pub b: DocId,
    pub side: SampleSide,
}

/// Reads the lines of a sample, each with its number from 1.
pub fn read_sample<R: BufRead>(
    reader: R,
    file: &str,
) -> impl Iterator<Item = Result<(u64, SampleLine), Problem>> {
    let parse = |line: &TextLine<'_>| {
        let read = |mut members: ObjectReader<'_, '_>| {
            let (query, a, b) = (
                members.identifier("query"),
                members.identifier("a"),
                members.identifier("b"),
            );
            let side = members.required("side");
            let side = side.and_then(|value| {
                members.read("side", value, |value| match string(value)?.as_str() {
                    "train" => Ok(SampleSide::Train),
                    "test" => Ok(SampleSide::Test),
                    other => Err(ValueError::expected("train or test", quoted(other))),
                })
            });
            Some(SampleLine {
                query: QueryId::new(query?),
                a: DocId::new(a?),
                b: DocId::new(b?),
                side: side?,
            })
        };
        let found = jsonl::record(line, "pair", read)?;
        Ok(Some((line.number, found)))
    };
    LineRecords::new(reader, file, parse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_it_is_written() {
        let line = SampleLine {
            query: QueryId::new("q"),
            a: DocId::new("x"),
            b: DocId::new("y"),
            side: SampleSide::Test,
        };
        let text = serde_json::to_string(&line).unwrap();
        assert_eq!(text, r#"{"query":"q","a":"x","b":"y","side":"test"}"#);
        let text = format!("{text}\n{}\n", text.replace("test", "dev"));
        let found: Vec<_> = read_sample(text.as_bytes(), "s").collect();
        assert_eq!(found[0], Ok((1, line)));
        let problem = found[1].as_ref().unwrap_err().to_string();
        assert!(
            problem.starts_with("s:2: side: expected train or test"),
            "{problem}"
        );
    }
}
