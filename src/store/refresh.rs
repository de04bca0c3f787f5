//! Keeps the caches of each query up to date: summaries and pair priorities.

use super::Db;
use super::corpus::QueryKey;
use super::error::{Result, StoreError};
use super::handle::Store;
use super::summary_cache::{QueryNumbers, QuerySummary};

/// Number of summaries written in one transaction.
const TOGETHER: usize = 128;

/// Why a walk over queries ended early.
pub(super) enum WalkEnd {
    /// The caller wants no more.
    Enough,
    Error(StoreError),
}

impl From<StoreError> for WalkEnd {
    fn from(error: StoreError) -> Self {
        Self::Error(error)
    }
}

impl Store {
    /// Computes the summaries of queries on all cores and caches them, many per transaction; those
    /// that are up to date are only read. `each` receives every summary in order, before it is
    /// cached, and returns whether to continue. Blocks.
    pub fn summarize_all(
        &self,
        queries: &[QueryKey],
        mut each: impl FnMut(QueryKey, QuerySummary) -> bool,
    ) -> Result<()> {
        self.read_and_keep(
            queries,
            Db::summary_now,
            |db, query, (revision, numbers): &(i64, QueryNumbers)| {
                db.keep_summary(query, *revision, numbers)
            },
            |query, (revision, numbers)| {
                let go_on = each(query, numbers.summary.clone());
                // Cached numbers come without priorities and need not be written again.
                let fresh = numbers.priorities.is_some();
                (fresh.then_some((revision, numbers)), go_on)
            },
        )
    }

    /// Runs `work` for each query on all cores. `each` receives the results in order and returns
    /// what to store and whether to continue. Results are stored many per transaction. Blocks.
    pub(crate) fn read_and_keep<T: Send, K: Send + 'static>(
        &self,
        queries: &[QueryKey],
        work: impl Fn(&Db, QueryKey) -> Result<T> + Sync,
        keep: fn(&Db, QueryKey, &K) -> Result<()>,
        mut each: impl FnMut(QueryKey, T) -> (Option<K>, bool),
    ) -> Result<()> {
        let mut found: Vec<(QueryKey, K)> = Vec::new();
        let mut kept = None;
        // Write one transaction while the content of the next is being computed.
        let mut write = |found: &mut Vec<(QueryKey, K)>| {
            let found = std::mem::take(found);
            let next = (!found.is_empty()).then(|| {
                self.cache(move |db| {
                    let mut found = found.iter();
                    found.try_for_each(|(query, kept)| keep(db, *query, kept))
                })
            });
            std::mem::replace(&mut kept, next).map_or(Ok(()), futures::executor::block_on)
        };
        let end = self.read_each(queries, work, |query, result| {
            let (to_keep, go_on) = each(query, result);
            found.extend(to_keep.map(|kept| (query, kept)));
            if found.len() >= TOGETHER {
                write(&mut found)?;
            }
            if go_on { Ok(()) } else { Err(WalkEnd::Enough) }
        });
        write(&mut found)?;
        write(&mut found)?;
        match end {
            Err(WalkEnd::Error(error)) => Err(error),
            Ok(()) | Err(WalkEnd::Enough) => Ok(()),
        }
    }

    /// Recomputes stale priorities on all cores and caches them, many per transaction; `told`
    /// receives the number of remaining queries. A project that cannot be written caches nothing,
    /// and queues compute the priorities themselves. Blocks.
    pub fn refresh_priorities(&self, told: &mut dyn FnMut(usize)) -> Result<()> {
        if self.is_read_only() {
            return Ok(());
        }
        let stale = self.read_blocking(|db| db.without_priorities(None))?;
        let mut left = stale.len();
        self.read_and_keep(
            &stale,
            |db, query| db.priorities_now(query),
            |db, query, (revision, priorities)| db.keep_priorities(query, *revision, priorities),
            |_, found| {
                left -= 1;
                told(left);
                (Some(found), true)
            },
        )
    }
}
