//! The report on a project's common scale, for printing and export.

use super::anchors::all_queries;
use super::project_scale::{GradeSource, scale_by};
use crate::app::error::AppError;
use crate::app::scored_pools::{SURE, ScoreSource};
use crate::app::text_format::counted;
use crate::domain::common_scale::{Offset, ProjectScale, ScaleKind};
use crate::domain::corpus::{DocId, QueryId};
use crate::formats::csv_cell::SafeCsv;
use crate::formats::own_tables::SCALED;
use crate::formats::safe_json;
use crate::store::Store;
use serde_json::{Value, json};
use std::io::Write;

/// The results of calibrating a project.
#[derive(Clone, Debug)]
pub struct ScaleReport {
    pub queries: Vec<ScaledQuery>,
    pub scale: ProjectScale,
    /// Notes to the reader, one sentence each.
    pub notes: Vec<String>,
}

/// A query on the common scale.
#[derive(Clone, Debug)]
pub struct ScaledQuery {
    pub id: QueryId,
    /// Number of graded anchors, or answered links.
    pub count: usize,
    /// `None` without any: it is not comparable with other queries.
    pub offset: Option<Offset>,
    pub expected_relevant: Option<f64>,
    documents: Vec<ScaledDocument>,
}

#[derive(Clone, Debug)]
struct ScaledDocument {
    id: DocId,
    zelo: f64,
    se: Option<f64>,
    linked: f64,
    /// Standard error of the query's offset and the document's score combined.
    linked_se: Option<f64>,
    /// `None` if scores cannot be converted to grades.
    graded: Option<GradedDocument>,
}

#[derive(Clone, Debug)]
struct GradedDocument {
    /// Of grade 0, then of each higher grade.
    probabilities: Vec<f64>,
    /// The most probable grade.
    grade: i32,
    expected: f64,
}

impl ScaledQuery {
    /// The highest of its documents' most probable grades.
    fn best_grade(&self) -> i32 {
        self.documents
            .iter()
            .filter_map(|of| of.graded.as_ref())
            .map(|of| of.grade)
            .max()
            .unwrap_or_default()
    }
}

/// Calibrates a project with the grades of a source.
///
/// # Errors
/// There are no grades, or they do not determine a scale.
pub fn scale_report(store: &Store, source: GradeSource<'_>) -> Result<ScaleReport, AppError> {
    let scale = scale_by(store, source, ScoreSource::Project)??;
    let mut queries = Vec::new();
    store.read_each(
        &all_queries(store)?,
        |db, key| {
            let id = db.query(key)?.id;
            let offset = scale.offset(&id);
            let mut documents = Vec::new();
            // Queries without an offset are not reported, so nothing needs to be read.
            if offset.is_some() {
                let standings = db
                    .documents(key)?
                    .into_iter()
                    .map(|document| document.id)
                    .zip(db.view(key)?.standings);
                documents.extend(standings.filter_map(|(document, standing)| {
                    let standing = standing?;
                    let linked = scale.linked(&id, standing.zelo, standing.se)?;
                    Some(ScaledDocument {
                        id: document,
                        zelo: standing.zelo,
                        se: standing.se,
                        linked: linked.value,
                        linked_se: linked.se,
                        graded: scale.grades.as_ref().map(|model| GradedDocument {
                            probabilities: model.probabilities(linked.value),
                            grade: model.grade(linked.value).0,
                            expected: model.gain(linked.value),
                        }),
                    })
                }));
            }
            Ok(ScaledQuery {
                count: scale.count(&id),
                expected_relevant: scale.expected_relevant(&id),
                id,
                offset,
                documents,
            })
        },
        |_, query| {
            queries.push(query);
            Ok::<(), AppError>(())
        },
    )?;
    let notes = notes(&scale, &queries);
    Ok(ScaleReport {
        queries,
        scale,
        notes,
    })
}

fn notes(scale: &ProjectScale, queries: &[ScaledQuery]) -> Vec<String> {
    let on_scale = || queries.iter().filter(|query| query.offset.is_some());
    let linked = on_scale().count();
    let low = on_scale().filter(|query| query.best_grade() <= 1).count();
    let expected: f64 = on_scale().filter_map(|query| query.expected_relevant).sum();
    let graded: Vec<_> = on_scale()
        .flat_map(|query| &query.documents)
        .filter_map(|of| of.graded.as_ref())
        .collect();
    let sure = |of: &GradedDocument| of.probabilities.iter().any(|p| *p >= SURE);
    let unsure = graded.iter().filter(|of| !sure(of)).count();
    let verb = |count: usize, one: &'static str, more: &'static str| match count {
        1 => one,
        _ => more,
    };
    let mut notes = scale.notes.clone();
    notes.push(match &scale.grades {
        None => scale.cuts.clone(),
        Some(_) => format!(
            "{low} of {} {} no document above grade 1 (expected {:.1} relevant per query); {}",
            counted(linked, "query"),
            verb(low, "has", "have"),
            expected / linked.max(1) as f64,
            scale.cuts
        ),
    });
    if unsure > 0 {
        notes.push(format!(
            "{unsure} of {} {} a grade that is less than {:.0} % certain",
            counted(graded.len(), "document"),
            verb(unsure, "has", "have"),
            100.0 * SURE
        ));
    }
    let off = queries.len() - linked;
    if off > 0 {
        notes.push(format!(
            "{} without {}: it is not known how {} with the others",
            counted(off, "query"),
            match scale.kind {
                ScaleKind::Anchors => "an anchor",
                ScaleKind::Links => "a link to the others",
            },
            verb(off, "it compares", "they compare"),
        ));
    }
    if scale.unused > 0 {
        notes.push(format!(
            "skipped {} of queries or documents without a zELO score",
            counted(scale.unused, "grade")
        ));
    }
    notes.extend(drift_note(scale));
    notes
}

/// A note on whether the anchors' judge grades all queries by the same standard.
fn drift_note(scale: &ProjectScale) -> Option<String> {
    if scale.kind == ScaleKind::Links {
        return None;
    }
    let better = "links are better: `overrule scale run --link 4 --judge NAME`";
    match scale.drift {
        Some(drift) if drift.ratio.is_infinite() => Some(format!(
            "the errors of the anchors' judge differ only from query to query: within a query, its \
             grades deviate from the labels by the same amount; {better}"
        )),
        Some(drift) if drift.is_too_much() => Some(format!(
            "the judge of the anchors drifts from query to query: by {:.2} of its error within a \
             query, above .80; {better}",
            drift.ratio
        )),
        Some(_) => None,
        None => Some(
            "it is not known whether the judge of the anchors drifts from query to query: 100 \
             documents with its grade and a label are needed"
                .to_owned(),
        ),
    }
}

impl ScaleReport {
    pub fn json(&self) -> Value {
        let queries: Vec<Value> = self
            .queries
            .iter()
            .map(|query| {
                json!({
                    "query": query.id,
                    (self.scale.kind.noun()): query.count,
                    "offset": query.offset.map(|of| of.value),
                    "offset_se": query.offset.map(|of| of.se),
                    "expected_relevant": query.expected_relevant,
                    "documents": query.documents.iter().map(ScaledDocument::json).collect::<Vec<_>>(),
                })
            })
            .collect();
        let scale = &self.scale;
        json!({
            "basis": scale.basis,
            "queries": queries,
            "spread": scale.spread,
            "cuts": scale.cuts,
            "drift": scale.drift.map(|of| json!({"documents": of.rulings, "ratio": of.ratio, "too_much": of.is_too_much()})),
            "notes": self.notes,
        })
    }

    /// Writes one row per document with a calibrated score, best first within its query, as JSON
    /// lines or as a table.
    pub fn write(&self, as_table: bool, out: &mut dyn Write) -> Result<(), AppError> {
        let mut table = SafeCsv::new(&mut *out);
        if as_table {
            table.row(SCALED)?;
        }
        let mut lines = Vec::new();
        for query in &self.queries {
            let mut documents: Vec<&ScaledDocument> = query.documents.iter().collect();
            documents.sort_by(|x, y| y.linked.total_cmp(&x.linked).then(x.id.cmp(&y.id)));
            for document in documents {
                let mut line = json!({"query": query.id});
                if let (Value::Object(line), Value::Object(more)) = (&mut line, document.json()) {
                    line.extend(more);
                }
                if as_table {
                    table.row(SCALED.map(|name| cell(&line[name])))?
                } else {
                    safe_json::write_line(&mut lines, &line)?
                }
            }
        }
        table.finish()?;
        Ok(out.write_all(&lines)?)
    }
}

/// The cell of a null is empty.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

impl ScaledDocument {
    fn json(&self) -> Value {
        json!({
            "document": self.id,
            "zelo": self.zelo,
            "se": self.se,
            "zelo_linked": self.linked,
            "zelo_linked_se": self.linked_se,
            "grade": self.graded.as_ref().map(|of| of.grade),
            "expected_grade": self.graded.as_ref().map(|of| of.expected),
            "probabilities": self.graded.as_ref().map(|of| &of.probabilities),
        })
    }
}
