//! A student's report: its figures, for each checkpoint.

use super::judged_pairs::{JudgedPairs, hash_of_pairs};
use super::predictions::{ForeignLine, Predictions, StepPredictions};
use super::sample::all_judged;
use super::stored::{known_student, stored_predictions};
use crate::app::error::{AppError, invalid};
use crate::app::input_files::{display_name, stem};
use crate::app::text_format::counted;
use crate::domain::battle::Pair;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::number_words::count;
use crate::domain::prediction::OutcomeProbabilities;
use crate::features::student::domain::OrderShift;
use crate::features::student::domain::figures::{FigureOptions, Figures, StudentRow};
use crate::features::student::store::StoredStudent;
use crate::store::Store;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path;

/// Describes the scores that a student is compared with.
const AGAINST: &str = "against the scores that the fit counts: the votes of the judges, and \
                       verdicts where there are some";

/// The evaluation of a student.
#[derive(Clone, Debug)]
pub struct StudentReport {
    pub name: String,
    /// Number of judged pairs in the project.
    pub judged: usize,
    /// In ascending order of steps; a single one without steps.
    pub steps: Vec<StepReport>,
    /// Notes to the reader, one sentence each.
    pub notes: Vec<String>,
}

/// One checkpoint of a student.
#[derive(Clone, Debug)]
pub struct StepReport {
    pub step: Option<u64>,
    pub figures: Figures,
    /// Effect of the document order, if pairs were predicted in both orders.
    pub order: Option<OrderShift>,
    /// Number of predictions about pairs that are not judged.
    pub unjudged: usize,
    /// The battle behind each row of the figures.
    pub battles: Vec<ReportedBattle>,
}

/// A battle shown in a figure.
#[derive(Clone, Debug)]
pub struct ReportedBattle {
    pub query: QueryId,
    /// A is the document with the lower pool index.
    pub pair: Pair,
    pub a: DocId,
    pub b: DocId,
    /// The score in the fit, in 0..=1 (1: B better).
    pub score: f64,
    pub predicted: OutcomeProbabilities,
}

/// The report on a file of predictions for the pairs of a project.
pub fn report_file(store: &Store, path: &Path) -> Result<StudentReport, AppError> {
    let judged = all_judged(store)?;
    let find = |query: &QueryId, a: &DocId, b: &DocId| judged.find(query, a, b);
    let predictions = Predictions::read(path, find, ForeignLine::Counted)?;
    report_predictions(stem(path), &predictions, &judged).ok_or_else(|| {
        invalid!(
            "{}: none of its predictions is about a judged pair of the project",
            display_name(path)
        )
    })
}

/// The report on a student of the project for its judged pairs, with all checkpoints.
pub fn report_student(store: &Store, name: &str) -> Result<StudentReport, AppError> {
    stored_report(store, name)?
        .ok_or_else(|| invalid!("none of the predictions of student {name} is about a judged pair"))
}

/// As [`report_student`]; `None` if it predicts no judged pair.
pub(super) fn stored_report(store: &Store, name: &str) -> Result<Option<StudentReport>, AppError> {
    let judged = all_judged(store)?;
    let predictions = stored_predictions(store, name, &judged)?;
    let mut report = report_predictions(name.to_owned(), &predictions, &judged);
    let latest = known_student(store, name)?.pop();
    if let (Some(report), Some(latest)) = (&mut report, latest) {
        report.notes.extend(trained_note(&latest, report)?);
    }
    Ok(report)
}

/// How the predictions of the built-in student were made; `None` for students from a file.
fn trained_note(
    student: &StoredStudent,
    report: &StudentReport,
) -> Result<Option<String>, AppError> {
    #[derive(Deserialize)]
    struct Model {
        pairs: usize,
        /// Students of older versions have none.
        pairs_hash: Option<String>,
    }
    let (Some(model), Some(last)) = (&student.model, report.steps.last()) else {
        return Ok(None);
    };
    let model: Model = serde_json::from_str(model).map_err(|error| {
        invalid!(
            "the model of student {} cannot be read: {error}",
            student.name
        )
    })?;
    let trained = format!(
        "trained on {}, each predicted by a model that never saw its query",
        counted(model.pairs, "judged pair")
    );
    let predicted = last.figures.n;
    let queries = last.battles.chunk_by(|x, y| x.query == y.query);
    let names = queries.filter_map(|battles| {
        let pairs = battles.iter().map(|of| [of.a.as_str(), of.b.as_str()]);
        Some((battles.first()?.query.as_str(), pairs.collect()))
    });
    let are_others = match &model.pairs_hash {
        Some(hash) => *hash != hash_of_pairs(names),
        None => predicted > model.pairs,
    };
    Ok(Some(if are_others {
        format!(
            "{trained}; of {} with a prediction now, those judged since are predicted by a model \
             that learned from all queries, their own too: figures on them are too good. Run \
             `overrule student train` to measure it again",
            counted(predicted, "judged pair")
        )
    } else {
        trained
    }))
}

/// The report on predictions for judged pairs; `None` if there are none about judged pairs.
pub(super) fn report_predictions(
    name: String,
    predictions: &Predictions,
    judged: &JudgedPairs,
) -> Option<StudentReport> {
    let mut report = StudentReport {
        name,
        judged: judged.len(),
        steps: Vec::new(),
        notes: Vec::new(),
    };
    for (step, pairs) in &predictions.steps {
        report.steps.extend(step_report(*step, pairs, judged));
    }
    let last = report.steps.last()?;
    if predictions.foreign > 0 {
        report.notes.push(format!(
            "skipped {} about queries or documents that are not in the project",
            counted(predictions.foreign, "prediction")
        ));
    }
    if last.figures.n < judged.len() {
        report.notes.push(format!(
            "a prediction for {} of {}",
            count(last.figures.n),
            counted(judged.len(), "judged pair")
        ));
    }
    report.notes.push(AGAINST.to_owned());
    Some(report)
}

fn step_report(
    step: Option<u64>,
    pairs: &StepPredictions,
    judged: &JudgedPairs,
) -> Option<StepReport> {
    let (mut rows, mut battles, mut unjudged) = (Vec::new(), Vec::new(), 0);
    for ((query, pair), found) in pairs {
        let Some(predicted) = found.predicted() else {
            continue;
        };
        let Some(target) = judged.target(*query, *pair) else {
            unjudged += 1;
            continue;
        };
        let Some(of) = judged.queries.get(*query) else {
            continue;
        };
        battles.push(ReportedBattle {
            query: of.id.clone(),
            pair: *pair,
            a: of.documents[pair.low()].clone(),
            b: of.documents[pair.high()].clone(),
            score: target.score,
            predicted,
        });
        rows.push(StudentRow {
            score: target.score,
            predicted,
            query: *query,
        });
    }
    let options = FigureOptions::of(rows.len());
    let figures = Figures::of(rows, &options)?;
    Some(StepReport {
        step,
        figures,
        order: OrderShift::of(pairs.values().filter_map(|found| found.both())),
        unjudged,
        battles,
    })
}

impl StudentReport {
    pub fn json(&self) -> Value {
        let steps: Vec<Value> = self.steps.iter().map(StepReport::json).collect();
        json!({
            "student": self.name,
            "judged_pairs": self.judged,
            "steps": steps,
            "notes": self.notes,
        })
    }
}

impl StepReport {
    /// One object per battle: observed and predicted scores, its coordinates in the figures, and
    /// its bucket and segment, counted from 1.
    pub fn rows(&self) -> Vec<Value> {
        let figures = &self.figures;
        let mut buckets = vec![None; self.battles.len()];
        for (number, bucket) in figures.score_buckets.iter().enumerate() {
            bucket
                .rows
                .iter()
                .for_each(|at| buckets[*at] = Some(number + 1));
        }
        let mut segments = vec![None; self.battles.len()];
        for segment in &figures.segments {
            let name = format!("{}.{}", segment.strip + 1, segment.cell + 1);
            segment
                .rows
                .iter()
                .for_each(|at| segments[*at] = Some(name.clone()));
        }
        self.battles
            .iter()
            .zip(&figures.rows)
            .enumerate()
            .map(|(at, (battle, row))| {
                let predicted = battle.predicted;
                json!({
                    "step": self.step,
                    "query": battle.query,
                    "a": battle.a,
                    "b": battle.b,
                    "score": battle.score,
                    "p_a": predicted.a(),
                    "p_b": predicted.b(),
                    "p_tie": predicted.tie(),
                    "strength": predicted.strength(),
                    "x": row.x,
                    "y": row.y,
                    "turned": row.turned,
                    "folded_score": row.score,
                    "radius": row.radius,
                    "to_certain": row.distance_to_certain(),
                    "to_decided": row.distance_to_decided(),
                    "category": row.category,
                    "bucket": buckets[at],
                    "segment": segments[at],
                })
            })
            .collect()
    }

    fn json(&self) -> Value {
        json!({
            "step": self.step,
            "unjudged": self.unjudged,
            "order": self.order,
            "divergence": self.figures.divergence(),
            "figures": self.figures,
        })
    }
}
