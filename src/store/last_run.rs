//! Summary of the latest run, computed from its rows: how it ended, each judge's votes and cost,
//! and failures by cause.

use super::{Db, Result};
use crate::domain::spend::Spend;
use crate::judge::FailureCause;
use rusqlite::params;

/// The results of one judge in a run.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgeInRun {
    pub name: String,
    pub votes: usize,
    /// Calls that ended without a vote.
    pub failures: usize,
    pub spend: Spend,
}

/// The failures of one judge with one cause in a run.
#[derive(Clone, Debug, PartialEq)]
pub struct FailuresInRun {
    pub cause: FailureCause,
    pub judge: String,
    pub count: usize,
    /// Time of the first one in milliseconds since the Unix epoch.
    pub first_ms: i64,
    pub last_ms: i64,
}

/// Summary of the latest run.
#[derive(Clone, Debug, PartialEq)]
pub struct LastRun {
    pub seed: u64,
    pub cycles: usize,
    /// In milliseconds since the Unix epoch.
    pub started_ms: i64,
    /// `None` if it is still running or was killed.
    pub ended_ms: Option<i64>,
    /// `done`, `cancelled`, `failed`, `killed` or `running`.
    pub state: String,
    /// Ordered by name.
    pub judges: Vec<JudgeInRun>,
    /// Most frequent first.
    pub failures: Vec<FailuresInRun>,
    /// The cost of all its calls, including those without a row for a judge.
    pub spend: Spend,
}

impl Db {
    /// Summary of the latest run that asked a judge anything, or else of the latest of all; `None`
    /// if there are no runs. Reads every vote of the project.
    pub fn last_run(&self) -> Result<Option<LastRun>> {
        let mut found: Vec<_> = self.all(
            "SELECT id, seed, cycles, started_ms, ended_ms, state FROM run
             WHERE id = coalesce((SELECT max(run) FROM (
                     SELECT max(run) AS run FROM vote
                     UNION ALL SELECT max(run) FROM failure
                     UNION ALL SELECT max(run) FROM call)),
                 (SELECT max(id) FROM run))",
            [],
            |row| {
                let run = LastRun {
                    seed: row.get::<_, i64>(1)?.cast_unsigned(),
                    cycles: row.get(2)?,
                    started_ms: row.get(3)?,
                    ended_ms: row.get(4)?,
                    state: row.get(5)?,
                    judges: Vec::new(),
                    failures: Vec::new(),
                    spend: Spend::default(),
                };
                Ok((row.get::<_, i64>(0)?, run))
            },
        )?;
        let Some((id, mut run)) = found.pop() else {
            return Ok(None);
        };
        run.judges = self.all(
            "SELECT judge.name, sum(votes), sum(failures), sum(usd), sum(unpriced) FROM (
                 SELECT judge, count(*) AS votes, 0 AS failures, total(cost_usd) AS usd,
                 sum(cost_usd IS NULL) AS unpriced
                 FROM vote WHERE run = ?1 GROUP BY judge
                 UNION ALL
                 SELECT judge, 0, count(*), total(cost_usd), sum(cost_usd IS NULL)
                 FROM failure WHERE run = ?1 GROUP BY judge
             ) AS part JOIN judge ON judge.id = part.judge GROUP BY judge.id ORDER BY judge.name,
             judge.id",
            params![id],
            |row| {
                Ok(JudgeInRun {
                    name: row.get(0)?,
                    votes: row.get(1)?,
                    failures: row.get(2)?,
                    spend: Spend {
                        known_usd: row.get(3)?,
                        assumed_usd: 0.0,
                        unpriced: row.get(4)?,
                    },
                })
            },
        )?;
        run.failures = self.all(
            "SELECT cause, judge.name, count(*), min(failure.created_ms), max(failure.created_ms)
             FROM failure JOIN judge ON judge.id = failure.judge WHERE run = ?1
             GROUP BY cause, judge.id ORDER BY count(*) DESC, cause, judge.name",
            params![id],
            |row| {
                Ok(FailuresInRun {
                    cause: row.get(0)?,
                    judge: row.get(1)?,
                    count: row.get(2)?,
                    first_ms: row.get(3)?,
                    last_ms: row.get(4)?,
                })
            },
        )?;
        let ledger: Vec<(String, f64, f64, usize, usize)> = self.all(
            "SELECT service, total(cost_usd), total(assumed_usd), sum(kept),
                 sum(ended_ms IS NOT NULL AND cost_usd IS NULL AND assumed_usd IS NULL)
             FROM call WHERE run = ?1 GROUP BY service",
            params![id],
            |row| row.try_into(),
        )?;
        run.spend = run.judges.iter().map(|judge| judge.spend).sum();
        for (service, known_usd, assumed_usd, kept, without_price) in ledger {
            // Votes and failures with an assumed cost store no cost.
            let judge = run.judges.iter_mut().find(|judge| judge.name == service);
            let unpriced = judge.as_ref().map_or(0, |judge| judge.spend.unpriced);
            let assumed = unpriced.min(kept);
            let more = Spend {
                known_usd,
                assumed_usd,
                unpriced: without_price,
            };
            run.spend += more;
            run.spend.unpriced -= assumed;
            if let Some(judge) = judge {
                judge.spend += more;
                judge.spend.unpriced -= assumed;
            }
        }
        Ok(Some(run))
    }
}
