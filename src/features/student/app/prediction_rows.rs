//! Exports a student's predictions, one row per pair and order, as read by
//! `overrule student import`.

use super::stored::known_student;
use crate::app::error::AppError;
use crate::app::export::AddedExport;
use crate::domain::prediction::OutcomeProbabilities;
use crate::formats::own_tables::PREDICTIONS;
use crate::formats::table_file::{TableFormat, TableWriter};
use crate::store::corpus::QueryKey;
use crate::store::{Store, StoreError};
use serde_json::json;
use std::io::Write;

/// An export of the predictions of all checkpoints of the student with this name. A is the document
/// shown first.
#[derive(Clone, Debug)]
pub struct PredictionExport(pub String);

impl AddedExport for PredictionExport {
    fn write(
        &self,
        store: &Store,
        keys: &[QueryKey],
        format: TableFormat,
        out: &mut (dyn Write + Send),
        _tell: &mut dyn FnMut(&str),
    ) -> Result<(), AppError> {
        let mut rows = TableWriter::new(&PREDICTIONS, format, out)?;
        for student in known_student(store, &self.0)? {
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
}
