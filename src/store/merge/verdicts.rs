//! Verdicts, assignments and undos, matched by UID, and gold items.

use super::{MatchedQuery, Merger};
use crate::domain::annotator_name::stored_annotator_name;
use crate::domain::verdict::{Decision, GoldItem};
use crate::domain::vote::Outcome;
use crate::store::gold::GoldAdded;
use crate::store::verdicts::{NewVerdict, VerdictUndo};
use crate::store::{Result, StoreError};
use rusqlite::{Connection, params};
use std::collections::{HashMap, HashSet};

impl Merger<'_> {
    /// Copies the annotations of a query.
    pub(crate) fn annotations(&mut self, query: &mut MatchedQuery) -> Result<()> {
        self.assignments(query)?;
        self.verdicts_of(query)?;
        self.gold(query)
    }

    /// Copies the verdicts on a query and their undos.
    pub(crate) fn verdicts_of(&mut self, query: &mut MatchedQuery) -> Result<()> {
        let theirs = self.verdicts(query)?;
        self.undos(query)?;
        self.namesakes(query, &theirs)
    }

    /// Copies the assignments of queues. An item postponed there is postponed here.
    pub(crate) fn assignments(&mut self, query: &mut MatchedQuery) -> Result<()> {
        type AssignmentColumns = (
            String,
            String,
            usize,
            usize,
            String,
            String,
            Option<i64>,
            i64,
            Option<i64>,
        );
        let mut statement = self.from.prepare_cached(
            "SELECT uid, annotator, a, b, policy, draw, drawn_of, shown_ms, later_ms FROM shown
             WHERE query = ?1",
        )?;
        let rows = statement.query_map([query.theirs], |row| row.try_into())?;
        for row in rows {
            let (uid, annotator, a, b, policy, draw, drawn_of, shown_ms, later_ms): AssignmentColumns = row?;
            self.db.change(
                "INSERT INTO shown (uid, annotator, query, a, b, policy, draw, drawn_of, shown_ms,
                 later_ms)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
                 ON CONFLICT (uid) DO UPDATE SET later_ms = excluded.later_ms
                 WHERE shown.later_ms IS NULL AND excluded.later_ms IS NOT NULL",
                params![
                    uid,
                    stored_annotator_name(&annotator),
                    query.ours.0,
                    query.place(a)?,
                    query.place(b)?,
                    policy,
                    draw,
                    drawn_of,
                    shown_ms,
                    later_ms
                ],
            )?;
        }
        Ok(())
    }

    /// Copies verdicts. Each is inserted after the one that it replaces, whatever their clocks say.
    ///
    /// Counts the pairs that a person judged: several rows of one person on a pair, such as a
    /// verdict and its confirmation after the votes were revealed, count once.
    fn verdicts(&mut self, query: &mut MatchedQuery) -> Result<TheirVerdicts> {
        let mut waiting = verdicts(self.from, query)?;
        let mut theirs = TheirVerdicts {
            all: waiting.iter().map(|(uid, _)| uid.clone()).collect(),
            new: HashSet::new(),
        };
        let mut judged = HashSet::new();
        loop {
            let mut later = Vec::new();
            let before = waiting.len();
            for (uid, verdict) in waiting {
                let ready = match &verdict.replaces {
                    None => true,
                    Some(earlier) => {
                        self.exists("SELECT 1 FROM verdict WHERE uid = ?1", [earlier])?
                    }
                };
                if !ready {
                    later.push((uid, verdict));
                } else if self.db.add_verdict_as(&uid, &verdict)? {
                    let (a, b) = (verdict.a.min(verdict.b), verdict.a.max(verdict.b));
                    judged.insert((verdict.annotator, a, b));
                    query.changed = true;
                    theirs.new.insert(uid);
                }
            }
            if later.is_empty() {
                self.merged.verdicts += judged.len();
                return Ok(theirs);
            }
            if later.len() == before {
                let (uid, _) = &later[0];
                return Err(StoreError::Corrupt(format!(
                    "verdict {uid} stands for one that is not there"
                )));
            }
            waiting = later;
        }
    }

    /// Counts pairs on which the same name gave different verdicts in the two files independently.
    /// These may be two people whose disagreement would be lost.
    fn namesakes(&mut self, query: &MatchedQuery, theirs: &TheirVerdicts) -> Result<()> {
        if theirs.new.is_empty() {
            return Ok(());
        }
        let mut statement = self.db.connection.prepare_cached(
            "SELECT uid, min(a, b), max(a, b), a, decision, annotator FROM verdict
             WHERE query = ?1 AND NOT EXISTS (SELECT 1 FROM undo WHERE verdict = uid)
               AND NOT EXISTS (SELECT 1 FROM verdict AS later WHERE later.replaces = verdict.uid)
             ORDER BY coalesce(order_ms, created_ms), uid",
        )?;
        type Columns = (String, usize, usize, usize, Decision, String);
        let mut latest: HashMap<(String, usize, usize), [Option<Outcome>; 2]> = HashMap::new();
        for row in statement.query_map([query.ours.0], |row| row.try_into())? {
            let (uid, low, high, first, decision, annotator): Columns = row?;
            let decision = if first == low {
                decision
            } else {
                decision.flipped()
            };
            let side = match (theirs.new.contains(&uid), theirs.all.contains(&uid)) {
                (true, _) => 1,
                (false, false) => 0,
                (false, true) => continue,
            };
            latest.entry((annotator, low, high)).or_default()[side] = decision.direction();
        }
        for ((annotator, ..), sides) in latest {
            if let [Some(ours), Some(theirs)] = sides
                && ours != theirs
            {
                *self.merged.namesakes.entry(annotator).or_default() += 1;
            }
        }
        Ok(())
    }

    fn undos(&mut self, query: &mut MatchedQuery) -> Result<()> {
        let mut statement = self.from.prepare_cached(
            "SELECT undo.uid, undo.verdict, undo.annotator, undo.created_ms,
             coalesce(undo.order_ms, undo.created_ms)
             FROM undo JOIN verdict ON verdict.uid = undo.verdict WHERE verdict.query = ?1",
        )?;
        let rows = statement.query_map([query.theirs], |row| row.try_into())?;
        for row in rows {
            let (uid, verdict, annotator, created_ms, order_ms): (
                String,
                String,
                String,
                i64,
                i64,
            ) = row?;
            let undo = VerdictUndo {
                uid,
                verdict,
                annotator,
                created_ms,
                order_ms,
            };
            if self.db.add_undo(&undo)? {
                self.merged.undos += 1;
                query.changed = true;
            }
        }
        Ok(())
    }

    pub(crate) fn gold(&mut self, query: &mut MatchedQuery) -> Result<()> {
        let mut statement = self
            .from
            .prepare_cached("SELECT a, b, decision, note FROM gold WHERE query = ?1")?;
        let rows = statement.query_map([query.theirs], |row| row.try_into())?;
        for row in rows {
            let (a, b, decision, note): (usize, usize, Decision, Option<String>) = row?;
            let item = GoldItem {
                a: query.place(a)?,
                b: query.place(b)?,
                decision,
                note,
            };
            match self.db.add_gold(query.ours, &item, false)? {
                GoldAdded::New => self.merged.gold += 1,
                GoldAdded::Contradicts(_) => self.merged.gold_clashes += 1,
                GoldAdded::Same | GoldAdded::Replaced => {}
            }
        }
        Ok(())
    }
}

/// The verdicts of the other file on a query, by their unique names.
struct TheirVerdicts {
    all: HashSet<String>,
    /// Those that were missing here.
    new: HashSet<String>,
}

/// The verdicts of the other file on a query, translated to this project, earliest first.
fn verdicts(from: &Connection, query: &MatchedQuery) -> Result<Vec<(String, NewVerdict)>> {
    let mut statement = from.prepare_cached(
        "SELECT uid, a, b, decision, note, annotator, blind, active_ms, created_ms, confidence,
         cause, policy, role,
             inclusion, revealed_ms, shown, replaces, order_ms, guideline
         FROM verdict WHERE query = ?1 ORDER BY coalesce(order_ms, created_ms), uid",
    )?;
    let mut rows = statement.query([query.theirs])?;
    let mut verdicts = Vec::new();
    while let Some(row) = rows.next()? {
        let verdict = NewVerdict {
            query: query.ours,
            a: query.place(row.get("a")?)?,
            b: query.place(row.get("b")?)?,
            decision: row.get("decision")?,
            note: row.get("note")?,
            annotator: row.get("annotator")?,
            blind: row.get("blind")?,
            active_ms: row.get("active_ms")?,
            created_ms: row.get("created_ms")?,
            confidence: row.get("confidence")?,
            cause: row.get("cause")?,
            policy: row.get("policy")?,
            role: row.get("role")?,
            inclusion: row.get("inclusion")?,
            revealed_ms: row.get("revealed_ms")?,
            shown: row.get("shown")?,
            replaces: row.get("replaces")?,
            order_ms: row.get("order_ms")?,
            guideline: row.get("guideline")?,
            ..NewVerdict::default()
        };
        verdicts.push((row.get("uid")?, verdict));
    }
    Ok(verdicts)
}
