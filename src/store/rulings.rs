//! Rulings on labels. Rows are only appended, including for undo.

use super::corpus::QueryKey;
use super::drafts::DecisionSubject;
use super::{Db, Result};
use crate::domain::adjudication::{DisagreementCause, Finding, Ruling, RulingGrades};
use crate::domain::annotator_name::stored_annotator_name;
use crate::domain::corpus::DocId;
use rusqlite::{Row, params};
use std::collections::HashSet;
use uuid::Uuid;

#[derive(Clone, Debug, PartialEq)]
pub struct NewRuling {
    pub query: QueryKey,
    pub document: DocId,
    pub finding: Finding,
    /// Why pick and label differ.
    pub fault: Option<DisagreementCause>,
    /// The reason in the person's words.
    pub note: Option<String>,
    pub annotator: String,
    /// In milliseconds since the Unix epoch.
    pub created_ms: i64,
    /// The circumstances of the ruling.
    pub about: RulingContext,
    /// Whether label and picks were revealed after the annotator's earlier ruling on the document,
    /// which this one replaces.
    pub after_reveal: bool,
}

/// The circumstances of a ruling.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RulingContext {
    /// Whether label and picks were hidden.
    pub blind: bool,
    /// Viewing time in milliseconds.
    pub active_ms: Option<i64>,
    /// The label at that time; `None` for an unjudged document.
    pub grade: Option<i32>,
    /// Number of answers that contradicted the label.
    pub against: usize,
    /// Number of valid answers about the pool.
    pub answers: usize,
    /// Number of disagreements from which a control was randomly drawn; 0 if it was not drawn at
    /// random.
    pub control_of: Option<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct StoredRuling {
    pub query: QueryKey,
    pub ruling: Ruling,
    pub about: RulingContext,
    /// When label and picks were revealed, in milliseconds since the Unix epoch.
    pub revealed_ms: Option<i64>,
    /// The ruling that this one replaces.
    pub replaces: Option<String>,
    /// Sort key among rulings: its time, unless a clock was wrong.
    pub order_ms: i64,
    /// Hash of the guideline at that time.
    pub guideline: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RulingUndo {
    /// Globally unique.
    pub uid: String,
    pub ruling: String,
    pub annotator: String,
    /// In milliseconds since the Unix epoch.
    pub created_ms: i64,
    /// Sort key among rulings: its time, unless a clock was wrong.
    pub order_ms: i64,
}

const COLUMNS: &str = "ruling.uid, ruling.query, query.name, ruling.document, finding, fault, ruling.note, ruling.annotator,
    ruling.created_ms, blind, active_ms, grade, against, answers, draw, drawn_of, revealed_ms, replaces, relevant,
    coalesce(ruling.order_ms, ruling.created_ms), guideline";
const FROM: &str = "FROM ruling JOIN query ON query.id = ruling.query";
const NOT_UNDONE: &str =
    "NOT EXISTS (SELECT 1 FROM ruling_undo WHERE ruling_undo.ruling = ruling.uid)";

impl Db {
    /// Stores a ruling and returns its identifier.
    pub fn add_ruling(&self, new: &NewRuling) -> Result<String> {
        let uid = Uuid::now_v7().to_string();
        let mut row = StoredRuling {
            query: new.query,
            ruling: Ruling {
                uid: uid.clone(),
                query: self.query(new.query)?.id,
                document: new.document.clone(),
                finding: new.finding,
                relevant: self.grade_of_relevant(new.query)?,
                fault: new.fault,
                note: new.note.clone(),
                annotator: new.annotator.clone(),
                created_ms: new.created_ms,
            },
            about: new.about.clone(),
            revealed_ms: None,
            replaces: None,
            order_ms: self.next_ruling_order_ms(new.created_ms)?,
            guideline: self.guideline_hash()?,
        };
        self.find_document(new.query, new.document.as_str())?;
        self.end_postponement(&new.annotator, new.query, &new.document)?;
        if !new.after_reveal {
            let subject = DecisionSubject::Document(new.query, new.document.clone());
            let draft = self.take_draft(&new.annotator, &subject)?;
            row.ruling.note = row.ruling.note.or(draft);
        }
        // Anyone who has ruled on the document has seen its label, even if the ruling was undone.
        row.about.blind &= !self.has_ruled(new)?;
        if new.after_reveal {
            let mut own = self.rulings_on(new.query, &new.document)?;
            own.retain(|known| known.ruling.annotator == new.annotator);
            if let Some(before) = own.pop() {
                row.revealed_ms = before.revealed_ms.or(Some(before.ruling.created_ms));
                row.about.control_of = before.about.control_of;
                // Adding a reason later does not change whether the ruling was blind.
                row.about.blind = before.about.blind && before.ruling.finding == new.finding;
                row.about.active_ms = match (before.about.active_ms, new.about.active_ms) {
                    (None, None) => None,
                    (one, other) => Some(one.unwrap_or(0) + other.unwrap_or(0)),
                };
                row.replaces = Some(before.ruling.uid);
            }
        }
        self.add_ruling_as(&row)?;
        Ok(uid)
    }

    /// Whether the annotator has ruled on the document before.
    fn has_ruled(&self, new: &NewRuling) -> Result<bool> {
        let mut statement = self.connection.prepare_cached(
            "SELECT 1 FROM ruling WHERE query = ?1 AND document = ?2 AND annotator = ?3",
        )?;
        Ok(statement.exists(params![new.query.0, new.document.as_str(), new.annotator])?)
    }

    /// The grade that *relevant* stands for in the labels of the query's dataset.
    fn grade_of_relevant(&self, query: QueryKey) -> Result<i32> {
        let highest = self.value(
            "SELECT max(label.grade) FROM label JOIN query ON query.name = label.query
             WHERE query.dataset = (SELECT dataset FROM query WHERE id = ?1)",
            [query.0],
        )?;
        Ok(RulingGrades::of(highest).relevant)
    }

    /// The sort key of the next ruling or undo: its time, or right after the latest one in this
    /// project.
    fn next_ruling_order_ms(&self, now_ms: i64) -> Result<i64> {
        let latest: Option<i64> = self.value(
            "SELECT max(at) FROM (SELECT max(coalesce(order_ms, created_ms)) AS at FROM ruling
             UNION ALL SELECT max(coalesce(order_ms, created_ms)) FROM ruling_undo)",
            [],
        )?;
        Ok(latest.map_or(now_ms, |latest| now_ms.max(latest.saturating_add(1))))
    }

    /// Stores a ruling under the identifier that it came with. Returns whether it was new.
    pub fn add_ruling_as(&self, row: &StoredRuling) -> Result<bool> {
        let (ruling, about) = (&row.ruling, &row.about);
        let draw = about.control_of.map(|of| match of {
            0 => "priority",
            _ => "control",
        });
        let added = self.change(
            "INSERT INTO ruling (uid, query, document, finding, fault, note, annotator, created_ms,
             blind, active_ms,
                 grade, against, answers, draw, drawn_of, revealed_ms, replaces, relevant,
                 order_ms, guideline)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
             ?18, ?19, ?20)
             ON CONFLICT (uid) DO NOTHING",
            params![
                ruling.uid,
                row.query.0,
                ruling.document.as_str(),
                ruling.finding.name(),
                ruling.fault.map(DisagreementCause::name),
                ruling.note,
                stored_annotator_name(&ruling.annotator),
                ruling.created_ms,
                about.blind,
                about.active_ms,
                about.grade,
                about.against,
                about.answers,
                draw,
                about.control_of.filter(|of| *of > 0),
                row.revealed_ms,
                row.replaces,
                ruling.relevant,
                Some(row.order_ms).filter(|order| *order != ruling.created_ms),
                row.guideline,
            ],
        )?;
        Ok(added > 0)
    }

    /// The annotator's latest ruling that is not undone.
    pub fn latest_ruling(&self, annotator: &str) -> Result<Option<StoredRuling>> {
        self.maybe(
            &format!(
                "SELECT {COLUMNS} {FROM} WHERE ruling.annotator = ?1 AND {NOT_UNDONE}
                 ORDER BY coalesce(ruling.order_ms, ruling.created_ms) DESC, ruling.uid DESC LIMIT 1"
            ),
            [annotator],
            stored,
        )
    }

    /// Undoes the annotator's latest ruling, together with those that it replaces, and returns it;
    /// `None` if there is none.
    pub fn undo_ruling(&self, annotator: &str, created_ms: i64) -> Result<Option<StoredRuling>> {
        let Some(latest) = self.latest_ruling(annotator)? else {
            return Ok(None);
        };
        let order_ms = self.next_ruling_order_ms(created_ms)?;
        let mut back = Some(latest.ruling.uid.clone());
        while let Some(ruling) = back {
            let undo = RulingUndo {
                uid: Uuid::now_v7().to_string(),
                ruling: ruling.clone(),
                annotator: annotator.to_owned(),
                created_ms,
                order_ms,
            };
            if !self.add_ruling_undo(&undo)? {
                break;
            }
            back = self.value("SELECT replaces FROM ruling WHERE uid = ?1", [&ruling])?;
        }
        Ok(Some(latest))
    }

    /// Redoes an undone ruling of the annotator, together with those that it replaces, as new rows;
    /// `None` if there is no such ruling or it was not undone.
    pub fn redo_ruling(
        &self,
        annotator: &str,
        uid: &str,
        now_ms: i64,
    ) -> Result<Option<StoredRuling>> {
        let mut chain = Vec::new();
        let mut next = Some(uid.to_owned());
        while let Some(uid) = next {
            let row = self.maybe(
                &format!(
                    "SELECT {COLUMNS} {FROM}
                     WHERE ruling.uid = ?1 AND ruling.annotator = ?2 AND NOT ({NOT_UNDONE})"
                ),
                [&uid, annotator],
                stored,
            )?;
            let Some(row) = row else { break };
            next = row.replaces.clone();
            chain.push(row);
        }
        let mut before: Option<StoredRuling> = None;
        for row in chain.into_iter().rev() {
            let again = StoredRuling {
                ruling: Ruling {
                    uid: Uuid::now_v7().to_string(),
                    created_ms: now_ms,
                    ..row.ruling
                },
                order_ms: self.next_ruling_order_ms(now_ms)?,
                revealed_ms: match (&before, row.revealed_ms) {
                    (Some(before), Some(_)) => Some(before.ruling.created_ms),
                    (_, revealed) => revealed,
                },
                replaces: before.map(|before| before.ruling.uid),
                ..row
            };
            self.add_ruling_as(&again)?;
            before = Some(again);
        }
        Ok(before)
    }

    /// Undoes a ruling. Returns whether it was not already undone.
    pub(crate) fn add_ruling_undo(&self, undo: &RulingUndo) -> Result<bool> {
        let added = self.change(
            "INSERT INTO ruling_undo (uid, ruling, annotator, created_ms, order_ms) VALUES (?1, ?2,
             ?3, ?4, ?5)
             ON CONFLICT DO NOTHING",
            params![
                undo.uid,
                undo.ruling,
                stored_annotator_name(&undo.annotator),
                undo.created_ms,
                Some(undo.order_ms).filter(|order| *order != undo.created_ms),
            ],
        )?;
        Ok(added > 0)
    }

    /// All undos of rulings, earliest first.
    pub fn ruling_undos(&self) -> Result<Vec<RulingUndo>> {
        self.all(
            "SELECT uid, ruling, annotator, created_ms, coalesce(order_ms, created_ms) AS at
             FROM ruling_undo
             ORDER BY at, uid",
            [],
            |row| {
                Ok(RulingUndo {
                    uid: row.get(0)?,
                    ruling: row.get(1)?,
                    annotator: row.get(2)?,
                    created_ms: row.get(3)?,
                    order_ms: row.get(4)?,
                })
            },
        )
    }

    /// Each person's current ruling on each document, earliest first.
    pub fn standing_rulings(&self) -> Result<Vec<StoredRuling>> {
        let rows = self.ruling_rows(&format!("WHERE {NOT_UNDONE}"), [])?;
        Ok(latest_of_each(rows))
    }

    /// Each person's current ruling on one document, earliest first.
    pub fn rulings_on(&self, query: QueryKey, document: &DocId) -> Result<Vec<StoredRuling>> {
        let rows = self.ruling_rows(
            &format!("WHERE ruling.query = ?1 AND ruling.document = ?2 AND {NOT_UNDONE}"),
            params![query.0, document.as_str()],
        )?;
        Ok(latest_of_each(rows))
    }

    /// All rulings ever made, including undone ones, earliest first.
    pub fn rulings_ever(&self) -> Result<Vec<StoredRuling>> {
        self.ruling_rows("", [])
    }

    fn ruling_rows(
        &self,
        condition: &str,
        values: impl rusqlite::Params,
    ) -> Result<Vec<StoredRuling>> {
        self.all(
            &format!(
                "SELECT {COLUMNS} {FROM} {condition} ORDER BY coalesce(ruling.order_ms,
                      ruling.created_ms), ruling.uid"
            ),
            values,
            stored,
        )
    }

    /// Whether a ruling with this identifier was ever made.
    pub(crate) fn has_ruling(&self, uid: &str) -> Result<bool> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT 1 FROM ruling WHERE uid = ?1")?;
        Ok(statement.exists([uid])?)
    }
}

/// The latest ruling of each person on each document; replaced rulings never count.
fn latest_of_each(mut rows: Vec<StoredRuling>) -> Vec<StoredRuling> {
    let replaced: HashSet<String> = rows.iter().filter_map(|row| row.replaces.clone()).collect();
    let mut seen: HashSet<(QueryKey, DocId, String)> = HashSet::new();
    rows.reverse();
    rows.retain(|row| {
        let ruling = &row.ruling;
        let of = (row.query, ruling.document.clone(), ruling.annotator.clone());
        !replaced.contains(&ruling.uid) && seen.insert(of)
    });
    rows.reverse();
    rows
}

/// Reads a ruling from a row of [`COLUMNS`].
fn stored(row: &Row<'_>) -> rusqlite::Result<StoredRuling> {
    let draw: Option<String> = row.get(14)?;
    let of: Option<usize> = row.get(15)?;
    Ok(StoredRuling {
        query: QueryKey(row.get(1)?),
        ruling: Ruling {
            uid: row.get(0)?,
            query: row.get(2)?,
            document: row.get(3)?,
            finding: row.get(4)?,
            relevant: row.get(18)?,
            fault: row.get(5)?,
            note: row.get(6)?,
            annotator: row.get(7)?,
            created_ms: row.get(8)?,
        },
        about: RulingContext {
            blind: row.get(9)?,
            active_ms: row.get(10)?,
            grade: row.get(11)?,
            against: row.get(12)?,
            answers: row.get(13)?,
            control_of: draw.map(|_| of.unwrap_or(0)),
        },
        revealed_ms: row.get(16)?,
        replaces: row.get(17)?,
        order_ms: row.get(19)?,
        guideline: row.get(20)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::labels::tests::pool;

    fn project() -> (Db, QueryKey) {
        let db = Db::scratch().unwrap();
        let query = db.add_pool(&pool(&["{}"]), "set").unwrap().key();
        (db, query)
    }

    /// Ada rules on the only document; returns her current ruling.
    fn rule(db: &Db, query: QueryKey, finding: Finding, given: NewRuling) -> StoredRuling {
        db.add_ruling(&NewRuling { finding, ..given }).unwrap();
        let mut standing = db.rulings_on(query, &DocId::new("0")).unwrap();
        standing.pop().unwrap()
    }

    fn given(query: QueryKey, created_ms: i64) -> NewRuling {
        NewRuling {
            query,
            document: DocId::new("0"),
            finding: Finding::Relevant,
            fault: None,
            note: None,
            annotator: "ada".to_owned(),
            created_ms,
            about: RulingContext::default(),
            after_reveal: false,
        }
    }

    #[test]
    fn a_ruling_is_blind_until_its_label_has_been_seen() {
        let (db, query) = project();
        let rule = |finding, fault, after_reveal: bool, active_ms| {
            let about = RulingContext {
                blind: !after_reveal,
                active_ms: Some(active_ms),
                ..RulingContext::default()
            };
            let given = NewRuling {
                fault,
                about,
                after_reveal,
                ..given(query, 1)
            };
            rule(&db, query, finding, given)
        };
        assert!(rule(Finding::Relevant, None, false, 5).about.blind);
        // Adding a reason keeps it blind; another finding does not.
        let wrong = Some(DisagreementCause::JudgeWrong);
        let reasoned = rule(Finding::Relevant, wrong, true, 2);
        let about = &reasoned.about;
        assert_eq!(
            (about.blind, about.active_ms, reasoned.revealed_ms),
            (true, Some(7), Some(1))
        );
        assert_eq!(db.standing_rulings().unwrap(), [reasoned], "one for both");
        assert!(!rule(Finding::Not, None, true, 1).about.blind);
        // It is also not blind after everything has been undone.
        assert!(db.undo_ruling("ada", 2).unwrap().is_some());
        assert_eq!(db.standing_rulings().unwrap(), []);
        assert!(!rule(Finding::Relevant, None, false, 1).about.blind);
    }

    #[test]
    fn a_clock_that_was_set_back_changes_no_order_of_rulings() {
        let (db, query) = project();
        let rule = |finding, created_ms| rule(&db, query, finding, given(query, created_ms)).ruling;
        assert_eq!(rule(Finding::Relevant, 1_000).finding, Finding::Relevant);
        let later = rule(Finding::Not, 10);
        assert_eq!((later.finding, later.created_ms), (Finding::Not, 10));
        let undo = || db.undo_ruling("ada", 5).unwrap();
        assert_eq!(undo().unwrap().ruling.finding, Finding::Not);
        assert_eq!(undo().unwrap().ruling.finding, Finding::Relevant);
        let undone = db.ruling_undos().unwrap();
        let times: Vec<i64> = undone.iter().map(|undo| undo.created_ms).collect();
        assert_eq!(times, [5, 5]);
        let redo = |uid: &str| db.redo_ruling("ada", uid, 6).unwrap();
        let again = redo(&undone[0].ruling).unwrap();
        assert_eq!(again.ruling.finding, Finding::Not);
        assert_ne!(again.ruling.uid, undone[0].ruling, "a row of its own");
        assert_eq!(
            db.rulings_on(query, &again.ruling.document).unwrap().len(),
            1
        );
        assert!(redo(&again.ruling.uid).is_none(), "it stands");
        assert_eq!(undo().unwrap().ruling.finding, Finding::Not);
    }
}
