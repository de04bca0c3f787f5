//! What a project says is true of its documents: its labels, the labels with the rulings put in, or its own zELO.

use super::error::{AppError, invalid};
use super::one_scale::ProjectScale;
use super::scored_pools::{
    ENOUGH_LABELS, ENOUGH_ON_EACH_SIDE, PeoplesLabels, all_keys, fit_to_labels, graded_scores,
};
pub use super::scored_pools::{ScoredPool, scored_pools};
use super::wording::{counted, first_names};
use crate::domain::metrics::{Gains, GradeModel, Qrels, rank_grades};
use crate::store::Store;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Labels from which on the cut points are sure enough not to speak of it.
const MANY_LABELS: usize = 150;
/// Below this the most probable grade of a document is doubtful.
const SURE: f64 = 0.6;

/// What is said of every value that is measured against zELO.
pub const AGAINST_JUDGES: &str = "against these judges, not against people";

/// Where a project's truth comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TruthSource {
    /// The labels as they were imported.
    Qrels,
    /// The labels with the rulings in force put in.
    Rulings,
    /// Grades made of the zELO scores.
    Zelo,
}

impl TruthSource {
    /// The source of a name; `None` for another text, which is a file's name.
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

/// What makes grades of zELO scores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GradeBasis {
    /// Labels and rulings where there are enough, else the place in the pool.
    #[default]
    Auto,
    /// Cut points fitted to labels and rulings.
    Labels,
    /// The best 3, 7 and 15 % of each pool.
    Rank,
    /// Cut points of simulated pools.
    Score,
}

/// What rankings are measured against.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Truth {
    /// The source's name; a file's path.
    pub name: String,
    pub qrels: Qrels,
    /// What documents add to an NDCG, where that is not their grade.
    pub gains: Option<Gains>,
    /// The judges whose votes it rests on; empty for what people said.
    pub judges: Vec<String>,
    /// What it assumes, a sentence each.
    pub notes: Vec<String>,
}

impl Truth {
    /// Labels that people gave.
    pub fn labels(name: impl Into<String>, qrels: Qrels) -> Self {
        Self {
            name: name.into(),
            qrels,
            ..Self::default()
        }
    }

    /// Whether judges, and not people, say what is true.
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
    let people = PeoplesLabels::read(store)?;
    let none = |what: &str, how: &str| invalid!("the project holds no {what}; {how}");
    match source {
        TruthSource::Qrels if people.labels.is_empty() => Err(none(
            "labels",
            "`overrule import QRELS` brings some in, and zelo measures against the judges",
        )),
        TruthSource::Qrels => Ok(Truth::labels(source.name(), people.labels)),
        TruthSource::Rulings if people.corrections.is_empty() => Err(none(
            "rulings",
            "`overrule rule` gives one, and qrels measures against the labels as they are",
        )),
        TruthSource::Rulings => {
            let corrections = &people.corrections;
            let changed = corrections.iter().filter(|one| one.changes()).count();
            let mut truth = Truth::labels(source.name(), people.corrected());
            truth.notes.push(format!(
                "labels with {} in force, which changed {}",
                counted(corrections.len(), "ruling"),
                counted(changed, "label")
            ));
            Ok(truth)
        }
        TruthSource::Zelo => {
            let pools = scored_pools(store, &all_keys(store)?)?;
            let scale = ProjectScale::of(store, &pools, None)?;
            zelo_truth(&pools, &people.corrected(), basis, scale.as_ref())
        }
    }
}

/// Grades and gains of scored documents. Documents without a score stay ungraded. One scale over queries is used where it was
/// measured in all of them, unless another basis is asked for.
pub fn zelo_truth(
    pools: &[ScoredPool],
    labels: &Qrels,
    basis: GradeBasis,
    scale: Option<&ProjectScale>,
) -> Result<Truth, AppError> {
    let scored: usize = pools.iter().map(|pool| pool.ranking().len()).sum();
    if scored == 0 {
        return Err(invalid!(
            "no document has a zELO score; `overrule annotate` has the pools judged"
        ));
    }
    let wanted = matches!(basis, GradeBasis::Auto | GradeBasis::Labels);
    let unmeasured = scale.map_or(0, |scale| scale.unmeasured(pools));
    let scale = scale.filter(|_| unmeasured == 0 && basis == GradeBasis::Auto);
    let (fitted, counts) = fit_to_labels(&graded_scores(pools, labels));
    let (graded, zero) = (counts.labels, counts.zero);
    let positive = graded - zero;
    let local = fitted.filter(|_| wanted);
    let model = scale.map(|scale| scale.grades.clone()).or(local);
    let mut truth = Truth {
        name: TruthSource::Zelo.name().to_owned(),
        gains: Some(Gains::new()),
        ..Truth::default()
    };
    truth.notes.push(match (&model, basis) {
        (Some(_), _) if scale.is_some() => scale.map(ProjectScale::describe).unwrap_or_default(),
        (Some(_), _) => fitted_note(graded, zero),
        (None, GradeBasis::Labels) => {
            return Err(invalid!(
                "cut points want {ENOUGH_LABELS} labelled documents with a score, {ENOUGH_ON_EACH_SIDE} of grade 0 and \
                 {ENOUGH_ON_EACH_SIDE} above it; there are {zero} and {positive}"
            ));
        }
        (None, GradeBasis::Score) => SCORE_NOTE.to_owned(),
        (None, _) => RANK_NOTE.to_owned(),
    });
    if unmeasured > 0 && basis == GradeBasis::Auto {
        truth.notes.push(format!(
            "one scale over queries is not used: {} of {} with scores have no anchors; `overrule scale --anchors 5` asks for them",
            unmeasured,
            counted(pools.iter().filter(|pool| pool.is_scored()).count(), "query")
        ));
    }
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
        let shift = scale.and_then(|scale| scale.offset(&pool.query));
        let shift = shift.map_or(0.0, |offset| offset.b);
        let mut grades = BTreeMap::new();
        let mut gains = BTreeMap::new();
        for ((document, score), place) in ranking.into_iter().zip(places) {
            let score = score + shift;
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
            "{doubtful} of {} have a grade that is less than {:.0} % sure",
            counted(scored, "document"),
            SURE * 100.0
        ));
    }
    if !bare.is_empty() {
        truth.notes.push(format!(
            "{} without a score of any document: left out: {}",
            counted(bare.len(), "query"),
            first_names(&bare)
        ));
    }
    truth.judges = judges.into_iter().collect();
    Ok(truth)
}

const RANK_NOTE: &str = "grades by place, not calibrated: the best 3, 7 and 15 % of each pool are graded 3, 2 and 1, as if every query \
                         had the same share of relevant documents; labels or rulings would set the cut points";
const SCORE_NOTE: &str = "grades by score, not calibrated: the cut points are those of simulated pools of 40 documents; labels or \
                          rulings would set them";

fn fitted_note(labels: usize, zero: usize) -> String {
    let few = match labels < MANY_LABELS {
        true => format!(" (few: {MANY_LABELS} are enough)"),
        false => String::new(),
    };
    format!(
        "grades by cut points fitted to {}{few}, {zero} of them of grade 0; one set of cut points for all queries is right where \
         they have like shares of relevant documents",
        counted(labels, "label")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::corpus::{DocId, QueryId};

    fn pool(query: &str, scores: &[Option<f64>]) -> ScoredPool {
        let documents = scores.iter().enumerate();
        ScoredPool {
            query: QueryId::new(query),
            documents: documents
                .map(|(at, score)| (DocId::new(format!("d{at:02}")), *score))
                .collect(),
            judges: vec!["judge".to_owned()],
        }
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
        assert!(truth.notes[1].contains("1 query without a score of any document"));
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
}
