//! What a project says is true of its documents: its labels, the labels with the rulings put in, or its own zELO.

use super::error::{AppError, invalid};
use super::wording::{counted, first_names};
use crate::domain::adjudication::{corrected_labels, label_corrections, rulings_in_force};
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::{Gains, GradeModel, GradedScore, Qrels, rank_grades};
use crate::store::Store;
use crate::store::corpus::QueryKey;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Labels of pool documents from which on cut points are fitted to them, and how many of grade 0 and above it.
const ENOUGH_LABELS: usize = 30;
const ENOUGH_ON_EACH_SIDE: usize = 5;
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

/// The scores of a query's documents.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredPool {
    pub query: QueryId,
    /// In hybrid order; `None` where nothing says how a document compares.
    pub documents: Vec<(DocId, Option<f64>)>,
    pub judges: Vec<String>,
}

impl ScoredPool {
    /// The documents with a score, best first, equal ones by descending identifier: the order in which every reader of a
    /// run puts them.
    pub fn ranking(&self) -> Vec<(DocId, f64)> {
        let scored = self.documents.iter();
        let scored = scored.filter_map(|(id, score)| Some((id.clone(), (*score)?)));
        let mut ranking: Vec<(DocId, f64)> = scored.collect();
        ranking.sort_unstable_by(|x, y| y.1.total_cmp(&x.1).then_with(|| y.0.cmp(&x.0)));
        ranking
    }
}

/// The zELO scores of some queries, in the order of the keys.
pub fn scored_pools(store: &Store, keys: &[QueryKey]) -> Result<Vec<ScoredPool>, AppError> {
    let mut pools = Vec::with_capacity(keys.len());
    store.read_each(
        keys,
        |db, key| {
            let query = db.query(key)?.id;
            let ids = db.documents(key)?.into_iter().map(|document| document.id);
            let judges = db.judges_of(key)?.into_iter();
            let judges = judges.map(|(_, judge)| judge.name).collect();
            Ok((query, ids.collect::<Vec<_>>(), judges, db.scores(key)?))
        },
        |_, (query, ids, judges, scores)| {
            let scores = scores.map_err(|error| invalid!("query {:?}: {error}", query.as_str()))?;
            pools.push(ScoredPool {
                query,
                documents: ids.into_iter().zip(scores).collect(),
                judges,
            });
            Ok::<(), AppError>(())
        },
    )?;
    Ok(pools)
}

/// The truth of a project.
pub fn project_truth(
    store: &Store,
    source: TruthSource,
    basis: GradeBasis,
) -> Result<Truth, AppError> {
    let (labels, rulings, rule) =
        store.read_blocking(|db| Ok((db.labels()?, db.standing_rulings()?, db.final_rule()?)))?;
    let standing: Vec<_> = rulings.into_iter().map(|row| row.ruling).collect();
    let (in_force, _) = rulings_in_force(&rule, &standing);
    let corrections = label_corrections(&labels, in_force, None);
    let corrected = || corrected_labels(&labels, &corrections);
    let none = |what: &str, how: &str| invalid!("the project holds no {what}; {how}");
    match source {
        TruthSource::Qrels if labels.is_empty() => Err(none(
            "labels",
            "`overrule import QRELS` brings some in, and zelo measures against the judges",
        )),
        TruthSource::Qrels => Ok(Truth::labels(source.name(), labels)),
        TruthSource::Rulings if corrections.is_empty() => Err(none(
            "rulings",
            "`overrule rule` gives one, and qrels measures against the labels as they are",
        )),
        TruthSource::Rulings => {
            let changed = corrections.iter().filter(|one| one.changes()).count();
            let mut truth = Truth::labels(source.name(), corrected());
            truth.notes.push(format!(
                "labels with {} in force, which changed {}",
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
            zelo_truth(&scored_pools(store, &keys)?, &corrected(), basis)
        }
    }
}

/// Grades and gains of scored documents. Documents without a score stay ungraded.
pub fn zelo_truth(
    pools: &[ScoredPool],
    labels: &Qrels,
    basis: GradeBasis,
) -> Result<Truth, AppError> {
    let scored: usize = pools.iter().map(|pool| pool.ranking().len()).sum();
    if scored == 0 {
        return Err(invalid!(
            "no document has a zELO score; `overrule annotate` has the pools judged"
        ));
    }
    let graded = graded_scores(pools, labels);
    let positive = graded.iter().filter(|one| one.grade > 0).count();
    let (few, zero) = (graded.len() < ENOUGH_LABELS, graded.len() - positive);
    let enough = !few && positive.min(zero) >= ENOUGH_ON_EACH_SIDE;
    let wanted = matches!(basis, GradeBasis::Auto | GradeBasis::Labels);
    let model = (wanted && enough)
        .then(|| GradeModel::fit(&graded))
        .flatten();
    let mut truth = Truth {
        name: TruthSource::Zelo.name().to_owned(),
        gains: Some(Gains::new()),
        ..Truth::default()
    };
    truth.notes.push(match (&model, basis) {
        (Some(_), _) => fitted_note(graded.len(), zero),
        (None, GradeBasis::Labels) => {
            return Err(invalid!(
                "cut points want {ENOUGH_LABELS} labelled documents with a score, {ENOUGH_ON_EACH_SIDE} of grade 0 and \
                 {ENOUGH_ON_EACH_SIDE} above it; there are {zero} and {positive}"
            ));
        }
        (None, GradeBasis::Score) => SCORE_NOTE.to_owned(),
        (None, _) => RANK_NOTE.to_owned(),
    });
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

fn graded_scores(pools: &[ScoredPool], labels: &Qrels) -> Vec<GradedScore> {
    let of = |pool: &ScoredPool| {
        let labels = labels.get(&pool.query);
        let documents = pool.documents.clone().into_iter();
        let graded = documents.filter_map(|(document, score)| {
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
        let truth = zelo_truth(&[pool("q", &scores)], &labels, GradeBasis::Auto).unwrap();
        assert!(
            truth.notes[0].contains("fitted to 40 labels (few"),
            "{:?}",
            truth.notes
        );
        let relevant = truth.qrels[&QueryId::new("q")].values().sum::<i32>();
        assert!((18..=22).contains(&relevant), "{relevant}");
        let none = zelo_truth(&[pool("q", &scores)], &Qrels::new(), GradeBasis::Labels);
        assert!(none.unwrap_err().to_string().contains("there are 0 and 0"));
    }
}
