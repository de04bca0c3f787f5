//! Judgment lists of OpenSearch's Search Relevance Workbench: JSON with `judgmentRatings`, each with
//! the text of a `query` and a list of `ratings`. They are sent to its API, which returns them inside
//! `hits`.

use super::rated_lists::{RatedLists, Step};
use super::tool_format::{ExportedLabels, FormatInfo, ReadItem, ToolFormat};
use crate::formats::answers::AnswerOptions;
use crate::formats::json_scan::first_members;
use crate::formats::listed::FormatNames;
use crate::formats::problem::Problem;
use crate::formats::safe_json;
use serde_json::{Value, json};
use std::io::{self, BufRead, Write};

static INFO: FormatInfo = FormatInfo {
    names: FormatNames {
        name: "opensearch",
        describe: "judgments (OpenSearch)",
        looks_like: "an object with \"judgmentRatings\"",
    },
    file_words: "JSON (.json)",
    endings: &["json"],
    needs_index: false,
    writes_documents: false,
    is_written: true,
    unrated: "row",
};

const RATINGS: &str = "judgmentRatings";

/// A judgment list as it is sent.
static SENT: RatedLists = RatedLists {
    path: &[Step::Member(RATINGS), Step::Elements],
    list: RATINGS,
    query: "query",
    document: "docId",
};

/// A judgment list as it is returned, or several.
static RETURNED: RatedLists = RatedLists {
    path: &[
        Step::Member("hits"),
        Step::Member("hits"),
        Step::Elements,
        Step::Member("_source"),
        Step::Member(RATINGS),
        Step::Elements,
    ],
    list: RATINGS,
    query: "query",
    document: "docId",
};

pub(super) struct Workbench;

impl ToolFormat for Workbench {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn recognizes(&self, start: &str) -> bool {
        let members = first_members(start);
        let has = |name: &str, byte| members.iter().any(|(is, next)| is == name && *next == byte);
        has(RATINGS, b'[') || is_returned(start) && start.contains("\"judgmentRatings\"")
    }

    fn read(
        &self,
        reader: &mut dyn BufRead,
        file: &str,
        _: &AnswerOptions,
        found: &mut dyn FnMut(ReadItem),
    ) {
        let is_returned = match reader.fill_buf() {
            Ok(start) => is_returned(&String::from_utf8_lossy(start)),
            Err(error) => {
                let problem = Problem::new(file, None, format!("cannot be read: {error}"));
                return found(Err(problem));
            }
        };
        let lists = if is_returned { &RETURNED } else { &SENT };
        lists.read(reader, file, found);
    }

    fn write(&self, out: &mut dyn Write, labels: &ExportedLabels<'_>) -> io::Result<()> {
        let queries = labels.queries_by_text()?;
        writeln!(
            out,
            r#"{{"name":"Overrule","description":"Labels exported by Overrule","type":"IMPORT_JUDGMENT","judgmentRatings":["#
        )?;
        for (at, (text, _, grades)) in queries.iter().enumerate() {
            // The workbench expects ratings as strings.
            let rating = |(document, grade): (_, &i32)| json!({"docId": document, "rating": grade.to_string()});
            let ratings: Vec<Value> = grades.iter().map(rating).collect();
            let list = json!({"query": text, "ratings": ratings});
            let comma = if at + 1 < queries.len() { "," } else { "" };
            writeln!(out, "{}{comma}", safe_json::compact(&list)?)?;
        }
        writeln!(out, "]}}")
    }
}

/// Whether a file that begins with `start` is an answer of the API.
fn is_returned(start: &str) -> bool {
    let start = start.trim_start_matches('\u{feff}').trim_start();
    first_members(start).contains(&("hits".to_owned(), b'{'))
}
