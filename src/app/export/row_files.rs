//! Files that other programs read as text, written as tables in Parquet: runs, labels, annotated
//! documents and picks.

use crate::app::error::AppError;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::Qrels;
use crate::formats::table_file::{CellKind, Column, TableFormat, TableWriter};
use crate::formats::trec;
use serde_json::{Map, Value, json};
use std::io::{self, Write};

const RUN: [Column; 5] = [
    Column::text("query"),
    Column::text("document"),
    Column::whole("rank"),
    Column::number("score"),
    Column::text("tag"),
];

const LABELS: [Column; 3] = [
    Column::text("query"),
    Column::text("document"),
    Column::whole("grade"),
];

/// The columns of annotated documents: those of the query begin with `query`.
pub(super) const ANNOTATED: [Column; 8] = [
    Column::text("query"),
    Column::text("query_text"),
    Column::of("query_fields", CellKind::Json).or_null(),
    Column::text("document"),
    Column::text("content"),
    Column::number("score").or_null(),
    Column::of("metadata", CellKind::Json).or_null(),
    Column::of("fields", CellKind::Json).or_null(),
];

/// The columns of picks, as in their JSON lines. One of `slots`, `verdicts`, `invalid` and `failure`
/// is not null.
pub(super) const PICKS: [Column; 24] = [
    Column::text("query"),
    Column::text("judge"),
    Column::text("provider"),
    Column::text("model"),
    Column::text("prompt"),
    Column::text("call"),
    Column::whole("permutation"),
    Column::of("ask", CellKind::Json),
    Column::of("order", CellKind::Texts),
    Column::whole("attempt"),
    Column::of("slots", CellKind::Json).or_null(),
    Column::of("verdicts", CellKind::Json).or_null(),
    Column::of("invalid", CellKind::Json).or_null(),
    Column::text("failure").or_null(),
    Column::flag("again"),
    Column::of("thoughts", CellKind::Texts),
    Column::text("answered_by").or_null(),
    Column::text("raw").or_null(),
    Column::flag("truncated"),
    Column::whole("tokens_input"),
    Column::whole("tokens_output"),
    Column::number("cost_usd").or_null(),
    Column::number("latency_ms"),
    Column::of("created_ms", CellKind::Time),
];

/// A run that is being written.
pub enum RunFile<'a> {
    /// In TREC's columns.
    Trec(&'a mut (dyn Write + Send)),
    Table(TableWriter<'a>),
}

impl<'a> RunFile<'a> {
    /// A run in TREC's columns, or as a table.
    pub fn new(format: Option<TableFormat>, out: &'a mut (dyn Write + Send)) -> io::Result<Self> {
        Ok(match format {
            None => Self::Trec(out),
            Some(format) => Self::Table(TableWriter::new(&RUN, format, out)?),
        })
    }

    /// Adds the documents of a query, best first.
    ///
    /// # Errors
    /// An identifier does not fit in one of TREC's columns.
    pub fn add(
        &mut self,
        query: &QueryId,
        ranking: &[(DocId, f64)],
        tag: &str,
    ) -> Result<(), AppError> {
        let table = match self {
            Self::Trec(out) => return Ok(trec::write_run(out, query, ranking, tag)?),
            Self::Table(table) => table,
        };
        for (at, (document, score)) in ranking.iter().enumerate() {
            table.write(json!({
                "query": query,
                "document": document,
                "rank": at + 1,
                "score": score,
                "tag": tag,
            }))?;
        }
        Ok(())
    }

    /// Writes what remains; without this call the file is incomplete.
    pub fn finish(self) -> io::Result<()> {
        match self {
            Self::Trec(out) => out.flush(),
            Self::Table(table) => table.finish(),
        }
    }
}

/// Writes labels as a table.
pub(super) fn write_label_rows(
    labels: &Qrels,
    format: TableFormat,
    out: &mut (dyn Write + Send),
) -> io::Result<()> {
    let mut table = TableWriter::new(&LABELS, format, out)?;
    for (query, grades) in labels {
        for (document, grade) in grades {
            table.write(json!({ "query": query, "document": document, "grade": grade }))?;
        }
    }
    table.finish()
}

/// Turns JSON lines that are written to it into rows of a table.
pub(super) struct RowsOfLines<'a> {
    table: TableWriter<'a>,
    /// The rows of a line.
    rows: fn(Value) -> Vec<Value>,
    /// The beginning of a line whose end is not written yet.
    line: Vec<u8>,
}

impl<'a> RowsOfLines<'a> {
    pub(super) fn new(
        columns: &'a [Column],
        format: TableFormat,
        rows: fn(Value) -> Vec<Value>,
        out: &'a mut (dyn Write + Send),
    ) -> io::Result<Self> {
        Ok(Self {
            table: TableWriter::new(columns, format, out)?,
            rows,
            line: Vec::new(),
        })
    }

    pub(super) fn finish(self) -> io::Result<()> {
        self.table.finish()
    }
}

impl Write for RowsOfLines<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend(part);
            if part.ends_with(b"\n") {
                let line = serde_json::from_slice(&self.line)?;
                self.line.clear();
                for row in (self.rows)(line) {
                    self.table.write(row)?;
                }
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A pick is a row. Its line has `again` only if it is true.
pub(super) fn pick_rows(mut line: Value) -> Vec<Value> {
    if line["again"].is_null() {
        line["again"] = json!(false);
    }
    vec![line]
}

/// One row per document of a line of zBench's annotated format.
pub(super) fn annotated_rows(mut line: Value) -> Vec<Value> {
    let documents = match line["documents"].take() {
        Value::Array(documents) => documents,
        _ => Vec::new(),
    };
    let mut query = members(line["query"].take());
    let (id, text) = (query.remove("id"), query.remove("query"));
    let rows = documents.into_iter().map(|document| {
        let mut document = members(document);
        json!({
            "query": id,
            "query_text": text,
            "query_fields": others(query.clone()),
            "document": document.remove("id"),
            "content": document.remove("content"),
            "score": document.remove("score"),
            "metadata": document.remove("metadata"),
            "fields": others(document),
        })
    });
    rows.collect()
}

fn members(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// Further members; null if there are none.
fn others(members: Map<String, Value>) -> Value {
    if members.is_empty() {
        Value::Null
    } else {
        Value::Object(members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_rows_however_they_are_cut() {
        let line = json!({
            "query": { "id": "q", "query": "trams?", "lang": "en" },
            "documents": [
                { "id": "a", "content": "x\ny", "score": 0.5, "metadata": { "price": 3 } },
                { "id": "b", "content": "", "score": null, "title": "B" },
            ],
        });
        let text = format!("{line}\n{line}\n");
        let mut whole = Vec::new();
        for size in [1, 7, text.len()] {
            let mut out = Vec::new();
            let mut rows =
                RowsOfLines::new(&ANNOTATED, TableFormat::Jsonl, annotated_rows, &mut out).unwrap();
            for part in text.as_bytes().chunks(size) {
                rows.write_all(part).unwrap();
            }
            rows.finish().unwrap();
            assert_eq!(String::from_utf8_lossy(&out).lines().count(), 4);
            if whole.is_empty() {
                whole.clone_from(&out);
            }
            assert_eq!(out, whole);
        }
        let first: Value =
            serde_json::from_slice(whole.split(|byte| *byte == b'\n').next().unwrap()).unwrap();
        assert_eq!(first["content"], "x\ny");
        assert_eq!(first["query_fields"], json!({ "lang": "en" }));
        assert_eq!(first["metadata"], json!({ "price": 3 }));
    }
}
