//! Verdicts: rows are only added, undoing adds one too.

use super::corpus::QueryKey;
use super::urgency::NewShown;
use super::{Db, Result, StoreError};
use crate::domain::battle::Pair;
use crate::domain::verdict::{Cause, Confidence, Decision, Verdict};
use rusqlite::{OptionalExtension, Row, params};
use std::collections::HashMap;
use uuid::Uuid;

/// A verdict to be stored.
#[derive(Clone, Debug, PartialEq)]
pub struct NewVerdict {
    /// The query.
    pub query: QueryKey,
    /// Position of document A in the pool.
    pub a: usize,
    /// Position of document B in the pool.
    pub b: usize,
    /// What was decided.
    pub decision: Decision,
    /// Why.
    pub note: Option<String>,
    /// Who decided.
    pub annotator: String,
    /// Whether the judges' votes were hidden.
    pub blind: bool,
    /// Time spent looking, in milliseconds.
    pub active_ms: Option<i64>,
    /// Milliseconds since the Unix epoch.
    pub created_ms: i64,
    /// How sure the annotator is.
    pub confidence: Option<Confidence>,
    /// Why the annotator and the judges part.
    pub cause: Option<Cause>,
    /// The queue that laid the pair before the annotator.
    pub shown: Option<NewShown>,
    /// Whether the judges' votes were shown since the annotator's verdict in force on the pair, which this one replaces.
    pub after_reveal: bool,
}

impl NewVerdict {
    /// A verdict given with the judges in sight, outside of any queue.
    pub fn open(query: QueryKey, a: usize, b: usize, decision: Decision, annotator: &str) -> Self {
        Self {
            query,
            a,
            b,
            decision,
            note: None,
            annotator: annotator.to_owned(),
            blind: false,
            active_ms: None,
            created_ms: 0,
            confidence: None,
            cause: None,
            shown: None,
            after_reveal: false,
        }
    }
}

/// A verdict with the query it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredVerdict {
    /// The query.
    pub query: QueryKey,
    /// The verdict.
    pub verdict: Verdict,
}

const COLUMNS: &str =
    "verdict.uid, query, a, b, decision, note, verdict.annotator, verdict.created_ms";
const NOT_UNDONE: &str = "NOT EXISTS (SELECT 1 FROM undo WHERE undo.verdict = verdict.uid)";

impl Db {
    /// Stores a verdict and returns its identifier. One that says the same as the annotator's verdict in force on the
    /// pair, with a reason, replaces that one, and undoing takes both back.
    pub fn add_verdict(&self, verdict: &NewVerdict) -> Result<String> {
        let uid = Uuid::now_v7().to_string();
        let before = match verdict.after_reveal {
            true => self.own_in_force(verdict)?,
            false => self.explained_by(verdict)?,
        };
        let pair = Pair::new(verdict.a, verdict.b)
            .ok_or_else(|| StoreError::Conflict("a verdict needs two documents".to_owned()))?;
        let line = match (&verdict.shown, &before) {
            (Some(shown), _) => Some(self.add_shown(
                &verdict.annotator,
                verdict.query,
                pair,
                shown,
                verdict.created_ms,
            )?),
            (None, Some((before, _))) => self.line_of(before)?,
            (None, None) => None,
        };
        let revealed = before
            .as_ref()
            .filter(|_| verdict.after_reveal)
            .map(|(_, ms)| *ms);
        self.connection
            .prepare_cached(
                "INSERT INTO verdict (uid, query, a, b, decision, note, annotator, blind, active_ms, replaces,
                     created_ms, confidence, cause, shown, revealed_ms, policy, role, inclusion)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15,
                     (SELECT policy FROM shown WHERE uid = ?14), (SELECT draw FROM shown WHERE uid = ?14),
                     (SELECT CASE draw WHEN 'priority' THEN 1.0 WHEN 'control' THEN 1.0 / drawn_of END
                      FROM shown WHERE uid = ?14))",
            )?
            .execute(params![
                uid,
                verdict.query.0,
                verdict.a,
                verdict.b,
                verdict.decision.name(),
                verdict.note,
                verdict.annotator,
                verdict.blind,
                verdict.active_ms,
                before.map(|(uid, _)| uid),
                verdict.created_ms,
                verdict.confidence.map(Confidence::name),
                verdict.cause.map(Cause::name),
                line,
                revealed,
            ])?;
        self.touch(verdict.query)?;
        Ok(uid)
    }

    /// The verdict that a new one merely gives a reason for, and when it was given.
    fn explained_by(&self, new: &NewVerdict) -> Result<Option<(String, i64)>> {
        if new.note.is_none() && new.cause.is_none() && new.confidence.is_none() {
            return Ok(None);
        }
        let in_force = self.verdicts_in_force(new.query)?;
        let same = in_force.into_iter().find(|verdict| {
            let straight =
                (verdict.a, verdict.b) == (new.a, new.b) && verdict.decision == new.decision;
            let turned = (verdict.b, verdict.a) == (new.a, new.b)
                && verdict.decision.flipped() == new.decision;
            verdict.annotator == new.annotator && (straight || turned)
        });
        Ok(same.map(|verdict| (verdict.uid, verdict.created_ms)))
    }

    /// The annotator's latest verdict on the pair that is not undone, and when it was given.
    fn own_in_force(&self, new: &NewVerdict) -> Result<Option<(String, i64)>> {
        Ok(self
            .connection
            .prepare_cached(&format!(
                "SELECT verdict.uid, verdict.created_ms FROM verdict
                 WHERE query = ?1 AND min(a, b) = ?2 AND max(a, b) = ?3 AND verdict.annotator = ?4 AND {NOT_UNDONE}
                 ORDER BY verdict.created_ms DESC, verdict.uid DESC LIMIT 1"
            ))?
            .query_row(
                params![new.query.0, new.a.min(new.b), new.a.max(new.b), new.annotator],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .optional()?)
    }

    /// The line of the ledger that a verdict answers.
    fn line_of(&self, verdict: &str) -> Result<Option<String>> {
        Ok(self
            .connection
            .prepare_cached("SELECT shown FROM verdict WHERE uid = ?1")?
            .query_row([verdict], |row| row.get(0))?)
    }

    /// Takes back the annotator's latest verdict that is not undone yet, and returns it; `None` where there is none.
    pub fn undo_verdict(&self, annotator: &str, created_ms: i64) -> Result<Option<StoredVerdict>> {
        let latest = self
            .connection
            .prepare_cached(&format!(
                "SELECT {COLUMNS} FROM verdict WHERE verdict.annotator = ?1 AND {NOT_UNDONE}
                 ORDER BY verdict.created_ms DESC, verdict.uid DESC LIMIT 1"
            ))?
            .query_row([annotator], stored)
            .optional()?;
        let Some(latest) = latest else {
            return Ok(None);
        };
        let latest = latest?;
        let mut back = Some(latest.verdict.uid.clone());
        while let Some(verdict) = back {
            self.connection
                .prepare_cached("INSERT INTO undo (uid, verdict, annotator, created_ms) VALUES (?1, ?2, ?3, ?4)")?
                .execute(params![Uuid::now_v7().to_string(), verdict, annotator, created_ms])?;
            back = self
                .connection
                .prepare_cached("SELECT replaces FROM verdict WHERE uid = ?1")?
                .query_row([&verdict], |row| row.get(0))?;
        }
        self.touch(latest.query)?;
        Ok(Some(latest))
    }

    /// The verdicts in force of a query: the latest on each pair that is not undone.
    pub fn verdicts_in_force(&self, query: QueryKey) -> Result<Vec<Verdict>> {
        let mut in_force: Vec<Verdict> = Vec::new();
        let mut place: HashMap<(usize, usize), usize> = HashMap::new();
        for stored in self.verdict_rows(Some(query))? {
            let verdict = stored.verdict;
            let pair = (verdict.a.min(verdict.b), verdict.a.max(verdict.b));
            match place.get(&pair) {
                Some(at) => in_force[*at] = verdict,
                None => {
                    place.insert(pair, in_force.len());
                    in_force.push(verdict);
                }
            }
        }
        Ok(in_force)
    }

    /// Every verdict that is not undone, earliest first, of one query or of all.
    pub fn verdict_rows(&self, query: Option<QueryKey>) -> Result<Vec<StoredVerdict>> {
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM verdict WHERE (?1 IS NULL OR query = ?1) AND {NOT_UNDONE}
             ORDER BY verdict.created_ms, verdict.uid"
        ))?;
        let mut verdicts = Vec::new();
        let mut rows = statement.query([query.map(|query| query.0)])?;
        while let Some(row) = rows.next()? {
            verdicts.push(stored(row)??);
        }
        Ok(verdicts)
    }

    /// Marks a query's numbers as changed.
    pub(super) fn touch(&self, query: QueryKey) -> Result<()> {
        self.connection
            .prepare_cached("UPDATE query SET revision = revision + 1 WHERE id = ?1")?
            .execute([query.0])?;
        Ok(())
    }
}

fn stored(row: &Row<'_>) -> rusqlite::Result<Result<StoredVerdict>> {
    let decision: String = row.get(4)?;
    let verdict = match decision.parse::<Decision>() {
        Ok(decision) => decision,
        Err(error) => return Ok(Err(StoreError::Corrupt(error))),
    };
    Ok(Ok(StoredVerdict {
        query: QueryKey(row.get(1)?),
        verdict: Verdict {
            uid: row.get(0)?,
            a: row.get(2)?,
            b: row.get(3)?,
            decision: verdict,
            note: row.get(5)?,
            annotator: row.get(6)?,
            created_ms: row.get(7)?,
        },
    }))
}
