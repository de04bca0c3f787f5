//! Latency and cost of each judge's calls.

use super::{Db, Result};
use crate::domain::vote::JudgeId;
use crate::judge::FailureCause;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JudgeCalls {
    /// Unresolved failed calls, by cause.
    pub failures: BTreeMap<FailureCause, usize>,
    /// Median latency in milliseconds; `None` if no call was timed.
    pub latency_p50_ms: Option<f64>,
    /// 95th percentile of latency in milliseconds.
    pub latency_p95_ms: Option<f64>,
    pub tokens_input: u64,
    pub tokens_output: u64,
    /// US dollars per thousand votes, including failed calls; `None` if a price is unknown.
    pub usd_per_1000: Option<f64>,
}

impl Db {
    /// Latency and cost of a judge's calls.
    pub fn calls_of(&self, judge: JudgeId) -> Result<JudgeCalls> {
        let mut latencies = Vec::new();
        let (mut tokens_input, mut tokens_output, mut votes) = (0, 0, 0usize);
        let mut cost = Some(0.0);
        let mut statement = self.connection.prepare_cached(
            "SELECT latency_ms, tokens_input, tokens_output, cost_usd, 1 FROM vote WHERE judge = ?1
             UNION ALL SELECT NULL, tokens_input, tokens_output, coalesce(cost_usd, 0.0), 0
             FROM failure WHERE judge = ?1",
        )?;
        let mut rows = statement.query([judge.0])?;
        while let Some(row) = rows.next()? {
            latencies.extend(row.get::<_, Option<f64>>(0)?);
            tokens_input += row.get::<_, u64>(1)?;
            tokens_output += row.get::<_, u64>(2)?;
            cost = cost
                .zip(row.get::<_, Option<f64>>(3)?)
                .map(|(sum, usd)| sum + usd);
            votes += row.get::<_, usize>(4)?;
        }
        latencies.sort_by(f64::total_cmp);
        let quantile = |share: f64| {
            let at = (share * latencies.len() as f64).ceil() as usize;
            latencies.get(at.saturating_sub(1)).copied()
        };
        let mut statement = self.connection.prepare_cached(
            "SELECT cause, count(DISTINCT battle) FROM failure WHERE judge = ?1
             AND NOT EXISTS (SELECT 1 FROM vote WHERE vote.battle = failure.battle
             AND vote.judge = failure.judge)
             GROUP BY cause",
        )?;
        let rows = statement.query_map([judge.0], |row| row.try_into())?;
        let failures = rows.collect::<rusqlite::Result<_>>()?;
        Ok(JudgeCalls {
            failures,
            latency_p50_ms: quantile(0.5),
            latency_p95_ms: quantile(0.95),
            tokens_input,
            tokens_output,
            usd_per_1000: cost
                .filter(|_| votes > 0)
                .map(|usd| 1_000.0 * usd / votes as f64),
        })
    }

    /// Mean cost of a battle in US dollars: the sum over all judges asked here of their mean price
    /// per vote. `None` if a price is unknown or no judge was asked.
    pub fn usd_per_battle(&self) -> Result<Option<f64>> {
        let mut sum = None;
        let mut statement = self.connection.prepare_cached(
            "SELECT CASE WHEN sum(asked) = sum(asked_priced) THEN sum(asked_usd) / sum(asked) END
             FROM call_total
             WHERE asked > 0 GROUP BY judge",
        )?;
        let rows = statement.query_map([], |row| row.get::<_, Option<f64>>(0))?;
        for row in rows {
            let Some(usd) = row? else {
                return Ok(None);
            };
            sum = Some(sum.unwrap_or(0.0) + usd);
        }
        Ok(sum)
    }
}
