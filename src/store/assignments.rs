//! Assignments: every pair that a queue has shown to a person, and its outcome.

use super::corpus::QueryKey;
use super::{Db, Result, StoreError};
use crate::domain::battle::Pair;
use crate::domain::priority::{Assignment, DrawReason, PairKey, Policy};
use crate::domain::verdict::Decision;
use rusqlite::params;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use uuid::Uuid;

/// A pair that a queue has shown to a person.
#[derive(Clone, Debug, PartialEq)]
pub struct NewAssignment {
    pub policy: Policy,
    pub draw: DrawReason,
}

/// A row of a person's ledger.
#[derive(Clone, Debug, PartialEq)]
pub struct AssignmentRow {
    /// Globally unique.
    pub uid: String,
    pub query: QueryKey,
    /// Its number and pair.
    pub shown: Assignment,
    pub policy: Policy,
    /// Whether it has a verdict that was not undone.
    pub judged: bool,
    /// Whether it has ever had a verdict.
    pub was_judged: bool,
    /// Whether the person postponed it.
    pub later: bool,
    /// Milliseconds since the Unix epoch.
    pub shown_ms: i64,
}

/// A permanent number for a query, derived from its identifier.
pub fn query_number(name: &str) -> u64 {
    let hash = Sha256::digest(name);
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&hash[..8]);
    u64::from_le_bytes(bytes)
}

/// The stored name of how an item was drawn.
pub(super) fn draw_name(draw: DrawReason) -> &'static str {
    match draw {
        DrawReason::Priority => "priority",
        DrawReason::Control { .. } => "control",
        DrawReason::Repeat => "repeat",
    }
}

/// The number of pairs from which a control was drawn.
pub(super) fn draw_of(draw: DrawReason) -> Option<usize> {
    match draw {
        DrawReason::Control { of } => Some(of),
        DrawReason::Priority | DrawReason::Repeat => None,
    }
}

/// A verdict that answers a queue item.
pub(crate) struct QueueVerdict {
    pub(crate) shown: String,
    pub(crate) draw: String,
    pub(crate) query: QueryKey,
    pub(crate) a: usize,
    pub(crate) b: usize,
    pub(crate) decision: Decision,
    pub(crate) blind: bool,
    pub(crate) active_s: Option<f64>,
}

impl Db {
    /// Adds a row to a person's ledger and returns its identifier. A pair that is already pending
    /// there keeps its row.
    pub(super) fn add_assignment(
        &self,
        annotator: &str,
        query: QueryKey,
        pair: Pair,
        new: &NewAssignment,
        now_ms: i64,
    ) -> Result<String> {
        let waiting: Option<String> = self.maybe_value(
            "SELECT uid FROM shown WHERE annotator = ?1 AND query = ?2 AND a = ?3 AND b = ?4
             AND NOT EXISTS (SELECT 1 FROM verdict WHERE verdict.shown = shown.uid
                             AND NOT EXISTS (SELECT 1 FROM undo WHERE undo.verdict = verdict.uid))
             ORDER BY shown_ms DESC LIMIT 1",
            params![annotator, query.0, pair.low(), pair.high()],
        )?;
        if let Some(uid) = waiting {
            return Ok(uid);
        }
        let uid = Uuid::now_v7().to_string();
        let draw = draw_name(new.draw);
        let of = draw_of(new.draw);
        self.change(
            "INSERT INTO shown (uid, annotator, query, a, b, policy, draw, drawn_of, shown_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            params![
                uid,
                annotator,
                query.0,
                pair.low(),
                pair.high(),
                new.policy.name(),
                draw,
                of,
                now_ms
            ],
        )?;
        Ok(uid)
    }

    /// Postpones a pair until after all others.
    pub fn postpone(
        &self,
        annotator: &str,
        query: QueryKey,
        pair: Pair,
        new: &NewAssignment,
        now_ms: i64,
    ) -> Result<()> {
        let uid = self.add_assignment(annotator, query, pair, new, now_ms)?;
        self.change(
            "UPDATE shown SET later_ms = ?2 WHERE uid = ?1",
            params![uid, now_ms],
        )?;
        Ok(())
    }

    /// A person's ledger, oldest first.
    pub fn assignments(&self, annotator: &str) -> Result<Vec<AssignmentRow>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT uid, shown.query, query.name, a, b, policy, draw, drawn_of, later_ms, shown_ms,
                    EXISTS (SELECT 1 FROM verdict WHERE verdict.shown = shown.uid
                            AND NOT EXISTS (SELECT 1 FROM undo WHERE undo.verdict = verdict.uid)),
                    EXISTS (SELECT 1 FROM verdict WHERE verdict.shown = shown.uid)
             FROM shown JOIN query ON query.id = shown.query
             WHERE annotator = ?1 ORDER BY shown_ms, uid",
        )?;
        let mut rows = statement.query([annotator])?;
        let mut lines = Vec::new();
        let mut numbers: HashMap<i64, u64> = HashMap::new();
        while let Some(row) = rows.next()? {
            let query: i64 = row.get(1)?;
            let number = match numbers.get(&query) {
                Some(number) => *number,
                None => {
                    let name = row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?;
                    *numbers.entry(query).or_insert(query_number(name))
                }
            };
            let (a, b): (usize, usize) = (row.get(3)?, row.get(4)?);
            let draw: String = row.get(6)?;
            let corrupt = |what: &str| StoreError::Corrupt(format!("{what} in the ledger"));
            lines.push(AssignmentRow {
                uid: row.get(0)?,
                query: QueryKey(query),
                shown: Assignment {
                    key: PairKey {
                        query: number,
                        pair: Pair::new(a, b).ok_or_else(|| corrupt("a pair of one"))?,
                    },
                    draw: match (draw.as_str(), row.get(7)?) {
                        ("priority", _) => DrawReason::Priority,
                        ("control", Some(of)) => DrawReason::Control { of },
                        ("repeat", _) => DrawReason::Repeat,
                        _ => return Err(corrupt(&draw)),
                    },
                },
                policy: row.get(5)?,
                judged: row.get(10)?,
                was_judged: row.get(11)?,
                later: row.get::<_, Option<i64>>(8)?.is_some(),
                shown_ms: row.get(9)?,
            });
        }
        Ok(lines)
    }

    /// A person's verdicts on queue items that were not undone, earliest first.
    pub(crate) fn queue_verdicts(
        &self,
        annotator: &str,
        scope: Option<QueryKey>,
    ) -> Result<Vec<QueueVerdict>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT shown.uid, shown.draw, verdict.query, verdict.a, verdict.b, decision, blind,
             active_ms
             FROM verdict JOIN shown ON shown.uid = verdict.shown
             WHERE verdict.annotator = ?1 AND (?2 IS NULL OR verdict.query = ?2)
             AND NOT EXISTS (SELECT 1 FROM undo WHERE undo.verdict = verdict.uid)
             ORDER BY coalesce(verdict.order_ms, verdict.created_ms), verdict.uid",
        )?;
        let mut rows = statement.query(params![annotator, scope.map(|scope| scope.0)])?;
        let mut lines = Vec::new();
        while let Some(row) = rows.next()? {
            lines.push(QueueVerdict {
                shown: row.get(0)?,
                draw: row.get(1)?,
                query: QueryKey(row.get(2)?),
                a: row.get(3)?,
                b: row.get(4)?,
                decision: row.get(5)?,
                blind: row.get(6)?,
                active_s: row.get::<_, Option<i64>>(7)?.map(|ms| ms as f64 / 1_000.0),
            });
        }
        Ok(lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::labels::tests::pool;
    use crate::store::verdicts::NewVerdict;

    #[test]
    fn a_pair_that_waits_keeps_its_line_and_one_that_was_judged_gets_another() {
        let db = Db::scratch().unwrap();
        let query = db.add_pool(&pool(&["{}", "{}"]), "set").unwrap().key();
        let pair = Pair::new(0, 1).unwrap();
        let item = NewAssignment {
            policy: Policy::Value,
            draw: DrawReason::Priority,
        };
        let lines = || db.assignments("ada").unwrap();
        for now_ms in [1, 2] {
            db.postpone("ada", query, pair, &item, now_ms).unwrap();
            assert_eq!(lines().len(), 1);
            assert!(lines()[0].later && !lines()[0].judged);
        }
        let verdict = NewVerdict {
            item: Some(item.clone()),
            created_ms: 3,
            ..NewVerdict::open(query, 0, 1, Decision::A, "ada")
        };
        db.add_verdict(&verdict).unwrap();
        assert_eq!(lines().len(), 1, "it answers the line that waits");
        assert!(lines()[0].judged);
        db.postpone("ada", query, pair, &item, 4).unwrap();
        assert_eq!(lines().len(), 2);
    }
}
