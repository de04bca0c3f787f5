//! Exports and labels that features add.

use crate::app::error::AppError;
use crate::domain::metrics::Qrels;
use crate::formats::table_file::TableFormat;
use crate::store::Store;
use crate::store::corpus::QueryKey;
use std::fmt;
use std::io::Write;
use std::ptr;

/// A table that a feature writes.
pub trait AddedExport: fmt::Debug + Send + Sync {
    /// Writes the rows of these queries. Messages for the user go to `tell`.
    fn write(
        &self,
        store: &Store,
        keys: &[QueryKey],
        format: TableFormat,
        out: &mut (dyn Write + Send),
        tell: &mut dyn FnMut(&str),
    ) -> Result<(), AppError>;
}

/// Equal only to itself.
impl PartialEq for dyn AddedExport {
    fn eq(&self, other: &Self) -> bool {
        ptr::addr_eq(self, other)
    }
}

impl Eq for dyn AddedExport {}

/// Labels that a feature has made, with their origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedLabels {
    pub labels: Qrels,
    /// Their origin, to follow their number: "by …".
    pub origin: String,
    pub notes: Vec<String>,
}
