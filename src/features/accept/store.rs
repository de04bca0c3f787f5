//! Acceptances, their battles and their controls. Rows are only added.

use crate::domain::annotator_name::stored_annotator_name;
use crate::domain::corpus::{DocId, QueryId};
use crate::store::{Db, Result};
use rusqlite::params;

/// An acceptance that was started.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredAcceptance {
    /// Globally unique.
    pub uid: String,
    /// The largest share of errors among accepted decisions, in 0..1.
    pub alpha: f64,
    /// The probability with which the share may be larger, in 0..1.
    pub delta: f64,
    /// Random seed of the controls.
    pub seed: u64,
    /// Number of battles in the frame.
    pub battles: usize,
    pub author: String,
    /// Milliseconds since the Unix epoch.
    pub created_ms: i64,
}

/// The judges' decision on a battle of the frame.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredDecision {
    pub better: DocId,
    pub other: DocId,
    /// |gap| / standard error of the gap, from 0; 0 if nothing is decided.
    pub score: f64,
}

/// The battles of a query that had no verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredFrameQuery {
    pub acceptance: String,
    pub query: QueryId,
    /// Hash of the query's votes.
    pub votes: [u8; 32],
    pub decisions: Vec<StoredDecision>,
}

/// A battle that was drawn as a control.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredControl {
    pub acceptance: String,
    /// Its position in the order of the draws, from 0.
    pub place: usize,
    pub query: QueryId,
    pub decision: StoredDecision,
}

const ACCEPTANCE: &str = "uid, alpha, delta, seed, battles, author, created_ms";

impl Db {
    /// Stores an acceptance unless it is known. Returns whether it is new.
    pub fn add_acceptance(&self, new: &StoredAcceptance) -> Result<bool> {
        let added = self.change(
            &format!(
                "INSERT OR IGNORE INTO acceptance ({ACCEPTANCE}) VALUES (?1, ?2, ?3, ?4, ?5, ?6,
                 ?7)"
            ),
            params![
                new.uid,
                new.alpha,
                new.delta,
                new.seed.cast_signed(),
                new.battles,
                stored_annotator_name(&new.author),
                new.created_ms,
            ],
        )?;
        Ok(added > 0)
    }

    pub fn add_acceptance_query(&self, new: &StoredFrameQuery) -> Result<()> {
        let decisions = new.decisions.iter();
        let decisions: Vec<(&str, &str, f64)> = decisions
            .map(|of| (of.better.as_str(), of.other.as_str(), of.score))
            .collect();
        self.change(
            "INSERT OR IGNORE INTO acceptance_query (acceptance, query, votes, battles)
             VALUES (?1, ?2, ?3, ?4)",
            params![
                new.acceptance,
                new.query.as_str(),
                &new.votes[..],
                serde_json::to_string(&decisions)?
            ],
        )?;
        Ok(())
    }

    /// Stores a control. Returns whether it is new: a known place stays as it is.
    pub fn add_acceptance_control(&self, new: &StoredControl) -> Result<bool> {
        let added = self.change(
            "INSERT OR IGNORE INTO acceptance_control (acceptance, place, query, better, other,
             score) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                new.acceptance,
                new.place,
                new.query.as_str(),
                new.decision.better.as_str(),
                new.decision.other.as_str(),
                new.decision.score,
            ],
        )?;
        Ok(added > 0)
    }

    /// All acceptances, the latest first.
    pub fn acceptances(&self) -> Result<Vec<StoredAcceptance>> {
        self.all(
            &format!("SELECT {ACCEPTANCE} FROM acceptance ORDER BY created_ms DESC, uid DESC"),
            [],
            |row| {
                Ok(StoredAcceptance {
                    uid: row.get(0)?,
                    alpha: row.get(1)?,
                    delta: row.get(2)?,
                    seed: row.get::<_, i64>(3)?.cast_unsigned(),
                    battles: row.get(4)?,
                    author: row.get(5)?,
                    created_ms: row.get(6)?,
                })
            },
        )
    }

    /// The frame of an acceptance, by query.
    pub fn acceptance_frame(&self, acceptance: &str) -> Result<Vec<StoredFrameQuery>> {
        let rows: Vec<(String, [u8; 32], String)> = self.all(
            "SELECT query, votes, battles FROM acceptance_query WHERE acceptance = ?1
             ORDER BY query",
            [acceptance],
            |row| row.try_into(),
        )?;
        let mut frame = Vec::with_capacity(rows.len());
        for (query, votes, decisions) in rows {
            let decisions: Vec<(String, String, f64)> = serde_json::from_str(&decisions)?;
            let decision = |(better, other, score)| StoredDecision {
                better: DocId::new(better),
                other: DocId::new(other),
                score,
            };
            frame.push(StoredFrameQuery {
                acceptance: acceptance.to_owned(),
                query: QueryId::new(query),
                votes,
                decisions: decisions.into_iter().map(decision).collect(),
            });
        }
        Ok(frame)
    }

    /// The controls of an acceptance, in the order of the draws.
    pub fn acceptance_controls(&self, acceptance: &str) -> Result<Vec<StoredControl>> {
        self.all(
            "SELECT place, query, better, other, score FROM acceptance_control
             WHERE acceptance = ?1 ORDER BY place",
            [acceptance],
            |row| {
                Ok(StoredControl {
                    acceptance: acceptance.to_owned(),
                    place: row.get(0)?,
                    query: row.get(1)?,
                    decision: StoredDecision {
                        better: row.get(2)?,
                        other: row.get(3)?,
                        score: row.get(4)?,
                    },
                })
            },
        )
    }
}
