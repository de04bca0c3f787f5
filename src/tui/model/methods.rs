//! The comparison of reranking methods, and two rankings of one query side by side.

use crate::app::methods::{MethodEntry, MethodsReport};
use crate::app::truth::TruthSource;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::methods::QueryDelta;
use std::collections::BTreeMap;

/// Documents of each ranking that may be looked at.
const DEPTHS: [usize; 6] = [1, 3, 5, 10, 20, 100];

/// What methods are measured against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TruthChoice {
    /// The labels, or the judges where there are none.
    #[default]
    Usual,
    This(TruthSource),
    /// The next one that the project has.
    After(TruthSource),
}

impl TruthChoice {
    /// The truth after one; the first one after the last.
    pub(crate) fn next(source: TruthSource) -> TruthSource {
        match source {
            TruthSource::Qrels => TruthSource::Rulings,
            TruthSource::Rulings => TruthSource::Zelo,
            TruthSource::Zelo => TruthSource::Qrels,
        }
    }
}

/// How methods are measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodsChoice {
    pub truth: TruthChoice,
    /// The first-stage order where there is none.
    pub baseline: Option<String>,
    /// Documents of each ranking that are looked at.
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
    /// The next larger depth; the smallest one after the first that takes in rankings of `longest` documents whole.
    pub(crate) fn next_depth(&self, longest: usize) -> usize {
        let larger = DEPTHS.into_iter().find(|depth| *depth > self.depth);
        let larger = larger.filter(|_| self.depth < longest);
        larger.or(DEPTHS.first().copied()).unwrap_or(self.depth)
    }
}

#[derive(Debug, Default)]
pub struct MethodsScreen {
    /// How the report was measured.
    pub choice: MethodsChoice,
    /// How it is being measured just now.
    pub asked: Option<MethodsChoice>,
    /// What the comparison found, or why there is none; `None` while the first one is worked out.
    pub report: Option<Result<Box<MethodsReport>, String>>,
    /// The method under the cursor.
    pub cursor: usize,
    /// Whether the cursor is in the list of queries that differ.
    pub in_queries: bool,
    pub query_cursor: usize,
    /// The query whose rankings are side by side.
    pub query: Option<QueryId>,
    pub rank_cursor: usize,
}

impl MethodsScreen {
    pub(crate) fn found(&self) -> Option<&MethodsReport> {
        self.report.as_ref()?.as_deref().ok()
    }

    pub(crate) fn method(&self) -> Option<&MethodEntry> {
        let methods = &self.found()?.methods;
        methods.get(self.cursor.min(methods.len().saturating_sub(1)))
    }

    /// Whether the method under the cursor is what the others are compared with.
    pub(crate) fn is_baseline(&self) -> bool {
        let found = self.found().zip(self.method());
        found.is_some_and(|(report, method)| report.baseline == method.name)
    }

    /// How many documents the longest ranking has.
    pub(crate) fn longest_ranking(&self) -> usize {
        self.found().map_or(0, MethodsReport::longest_ranking)
    }

    /// The queries on which the method under the cursor and the baseline differ by the first metric, the one that hurts most
    /// first.
    pub(crate) fn deltas(&self) -> Vec<QueryDelta> {
        let found = self.found().and_then(|report| {
            let baseline = report.method(&report.baseline)?.values.first()?;
            Some(self.method()?.values.first()?.deltas(baseline))
        });
        found.unwrap_or_default()
    }

    /// The grades of the query's documents, where the truth has some.
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
