//! Runs with their parameters and plans.

use super::corpus::QueryKey;
use super::judges::EnsembleId;
use super::{Db, Result};
use crate::domain::battle::{PROBE_GAME, SECOND_GAME};
use crate::domain::sampling::PlannedBattle;
use crate::domain::sampling::adaptive::AdaptivePlan;
use crate::domain::vote::JudgeId;
use rusqlite::params;

/// Row ID of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RunId(pub i64);

#[derive(Clone, Debug, PartialEq)]
pub struct RunRow {
    /// Globally unique.
    pub uid: String,
    pub seed: u64,
    pub cycles: usize,
    /// Maximum number of documents per query.
    pub depth: Option<usize>,
    /// How battles were chosen, if they were chosen in rounds.
    pub campaign: Option<AdaptivePlan>,
    pub ensemble: EnsembleId,
    /// Milliseconds since the Unix epoch.
    pub started_ms: i64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PastRun {
    /// Globally unique.
    pub uid: String,
    pub seed: u64,
    pub cycles: usize,
    pub ensemble: EnsembleId,
    /// Start time in milliseconds since the Unix epoch.
    pub started_ms: i64,
    pub ended: Option<(i64, String)>,
}

impl Db {
    /// Records the start of a run. Earlier runs without a recorded end, which cannot be in progress
    /// while this one starts, are marked as killed.
    pub fn start_run(&self, run: &RunRow) -> Result<RunId> {
        self.change(
            "UPDATE run SET state = 'killed' WHERE state = 'running'",
            [],
        )?;
        let campaign = run
            .campaign
            .map(|campaign| serde_json::to_string(&campaign));
        let campaign = campaign.transpose()?;
        self.change(
            "INSERT INTO run (uid, seed, cycles, depth, ensemble, started_ms, campaign, state)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'running')",
            params![
                run.uid,
                run.seed.cast_signed(),
                run.cycles,
                run.depth,
                run.ensemble.0,
                run.started_ms,
                campaign
            ],
        )?;
        Ok(RunId(self.connection.last_insert_rowid()))
    }

    pub fn end_run(&self, run: RunId, state: &str, ended_ms: i64) -> Result<()> {
        self.change(
            "UPDATE run SET state = ?2, ended_ms = ?3 WHERE id = ?1",
            params![run.0, state, ended_ms],
        )?;
        Ok(())
    }

    /// The parameters of the latest run.
    pub fn latest_run(&self) -> Result<Option<RunRow>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT uid, seed, cycles, depth, ensemble, started_ms, campaign FROM run
             ORDER BY id DESC LIMIT 1",
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
            campaign: campaign?,
        }))
    }

    /// The queries of a run over the whole project: all except those imported with recorded votes,
    /// whose judges are not ours.
    pub fn runnable_queries(&self) -> Result<Vec<QueryKey>> {
        self.all(
            "SELECT id FROM query WHERE ensemble IS NULL OR depth IS NOT NULL ORDER BY id",
            [],
            |row| Ok(QueryKey(row.get(0)?)),
        )
    }

    /// Stores a plan for a query: existing battles are extended to all judges, the depth grows, and
    /// the ensemble is set.
    pub fn add_plan(
        &self,
        query: QueryKey,
        planned: &[PlannedBattle],
        depth: usize,
        ensemble: EnsembleId,
    ) -> Result<()> {
        let mut added = 0;
        for battle in planned {
            let origin = if battle.game == PROBE_GAME {
                "probe"
            } else {
                "plan"
            };
            added += self.enter_battle(query, battle, origin)?;
        }
        added += self.widen(query, planned, ensemble)?;
        self.change(
            "UPDATE query SET depth = max(coalesce(depth, 0), ?2), ensemble = ?3,
             revision = revision + 1
             WHERE id = ?1 AND (depth IS NULL OR depth < ?2 OR ensemble IS NOT ?3 OR ?4)",
            params![query.0, depth, ensemble.0, added > 0],
        )?;
        Ok(())
    }

    /// Adds a battle unless it exists, and returns the number of changed rows. The second battle of
    /// a probed pair is the probe, which counts from now on, since it has the answers that the
    /// second battle would ask for.
    fn enter_battle(&self, query: QueryKey, battle: &PlannedBattle, origin: &str) -> Result<usize> {
        let (low, high) = (battle.pair.low(), battle.pair.high());
        if battle.game == SECOND_GAME {
            let promoted = self.change(
                "UPDATE OR IGNORE battle SET game = ?4, cycle = ?5, origin = ?6
                 WHERE query = ?1 AND min(a, b) = ?2 AND max(a, b) = ?3 AND game = ?7",
                params![
                    query.0,
                    low,
                    high,
                    battle.game,
                    battle.cycle,
                    origin,
                    PROBE_GAME
                ],
            )?;
            if promoted > 0 {
                return Ok(promoted);
            }
        }
        self.change(
            "INSERT INTO battle (query, a, b, game, cycle, origin) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT DO NOTHING",
            params![query.0, low, high, battle.game, battle.cycle, origin],
        )
    }

    /// Adds one battle for some judges and leaves the rest of a query's plan unchanged. A query
    /// with judges keeps them; one without gets this ensemble, with no documents besides the two.
    pub fn add_pair(
        &self,
        query: QueryKey,
        battle: &PlannedBattle,
        (ensemble, asked): (EnsembleId, &[JudgeId]),
    ) -> Result<()> {
        let (low, high) = (battle.pair.low(), battle.pair.high());
        let added = self.enter_battle(query, battle, "pair")?;
        let of_query = self.judges_of(query)?;
        let wants_others = of_query.iter().any(|(judge, _)| !asked.contains(judge));
        if added > 0
            && wants_others
            && let Some((id, _)) = self.battle_at(query, low, high, battle.game)?
        {
            for judge in asked {
                self.ask(id, *judge)?;
            }
        }
        self.widen(query, std::slice::from_ref(battle), ensemble)?;
        // A query without a depth has imported votes and belongs to no run. An existing depth is
        // kept: apart from the two, documents beyond it are not part of the plan.
        self.change(
            "UPDATE query SET revision = revision + 1, ensemble = coalesce(ensemble, ?2),
                 depth = CASE WHEN ensemble IS NULL THEN coalesce(depth, 0) ELSE depth END
             WHERE id = ?1",
            params![query.0, ensemble.0],
        )?;
        Ok(())
    }

    /// Sets the ensemble whose votes count for a query.
    pub fn set_ensemble(
        &self,
        query: QueryKey,
        ensemble: EnsembleId,
        depth: Option<usize>,
    ) -> Result<()> {
        self.change(
            "UPDATE query SET ensemble = ?2, depth = coalesce(?3, depth), revision = revision + 1
             WHERE id = ?1",
            params![query.0, ensemble.0, depth],
        )?;
        Ok(())
    }

    /// Whether any run asked further judges only when the first ones disagreed.
    pub fn has_escalated(&self) -> Result<bool> {
        Ok(self.connection.query_row(
            "SELECT EXISTS (SELECT 1 FROM run WHERE campaign LIKE '%escalate%')",
            [],
            |row| row.get(0),
        )?)
    }

    /// All runs, earliest first.
    pub fn runs(&self) -> Result<Vec<PastRun>> {
        self.all(
            "SELECT uid, seed, cycles, ensemble, started_ms, ended_ms, state FROM run ORDER BY id",
            [],
            |row| {
                let ended_ms: Option<i64> = row.get(5)?;
                Ok(PastRun {
                    uid: row.get(0)?,
                    seed: row.get::<_, i64>(1)?.cast_unsigned(),
                    cycles: row.get(2)?,
                    ensemble: EnsembleId(row.get(3)?),
                    started_ms: row.get(4)?,
                    ended: ended_ms
                        .map(|ms| row.get(6).map(|state| (ms, state)))
                        .transpose()?,
                })
            },
        )
    }
}
