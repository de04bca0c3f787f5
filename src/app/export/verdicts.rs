//! One row an annotator's verdict on a pair, and which of them are in force.

use super::rows::{RowFormat, RowWriter};
use crate::app::error::AppError;
use crate::app::review::pair_verdicts::PairVerdicts;
use crate::domain::verdict::Decision;
use crate::store::Store;
use crate::store::corpus::QueryKey;
use crate::store::verdicts::StoredVerdict;
use serde_json::json;
use std::collections::HashMap;
use std::io::Write;

const COLUMNS: [&str; 20] = [
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
    "blind_verdict",
];

/// What the annotator said before the judges were shown, with the row's own document A as A: the verdict itself, or the one
/// that it replaces. `None` where nothing was said blind.
fn blind_verdict(row: &StoredVerdict, given: &HashMap<&str, &StoredVerdict>) -> Option<Decision> {
    let earlier = |of: &&StoredVerdict| given.get(of.replaces.as_deref()?).copied();
    std::iter::successors(Some(row), earlier)
        .find(|of| of.blind)
        .map(|of| of.verdict.seen_from(row.verdict.a))
}

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
        let (info, documents, verdicts, given) = store.read_blocking(move |db| {
            Ok((
                db.query(key)?,
                db.documents(key)?,
                PairVerdicts::load(db, key)?,
                db.verdict_rows(Some(key))?,
            ))
        })?;
        let given: HashMap<&str, &StoredVerdict> = given
            .iter()
            .map(|row| (row.verdict.uid.as_str(), row))
            .collect();
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
                "blind_verdict": blind_verdict(row, &given).map(Decision::name),
            }))?;
        }
    }
    rows.finish()
}
