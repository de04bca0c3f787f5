//! The ground truth of a project: its labels, the labels with rulings applied, or its own zELO.

use super::error::{AppError, invalid};
use super::input_files::{display_name, kind, labels_of, read_graded};
use super::scored_pools::{
    ENOUGH_LABELS, ENOUGH_ON_EACH_SIDE, SURE, ScoredPool, cut_points, labels_and_corrections,
    scored_pools,
};
use super::text_format::{counted, first_names};
use crate::domain::adjudication::corrected_labels;
use crate::domain::common_scale::ProjectScale;
use crate::domain::metrics::{Gains, GradeModel, GradedScore, Qrels, ScoreOrigin, rank_grades};
use crate::formats::file_kind::FileKind;
use crate::registry::{judged_rankings, project_scale};
use crate::store::Store;
use crate::store::corpus::QueryKey;
use clap::ValueEnum;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Number of labels from which the cut points are certain enough to need no note.
const MANY_LABELS: usize = 150;

/// The note on every value that is evaluated against zELO.
pub const AGAINST_JUDGES: &str = "against these judges, not against people";

/// Source of a project's truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TruthSource {
    /// The labels as imported.
    Qrels,
    /// The labels with the effective rulings applied.
    Rulings,
    /// Grades derived from the zELO scores.
    Zelo,
}

impl TruthSource {
    /// The source with this name; `None` for other text, which is a file name.
    pub fn of(name: &str) -> Option<Self> {
        match name {
            "qrels" | "labels" => Some(Self::Qrels),
            "rulings" => Some(Self::Rulings),
            "zelo" => Some(Self::Zelo),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Qrels => "qrels",
            Self::Rulings => "rulings",
            Self::Zelo => "zelo",
        }
    }
}

impl fmt::Display for TruthSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How to convert zELO scores to grades.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum GradeBasis {
    /// labels where there are enough, else rank
    #[default]
    Auto,
    /// Cut points fitted to the labels and rulings
    Labels,
    /// The best 3, 7 and 15 % of each pool are 3, 2 and 1
    Rank,
    /// Fixed cut points on zELO, from simulated pools
    Score,
}

/// The note on a ranking that is evaluated against the scores that it comes from.
pub const AGAINST_ITSELF: &str = "against the scores that this ranking was exported from";

/// What rankings are evaluated against.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Truth {
    /// Name of the source, or path of a file.
    pub name: String,
    pub qrels: Qrels,
    /// Gains of documents in NDCG, if they differ from the grades.
    pub gains: Option<Gains>,
    /// The judges whose votes it is based on; empty for people's labels.
    pub judges: Vec<String>,
    /// The project's scores that it is based on, and who made them.
    pub origin: Option<Arc<ScoreOrigin>>,
    /// Its assumptions, one sentence each.
    pub notes: Vec<String>,
}

impl Truth {
    /// Labels given by people.
    pub fn labels(name: impl Into<String>, qrels: Qrels) -> Self {
        Self {
            name: name.into(),
            qrels,
            ..Self::default()
        }
    }

    /// Whether the truth comes from judges and not from people.
    pub fn is_of_judges(&self) -> bool {
        self.gains.is_some()
    }
}

/// The truth of a project.
pub fn project_truth(
    store: &Store,
    source: TruthSource,
    basis: GradeBasis,
) -> Result<Truth, AppError> {
    let (labels, corrections) = labels_and_corrections(store)?;
    let corrected = || corrected_labels(&labels, &corrections);
    let none = |what: &str, how: &str| invalid!("the project holds no {what}; {how}");
    match source {
        TruthSource::Qrels if labels.is_empty() => Err(none(
            "labels",
            "`overrule import QRELS` adds some, or use zelo to measure against the judges",
        )),
        TruthSource::Qrels => Ok(Truth::labels(source.name(), labels)),
        TruthSource::Rulings if corrections.is_empty() => Err(none(
            "rulings",
            "`overrule rule` adds one, or use qrels to measure against the labels as they are",
        )),
        TruthSource::Rulings => {
            let changed = corrections.iter().filter(|one| one.changes()).count();
            let mut truth = Truth::labels(source.name(), corrected());
            truth.notes.push(format!(
                "labels with {} applied: {} changed",
                counted(corrections.len(), "ruling"),
                counted(changed, "label")
            ));
            Ok(truth)
        }
        TruthSource::Zelo => {
            let keys: Vec<QueryKey> = store
                .read_blocking(|db| db.queries())?
                .into_iter()
                .map(|query| query.key)
                .collect();
            let scale = project_scale(store)?;
            let pools = scored_pools(store, &keys)?;
            let mut truth = zelo_truth(&pools, &corrected(), basis, scale.as_ref())?;
            truth.origin = Some(Arc::new(score_origin(store, &pools, &truth.judges)?));
            Ok(truth)
        }
    }
}

/// The scores of a project, their judges with their models, and the rankings that judges made.
fn score_origin(
    store: &Store,
    pools: &[ScoredPool],
    judges: &[String],
) -> Result<ScoreOrigin, AppError> {
    let (known, rankings) =
        store.read_blocking(|db| Ok((db.all_judges()?, judged_rankings(db)?)))?;
    let scores = pools
        .iter()
        .map(|pool| (pool.query.clone(), pool.ranking()))
        .collect();
    let of_truth = known
        .into_iter()
        .filter(|(_, spec)| judges.contains(&spec.name));
    let named: BTreeSet<(String, String)> =
        of_truth.map(|(_, spec)| (spec.name, spec.model)).collect();
    Ok(ScoreOrigin {
        scores,
        judges: named.into_iter().collect(),
        rankings,
    })
}

/// The truth of a file: its labels or the grades of its documents, or grades derived from the
/// scores of its documents. If it has both, its scores are used if `basis` is not `Auto`.
pub fn file_truth(path: &Path, basis: GradeBasis) -> Result<Truth, AppError> {
    let name = display_name(path);
    let kind = kind(path)?;
    if kind != FileKind::Dataset {
        let mut notes = Vec::new();
        let labels = labels_of(path, &kind, &mut notes)?.labels;
        return Ok(Truth {
            notes,
            ..Truth::labels(name, labels)
        });
    }
    let (grades, scores) = read_graded(path)?;
    let has_grades = grades.values().any(|grades| !grades.is_empty());
    let is_scored = scores
        .iter()
        .flat_map(|(_, documents)| documents)
        .any(|(_, score)| score.is_some());
    if has_grades && (basis == GradeBasis::Auto || !is_scored) {
        let mut truth = Truth::labels(name, grades);
        if is_scored {
            truth.notes.push(
                "the truth has grades and scores: measured against the grades; --cuts rank, score \
                 or labels measures against the scores"
                    .to_owned(),
            );
        }
        return Ok(truth);
    }
    if !is_scored {
        return Err(invalid!(
            "{name}: holds no labels; name qrels, or documents with metadata.grade or a score"
        ));
    }
    let pools: Vec<ScoredPool> = scores
        .into_iter()
        .map(|(query, documents)| ScoredPool {
            query,
            documents,
            judges: Vec::new(),
            student: None,
        })
        .collect();
    let mut truth = zelo_truth(&pools, &grades, basis, None)?;
    truth
        .notes
        .insert(0, format!("the scores of {name} count as zELO"));
    truth.name = name;
    Ok(truth)
}

/// Grades and gains of scored documents, from their calibrated scores if a common scale covers all
/// queries. Documents without a score stay ungraded.
pub fn zelo_truth(
    pools: &[ScoredPool],
    labels: &Qrels,
    basis: GradeBasis,
    scale: Option<&ProjectScale>,
) -> Result<Truth, AppError> {
    let scored: usize = pools.iter().map(|pool| pool.ranking().len()).sum();
    if scored == 0 {
        return Err(invalid!(
            "no document has a zELO score; run `overrule annotate` first"
        ));
    }
    let (linked, scale_note) = match basis {
        GradeBasis::Auto | GradeBasis::Labels => on_one_scale(pools, scale),
        GradeBasis::Rank | GradeBasis::Score => (None, None),
    };
    // Without cut points, the meaning of a calibrated score is unknown, so each query is graded on
    // its own.
    let cuts = |linked: &[ScoredPool]| {
        let of_judge = scale.is_some_and(|scale| scale.grades.is_some());
        of_judge && basis == GradeBasis::Auto
            || cut_points(&graded_scores(linked, labels)).is_some()
    };
    let (linked, scale_note) = match linked {
        Some(linked) if !cuts(&linked) => (None, Some(NO_CUTS_NOTE.to_owned())),
        linked => (linked, scale_note),
    };
    let scale = scale.filter(|_| linked.is_some());
    let pools = linked.as_deref().unwrap_or(pools);
    let graded = graded_scores(pools, labels);
    let positive = graded.iter().filter(|one| one.grade > 0).count();
    let zero = graded.len() - positive;
    let fitted = matches!(basis, GradeBasis::Auto | GradeBasis::Labels)
        .then(|| cut_points(&graded))
        .flatten();
    let of_judge = scale.and_then(|scale| scale.grades.as_ref());
    let of_judge = of_judge.filter(|_| basis == GradeBasis::Auto);
    let mut truth = Truth {
        name: TruthSource::Zelo.name().to_owned(),
        gains: Some(Gains::new()),
        ..Truth::default()
    };
    let student = pools.iter().find_map(|pool| pool.student.clone());
    truth.notes.extend(student);
    truth.notes.extend(scale_note);
    truth.notes.push(match (&fitted, basis) {
        (Some(_), _) => fitted_note(graded.len(), zero, scale.is_some()),
        (None, _) if of_judge.is_some() => JUDGE_NOTE.to_owned(),
        (None, GradeBasis::Labels) => {
            return Err(invalid!(
                "cut points need {ENOUGH_LABELS} labeled documents with a score, \
                 {ENOUGH_ON_EACH_SIDE} of grade 0 and \
                 {ENOUGH_ON_EACH_SIDE} above it; there are {zero} and {positive}"
            ));
        }
        (None, GradeBasis::Score) => SCORE_NOTE.to_owned(),
        (None, _) => RANK_NOTE.to_owned(),
    });
    let model = fitted.or_else(|| of_judge.cloned());
    let by_place = model.is_none() && basis != GradeBasis::Score;
    let model = model.unwrap_or_else(GradeModel::uncalibrated);
    let (mut doubtful, mut bare, mut judges) = (0, Vec::new(), BTreeSet::new());
    for pool in pools {
        let ranking = pool.ranking();
        if ranking.is_empty() {
            bare.push(pool.query.as_str());
            continue;
        }
        judges.extend(pool.judges.iter().cloned());
        let places = rank_grades(ranking.len());
        let mut grades = BTreeMap::new();
        let mut gains = BTreeMap::new();
        for ((document, score), place) in ranking.into_iter().zip(places) {
            let (grade, probability) = model.grade(score);
            doubtful += usize::from(!by_place && probability < SURE);
            grades.insert(document.clone(), if by_place { place } else { grade });
            gains.insert(document, model.gain(score));
        }
        truth.qrels.insert(pool.query.clone(), grades);
        truth
            .gains
            .get_or_insert_default()
            .insert(pool.query.clone(), gains);
    }
    if doubtful > 0 {
        truth.notes.push(format!(
            "{doubtful} of {} have a grade that is less than {:.0} % certain",
            counted(scored, "document"),
            SURE * 100.0
        ));
    }
    if !bare.is_empty() {
        truth.notes.push(format!(
            "skipped {} without any scored document: {}",
            counted(bare.len(), "query"),
            first_names(&bare)
        ));
    }
    truth.judges = judges.into_iter().collect();
    Ok(truth)
}

const RANK_NOTE: &str = "grades by rank, not calibrated: the best 3, 7 and 15 % of each pool are \
                         graded 3, 2 and 1, as if every query had the same share of relevant \
                         documents; add labels or rulings to calibrate the cut points";
const SCORE_NOTE: &str = "grades by score, not calibrated: the cut points are those of simulated \
                          pools of 40 documents; add labels or rulings to calibrate them";

const NO_CUTS_NOTE: &str = "the calibrated scores are not used, because they have no cut points; \
                            add labels, rulings or graded anchors";
const JUDGE_NOTE: &str =
    "grades by the cut points of the anchors' judge: there are too few human labels to fit them";

/// The pools with calibrated scores if the scale covers all of them, and a note about it.
fn on_one_scale(
    pools: &[ScoredPool],
    scale: Option<&ProjectScale>,
) -> (Option<Vec<ScoredPool>>, Option<String>) {
    let Some(scale) = scale else {
        return (None, None);
    };
    let scored = || pools.iter().filter(|pool| !pool.ranking().is_empty());
    let off = scored().filter(|pool| scale.offset(&pool.query).is_none());
    let off = off.count();
    if off > 0 {
        let note = format!(
            "not on one scale: {} of {}; `overrule scale run` puts them there",
            off,
            counted(scored().count(), "query")
        );
        return (None, Some(note));
    }
    let linked = pools.iter().map(|pool| {
        let value = |score: f64| Some(scale.linked(&pool.query, score, None)?.value);
        let documents = pool.documents.iter();
        let documents = documents.map(|(id, score)| (id.clone(), score.and_then(value)));
        ScoredPool {
            documents: documents.collect(),
            ..pool.clone()
        }
    });
    let note = format!("scores on one scale by {}", scale.basis);
    (Some(linked.collect()), Some(note))
}

fn fitted_note(labels: usize, zero: usize, on_one_scale: bool) -> String {
    let few = if labels < MANY_LABELS {
        format!(" (few: {MANY_LABELS} are enough)")
    } else {
        String::new()
    };
    let right_where = if on_one_scale {
        ""
    } else {
        "; one set of cut points for all queries assumes similar shares of relevant documents"
    };
    format!(
        "grades by cut points fitted to {}{few}, {zero} of them of grade 0{right_where}",
        counted(labels, "label")
    )
}

fn graded_scores(pools: &[ScoredPool], labels: &Qrels) -> Vec<GradedScore> {
    let of = |pool: &ScoredPool| {
        let labels = labels.get(&pool.query);
        let graded = pool
            .documents
            .clone()
            .into_iter()
            .filter_map(|(document, score)| {
                Some(GradedScore {
                    score: score?,
                    grade: *labels?.get(&document)?,
                    weight: 1.0,
                })
            });
        graded.collect::<Vec<_>>()
    };
    pools.iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::common_scale::Offset;
    use crate::domain::corpus::{DocId, QueryId};

    fn pool(query: &str, scores: &[Option<f64>]) -> ScoredPool {
        let documents = scores.iter().enumerate();
        ScoredPool {
            query: QueryId::new(query),
            documents: documents
                .map(|(at, score)| (DocId::new(format!("d{at:02}")), *score))
                .collect(),
            judges: vec!["judge".to_owned()],
            student: None,
        }
    }

    #[test]
    fn a_student_in_the_scores_is_said() {
        let mut of = pool("q", &[Some(1.0), Some(0.0)]);
        let notes = |of: &ScoredPool| {
            let pools = std::slice::from_ref(of);
            zelo_truth(pools, &Qrels::new(), GradeBasis::Auto, None)
                .unwrap()
                .notes
        };
        let without = notes(&of);
        of.student = Some("scores count student own too".to_owned());
        assert_eq!(
            notes(&of),
            [vec!["scores count student own too".to_owned()], without].concat()
        );
    }

    #[test]
    fn without_labels_the_place_makes_the_grade_and_says_so() {
        let scores: Vec<Option<f64>> = (0..20).map(|at| Some(f64::from(at) / 4.0)).collect();
        let truth = zelo_truth(
            &[pool("q", &scores), pool("bare", &[None])],
            &Qrels::new(),
            GradeBasis::Auto,
            None,
        );
        let truth = truth.unwrap();
        let grades = &truth.qrels[&QueryId::new("q")];
        assert_eq!(grades[&DocId::new("d19")], 3);
        assert_eq!(grades.values().filter(|grade| **grade > 0).count(), 3);
        assert!(truth.notes[0].contains("not calibrated"));
        assert!(truth.notes[1].contains("skipped 1 query without any scored document"));
        assert_eq!(truth.judges, ["judge"]);
        assert!(truth.is_of_judges());
    }

    #[test]
    fn labels_set_the_cut_points() {
        let scores: Vec<Option<f64>> = (0..40).map(|at| Some(f64::from(at) / 4.0)).collect();
        let of = |at: usize| i32::from(at + at % 3 > 20);
        let grades = (0..40).map(|at| (DocId::new(format!("d{at:02}")), of(at)));
        let labels = Qrels::from([(QueryId::new("q"), grades.collect())]);
        let truth = zelo_truth(&[pool("q", &scores)], &labels, GradeBasis::Auto, None).unwrap();
        assert!(
            truth.notes[0].contains("fitted to 40 labels (few"),
            "{:?}",
            truth.notes
        );
        let relevant = truth.qrels[&QueryId::new("q")].values().sum::<i32>();
        assert!((18..=22).contains(&relevant), "{relevant}");
        let none = zelo_truth(
            &[pool("q", &scores)],
            &Qrels::new(),
            GradeBasis::Labels,
            None,
        );
        assert!(none.unwrap_err().to_string().contains("there are 0 and 0"));
    }

    #[test]
    fn linked_scores_count_only_where_something_sets_cut_points_on_their_scale() {
        let scores: Vec<Option<f64>> = (0..40).map(|at| Some(f64::from(at) / 4.0)).collect();
        let pools = [pool("q", &scores)];
        let offset = Offset {
            value: 5.0,
            se: 0.5,
        };
        let mut scale = ProjectScale::of_query(QueryId::new("q"), offset, 3.0);
        let truth = |scale: Option<&ProjectScale>, labels: &Qrels| {
            zelo_truth(&pools, labels, GradeBasis::Auto, scale).unwrap()
        };
        let none = Qrels::new();
        let plain = truth(None, &none);
        assert_ne!(truth(Some(&scale), &none).gains, plain.gains);
        scale.grades = None;
        let found = truth(Some(&scale), &none);
        assert_eq!((&found.gains, &found.qrels), (&plain.gains, &plain.qrels));
        assert_eq!(found.notes, [NO_CUTS_NOTE, RANK_NOTE]);
        let of = |at: usize| i32::from(at + at % 3 > 20);
        let grades = (0..40).map(|at| (DocId::new(format!("d{at:02}")), of(at)));
        let labels = Qrels::from([(QueryId::new("q"), grades.collect())]);
        let found = truth(Some(&scale), &labels);
        assert!(
            found.notes[0].contains("on one scale by"),
            "{:?}",
            found.notes
        );
    }
}
