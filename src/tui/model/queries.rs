//! State of the list of queries: rows, filter and order.

use crate::domain::corpus::QueryId;
use crate::store::corpus::{QueryInfo, QueryKey};
use crate::store::summary_cache::QuerySummary;
use crate::tui::fuzzy;
use std::cell::{OnceCell, Ref, RefCell};
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap, HashSet};

/// A query, with its summary if it is known and up to date.
pub type QueryRow = (QueryInfo, Option<QuerySummary>);

#[derive(Debug, Default)]
pub struct QueriesState {
    rows: Vec<QueryRow>,
    /// Index of each query in `rows`.
    places: HashMap<QueryKey, usize>,
    /// The same by identifier, once one has been looked up.
    ids: OnceCell<HashMap<QueryId, usize>>,
    /// Totals over `rows`, once they have been needed.
    totals: OnceCell<QueryTotals>,
    shown: RefCell<ShownRows>,
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

/// The rows that match a filter, in an order; computed again only if one of the two changes.
#[derive(Debug, Default)]
struct ShownRows {
    /// `None` if nothing is computed.
    of: Option<(String, QuerySort, bool)>,
    /// Indices of the rows.
    rows: Vec<usize>,
    /// Those without a summary.
    unknown: BTreeSet<usize>,
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

/// Totals over the listed queries whose summaries are known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QueryTotals {
    pub counted: usize,
    /// Queries with at least one vote.
    pub judged: usize,
    /// Whether the judges of a query with votes are all offline.
    pub offline: bool,
    /// Whether a battle has no vote yet, or a query has no battles.
    pub unfought: bool,
    /// Queries with a probability that the top is right.
    pub decidable: usize,
    pub settled: usize,
    /// Index of the query whose top is most probably right among those that are not settled, and
    /// the probability.
    nearest: Option<(usize, f64)>,
    /// Missing votes of the ensemble.
    pub missing: usize,
    pub verdicts: usize,
    /// Failed calls that were not retried.
    pub failures: usize,
    /// Number of ranks that count as the top in the project; fewer in small pools.
    pub top: Option<usize>,
}

impl QueryTotals {
    fn of(rows: &[QueryRow]) -> Self {
        let mut totals = Self::default();
        for (at, (_, summary)) in rows.iter().enumerate() {
            if let Some(summary) = summary {
                totals.add(at, summary);
            }
        }
        totals
    }

    fn add(&mut self, at: usize, summary: &QuerySummary) {
        self.counted += 1;
        self.judged += usize::from(summary.fought > 0);
        self.offline |= summary.fought > 0 && summary.offline;
        self.unfought |= summary.fought < summary.battles.max(1);
        self.decidable += usize::from(summary.settled.is_some());
        self.settled += usize::from(summary.stop);
        self.missing += summary.missing;
        self.verdicts += summary.verdicts;
        self.failures += summary.failures;
        self.top = self.top.max(Some(summary.top));
        if let Some(probability) = summary.settled.filter(|_| !summary.stop)
            && self.nearest.is_none_or(|(_, best)| probability > best)
        {
            self.nearest = Some((at, probability));
        }
    }
}

impl QueriesState {
    /// The list before it is read.
    pub fn new(used: BTreeSet<String>) -> Self {
        Self {
            used,
            ..Self::default()
        }
    }

    pub fn rows(&self) -> &[QueryRow] {
        &self.rows
    }

    pub fn set_rows(&mut self, rows: Vec<QueryRow>) {
        self.places = rows
            .iter()
            .enumerate()
            .map(|(at, (info, _))| (info.key, at))
            .collect();
        self.rows = rows;
        self.ids.take();
        self.totals.take();
        self.shown.take();
    }

    /// Indices of the rows shown, filtered and sorted; rows without the number come last in either
    /// order.
    pub fn shown(&self) -> Ref<'_, [usize]> {
        Ref::map(self.current(), |shown| shown.rows.as_slice())
    }

    /// Indices of the rows shown that have no summary, in import order.
    pub(crate) fn unknown(&self) -> Ref<'_, BTreeSet<usize>> {
        Ref::map(self.current(), |shown| &shown.unknown)
    }

    /// The rows shown with the current filter, in the current order.
    fn current(&self) -> Ref<'_, ShownRows> {
        let is_current = |(filter, sort, reversed): &(String, QuerySort, bool)| {
            (filter, *sort, *reversed) == (&self.filter, self.sort, self.reversed)
        };
        if !self.shown.borrow().of.as_ref().is_some_and(is_current) {
            let mut rows = self.matching();
            rows.sort_by(|x, y| self.compare(*x, *y));
            let unknown = rows
                .iter()
                .copied()
                .filter(|row| self.rows[*row].1.is_none())
                .collect();
            self.shown.replace(ShownRows {
                of: Some((self.filter.clone(), self.sort, self.reversed)),
                rows,
                unknown,
            });
        }
        self.shown.borrow()
    }

    /// Which of two rows is shown first; equal only if they are the same row.
    fn compare(&self, x: usize, y: usize) -> Ordering {
        if self.sort == QuerySort::Import {
            return if self.reversed { y.cmp(&x) } else { x.cmp(&y) };
        }
        let sign = if self.largest_first() { -1.0 } else { 1.0 };
        let key = |index: usize| {
            let summary = self.rows[index].1.as_ref();
            let value = summary.and_then(|summary| self.sort.value(summary));
            value.map_or(f64::INFINITY, |value| sign * value)
        };
        key(x).total_cmp(&key(y)).then(x.cmp(&y))
    }

    /// Whether the largest number is currently on top.
    pub fn largest_first(&self) -> bool {
        self.sort.largest_first() != self.reversed
    }

    pub fn totals(&self) -> QueryTotals {
        *self.totals.get_or_init(|| QueryTotals::of(&self.rows))
    }

    /// Whether no battle of any query has been fought yet.
    pub fn is_unjudged(&self) -> bool {
        let totals = self.totals();
        self.loaded
            && totals.counted == self.rows.len()
            && totals.judged == 0
            && totals.verdicts == 0
    }

    /// The query whose top is most probably right among those that are not settled, and the
    /// probability.
    pub(crate) fn nearest(&self) -> Option<(&QueryInfo, &QuerySummary, f64)> {
        let (at, probability) = self.totals().nearest?;
        let (info, summary) = self.rows.get(at)?;
        Some((info, summary.as_ref()?, probability))
    }

    /// Failed calls that were not retried, for one query or all.
    pub fn failures(&self, query: Option<QueryKey>) -> usize {
        match query {
            Some(query) => self.summary(query).map_or(0, |summary| summary.failures),
            None => self.totals().failures,
        }
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
        let place = self.places.get(&key).and_then(|at| self.place(*at));
        self.cursor = place.unwrap_or(self.cursor);
    }

    /// The place of a row among those shown.
    fn place(&self, row: usize) -> Option<usize> {
        self.shown()
            .binary_search_by(|shown| self.compare(*shown, row))
            .ok()
    }

    pub fn selected(&self) -> Option<&QueryRow> {
        let row = *self.shown().get(self.cursor)?;
        self.rows.get(row)
    }

    pub fn info(&self, key: QueryKey) -> Option<&QueryInfo> {
        self.row(key).map(|(info, _)| info)
    }

    /// The query with an identifier.
    pub fn identified(&self, id: &QueryId) -> Option<&QueryInfo> {
        let ids = self.ids.get_or_init(|| {
            self.rows
                .iter()
                .enumerate()
                .map(|(at, (info, _))| (info.id.clone(), at))
                .collect()
        });
        self.rows.get(*ids.get(id)?).map(|(info, _)| info)
    }

    /// The cached summary of a query, if it is up to date.
    pub(crate) fn summary(&self, key: QueryKey) -> Option<&QuerySummary> {
        self.row(key)?.1.as_ref()
    }

    fn row(&self, key: QueryKey) -> Option<&QueryRow> {
        self.rows.get(*self.places.get(&key)?)
    }

    /// Replaces a query's summary; `None` if it is stale. The cursor follows the selected query,
    /// unless it is on the first row while missing summaries arrive.
    pub fn put_summary(&mut self, key: QueryKey, summary: Option<QuerySummary>) {
        let Some(&at) = self.places.get(&key) else {
            return;
        };
        let before = self.place(at);
        let filled = self.rows[at].1.is_none() && self.cursor == 0;
        self.rows[at].1 = summary;
        self.totals.take();
        if let Some(before) = before {
            self.move_row(at, before, !filled);
        }
    }

    /// Moves a row whose summary has changed from its former place to its new one.
    fn move_row(&mut self, row: usize, before: usize, follow: bool) {
        let mut shown = self.shown.take();
        if self.rows[row].1.is_none() {
            shown.unknown.insert(row);
        } else {
            shown.unknown.remove(&row);
        }
        let has_selected = self.cursor < shown.rows.len();
        let precedes = |other: &usize| self.compare(*other, row).is_lt();
        let (first, last) = shown.rows.split_at(before);
        let now = if first.last().is_none_or(precedes) {
            before + last[1..].partition_point(precedes)
        } else {
            first.partition_point(precedes)
        };
        if now < before {
            shown.rows[now..=before].rotate_right(1);
        } else {
            shown.rows[before..=now].rotate_left(1);
        }
        if follow && has_selected {
            self.cursor = if before == self.cursor {
                now
            } else {
                let others = self.cursor - usize::from(before < self.cursor);
                others + usize::from(now <= others)
            };
        }
        self.shown.replace(shown);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn row(key: i64) -> QueryRow {
        let info = QueryInfo {
            key: QueryKey(key),
            id: QueryId::new(format!("q{key}")),
            text: if key % 3 == 0 { "sleep" } else { "diet" }.to_owned(),
            documents: 2,
        };
        (info, None)
    }

    proptest! {
        /// Summaries that arrive one by one move single rows; the result is the order, the totals
        /// and the selected query of a list that is read with all of them.
        #[test]
        fn summaries_that_arrive_give_the_order_of_a_list_that_has_them(
            sort in prop::sample::select(QuerySort::ALL.to_vec()),
            reversed in any::<bool>(),
            filtered in any::<bool>(),
            cursor in 0..12_usize,
            arriving in prop::collection::vec((0..14_i64, prop::option::of(0..4_usize)), 0..40),
        ) {
            let fresh = |rows| {
                let mut queries = QueriesState {
                    sort,
                    reversed,
                    filter: if filtered { "sleep" } else { "" }.to_owned(),
                    ..QueriesState::default()
                };
                queries.set_rows(rows);
                queries
            };
            let mut rows: Vec<QueryRow> = (0..12).map(row).collect();
            let mut queries = fresh(rows.clone());
            queries.cursor = cursor;
            for (key, number) in arriving {
                let summary = number.map(|number| QuerySummary {
                    battles: 4,
                    fought: number,
                    settled: (number > 0).then_some(number as f64 / 4.0),
                    stop: number == 3,
                    widest: Some(number),
                    failures: number,
                    verdicts: number,
                    top: number,
                    ..QuerySummary::default()
                });
                let selected = queries.selected().map(|(info, _)| info.key);
                let place = usize::try_from(key).unwrap();
                let fills = rows.get(place).is_some_and(|(_, summary)| summary.is_none());
                let stays = sort == QuerySort::Import || fills && queries.cursor == 0;
                let before = queries.cursor;
                queries.put_summary(QueryKey(key), summary.clone());
                if let Some(row) = rows.get_mut(place) {
                    row.1 = summary;
                }
                if stays {
                    prop_assert_eq!(queries.cursor, before);
                } else {
                    prop_assert_eq!(queries.selected().map(|(info, _)| info.key), selected);
                }
                let whole = fresh(rows.clone());
                prop_assert_eq!(&*queries.shown(), &*whole.shown());
                prop_assert_eq!(&*queries.unknown(), &*whole.unknown());
                prop_assert_eq!(queries.totals(), whole.totals());
            }
        }
    }

    #[test]
    fn a_list_read_again_is_found_by_its_own_keys_and_identifiers() {
        let mut queries = QueriesState::default();
        queries.set_rows((0..3).map(row).collect());
        assert!(queries.identified(&QueryId::new("q0")).is_some());
        queries.set_rows((1..4).map(row).collect());
        assert_eq!(queries.shown().len(), 3);
        assert!(queries.info(QueryKey(0)).is_none());
        assert!(queries.identified(&QueryId::new("q0")).is_none());
        let last = queries.identified(&QueryId::new("q3"));
        assert_eq!(last.map(|info| info.key), Some(QueryKey(3)));
    }
}
