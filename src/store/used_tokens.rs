//! What a judge's answers so far took, for forecasts.

use super::{Db, Result};
use crate::domain::vote::JudgeId;
use crate::judge::{LearntUsage, Usage};

/// Answers that are looked at.
const ANSWERS: usize = 2_000;

impl Db {
    /// What the answers of a judge took on average; `None` if none of them was counted by its
    /// provider.
    pub fn used_by(&self, judge: JudgeId) -> Result<Option<LearntUsage>> {
        if self.votes_of(judge)? == 0 {
            return Ok(None);
        }
        // A vote that shares the answer of another call has no tokens. One out of a batch has no
        // latency, and costs what calls in batches cost.
        self.one(
            "SELECT count(*), avg(tokens_input), avg(tokens_cached), avg(tokens_output),
                 avg(tokens_input) FILTER (WHERE direct), avg(tokens_cached) FILTER (WHERE direct),
                 avg(tokens_output) FILTER (WHERE direct), avg(cost_usd) FILTER (WHERE direct)
             FROM (
                 SELECT *, latency_ms IS NOT NULL AND cost_usd IS NOT NULL AS direct FROM vote
                 WHERE judge = ?1 AND tokens_input > 0 AND run IS NOT NULL LIMIT ?2
             )",
            rusqlite::params![judge.0, ANSWERS],
            |row| {
                let answers: usize = row.get(0)?;
                if answers == 0 {
                    return Ok(None);
                }
                let usage = |first: usize| -> rusqlite::Result<Usage> {
                    let tokens = |at: usize| -> rusqlite::Result<u64> {
                        let mean: Option<f64> = row.get(at)?;
                        Ok(mean.unwrap_or(0.0).round() as u64)
                    };
                    Ok(Usage {
                        input: tokens(first)?,
                        cached: tokens(first + 1)?,
                        output: tokens(first + 2)?,
                        thinking: 0,
                    })
                };
                let usd: Option<f64> = row.get(7)?;
                let charged = usd.map(|usd| Ok::<_, rusqlite::Error>((usage(4)?, usd)));
                Ok(Some(LearntUsage {
                    answers,
                    mean: usage(1)?,
                    charged: charged.transpose()?,
                }))
            },
        )
    }
}
