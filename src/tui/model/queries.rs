//! The list of queries: rows, filter, order.

use crate::store::corpus::{QueryInfo, QueryKey};
use crate::store::summary_cache::QuerySummary;
use crate::tui::fuzzy;
use crate::tui::navigation::WordFilter;
use std::collections::HashSet;

/// A query, with its summary where it is known and up to date.
pub type QueryRow = (QueryInfo, Option<QuerySummary>);

#[derive(Debug, Default)]
pub struct QueriesScreen {
    pub rows: Vec<QueryRow>,
    /// The row under the cursor, among those shown.
    pub cursor: usize,
    pub filter: String,
    pub sort: QuerySort,
    /// Whether a list has arrived yet.
    pub loaded: bool,
    /// Queries whose summaries have been asked for since the list arrived, and are on their way.
    pub asked: HashSet<QueryKey>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QuerySort {
    #[default]
    Import,
    Consensus,
    Cycles,
    Widest,
}

impl QuerySort {
    pub const ALL: [Self; 4] = [Self::Import, Self::Consensus, Self::Cycles, Self::Widest];

    pub fn describe(self) -> &'static str {
        match self {
            Self::Import => "as imported",
            Self::Consensus => "least consensus first",
            Self::Cycles => "most cycles first",
            Self::Widest => "widest interval first",
        }
    }

    /// What rows are sorted by, smallest first; rows that are not counted yet come last.
    fn key(self, summary: Option<&QuerySummary>) -> f64 {
        let Some(summary) = summary else {
            return f64::INFINITY;
        };
        match self {
            Self::Import => 0.0,
            Self::Consensus => summary.consensus().unwrap_or(f64::INFINITY),
            Self::Cycles => -(summary.cyclic as f64),
            Self::Widest => {
                let widest = summary.widest;
                widest.map_or(f64::INFINITY, |widest| -(widest as f64))
            }
        }
    }
}

impl QueriesScreen {
    /// Rows that are shown, as indexes, filtered and sorted.
    pub fn shown(&self) -> Vec<usize> {
        let mut shown = self.matching();
        if self.sort != QuerySort::Import {
            let key = |index: &usize| self.sort.key(self.rows[*index].1.as_ref());
            shown.sort_by(|x, y| key(x).total_cmp(&key(y)));
        }
        shown
    }

    fn matching(&self) -> Vec<usize> {
        if self.filter.is_empty() {
            return (0..self.rows.len()).collect();
        }
        let rows = self.rows.iter();
        let names: Vec<String> = rows
            .map(|(info, _)| format!("{} {}", info.id, info.text))
            .collect();
        let filter = WordFilter::new(&self.filter);
        let mut found: Vec<usize> = (0..names.len())
            .filter(|index| filter.matches(&names[*index]))
            .collect();
        if found.is_empty() {
            // Nothing holds the words as they are typed: be generous with slips.
            let near = fuzzy::rank(&self.filter, &names).into_iter();
            found = near.map(|one| one.index).collect();
            found.sort_unstable();
        }
        found
    }

    pub fn selected(&self) -> Option<&QueryRow> {
        self.rows.get(*self.shown().get(self.cursor)?)
    }

    pub fn info(&self, key: QueryKey) -> Option<&QueryInfo> {
        let mut rows = self.rows.iter();
        rows.find(|(info, _)| info.key == key).map(|(info, _)| info)
    }

    /// Replaces a query's summary; none where it is out of date.
    pub fn put_summary(&mut self, key: QueryKey, summary: Option<QuerySummary>) {
        let mut rows = self.rows.iter_mut();
        if let Some((_, slot)) = rows.find(|(info, _)| info.key == key) {
            *slot = summary;
        }
    }
}
