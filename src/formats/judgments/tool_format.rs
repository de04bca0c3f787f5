//! What a format of judgments is: how it looks, and how it is read and written.

use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::Qrels;
use crate::domain::sanitize::is_hazard;
use crate::formats::answers::AnswerOptions;
use crate::formats::columns::GradedDocument;
use crate::formats::listed::FormatNames;
use crate::formats::problem::{Problem, quoted};
use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead, Write};

/// Judgments of one tool: how they look, and how they are read and written.
pub trait ToolFormat: Sync {
    fn info(&self) -> &FormatInfo;

    /// Whether a file that begins with `start`, without leading whitespace, is in this format.
    /// `start` may end anywhere.
    fn recognizes(&self, start: &str) -> bool;

    /// Reads a whole file, including all of its problems. `file` is the file's name in problems.
    fn read(
        &self,
        reader: &mut dyn BufRead,
        file: &str,
        options: &AnswerOptions,
        found: &mut dyn FnMut(ReadItem),
    );

    /// Writes labels. Use a buffered `out`.
    ///
    /// # Errors
    /// If the format cannot represent a query or a document.
    fn write(&self, out: &mut dyn Write, labels: &ExportedLabels<'_>) -> io::Result<()>;
}

/// The description of a format.
#[derive(Debug)]
pub struct FormatInfo {
    pub names: FormatNames,
    /// The kind of file and its extension, as part of a sentence.
    pub file_words: &'static str,
    /// Extensions of files in this format.
    pub endings: &'static [&'static str],
    /// Whether writing needs the name of a search index.
    pub needs_index: bool,
    /// Whether the texts of documents are written, too.
    pub writes_documents: bool,
    /// Whether labels can be written, because the tool reads such files.
    pub is_written: bool,
    /// What a note calls a record without a grade.
    pub unrated: &'static str,
}

/// An item of a file, or a problem.
pub type ReadItem = Result<JudgmentItem, Problem>;

/// An item of a file of judgments.
pub enum JudgmentItem {
    /// A label, and its line from 1.
    Label(u64, GradedDocument),
    /// A person's grade, which others may differ from.
    Rating(Rating),
    /// The text of a query that the file names by an identifier, and its line from 1.
    Text(u64, QueryId, String),
    /// A document that nobody has rated.
    Unrated,
}

/// A person's grade of a document.
pub struct Rating {
    /// From 1.
    pub(super) line: u64,
    pub(super) label: GradedDocument,
    /// The person's name; empty if the file has none.
    pub(super) rater: String,
    /// Whether the document may be named by its text.
    pub(super) may_be_text: bool,
}

/// Labels to write, with what the formats need besides them.
#[derive(Clone, Copy, Debug)]
pub struct ExportedLabels<'a> {
    pub labels: &'a Qrels,
    /// Texts of the queries.
    pub texts: &'a BTreeMap<QueryId, String>,
    /// Texts of the documents, as far as the project has them.
    pub documents: &'a BTreeMap<QueryId, HashMap<DocId, String>>,
    /// Name of the search index that has the documents.
    pub index: Option<&'a str>,
}

/// A query to write: its text, its identifier and its grades.
pub(super) type ExportedQuery<'a> = (&'a str, &'a QueryId, &'a BTreeMap<DocId, i32>);

impl<'a> ExportedLabels<'a> {
    /// The queries with their texts.
    ///
    /// # Errors
    /// If a query has no text.
    pub(super) fn queries(&self) -> io::Result<Vec<ExportedQuery<'a>>> {
        let mut queries = Vec::with_capacity(self.labels.len());
        for (query, grades) in self.labels.iter().filter(|(_, grades)| !grades.is_empty()) {
            let text = self.texts.get(query).ok_or_else(|| {
                unwritable(format!(
                    "query {} has labels but no text in the project; import its text, name other \
                     queries with --query, or use --form trec",
                    quoted(query.as_str())
                ))
            })?;
            queries.push((text.as_str(), query, grades));
        }
        Ok(queries)
    }

    /// The queries with their texts, by which the format identifies them.
    ///
    /// # Errors
    /// If a query has no text, or if two queries have the same text.
    pub(super) fn queries_by_text(&self) -> io::Result<Vec<ExportedQuery<'a>>> {
        let queries = self.queries()?;
        let mut ids_by_text: BTreeMap<String, &QueryId> = BTreeMap::new();
        for (text, query, _) in &queries {
            if let Some(first) = ids_by_text.insert(comparable_text(text), query) {
                return Err(unwritable(format!(
                    "queries {} and {} have the same text, by which this format identifies them; \
                     name one of them with --query, or use --form trec",
                    quoted(first.as_str()),
                    quoted(query.as_str())
                )));
            }
        }
        Ok(queries)
    }
}

pub(super) fn unwritable(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

/// The text of a query for comparisons: runs of whitespace count as one space, and invisible
/// characters, which some formats cannot hold, do not count. Case matters.
pub fn comparable_text(text: &str) -> String {
    let words = text.split_whitespace().map(|word| {
        word.chars()
            .filter(|ch| !is_hazard(*ch))
            .collect::<String>()
    });
    words
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}
