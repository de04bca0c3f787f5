//! Gold items: pairs with a known answer, as JSON Lines or CSV with the fields `query`, `a`, `b`, `decision` and perhaps
//! `note`. Other fields are passed over.

use super::json::string;
use super::jsonl;
use super::lines::{TextLine, TextLines};
use super::object::ObjectReader;
use super::problem::{Problem, quoted};
use super::records::LineRecords;
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

/// Reads a file whole: its items, and everything that is wrong with it. What starts with `{` is JSON Lines, everything
/// else CSV with a header.
///
/// `file` is what problems call the file.
pub fn read_gold(mut reader: impl Read, file: &str) -> (Vec<GoldLine>, Vec<Problem>) {
    let mut bytes = Vec::new();
    if let Err(error) = reader.read_to_end(&mut bytes) {
        let problem = Problem::new(file, None, &format!("cannot be read: {error}"));
        return (Vec::new(), vec![problem]);
    }
    let bare = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    match bare.trim_ascii_start().first() {
        Some(b'{' | b'[') => from_lines(&bytes, file),
        _ => from_csv(bare, file),
    }
}

fn from_lines(bytes: &[u8], file: &str) -> (Vec<GoldLine>, Vec<Problem>) {
    let (mut items, mut problems) = (Vec::new(), Vec::new());
    let parse = |line: &TextLine<'_>| {
        let item = jsonl::record(line, "item", |members| item(line.number, members))?;
        two_documents(item).map(Some).map_err(|what| vec![what])
    };
    for item in LineRecords::new(TextLines::new(bytes, file), parse) {
        match item {
            Ok(item) => items.push(item),
            Err(problem) => problems.push(problem),
        }
    }
    (items, problems)
}

fn item(line: u64, mut item: ObjectReader<'_, '_>) -> Option<GoldLine> {
    let (query, a, b) = (item.text("query"), item.text("a"), item.text("b"));
    let decision = item.required("decision");
    let decision = decision.and_then(|value| {
        item.read("decision", value, |value| {
            string(value).and_then(|word| known(&word))
        })
    });
    let note = item.nullable("note", string);
    Some(GoldLine {
        line,
        query: QueryId::new(query?),
        a: DocId::new(a?),
        b: DocId::new(b?),
        decision: decision?,
        note: note.filter(|note| !note.trim().is_empty()),
    })
}

fn from_csv(bytes: &[u8], file: &str) -> (Vec<GoldLine>, Vec<Problem>) {
    let (mut items, mut problems) = (Vec::new(), Vec::new());
    let mut table = csv::Reader::from_reader(bytes);
    let headers = match table.headers() {
        Ok(headers) => headers.clone(),
        Err(error) => return (items, vec![broken(file, &error)]),
    };
    let column = |name: &str| headers.iter().position(|header| header.trim() == name);
    let names = ["query", "a", "b", "decision"];
    let columns = names.map(column);
    let missing: Vec<&str> = names
        .into_iter()
        .zip(columns)
        .filter(|(_, column)| column.is_none())
        .map(|(name, _)| name)
        .collect();
    let [Some(query), Some(a), Some(b), Some(decision)] = columns else {
        let what = format!(
            "has no column {}; the first line names the columns query, a, b, decision and perhaps note",
            missing.join(", ")
        );
        return (items, vec![Problem::new(file, Some(1), &what)]);
    };
    let note = column("note");
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    let place = |record: &csv::StringRecord| {
        // The position is that of the blank lines before, where there are some.
        let mut line = record.position().map_or(1, csv::Position::line);
        while lines
            .get((line as usize).saturating_sub(1))
            .is_some_and(|line| line.trim_ascii().is_empty())
        {
            line += 1;
        }
        line
    };
    for record in table.records() {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                problems.push(broken(file, &error));
                continue;
            }
        };
        let line = place(&record);
        let cell = |column: usize, name: &str| match record.get(column) {
            Some(cell) if !cell.trim().is_empty() => Ok(cell.to_owned()),
            _ => Err(format!("{name}: is empty")),
        };
        let item = (|| {
            two_documents(GoldLine {
                line,
                query: QueryId::new(cell(query, "query")?),
                a: DocId::new(cell(a, "a")?),
                b: DocId::new(cell(b, "b")?),
                decision: known(cell(decision, "decision")?.trim())
                    .map_err(|what| format!("decision: {what}"))?,
                note: note.and_then(|column| cell(column, "note").ok()),
            })
        })();
        match item {
            Ok(item) => items.push(item),
            Err(what) => problems.push(Problem::new(file, Some(line), &what)),
        }
    }
    (items, problems)
}

fn broken(file: &str, error: &csv::Error) -> Problem {
    let line = error.position().map(csv::Position::line);
    let what = match error.kind() {
        csv::ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => format!("has {len} cells where the header has {expected_len}"),
        csv::ErrorKind::Utf8 { .. } => "invalid UTF-8; save the file as UTF-8".to_owned(),
        _ => format!("cannot be read: {error}"),
    };
    Problem::new(file, line, &what)
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

fn two_documents(item: GoldLine) -> Result<GoldLine, String> {
    match item.a == item.b {
        true => Err(format!(
            "{} meets itself: a and b have the same id",
            quoted(item.a.as_str())
        )),
        false => Ok(item),
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
