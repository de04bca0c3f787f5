//! Keeps what is cached of each query up to date: summaries, and the priorities of its pairs.

use super::Db;
use super::corpus::QueryKey;
use super::error::{Result, StoreError};
use super::handle::Store;
use super::summary_cache::{KeptExtent, QueryNumbers, QuerySummary};

/// Summaries that share a transaction.
const TOGETHER: usize = 128;

/// Why a walk over queries ended early.
enum WalkEnd {
    /// Nobody wants more.
    Enough,
    Error(StoreError),
}

impl From<StoreError> for WalkEnd {
    fn from(error: StoreError) -> Self {
        Self::Error(error)
    }
}

impl Store {
    /// A query's summary, computed beside the writing queue and kept for the next look.
    pub fn summarise(
        &self,
        query: QueryKey,
    ) -> impl Future<Output = Result<QuerySummary>> + Send + use<> {
        let store = self.clone();
        async move {
            let (revision, numbers) = store.read(move |db| db.summary_now(query)).await?;
            let summary = numbers.summary.clone();
            store
                .cache(move |db| db.keep_summary(query, revision, &numbers))
                .await?;
            Ok(summary)
        }
    }

    /// Computes the summaries of queries on all cores and keeps them, many in a transaction; those that are still good are
    /// only read. `each` gets every summary, in order and before it is kept, and says whether to go on. Blocks.
    pub fn summarise_all(
        &self,
        queries: &[QueryKey],
        extent: KeptExtent,
        mut each: impl FnMut(QueryKey, QuerySummary) -> bool,
    ) -> Result<()> {
        self.read_and_keep(
            queries,
            |db, query| db.numbers_now(query, extent),
            |db, query, (revision, numbers): &(i64, QueryNumbers)| {
                db.keep_summary(query, *revision, numbers)
            },
            |query, (revision, numbers)| {
                let go_on = each(query, numbers.summary.clone());
                // Numbers from the cache come without urgencies and are there already.
                let fresh = numbers.priorities.is_some();
                (fresh.then_some((revision, numbers)), go_on)
            },
        )
    }

    /// Does `work` for each query on all cores; `each` gets what comes of it, in order, and says what of it to keep and
    /// whether to go on. What is kept is written many in a transaction. Blocks.
    pub(super) fn read_and_keep<T: Send, K: Send + 'static>(
        &self,
        queries: &[QueryKey],
        work: impl Fn(&Db, QueryKey) -> Result<T> + Sync,
        keep: fn(&Db, QueryKey, &K) -> Result<()>,
        mut each: impl FnMut(QueryKey, T) -> (Option<K>, bool),
    ) -> Result<()> {
        let mut found: Vec<(QueryKey, K)> = Vec::new();
        let mut kept = None;
        // One transaction is written while what the next one keeps is computed.
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
            match go_on {
                true => Ok(()),
                false => Err(WalkEnd::Enough),
            }
        });
        write(&mut found)?;
        write(&mut found)?;
        match end {
            Err(WalkEnd::Error(error)) => Err(error),
            Ok(()) | Err(WalkEnd::Enough) => Ok(()),
        }
    }

    /// Brings the urgencies that are out of date up to date, on all cores, and keeps them, many in a transaction; `told` hears
    /// how many are left. A project that cannot be written keeps nothing: a queue is worked out without it. Blocks.
    pub fn refresh_priorities(&self, told: &mut dyn FnMut(usize)) -> Result<()> {
        if self.is_read_only() {
            return Ok(());
        }
        let stale = self.read_blocking(|db| db.without_priorities())?;
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
