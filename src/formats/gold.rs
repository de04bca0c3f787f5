//! Reads gold items: pairs with a known answer, as JSON lines or as a table with the columns
//! `query`, `a`, `b`, `decision` and optionally `note`. Other fields are ignored.

use super::json::{ValueError, string};
use super::jsonl;
use super::lines::TextLine;
use super::object::ObjectReader;
use super::problem::{Problem, quoted};
use super::records::LineRecords;
use super::table_file::Column;
use super::table_objects::TableSchema;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::verdict::Decision;
use std::io::BufRead;

static SCHEMA: TableSchema = TableSchema {
    columns: &[
        Column::text("query"),
        Column::text("a"),
        Column::text("b"),
        Column::text("decision"),
        Column::text("note").or_null(),
    ],
    required: &["query", "a", "b", "decision"],
    is_own: false,
    others: None,
};

/// One item, with the names used in the file.
#[derive(Clone, Debug, PartialEq)]
pub struct GoldLine {
    /// The line in the file, from 1.
    pub line: u64,
    pub query: QueryId,
    pub a: DocId,
    pub b: DocId,
    /// The answer; never *cannot tell*.
    pub decision: Decision,
    pub note: Option<String>,
}

/// Reads a whole file: its items and all of its problems. `file` is the file's name in problems.
pub fn read_gold(reader: impl BufRead, file: &str) -> (Vec<GoldLine>, Vec<Problem>) {
    let parse = |line: &TextLine<'_>| {
        let number = line.number;
        jsonl::record(line, "item", |object| item(object, number)).map(Some)
    };
    LineRecords::or_table(reader, file, &SCHEMA, parse).partition_items()
}

fn item(mut object: ObjectReader<'_, '_>, line: u64) -> Option<GoldLine> {
    let query = object.identifier("query");
    let (a, b) = two_documents(&mut object);
    let decision = object.required("decision");
    let decision =
        decision.and_then(|value| object.read("decision", value, |value| known(&string(value)?)));
    let note = object.nullable("note", string);
    Some(GoldLine {
        line,
        query: QueryId::new(query?),
        a: DocId::new(a?),
        b: DocId::new(b?),
        decision: decision?,
        note: note.filter(|note| !note.trim().is_empty()),
    })
}

/// The documents `a` and `b` of a pair, which must differ.
pub(super) fn two_documents(object: &mut ObjectReader<'_, '_>) -> (Option<String>, Option<String>) {
    let (a, b) = (object.identifier("a"), object.identifier("b"));
    if let (Some(same), true) = (&a, a == b) {
        let pair = format!("{} meets itself", quoted(same));
        object.note(&pair, "a and b have the same id");
    }
    (a, b)
}

/// Parses an answer; *cannot tell* is not allowed.
fn known(word: &str) -> Result<Decision, ValueError> {
    match word.parse() {
        Ok(Decision::CannotTell) => Err(ValueError::UnknownAnswer),
        Ok(decision) => Ok(decision),
        Err(_) => Err(ValueError::expected(
            "a, b, tie, much-a or much-b",
            quoted(word),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn read(text: &str) -> (Vec<GoldLine>, Vec<String>) {
        let (items, problems) = read_gold(text.as_bytes(), "g");
        (items, problems.iter().map(Problem::to_string).collect())
    }

    #[test]
    fn a_table_and_lines_say_the_same() {
        let table =
            "\u{feff}query,extra,a,b,decision,note\nq,1,x,y,much-a,\"it, does\"\nq,2,y,z,tie,\n";
        let lines = concat!(
            r#"{"query":"q","a":"x","b":"y","decision":"much-a","note":"it, does","more":1}"#,
            "\n",
            r#"{"query":"q","a":"y","b":"z","decision":"tie","note":null}"#
        );
        let ((mut table, none), (lines, nothing)) = (read(table), read(lines));
        assert_eq!((none, nothing), (vec![], vec![]));
        assert_eq!(table[0].line, 2);
        for item in &mut table {
            item.line -= 1;
        }
        assert_eq!(table, lines);
        assert_eq!(lines[0].note.as_deref(), Some("it, does"));
        assert_eq!(lines[1].note, None);
    }

    #[rstest]
    #[case::word(
        "query,a,b,decision\nq,x,y,better",
        "g:2: decision: expected a, b, tie"
    )]
    #[case::unknowable(
        "query,a,b,decision\n\nq,x,y,cannot-tell",
        "g:3: decision: a known answer"
    )]
    #[case::itself("query,a,b,decision\nq,x,x,a", "g:2: \"x\" meets itself")]
    #[case::empty("query,a,b,decision\nq,,x,a", "g:2: a: is empty")]
    #[case::column("query,a,b\nq,x,y", "g:1: has no column decision")]
    #[case::cells("query,a,b,decision\nq,x,y", "g:2: has 3 cells where the header has 4")]
    #[case::member(
        "{\"query\":\"q\",\"a\":\"x\",\"b\":\"y\"}",
        "g:1: decision: is missing"
    )]
    #[case::json(
        "{\"query\":\"q\",\"a\":1.5,\"b\":\"y\",\"decision\":\"a\"}",
        "g:1: a: expected a string"
    )]
    #[case::line("{}\n{", "g:2: the file is cut off")]
    fn what_is_wrong_is_named_with_its_line(#[case] text: &str, #[case] words: &str) {
        let (_, problems) = read(text);
        assert!(
            problems.iter().any(|problem| problem.starts_with(words)),
            "{problems:?}"
        );
    }
}
