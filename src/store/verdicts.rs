//! Verdicts. Rows are only appended, including for undo.

use super::assignments::{NewAssignment, draw_name};
use super::corpus::QueryKey;
use super::drafts::DecisionSubject;
use super::{Db, Result, StoreError};
use crate::domain::annotator_name::stored_annotator_name;
use crate::domain::battle::Pair;
use crate::domain::priority::DrawReason;
use crate::domain::verdict::{
    AnnotatorVerdicts, Confidence, Decision, ErrorCause, FinalRule, Verdict,
};
use rusqlite::{Row, params};
use std::collections::HashSet;
use uuid::Uuid;

/// Role of verdicts that were imported with a file of votes.
pub const IMPORTED: &str = "import";

#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewVerdict {
    pub query: QueryKey,
    /// Position of document A in the pool.
    pub a: usize,
    /// Position of document B in the pool.
    pub b: usize,
    pub decision: Decision,
    pub note: Option<String>,
    pub annotator: String,
    /// Whether the judges' votes were hidden.
    pub blind: bool,
    /// Viewing time in milliseconds.
    pub active_ms: Option<i64>,
    /// Milliseconds since the Unix epoch.
    pub created_ms: i64,
    /// Sort key among decisions, if it differs from `created_ms` because a clock was wrong.
    pub order_ms: Option<i64>,
    /// Hash of the guideline at that time.
    pub guideline: Option<String>,
    pub confidence: Option<Confidence>,
    /// Why the judges' votes differ, if they do.
    pub cause: Option<ErrorCause>,
    /// The queue policy that selected the pair.
    pub policy: Option<String>,
    /// How the item was drawn in its queue, or [`IMPORTED`].
    pub role: Option<String>,
    /// The probability in (0, 1] with which the queue selected the pair, or that the imported line
    /// states; `None` if unknown.
    pub inclusion: Option<f64>,
    /// When the judges' votes were revealed, in milliseconds since the Unix epoch.
    pub revealed_ms: Option<i64>,
    /// The row of the queue's ledger that the verdict answers.
    pub shown: Option<String>,
    /// The verdict that this one replaces and with which it is undone. With `None`,
    /// [`Db::add_verdict`] looks for the one that this verdict merely explains.
    pub replaces: Option<String>,
    /// The queue item that the verdict answers; it is added to the ledger.
    pub item: Option<NewAssignment>,
    /// Whether the judges' votes were revealed after the annotator's earlier verdict on the pair,
    /// which this one replaces.
    pub after_reveal: bool,
}

impl NewVerdict {
    /// A verdict given with the judges' votes visible, outside any queue.
    pub fn open(query: QueryKey, a: usize, b: usize, decision: Decision, annotator: &str) -> Self {
        Self {
            query,
            a,
            b,
            decision,
            annotator: annotator.to_owned(),
            ..Self::default()
        }
    }

    /// Whether it answers a queue item that asks for the person's first opinion of the pair.
    pub fn is_first_word(&self) -> bool {
        let item = self.item.as_ref();
        !self.after_reveal && item.is_some_and(|item| item.draw != DrawReason::Repeat)
    }

    pub(crate) fn subject(&self) -> Option<DecisionSubject> {
        Some(DecisionSubject::Pair(
            self.query,
            Pair::new(self.a, self.b)?,
        ))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct StoredVerdict {
    pub query: QueryKey,
    pub verdict: Verdict,
    /// Whether the judges' votes were hidden.
    pub blind: bool,
    /// Viewing time in milliseconds.
    pub active_ms: Option<i64>,
    pub confidence: Option<Confidence>,
    /// Why the judges' votes differ.
    pub cause: Option<ErrorCause>,
    /// The queue policy that selected the pair.
    pub policy: Option<String>,
    /// How the item was drawn in its queue, or [`IMPORTED`].
    pub role: Option<String>,
    /// The probability with which the queue selected the pair, or that the imported line states.
    pub inclusion: Option<f64>,
    /// When the judges' votes were revealed, in milliseconds since the Unix epoch.
    pub revealed_ms: Option<i64>,
    /// The row of the queue's ledger that the verdict answers.
    pub shown: Option<String>,
    /// The verdict that this one replaces.
    pub replaces: Option<String>,
    /// Sort key among decisions: its time, unless a clock was wrong.
    pub order_ms: i64,
    /// Hash of the guideline at that time.
    pub guideline: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct VerdictUndo {
    /// Globally unique.
    pub uid: String,
    pub verdict: String,
    pub annotator: String,
    /// In milliseconds since the Unix epoch.
    pub created_ms: i64,
    /// Sort key among decisions: its time, unless a clock was wrong.
    pub order_ms: i64,
}

const COLUMNS: &str = "verdict.uid, verdict.query, verdict.a, verdict.b, decision, verdict.note,
                       verdict.annotator,
    verdict.created_ms, blind, active_ms, confidence, cause, verdict.policy, role, inclusion,
    revealed_ms, shown, replaces,
    coalesce(verdict.order_ms, verdict.created_ms), guideline";
const NOT_UNDONE: &str = "NOT EXISTS (SELECT 1 FROM undo WHERE undo.verdict = verdict.uid)";

impl Db {
    /// Stores a verdict and returns its identifier. If it makes the same decision as the
    /// annotator's earlier verdict on the pair and adds a note, a confidence or a cause, it
    /// replaces that one, and undo removes both.
    pub fn add_verdict(&self, verdict: &NewVerdict) -> Result<String> {
        let uid = Uuid::now_v7().to_string();
        let mut new = verdict.clone();
        new.order_ms = self.next_order_ms(verdict.created_ms)?;
        new.guideline = self.guideline_hash()?;
        new.blind &= !self.has_taken_back(verdict)?;
        // Already decided, in another window for example; the judges' votes were revealed then.
        let after_reveal = verdict.after_reveal
            || (verdict.is_first_word() && self.own_verdict(verdict)?.is_some());
        if !verdict.after_reveal
            && let Some(subject) = verdict.subject()
        {
            let draft = self.take_draft(&verdict.annotator, &subject)?;
            new.note = new.note.or(draft);
        }
        new.blind &= !after_reveal;
        let before = match (&verdict.replaces, after_reveal) {
            (Some(_), _) => None,
            (None, true) => self.own_verdict(verdict)?,
            (None, false) => self.explained_by(&new)?,
        };
        if let Some(before) = before {
            // It answers the same queue item as the earlier one.
            new.revealed_ms = if after_reveal {
                Some(before.verdict.created_ms)
            } else {
                before.revealed_ms
            };
            new.shown = before.shown;
            new.policy = before.policy;
            new.role = before.role;
            new.inclusion = before.inclusion;
            new.replaces = Some(before.verdict.uid);
        }
        if let Some(item) = verdict.item.as_ref().filter(|_| new.shown.is_none()) {
            let pair = Pair::new(verdict.a, verdict.b)
                .ok_or_else(|| StoreError::Conflict("a verdict needs two documents".to_owned()))?;
            let (annotator, now) = (&verdict.annotator, verdict.created_ms);
            new.shown = Some(self.add_assignment(annotator, verdict.query, pair, item, now)?);
            new.policy = Some(item.policy.name().to_owned());
            new.role = Some(draw_name(item.draw).to_owned());
            new.inclusion = item.draw.chance();
        }
        self.add_verdict_as(&uid, &new)?;
        Ok(uid)
    }

    /// The sort key of the next verdict or undo, if its time would sort it before one that the
    /// project already has. Without it, an older verdict would win, and undo would remove the wrong
    /// one.
    fn next_order_ms(&self, now_ms: i64) -> Result<Option<i64>> {
        let latest: Option<i64> = self.value(
            "SELECT max(at) FROM (SELECT max(coalesce(order_ms, created_ms)) AS at FROM verdict
             UNION ALL SELECT max(coalesce(order_ms, created_ms)) FROM undo)",
            [],
        )?;
        Ok(latest
            .filter(|latest| *latest >= now_ms)
            .map(|latest| latest.saturating_add(1)))
    }

    /// Moves decisions from the future to the current time, one millisecond apart and in their
    /// order, so that new ones sort after them.
    pub fn order_before(&self, now_ms: i64) -> Result<()> {
        self.move_to(
            now_ms,
            "SELECT 0 AS undone, uid, coalesce(order_ms, created_ms) AS at FROM verdict
             WHERE coalesce(order_ms, created_ms) > ?1
             UNION ALL SELECT 1, uid, coalesce(order_ms, created_ms) FROM undo
             WHERE coalesce(order_ms, created_ms) > ?1 ORDER BY at, undone, uid",
            [
                "UPDATE verdict SET order_ms = ?1 WHERE uid = ?2",
                "UPDATE undo SET order_ms = ?1 WHERE uid = ?2",
            ],
        )?;
        self.move_to(
            now_ms,
            "SELECT 0 AS undone, uid, coalesce(order_ms, created_ms) AS at FROM ruling
             WHERE coalesce(order_ms, created_ms) > ?1
             UNION ALL SELECT 1, uid, coalesce(order_ms, created_ms) FROM ruling_undo
             WHERE coalesce(order_ms, created_ms) > ?1 ORDER BY at, undone, uid",
            [
                "UPDATE ruling SET order_ms = ?1 WHERE uid = ?2",
                "UPDATE ruling_undo SET order_ms = ?1 WHERE uid = ?2",
            ],
        )
    }

    /// Moves the decisions and undos that `future` selects to the current time.
    fn move_to(&self, now_ms: i64, future: &str, [decision, undo]: [&str; 2]) -> Result<()> {
        let future: Vec<(bool, String)> =
            self.all(future, [now_ms], |row| Ok((row.get(0)?, row.get(1)?)))?;
        for ((undone, uid), order_ms) in future.into_iter().zip(now_ms..) {
            self.change(if undone { undo } else { decision }, params![order_ms, uid])?;
        }
        Ok(())
    }

    /// Whether the annotator has seen the judges' opinion of the pair through a verdict that was
    /// undone, and has given none since. A pair that is shown twice to check consistency has a
    /// current verdict.
    fn has_taken_back(&self, new: &NewVerdict) -> Result<bool> {
        let mut statement = self.connection.prepare_cached(
            "SELECT 1 FROM verdict WHERE query = ?1 AND ((a = ?2 AND b = ?3) OR (a = ?3
             AND b = ?2)) AND annotator = ?4
             AND EXISTS (SELECT 1 FROM undo WHERE undo.verdict = verdict.uid)",
        )?;
        let taken_back = statement.exists(params![new.query.0, new.a, new.b, new.annotator])?;
        Ok(taken_back && self.own_verdict(new)?.is_none())
    }

    /// The annotator's current verdict on the pair.
    pub fn own_verdict(&self, new: &NewVerdict) -> Result<Option<StoredVerdict>> {
        let pair = Pair::new(new.a, new.b);
        let mut own = self.standing_verdicts(Some(new.query))?;
        own.retain(|row| {
            row.verdict.annotator == new.annotator
                && Pair::new(row.verdict.a, row.verdict.b) == pair
        });
        Ok(own.pop())
    }

    /// Stores a verdict under the identifier that it came with. Returns whether it was new.
    pub fn add_verdict_as(&self, uid: &str, verdict: &NewVerdict) -> Result<bool> {
        let added = self.change(
            "INSERT INTO verdict (uid, query, a, b, decision, note, annotator, blind, active_ms,
             created_ms,
                 confidence, cause, policy, role, inclusion, revealed_ms, shown, replaces,
                 order_ms, guideline)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
             ?18, ?19, ?20)
             ON CONFLICT (uid) DO NOTHING",
            params![
                uid,
                verdict.query.0,
                verdict.a,
                verdict.b,
                verdict.decision.name(),
                verdict.note,
                stored_annotator_name(&verdict.annotator),
                verdict.blind,
                verdict.active_ms,
                verdict.created_ms,
                verdict.confidence.map(Confidence::name),
                verdict.cause.map(ErrorCause::name),
                verdict.policy,
                verdict.role,
                verdict.inclusion,
                verdict.revealed_ms,
                verdict.shown,
                verdict.replaces,
                verdict.order_ms,
                verdict.guideline,
            ],
        )?;
        if added > 0 {
            self.touch(verdict.query)?;
        }
        Ok(added > 0)
    }

    /// The annotator's verdict that a new one merely explains: same pair, same decision, same queue
    /// item.
    fn explained_by(&self, new: &NewVerdict) -> Result<Option<StoredVerdict>> {
        if new.note.is_none() && new.confidence.is_none() && new.cause.is_none() {
            return Ok(None);
        }
        Ok(self.own_verdict(new)?.filter(|row| {
            row.verdict.seen_from(new.a) == new.decision
                && new.item.is_none()
                && (new.shown.is_none() || new.shown == row.shown)
        }))
    }

    /// The annotator's latest verdict that is not undone.
    pub fn latest_verdict(&self, annotator: &str) -> Result<Option<StoredVerdict>> {
        self.maybe(
            &format!(
                "SELECT {COLUMNS} FROM verdict WHERE verdict.annotator = ?1 AND {NOT_UNDONE}
                 ORDER BY coalesce(verdict.order_ms, verdict.created_ms) DESC, verdict.uid DESC
                 LIMIT 1"
            ),
            [annotator],
            stored,
        )
    }

    /// Undoes the annotator's latest verdict and returns it; `None` if there is none.
    pub fn undo_verdict(&self, annotator: &str, created_ms: i64) -> Result<Option<StoredVerdict>> {
        let Some(latest) = self.latest_verdict(annotator)? else {
            return Ok(None);
        };
        let order_ms = self.next_order_ms(created_ms)?.unwrap_or(created_ms);
        let mut back = Some(latest.verdict.uid.clone());
        while let Some(verdict) = back {
            let undo = VerdictUndo {
                uid: Uuid::now_v7().to_string(),
                verdict: verdict.clone(),
                annotator: annotator.to_owned(),
                created_ms,
                order_ms,
            };
            if !self.add_undo(&undo)? {
                break;
            }
            back = self.value("SELECT replaces FROM verdict WHERE uid = ?1", [&verdict])?;
        }
        self.touch(latest.query)?;
        Ok(Some(latest))
    }

    /// Redoes an undone verdict of the annotator, together with those that it replaces, as new
    /// rows; `None` if there is no such verdict or it was not undone.
    pub fn redo_verdict(
        &self,
        annotator: &str,
        uid: &str,
        now_ms: i64,
    ) -> Result<Option<StoredVerdict>> {
        let mut chain = Vec::new();
        let mut next = Some(uid.to_owned());
        while let Some(uid) = next {
            let row = self.maybe(
                &format!(
                    "SELECT {COLUMNS} FROM verdict
                     WHERE verdict.uid = ?1 AND verdict.annotator = ?2 AND NOT ({NOT_UNDONE})"
                ),
                [&uid, annotator],
                stored,
            )?;
            let Some(row) = row else { break };
            next = row.replaces.clone();
            chain.push(row);
        }
        let mut before: Option<Verdict> = None;
        for row in chain.iter().rev() {
            let uid = Uuid::now_v7().to_string();
            let verdict = &row.verdict;
            let created_ms = now_ms;
            let order_ms = self.next_order_ms(now_ms)?;
            let revealed = before.as_ref().map(|before| before.created_ms);
            let again = NewVerdict {
                query: row.query,
                a: verdict.a,
                b: verdict.b,
                decision: verdict.decision,
                note: verdict.note.clone(),
                annotator: annotator.to_owned(),
                blind: row.blind,
                active_ms: row.active_ms,
                created_ms,
                order_ms,
                guideline: row.guideline.clone(),
                confidence: row.confidence,
                cause: row.cause,
                policy: row.policy.clone(),
                role: row.role.clone(),
                inclusion: row.inclusion,
                revealed_ms: row.revealed_ms.map(|ms| revealed.unwrap_or(ms)),
                shown: row.shown.clone(),
                replaces: before.map(|before| before.uid),
                item: None,
                after_reveal: false,
            };
            self.add_verdict_as(&uid, &again)?;
            before = Some(Verdict {
                uid,
                created_ms,
                ..verdict.clone()
            });
        }
        let latest = chain.into_iter().next();
        Ok(latest
            .zip(before)
            .map(|(row, verdict)| StoredVerdict { verdict, ..row }))
    }

    /// Undoes a verdict. Returns whether it was not already undone.
    pub(super) fn add_undo(&self, undo: &VerdictUndo) -> Result<bool> {
        let order_ms = Some(undo.order_ms).filter(|order| *order != undo.created_ms);
        let added = self.change(
            "INSERT INTO undo (uid, verdict, annotator, created_ms, order_ms) VALUES (?1, ?2, ?3,
             ?4, ?5)
             ON CONFLICT DO NOTHING",
            params![
                undo.uid,
                undo.verdict,
                stored_annotator_name(&undo.annotator),
                undo.created_ms,
                order_ms
            ],
        )?;
        Ok(added > 0)
    }

    /// The effective verdicts of a query under the project's rule: at most one per pair, in the
    /// order of the earliest current verdict on each pair.
    pub fn verdicts_in_force(&self, query: QueryKey) -> Result<Vec<Verdict>> {
        Ok(self.people(query)?.in_force())
    }

    /// Each annotator's verdict on each pair of a query, with the project's rule.
    pub fn people(&self, query: QueryKey) -> Result<AnnotatorVerdicts> {
        let said = self.standing_verdicts(Some(query))?;
        let said = said.into_iter().map(|stored| stored.verdict);
        Ok(AnnotatorVerdicts::new(self.final_rule()?, said))
    }

    /// Pairs on which annotators disagree, as pool positions with the smaller one first, for one
    /// query or all.
    pub fn conflicts(&self, query: Option<QueryKey>) -> Result<Vec<(QueryKey, usize, usize)>> {
        let mut said = self.standing_verdicts(query)?;
        // The sort is stable: within a query, they keep the order in which they were given.
        said.sort_by_key(|stored| stored.query);
        let mut conflicts = Vec::new();
        for of_one in said.chunk_by(|one, other| one.query == other.query) {
            let key = of_one[0].query;
            let given = of_one.iter().map(|stored| stored.verdict.clone());
            let people = AnnotatorVerdicts::new(FinalRule::Latest, given);
            let pairs = people.conflicts().into_iter();
            conflicts.extend(pairs.map(|pair| (key, pair.low(), pair.high())));
        }
        Ok(conflicts)
    }

    /// All verdicts that are neither undone nor replaced, earliest first, for one query or all.
    pub fn standing_verdicts(&self, query: Option<QueryKey>) -> Result<Vec<StoredVerdict>> {
        let mut rows = self.verdict_rows(query)?;
        let replaced: HashSet<String> =
            rows.iter().filter_map(|row| row.replaces.clone()).collect();
        rows.retain(|row| !replaced.contains(&row.verdict.uid));
        Ok(rows)
    }

    /// All verdicts that are not undone, earliest first, for one query or all.
    pub fn verdict_rows(&self, query: Option<QueryKey>) -> Result<Vec<StoredVerdict>> {
        self.all(
            &format!(
                "SELECT {COLUMNS} FROM verdict WHERE (?1 IS NULL OR query = ?1) AND {NOT_UNDONE}
                 ORDER BY coalesce(verdict.order_ms, verdict.created_ms), verdict.uid"
            ),
            [query.map(|query| query.0)],
            stored,
        )
    }

    /// All verdicts ever given, including undone ones, earliest first, for one query or all.
    pub fn verdicts_ever(&self, query: Option<QueryKey>) -> Result<Vec<StoredVerdict>> {
        self.all(
            &format!(
                "SELECT {COLUMNS} FROM verdict WHERE (?1 IS NULL OR query = ?1)
                 ORDER BY coalesce(verdict.order_ms, verdict.created_ms), verdict.uid"
            ),
            [query.map(|query| query.0)],
            stored,
        )
    }

    /// All verdicts ever given, earliest first, each with whether it stands: it is not undone.
    pub fn verdicts_with_standing(&self) -> Result<Vec<(StoredVerdict, bool)>> {
        self.all(
            &format!(
                "SELECT {COLUMNS}, {NOT_UNDONE} AS stands FROM verdict
                 ORDER BY coalesce(verdict.order_ms, verdict.created_ms), verdict.uid"
            ),
            [],
            |row| Ok((stored(row)?, row.get("stands")?)),
        )
    }

    /// Marks the numbers of a query as changed.
    pub(crate) fn touch(&self, query: QueryKey) -> Result<()> {
        self.change(
            "UPDATE query SET revision = revision + 1 WHERE id = ?1",
            [query.0],
        )?;
        Ok(())
    }

    /// Everyone who has answered a queue item, for one query or any.
    pub fn queue_annotators(&self, query: Option<QueryKey>) -> Result<Vec<String>> {
        self.all(
            "SELECT DISTINCT annotator FROM verdict
             WHERE shown IS NOT NULL AND (?1 IS NULL OR query = ?1) ORDER BY annotator",
            [query.map(|query| query.0)],
            |row| row.get(0),
        )
    }

    /// All undos of verdicts.
    pub fn verdict_undos(&self) -> Result<Vec<VerdictUndo>> {
        self.all(
            "SELECT uid, verdict, annotator, created_ms, coalesce(order_ms, created_ms) FROM undo",
            [],
            |row| {
                Ok(VerdictUndo {
                    uid: row.get(0)?,
                    verdict: row.get(1)?,
                    annotator: row.get(2)?,
                    created_ms: row.get(3)?,
                    order_ms: row.get(4)?,
                })
            },
        )
    }
}

/// Reads a verdict from a row of [`COLUMNS`].
fn stored(row: &Row<'_>) -> rusqlite::Result<StoredVerdict> {
    Ok(StoredVerdict {
        query: QueryKey(row.get(1)?),
        verdict: Verdict {
            uid: row.get(0)?,
            a: row.get(2)?,
            b: row.get(3)?,
            decision: row.get(4)?,
            note: row.get(5)?,
            annotator: row.get(6)?,
            created_ms: row.get(7)?,
        },
        blind: row.get(8)?,
        active_ms: row.get(9)?,
        confidence: row.get(10)?,
        cause: row.get(11)?,
        policy: row.get(12)?,
        role: row.get(13)?,
        inclusion: row.get(14)?,
        revealed_ms: row.get(15)?,
        shown: row.get(16)?,
        replaces: row.get(17)?,
        order_ms: row.get(18)?,
        guideline: row.get(19)?,
    })
}
