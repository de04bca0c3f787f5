//! Imports labels into a project.

use super::imported::{KnownQueries, without_pool};
use crate::app::error::AppError;
use crate::app::input_files::display_name;
use crate::app::text_format::counted;
use crate::domain::metrics::Qrels;
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
}

pub(super) fn import(store: &Store, path: &Path, labels: Qrels) -> Result<LabelsImport, AppError> {
    let known = KnownQueries::read(store)?;
    Ok(LabelsImport {
        file: display_name(path),
        labels: labels.values().map(|grades| grades.len()).sum(),
        unknown_queries: known.lacking(labels.keys()),
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
        )
    }
}
