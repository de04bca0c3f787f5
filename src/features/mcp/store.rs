//! Proposed verdicts. Rows are only added.

use crate::domain::annotator_name::stored_annotator_name;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::verdict::Decision;
use crate::store::{Db, Result};
use rusqlite::{Row, params};

/// A verdict that a program proposed.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// Globally unique.
    pub uid: String,
    pub query: QueryId,
    pub a: DocId,
    pub b: DocId,
    /// About document A against document B.
    pub decision: Decision,
    pub reason: String,
    /// The name that the program gives itself.
    pub author: String,
    /// Milliseconds since the Unix epoch.
    pub created_ms: i64,
}

const COLUMNS: &str = "uid, query, a, b, decision, reason, author, created_ms";

impl Db {
    /// Stores a proposal unless it is known. Returns whether it is new.
    pub fn add_proposal(&self, new: &Proposal) -> Result<bool> {
        let added = self.change(
            &format!(
                "INSERT OR IGNORE INTO proposal ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
            ),
            params![
                new.uid,
                new.query.as_str(),
                new.a.as_str(),
                new.b.as_str(),
                new.decision.name(),
                new.reason,
                stored_annotator_name(&new.author),
                new.created_ms,
            ],
        )?;
        Ok(added > 0)
    }

    /// All proposals, earliest first.
    pub fn proposals(&self) -> Result<Vec<Proposal>> {
        self.all(
            &format!("SELECT {COLUMNS} FROM proposal ORDER BY created_ms, uid"),
            [],
            proposal,
        )
    }

    /// The proposals for a query, earliest first.
    pub fn proposals_on(&self, query: &QueryId) -> Result<Vec<Proposal>> {
        self.all(
            &format!("SELECT {COLUMNS} FROM proposal WHERE query = ?1 ORDER BY created_ms, uid"),
            [query.as_str()],
            proposal,
        )
    }
}

fn proposal(row: &Row<'_>) -> rusqlite::Result<Proposal> {
    let name = |at: usize| row.get::<_, String>(at);
    Ok(Proposal {
        uid: row.get(0)?,
        query: QueryId::new(name(1)?),
        a: DocId::new(name(2)?),
        b: DocId::new(name(3)?),
        decision: row.get(4)?,
        reason: row.get(5)?,
        author: row.get(6)?,
        created_ms: row.get(7)?,
    })
}
