//! Exports labels, optionally corrected by rulings, and the source of the corrections.

use crate::app::adjudication::data::AdjudicationData;
use crate::app::error::{AppError, invalid};
use crate::domain::adjudication::{LabelCorrection, corrected_labels};
use crate::domain::metrics::Qrels;
use crate::formats::table_file::{Column, TableFormat, TableWriter};
use crate::formats::trec;
use serde_json::json;
use std::io::Write;

const COLUMNS: [Column; 18] = [
    Column::text("query"),
    Column::text("document"),
    Column::whole("before").or_null(),
    Column::whole("after").or_null(),
    Column::text("ruling"),
    Column::text("cause").or_null(),
    Column::text("note").or_null(),
    Column::text("annotator"),
    Column::whole("created_ms"),
    Column::flag("blind"),
    Column::whole("active_ms").or_null(),
    Column::whole("revealed_ms").or_null(),
    Column::whole("against"),
    Column::whole("answers"),
    Column::whole("control_of").or_null(),
    Column::flag("in_force"),
    Column::text("uid"),
    Column::text("guideline").or_null(),
];

/// Rejects a project with nothing to write.
fn check_labels(data: &AdjudicationData) -> Result<(), AppError> {
    if data.labels.is_empty() && data.rulings.is_empty() {
        Err(invalid!(
            "the project holds no labels; `overrule import QRELS` or `overrule pool build --beir \
             DIR` adds some"
        ))
    } else {
        Ok(())
    }
}

/// The labels to write: as they were imported, or with the corrections applied.
///
/// # Errors
/// If the project has no labels and no rulings.
pub fn labels_to_write(
    data: &AdjudicationData,
    corrections: Option<&[LabelCorrection]>,
) -> Result<Qrels, AppError> {
    check_labels(data)?;
    Ok(match corrections {
        Some(corrections) => corrected_labels(&data.labels, corrections),
        None => data.labels.clone(),
    })
}

/// Writes each person's ruling on each document, with its effect on the label.
pub fn write_rulings(
    data: &AdjudicationData,
    corrections: &[LabelCorrection],
    format: TableFormat,
    out: &mut (dyn Write + Send),
) -> Result<(), AppError> {
    let mut rows = TableWriter::new(&COLUMNS, format, out)?;
    for row in &data.rulings {
        let (ruling, about) = (&row.ruling, &row.about);
        let made = corrections.iter().find(|one| one.ruling.uid == ruling.uid);
        rows.write(json!({
            "query": ruling.query,
            "document": ruling.document,
            "before": made.map_or(about.grade, |made| made.before),
            "after": made.and_then(|made| made.after),
            "ruling": ruling.finding,
            "cause": ruling.fault,
            "note": ruling.note,
            "annotator": ruling.annotator,
            "created_ms": ruling.created_ms,
            "blind": about.blind,
            "active_ms": about.active_ms,
            "revealed_ms": row.revealed_ms,
            "against": about.against,
            "answers": about.answers,
            "control_of": about.control_of.filter(|of| *of > 0),
            "in_force": made.is_some(),
            "uid": ruling.uid,
            "guideline": row.guideline,
        }))?;
    }
    Ok(rows.finish()?)
}

/// Writes the changed labels, one per line: sign, query, document, grade.
pub fn write_label_changes(
    data: &AdjudicationData,
    corrections: &[LabelCorrection],
    out: &mut dyn Write,
) -> Result<(), AppError> {
    check_labels(data)?;
    let mut changes: Vec<&LabelCorrection> =
        corrections.iter().filter(|one| one.changes()).collect();
    changes.sort_by_key(|one| (&one.ruling.query, &one.ruling.document));
    for one in changes {
        let query = trec::cell(one.ruling.query.as_str())?;
        let document = trec::cell(one.ruling.document.as_str())?;
        for (sign, grade) in [("-", one.before), ("+", one.after)] {
            if let Some(grade) = grade {
                writeln!(out, "{sign} {query} 0 {document} {grade}")?;
            }
        }
    }
    Ok(())
}
