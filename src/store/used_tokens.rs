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
                 avg(cost_usd) FILTER (WHERE latency_ms IS NOT NULL)
             FROM (
                 SELECT tokens_input, tokens_cached, tokens_output, cost_usd, latency_ms FROM vote
                 WHERE judge = ?1 AND tokens_input > 0 AND run IS NOT NULL LIMIT ?2
             )",
            rusqlite::params![judge.0, ANSWERS],
            |row| {
                let answers: usize = row.get(0)?;
                if answers == 0 {
                    return Ok(None);
                }
                let tokens = |at: usize| -> rusqlite::Result<u64> {
                    let mean: f64 = row.get(at)?;
                    Ok(mean.round() as u64)
                };
                Ok(Some(LearntUsage {
                    answers,
                    mean: Usage {
                        input: tokens(1)?,
                        cached: tokens(2)?,
                        output: tokens(3)?,
                        thinking: 0,
                    },
                    mean_usd: row.get(4)?,
                }))
            },
        )
    }
}
