//! Votes and failures on a battle with all details of their calls.

use super::corpus::QueryKey;
pub use super::reply_rows::VoteReasoning;
use super::reply_rows::kept_or_not;
use super::{Db, Result};
use crate::domain::battle::{BattleId, PROBE_GAME, Pair};
use crate::domain::vote::{JudgeId, Margin};
use crate::judge::FailureCause;
use rusqlite::params;

/// A vote or a failure with all details of its call.
#[derive(Clone, Debug, PartialEq)]
pub struct VoteDetail {
    pub battle: BattleId,
    pub judge: JudgeId,
    /// Whether the judge was shown B first.
    pub swapped: bool,
    /// The preference between the battle's A and B, or the failure.
    pub result: std::result::Result<Margin, (FailureCause, String)>,
    /// The reasoning; empty for a failure.
    pub reasoning: VoteReasoning,
    /// The raw reply, if it was stored.
    pub raw: Option<String>,
    pub model: Option<String>,
    /// 1 for the first call.
    pub attempt: u32,
    pub tokens: (u64, u64),
    /// US dollars, if known.
    pub cost_usd: Option<f64>,
    /// Milliseconds, if measured.
    pub latency_ms: Option<f64>,
}

/// A vote with its reasoning and query.
#[derive(Clone, Debug, PartialEq)]
pub struct ReasonedVote {
    pub query: QueryKey,
    /// Position of document A in the pool.
    pub a: usize,
    /// Position of document B in the pool.
    pub b: usize,
    /// Whether the judge was shown B first.
    pub swapped: bool,
    /// The margin as stored: negative if A is better.
    pub margin: f64,
    pub reasoning: VoteReasoning,
    pub query_text: String,
}

/// Number of votes to check for each one with a reasoning, since some judges give none.
const SPARE: usize = 4;

impl Db {
    /// All votes and unresolved failures on a battle, in the order of `judges`.
    pub fn battle_votes(&self, battle: BattleId, judges: &[JudgeId]) -> Result<Vec<VoteDetail>> {
        let mut details = Vec::new();
        let mut statement = self.connection.prepare_cached(
            "SELECT judge, swapped, margin, reply, run IS NOT NULL, name.text, attempt,
             tokens_input, tokens_output,
                    cost_usd, latency_ms
             FROM vote LEFT JOIN name ON name.id = vote.model WHERE battle = ?1",
        )?;
        let mut rows = statement.query([battle.0])?;
        while let Some(row) = rows.next()? {
            let (reply, of_run) = (row.get(3)?, row.get(4)?);
            let text = self.reply(reply)?;
            details.push(VoteDetail {
                battle,
                judge: JudgeId(row.get(0)?),
                swapped: row.get(1)?,
                result: Ok(row.get(2)?),
                reasoning: kept_or_not(reply, of_run, text.reasoning),
                raw: text.raw,
                model: row.get(5)?,
                attempt: row.get(6)?,
                tokens: (row.get(7)?, row.get(8)?),
                cost_usd: row.get(9)?,
                latency_ms: row.get(10)?,
            });
        }
        let mut statement = self.connection.prepare_cached(
            "SELECT judge, swapped, cause, message, raw, attempt, tokens_input, tokens_output,
             cost_usd, latency_ms
             FROM failure WHERE battle = ?1 ORDER BY id DESC",
        )?;
        let mut rows = statement.query([battle.0])?;
        while let Some(row) = rows.next()? {
            let judge = JudgeId(row.get(0)?);
            if details
                .iter()
                .any(|detail: &VoteDetail| detail.judge == judge)
            {
                continue;
            }
            details.push(VoteDetail {
                battle,
                judge,
                swapped: row.get(1)?,
                result: Err((row.get(2)?, row.get(3)?)),
                reasoning: VoteReasoning::Kept(String::new()),
                raw: row.get(4)?,
                model: None,
                attempt: row.get(5)?,
                tokens: (row.get(6)?, row.get(7)?),
                cost_usd: row.get(8)?,
                latency_ms: row.get(9)?,
            });
        }
        details.retain(|detail| judges.contains(&detail.judge));
        details.sort_by_key(|detail| judges.iter().position(|judge| *judge == detail.judge));
        Ok(details)
    }

    /// The positions of a battle's documents A and B.
    pub fn documents_of(&self, battle: BattleId) -> Result<(usize, usize)> {
        self.one("SELECT a, b FROM battle WHERE id = ?1", [battle.0], |row| {
            row.try_into()
        })
    }

    /// The query of a battle.
    pub fn query_of(&self, battle: BattleId) -> Result<QueryKey> {
        self.one(
            "SELECT query FROM battle WHERE id = ?1",
            [battle.0],
            |row| row.get(0).map(QueryKey),
        )
    }

    /// The votes that count on a pair of a query, by judge; A is the document earlier in the pool.
    pub fn pair_margins(&self, query: QueryKey, pair: Pair) -> Result<Vec<(JudgeId, Margin)>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT judge, margin, a > b FROM vote JOIN battle ON battle.id = vote.battle
             WHERE query = ?1 AND min(a, b) = ?2 AND max(a, b) = ?3 AND game != ?4",
        )?;
        let (low, high) = (pair.low(), pair.high());
        let mut rows = statement.query(params![query.0, low, high, PROBE_GAME])?;
        let mut margins = Vec::new();
        while let Some(row) = rows.next()? {
            if let Some(margin) = Margin::new(row.get(1)?) {
                let turned: bool = row.get(2)?;
                let margin = if turned { margin.flipped() } else { margin };
                margins.push((JudgeId(row.get(0)?), margin));
            }
        }
        Ok(margins)
    }

    /// Passes every vote of the project that counts to `each`; A is the document earlier in the
    /// pool.
    pub fn each_margin(&self, mut each: impl FnMut(QueryKey, Pair, JudgeId, Margin)) -> Result<()> {
        let mut statement = self.connection.prepare_cached(
            "SELECT query, a, b, judge, margin FROM vote JOIN battle ON battle.id = vote.battle
             WHERE game != ?1",
        )?;
        let mut rows = statement.query([PROBE_GAME])?;
        while let Some(row) = rows.next()? {
            let (a, b) = (row.get(1)?, row.get(2)?);
            if let (Some(pair), Some(margin)) = (Pair::new(a, b), Margin::new(row.get(4)?)) {
                let margin = if a < b { margin } else { margin.flipped() };
                each(QueryKey(row.get(0)?), pair, JudgeId(row.get(3)?), margin);
            }
        }
        Ok(())
    }

    /// A deterministic sample of a judge's votes that have a reasoning. They are drawn in groups of
    /// `at_once` consecutive battles, which are mostly about the same query.
    pub fn votes_with_reasoning(
        &self,
        judge: JudgeId,
        limit: usize,
        at_once: usize,
    ) -> Result<Vec<ReasonedVote>> {
        // Select by the narrow rows, then check one by one.
        let mut statement = self.connection.prepare_cached(
            "SELECT battle, swapped, margin, reply, run IS NOT NULL FROM vote
             WHERE judge = ?1 AND (reply IS NOT NULL OR run IS NOT NULL)
             ORDER BY (battle / ?3 * 2654435761) % 4294967296, battle LIMIT ?2",
        )?;
        let mut rows = statement.query(params![
            judge.0,
            limit.saturating_mul(SPARE),
            at_once.max(1)
        ])?;
        let mut votes = Vec::new();
        while votes.len() < limit
            && let Some(row) = rows.next()?
        {
            let reasoning = self.reasoning(row.get(3)?, row.get(4)?)?;
            if reasoning == VoteReasoning::Kept(String::new()) {
                continue;
            }
            let (swapped, margin) = (row.get(1)?, row.get(2)?);
            votes.push(self.one(
                "SELECT query, a, b, text FROM battle JOIN query ON query.id = battle.query
                 WHERE battle.id = ?1",
                [row.get::<_, i64>(0)?],
                |row| {
                    Ok(ReasonedVote {
                        query: QueryKey(row.get(0)?),
                        a: row.get(1)?,
                        b: row.get(2)?,
                        swapped,
                        margin,
                        reasoning,
                        query_text: row.get(3)?,
                    })
                },
            )?);
        }
        Ok(votes)
    }
}
