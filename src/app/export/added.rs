//! Exports and labels that features add.

use crate::app::error::AppError;
use crate::domain::metrics::Qrels;
use crate::formats::table_file::TableFormat;
use crate::store::Store;
use crate::store::corpus::QueryKey;
use std::fmt;
use std::io::Write;
use std::ptr;
use std::sync::Arc;

/// The formats of a table, the default first.
pub const TABLES: [TableFormat; 3] = [TableFormat::Csv, TableFormat::Jsonl, TableFormat::Parquet];

/// Rows that a feature writes.
pub trait AddedExport: fmt::Debug + Send + Sync {
    /// The formats in which it can be written, the default first.
    fn formats(&self) -> &'static [TableFormat] {
        &TABLES
    }

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

/// A page that a feature writes about the whole project.
pub trait AddedPage: fmt::Debug + Send + Sync {
    fn html(&self, store: &Store) -> Result<String, AppError>;
}

/// Equal only to itself.
impl PartialEq for dyn AddedPage {
    fn eq(&self, other: &Self) -> bool {
        ptr::addr_eq(self, other)
    }
}

impl Eq for dyn AddedPage {}

/// A page that the dialog of exports offers.
#[derive(Clone, Copy, Debug)]
pub struct OfferedPage {
    pub name: &'static str,
    /// What it shows, in a few words.
    pub doc: &'static str,
    /// The suggested file name.
    pub file: &'static str,
    /// Prepares it for this annotator.
    pub page: fn(&str) -> Arc<dyn AddedPage>,
}

/// Labels that a feature has made, with their origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedLabels {
    pub labels: Qrels,
    /// Their origin, to follow their number: "by …".
    pub origin: String,
    pub notes: Vec<String>,
}
