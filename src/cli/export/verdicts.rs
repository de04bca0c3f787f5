//! Verdicts as a table: everyone's on every pair, and which of them is in force.

use super::super::CommandResult;
use super::super::pair_verdicts::PairVerdicts;
use super::{RowFormat, write_rows};
use crate::store::Store;
use crate::store::corpus::QueryKey;
use serde_json::json;
use std::io::Write;

const HEADER: [&str; 19] = [
    "uid",
    "query",
    "a",
    "b",
    "verdict",
    "note",
    "annotator",
    "created_ms",
    "in_force",
    "confidence",
    "cause",
    "blind",
    "active_ms",
    "policy",
    "role",
    "inclusion",
    "revealed_ms",
    "shown",
    "replaces",
];

pub(super) fn write(
    store: &Store,
    keys: &[QueryKey],
    layout: RowFormat,
    out: &mut dyn Write,
) -> CommandResult {
    let mut rows = Vec::new();
    for key in keys {
        let key = *key;
        let (info, documents, said) = store.read_blocking(move |db| {
            Ok((
                db.query(key)?,
                db.documents(key)?,
                PairVerdicts::load(db, key)?,
            ))
        })?;
        for (row, in_force) in said.rows() {
            let verdict = &row.verdict;
            rows.push(json!({
                "uid": verdict.uid,
                "query": info.id,
                "a": documents[verdict.a].id,
                "b": documents[verdict.b].id,
                "verdict": verdict.decision.name(),
                "note": verdict.note,
                "annotator": verdict.annotator,
                "created_ms": verdict.created_ms,
                "in_force": in_force,
                "confidence": row.confidence,
                "cause": row.cause,
                "blind": row.blind,
                "active_ms": row.active_ms,
                "policy": row.policy,
                "role": row.role,
                "inclusion": row.inclusion,
                "revealed_ms": row.revealed_ms,
                "shown": row.shown,
                "replaces": row.replaces,
            }));
        }
    }
    write_rows(HEADER, rows.into_iter(), layout, out)
}
