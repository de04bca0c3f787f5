//! State of the list of queries: rows, filter and order.

use crate::store::corpus::{QueryInfo, QueryKey};
use crate::store::summary_cache::QuerySummary;
use crate::tui::fuzzy;
use std::collections::{BTreeSet, HashSet};

/// A query, with its summary if it is known and up to date.
pub type QueryRow = (QueryInfo, Option<QuerySummary>);

#[derive(Debug, Default)]
pub struct QueriesState {
    pub rows: Vec<QueryRow>,
    /// Index of the row under the cursor, among those shown.
    pub cursor: usize,
    pub filter: String,
    pub sort: QuerySort,
    /// Whether the order is reversed.
    pub reversed: bool,
    /// Whether a list has been loaded.
    pub loaded: bool,
    /// Queries whose summaries have been requested since the list was loaded, and are pending.
    pub asked: HashSet<QueryKey>,
    /// The names of commands that need no hint anymore, because the person has used them.
    pub used: BTreeSet<String>,
}

/// Sort key of the rows, and its direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QuerySort {
    #[default]
    Import,
    Fought,
    Settled,
    Widest,
    Consensus,
    Cycles,
    Failed,
    Verdicts,
}

impl QuerySort {
    pub const ALL: [Self; 8] = [
        Self::Import,
        Self::Fought,
        Self::Settled,
        Self::Widest,
        Self::Consensus,
        Self::Cycles,
        Self::Failed,
        Self::Verdicts,
    ];

    /// Whether the largest comes first in the unreversed order, so that what needs attention is on
    /// top.
    pub fn largest_first(self) -> bool {
        matches!(self, Self::Widest | Self::Cycles | Self::Failed)
    }

    /// The number to sort by; `None` if there is none.
    fn value(self, summary: &QuerySummary) -> Option<f64> {
        match self {
            Self::Import => None,
            Self::Fought => {
                (summary.battles > 0).then(|| summary.fought as f64 / summary.battles as f64)
            }
            Self::Settled => summary.settled,
            Self::Widest => summary.widest.map(|ranks| ranks as f64),
            Self::Consensus => summary.consensus(),
            Self::Cycles => (summary.triads > 0).then_some(summary.cyclic as f64),
            Self::Failed => Some(summary.failures as f64),
            Self::Verdicts => Some(summary.verdicts as f64),
        }
    }
}

/// Totals over the listed queries, including the number of settled ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueryTotals {
    pub counted: usize,
    /// Queries with a probability that the top is right.
    pub decidable: usize,
    pub settled: usize,
    pub verdicts: usize,
    pub failures: usize,
}

impl QueriesState {
    /// Indices of the rows shown, filtered and sorted; rows without the number come last in either
    /// order.
    pub fn shown(&self) -> Vec<usize> {
        let mut shown = self.matching();
        if self.sort == QuerySort::Import {
            if self.reversed {
                shown.reverse();
            }
            return shown;
        }
        let sign = if self.largest_first() { -1.0 } else { 1.0 };
        let key = |index: &usize| {
            let summary = self.rows[*index].1.as_ref();
            let value = summary.and_then(|summary| self.sort.value(summary));
            value.map_or(f64::INFINITY, |value| sign * value)
        };
        shown.sort_by(|x, y| key(x).total_cmp(&key(y)));
        shown
    }

    /// Whether the largest number is currently on top.
    pub fn largest_first(&self) -> bool {
        self.sort.largest_first() != self.reversed
    }

    pub fn totals(&self) -> QueryTotals {
        let mut totals = QueryTotals::default();
        for summary in self.rows.iter().filter_map(|(_, summary)| summary.as_ref()) {
            totals.counted += 1;
            totals.decidable += usize::from(summary.settled.is_some());
            totals.settled += usize::from(summary.stop);
            totals.verdicts += summary.verdicts;
            totals.failures += summary.failures;
        }
        totals
    }

    /// Whether no battle of any query has been fought yet.
    pub fn is_unjudged(&self) -> bool {
        let unjudged = |summary: &QuerySummary| summary.fought == 0 && summary.verdicts == 0;
        self.loaded && (self.rows.iter()).all(|(_, summary)| summary.as_ref().is_some_and(unjudged))
    }

    /// Failed calls that were not retried, for one query or all.
    pub fn failures(&self, query: Option<QueryKey>) -> usize {
        self.rows
            .iter()
            .filter(|(info, _)| query.is_none_or(|query| info.key == query))
            .filter_map(|(_, summary)| summary.as_ref())
            .map(|summary| summary.failures)
            .sum()
    }

    /// Number of ranks that count as the top in the project; fewer in small pools. `None` until
    /// queries have been read.
    pub fn top(&self) -> Option<usize> {
        self.rows
            .iter()
            .filter_map(|(_, summary)| summary.as_ref())
            .map(|summary| summary.top)
            .max()
    }

    fn matching(&self) -> Vec<usize> {
        if self.filter.is_empty() {
            return (0..self.rows.len()).collect();
        }
        let rows = self.rows.iter();
        let names: Vec<String> = rows
            .map(|(info, _)| format!("{} {}", info.id, info.text))
            .collect();
        fuzzy::kept(&self.filter, &names)
    }

    /// The queries whose identifier or text matches a filter, among `listed` or among all.
    pub fn matching_keys(
        &self,
        filter: &str,
        listed: Option<&HashSet<QueryKey>>,
    ) -> HashSet<QueryKey> {
        let rows = self.rows.iter().map(|(info, _)| info);
        let among: Vec<&QueryInfo> = rows
            .filter(|info| listed.is_none_or(|listed| listed.contains(&info.key)))
            .collect();
        let names = among
            .iter()
            .map(|info| format!("{} {}", info.id, info.text));
        let names: Vec<String> = names.collect();
        fuzzy::kept(filter, &names)
            .into_iter()
            .map(|at| among[at].key)
            .collect()
    }

    /// Moves the cursor to a query, if it is shown.
    pub fn select(&mut self, key: QueryKey) {
        let mut shown = self.shown().into_iter();
        if let Some(place) = shown.position(|row| self.rows[row].0.key == key) {
            self.cursor = place;
        }
    }

    pub fn selected(&self) -> Option<&QueryRow> {
        self.rows.get(*self.shown().get(self.cursor)?)
    }

    pub fn info(&self, key: QueryKey) -> Option<&QueryInfo> {
        self.rows
            .iter()
            .find(|(info, _)| info.key == key)
            .map(|(info, _)| info)
    }

    /// The cached summary of a query, if it is up to date.
    pub(crate) fn summary(&self, key: QueryKey) -> Option<&QuerySummary> {
        let found = self.rows.iter().find(|(info, _)| info.key == key)?;
        found.1.as_ref()
    }

    /// Replaces a query's summary; `None` if it is stale. The cursor follows the selected query,
    /// unless it is on the first row while missing summaries arrive.
    pub fn put_summary(&mut self, key: QueryKey, summary: Option<QuerySummary>) {
        let Some(at) = self.rows.iter().position(|(info, _)| info.key == key) else {
            return;
        };
        let filled = self.rows[at].1.is_none() && self.cursor == 0;
        let follows = self.sort != QuerySort::Import && !filled;
        let selected = if follows {
            self.selected().map(|(info, _)| info.key)
        } else {
            None
        };
        self.rows[at].1 = summary;
        if let Some(selected) = selected {
            self.select(selected);
        }
    }
}
