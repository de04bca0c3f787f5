//! State of the comparison of reranking methods, and of two rankings of one query side by side.

use crate::app::error::AppError;
use crate::app::truth::TruthSource;
use crate::domain::corpus::{DocId, QueryId};
use crate::features::methods::app::{MethodEntry, MethodsReport};
use crate::features::methods::domain::{QueryDelta, RankingFailure};
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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MethodsChoice {
    pub truth: TruthChoice,
    /// `None` for the first-stage order.
    pub baseline: Option<String>,
    /// Cutoff in documents per ranking; `None` for the project's top k.
    pub depth: Option<usize>,
}

/// The next larger cutoff; after the first one that covers rankings of `longest` documents, the
/// smallest.
fn next_depth(now: usize, longest: usize) -> Option<usize> {
    DEPTHS
        .into_iter()
        .find(|depth| *depth > now)
        .filter(|_| now < longest)
        .or(DEPTHS.first().copied())
}

/// A query in the list of a method, by its index in the report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ListedQuery {
    Failed(usize),
    Differs(QueryDelta),
    NotRun(usize),
}

impl ListedQuery {
    pub(crate) fn query(self) -> usize {
        match self {
            Self::Failed(query) | Self::NotRun(query) => query,
            Self::Differs(of) => of.query,
        }
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
    /// Whether the cursor is in the list of queries.
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

    /// The cutoff after the one of the current report.
    pub(crate) fn next_depth(&self) -> Option<usize> {
        let now = self.found()?.metrics.first()?.cutoff()?;
        next_depth(now, self.longest_ranking())
    }

    /// Number of documents in the longest ranking.
    pub(crate) fn longest_ranking(&self) -> usize {
        self.found().map_or(0, MethodsReport::longest_ranking)
    }

    /// The queries of the method under the cursor that are worth a look: those that failed, those
    /// for which it and the baseline differ in the first metric, largest loss first, and those on
    /// which it was not run.
    pub(crate) fn listed(&self) -> Vec<ListedQuery> {
        let Some((report, method)) = self.found().zip(self.method()) else {
            return Vec::new();
        };
        let where_is = |is: &dyn Fn(&QueryId) -> bool| {
            let found = report
                .queries
                .iter()
                .enumerate()
                .filter(|(_, query)| is(query))
                .map(|(at, _)| at);
            found.collect::<Vec<_>>()
        };
        let failed = where_is(&|query| method.failure(query).is_some());
        let not_run = where_is(&|query| !method.rows.contains_key(query));
        let baseline = report.method(&report.baseline);
        let values = method
            .values
            .first()
            .zip(baseline.and_then(|of| of.values.first()));
        let deltas = values.map_or_else(Vec::new, |(mine, base)| mine.deltas(base));
        let failed = failed.into_iter().map(ListedQuery::Failed);
        let not_run = not_run.into_iter().map(ListedQuery::NotRun);
        failed
            .chain(deltas.into_iter().map(ListedQuery::Differs))
            .chain(not_run)
            .collect()
    }

    /// Why the method under the cursor has no ranking of the query.
    pub(crate) fn failure(&self) -> Option<&RankingFailure> {
        self.method()?.failure(self.query.as_ref()?)
    }

    /// The grades of the query's documents, if the truth has any.
    pub(crate) fn grades(&self) -> Option<&BTreeMap<DocId, i32>> {
        self.found()?.grades.get(self.query.as_ref()?)
    }

    /// The rankings of the query by the baseline and by the method under the cursor, of which one
    /// may be missing and is then empty.
    pub(crate) fn rankings(&self) -> Option<(&[DocId], &[DocId])> {
        let (report, query) = (self.found()?, self.query.as_ref()?);
        let baseline = report.method(&report.baseline)?.order(query);
        let own = self.method()?.order(query);
        (baseline.is_some() || own.is_some())
            .then(|| (baseline.unwrap_or_default(), own.unwrap_or_default()))
    }
}
