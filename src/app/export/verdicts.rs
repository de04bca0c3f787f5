//! One row an annotator's verdict on a pair, and which of them are in force.

use super::rows::{RowFormat, RowWriter};
use crate::app::error::AppError;
use crate::app::review::pair_verdicts::PairVerdicts;
use crate::store::Store;
use crate::store::corpus::QueryKey;
use serde_json::json;
use std::io::Write;

const COLUMNS: [&str; 19] = [
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

/// Writes everyone's verdicts on the pairs of some queries.
pub fn write_verdicts(
    store: &Store,
    keys: &[QueryKey],
    format: RowFormat,
    out: &mut dyn Write,
) -> Result<(), AppError> {
    let mut rows = RowWriter::new(COLUMNS, format, out)?;
    for key in keys {
        let key = *key;
        let (info, documents, verdicts) = store.read_blocking(move |db| {
            Ok((
                db.query(key)?,
                db.documents(key)?,
                PairVerdicts::load(db, key)?,
            ))
        })?;
        for (row, in_force) in verdicts.rows() {
            let verdict = &row.verdict;
            rows.write(&json!({
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
            }))?;
        }
    }
    rows.finish()
}
