//! How far a project is, and what it has spent.

mod project_status;

use crate::app::run_lock::RunLock;
use crate::store::corpus::QueryInfo;
use crate::store::ledger::Spent;
use crate::store::summary_cache::{KeptExtent, QuerySummary};
use crate::store::{Result, Store, StoreError};
pub use project_status::{PartOf, ProjectStatus};

/// Queries that are in memory at a time.
const PAGE: i64 = 2_000;

/// Every query with its summary, computed and kept where it was out of date.
pub fn summaries(store: &Store) -> Result<Vec<(QueryInfo, QuerySummary)>> {
    let mut summaries = Vec::new();
    each_summary(store, |info, summary| {
        summaries.push((info, summary));
        Ok::<_, StoreError>(())
    })?;
    Ok(summaries)
}

/// Hands every query with its summary to `each`, in order; those that are out of date are computed and kept, a page of
/// queries at a time.
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
        store.summarise_all(&stale, KeptExtent::Summary, |_, summary| {
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

/// What was spent, by purpose and service.
#[derive(Clone, Debug)]
pub struct Spending {
    pub rows: Vec<Spent>,
}

impl Spending {
    /// Reads the ledger. Calls that are open while nobody calls were cut short: they count as assumed.
    pub fn read(store: &Store) -> Result<Self> {
        let mut rows = store.read_blocking(|db| db.spent())?;
        let open = rows.iter().any(|row| row.open_calls > 0);
        // Whoever has the lock may have calls in flight; nobody has it where it can be taken.
        if open && !store.is_read_only() && RunLock::take(store.path()).is_ok() {
            for row in &mut rows {
                row.assumed_calls += std::mem::take(&mut row.open_calls);
                row.assumed_usd += std::mem::take(&mut row.open_usd);
            }
        }
        Ok(Self { rows })
    }

    fn sum(&self, of: fn(&Spent) -> f64) -> f64 {
        // A sum of nothing is −0 otherwise.
        self.rows.iter().map(of).fold(0.0, |sum, usd| sum + usd)
    }

    pub fn known_usd(&self) -> f64 {
        self.sum(|row| row.known_usd)
    }

    /// Dollars of calls that did not say what they cost, at the worst price.
    pub fn assumed_usd(&self) -> f64 {
        self.sum(|row| row.assumed_usd)
    }

    /// Dollars that calls in flight may cost.
    pub fn open_usd(&self) -> f64 {
        self.sum(|row| row.open_usd)
    }

    pub fn open_calls(&self) -> usize {
        self.rows.iter().map(|row| row.open_calls).sum()
    }

    /// Votes, failures, picks, and further calls with a known cost.
    pub fn calls(&self) -> usize {
        self.rows.iter().map(|row| row.calls).sum()
    }

    /// Calls without a known price.
    pub fn unpriced(&self) -> usize {
        self.rows.iter().map(|row| row.unpriced).sum()
    }
}
