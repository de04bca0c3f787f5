//! Reads ranx's JSON: an object of queries, each an object of documents with their scores or their
//! grades.

use super::json::{kind, number, reason};
use super::json_scan::{JsonScanner, ScanStop};
use super::problem::{Problem, quoted};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::{Qrels, RankedRun};
use serde_json::value::RawValue;
use std::collections::{BTreeMap, HashSet};
use std::io::BufRead;

/// The numbers of a file by query and document, in the order of the file.
#[derive(Debug)]
pub struct RanxNumbers(BTreeMap<QueryId, Vec<(DocId, f64)>>);

/// Reads a whole file; `file` is the file's name in the problem.
///
/// # Errors
/// If the file is not such an object, contains a query or a document twice, or contains a number
/// that is not finite.
pub fn read_ranx(reader: impl BufRead, file: &str) -> Result<RanxNumbers, Problem> {
    let mut queries = ObjectMembers::new(JsonScanner::new(reader));
    numbers(&mut queries).map_err(|stop| match stop {
        ReadStop::Scan(ScanStop::End) => {
            let what = "the file is cut off inside the JSON; write or download it again";
            Problem::new(file, Some(queries.scan.line()), what)
        }
        ReadStop::Scan(ScanStop::Unreadable(error)) => {
            Problem::new(file, None, format!("cannot be read: {error}"))
        }
        ReadStop::Wrong { line, what } => Problem::new(file, Some(line), &what),
    })
}

fn numbers<R: BufRead>(queries: &mut ObjectMembers<R>) -> Result<RanxNumbers, ReadStop> {
    let mut found = BTreeMap::new();
    while queries.next()? {
        let query = QueryId::new(queries.name.as_str());
        let name = quoted(&queries.name);
        if !queries.value.starts_with(b"{") {
            let what = format!(
                "query {name} is {}; expected an object of its documents and their numbers",
                describe(&queries.value)
            );
            return Err(queries.wrong(&what));
        }
        let scan = JsonScanner::from_line(queries.value.as_slice(), queries.line);
        let mut documents = ObjectMembers::new(scan);
        let numbers = numbers_of_query(&mut documents).map_err(|stop| stop.in_query(&name))?;
        if found.insert(query, numbers).is_some() {
            return Err(queries.wrong(&format!("{name} occurs twice; keep one")));
        }
    }
    match queries.scan.peek() {
        Err(ScanStop::End) => Ok(RanxNumbers(found)),
        Err(stop) => Err(stop.into()),
        Ok(_) => Err(queries.broken("more follows after the end of the object")),
    }
}

fn numbers_of_query<R: BufRead>(
    documents: &mut ObjectMembers<R>,
) -> Result<Vec<(DocId, f64)>, ReadStop> {
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    while documents.next()? {
        let document = DocId::new(documents.name.as_str());
        let name = quoted(&documents.name);
        if !seen.insert(document.clone()) {
            return Err(documents.wrong(&format!("{name} occurs twice; keep one")));
        }
        let Some(number) = finite(&documents.value) else {
            let what = format!(
                "the number of document {name} is {}; write a finite number, or remove the document",
                describe(&documents.value)
            );
            return Err(documents.wrong(&what));
        };
        found.push((document, number));
    }
    Ok(found)
}

fn finite(value: &[u8]) -> Option<f64> {
    let value: &RawValue = serde_json::from_slice(value).ok()?;
    number(value).ok()
}

/// Describes a value that is not a finite number, as part of a sentence.
fn describe(value: &[u8]) -> String {
    match serde_json::from_slice::<&RawValue>(value).map(kind) {
        Ok("a number" | "a boolean") | Err(_) => shown(value),
        Ok("a string") => format!("the string {}", shown(value)),
        Ok(kind) => kind.to_owned(),
    }
}

/// The text of a value, unquoted if it is a short word or number.
fn shown(value: &[u8]) -> String {
    let text = String::from_utf8_lossy(value);
    let bare = text.trim_matches('"');
    let is_word = |ch: char| ch.is_ascii_alphanumeric() || matches!(ch, '-' | '+' | '.');
    if bare.chars().all(is_word) && (1..40).contains(&bare.len()) {
        bare.to_owned()
    } else {
        quoted(bare)
    }
}

/// Why reading a file ended early.
enum ReadStop {
    Scan(ScanStop),
    Wrong { line: u64, what: String },
}

impl From<ScanStop> for ReadStop {
    fn from(stop: ScanStop) -> Self {
        Self::Scan(stop)
    }
}

impl ReadStop {
    fn in_query(self, query: &str) -> Self {
        match self {
            Self::Wrong { line, what } => Self::Wrong {
                line,
                what: format!("query {query}: {what}"),
            },
            other @ Self::Scan(_) => other,
        }
    }
}

/// The members of an object that makes up a whole text, with one of them in memory at a time.
struct ObjectMembers<R> {
    scan: JsonScanner<R>,
    is_begun: bool,
    name: String,
    /// The text of the value, as far as it could be read.
    value: Vec<u8>,
    /// The line on which the value starts, from 1.
    line: u64,
}

impl<R: BufRead> ObjectMembers<R> {
    fn new(scan: JsonScanner<R>) -> Self {
        Self {
            scan,
            is_begun: false,
            name: String::new(),
            value: Vec::new(),
            line: 0,
        }
    }

    /// Advances to the next member, and returns whether there is one.
    fn next(&mut self) -> Result<bool, ReadStop> {
        self.name.clear();
        self.value.clear();
        let is_first = !std::mem::replace(&mut self.is_begun, true);
        if is_first {
            self.scan.skip_mark()?;
            self.expect(b'{')?;
        }
        match self.scan.peek()? {
            b'}' => {
                self.scan.advance();
                return Ok(false);
            }
            b',' if !is_first => self.scan.advance(),
            _ if !is_first => return Err(self.broken("expected `,` or `}`")),
            _ => {}
        }
        let mut name = Vec::new();
        if self.scan.peek()? != b'"' {
            return Err(self.broken("expected the name of a member in quotes"));
        }
        self.scan.value(&mut name)?;
        self.name = serde_json::from_slice(&name).map_err(|error| self.broken(&reason(&error)))?;
        self.expect(b':')?;
        self.scan.peek()?;
        self.line = self.scan.line();
        self.scan.value(&mut self.value)?;
        Ok(true)
    }

    fn expect(&mut self, byte: u8) -> Result<(), ReadStop> {
        if self.scan.peek()? != byte {
            return Err(self.broken(&format!("expected `{}`", char::from(byte))));
        }
        self.scan.advance();
        Ok(())
    }

    /// A problem with the value that was read last.
    fn wrong(&self, what: &str) -> ReadStop {
        ReadStop::Wrong {
            line: self.line,
            what: what.to_owned(),
        }
    }

    /// The error for an unexpected next byte.
    fn broken(&self, what: &str) -> ReadStop {
        ReadStop::Wrong {
            line: self.scan.line(),
            what: format!(
                r#"broken JSON: {what}; ranx's form is {{"QUERY":{{"DOCUMENT":NUMBER}}}}"#
            ),
        }
    }
}

impl RanxNumbers {
    /// The numbers as scores. Skips queries without documents.
    pub fn run(self) -> RankedRun {
        let ranked = self.0.into_iter();
        ranked
            .filter(|(_, documents)| !documents.is_empty())
            .collect()
    }

    /// The numbers as grades, which must be integers.
    pub fn qrels(self, file: &str) -> Result<Qrels, Problem> {
        let mut qrels = Qrels::new();
        for (query, documents) in self.0 {
            let mut grades = BTreeMap::new();
            for (document, value) in documents {
                let whole = value.fract() == 0.0 && value.abs() <= f64::from(i32::MAX);
                if !whole {
                    let what = format!(
                        "the grade {value} of document {} of query {} is not a whole number; \
                         scores belong in a run",
                        quoted(document.as_str()),
                        quoted(query.as_str())
                    );
                    return Err(Problem::new(file, None, &what));
                }
                grades.insert(document, value as i32);
            }
            qrels.insert(query, grades);
        }
        Ok(qrels)
    }
}

/// Whether the beginning of a file contains scores (a number has a fraction) or grades. `None` if
/// it does not start like ranx's files, with an object of objects of numbers.
pub(super) fn holds_scores(start: &str) -> Option<bool> {
    let mut queries = ObjectMembers::new(JsonScanner::new(start.as_bytes()));
    let (mut is_known, mut has_fraction) = (false, false);
    loop {
        let next = queries.next();
        // The beginning may end inside a value, so check that one too.
        if matches!(next, Ok(false)) || queries.value.is_empty() {
            break;
        }
        if is_of_another_form(&queries.name, &queries.value) {
            return None;
        }
        if !is_known && queries.value != b"null" {
            is_known = may_hold_numbers(&queries.value);
            if !is_known {
                return None;
            }
        }
        has_fraction |= has_fractions(&queries.value);
        if next.is_err() {
            break;
        }
    }
    is_known.then_some(has_fraction)
}

/// Whether a member belongs to a dataset, to reranking requests, picks or votes.
fn is_of_another_form(name: &str, value: &[u8]) -> bool {
    match name {
        "documents" | "candidates" | "scored_pairs" => value.starts_with(b"["),
        "query" => value.starts_with(b"\"") || has_text(value),
        _ => false,
    }
}

/// Whether a member of the object is a string.
fn has_text(object: &[u8]) -> bool {
    let mut members = ObjectMembers::new(JsonScanner::new(object));
    loop {
        let next = members.next();
        if members.value.starts_with(b"\"") {
            return true;
        }
        if !matches!(next, Ok(true)) {
            return false;
        }
    }
}

/// Whether a value is an object that is empty, or whose first member is not a string. Other
/// non-numeric values are reported when the file is read.
fn may_hold_numbers(value: &[u8]) -> bool {
    let mut members = ObjectMembers::new(JsonScanner::new(value));
    let is_empty = matches!(members.next(), Ok(false));
    let first = String::from_utf8_lossy(&members.value);
    let text = first
        .strip_prefix('"')
        .map(|text| text.trim_end_matches('"'));
    let is_text = text.is_some_and(|text| text.parse::<f64>().is_err());
    value.starts_with(b"{") && (is_empty || !first.is_empty() && !is_text)
}

/// Whether a member of the object is a number with a fraction or an exponent.
fn has_fractions(object: &[u8]) -> bool {
    let mut members = ObjectMembers::new(JsonScanner::new(object));
    loop {
        let next = members.next();
        let is_text = members.value.starts_with(b"\"");
        if !is_text && members.value.iter().any(|byte| b".eE".contains(byte)) {
            return true;
        }
        if !matches!(next, Ok(true)) {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(r#"{"q1":{"d1":1,"d2":0}}"#, Some(false))]
    #[case("{\n  \"q_1\": {\n    \"d.e\": 0.9,", Some(true))]
    #[case(r#"{"q":{"e.5":3, "d": -2}, "#, Some(false))]
    #[case(r#"{"q":{"5\" nail":1,"v1.0":2}}"#, Some(false))]
    #[case(r#"{"q":{},"r":{"d":1e-3}}"#, Some(true))]
    #[case(r#"{"query":{"id":"q","query":"x"},"documents":[]}"#, None)]
    #[case(r#"{"scored_pairs":[]}"#, None)]
    #[case(r#"{"query":{"id":1048585,"query":"how long"},"documents":[]}"#, None)]
    #[case(r#"{"query":{"qid":7.5,"text":"how, long"}"#, None)]
    #[case(r#"{"q":{"d":1, "e":2"#, Some(false))]
    #[case("{}", None)]
    #[case(r#"{"q":{"d":null}}"#, Some(false))]
    #[case(r#"{"q":{"d":NaN, "e":0.5}}"#, Some(true))]
    #[case(r#"{"q":null,"r":{"d":"0.5"}}"#, Some(false))]
    #[case(r#"{"q":{"d":1},"query":{"d":[2]"#, Some(false))]
    #[case(r#"{"q":{"d":[1]}}"#, Some(false))]
    #[case(r#"{"query":{"id":7},"documents":[]}"#, None)]
    #[case(r#"{"meta":{"version":1},"query":{"id":"q","query":"x"}}"#, None)]
    #[case(r#"{"data":{"text":"x"},"id":1}"#, None)]
    fn recognized_by_its_beginning(#[case] start: &str, #[case] expected: Option<bool>) {
        assert_eq!(holds_scores(start), expected);
    }

    #[test]
    fn numbers_become_scores_or_grades_and_nothing_comes_twice() {
        let run = read_ranx(r#"{"q":{"b":1,"a":2.5},"none":{}}"#.as_bytes(), "r")
            .unwrap()
            .run();
        let ranked = [(DocId::new("b"), 1.0), (DocId::new("a"), 2.5)];
        assert_eq!(run[&QueryId::new("q")], ranked);
        assert_eq!(run.len(), 1);
        let qrels = |text: &str| read_ranx(text.as_bytes(), "q")?.qrels("q");
        assert_eq!(
            qrels(r#"{"q":{"a":2}}"#).unwrap()[&QueryId::new("q")][&DocId::new("a")],
            2
        );
        for (text, words) in [
            (r#"{"q":{"a":0.5}}"#, "q: the grade 0.5 of document \"a\""),
            (
                "{\"q\":{\"a\":1,\n\"a\":2}}",
                "q:2: query \"q\": \"a\" occurs twice; keep one",
            ),
            (r#"{"q":{},"q":{}}"#, "q:1: \"q\" occurs twice"),
            (
                r#"{"q":[1]}"#,
                r#"q:1: query "q" is an array; expected an object of its documents"#,
            ),
            (
                r#"{"q":{"a":1}"#,
                "q:1: the file is cut off inside the JSON",
            ),
            (
                r#"{"q":{"a":1}} {"r":{}}"#,
                "q:1: broken JSON: more follows after the end of the object",
            ),
            (
                r#"{"q":{"a":1,}}"#,
                r#"q:1: query "q": broken JSON: expected the name of a member in quotes"#,
            ),
        ] {
            let found = qrels(text).unwrap_err().to_string();
            assert!(found.starts_with(words), "{found}");
        }
    }

    #[rstest]
    #[case("null", "null")]
    #[case("NaN", "NaN")]
    #[case("-Infinity", "-Infinity")]
    #[case("nan", "nan")]
    #[case("1e999", "1e999")]
    #[case("-1E+999", "-1E+999")]
    #[case("\"0.5\"", "the string 0.5")]
    #[case("true", "true")]
    #[case("[1]", "an array")]
    #[case("{}", "an object")]
    #[case("0.5.1", "0.5.1")]
    fn a_value_that_is_not_a_finite_number_is_named(#[case] value: &str, #[case] told: &str) {
        let text = format!("\u{feff}{{\"q1\": {{\"b\": 1,\n \"a\": {value}, \"c\": 2}}}}");
        let problem = read_ranx(text.as_bytes(), "r.json")
            .unwrap_err()
            .to_string();
        let expected = format!(
            "r.json:2: query \"q1\": the number of document \"a\" is {told}; write a finite \
             number, or remove the document"
        );
        assert_eq!(problem, expected);
        assert!(holds_scores(text.trim_start_matches('\u{feff}')).is_some());
    }
}
