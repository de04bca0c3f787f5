//! The common scale of a project's queries: an offset for each query, and the conversion of
//! calibrated scores to grades.

use super::anchors::{StoredGrades, all_queries, stored_grades};
use super::links::{fit, of_one_setting};
use crate::app::error::{AppError, invalid};
use crate::app::input_files::{display_name, read_labels};
use crate::app::scored_pools::{
    ScoreSource, ScoredPool, Unfitted, cut_points, fitted_pools, people_labels,
};
use crate::app::text_format::counted;
use crate::domain::common_scale::{Drift, Offset, ProjectScale, ScaleKind};
use crate::domain::corpus::QueryId;
use crate::domain::metrics::{GradeModel, GradedScore, Qrels};
use crate::domain::sanitize;
use crate::features::scale::domain::{AnchorGrade, GradedTwice, drift, fit_anchors};
use crate::store::Store;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

/// Source of the grades of anchors.
#[derive(Clone, Copy, Debug)]
pub enum GradeSource<'a> {
    /// A file of labels.
    File(&'a Path),
    /// The answers of this judge in the project.
    Judge(&'a str),
    /// The answers to links, without grades.
    Links,
    /// Links or the anchors of one judge of the project, whichever covers more queries.
    Stored,
}

/// The offsets that calibrate queries, by pool.
struct FoundOffsets {
    basis: String,
    kind: ScaleKind,
    offsets: Vec<Option<Offset>>,
    counts: HashMap<QueryId, usize>,
    /// The grade that the judge of anchors would give to a document with a given calibrated score.
    of_judge: Option<GradeModel>,
    spread: f64,
    drift: Option<Drift>,
    unused: usize,
    notes: Vec<String>,
}

impl FoundOffsets {
    fn queries(&self) -> usize {
        self.offsets.iter().flatten().count()
    }
}

/// The scale of a project from its judges' answers; `None` if there are none, or if they do not
/// determine a scale.
pub fn project_scale(store: &Store) -> Result<Option<ProjectScale>, AppError> {
    project_scale_of(store, ScoreSource::Project)
}

/// As [`project_scale`], for scores other than those that the project shows.
pub fn project_scale_of(
    store: &Store,
    scores: ScoreSource,
) -> Result<Option<ProjectScale>, AppError> {
    let asked = !stored_grades(store)?.is_empty()
        || store.read_blocking(|db| Ok(!db.links()?.is_empty()))?;
    if asked {
        Ok(scale_by(store, GradeSource::Stored, scores)?.ok())
    } else {
        Ok(None)
    }
}

/// The scale from the grades of a source, or why they do not determine one.
pub(super) fn scale_by(
    store: &Store,
    source: GradeSource<'_>,
    scores: ScoreSource,
) -> Result<Result<ProjectScale, AppError>, AppError> {
    let (pools, unfitted) = fitted_pools(store, &all_queries(store)?, scores)?;
    let labels = people_labels(store)?;
    let links = || by_links(store, &pools, &labels);
    let found = match source {
        GradeSource::Links => links()?.ok_or_else(no_links),
        GradeSource::File(_) | GradeSource::Judge(_) => by_grades(store, source, &pools, &labels)?,
        GradeSource::Stored => match (links()?, stored_grades(store)?.is_empty()) {
            (Some(links), true) => Ok(links),
            (links, _) => better(links, by_grades(store, source, &pools, &labels)?),
        },
    };
    let note = Unfitted::note(&unfitted);
    Ok(match (found, note) {
        (Ok(mut found), note) => {
            found.notes.extend(note);
            Ok(finished(found, &pools, &labels))
        }
        (Err(why), Some(note)) => Err(invalid!("{why}; {note}")),
        (Err(why), None) => Err(why),
    })
}

/// The scale that covers more queries; links on a tie.
fn better(
    links: Option<FoundOffsets>,
    anchors: Result<FoundOffsets, AppError>,
) -> Result<FoundOffsets, AppError> {
    match (links, anchors) {
        (None, anchors) => anchors,
        (Some(links), Err(_)) => Ok(links),
        (Some(mut links), Ok(anchors)) if links.queries() >= anchors.queries() => {
            links.notes.push(format!(
                "links put {} on one scale, anchors {}: links count",
                counted(links.queries(), "query"),
                counted(anchors.queries(), "query")
            ));
            Ok(links)
        }
        (Some(links), Ok(mut anchors)) => {
            anchors.notes.push(format!(
                "links put {} on one scale, anchors {}: anchors count",
                counted(links.queries(), "query"),
                counted(anchors.queries(), "query")
            ));
            Ok(anchors)
        }
    }
}

/// Combines offsets with people's labels.
fn finished(found: FoundOffsets, pools: &[ScoredPool], labels: &Qrels) -> ProjectScale {
    let (model, cuts) = grade_model(pools, &found, labels);
    let (mut offsets, mut expected) = (HashMap::new(), HashMap::new());
    for (pool, offset) in pools.iter().zip(&found.offsets) {
        let Some(offset) = offset else {
            continue;
        };
        if let Some(model) = &model {
            let relevant = pool
                .documents
                .iter()
                .filter_map(|(_, score)| *score)
                .map(|score| model.at_least_one(score + offset.value));
            expected.insert(pool.query.clone(), relevant.sum());
        }
        offsets.insert(pool.query.clone(), *offset);
    }
    let student = pools.iter().find_map(|pool| pool.student.as_deref());
    ProjectScale {
        basis: match student {
            Some(student) => format!("{}; {student}", found.basis),
            None => found.basis,
        },
        offsets,
        kind: found.kind,
        counts: found.counts,
        grades: model,
        cuts,
        spread: found.spread,
        drift: found.drift,
        expected,
        unused: found.unused,
        notes: found.notes,
    }
}

fn by_grades(
    store: &Store,
    source: GradeSource<'_>,
    pools: &[ScoredPool],
    labels: &Qrels,
) -> Result<Result<FoundOffsets, AppError>, AppError> {
    let (grades, basis, notes) = grades_of(store, source)?;
    let anchors = anchor_grades(pools, &grades);
    let given: usize = grades.values().map(|of| of.len()).sum();
    let Some(scale) = fit_anchors(pools.len(), &anchors) else {
        return Ok(Err(no_scale(&basis, anchors.len(), given)));
    };
    let mut counts: HashMap<QueryId, usize> = HashMap::new();
    for pool in anchors.iter().filter_map(|anchor| pools.get(anchor.query)) {
        *counts.entry(pool.query.clone()).or_default() += 1;
    }
    Ok(Ok(FoundOffsets {
        basis,
        kind: ScaleKind::Anchors,
        offsets: scale.offsets,
        counts,
        of_judge: Some(scale.grades),
        spread: scale.spread,
        drift: drift(&grades_and_labels(pools, &grades, labels)),
        unused: given - anchors.len(),
        notes,
    }))
}

/// The offsets from the answers to links; `None` without an answer.
fn by_links(
    store: &Store,
    pools: &[ScoredPool],
    labels: &Qrels,
) -> Result<Option<FoundOffsets>, AppError> {
    let (mut links, others) = of_one_setting(store.read_blocking(|db| db.links())?);
    links.retain(|link| !link.answers.is_empty());
    let Some(offsets) = fit(pools, &links.iter().collect::<Vec<_>>()) else {
        return Ok(None);
    };
    let mut counts: HashMap<QueryId, usize> = HashMap::new();
    let mut judges = BTreeSet::new();
    for link in &links {
        for query in [&link.a.query, &link.b.query] {
            *counts.entry(query.clone()).or_default() += 1;
        }
        judges.extend(link.answers.iter().map(|answer| answer.judge.as_str()));
    }
    let judges: Vec<_> = judges.into_iter().map(sanitize::line).collect();
    let values: Vec<f64> = offsets.iter().flatten().map(|of| of.value).collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    // A judge's anchors still show what its grades mean, at the positions determined by the links.
    let (mut of_judge, mut drifts) = (None, None);
    let mut notes: Vec<String> = others
        .iter()
        .map(|(judge, count)| other_setting(judge, *count, "answer"))
        .collect();
    if !stored_grades(store)?.is_empty() {
        let (grades, _, of_whom) = grades_of(store, GradeSource::Stored)?;
        notes.extend(of_whom);
        let graded: Vec<GradedScore> = anchor_grades(pools, &grades)
            .iter()
            .filter_map(|anchor| {
                let offset = offsets.get(anchor.query).copied().flatten()?;
                Some(GradedScore {
                    score: anchor.score + offset.value,
                    grade: anchor.grade,
                    weight: 1.0,
                })
            })
            .collect();
        of_judge = cut_points(&graded);
        drifts = drift(&grades_and_labels(pools, &grades, labels));
    }
    Ok(Some(FoundOffsets {
        basis: format!("links answered by {}", judges.join(", ")),
        kind: ScaleKind::Links,
        spread: (squares / values.len() as f64).sqrt(),
        offsets,
        counts,
        of_judge,
        drift: drifts,
        unused: 0,
        notes,
    }))
}

/// A note on a judge's answers under another model, prompt or parameters.
fn other_setting(judge: &str, count: usize, noun: &str) -> String {
    format!(
        "not counted: {} of {} with another model, prompt or parameters than most of its {noun}s",
        counted(count, noun),
        sanitize::line(judge)
    )
}

fn no_links() -> AppError {
    invalid!("no link has an answer; ask for some with `overrule scale run --link 4 --judge NAME`")
}

fn no_scale(basis: &str, used: usize, given: usize) -> AppError {
    let (are, make) = match used {
        1 => ("is", "makes"),
        _ => ("are", "make"),
    };
    invalid!(
        "{basis}: {used} of {} {are} for a document with a zELO score and {make} no scale: some \
         must be 0 and some above 0",
        counted(given, "grade")
    )
}

/// The grades of a source, a phrase that says whose they are, and notes on them.
fn grades_of(
    store: &Store,
    source: GradeSource<'_>,
) -> Result<(Qrels, String, Vec<String>), AppError> {
    let judge = match source {
        GradeSource::File(path) => {
            let mut notes = Vec::new();
            let labels = read_labels(path, &mut notes)?;
            return Ok((labels, display_name(path), notes));
        }
        GradeSource::Judge(judge) => Some(judge),
        GradeSource::Stored | GradeSource::Links => None,
    };
    let mut stored = stored_grades(store)?;
    let found = match judge {
        Some(judge) => judge.to_owned(),
        // On a tie, the first judge by name.
        None => match stored.iter().rev().max_by_key(|(_, of)| of.grades.len()) {
            Some((judge, _)) => judge.clone(),
            None => return Err(none_asked()),
        },
    };
    let Some(StoredGrades { grades, others }) = stored.remove(&found) else {
        let names = || stored.keys().map(|name| sanitize::line(name));
        return Err(if stored.is_empty() {
            none_asked()
        } else {
            invalid!(
                "--judge: {:?} has graded no anchors; the judges with grades are {}",
                sanitize::line(&found),
                names().collect::<Vec<_>>().join(", ")
            )
        });
    };
    let mut notes = Vec::new();
    if others > 0 {
        notes.push(other_setting(&found, others, "grade"));
    }
    let others: Vec<_> = stored.keys().map(|name| sanitize::line(name)).collect();
    if judge.is_none() && !others.is_empty() {
        notes.push(format!(
            "anchors of {}, who graded the most queries; use --judge for those of {}",
            sanitize::line(&found),
            others.join(" or ")
        ));
    }
    Ok((
        grades,
        format!("anchors of {}", sanitize::line(&found)),
        notes,
    ))
}

fn none_asked() -> AppError {
    invalid!(
        "nobody has graded anchors; run `overrule scale run --judge NAME`, or name a file of grades"
    )
}

fn anchor_grades(pools: &[ScoredPool], grades: &Qrels) -> Vec<AnchorGrade> {
    let mut anchors = Vec::new();
    for (number, pool) in pools.iter().enumerate() {
        let Some(grades) = grades.get(&pool.query) else {
            continue;
        };
        for (document, score) in &pool.documents {
            let found = score.zip(grades.get(document));
            anchors.extend(found.map(|(score, grade)| AnchorGrade {
                query: number,
                score,
                grade: *grade,
            }));
        }
    }
    anchors
}

/// The conversion of calibrated scores to grades: from people's labels if there are enough, or else
/// from the judge of the anchors.
fn grade_model(
    pools: &[ScoredPool],
    found: &FoundOffsets,
    labels: &Qrels,
) -> (Option<GradeModel>, String) {
    let mut graded = Vec::new();
    for (pool, offset) in pools.iter().zip(&found.offsets) {
        let (Some(offset), Some(labels)) = (offset, labels.get(&pool.query)) else {
            continue;
        };
        for (document, score) in &pool.documents {
            let found = score.zip(labels.get(document));
            graded.extend(found.map(|(score, grade)| GradedScore {
                score: score + offset.value,
                grade: *grade,
                weight: 1.0,
            }));
        }
    }
    match (cut_points(&graded), &found.of_judge) {
        (Some(model), _) => {
            let labels = counted(graded.len(), "label");
            (Some(model), format!("cut points from {labels} of people"))
        }
        (None, Some(model)) => (
            Some(model.clone()),
            "cut points of the anchors' judge: too few human labels to fit them".to_owned(),
        ),
        (None, None) => (
            None,
            "no cut points: too few human labels, and no graded anchors".to_owned(),
        ),
    }
}

fn grades_and_labels(pools: &[ScoredPool], grades: &Qrels, labels: &Qrels) -> Vec<GradedTwice> {
    let mut found = Vec::new();
    for (number, pool) in pools.iter().enumerate() {
        let (Some(grades), Some(labels)) = (grades.get(&pool.query), labels.get(&pool.query))
        else {
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
