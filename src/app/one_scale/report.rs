//! A project's zELO on one scale, by the grades of anchors.

use super::all_queries;
use crate::app::error::{AppError, invalid};
use crate::app::input_files::{display_name, read_labels};
use crate::app::wording::counted;
use crate::domain::adjudication::{corrected_labels, label_corrections, rulings_in_force};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::{GradeModel, GradedScore, Qrels};
use crate::domain::one_scale::{
    AnchorGrade, CommonScale, Drift, GradedTwice, Offset, drift, fit_anchors,
};
use crate::formats::safe_json;
use crate::store::Store;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

/// Labels from which on they set the cut points, and how many of grade 0 and above it.
const ENOUGH_LABELS: usize = 30;
const ENOUGH_ON_EACH_SIDE: usize = 5;
/// Below this the most probable grade of a document is doubtful.
const SURE: f64 = 0.6;

/// What the grades of anchors say of a project.
#[derive(Clone, Debug)]
pub struct ScaleReport {
    pub queries: Vec<ScaledQuery>,
    /// Standard deviation of the offsets among queries, in units of zELO.
    pub spread: f64,
    /// What makes grades of linked scores, in words.
    pub cuts: String,
    /// Whether the judge's grades mean the same in all queries, where enough documents have a label too.
    pub drift: Option<Drift>,
    /// What a reader should know, a sentence each.
    pub notes: Vec<String>,
}

/// A query on the common scale.
#[derive(Clone, Debug)]
pub struct ScaledQuery {
    pub id: QueryId,
    pub anchors: usize,
    /// `None` without an anchor: nothing is said of how it compares.
    pub offset: Option<Offset>,
    documents: Vec<ScaledDocument>,
}

#[derive(Clone, Debug)]
struct ScaledDocument {
    id: DocId,
    zelo: f64,
    se: Option<f64>,
    linked: f64,
    /// Of the query's offset and the document's own.
    linked_se: Option<f64>,
    /// Of grade 0, then of each level.
    probabilities: Vec<f64>,
    grade: i32,
    gain: f64,
}

impl ScaledQuery {
    /// Documents of grade 1 and above that are expected; `None` without an offset.
    pub fn expected_relevant(&self) -> Option<f64> {
        let shares = self.documents.iter();
        let shares = shares.map(|of| 1.0 - of.probabilities.first().copied().unwrap_or(1.0));
        self.offset.map(|_| shares.sum())
    }

    /// The best most probable grade of its documents.
    fn best_grade(&self) -> i32 {
        let grades = self.documents.iter().map(|of| of.grade);
        grades.max().unwrap_or_default()
    }
}

/// zELO and its standard error.
type ScoreWithError = (f64, Option<f64>);

struct QueryScores {
    id: QueryId,
    documents: Vec<(DocId, Option<ScoreWithError>)>,
}

/// Puts a project on one scale by the grades of a file.
pub fn link_scale(store: &Store, path: &Path) -> Result<ScaleReport, AppError> {
    let grades = read_labels(path)?;
    let mut queries: Vec<QueryScores> = Vec::new();
    store.read_each(
        &all_queries(store)?,
        |db, key| {
            let standings = db.view(key)?.standings;
            let standings = standings
                .into_iter()
                .map(|of| of.map(|of| (of.zelo, of.se)));
            let ids = db.documents(key)?.into_iter().map(|document| document.id);
            Ok(QueryScores {
                id: db.query(key)?.id,
                documents: ids.zip(standings).collect(),
            })
        },
        |_, query| {
            queries.push(query);
            Ok::<(), AppError>(())
        },
    )?;
    let anchors = anchor_grades(&queries, &grades);
    let given: usize = grades.values().map(|of| of.len()).sum();
    let scale = fit_anchors(queries.len(), &anchors).ok_or_else(|| {
        invalid!(
            "{}: {} of {} for documents with a zELO score make no scale: some have to be 0 and some above it",
            display_name(path),
            anchors.len(),
            counted(given, "grade")
        )
    })?;
    let labels = people_labels(store)?;
    let (model, cuts) = grade_model(&queries, &scale, &labels);
    let graded = grades_and_labels(&queries, &grades, &labels);
    let mut report = ScaleReport {
        queries: scaled(queries, &scale, &model, &anchors),
        spread: scale.spread,
        cuts,
        drift: drift(&graded),
        notes: Vec::new(),
    };
    report.add_notes(given - anchors.len());
    Ok(report)
}

/// The labels of a project with the rulings put in.
fn people_labels(store: &Store) -> Result<Qrels, AppError> {
    let (labels, rulings, rule) =
        store.read_blocking(|db| Ok((db.labels()?, db.standing_rulings()?, db.final_rule()?)))?;
    let standing: Vec<_> = rulings.into_iter().map(|row| row.ruling).collect();
    let (in_force, _) = rulings_in_force(&rule, &standing);
    let corrections = label_corrections(&labels, in_force, None);
    Ok(corrected_labels(&labels, &corrections))
}

fn anchor_grades(queries: &[QueryScores], grades: &Qrels) -> Vec<AnchorGrade> {
    let mut anchors = Vec::new();
    for (number, query) in queries.iter().enumerate() {
        let Some(grades) = grades.get(&query.id) else {
            continue;
        };
        for (document, score) in &query.documents {
            let found = score.zip(grades.get(document));
            anchors.extend(found.map(|((zelo, _), grade)| AnchorGrade {
                query: number,
                score: zelo,
                grade: *grade,
            }));
        }
    }
    anchors
}

/// What makes grades of linked scores: the labels of people where there are enough, else the judge of the anchors.
fn grade_model(
    queries: &[QueryScores],
    scale: &CommonScale,
    labels: &Qrels,
) -> (GradeModel, String) {
    let mut graded = Vec::new();
    for (query, offset) in queries.iter().zip(&scale.offsets) {
        let (Some(offset), Some(labels)) = (offset, labels.get(&query.id)) else {
            continue;
        };
        for (document, score) in &query.documents {
            let found = score.zip(labels.get(document));
            graded.extend(found.map(|((zelo, _), grade)| GradedScore {
                score: zelo + offset.value,
                grade: *grade,
                weight: 1.0,
            }));
        }
    }
    let positive = graded.iter().filter(|one| one.grade > 0).count();
    let enough = graded.len() >= ENOUGH_LABELS
        && positive.min(graded.len() - positive) >= ENOUGH_ON_EACH_SIDE;
    let fitted = GradeModel::fit(&graded).filter(|_| enough);
    match fitted {
        Some(model) => (
            model,
            format!(
                "cut points from {} of people",
                counted(graded.len(), "label")
            ),
        ),
        None => (
            scale.grades.clone(),
            "cut points of the anchors' judge: too few labels of people to set them".to_owned(),
        ),
    }
}

fn grades_and_labels(queries: &[QueryScores], grades: &Qrels, labels: &Qrels) -> Vec<GradedTwice> {
    let mut found = Vec::new();
    for (number, query) in queries.iter().enumerate() {
        let (Some(grades), Some(labels)) = (grades.get(&query.id), labels.get(&query.id)) else {
            continue;
        };
        for (document, grade) in grades {
            found.extend(labels.get(document).map(|label| GradedTwice {
                query: number,
                difference: f64::from(*grade - *label),
            }));
        }
    }
    found
}

fn scaled(
    queries: Vec<QueryScores>,
    scale: &CommonScale,
    model: &GradeModel,
    anchors: &[AnchorGrade],
) -> Vec<ScaledQuery> {
    let mut counts: HashMap<usize, usize> = HashMap::new();
    for anchor in anchors {
        *counts.entry(anchor.query).or_default() += 1;
    }
    let offsets = scale.offsets.iter().copied();
    let queries = queries.into_iter().zip(offsets).enumerate();
    let queries = queries.map(|(number, (query, offset))| {
        let document = |(id, score): (DocId, Option<ScoreWithError>)| {
            let ((zelo, se), offset) = score.zip(offset)?;
            let linked = zelo + offset.value;
            Some(ScaledDocument {
                id,
                zelo,
                se,
                linked,
                linked_se: se.map(|se| se.hypot(offset.se)),
                probabilities: model.probabilities(linked),
                grade: model.grade(linked).0,
                gain: model.gain(linked),
            })
        };
        ScaledQuery {
            id: query.id,
            anchors: counts.get(&number).copied().unwrap_or_default(),
            offset,
            documents: query.documents.into_iter().filter_map(document).collect(),
        }
    });
    queries.collect()
}

impl ScaleReport {
    fn add_notes(&mut self, unused: usize) {
        let on_scale = || self.queries.iter().filter(|query| query.offset.is_some());
        let linked = on_scale().count();
        let low = on_scale().filter(|query| query.best_grade() <= 1).count();
        let expected: f64 = on_scale().filter_map(ScaledQuery::expected_relevant).sum();
        let doubtful = on_scale().flat_map(|query| &query.documents);
        let (mut all, mut unsure) = (0, 0);
        for document in doubtful {
            all += 1;
            let most = document.probabilities.iter().copied().fold(0.0, f64::max);
            unsure += usize::from(most < SURE);
        }
        let mut notes = vec![format!(
            "{low} of {} have no document above grade 1 (expected {:.1} relevant a query); {}",
            counted(linked, "query"),
            expected / linked.max(1) as f64,
            self.cuts
        )];
        if unsure > 0 {
            notes.push(format!(
                "{unsure} of {} have a grade that is less than {:.0} % sure",
                counted(all, "document"),
                100.0 * SURE
            ));
        }
        if linked < self.queries.len() {
            notes.push(format!(
                "{} without an anchor: nothing says how they compare with the others",
                counted(self.queries.len() - linked, "query")
            ));
        }
        if unused > 0 {
            notes.push(format!(
                "{} of queries or documents that have no zELO score: left out",
                counted(unused, "grade")
            ));
        }
        match self.drift {
            Some(drift) if drift.ratio.is_infinite() => notes.push(
                "the judge of the anchors errs by query alone: within a query its grades differ from the labels by the same (battles over \
                 queries are better)"
                    .to_owned(),
            ),
            Some(drift) if drift.is_too_much() => notes.push(format!(
                "the judge of the anchors drifts from query to query: {:.2} of what it errs by within one (above .80, battles over queries are \
                 better)",
                drift.ratio
            )),
            Some(_) => {}
            None => notes.push(
                "whether the judge of the anchors drifts from query to query is not known: 100 documents with its grade and a label would say so"
                    .to_owned(),
            ),
        }
        self.notes = notes;
    }

    pub fn json(&self) -> Value {
        let queries: Vec<Value> = self
            .queries
            .iter()
            .map(|query| {
                json!({
                    "query": query.id,
                    "anchors": query.anchors,
                    "offset": query.offset.map(|of| of.value),
                    "offset_se": query.offset.map(|of| of.se),
                    "expected_relevant": query.expected_relevant(),
                    "documents": query.documents.iter().map(ScaledDocument::json).collect::<Vec<_>>(),
                })
            })
            .collect();
        json!({
            "queries": queries,
            "spread": self.spread,
            "cuts": self.cuts,
            "drift": self.drift.map(|of| json!({"documents": of.rulings, "ratio": of.ratio, "too_much": of.is_too_much()})),
            "notes": self.notes,
        })
    }

    /// Writes a line a document that has a linked score, best first within its query.
    pub fn write(&self, out: &mut dyn Write) -> Result<(), AppError> {
        for query in &self.queries {
            let mut documents: Vec<&ScaledDocument> = query.documents.iter().collect();
            documents.sort_by(|x, y| y.linked.total_cmp(&x.linked).then(x.id.cmp(&y.id)));
            for document in documents {
                let mut line = json!({"query": query.id});
                if let (Value::Object(line), Value::Object(more)) = (&mut line, document.json()) {
                    line.extend(more);
                }
                safe_json::write_line(out, &line)?;
            }
        }
        Ok(())
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
            "grade": self.grade,
            "expected_grade": self.gain,
            "probabilities": self.probabilities,
        })
    }
}
