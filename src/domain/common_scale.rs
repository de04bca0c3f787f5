//! The common scale of a project's queries, if one was determined: zELO scores have mean 0 in each
//! query, and an offset per query makes them comparable.

use crate::domain::corpus::QueryId;
use crate::domain::metrics::GradeModel;
use std::collections::HashMap;

/// If queries differ by more than this fraction of the differences within them, the judge's anchors
/// cannot link them.
const TOO_MUCH: f64 = 0.8;

/// The amount added to the zELO of a query's documents, in the same units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offset {
    pub value: f64,
    /// Standard error.
    pub se: f64,
}

/// How a judge's grades shift between queries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    pub rulings: usize,
    /// Standard deviation between queries divided by the one within them, from 0; infinite if
    /// nothing differs within.
    pub ratio: f64,
}

impl Drift {
    /// Whether links should be preferred to anchors of this judge.
    pub fn is_too_much(self) -> bool {
        self.ratio > TOO_MUCH
    }
}

/// What offsets are based on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScaleKind {
    Anchors,
    Links,
}

impl ScaleKind {
    /// The noun for what is counted per query.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Anchors => "anchors",
            Self::Links => "links",
        }
    }
}

/// The common scale of a project's queries.
#[derive(Clone, Debug)]
pub struct ProjectScale {
    /// A phrase that says whose grades it is based on.
    pub basis: String,
    /// Offsets of the queries on the scale.
    pub offsets: HashMap<QueryId, Offset>,
    pub kind: ScaleKind,
    /// Number of graded anchors, or answered links, of each query.
    pub counts: HashMap<QueryId, usize>,
    /// Converts calibrated scores to grades; `None` if neither people nor a judge of anchors have
    /// graded enough documents.
    pub grades: Option<GradeModel>,
    /// A phrase that says what determines its cut points.
    pub cuts: String,
    /// Standard deviation of the offsets between queries, in units of zELO.
    pub spread: f64,
    /// Whether the judge's grades mean the same in all queries, if enough documents also have a
    /// label.
    pub drift: Option<Drift>,
    /// Expected number of documents with grade 1 or higher in each query on the scale.
    pub expected: HashMap<QueryId, f64>,
    /// Grades of documents without a zELO score.
    pub unused: usize,
    /// Notes to the reader, one sentence each.
    pub notes: Vec<String>,
}

/// A score that is comparable across queries, in units of zELO.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkedScore {
    pub value: f64,
    /// Standard error of the query's offset and the document's score combined; `None` if the
    /// document has none.
    pub se: Option<f64>,
}

impl ProjectScale {
    /// `None` for a query that nothing connects to others.
    pub fn offset(&self, query: &QueryId) -> Option<Offset> {
        self.offsets.get(query).copied()
    }

    /// Number of graded anchors, or answered links, of a query.
    pub fn count(&self, query: &QueryId) -> usize {
        self.counts.get(query).copied().unwrap_or_default()
    }

    /// The calibrated score of a document of `query` with this zELO and standard error.
    pub fn linked(&self, query: &QueryId, zelo: f64, se: Option<f64>) -> Option<LinkedScore> {
        self.offset(query).map(|offset| LinkedScore {
            value: zelo + offset.value,
            se: se.map(|se| se.hypot(offset.se)),
        })
    }

    /// Expected number of documents with grade 1 or higher in a query; `None` if it is not on the
    /// scale or scores cannot be converted to grades.
    pub fn expected_relevant(&self, query: &QueryId) -> Option<f64> {
        self.expected.get(query).copied()
    }
}

#[cfg(test)]
impl ProjectScale {
    /// A scale that contains one query.
    pub fn of_query(query: QueryId, offset: Offset, expected: f64) -> Self {
        Self {
            basis: "anchors of gpt".to_owned(),
            offsets: HashMap::from([(query.clone(), offset)]),
            kind: ScaleKind::Anchors,
            counts: HashMap::from([(query.clone(), 5)]),
            grades: Some(GradeModel::uncalibrated()),
            cuts: String::new(),
            spread: 1.0,
            drift: None,
            expected: HashMap::from([(query, expected)]),
            unused: 0,
            notes: Vec::new(),
        }
    }
}
