//! How urgent each pair of a query is, kept beside the query until its numbers change.

use super::corpus::QueryKey;
use super::{Db, Result, StoreError};
use crate::domain::battle::Pair;
use crate::domain::priority::{self, PairKey, Policy, QueueCandidate, Scoring};
use crate::domain::ranking::View;
use rusqlite::params;
use serde::{Deserialize, Serialize};

/// The policies that have numbers of their own; `Random` has none and `Mixed` uses those of `Value`.
const SCORED: [Policy; 7] = [
    Policy::Value,
    Policy::Impact,
    Policy::Uncertain,
    Policy::Split,
    Policy::Surprise,
    Policy::Cycle,
    Policy::Failed,
];

/// How urgent a pair is under every policy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct PairPriorities {
    low: u32,
    high: u32,
    voted: bool,
    priorities: [Option<f64>; SCORED.len()],
}

/// How urgent every pair of a query is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QueryPriorities(Vec<PairPriorities>);

impl QueryPriorities {
    /// The numbers of a view. `Impact` is the estimate of SCIENCE §9c: exact ones take a refit a pair.
    pub fn of(view: &View) -> Self {
        let mut pairs: Vec<PairPriorities> = Vec::new();
        for (slot, policy) in SCORED.into_iter().enumerate() {
            let scoring = Scoring {
                exact: 0,
                ..Scoring::new(policy)
            };
            for (at, scored) in priority::score_pairs(view, &scoring)
                .into_iter()
                .enumerate()
            {
                if pairs.len() == at {
                    pairs.push(PairPriorities {
                        low: u32::try_from(scored.pair.low()).unwrap_or(u32::MAX),
                        high: u32::try_from(scored.pair.high()).unwrap_or(u32::MAX),
                        voted: scored.voted,
                        priorities: [None; SCORED.len()],
                    });
                }
                pairs[at].priorities[slot] = scored.priority;
            }
        }
        Self(pairs)
    }

    /// The pairs as candidates of a queue under a policy.
    pub fn candidates(
        &self,
        query: u64,
        policy: Policy,
    ) -> impl Iterator<Item = QueueCandidate> + '_ {
        let policy = match policy {
            Policy::Mixed => Policy::Value,
            policy => policy,
        };
        let slot = SCORED.iter().position(|scored| *scored == policy);
        self.0.iter().filter_map(move |pair| {
            Some(QueueCandidate {
                key: PairKey {
                    query,
                    pair: Pair::new(pair.low as usize, pair.high as usize)?,
                },
                priority: slot.and_then(|slot| pair.priorities[slot]),
                voted: pair.voted,
            })
        })
    }
}

impl Db {
    /// Every query's urgencies, `None` where they are out of date or were never computed.
    pub fn cached_priorities(&self) -> Result<Vec<(QueryKey, String, Option<QueryPriorities>)>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT query.id, query.name, urgency.value
             FROM query LEFT JOIN urgency ON urgency.query = query.id AND urgency.revision = query.revision
             ORDER BY query.id",
        )?;
        let mut rows = statement.query([])?;
        let mut cached_priorities = Vec::new();
        while let Some(row) = rows.next()? {
            let value = row
                .get_ref(2)?
                .as_blob_or_null()
                .map_err(rusqlite::Error::from)?;
            // A cache that an older version wrote is no error: it is made anew.
            let priorities = value.and_then(|bytes| postcard::from_bytes(bytes).ok());
            cached_priorities.push((QueryKey(row.get(0)?), row.get(1)?, priorities));
        }
        Ok(cached_priorities)
    }

    /// A query's urgencies and the revision they are of, from the cache where it is good.
    pub fn priorities_now(&self, query: QueryKey) -> Result<(i64, QueryPriorities)> {
        let (revision, cached): (i64, Option<Vec<u8>>) = self.maybe(
            "SELECT query.revision, urgency.value
             FROM query LEFT JOIN urgency ON urgency.query = query.id AND urgency.revision = query.revision
             WHERE query.id = ?1",
            [query.0],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?
            .ok_or_else(|| StoreError::NotFound("no such query".to_owned()))?;
        if let Some(priorities) = cached.and_then(|bytes| postcard::from_bytes(&bytes).ok()) {
            return Ok((revision, priorities));
        }
        Ok((revision, QueryPriorities::of(&self.view(query)?)))
    }

    /// Keeps urgencies, unless the query has changed since.
    pub fn keep_priorities(
        &self,
        query: QueryKey,
        revision: i64,
        priorities: &QueryPriorities,
    ) -> Result<()> {
        let bytes = postcard::to_stdvec(priorities)
            .map_err(|error| StoreError::Corrupt(error.to_string()))?;
        self.change(
            "INSERT INTO urgency (query, revision, value)
             SELECT id, revision, ?2 FROM query WHERE id = ?1 AND revision = ?3
             ON CONFLICT (query) DO UPDATE SET revision = excluded.revision, value = excluded.value",
            params![query.0, bytes, revision],
        )?;
        Ok(())
    }
}
