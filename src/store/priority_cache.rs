//! How urgent each pair of a query is, kept beside the query until its numbers change, and the ledger of what queues have
//! laid before people.

use super::corpus::QueryKey;
use super::{Db, Result, StoreError};
use crate::domain::battle::Pair;
use crate::domain::priority::{
    self, Assignment, DrawReason, PairKey, Policy, QueueCandidate, Scoring,
};
use crate::domain::ranking::View;
use rusqlite::{OptionalExtension, params};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

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

/// The number that names a query for good, from its identifier.
pub fn query_number(name: &str) -> u64 {
    let hash = Sha256::digest(name);
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&hash[..8]);
    u64::from_le_bytes(bytes)
}

/// A pair that a queue has laid before a person.
#[derive(Clone, Debug, PartialEq)]
pub struct NewAssignment {
    /// The policy.
    pub policy: Policy,
    /// Why this pair.
    pub draw: DrawReason,
}

/// What an item is in a queue, as stored.
pub(super) fn draw_name(draw: DrawReason) -> &'static str {
    match draw {
        DrawReason::Priority => "priority",
        DrawReason::Control { .. } => "control",
        DrawReason::Repeat => "repeat",
    }
}

/// A line of the ledger.
#[derive(Clone, Debug, PartialEq)]
pub struct AssignmentRow {
    /// Globally unique.
    pub uid: String,
    /// The query.
    pub query: QueryKey,
    /// Its number, and the pair.
    pub shown: Assignment,
    /// The policy.
    pub policy: Policy,
    /// Whether a verdict on it stands.
    pub judged: bool,
    /// Whether the person put it off.
    pub later: bool,
    /// Milliseconds since the Unix epoch.
    pub shown_ms: i64,
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
        let (revision, cached): (i64, Option<Vec<u8>>) = self
            .connection
            .prepare_cached(
                "SELECT query.revision, urgency.value
                 FROM query LEFT JOIN urgency ON urgency.query = query.id AND urgency.revision = query.revision
                 WHERE query.id = ?1",
            )?
            .query_row([query.0], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?
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
        self.connection
            .prepare_cached(
                "INSERT INTO urgency (query, revision, value)
                 SELECT id, revision, ?2 FROM query WHERE id = ?1 AND revision = ?3
                 ON CONFLICT (query) DO UPDATE SET revision = excluded.revision, value = excluded.value",
            )?
            .execute(params![query.0, bytes, revision])?;
        Ok(())
    }

    /// Adds a line to a person's ledger and returns its identifier; a pair that waits there already keeps its line.
    pub(super) fn add_assignment(
        &self,
        annotator: &str,
        query: QueryKey,
        pair: Pair,
        new: &NewAssignment,
        now_ms: i64,
    ) -> Result<String> {
        let waiting: Option<String> = self
            .connection
            .prepare_cached(
                "SELECT uid FROM shown WHERE annotator = ?1 AND query = ?2 AND a = ?3 AND b = ?4
                 AND NOT EXISTS (SELECT 1 FROM verdict WHERE verdict.shown = shown.uid
                                 AND NOT EXISTS (SELECT 1 FROM undo WHERE undo.verdict = verdict.uid))
                 ORDER BY shown_ms DESC LIMIT 1",
            )?
            .query_row(
                params![annotator, query.0, pair.low(), pair.high()],
                |row| row.get(0),
            )
            .optional()?;
        if let Some(uid) = waiting {
            return Ok(uid);
        }
        let uid = Uuid::now_v7().to_string();
        let draw = draw_name(new.draw);
        let of = match new.draw {
            DrawReason::Control { of } => Some(of),
            DrawReason::Priority | DrawReason::Repeat => None,
        };
        self.connection
            .prepare_cached(
                "INSERT INTO shown (uid, annotator, query, a, b, policy, draw, drawn_of, shown_ms)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?
            .execute(params![
                uid,
                annotator,
                query.0,
                pair.low(),
                pair.high(),
                new.policy.name(),
                draw,
                of,
                now_ms
            ])?;
        Ok(uid)
    }

    /// Puts a pair off: it comes again after all others.
    pub fn put_off(
        &self,
        annotator: &str,
        query: QueryKey,
        pair: Pair,
        new: &NewAssignment,
        now_ms: i64,
    ) -> Result<()> {
        let uid = self.add_assignment(annotator, query, pair, new, now_ms)?;
        self.connection
            .prepare_cached("UPDATE shown SET later_ms = ?2 WHERE uid = ?1")?
            .execute(params![uid, now_ms])?;
        Ok(())
    }

    /// A person's ledger, oldest first.
    pub fn assignments(&self, annotator: &str) -> Result<Vec<AssignmentRow>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT uid, shown.query, query.name, a, b, policy, draw, drawn_of, later_ms, shown_ms,
                    EXISTS (SELECT 1 FROM verdict WHERE verdict.shown = shown.uid
                            AND NOT EXISTS (SELECT 1 FROM undo WHERE undo.verdict = verdict.uid))
             FROM shown JOIN query ON query.id = shown.query
             WHERE annotator = ?1 ORDER BY shown_ms, uid",
        )?;
        let mut rows = statement.query([annotator])?;
        let mut lines = Vec::new();
        while let Some(row) = rows.next()? {
            let (a, b): (usize, usize) = (row.get(3)?, row.get(4)?);
            let (policy, draw): (String, String) = (row.get(5)?, row.get(6)?);
            let corrupt = |what: &str| StoreError::Corrupt(format!("{what} in the ledger"));
            lines.push(AssignmentRow {
                uid: row.get(0)?,
                query: QueryKey(row.get(1)?),
                shown: Assignment {
                    key: PairKey {
                        query: query_number(&row.get::<_, String>(2)?),
                        pair: Pair::new(a, b).ok_or_else(|| corrupt("a pair of one"))?,
                    },
                    draw: match (draw.as_str(), row.get(7)?) {
                        ("priority", _) => DrawReason::Priority,
                        ("control", Some(of)) => DrawReason::Control { of },
                        ("repeat", _) => DrawReason::Repeat,
                        _ => return Err(corrupt(&draw)),
                    },
                },
                policy: policy.parse().map_err(StoreError::Corrupt)?,
                judged: row.get(10)?,
                later: row.get::<_, Option<i64>>(8)?.is_some(),
                shown_ms: row.get(9)?,
            });
        }
        Ok(lines)
    }
}
