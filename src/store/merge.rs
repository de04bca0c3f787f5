//! Uniting two project files. Rows are matched by what they are about (query and document by name, battle by pair and
//! game, judge by everything that makes it one) or by their globally unique names, so that a merge is a union and can be
//! repeated. The other file is never written to.

mod corpus;
mod labels;
mod ledger;
mod snapshot;
mod verdicts;
mod votes;

pub use snapshot::Snapshot;

use super::corpus::QueryKey;
use super::judges::EnsembleId;
use super::{Db, Result, StoreError};
use crate::domain::vote::JudgeId;
use crate::judge::JudgeSpec;
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::HashMap;

/// What a merge did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MergeCounts {
    /// Queries that were new.
    pub queries_added: usize,
    /// Documents that were new, those of new queries included.
    pub documents_added: usize,
    /// Battles that were new.
    pub battles: usize,
    /// Votes that were new.
    pub votes: usize,
    /// Votes left out because the same judge has voted differently on the same battle.
    pub vote_clashes: usize,
    /// Failed calls that were new.
    pub failures: usize,
    /// What the new votes, failures and picks had cost, in US dollars, as far as that is known.
    pub spent_usd: f64,
    /// What further calls have cost at most, where only the worst price is known.
    pub assumed_usd: f64,
    /// Verdicts that were new.
    pub verdicts: usize,
    /// Verdicts and rulings that were taken back there.
    pub undos: usize,
    /// Gold items that were new.
    pub gold: usize,
    /// Gold items left out because another answer is known here.
    pub gold_clashes: usize,
    /// Labels that were new.
    pub labels: usize,
    /// Labels left out because the document is labelled otherwise here.
    pub label_clashes: usize,
    /// Rankings that were not here, or not of all their queries; of a query that is in both, ours stays.
    pub rankings: usize,
    /// Answers of judges on pools that were new.
    pub picks: usize,
    /// Rulings that were new.
    pub rulings: usize,
    /// Queries on which other judges count there; those that count here go on counting.
    pub keep_their_judges: usize,
    /// Pairs of the whole project on which people differ, after the merge.
    pub conflicts: usize,
    /// Calls that batches of the other file are still making; their votes come with a later merge.
    pub calls_pending: usize,
    /// Queries of which nothing was taken, each with the reason.
    pub refused: Vec<(String, String)>,
}

/// A merge on its way.
struct Merger<'a> {
    db: &'a Db,
    from: &'a Connection,
    judges: HashMap<i64, (JudgeId, String)>,
    runs: HashMap<i64, i64>,
    merged: MergeCounts,
}

/// A query of the other file, and how its documents are numbered here.
struct MatchedQuery {
    theirs: i64,
    ours: QueryKey,
    places: Vec<usize>,
    /// Whether anything of it was new.
    changed: bool,
}

impl MatchedQuery {
    /// A position of the other file's pool in ours.
    fn place(&self, position: usize) -> Result<usize> {
        self.places.get(position).copied().ok_or_else(|| {
            StoreError::Corrupt(format!("document {position} of a pool is not there"))
        })
    }
}

impl Db {
    /// Takes over what another project has and this one has not. With `keep` false nothing is changed, and what would be
    /// is reported.
    pub fn merge(&mut self, from: &Snapshot, keep: bool) -> Result<MergeCounts> {
        match keep {
            true => self.atomically(|db| Merger::of(db, from.db()?)),
            false => self.rehearsed(|db| Merger::of(db, from.db()?)),
        }
    }
}

impl<'a> Merger<'a> {
    fn of(db: &'a Db, other: &'a Db) -> Result<MergeCounts> {
        let from = &other.connection;
        let mut merge = Self {
            db,
            from,
            judges: HashMap::new(),
            runs: HashMap::new(),
            merged: MergeCounts::default(),
        };
        let mut changed = Vec::new();
        for theirs in merge.queries()? {
            let Some(mut query) = merge.matched(&theirs)? else {
                continue;
            };
            merge.votes(&mut query)?;
            merge.people(&mut query)?;
            merge.seats(&mut query, &theirs)?;
            if query.changed {
                db.touch(query.ours)?;
                changed.push(query.ours);
            }
        }
        for query in &changed {
            db.cache_summary(*query)?;
        }
        if !changed.is_empty() {
            for ensemble in db.ensembles_in_force()? {
                if db.estimate_phi(ensemble)? {
                    for query in db.queries_of(ensemble)? {
                        db.cache_summary(query)?;
                    }
                }
            }
        }
        merge.court(other)?;
        merge.ledger()?;
        for import in other.imports()? {
            db.add_import(&import)?;
        }
        merge.merged.conflicts = db.conflicts(None)?.len();
        merge.merged.calls_pending = from.query_row(
            "SELECT count(*) FROM batch_call JOIN batch ON batch.id = batch_call.batch
             WHERE done = 0 AND closed_ms IS NULL",
            [],
            |row| row.get(0),
        )?;
        Ok(merge.merged)
    }

    /// A judge of the other file, here.
    fn judge(&mut self, theirs: i64) -> Result<JudgeId> {
        Ok(self.named_judge(theirs)?.0)
    }

    /// A judge of the other file, here, and its name.
    fn named_judge(&mut self, theirs: i64) -> Result<(JudgeId, String)> {
        if let Some(judge) = self.judges.get(&theirs) {
            return Ok(judge.clone());
        }
        let spec = self
            .from
            .prepare_cached(
                "SELECT name, provider, model, prompt_hash, params FROM judge WHERE id = ?1",
            )?
            .query_row([theirs], |row| {
                Ok(JudgeSpec {
                    name: row.get(0)?,
                    provider: row.get(1)?,
                    model: row.get(2)?,
                    prompt_hash: row.get(3)?,
                    params: row.get(4)?,
                })
            })?;
        let judge = (self.db.judge(&spec)?, spec.name);
        self.judges.insert(theirs, judge.clone());
        Ok(judge)
    }

    /// The judges of an ensemble of the other file, here.
    fn ensemble(&mut self, theirs: i64) -> Result<Vec<(JudgeId, String)>> {
        let members: String = self
            .from
            .prepare_cached("SELECT judges FROM ensemble WHERE id = ?1")?
            .query_row([theirs], |row| row.get(0))?;
        let members: Vec<i64> = serde_json::from_str(&members)
            .map_err(|error| StoreError::Corrupt(error.to_string()))?;
        let members = members.into_iter();
        members.map(|judge| self.named_judge(judge)).collect()
    }

    /// A run of the other file, here. One that was going on when it came may have ended since.
    fn run(&mut self, theirs: i64) -> Result<i64> {
        if let Some(run) = self.runs.get(&theirs) {
            return Ok(*run);
        }
        type Row = (
            String,
            i64,
            i64,
            Option<i64>,
            i64,
            i64,
            Option<i64>,
            String,
            Option<String>,
        );
        let (uid, seed, cycles, depth, ensemble, started_ms, ended_ms, state, campaign): Row = self
            .from
            .prepare_cached(
                "SELECT uid, seed, cycles, depth, ensemble, started_ms, ended_ms, state, campaign FROM run
                 WHERE id = ?1",
            )?
            .query_row([theirs], |row| row.try_into())?;
        let seats: Vec<JudgeId> = self
            .ensemble(ensemble)?
            .into_iter()
            .map(|seat| seat.0)
            .collect();
        let EnsembleId(ensemble) = self.db.ensemble(&seats)?;
        self.db
            .connection
            .prepare_cached(
                "INSERT INTO run (uid, seed, cycles, depth, ensemble, started_ms, ended_ms, state, campaign)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
                 ON CONFLICT (uid) DO UPDATE SET ended_ms = excluded.ended_ms, state = excluded.state
                 WHERE run.ended_ms IS NULL AND excluded.ended_ms IS NOT NULL",
            )?
            .execute(params![
 uid, seed, cycles, depth, ensemble, started_ms, ended_ms, state, campaign
])?;
        let run = self
            .db
            .connection
            .prepare_cached("SELECT id FROM run WHERE uid = ?1")?
            .query_row([&uid], |row| row.get(0))?;
        self.runs.insert(theirs, run);
        Ok(run)
    }

    /// Whether a row is there.
    fn exists(&self, sql: &str, values: impl rusqlite::Params) -> Result<bool> {
        let found = self
            .db
            .connection
            .prepare_cached(sql)?
            .query_row(values, |_| Ok(()))
            .optional()?;
        Ok(found.is_some())
    }
}
