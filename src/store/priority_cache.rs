//! The priority of each pair of a query, cached until the query changes.

use super::corpus::QueryKey;
use super::{Db, Result, StoreError};
use crate::domain::battle::Pair;
use crate::domain::priority::{
    self, InTop, PairKey, PairPriority, Policy, QueueCandidate, Scoring, ValueParts, value_parts,
};
use crate::domain::ranking::View;
use rusqlite::params;

/// The policies with their own priorities; `Random` has none, and `Mixed` uses those of `Value`.
const SCORED: [Policy; 8] = [
    Policy::Value,
    Policy::Impact,
    Policy::Uncertain,
    Policy::Split,
    Policy::Surprise,
    Policy::Cycle,
    Policy::Failed,
    Policy::Student,
];

/// Version of the cached format; other versions are ignored.
const FORM: u8 = 0xa5;
/// Bytes before the pairs: the format version, the number of pairs and the size of the top.
const HEAD: usize = 9;
/// Bytes of a pair: both documents, and whether a judge has voted.
const PAIR: usize = 9;
/// Bytes of a number.
const NUMBER: usize = 8;
/// Numbers per pair: one for each policy, and the probability that one of the two documents is in
/// the top.
const NUMBERS: usize = SCORED.len() + 1;

/// The priorities of all pairs of a query in their cached encoding: the pairs, then one number per
/// pair for each policy (NaN for none), then the probability that one of the two documents is in
/// the top. For `Value`, the first factor is stored among the policies and the second at the end.
/// Only the requested parts are decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryPriorities(Vec<u8>);

impl QueryPriorities {
    /// The numbers of a view. `Impact` is the secant estimate (science.md § Priorities), because
    /// exact values need a refit for each pair.
    pub fn of(view: &View) -> Self {
        let scored = SCORED.map(|policy| {
            let scoring = Scoring {
                exact: 0,
                ..Scoring::new(policy)
            };
            priority::score_pairs(view, &scoring)
        });
        let pairs = &scored[0];
        let narrow = |at: usize| u32::try_from(at).unwrap_or(u32::MAX).to_le_bytes();
        let mut bytes = vec![FORM];
        bytes.extend(narrow(pairs.len()));
        bytes.extend(narrow(priority::top_of(view)));
        for scored in pairs {
            bytes.extend(narrow(scored.pair.low()));
            bytes.extend(narrow(scored.pair.high()));
            bytes.push(u8::from(scored.voted));
        }
        let kept = |scored: &PairPriority| match (scored.priority, scored.parts) {
            (Some(_), Some(parts)) => Some(parts.wrong),
            (priority, _) => priority,
        };
        let numbers = scored.iter().flatten().map(kept);
        let in_top = pairs
            .iter()
            .map(|scored| Some(scored.parts?.in_top.value()));
        for number in numbers.chain(in_top) {
            bytes.extend(number.unwrap_or(f64::NAN).to_le_bytes());
        }
        Self(bytes)
    }

    /// Reads a cached value; `None` if it has another format version.
    fn kept(bytes: Vec<u8>) -> Option<Self> {
        let kept = Self(bytes);
        let whole = HEAD + kept.pairs() * (PAIR + NUMBER * NUMBERS);
        (kept.0.first() == Some(&FORM) && kept.0.len() == whole).then_some(kept)
    }

    fn pairs(&self) -> usize {
        self.place(1) as usize
    }

    fn place(&self, at: usize) -> u32 {
        let bytes = self.0.get(at..).and_then(|rest| rest.first_chunk());
        bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
    }

    fn documents(&self, pair: usize) -> Option<Pair> {
        let at = HEAD + pair * PAIR;
        Pair::new(self.place(at) as usize, self.place(at + 4) as usize)
    }

    /// The factors of the value of the pair at an index, if it has a value.
    fn parts(&self, pair: usize) -> Option<ValueParts> {
        let in_top = self.number(SCORED.len(), pair)?;
        Some(ValueParts {
            wrong: self.number(slot_of(Policy::Value)?, pair)?,
            // Sampling never gives a probability of exactly 0 or 1.
            in_top: match in_top {
                0.0 | 1.0 => InTop::ByScores(in_top == 1.0),
                _ => InTop::Probability(in_top),
            },
            top: self.place(5) as usize,
        })
    }

    /// A pair's number in a slot: a policy's, or the last one.
    fn number(&self, slot: usize, pair: usize) -> Option<f64> {
        let pairs = self.pairs();
        let at = HEAD + pairs * PAIR + (slot * pairs + pair) * NUMBER;
        let number = f64::from_le_bytes(*self.0.get(at..)?.first_chunk()?);
        Some(number).filter(|number| !number.is_nan())
    }

    /// The factors of a pair's value, if it has a value.
    fn value_parts(&self, pair: Pair) -> Option<ValueParts> {
        // The pairs are sorted in pool order.
        let (mut first, mut end) = (0, self.pairs());
        while first < end {
            let middle = usize::midpoint(first, end);
            if self.documents(middle)? < pair {
                first = middle + 1
            } else {
                end = middle
            }
        }
        let at = Some(first).filter(|at| self.documents(*at) == Some(pair))?;
        self.parts(at)
    }

    /// The pairs as queue candidates under a policy.
    pub fn candidates(
        &self,
        query: u64,
        policy: Policy,
    ) -> impl Iterator<Item = QueueCandidate> + '_ {
        let slot = slot_of(policy);
        (0..self.pairs()).filter_map(move |pair| {
            Some(QueueCandidate {
                key: PairKey {
                    query,
                    pair: self.documents(pair)?,
                },
                priority: match policy {
                    Policy::Value | Policy::Mixed => self.parts(pair).map(|parts| parts.value()),
                    _ => slot.and_then(|slot| self.number(slot, pair)),
                },
                voted: self.0.get(HEAD + (pair + 1) * PAIR - 1) == Some(&1),
            })
        })
    }
}

/// The slot of a policy's numbers.
fn slot_of(policy: Policy) -> Option<usize> {
    SCORED.iter().position(|scored| *scored == policy)
}

impl Db {
    /// Passes the priorities of each query to `with`, one query after the other; `None` if they are
    /// stale or were never computed.
    pub fn each_priorities(
        &self,
        scope: Option<QueryKey>,
        mut with: impl FnMut(QueryKey, &str, Option<QueryPriorities>) -> Result<()>,
    ) -> Result<()> {
        let mut statement = self.connection.prepare_cached(
            "SELECT query.id, query.name, urgency.value
             FROM query LEFT JOIN urgency ON urgency.query = query.id
             AND urgency.revision = query.revision
             WHERE query.id BETWEEN ?1 AND ?2 ORDER BY query.id",
        )?;
        let (first, last) = scope.map_or((i64::MIN, i64::MAX), |query| (query.0, query.0));
        let mut rows = statement.query([first, last])?;
        while let Some(row) = rows.next()? {
            let value: Option<Vec<u8>> = row.get(2)?;
            let name: String = row.get(1)?;
            // A cache in another version's format is not an error: it is recomputed.
            let priorities = value.and_then(QueryPriorities::kept);
            with(QueryKey(row.get(0)?), &name, priorities)?;
        }
        Ok(())
    }

    /// The queries whose priorities are stale, in another version's format, or missing.
    pub(super) fn without_priorities(&self) -> Result<Vec<QueryKey>> {
        self.all(
            "SELECT query.id FROM query
             LEFT JOIN urgency ON urgency.query = query.id AND urgency.revision = query.revision
             WHERE urgency.query IS NULL OR substr(urgency.value, 1, 1) <> ?1 ORDER BY query.id",
            [&[FORM][..]],
            |row| Ok(QueryKey(row.get(0)?)),
        )
    }

    /// A query's priorities and their revision, from the cache if it is up to date.
    pub fn priorities_now(&self, query: QueryKey) -> Result<(i64, QueryPriorities)> {
        let (revision, cached): (i64, Option<Vec<u8>>) = self
            .maybe(
                "SELECT query.revision, urgency.value
             FROM query LEFT JOIN urgency ON urgency.query = query.id
             AND urgency.revision = query.revision
             WHERE query.id = ?1",
                [query.0],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )?
            .ok_or_else(|| StoreError::NotFound("no such query".to_owned()))?;
        if let Some(priorities) = cached.and_then(QueryPriorities::kept) {
            return Ok((revision, priorities));
        }
        Ok((revision, QueryPriorities::of(&self.view(query)?)))
    }

    /// The factors of the value of a verdict on a pair, from the latest cached numbers: the ones
    /// that a queue shows, even if votes have arrived since. They are computed if nothing is
    /// cached.
    pub fn value_parts(&self, query: QueryKey, pair: Pair) -> Result<Option<ValueParts>> {
        let kept: Option<Vec<u8>> = self.maybe(
            "SELECT value FROM urgency WHERE query = ?1",
            [query.0],
            |row| row.get(0),
        )?;
        match kept.and_then(QueryPriorities::kept) {
            Some(kept) => Ok(kept.value_parts(pair)),
            None => Ok(value_parts(&self.view(query)?, pair)),
        }
    }

    /// Caches priorities, unless the query has changed since they were computed.
    pub fn keep_priorities(
        &self,
        query: QueryKey,
        revision: i64,
        priorities: &QueryPriorities,
    ) -> Result<()> {
        self.change(
            "INSERT INTO urgency (query, revision, value)
             SELECT id, revision, ?2 FROM query WHERE id = ?1 AND revision = ?3
             ON CONFLICT (query) DO UPDATE SET revision = excluded.revision, value = excluded.value",
            params![query.0, priorities.0, revision],
        )?;
        Ok(())
    }
}
