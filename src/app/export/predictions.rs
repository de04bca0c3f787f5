//! Exports a student's predictions, one row per pair and order, as read by
//! `overrule student import`.

use crate::app::error::AppError;
use crate::domain::prediction::OutcomeProbabilities;
use crate::features::student::app::known_student;
use crate::formats::own_tables::PREDICTIONS;
use crate::formats::table_file::{TableFormat, TableWriter};
use crate::store::corpus::QueryKey;
use crate::store::{Store, StoreError};
use serde_json::json;
use std::io::Write;

/// Writes the predictions of all checkpoints of a student on some queries. A is the document shown
/// first.
pub fn write_predictions(
    store: &Store,
    keys: &[QueryKey],
    student: &str,
    format: TableFormat,
    out: &mut (dyn Write + Send),
) -> Result<(), AppError> {
    let mut rows = TableWriter::new(&PREDICTIONS, format, out)?;
    for student in known_student(store, student)? {
        for key in keys {
            let (key, student_key) = (*key, student.key);
            let (query, documents, predictions) = store.read_blocking(move |db| {
                Ok::<_, StoreError>((
                    db.query(key)?.id,
                    db.document_ids(key)?,
                    db.predictions_of(student_key, key)?,
                ))
            })?;
            for (pair, of) in predictions {
                let [low_first, high_first] = of.orders;
                let high_first = high_first.map(OutcomeProbabilities::swapped);
                for (a, b, predicted) in [
                    (pair.low(), pair.high(), low_first),
                    (pair.high(), pair.low(), high_first),
                ] {
                    let (Some(predicted), Some(a), Some(b)) =
                        (predicted, documents.get(a), documents.get(b))
                    else {
                        continue;
                    };
                    rows.write(json!({
                        "query": query,
                        "a": a,
                        "b": b,
                        "p_a": predicted.a(),
                        "p_b": predicted.b(),
                        "p_tie": predicted.tie(),
                        "step": student.step,
                    }))?;
                }
            }
        }
    }
    Ok(rows.finish()?)
}
