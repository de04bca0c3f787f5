//! Undoes verdicts and rulings.

use crate::app::error::{AppError, invalid};
use crate::app::text_format::moment_words;
use crate::client::now_ms;
use crate::domain::adjudication::Ruling;
use crate::domain::battle::Pair;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::sanitize;
use crate::domain::verdict::Verdict;
use crate::store::corpus::QueryInfo;
use crate::store::rulings::StoredRuling;
use crate::store::verdicts::StoredVerdict;
use crate::store::{Db, Result, Store};

#[derive(Clone, Debug)]
pub struct UndoneVerdict {
    pub verdict: Verdict,
    pub query: QueryId,
    pub documents: (DocId, DocId),
    /// Describes what was undone and what is effective now.
    pub text: String,
}

/// How far an undo may go back without confirmation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UndoLimit {
    /// Decisions made before this time, in milliseconds since the Unix epoch, are only named.
    pub since_ms: i64,
    /// The identifier of an earlier decision that has been named and may be undone.
    pub named: Option<String>,
}

impl UndoLimit {
    fn allows(&self, uid: &str, created_ms: i64) -> bool {
        created_ms >= self.since_ms || self.named.as_deref() == Some(uid)
    }
}

/// Result of an undo.
#[derive(Clone, Debug, PartialEq)]
pub enum Undo<T> {
    /// There is nothing left to undo.
    Nothing,
    /// The next decision is beyond the limit and was not undone.
    Beyond {
        uid: String,
        /// Describes the decision, its subject and its time.
        words: String,
    },
    TakenBack(T),
}

/// Undoes the annotator's latest verdict, if the limit allows it. Returns the verdict, its query,
/// and a description of what was undone, when it was given, and which verdict on the pair is
/// effective now.
pub fn undo_verdict_within(
    db: &Db,
    annotator: &str,
    limit: &UndoLimit,
    now_ms: i64,
) -> Result<Undo<(StoredVerdict, QueryInfo, String)>> {
    let Some(latest) = db.latest_verdict(annotator)? else {
        return Ok(Undo::Nothing);
    };
    let given = moment_words(latest.verdict.created_ms);
    let query = db.query(latest.query)?;
    if !limit.allows(&latest.verdict.uid, latest.verdict.created_ms) {
        let words = format!("query {}: {}, given {given}", query.id, words(db, &latest)?);
        let uid = latest.verdict.uid;
        return Ok(Undo::Beyond { uid, words });
    }
    Ok(match db.undo_verdict(annotator, now_ms)? {
        None => Undo::Nothing,
        Some(undone) => {
            let words = undone_text(db, &undone)?;
            Undo::TakenBack((undone, query, words))
        }
    })
}

/// As [`undo_verdict_within`] for rulings, without the description.
pub fn undo_ruling_within(
    db: &Db,
    annotator: &str,
    limit: &UndoLimit,
    now_ms: i64,
) -> Result<Undo<Box<StoredRuling>>> {
    let Some(StoredRuling { ruling, .. }) = db.latest_ruling(annotator)? else {
        return Ok(Undo::Nothing);
    };
    if !limit.allows(&ruling.uid, ruling.created_ms) {
        return Ok(Undo::Beyond {
            words: ruling_words(&ruling),
            uid: ruling.uid,
        });
    }
    Ok(db
        .undo_ruling(annotator, now_ms)?
        .map(Box::new)
        .map_or(Undo::Nothing, Undo::TakenBack))
}

/// Describes a ruling, its document and its time.
pub fn ruling_words(ruling: &Ruling) -> String {
    format!(
        "query {}, document {}: {}, given {}",
        ruling.query,
        ruling.document,
        ruling.finding.words(),
        moment_words(ruling.created_ms)
    )
}

/// Undoes the annotator's latest verdict.
pub fn undo_verdict(
    store: &Store,
    annotator: &str,
) -> std::result::Result<UndoneVerdict, AppError> {
    let who = annotator.to_owned();
    let undone = store.write_blocking(move |db| {
        let Some(undone) = db.undo_verdict(&who, now_ms())? else {
            return Ok(None);
        };
        let text = undone_text(db, &undone)?;
        let documents = db.documents(undone.query)?;
        let verdict = undone.verdict;
        let id = |at: usize| documents[at].id.clone();
        Ok(Some(UndoneVerdict {
            query: db.query(undone.query)?.id,
            documents: (id(verdict.a), id(verdict.b)),
            verdict,
            text,
        }))
    })?;
    undone.ok_or_else(|| nothing_by(annotator, "verdict"))
}

/// Undoes the annotator's latest ruling.
pub fn undo_ruling(store: &Store, annotator: &str) -> std::result::Result<StoredRuling, AppError> {
    let who = annotator.to_owned();
    store
        .write_blocking(move |db| db.undo_ruling(&who, now_ms()))?
        .ok_or_else(|| nothing_by(annotator, "ruling"))
}

fn nothing_by(annotator: &str, what: &str) -> AppError {
    invalid!("no {what} by {:?} to undo", sanitize::line(annotator))
}

/// Describes a verdict that was redone.
pub fn redone_text(db: &Db, redone: &StoredVerdict) -> Result<String> {
    Ok(format!("redone: {}", words(db, redone)?))
}

/// Describes a verdict, naming both documents.
fn words(db: &Db, stored: &StoredVerdict) -> Result<String> {
    let documents = db.documents(stored.query)?;
    let name = |at: usize| {
        let document = documents.get(at);
        document.map_or(String::new(), |document| document.id.to_string())
    };
    let (a, b) = (name(stored.verdict.a), name(stored.verdict.b));
    let words = stored.verdict.decision.words(&a, &b);
    Ok(match stored.verdict.decision.score() {
        Some(_) => words,
        None => format!("{words} ({a} against {b})"),
    })
}

/// Describes what was undone and which verdict on the pair is effective now.
pub fn undone_text(db: &Db, undone: &StoredVerdict) -> Result<String> {
    let (a, b) = (undone.verdict.a, undone.verdict.b);
    let documents = db.documents(undone.query)?;
    let name = |at: usize| {
        let document = documents.get(at);
        document.map_or(String::new(), |document| document.id.to_string())
    };
    let given = moment_words(undone.verdict.created_ms);
    let text = format!("undone: {}, given {given}", words(db, undone)?);
    let people = db.people(undone.query)?;
    let standing = Pair::new(a, b).map_or_else(Vec::new, |pair| people.on(pair));
    let own = |verdict: &&Verdict| verdict.annotator == undone.verdict.annotator;
    let again = if standing.iter().all(own) {
        "again"
    } else {
        "now"
    };
    Ok(match people.rule.choose(&standing) {
        Some(verdict) => format!(
            "{text}; the verdict that counts {again}: {}",
            verdict.decision.words(&name(verdict.a), &name(verdict.b))
        ),
        None => text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::adjudication::Finding;
    use crate::domain::verdict::Decision;
    use crate::store::rulings::{NewRuling, RulingContext};
    use crate::store::verdicts::NewVerdict;
    use crate::suites::fixtures::pool;

    #[test]
    fn what_was_given_before_the_limit_is_named_and_not_taken_back() {
        let db = Db::scratch().unwrap();
        let query = db.add_pool(&pool(1, 3), "set").unwrap().key();
        for (decision, created_ms) in [(Decision::CannotTell, 1_000), (Decision::A, 9_000)] {
            db.add_verdict(&NewVerdict {
                created_ms,
                ..NewVerdict::open(query, 0, 1, decision, "ada")
            })
            .unwrap();
        }
        let undo = |named: Option<String>| {
            let limit = UndoLimit {
                since_ms: 9_000,
                named,
            };
            undo_verdict_within(&db, "ada", &limit, 9_500).unwrap()
        };
        let Undo::TakenBack((latest, info, words)) = undo(None) else {
            panic!("it was given in time");
        };
        assert_eq!((latest.verdict.decision, info.key), (Decision::A, query));
        assert!(words.contains("given 1970-01-01 00:00 UTC"), "{words}");
        let Undo::Beyond { uid, words } = undo(None) else {
            panic!("it is older");
        };
        assert!(
            words.contains(info.id.as_str()) && words.contains("against"),
            "{words}"
        );
        assert!(matches!(
            undo(Some("another".to_owned())),
            Undo::Beyond { .. }
        ));
        assert_eq!(db.standing_verdicts(None).unwrap().len(), 1);
        assert!(matches!(undo(Some(uid)), Undo::TakenBack(_)));
        assert_eq!(undo(None), Undo::Nothing);
    }

    #[test]
    fn an_older_ruling_is_named_first_too() {
        let db = Db::scratch().unwrap();
        let pool = pool(1, 3);
        let query = db.add_pool(&pool, "set").unwrap().key();
        db.add_ruling(&NewRuling {
            query,
            document: pool.documents[0].id.clone(),
            finding: Finding::Not,
            fault: None,
            note: None,
            annotator: "ada".to_owned(),
            created_ms: 1_000,
            about: RulingContext::default(),
            after_reveal: false,
        })
        .unwrap();
        let undo = |named| {
            let limit = UndoLimit {
                since_ms: 2_000,
                named,
            };
            undo_ruling_within(&db, "ada", &limit, 3_000).unwrap()
        };
        let Undo::Beyond { uid, words } = undo(None) else {
            panic!("it is older");
        };
        assert!(
            words.contains("not relevant, given 1970-01-01 00:00 UTC"),
            "{words}"
        );
        assert!(matches!(undo(Some(uid)), Undo::TakenBack(_)));
        assert_eq!(undo(None), Undo::Nothing);
    }
}
