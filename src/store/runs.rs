//! Judges, plans, votes and failures.

use super::corpus::QueryKey;
use super::{Db, Result, StoreError};
use crate::domain::sampling::PlannedBattle;
use crate::domain::sampling::adaptive::AdaptivePlan;
use crate::domain::vote::JudgeId;
use crate::judge::JudgeSpec;
use rusqlite::{OptionalExtension, params};

/// An ensemble's row in the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EnsembleId(pub i64);

/// A run's row in the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RunId(pub i64);

/// What a run was asked to do.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRow {
    /// Globally unique.
    pub uid: String,
    /// The seed of plan and presentations.
    pub seed: u64,
    /// Cycles a query.
    pub cycles: usize,
    /// Documents a query at most.
    pub depth: Option<usize>,
    /// How the battles were chosen where that was done in rounds.
    pub campaign: Option<AdaptivePlan>,
    /// The judges.
    pub ensemble: EnsembleId,
    /// Milliseconds since the Unix epoch.
    pub started_ms: i64,
}

impl Db {
    /// The row of a judge, added where it is new.
    pub fn judge(&self, spec: &JudgeSpec) -> Result<JudgeId> {
        if let Some(known) = self.known_judge(spec)? {
            return Ok(known);
        }
        self.connection
            .prepare_cached(
                "INSERT INTO judge (name, provider, model, prompt_hash, params) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![spec.name, spec.provider, spec.model, spec.prompt_hash, spec.params])?;
        Ok(JudgeId(self.connection.last_insert_rowid()))
    }

    /// The rows of judges; for one that the project does not know, and that has made no call, a row that nobody has.
    pub fn known_judges(&self, specs: &[JudgeSpec]) -> Result<Vec<JudgeId>> {
        let known = |spec| Ok(self.known_judge(spec)?.unwrap_or(JudgeId(0)));
        specs.iter().map(known).collect()
    }

    fn known_judge(&self, spec: &JudgeSpec) -> Result<Option<JudgeId>> {
        let id = self
            .connection
            .prepare_cached(
                "SELECT id FROM judge
                 WHERE name = ?1 AND provider = ?2 AND model = ?3 AND prompt_hash = ?4 AND params = ?5",
            )?
            .query_row(params![spec.name, spec.provider, spec.model, spec.prompt_hash, spec.params], |row| row.get(0))
            .optional()?;
        Ok(id.map(JudgeId))
    }

    /// The row of an ensemble, added where it is new.
    pub fn ensemble(&self, judges: &[JudgeId]) -> Result<EnsembleId> {
        let list = format!(
            "[{}]",
            judges
                .iter()
                .map(|judge| judge.0.to_string())
                .collect::<Vec<_>>()
                .join(",")
        );
        self.connection
            .prepare_cached("INSERT INTO ensemble (judges) VALUES (?1) ON CONFLICT DO NOTHING")?
            .execute([&list])?;
        let id = self
            .connection
            .prepare_cached("SELECT id FROM ensemble WHERE judges = ?1")?
            .query_row([&list], |row| row.get(0))?;
        Ok(EnsembleId(id))
    }

    /// The judges of an ensemble, in order.
    pub fn ensemble_judges(&self, ensemble: EnsembleId) -> Result<Vec<(JudgeId, JudgeSpec)>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT judge.id, judge.name, provider, model, prompt_hash, params
             FROM ensemble, json_each(ensemble.judges) AS member JOIN judge ON judge.id = member.value
             WHERE ensemble.id = ?1 ORDER BY member.key",
        )?;
        let rows = statement.query_map([ensemble.0], |row| {
            let spec = JudgeSpec {
                name: row.get(1)?,
                provider: row.get(2)?,
                model: row.get(3)?,
                prompt_hash: row.get(4)?,
                params: row.get(5)?,
            };
            Ok((JudgeId(row.get(0)?), spec))
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Notes that a run has begun. Runs that never said how they ended, and cannot be going on while this one starts,
    /// were killed.
    pub fn start_run(&self, run: &RunRow) -> Result<RunId> {
        self.connection
            .prepare_cached("UPDATE run SET state = 'killed' WHERE state = 'running'")?
            .execute([])?;
        let campaign = run
            .campaign
            .map(|campaign| serde_json::to_string(&campaign));
        let campaign = campaign
            .transpose()
            .map_err(|error| StoreError::Corrupt(error.to_string()))?;
        self.connection
            .prepare_cached(
                "INSERT INTO run (uid, seed, cycles, depth, ensemble, started_ms, campaign, state)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'running')",
            )?
            .execute(params![
                run.uid,
                run.seed.cast_signed(),
                run.cycles,
                run.depth,
                run.ensemble.0,
                run.started_ms,
                campaign
            ])?;
        Ok(RunId(self.connection.last_insert_rowid()))
    }

    /// Notes how a run ended.
    pub fn end_run(&self, run: RunId, state: &str, ended_ms: i64) -> Result<()> {
        self.connection
            .prepare_cached("UPDATE run SET state = ?2, ended_ms = ?3 WHERE id = ?1")?
            .execute(params![run.0, state, ended_ms])?;
        Ok(())
    }

    /// What was remembered under a name.
    pub fn remembered(&self, name: &str) -> Result<Option<String>> {
        Ok(self
            .connection
            .prepare_cached("SELECT value FROM setting WHERE name = ?1")?
            .query_row([name], |row| row.get(0))
            .optional()?)
    }

    /// Remembers something for the next run; no score depends on it.
    pub fn remember(&self, name: &str, value: &str) -> Result<()> {
        self.connection
            .prepare_cached(
                "INSERT INTO setting (name, value) VALUES (?1, ?2)
                 ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            )?
            .execute([name, value])?;
        Ok(())
    }

    /// What the latest run on the project was asked to do.
    pub fn latest_run(&self) -> Result<Option<RunRow>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT uid, seed, cycles, depth, ensemble, started_ms, campaign FROM run ORDER BY id DESC LIMIT 1",
        )?;
        let mut rows = statement.query([])?;
        let Some(row) = rows.next()? else {
            return Ok(None);
        };
        let campaign: Option<String> = row.get(6)?;
        let campaign = campaign.map(|text| serde_json::from_str(&text)).transpose();
        Ok(Some(RunRow {
            uid: row.get(0)?,
            seed: row.get::<_, i64>(1)?.cast_unsigned(),
            cycles: row.get(2)?,
            depth: row.get(3)?,
            ensemble: EnsembleId(row.get(4)?),
            started_ms: row.get(5)?,
            campaign: campaign.map_err(|error| StoreError::Corrupt(error.to_string()))?,
        }))
    }

    /// The queries that a run over the whole project is about: all but those that came with recorded votes, whose
    /// judges are somebody else's.
    pub fn runnable_queries(&self) -> Result<Vec<QueryKey>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT id FROM query WHERE ensemble IS NULL OR depth IS NOT NULL ORDER BY id",
        )?;
        let rows = statement.query_map([], |row| Ok(QueryKey(row.get(0)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// The queries whose votes come from an ensemble.
    pub fn queries_of(&self, ensemble: EnsembleId) -> Result<Vec<QueryKey>> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT id FROM query WHERE ensemble = ?1 ORDER BY id")?;
        let rows = statement.query_map([ensemble.0], |row| Ok(QueryKey(row.get(0)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Enters a plan for a query: battles that are already there stay and want all judges, the depth grows, the ensemble
    /// is now this one.
    pub fn add_plan(
        &self,
        query: QueryKey,
        planned: &[PlannedBattle],
        depth: usize,
        ensemble: EnsembleId,
    ) -> Result<()> {
        let mut added = 0;
        for battle in planned {
            added += self
                .connection
                .prepare_cached(
                    "INSERT INTO battle (query, a, b, game, cycle, origin) VALUES (?1, ?2, ?3, ?4, ?5, 'plan')
                     ON CONFLICT DO NOTHING",
                )?
                .execute(params![query.0, battle.pair.low(), battle.pair.high(), battle.game, battle.cycle])?;
        }
        added += self.widen(query, planned, ensemble)?;
        self.connection
            .prepare_cached(
                "UPDATE query SET depth = max(coalesce(depth, 0), ?2), ensemble = ?3, revision = revision + 1
                 WHERE id = ?1 AND (depth IS NULL OR depth < ?2 OR ensemble IS NOT ?3 OR ?4)",
            )?
            .execute(params![query.0, depth, ensemble.0, added > 0])?;
        Ok(())
    }

    /// Makes an ensemble the one whose votes count for a query.
    pub fn set_ensemble(
        &self,
        query: QueryKey,
        ensemble: EnsembleId,
        depth: Option<usize>,
    ) -> Result<()> {
        self.connection
            .prepare_cached(
                "UPDATE query SET ensemble = ?2, depth = coalesce(?3, depth), revision = revision + 1 WHERE id = ?1",
            )?
            .execute(params![query.0, ensemble.0, depth])?;
        Ok(())
    }
}
