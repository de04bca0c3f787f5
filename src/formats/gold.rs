//! Gold items: pairs with a known answer, as JSON Lines or CSV with the fields `query`, `a`, `b`, `decision` and perhaps
//! `note`. Other fields are passed over.

use super::lines_or_table::{RecordFields, RecordFormat};
use super::problem::{Problem, quoted};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::verdict::Decision;
use std::io::Read;

/// One item, as the file names things.
#[derive(Clone, Debug, PartialEq)]
pub struct GoldLine {
    /// Where it is in the file, from 1.
    pub line: u64,
    pub query: QueryId,
    pub a: DocId,
    pub b: DocId,
    /// The answer; never *cannot tell*.
    pub decision: Decision,
    pub note: Option<String>,
}

/// Reads a file whole: its items, and everything that is wrong with it. `file` is what problems call the file.
pub fn read_gold(reader: impl Read, file: &str) -> (Vec<GoldLine>, Vec<Problem>) {
    let format = RecordFormat {
        unit: "item",
        columns: &["query", "a", "b", "decision"],
        optional: &["note"],
        fields: item,
        record: two_documents,
    };
    format.read(reader, file)
}

fn item(fields: &mut dyn RecordFields) -> Option<GoldLine> {
    let (query, a, b) = (fields.text("query"), fields.text("a"), fields.text("b"));
    let decision = fields.text("decision");
    let decision = decision.and_then(|word| {
        let known = known(&word);
        known.map_err(|what| fields.note("decision", &what)).ok()
    });
    let note = fields.text_or_none("note");
    Some(GoldLine {
        line: 0,
        query: QueryId::new(query?),
        a: DocId::new(a?),
        b: DocId::new(b?),
        decision: decision?,
        note,
    })
}

fn two_documents(line: u64, item: GoldLine) -> Result<GoldLine, String> {
    match item.a == item.b {
        true => Err(format!(
            "{} meets itself: a and b have the same id",
            quoted(item.a.as_str())
        )),
        false => Ok(GoldLine { line, ..item }),
    }
}

/// An answer that can be known.
fn known(word: &str) -> Result<Decision, String> {
    match word.parse() {
        Ok(Decision::CannotTell) => {
            Err("a known answer cannot be \"cannot-tell\"; leave the pair out".to_owned())
        }
        Ok(decision) => Ok(decision),
        Err(_) => Err(format!(
            "expected a, b, tie, much-a or much-b, found {}",
            quoted(word)
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
        "{\"query\":\"q\",\"a\":1,\"b\":\"y\",\"decision\":\"a\"}",
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
