//! Exports one row per annotator's verdict on a pair, marking the effective ones.

use crate::app::error::AppError;
use crate::app::review::pair_verdicts::PairVerdicts;
use crate::domain::verdict::Decision;
use crate::formats::table_file::{Column, TableFormat, TableWriter};
use crate::store::Store;
use crate::store::corpus::QueryKey;
use crate::store::verdicts::StoredVerdict;
use serde_json::json;
use std::collections::HashMap;
use std::io::Write;

const COLUMNS: [Column; 21] = [
    Column::text("uid"),
    Column::text("query"),
    Column::text("a"),
    Column::text("b"),
    Column::text("verdict"),
    Column::text("note").or_null(),
    Column::text("annotator"),
    Column::whole("created_ms"),
    Column::flag("in_force"),
    Column::text("confidence").or_null(),
    Column::text("cause").or_null(),
    Column::flag("blind"),
    Column::whole("active_ms").or_null(),
    Column::text("policy").or_null(),
    Column::text("role").or_null(),
    Column::number("inclusion").or_null(),
    Column::whole("revealed_ms").or_null(),
    Column::text("shown").or_null(),
    Column::text("replaces").or_null(),
    Column::text("blind_verdict").or_null(),
    Column::text("guideline").or_null(),
];

/// The annotator's decision before the judges' votes were revealed, with the row's document A as A:
/// that of the verdict itself, or of the one that it replaces. `None` if there was no blind
/// decision.
fn blind_verdict(row: &StoredVerdict, given: &HashMap<&str, &StoredVerdict>) -> Option<Decision> {
    let earlier = |of: &&StoredVerdict| given.get(of.replaces.as_deref()?).copied();
    std::iter::successors(Some(row), earlier)
        .find(|of| of.blind)
        .map(|of| of.verdict.seen_from(row.verdict.a))
}

/// Writes all people's verdicts on the pairs of some queries.
pub fn write_verdicts(
    store: &Store,
    keys: &[QueryKey],
    format: TableFormat,
    out: &mut (dyn Write + Send),
) -> Result<(), AppError> {
    let mut rows = TableWriter::new(&COLUMNS, format, out)?;
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
            rows.write(json!({
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
                "guideline": row.guideline,
            }))?;
        }
    }
    Ok(rows.finish()?)
}
