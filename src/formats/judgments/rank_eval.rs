//! Requests of the ranking evaluation API (`_rank_eval`) of Elasticsearch and OpenSearch: JSON with
//! `requests`, each with an `id` and a list of `ratings`.

use super::rated_lists::{RatedLists, Step};
use super::tool_format::{ExportedLabels, FormatInfo, ReadItem, ToolFormat, unwritable};
use crate::formats::answers::AnswerOptions;
use crate::formats::json_scan::first_members;
use crate::formats::listed::FormatNames;
use crate::formats::safe_json;
use serde_json::{Value, json};
use std::io::{self, BufRead, Write};

static INFO: FormatInfo = FormatInfo {
    names: FormatNames {
        name: "rank-eval",
        describe: "ratings for _rank_eval (Elasticsearch, OpenSearch)",
        looks_like: "an object with \"requests\" and \"ratings\"",
    },
    file_words: "JSON (.json)",
    endings: &["json"],
    needs_index: true,
    writes_documents: false,
    is_written: true,
    unrated: "row",
};

static LISTS: RatedLists = RatedLists {
    path: &[Step::Member("requests"), Step::Elements],
    list: "requests",
    query: "id",
    document: "_id",
};

pub(super) struct RankEval;

impl ToolFormat for RankEval {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn recognizes(&self, start: &str) -> bool {
        let members = first_members(start);
        let has = |name: &str, byte| members.iter().any(|(is, next)| is == name && *next == byte);
        has("requests", b'[') && (start.contains("\"ratings\"") || has("metric", b'{'))
    }

    fn read(
        &self,
        reader: &mut dyn BufRead,
        file: &str,
        _: &AnswerOptions,
        found: &mut dyn FnMut(ReadItem),
    ) {
        LISTS.read(reader, file, found);
    }

    /// Each request searches all default fields of the index for the text of its query.
    fn write(&self, out: &mut dyn Write, labels: &ExportedLabels<'_>) -> io::Result<()> {
        let queries = labels.queries()?;
        let index = labels.index.ok_or_else(|| {
            unwritable(
                "ratings for _rank_eval name the index of each document; name it with --index"
                    .to_owned(),
            )
        })?;
        writeln!(out, "{{\"requests\":[")?;
        for (at, (text, query, grades)) in queries.iter().enumerate() {
            let rating =
                |(document, grade)| json!({"_index": index, "_id": document, "rating": grade});
            let ratings: Vec<Value> = grades.iter().map(rating).collect();
            let request = json!({
                "id": query,
                "request": {"query": {"multi_match": {"query": text}}},
                "ratings": ratings,
            });
            let comma = if at + 1 < queries.len() { "," } else { "" };
            writeln!(out, "{}{comma}", safe_json::compact(&request)?)?;
        }
        let metric = json!({"dcg": {"k": 10, "normalize": true}});
        writeln!(out, "],\"metric\":{metric}}}")
    }
}
