//! Ratings exported from a case of Quepid: a CSV file with the columns `query`, `docid` and
//! `rating`, where `query` is the text of the query. A row without a rating is unjudged.

use super::tool_format::{
    ExportedLabels, FormatInfo, JudgmentItem, ReadItem, ToolFormat, unwritable,
};
use crate::domain::corpus::{DocId, QueryId};
use crate::formats::answers::AnswerOptions;
use crate::formats::columns::{GradedDocument, Layout, TableContent, read_labels};
use crate::formats::csv_cell::protected_cell;
use crate::formats::lines::TextLines;
use crate::formats::listed::FormatNames;
use crate::formats::problem::{Problem, quoted};
use std::io::{self, BufRead, Write};

const HEADER: [&str; 3] = ["query", "docid", "rating"];

static INFO: FormatInfo = FormatInfo {
    names: FormatNames {
        name: "quepid",
        describe: "ratings (Quepid)",
        looks_like: "query,docid,rating",
    },
    file_words: "CSV (.csv)",
    endings: &["csv"],
    needs_index: false,
    writes_documents: false,
    is_written: true,
    unrated: "row",
};

pub(super) struct Quepid;

impl ToolFormat for Quepid {
    fn info(&self) -> &'static FormatInfo {
        &INFO
    }

    fn recognizes(&self, start: &str) -> bool {
        let header = start.lines().next().unwrap_or_default().split(',');
        header
            .map(|cell| cell.trim().trim_matches('"').to_lowercase())
            .eq(HEADER)
    }

    fn read(
        &self,
        reader: &mut dyn BufRead,
        file: &str,
        _: &AnswerOptions,
        found: &mut dyn FnMut(ReadItem),
    ) {
        match self.layout(reader, file) {
            Err(problem) => found(Err(problem)),
            Ok(layout) => read_labels(reader, file, &layout).for_each(|row| {
                found(row.and_then(|(line, label)| match label.map(unprotected) {
                    Some(label) if label.query.as_str().is_empty() => {
                        Err(Problem::new(file, Some(line), "query: is empty"))
                    }
                    Some(label) if label.document.as_str().is_empty() => {
                        Err(Problem::new(file, Some(line), "docid: is empty"))
                    }
                    Some(label) => Ok(JudgmentItem::Label(line, label)),
                    None => Ok(JudgmentItem::Unrated),
                }));
            }),
        }
    }

    fn write(&self, out: &mut dyn Write, labels: &ExportedLabels<'_>) -> io::Result<()> {
        let mut csv = csv::Writer::from_writer(out);
        csv.write_record(HEADER)?;
        for (text, _, grades) in labels.queries_by_text()? {
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            for (document, grade) in grades {
                // Quepid itself protects cells from spreadsheets with a space.
                csv.write_record([
                    &*protected_cell(&text, ' '),
                    &*protected_cell(checked(document)?, ' '),
                    &grade.to_string(),
                ])?;
            }
        }
        csv.flush()
    }
}

impl Quepid {
    /// The layout of the columns, if the file begins with the header.
    fn layout(&self, reader: &mut dyn BufRead, file: &str) -> Result<Layout, Problem> {
        let start = reader
            .fill_buf()
            .map_err(|error| Problem::new(file, None, format!("cannot be read: {error}")))?;
        let mut lines = TextLines::new(start, file);
        let header = match lines.next() {
            None => return Err(Problem::new(file, None, "is empty")),
            Some(line) => line?.text().map(str::to_owned),
        };
        let header = header.map_err(|error| lines.problem(error))?;
        if !self.recognizes(&header) {
            let what = "is not the header of Quepid's ratings, which is query,docid,rating";
            return Err(lines.problem(what));
        }
        Layout::of(&header, Some(TableContent::Labels)).map_err(|error| lines.problem(error))
    }
}

/// The label without the spaces that protect quoted cells from spreadsheets.
fn unprotected(label: GradedDocument) -> GradedDocument {
    GradedDocument {
        query: QueryId::new(label.query.as_str().trim()),
        document: DocId::new(label.document.as_str().trim()),
        ..label
    }
}

/// The identifier, if it can be read back from a cell.
fn checked(document: &DocId) -> io::Result<&str> {
    let id = document.as_str();
    if id.trim().is_empty() || id.trim() != id || id.chars().any(char::is_control) {
        return Err(unwritable(format!(
            "the identifier {} is blank, begins or ends with white space or has control \
             characters, which a CSV file of ratings cannot hold",
            quoted(id)
        )));
    }
    Ok(id)
}
