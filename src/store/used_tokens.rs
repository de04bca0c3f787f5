//! Average tokens and cost of a judge's answers so far, for estimates.

use super::{Db, Result};
use crate::domain::vote::JudgeId;
use crate::judge::{LearntUsage, Usage};

/// Maximum number of answers to average: those about the battles planned last.
const ANSWERS: usize = 2_000;

impl Db {
    /// Average tokens and cost of a judge's answers; `None` if its provider counted the tokens of
    /// none of them.
    pub fn used_by(&self, judge: JudgeId) -> Result<Option<LearntUsage>> {
        if self.votes_of(judge)? == 0 {
            return Ok(None);
        }
        // A vote that shares the answer of another call has no tokens. One from a batch has no
        // latency, and its cost is that of a batch.
        self.one(
            "SELECT count(*), avg(tokens_input), avg(tokens_cached), avg(tokens_output),
                 avg(cost_usd) FILTER (WHERE latency_ms IS NOT NULL)
             FROM (
                 SELECT tokens_input, tokens_cached, tokens_output, cost_usd, latency_ms FROM vote
                 WHERE judge = ?1 AND tokens_input > 0 AND run IS NOT NULL
                 ORDER BY battle DESC LIMIT ?2
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
