//! Reuses the answer of a call for other battles about documents with identical texts, and replies
//! that were bought outside runs.

use super::call_totals::KeptCall;
use super::columns::KEPT_OF_KEY;
use super::runs::RunId;
use super::{Db, Result};
use crate::domain::battle::BattleId;
use crate::domain::vote::{JudgeId, Margin};
use crate::judge::{JudgeReply, RateLimits, Usage};
use rusqlite::params;
use std::time::Duration;

/// Identifies a vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KnownVote {
    pub battle: BattleId,
    pub judge: JudgeId,
}

/// The readable reply to a call that was made outside runs.
#[derive(Clone, Debug, PartialEq)]
pub struct BoughtReply {
    /// Negative if the document shown first is better.
    pub margin: Margin,
    pub raw: Option<String>,
    pub model: Option<String>,
    /// Whether a document was truncated for the judge.
    pub truncated: bool,
}

impl From<BoughtReply> for JudgeReply {
    /// The reply, to be read again. It was paid for with the call that it answered.
    fn from(bought: BoughtReply) -> Self {
        Self {
            text: bought.raw.unwrap_or_default(),
            outside: None,
            model: bought.model,
            stop_reason: None,
            request_id: None,
            usage: Usage::default(),
            cost_usd: None,
            latency: Duration::ZERO,
            fingerprint: None,
            odds: None,
            limits: RateLimits::default(),
        }
    }
}

/// The answer of a call that became a vote.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CallAnswer {
    /// Negative if the document shown first is better.
    pub margin: Margin,
    pub tokens_input: u64,
    pub tokens_output: u64,
    /// US dollars, if known.
    pub cost_usd: Option<f64>,
}

impl Db {
    /// The answer of an identical call that became a vote: that of the call itself, not of a vote
    /// that shares it.
    pub fn answer_of_call(&self, key: &[u8; 32]) -> Result<Option<CallAnswer>> {
        self.maybe(
            "SELECT CASE WHEN swapped THEN 0.0 - margin ELSE margin END, tokens_input,
             tokens_output, cost_usd
             FROM vote WHERE substr(call_key, 1, 8) = substr(?1, 1, 8) AND call_key = ?1
             ORDER BY tokens_input DESC LIMIT 1",
            [&key[..KEPT_OF_KEY]],
            |row| {
                Ok(CallAnswer {
                    margin: row.get(0)?,
                    tokens_input: row.get(1)?,
                    tokens_output: row.get(2)?,
                    cost_usd: row.get(3)?,
                })
            },
        )
    }

    /// A vote that resulted from an identical call.
    pub fn vote_by_call(&self, key: &[u8; 32]) -> Result<Option<KnownVote>> {
        self.maybe(
            // The index contains the first bytes of each key.
            "SELECT battle, judge FROM vote WHERE substr(call_key, 1, 8) = substr(?1, 1, 8)
             AND call_key = ?1 LIMIT 1",
            [&key[..KEPT_OF_KEY]],
            |row| {
                Ok(KnownVote {
                    battle: BattleId(row.get(0)?),
                    judge: JudgeId(row.get(1)?),
                })
            },
        )
    }

    /// Copies a vote to another battle at no cost. Both calls would have shown the judge the same
    /// texts in the same order; the margin is negated if the battles store the documents in
    /// opposite orders.
    #[allow(clippy::too_many_arguments)]
    pub fn reuse_vote(
        &self,
        known: KnownVote,
        battle: BattleId,
        judge: JudgeId,
        swapped: bool,
        attempt: u32,
        run: RunId,
        created_ms: i64,
    ) -> Result<()> {
        let added = self.change(
            "INSERT INTO vote (battle, judge, swapped, margin, attempt, tokens_input, tokens_cached,
                 tokens_output, tokens_thinking, cost_usd, latency_ms, truncated, run, created_ms,
                 call_key,
                 model, stop_reason, reply)
             SELECT ?3, ?4, ?5, CASE WHEN swapped = ?5 THEN margin ELSE 0.0 - margin END, ?6, 0, 0,
             0, 0, 0.0,
                 NULL, truncated, ?7, ?8, call_key, model, stop_reason, reply
             FROM vote WHERE battle = ?1 AND judge = ?2
             ON CONFLICT DO NOTHING",
            params![
                known.battle.0,
                known.judge.0,
                battle.0,
                judge.0,
                swapped,
                attempt,
                run.0,
                created_ms
            ],
        )?;
        if added > 0 {
            let kept = KeptCall::Vote {
                asked: true,
                margin: self.value(
                    "SELECT margin FROM vote WHERE battle = ?1 AND judge = ?2",
                    params![battle.0, judge.0],
                )?,
                swapped,
                shared: true,
            };
            self.count_call(battle.0, judge.0, kept, Some(0.0))?;
        }
        self.touch_query_of(battle)?;
        Ok(())
    }
}
