//! How urgent each pair of a query is, kept beside the query until its numbers change.

use super::corpus::QueryKey;
use super::{Db, Result, StoreError};
use crate::domain::battle::Pair;
use crate::domain::priority::{self, PairKey, Policy, QueueCandidate, Scoring};
use crate::domain::ranking::View;
use rusqlite::params;

/// The policies that have numbers of their own; `Random` has none and `Mixed` uses those of `Value`.
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

/// Marks the form in which urgencies are kept; another one is read by nobody.
const FORM: u8 = 0xa4;
/// Bytes before the pairs: the form, and how many pairs there are.
const HEAD: usize = 5;
/// Bytes of a pair: both documents, and whether a judge has voted.
const PAIR: usize = 9;
/// Bytes of a number.
const NUMBER: usize = 8;

/// How urgent every pair of a query is, as it is kept: the pairs, then for each policy a number a pair, NaN for none. What a
/// queue does not ask for is not looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryPriorities(Vec<u8>);

impl QueryPriorities {
    /// The numbers of a view. `Impact` is the estimate of SCIENCE §9c: exact ones take a refit a pair.
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
        for scored in pairs {
            bytes.extend(narrow(scored.pair.low()));
            bytes.extend(narrow(scored.pair.high()));
            bytes.push(u8::from(scored.voted));
        }
        for scored in scored.iter().flatten() {
            bytes.extend(scored.priority.unwrap_or(f64::NAN).to_le_bytes());
        }
        Self(bytes)
    }

    /// What was kept; nothing where another version kept it.
    fn kept(bytes: Vec<u8>) -> Option<Self> {
        let kept = Self(bytes);
        let whole = HEAD + kept.pairs() * (PAIR + NUMBER * SCORED.len());
        (kept.0.first() == Some(&FORM) && kept.0.len() == whole).then_some(kept)
    }

    fn pairs(&self) -> usize {
        self.place(1) as usize
    }

    fn place(&self, at: usize) -> u32 {
        let bytes = self.0.get(at..).and_then(|rest| rest.first_chunk());
        bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
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
        let pairs = self.pairs();
        let numbers = slot.map(|slot| HEAD + pairs * PAIR + slot * pairs * NUMBER);
        (0..pairs).filter_map(move |pair| {
            let at = HEAD + pair * PAIR;
            let (low, high) = (self.place(at), self.place(at + 4));
            let number = numbers.and_then(|numbers| {
                let bytes = self.0.get(numbers + pair * NUMBER..)?.first_chunk()?;
                Some(f64::from_le_bytes(*bytes)).filter(|number| !number.is_nan())
            });
            Some(QueueCandidate {
                key: PairKey {
                    query,
                    pair: Pair::new(low as usize, high as usize)?,
                },
                priority: number,
                voted: self.0.get(at + PAIR - 1) == Some(&1),
            })
        })
    }
}

impl Db {
    /// Hands on every query's urgencies, one query after the other; `None` where they are out of date or were never computed.
    pub fn each_priorities(
        &self,
        scope: Option<QueryKey>,
        mut with: impl FnMut(QueryKey, &str, Option<QueryPriorities>) -> Result<()>,
    ) -> Result<()> {
        let mut statement = self.connection.prepare_cached(
            "SELECT query.id, query.name, urgency.value
             FROM query LEFT JOIN urgency ON urgency.query = query.id AND urgency.revision = query.revision
             WHERE query.id BETWEEN ?1 AND ?2 ORDER BY query.id",
        )?;
        let (first, last) = scope.map_or((i64::MIN, i64::MAX), |query| (query.0, query.0));
        let mut rows = statement.query([first, last])?;
        while let Some(row) = rows.next()? {
            let value: Option<Vec<u8>> = row.get(2)?;
            let name: String = row.get(1)?;
            // A cache that an older version wrote is no error: it is made anew.
            let priorities = value.and_then(QueryPriorities::kept);
            with(QueryKey(row.get(0)?), &name, priorities)?;
        }
        Ok(())
    }

    /// The queries whose urgencies are out of date, in another version's form, or were never computed.
    pub(super) fn without_priorities(&self) -> Result<Vec<QueryKey>> {
        self.all(
            "SELECT query.id FROM query
             LEFT JOIN urgency ON urgency.query = query.id AND urgency.revision = query.revision
             WHERE urgency.query IS NULL OR substr(urgency.value, 1, 1) <> ?1 ORDER BY query.id",
            [&[FORM][..]],
            |row| Ok(QueryKey(row.get(0)?)),
        )
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
        if let Some(priorities) = cached.and_then(QueryPriorities::kept) {
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
        self.change(
            "INSERT INTO urgency (query, revision, value)
             SELECT id, revision, ?2 FROM query WHERE id = ?1 AND revision = ?3
             ON CONFLICT (query) DO UPDATE SET revision = excluded.revision, value = excluded.value",
            params![query.0, priorities.0, revision],
        )?;
        Ok(())
    }
}
