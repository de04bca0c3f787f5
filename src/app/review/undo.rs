//! Verdicts and rulings taken back.

use crate::app::error::{AppError, invalid};
use crate::client::now_ms;
use crate::domain::battle::Pair;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::sanitise;
use crate::domain::verdict::Verdict;
use crate::store::rulings::StoredRuling;
use crate::store::verdicts::StoredVerdict;
use crate::store::{Db, Result, Store};

#[derive(Clone, Debug)]
pub struct UndoneVerdict {
    pub verdict: Verdict,
    pub query: QueryId,
    pub documents: (DocId, DocId),
    /// What was taken back and what is in force now, in words.
    pub text: String,
}

/// Takes the annotator's latest verdict back.
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

/// Takes the annotator's latest ruling back.
pub fn undo_ruling(store: &Store, annotator: &str) -> std::result::Result<StoredRuling, AppError> {
    let who = annotator.to_owned();
    let undone = store.write_blocking(move |db| db.undo_ruling(&who, now_ms()))?;
    undone.ok_or_else(|| nothing_by(annotator, "ruling"))
}

fn nothing_by(annotator: &str, what: &str) -> AppError {
    invalid!("no {what} by {:?} to take back", sanitise::line(annotator))
}

/// What was given again, in words.
pub fn redone_text(db: &Db, redone: &StoredVerdict) -> Result<String> {
    let documents = db.documents(redone.query)?;
    let name = |at: usize| {
        let document = documents.get(at);
        document.map_or(String::new(), |document| document.id.to_string())
    };
    let (a, b) = (name(redone.verdict.a), name(redone.verdict.b));
    let words = redone.verdict.decision.words(&a, &b);
    Ok(format!("given again: {words}"))
}

/// What was taken back and what is in force on the pair now, in words.
pub fn undone_text(db: &Db, undone: &StoredVerdict) -> Result<String> {
    let (a, b) = (undone.verdict.a, undone.verdict.b);
    let documents = db.documents(undone.query)?;
    let name = |at: usize| {
        let document = documents.get(at);
        document.map_or(String::new(), |document| document.id.to_string())
    };
    let (name_a, name_b) = (name(a), name(b));
    let decision = undone.verdict.decision;
    let mut text = format!("taken back: {}", decision.words(&name_a, &name_b));
    if decision.score().is_none() {
        text = format!("{text} ({name_a} against {name_b})");
    }
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
            "{text}; in force {again}: {}",
            verdict.decision.words(&name(verdict.a), &name(verdict.b))
        ),
        None => text,
    })
}
