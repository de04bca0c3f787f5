//! Notes on truncated documents: how many there are, and whether methods were compared on the same
//! texts.

use super::report::MethodEntry;
use crate::app::text_format::{counted, first_names};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::number_words::count;
use std::collections::{BTreeMap, BTreeSet};

/// Notes on the documents that were truncated for these methods.
pub(super) fn truncation_notes(methods: &[MethodEntry]) -> Vec<String> {
    let mut notes: Vec<String> = cut_documents(methods)
        .into_iter()
        .map(|(chars, documents)| {
            let queries: BTreeSet<&QueryId> = documents.iter().map(|(query, _)| *query).collect();
            format!(
                "{} of {} truncated to {} characters",
                counted(documents.len(), "document"),
                counted(queries.len(), "query"),
                count(chars)
            )
        })
        .collect();
    let limits = different_limits(methods);
    if limits.len() > 1 {
        let limits = limits.into_iter().map(|(chars, names)| {
            let names: Vec<&str> = names.into_iter().collect();
            match chars {
                Some(chars) => format!("{} characters for {}", count(chars), first_names(&names)),
                None => format!("whole for {}", first_names(&names)),
            }
        });
        notes.push(format!(
            "methods ranked different texts: long documents were shown with {}; rank with the same \
             --max-document-chars to compare them",
            limits.collect::<Vec<_>>().join(", ")
        ));
    }
    let earlier: Vec<&str> = methods
        .iter()
        .filter(|method| {
            let mut rows = method.rows.values();
            rows.any(|row| row.cut.is_none() && row.truncated > 0)
        })
        .map(|method| method.name.as_str())
        .collect();
    if !earlier.is_empty() {
        notes.push(format!(
            "{}: an earlier version truncated documents, those of lists to a part of the judge's \
             limit; `overrule rerank --max-document-chars N` ranks them again",
            first_names(&earlier)
        ));
    }
    notes
}

/// The truncated documents, by limit.
fn cut_documents(methods: &[MethodEntry]) -> BTreeMap<usize, BTreeSet<(&QueryId, &DocId)>> {
    let mut cut: BTreeMap<usize, BTreeSet<(&QueryId, &DocId)>> = BTreeMap::new();
    for row in methods.iter().flat_map(|method| method.rows.values()) {
        let (Some(chars), Some(documents)) = (row.document_chars, &row.cut) else {
            continue;
        };
        if !documents.is_empty() {
            let documents = documents.iter().map(|document| (&row.query, document));
            cut.entry(chars).or_default().extend(documents);
        }
    }
    cut
}

/// The limits that differ on a query with truncated documents, with the methods that used them.
fn different_limits(methods: &[MethodEntry]) -> BTreeMap<Option<usize>, BTreeSet<&str>> {
    type Limits<'a> = BTreeMap<Option<usize>, BTreeSet<&'a str>>;
    let mut by_query: BTreeMap<&QueryId, (bool, Limits<'_>)> = BTreeMap::new();
    for method in methods {
        let asked = method.rows.values().filter(|row| row.calls > 0);
        for row in asked {
            let Some(cut) = &row.cut else {
                continue;
            };
            let (any, limits) = by_query.entry(&row.query).or_default();
            *any |= !cut.is_empty();
            let names = limits.entry(row.document_chars).or_default();
            names.insert(&method.name);
        }
    }
    let mut different = Limits::new();
    for (any, limits) in by_query.into_values() {
        if any && limits.len() > 1 {
            for (chars, names) in limits {
                different.entry(chars).or_default().extend(names);
            }
        }
    }
    different
}
