//! State of the comparison of reranking methods, and of two rankings of one query side by side.

use crate::app::error::AppError;
use crate::app::truth::TruthSource;
use crate::domain::corpus::{DocId, QueryId};
use crate::features::methods::app::{MethodEntry, MethodsReport};
use crate::features::methods::domain::QueryDelta;
use crate::tui::model::Model;
use std::collections::BTreeMap;

/// Available cutoffs, in documents per ranking.
const DEPTHS: [usize; 6] = [1, 3, 5, 10, 20, 100];

/// What methods are evaluated against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TruthChoice {
    /// The labels, or the judges if there are none.
    #[default]
    Usual,
    This(TruthSource),
    /// The next source that the project has.
    After(TruthSource),
}

impl TruthChoice {
    /// The source after a given one; the first one after the last.
    pub(crate) fn next(source: TruthSource) -> TruthSource {
        match source {
            TruthSource::Qrels => TruthSource::Rulings,
            TruthSource::Rulings => TruthSource::Zelo,
            TruthSource::Zelo => TruthSource::Qrels,
        }
    }
}

/// Parameters of the comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodsChoice {
    pub truth: TruthChoice,
    /// `None` for the first-stage order.
    pub baseline: Option<String>,
    /// Cutoff in documents per ranking.
    pub depth: usize,
}

impl Default for MethodsChoice {
    fn default() -> Self {
        Self {
            truth: TruthChoice::Usual,
            baseline: None,
            depth: 10,
        }
    }
}

impl MethodsChoice {
    /// The next larger cutoff; after the first one that covers rankings of `longest` documents, the
    /// smallest.
    pub(crate) fn next_depth(&self, longest: usize) -> usize {
        let larger = DEPTHS.into_iter().find(|depth| *depth > self.depth);
        let larger = larger.filter(|_| self.depth < longest);
        larger.or(DEPTHS.first().copied()).unwrap_or(self.depth)
    }
}

#[derive(Debug, Default)]
pub struct MethodsState {
    /// Parameters of the current report.
    pub choice: MethodsChoice,
    /// Parameters of the report being computed.
    pub asked: Option<MethodsChoice>,
    /// The comparison, or why there is none; `None` while the first one is being computed.
    pub report: Option<Result<Box<MethodsReport>, AppError>>,
    /// Index of the method under the cursor.
    pub cursor: usize,
    /// Whether the cursor is in the list of queries that differ.
    pub in_queries: bool,
    pub query_cursor: usize,
    /// The query whose rankings are shown side by side.
    pub query: Option<QueryId>,
    pub rank_cursor: usize,
}

impl Model {
    pub(crate) fn methods(&self) -> &MethodsState {
        self.state()
    }

    pub(crate) fn methods_mut(&mut self) -> &mut MethodsState {
        self.state_mut()
    }
}

impl MethodsState {
    pub(crate) fn found(&self) -> Option<&MethodsReport> {
        self.report.as_ref()?.as_deref().ok()
    }

    pub(crate) fn method(&self) -> Option<&MethodEntry> {
        let methods = &self.found()?.methods;
        methods.get(self.cursor.min(methods.len().saturating_sub(1)))
    }

    /// Whether the method under the cursor is the baseline.
    pub(crate) fn is_baseline(&self) -> bool {
        self.found()
            .zip(self.method())
            .is_some_and(|(report, method)| report.baseline == method.name)
    }

    /// Number of documents in the longest ranking.
    pub(crate) fn longest_ranking(&self) -> usize {
        self.found().map_or(0, MethodsReport::longest_ranking)
    }

    /// The queries for which the method under the cursor and the baseline differ in the first
    /// metric, largest loss first.
    pub(crate) fn deltas(&self) -> Vec<QueryDelta> {
        let found = self.found().and_then(|report| {
            let baseline = report.method(&report.baseline)?.values.first()?;
            Some(self.method()?.values.first()?.deltas(baseline))
        });
        found.unwrap_or_default()
    }

    /// The grades of the query's documents, if the truth has any.
    pub(crate) fn grades(&self) -> Option<&BTreeMap<DocId, i32>> {
        self.found()?.grades.get(self.query.as_ref()?)
    }

    /// The rankings of the query by the baseline and by the method under the cursor.
    pub(crate) fn rankings(&self) -> Option<(&[DocId], &[DocId])> {
        let (report, query) = (self.found()?, self.query.as_ref()?);
        let baseline = report.method(&report.baseline)?.orders.get(query)?;
        Some((baseline, self.method()?.orders.get(query)?))
    }
}
