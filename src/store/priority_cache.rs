//! The priority of each pair of a query, cached by policy until the query changes.

mod urgent_pairs;

pub use urgent_pairs::{AllPairs, UrgentPair, UrgentPairs};

use super::corpus::QueryKey;
use super::{Db, Result, StoreError};
use crate::domain::battle::Pair;
use crate::domain::priority::{
    self, InTop, PairKey, PairPriority, Policy, QueueCandidate, Scoring, ValueParts, value_parts,
};
use crate::domain::ranking::View;
use rusqlite::{Row, params};

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
const FORM: i64 = 2;
/// Bytes of a pair: both documents, and whether a judge has voted.
const PAIR: usize = 9;
/// Bytes of a number.
const NUMBER: usize = 8;
/// The part with the pairs; the policies follow in the order of [`SCORED`].
const PAIRS: usize = 0;

/// The priorities of all pairs of a query under each policy, in their cached encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryPriorities {
    /// Number of ranks that count as the top.
    top: u32,
    pairs: Vec<u8>,
    /// By policy; see [`PolicyPriorities`].
    numbers: [Vec<u8>; SCORED.len()],
}

/// The priorities of all pairs of a query under one policy, in their cached encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyPriorities {
    policy: Policy,
    top: u32,
    /// Sorted by the documents.
    pairs: Vec<u8>,
    /// One number per pair, NaN for none; empty if no pair has one. For `Value` and `Mixed` two:
    /// the first factor, and the probability that one of the two documents is in the top.
    numbers: Vec<u8>,
}

impl QueryPriorities {
    /// The numbers of a view. `Impact` is the secant estimate (science.md § Priorities), because
    /// exact values need a refit for each pair.
    pub fn of(view: &View) -> Self {
        let scored = SCORED.map(|policy| {
            let scoring = Scoring {
                exact: 0,
                ..Scoring::new(policy)
            };
            (policy, priority::score_pairs(view, &scoring))
        });
        let (_, of_first) = &scored[0];
        let narrow = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let mut pairs = Vec::with_capacity(of_first.len() * PAIR);
        for scored in of_first {
            pairs.extend(narrow(scored.pair.low()).to_le_bytes());
            pairs.extend(narrow(scored.pair.high()).to_le_bytes());
            pairs.push(u8::from(scored.voted));
        }
        Self {
            top: narrow(priority::top_of(view)),
            pairs,
            numbers: scored.map(|(policy, scored)| encoded(&scored, policy == Policy::Value)),
        }
    }

    /// The priorities under one policy.
    pub fn under(&self, policy: Policy) -> PolicyPriorities {
        let numbers = slot_of(policy).and_then(|slot| self.numbers.get(slot));
        PolicyPriorities {
            policy,
            top: self.top,
            pairs: self.pairs.clone(),
            numbers: numbers.cloned().unwrap_or_default(),
        }
    }

    fn encoded_pairs(&self) -> Vec<u8> {
        self.under(Policy::Random).encoded_pairs()
    }

    /// The pairs under a policy that have a priority, the highest first.
    fn ranked(&self, policy: Policy) -> Vec<UrgentPair> {
        let priorities = self.under(policy);
        let candidates = priorities.candidates(0).filter_map(|candidate| {
            Some(UrgentPair {
                pair: candidate.key.pair,
                priority: candidate.priority?,
                voted: candidate.voted,
            })
        });
        let mut ranked: Vec<UrgentPair> = candidates.collect();
        ranked.sort_unstable_by(|x, y| y.order(x.priority).then(x.pair.cmp(&y.pair)));
        ranked
    }
}

/// The numbers of pairs under one policy; empty if none has a priority.
fn encoded(scored: &[PairPriority], has_factors: bool) -> Vec<u8> {
    if scored.iter().all(|pair| pair.priority.is_none()) {
        return Vec::new();
    }
    let numbers = scored.iter().flat_map(|pair| {
        let parts = pair.parts.filter(|_| has_factors);
        let first = match (pair.priority, parts) {
            (Some(_), Some(parts)) => Some(parts.wrong),
            (priority, _) => priority,
        };
        let in_top = has_factors.then(|| parts.map(|parts| parts.in_top.value()));
        std::iter::once(first).chain(in_top)
    });
    let numbers = numbers.flat_map(|number| number.unwrap_or(f64::NAN).to_le_bytes());
    numbers.collect()
}

impl PolicyPriorities {
    /// Reads a row of the size of the top, the highest priorities, the pairs and the numbers;
    /// `None` if they do not belong together, as in a damaged file.
    fn read(row: &Row<'_>, policy: Policy) -> rusqlite::Result<Option<Self>> {
        let Ok(top) = u32::try_from(row.get::<_, i64>(0)?) else {
            return Ok(None);
        };
        let highest: Vec<u8> = row.get(1)?;
        let numbers: Option<Vec<u8>> = row.get(3)?;
        let kept = Self {
            policy,
            top,
            pairs: row.get(2)?,
            numbers: numbers.unwrap_or_default(),
        };
        Ok(kept.belongs_to(&highest).then_some(kept))
    }

    /// Whether there are as many numbers as pairs, or none if the highest of them is NaN.
    fn belongs_to(&self, highest: &[u8]) -> bool {
        let Ok(highest) = <[[u8; NUMBER]; SCORED.len()]>::try_from(highest.as_chunks().0) else {
            return false;
        };
        let highest = slot_of(self.policy).and_then(|slot| highest.get(slot));
        let has_numbers = highest.is_some_and(|bytes| !f64::from_le_bytes(*bytes).is_nan());
        let of_pair = match self.policy {
            _ if !has_numbers => 0,
            Policy::Value | Policy::Mixed => 2 * NUMBER,
            _ => NUMBER,
        };
        self.pairs.len().is_multiple_of(PAIR) && self.numbers.len() == self.len() * of_pair
    }

    fn len(&self) -> usize {
        self.pairs.len() / PAIR
    }

    fn place(&self, at: usize) -> Option<usize> {
        let bytes = self.pairs.get(at..)?.first_chunk()?;
        Some(u32::from_le_bytes(*bytes) as usize)
    }

    fn documents(&self, pair: usize) -> Option<Pair> {
        let at = pair * PAIR;
        Pair::new(self.place(at)?, self.place(at + 4)?)
    }

    fn number(&self, at: usize) -> Option<f64> {
        let bytes = self.numbers.get(at * NUMBER..)?.first_chunk()?;
        Some(f64::from_le_bytes(*bytes)).filter(|number| !number.is_nan())
    }

    /// The factors of the value of the pair at an index, if it has a value.
    fn parts(&self, pair: usize) -> Option<ValueParts> {
        let in_top = self.number(2 * pair + 1)?;
        Some(ValueParts {
            wrong: self.number(2 * pair)?,
            // Sampling never gives a probability of exactly 0 or 1.
            in_top: match in_top {
                0.0 | 1.0 => InTop::ByScores(in_top == 1.0),
                _ => InTop::Probability(in_top),
            },
            top: self.top as usize,
        })
    }

    /// The priority of the pair at an index, if it has one.
    fn priority(&self, pair: usize) -> Option<f64> {
        match self.policy {
            Policy::Value | Policy::Mixed => self.parts(pair).map(|parts| parts.value()),
            _ => self.number(pair),
        }
    }

    /// The pairs in their short encoding.
    fn encoded_pairs(&self) -> Vec<u8> {
        let candidates: Vec<QueueCandidate> = self.candidates(0).collect();
        let pairs = candidates.iter().map(|one| (one.key.pair, one.voted));
        urgent_pairs::encode_all(pairs)
    }

    /// The priority of a pair, if it has one.
    pub fn priority_of(&self, pair: Pair) -> Option<f64> {
        self.priority(self.index_of(pair)?)
    }

    /// The factors of a pair's value, if it has a value.
    fn value_parts(&self, pair: Pair) -> Option<ValueParts> {
        self.parts(self.index_of(pair)?)
    }

    fn index_of(&self, pair: Pair) -> Option<usize> {
        let (mut first, mut end) = (0, self.len());
        while first < end {
            let middle = usize::midpoint(first, end);
            if self.documents(middle)? < pair {
                first = middle + 1
            } else {
                end = middle
            }
        }
        Some(first).filter(|at| self.documents(*at) == Some(pair))
    }

    /// The pairs as queue candidates.
    pub fn candidates(&self, query: u64) -> impl Iterator<Item = QueueCandidate> + '_ {
        (0..self.len()).filter_map(move |pair| {
            Some(QueueCandidate {
                key: PairKey {
                    query,
                    pair: self.documents(pair)?,
                },
                priority: self.priority(pair),
                voted: self.pairs.get((pair + 1) * PAIR - 1) == Some(&1),
            })
        })
    }
}

/// The slot of a policy's numbers.
fn slot_of(policy: Policy) -> Option<usize> {
    let own = match policy {
        Policy::Mixed => Policy::Value,
        _ => policy,
    };
    SCORED.iter().position(|scored| *scored == own)
}

/// The part with a policy's numbers; no part has this number if it has none.
fn part_of(policy: Policy) -> i64 {
    slot_of(policy).map_or(-1, |slot| (PAIRS + 1 + slot) as i64)
}

impl Db {
    /// Passes the most urgent pairs of each query under a policy to `each`, in the order of the
    /// queries.
    pub fn each_urgent(
        &self,
        scope: Option<QueryKey>,
        policy: Policy,
        mut each: impl FnMut(UrgentPairs),
    ) -> Result<()> {
        let (first, last) = scope.map_or((i64::MIN, i64::MAX), |query| (query.0, query.0));
        let slot = slot_of(policy);
        let mut statement = self.connection.prepare_cached(
            "SELECT query.id, query.name, urgency.highest, urgent.value
             FROM query LEFT JOIN urgency ON urgency.query = query.id
             AND urgency.revision = query.revision AND urgency.form = ?3
             LEFT JOIN urgent ON urgent.part = ?4 AND urgent.query = urgency.query
             WHERE query.id BETWEEN ?1 AND ?2 ORDER BY query.id",
        )?;
        let mut rows = statement.query(params![first, last, FORM, part_of(policy)])?;
        while let Some(row) = rows.next()? {
            let blob = |column| -> Result<Option<&[u8]>> {
                let value = row.get_ref(column)?.as_blob_or_null();
                Ok(value.map_err(rusqlite::Error::from)?)
            };
            let whole = blob(2)?.filter(|highest| highest.len() == SCORED.len() * NUMBER);
            let highest = whole.map(|highest| {
                let of_policy = slot.and_then(|slot| highest.as_chunks().0.get(slot));
                of_policy.map_or(f64::NAN, |bytes| f64::from_le_bytes(*bytes))
            });
            let (pairs, bound) = match highest {
                None => (Vec::new(), f64::INFINITY),
                Some(highest) if highest.is_nan() => (Vec::new(), f64::NEG_INFINITY),
                Some(highest) => blob(3)?
                    .and_then(|bytes| urgent_pairs::decode(bytes, highest))
                    .unwrap_or((Vec::new(), highest)),
            };
            each(UrgentPairs {
                query: QueryKey(row.get(0)?),
                name: row.get(1)?,
                pairs,
                bound,
            });
        }
        Ok(())
    }

    /// The pairs of each query with their number, in the order of the queries: those of the cache if
    /// it is up to date.
    pub fn all_pairs(&self, scope: Option<QueryKey>) -> Result<AllPairs> {
        let (first, last) = scope.map_or((i64::MIN, i64::MAX), |query| (query.0, query.0));
        let mut statement = self.connection.prepare_cached(
            "SELECT query.id, query.name, urgent.value
             FROM query LEFT JOIN urgency ON urgency.query = query.id
             AND urgency.revision = query.revision AND urgency.form = ?3
             LEFT JOIN urgent ON urgent.part = ?4 AND urgent.query = urgency.query
             WHERE query.id BETWEEN ?1 AND ?2 ORDER BY query.id",
        )?;
        let mut rows = statement.query(params![first, last, FORM, PAIRS])?;
        let mut all = AllPairs::default();
        while let Some(row) = rows.next()? {
            let query = QueryKey(row.get(0)?);
            let value = row.get_ref(2)?.as_blob_or_null();
            let kept = value.map_err(rusqlite::Error::from)?;
            match kept.filter(|bytes| urgent_pairs::is_whole(bytes)) {
                Some(kept) => all.bytes.extend_from_slice(kept),
                None => {
                    let pairs = self.policy_priorities(query, Policy::Random)?;
                    all.bytes.extend(pairs.encoded_pairs());
                }
            }
            all.queries.push((query, row.get(1)?, all.bytes.len()));
        }
        Ok(all)
    }

    /// The cached priorities of a query under one policy, if nothing has changed since.
    pub(crate) fn kept_priorities(
        &self,
        query: QueryKey,
        policy: Policy,
    ) -> Result<Option<PolicyPriorities>> {
        let kept = self.maybe(
            "SELECT urgency.top, urgency.highest, pairs.value, numbers.value
             FROM query JOIN urgency ON urgency.query = query.id
             AND urgency.revision = query.revision AND urgency.form = ?3
             JOIN urgency_part AS pairs ON pairs.query = query.id AND pairs.part = 0
             LEFT JOIN urgency_part AS numbers ON numbers.query = query.id AND numbers.part = ?2
             WHERE query.id = ?1",
            params![query.0, part_of(policy), FORM],
            |row| PolicyPriorities::read(row, policy),
        )?;
        Ok(kept.flatten())
    }

    /// The priorities of a query under one policy, from the cache if it is up to date.
    pub fn policy_priorities(&self, query: QueryKey, policy: Policy) -> Result<PolicyPriorities> {
        match self.kept_priorities(query, policy)? {
            Some(kept) => Ok(kept),
            None => Ok(QueryPriorities::of(&self.view(query)?).under(policy)),
        }
    }

    /// The queries whose priorities are stale, in another version's format, or missing; of one
    /// query, or of all.
    pub fn without_priorities(&self, scope: Option<QueryKey>) -> Result<Vec<QueryKey>> {
        let (first, last) = scope.map_or((i64::MIN, i64::MAX), |query| (query.0, query.0));
        self.all(
            "SELECT query.id FROM query
             LEFT JOIN urgency ON urgency.query = query.id
             AND urgency.revision = query.revision AND urgency.form = ?1
             WHERE urgency.query IS NULL AND query.id BETWEEN ?2 AND ?3 ORDER BY query.id",
            params![FORM, first, last],
            |row| Ok(QueryKey(row.get(0)?)),
        )
    }

    /// A query's priorities and their revision.
    pub(crate) fn priorities_now(&self, query: QueryKey) -> Result<(i64, QueryPriorities)> {
        let revision: Option<i64> =
            self.maybe_value("SELECT revision FROM query WHERE id = ?1", [query.0])?;
        let revision = revision.ok_or_else(|| StoreError::NotFound("no such query".to_owned()))?;
        Ok((revision, QueryPriorities::of(&self.view(query)?)))
    }

    /// The factors of the value of a verdict on a pair, from the latest cached numbers: the ones
    /// that a queue shows, even if votes have arrived since. They are computed if nothing is
    /// cached.
    pub fn value_parts(&self, query: QueryKey, pair: Pair) -> Result<Option<ValueParts>> {
        let kept = self.maybe(
            "SELECT urgency.top, urgency.highest, pairs.value, numbers.value
             FROM urgency JOIN urgency_part AS pairs ON pairs.query = urgency.query AND pairs.part = 0
             LEFT JOIN urgency_part AS numbers ON numbers.query = urgency.query AND numbers.part = ?2
             WHERE urgency.query = ?1 AND urgency.form = ?3",
            params![query.0, part_of(Policy::Value), FORM],
            |row| PolicyPriorities::read(row, Policy::Value),
        )?;
        match kept.flatten() {
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
        let ranked = SCORED.map(|policy| priorities.ranked(policy));
        let highest = ranked.each_ref().map(|ranked| {
            let first = ranked.first().map_or(f64::NAN, |first| first.priority);
            first.to_le_bytes()
        });
        let kept = self.change(
            "INSERT INTO urgency (query, revision, form, top, highest)
             SELECT id, revision, ?3, ?4, ?5 FROM query WHERE id = ?1 AND revision = ?2
             ON CONFLICT (query) DO UPDATE SET revision = excluded.revision, form = excluded.form,
                 top = excluded.top, highest = excluded.highest",
            params![query.0, revision, FORM, priorities.top, highest.concat()],
        )?;
        if kept == 0 {
            return Ok(());
        }
        self.change("DELETE FROM urgency_part WHERE query = ?1", [query.0])?;
        self.change(
            "INSERT OR REPLACE INTO urgent (part, query, value) VALUES (?1, ?2, ?3)",
            params![PAIRS, query.0, priorities.encoded_pairs()],
        )?;
        for (part, ranked) in (PAIRS + 1..).zip(&ranked) {
            if ranked.is_empty() {
                self.change(
                    "DELETE FROM urgent WHERE part = ?1 AND query = ?2",
                    params![part, query.0],
                )?;
            } else {
                self.change(
                    "INSERT OR REPLACE INTO urgent (part, query, value) VALUES (?1, ?2, ?3)",
                    params![part, query.0, urgent_pairs::encode(ranked)],
                )?;
            }
        }
        let numbers = (PAIRS + 1..).zip(&priorities.numbers);
        let numbers = numbers.filter(|(_, numbers)| !numbers.is_empty());
        for (part, value) in std::iter::once((PAIRS, &priorities.pairs)).chain(numbers) {
            self.change(
                "INSERT INTO urgency_part (query, part, value) VALUES (?1, ?2, ?3)",
                params![query.0, part, value],
            )?;
        }
        Ok(())
    }
}
