//! Imports labels into a project.

use super::imported::without_pool;
use super::label_queries::{MatchedLabels, QueryMatch, describe_match, match_queries};
use crate::app::error::AppError;
use crate::app::input_files::{FoundLabels, display_name};
use crate::app::text_format::counted;
use crate::domain::sanitize;
use crate::store::{Store, StoreError};
use serde::Serialize;
use std::fmt::{self, Display};
use std::path::Path;

#[derive(Clone, Debug, Serialize)]
pub struct LabelsImport {
    file: String,
    labels: usize,
    labels_added: usize,
    unknown_queries: usize,
    /// How the queries were found in the project; `None` if none of them was.
    matched_by: Option<QueryMatch>,
    queries_matched: usize,
    /// Queries whose text is not in the project; their labels are not among `labels`.
    queries_skipped: usize,
    /// Whether the file may name queries in both ways.
    #[serde(skip)]
    tells_match: bool,
}

/// The labels with the identifiers of the project's queries and documents.
pub(super) fn matched_labels(
    store: &Store,
    path: &Path,
    mut found: FoundLabels,
    wanted: Option<QueryMatch>,
) -> Result<MatchedLabels, AppError> {
    let project = store.read_blocking(|db| db.queries())?;
    let lines = std::mem::take(&mut found.document_lines);
    let mut matched = match_queries(path, found, &project, wanted)?;
    if !lines.is_empty() {
        matched.match_documents(path, &lines, store)?;
    }
    Ok(matched)
}

pub(super) fn import(
    store: &Store,
    path: &Path,
    found: FoundLabels,
    wanted: Option<QueryMatch>,
) -> Result<LabelsImport, AppError> {
    let is_empty = store.read_blocking(|db| db.queries())?.is_empty();
    let tells_match = found.may_name_texts || wanted.is_some();
    let matched = matched_labels(store, path, found, wanted)?;
    let labels = matched.labels;
    let unknown = labels.len() - matched.found;
    Ok(LabelsImport {
        file: display_name(path),
        labels: labels.values().map(|grades| grades.len()).sum(),
        unknown_queries: if is_empty { 0 } else { unknown },
        matched_by: matched.by.filter(|_| matched.found > 0),
        queries_matched: matched.found,
        queries_skipped: matched.skipped,
        tells_match,
        labels_added: store
            .write_blocking(move |db| db.put_labels(&labels))
            .map_err(|error| match error {
                StoreError::Conflict(what) => AppError::file(path, what),
                error => error.into(),
            })?,
    })
}

impl Display for LabelsImport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {}, {} new, {} already there{}",
            sanitize::line(&self.file),
            counted(self.labels, "label"),
            self.labels_added,
            self.labels - self.labels_added,
            without_pool(self.unknown_queries)
        )?;
        if self.tells_match {
            let words = describe_match(self.matched_by, self.queries_matched, self.queries_skipped);
            f.write_str(&words)?;
        }
        Ok(())
    }
}
