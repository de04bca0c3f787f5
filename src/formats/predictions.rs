//! Reads a student's predictions for pairs, as JSON lines or as a table with the columns `query`,
//! `a`, `b`, `p_a`, `p_b` and optionally `p_tie` and `step`. Other fields are ignored.

use super::gold::two_documents;
use super::json::{ValueError, number};
use super::jsonl;
use super::lines::TextLine;
use super::object::ObjectReader;
use super::own_tables::PREDICTIONS;
use super::problem::{Problem, quoted};
use super::records::LineRecords;
use super::table_objects::TableSchema;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::prediction::OutcomeProbabilities;
use serde_json::value::RawValue;
use std::io::BufRead;

static SCHEMA: TableSchema = TableSchema {
    columns: &PREDICTIONS,
    required: &["query", "a", "b", "p_a", "p_b"],
    is_own: true,
    others: None,
};

/// One prediction; the student was shown `a` first.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictionLine {
    /// The line in the file, from 1.
    pub line: u64,
    pub query: QueryId,
    pub a: DocId,
    pub b: DocId,
    pub predicted: OutcomeProbabilities,
    /// The checkpoint, if the file has several.
    pub step: Option<u64>,
}

/// Reads a whole file: its predictions and all of its problems. `file` is the file's name in
/// problems.
pub fn read_predictions(reader: impl BufRead, file: &str) -> (Vec<PredictionLine>, Vec<Problem>) {
    let parse = |line: &TextLine<'_>| {
        let number = line.number;
        jsonl::record(line, "prediction", |object| prediction(object, number)).map(Some)
    };
    LineRecords::or_table(reader, file, &SCHEMA, parse).partition_items()
}

fn prediction(mut object: ObjectReader<'_, '_>, line: u64) -> Option<PredictionLine> {
    let query = object.identifier("query");
    let (a, b) = two_documents(&mut object);
    let mut share = |name: &str| {
        let value = object.required(name)?;
        object.read(name, value, number)
    };
    let (p_a, p_b) = (share("p_a"), share("p_b"));
    let p_tie = object.nullable("p_tie", number);
    let step = object.nullable("step", step);
    let (p_a, p_b) = (p_a?, p_b?);
    let predicted = match p_tie {
        Some(tie) => OutcomeProbabilities::of_three(p_a, p_b, tie),
        None => OutcomeProbabilities::new(p_a, p_b),
    };
    if predicted.is_none() {
        let tie = p_tie.map_or(String::new(), |tie| format!(", p_tie {tie}"));
        object.note(
            &format!("p_a {p_a}, p_b {p_b}{tie}"),
            "expected probabilities in 0..1 that add up to 1 with p_tie, or to at most 1 without it",
        );
    }
    Some(PredictionLine {
        line,
        query: QueryId::new(query?),
        a: DocId::new(a?),
        b: DocId::new(b?),
        predicted: predicted?,
        step,
    })
}

fn step(value: &RawValue) -> Result<u64, ValueError> {
    match number(value)? {
        step if step >= 0.0 && step.fract() == 0.0 && step < 1e15 => Ok(step as u64),
        _ => Err(ValueError::expected(
            "a whole number of at least 0",
            quoted(value.get()),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::table_file::{TableFormat, TableWriter};
    use proptest::prelude::*;
    use serde_json::json;

    fn read(text: &str) -> (Vec<PredictionLine>, Vec<String>) {
        let (found, problems) = read_predictions(text.as_bytes(), "p");
        (found, problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn lines_and_columns_read_the_same() {
        let (lines, problems) = read(
            "{\"query\":\"q\",\"a\":\"x\",\"b\":\"y\",\"p_a\":0.5,\"p_b\":0.2,\"p_tie\":0.3,\"step\":100,\"more\":1}\n\
             {\"query\":\"q\",\"a\":\"y\",\"b\":\"x\",\"p_a\":0.25,\"p_b\":0.5}\n",
        );
        assert_eq!(problems, Vec::<String>::new());
        let (cells, problems) =
            read("step,query,a,b,p_a,p_b,p_tie\n100,q,x,y,.5,.2,.3\n,q,y,x,.25,.5,\n");
        assert_eq!(problems, Vec::<String>::new());
        for (line, cell) in lines.iter().zip(&cells) {
            let line = PredictionLine {
                line: cell.line,
                ..line.clone()
            };
            assert_eq!(&line, cell);
        }
        assert_eq!((lines.len(), cells.len()), (2, 2));
        assert_eq!((lines[0].step, lines[1].step), (Some(100), None));
        assert!((lines[1].predicted.tie() - 0.25).abs() < 1e-12);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let (found, problems) = read(
            "query,a,b,p_a,p_b,p_tie\nq,x,x,.5,.2,\nq,x,y,.9,.2,\nq,x,y,.5,.2,.1\nq,x,y,much,.2,\nq,x,y,,.2,\nq,x,y,.5,.2,\n",
        );
        assert_eq!((found.len(), problems.len()), (1, 5), "{problems:?}");
        assert!(problems[0].starts_with("p:2: \"x\" meets itself"));
        assert!(problems[1].starts_with("p:3: p_a 0.9, p_b 0.2: expected"));
        assert!(problems[3].starts_with("p:5: p_a: expected a number"));
        let (_, problems) = read("query,a,b\n");
        assert!(
            problems[0].contains("has no column p_a, p_b"),
            "{problems:?}"
        );
        let (_, problems) =
            read("{\"query\":\"q\",\"a\":\"x\",\"b\":\"y\",\"p_a\":\"1\",\"p_b\":0}\n");
        assert!(
            problems[0].starts_with("p:1: p_a: expected a number"),
            "{problems:?}"
        );
    }

    proptest! {
        #[test]
        fn a_table_that_we_wrote_is_read_back(
            ids in prop::collection::vec("[-='+@\", \t\u{ff1d}ax1]{0,4}[^\\pC\\s]|\\PC{0,6}[^\\pC\\s]", 3),
            step in prop::option::of(0..9_u64),
        ) {
            prop_assume!(ids[1] != ids[2]);
            let mut table = Vec::new();
            let mut rows = TableWriter::new(&PREDICTIONS, TableFormat::Csv, &mut table).unwrap();
            let row = json!({
                "query": ids[0], "a": ids[1], "b": ids[2], "p_a": 0.1, "p_b": 0.2, "p_tie": 0.7, "step": step,
            });
            rows.write(row).unwrap();
            rows.finish().unwrap();
            let (found, problems) = read_predictions(table.as_slice(), "p");
            prop_assert!(problems.is_empty(), "{problems:?}");
            let names = [found[0].query.as_str(), found[0].a.as_str(), found[0].b.as_str()];
            prop_assert_eq!(names.map(str::to_owned).to_vec(), ids);
            prop_assert_eq!(found[0].step, step);
        }
    }
}
