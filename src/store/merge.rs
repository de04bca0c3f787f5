//! Copies rows that are missing in this project from another project file.
//!
//! Rows are matched by their subject (query and document by name, battle by pair and game, vote by
//! pair, judge and document order, judge by everything that identifies it) or by their UID. The
//! other file is never written to.

mod batches;
mod corpus;
mod counts;
mod duplicates;
mod ledger;
mod pair_votes;
#[cfg_attr(
    not(feature = "remote"),
    expect(dead_code, reason = "for work that is shared")
)]
mod piece;
mod snapshot;
mod verdicts;
mod votes;
mod weights;

pub(crate) use corpus::OtherQuery;
pub use counts::{AddedCount, CountedRows, MergeCounts};
#[cfg(feature = "remote")]
pub use piece::{AnswerCount, Piece, SharedAnswers, Terms};
#[cfg(feature = "remote")]
pub(crate) use piece::{empty_project, packed};
pub use snapshot::Snapshot;

use super::columns::judge_spec;
use super::corpus::QueryKey;
use super::judges::EnsembleId;
use super::{Db, Result, StoreError};
use crate::domain::battle::Pair;
use crate::domain::vote::JudgeId;
use crate::judge::JudgeSpec;
use rusqlite::{Connection, params};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// How a merge deals with the texts of documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Texts {
    /// Missing documents are copied.
    #[default]
    Copied,
    /// Missing documents are added without their texts and everything else but their names.
    LeftOut,
    /// Missing documents are added without their texts.
    Described,
    /// Missing documents are added; their texts are stored already.
    Stored,
    /// No document may be missing, as the other project has no texts.
    Known,
}

/// Copies rows from one project into another.
pub(crate) struct Merger<'a> {
    /// The project that receives the rows.
    pub(crate) db: &'a Db,
    pub(crate) from: &'a Connection,
    pub(crate) other: &'a Db,
    /// Maps from IDs in the other file to IDs here.
    judges: HashMap<i64, (JudgeId, Rc<JudgeSpec>)>,
    runs: HashMap<i64, i64>,
    names: HashMap<i64, i64>,
    dictionaries: HashMap<i64, i64>,
    /// The same for the rows of features, by table.
    pub(crate) ids: HashMap<(&'static str, i64), i64>,
    pub(crate) merged: MergeCounts,
    texts: Texts,
    /// The pairs whose battles are merged, by their positions in the other file; `None` for all.
    pairs: Option<HashSet<Pair>>,
    /// The judges whose votes and failures are merged; `None` for all.
    asked: Option<Vec<JudgeSpec>>,
    /// Whether a vote of the other file takes the place of a different answer here.
    replaces_votes: bool,
}

/// Rows that belong to no query and are merged together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MergePart {
    pub(crate) name: &'static str,
    /// The tables that they are in.
    pub(crate) tables: &'static [&'static str],
    /// Whether its rows refer to queries by their keys.
    #[cfg_attr(
        not(feature = "remote"),
        expect(dead_code, reason = "for projects that are shared")
    )]
    pub(crate) is_about_queries: bool,
    pub(crate) merge: fn(&mut Merger<'_>) -> Result<()>,
}

/// A query of the other file, with the positions of its documents here.
pub(crate) struct MatchedQuery {
    pub(crate) theirs: i64,
    pub(crate) ours: QueryKey,
    /// The position here of each of its documents.
    pub(crate) places: Vec<usize>,
    /// Whether anything in it was new.
    pub(crate) changed: bool,
}

impl MatchedQuery {
    /// Translates a position in the other file's pool to ours.
    pub(crate) fn place(&self, position: usize) -> Result<usize> {
        self.places.get(position).copied().ok_or_else(|| {
            StoreError::Corrupt(format!("document {position} of a pool is not there"))
        })
    }
}

impl<'a> Merger<'a> {
    /// Creates a merger that copies rows of `other` into `db`.
    pub(crate) fn new(db: &'a Db, other: &'a Db) -> Self {
        Self {
            db,
            from: &other.connection,
            other,
            judges: HashMap::new(),
            runs: HashMap::new(),
            names: HashMap::new(),
            dictionaries: HashMap::new(),
            ids: HashMap::new(),
            merged: MergeCounts::default(),
            texts: Texts::default(),
            pairs: None,
            asked: None,
            replaces_votes: false,
        }
    }

    /// Translates a judge of the other file to ours.
    fn judge(&mut self, theirs: i64) -> Result<JudgeId> {
        Ok(self.known_judge(theirs)?.0)
    }

    /// Translates a judge of the other file to ours, with its specification.
    fn known_judge(&mut self, theirs: i64) -> Result<(JudgeId, Rc<JudgeSpec>)> {
        if let Some(judge) = self.judges.get(&theirs) {
            return Ok(judge.clone());
        }
        let spec = self.other_judge(theirs)?;
        let judge = (self.db.judge(&spec)?, Rc::new(spec));
        self.judges.insert(theirs, judge.clone());
        Ok(judge)
    }

    /// The specification of a judge of the other file.
    fn other_judge(&self, theirs: i64) -> Result<JudgeSpec> {
        self.other.one(
            "SELECT name, provider, model, prompt_hash, params FROM judge WHERE id = ?1",
            [theirs],
            |row| judge_spec(row, 0),
        )
    }

    /// The specifications of the judges that count for a query of the other file.
    #[cfg(feature = "remote")]
    pub(crate) fn other_ensemble(&self, ensemble: i64) -> Result<Vec<JudgeSpec>> {
        let members = self.members(ensemble)?.into_iter();
        members.map(|id| self.other_judge(id)).collect()
    }

    /// The judges of an ensemble of the other file.
    fn members(&self, ensemble: i64) -> Result<Vec<i64>> {
        let members: String = self
            .other
            .value("SELECT judges FROM ensemble WHERE id = ?1", [ensemble])?;
        Ok(serde_json::from_str(&members)?)
    }

    /// Translates the judges of an ensemble of the other file to ours.
    pub(crate) fn ensemble(&mut self, theirs: i64) -> Result<Vec<(JudgeId, String)>> {
        self.members(theirs)?
            .into_iter()
            .map(|judge| {
                let (id, spec) = self.known_judge(judge)?;
                Ok((id, spec.name.clone()))
            })
            .collect()
    }

    /// Translates a run of the other file to ours. A run that was in progress when it was copied
    /// may have ended since.
    fn run(&mut self, theirs: i64) -> Result<i64> {
        if let Some(run) = self.runs.get(&theirs) {
            return Ok(*run);
        }
        type RunColumns = (
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
        let (uid, seed, cycles, depth, ensemble, started_ms, ended_ms, state, campaign): RunColumns = self
            .from
            .prepare_cached(
                "SELECT uid, seed, cycles, depth, ensemble, started_ms, ended_ms, state, campaign
                 FROM run
                 WHERE id = ?1",
            )?
            .query_row([theirs], |row| row.try_into())?;
        let seats: Vec<JudgeId> = self
            .ensemble(ensemble)?
            .into_iter()
            .map(|seat| seat.0)
            .collect();
        let EnsembleId(ensemble) = self.db.ensemble(&seats)?;
        self.db.change(
            "INSERT INTO run (uid, seed, cycles, depth, ensemble, started_ms, ended_ms, state,
             campaign)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
             ON CONFLICT (uid) DO UPDATE SET ended_ms = excluded.ended_ms, state = excluded.state
             WHERE run.ended_ms IS NULL AND excluded.ended_ms IS NOT NULL",
            params![
                uid, seed, cycles, depth, ensemble, started_ms, ended_ms, state, campaign
            ],
        )?;
        let run = self.db.value("SELECT id FROM run WHERE uid = ?1", [&uid])?;
        self.runs.insert(theirs, run);
        Ok(run)
    }

    /// Copies all runs.
    #[cfg(feature = "remote")]
    pub(crate) fn runs(&mut self) -> Result<()> {
        let runs: Vec<i64> = self
            .other
            .all("SELECT id FROM run ORDER BY id", [], |row| row.get(0))?;
        runs.into_iter().try_for_each(|run| self.run(run).map(drop))
    }

    pub(crate) fn exists(&self, sql: &str, values: impl rusqlite::Params) -> Result<bool> {
        let found = self.db.maybe(sql, values, |_| Ok(()))?;
        Ok(found.is_some())
    }
}
