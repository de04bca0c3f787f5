//! The status of a project, and its spending.

mod project_status;

use crate::app::run_lock::RunLock;
use crate::domain::spend::Spend;
use crate::store::corpus::QueryInfo;
use crate::store::ledger::{CallPurpose, Spent};
use crate::store::summary_cache::QuerySummary;
use crate::store::{Result, Store, StoreError};
pub use project_status::{FeatureStatus, PartOf, ProjectStatus};

/// Maximum number of queries in memory at a time.
const PAGE: i64 = 2_000;

/// All queries with their summaries; stale ones are computed and cached.
pub fn summaries(store: &Store) -> Result<Vec<(QueryInfo, QuerySummary)>> {
    let mut summaries = Vec::new();
    each_summary(store, |info, summary| {
        summaries.push((info, summary));
        Ok::<_, StoreError>(())
    })?;
    Ok(summaries)
}

/// Passes each query with its summary to `each`, in order. Stale summaries are computed and cached,
/// one page of queries at a time.
pub fn each_summary<E: From<StoreError>>(
    store: &Store,
    mut each: impl FnMut(QueryInfo, QuerySummary) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let mut after = None;
    loop {
        let page = store.read_blocking(move |db| db.overview_page(after, PAGE))?;
        let Some((last, _)) = page.last() else {
            return Ok(());
        };
        after = Some(last.key);
        let stale: Vec<_> = page
            .iter()
            .filter(|(_, summary)| summary.is_none())
            .map(|(info, _)| info.key)
            .collect();
        let mut fresh = Vec::with_capacity(stale.len());
        store.summarize_all(&stale, |_, summary| {
            fresh.push(summary);
            true
        })?;
        let mut fresh = fresh.into_iter();
        for (info, summary) in page {
            if let Some(summary) = summary.or_else(|| fresh.next()) {
                each(info, summary)?;
            }
        }
    }
}

/// Spending by purpose and service.
#[derive(Clone, Debug)]
pub struct Spending {
    pub rows: Vec<Spent>,
}

impl Spending {
    /// Reads the ledger. Open calls while nobody is calling were interrupted and count as assumed.
    pub fn read(store: &Store) -> Result<Self> {
        let mut rows = store.read_blocking(|db| db.spent())?;
        let open = rows.iter().any(|row| row.open_calls > 0);
        // Whoever holds the lock may have calls in flight; if it can be acquired, nobody holds it.
        if open && !store.is_read_only() && RunLock::take(store.path()).is_ok() {
            for row in &mut rows {
                row.assumed_calls += std::mem::take(&mut row.open_calls);
                row.assumed_usd += std::mem::take(&mut row.open_usd);
            }
        }
        Ok(Self { rows })
    }

    /// Cost of all calls that have ended.
    pub fn total(&self) -> Spend {
        self.rows.iter().map(Spent::spend).sum()
    }

    /// Cost of all picks.
    pub fn on_picks(&self) -> Spend {
        let picks = CallPurpose::Pick.name();
        self.rows
            .iter()
            .filter(|row| row.purpose == picks)
            .map(Spent::spend)
            .sum()
    }

    /// Maximum cost of calls in flight in dollars.
    pub fn open_usd(&self) -> f64 {
        // `sum` of an empty iterator is −0.
        self.rows.iter().fold(0.0, |sum, row| sum + row.open_usd)
    }

    pub fn open_calls(&self) -> usize {
        self.rows.iter().map(|row| row.open_calls).sum()
    }

    /// Votes, failures, picks, and further calls with a known cost.
    pub fn calls(&self) -> usize {
        self.rows.iter().map(|row| row.calls).sum()
    }
}
