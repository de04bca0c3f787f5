//! The metadata fields of a query's documents, by which its scores can be compared.

use crate::domain::ranking::{Slice, View, slices};
use crate::judge::metadata::MetadataFields;
use crate::store::corpus::DocumentInfo;

/// The names of the fields that the documents have, in the order in which they first occur, without
/// those that give labels away, and without titles.
pub fn fields(documents: &[DocumentInfo]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for document in documents {
        for (name, _) in MetadataFields::All.values(&document.metadata) {
            if name != "title" && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// The slices of a query by a field; documents without it, or with null, are in a slice without a
/// value.
pub fn by_field(view: &View, documents: &[DocumentInfo], field: &str, top: usize) -> Vec<Slice> {
    let values: Vec<Option<String>> = documents
        .iter()
        .map(|document| {
            MetadataFields::All
                .values(&document.metadata)
                .into_iter()
                .find(|(name, _)| name == field)
                .map(|(_, value)| value)
                .filter(|value| value != "null")
        })
        .collect();
    slices(view, top, &values)
}
