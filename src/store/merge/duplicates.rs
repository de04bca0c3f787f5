//! Votes that do not count, since another copy of a shared project had asked the same question
//! before.

use super::votes::{BattleRows, turn};
use super::{MatchedQuery, Merger};
use crate::domain::vote::JudgeId;
use crate::judge::JudgeSpec;
use crate::store::Result;
use crate::store::vote_details::VoteReasoning;
use rusqlite::types::Value;
use rusqlite::{params, params_from_iter};
use sha2::{Digest as _, Sha256};

/// Columns of a vote that a duplicate keeps.
const KEPT: &str = "attempt, tokens_input, tokens_cached, tokens_output, tokens_thinking, cost_usd,
                    latency_ms, truncated, created_ms";

impl Merger<'_> {
    /// Moves a judge's vote in a battle to the duplicates. Its cost goes to the ledger. Answers of
    /// embedded judges can be computed again and are not kept.
    pub(super) fn set_aside(
        &mut self,
        query: &MatchedQuery,
        battle: i64,
        (judge, spec): (JudgeId, &JudgeSpec),
    ) -> Result<()> {
        if !spec.is_offline() {
            self.keep_duplicate(query, battle, judge)?;
        }
        self.db.change(
            "DELETE FROM vote WHERE battle = ?1 AND judge = ?2",
            params![battle, judge.0],
        )?;
        Ok(())
    }

    fn keep_duplicate(&mut self, query: &MatchedQuery, battle: i64, judge: JudgeId) -> Result<()> {
        let (reply, run): (Option<i64>, Option<i64>) = self.db.one(
            "SELECT reply, run FROM vote WHERE battle = ?1 AND judge = ?2",
            params![battle, judge.0],
            |row| row.try_into(),
        )?;
        let words = match self.db.reasoning(reply, run.is_some())? {
            VoteReasoning::Kept(words) | VoteReasoning::WrittenAgain(words) => Some(words),
            VoteReasoning::Unkept | VoteReasoning::Gone => None,
        };
        self.db.change(
            &format!(
                "INSERT OR IGNORE INTO duplicate_vote (battle, judge, swapped, margin, reasoning,
                     {KEPT})
                 SELECT battle, judge, swapped, margin, ?3, {KEPT} FROM vote
                 WHERE battle = ?1 AND judge = ?2"
            ),
            params![battle, judge.0, words],
        )?;
        let uid = Sha256::new()
            .chain_update(b"duplicate")
            .chain_update(self.vote_identity(query, battle, judge)?)
            .finalize();
        self.db.change(
            "INSERT INTO call (uid, purpose, service, run, sent_ms, ended_ms, cost_usd)
             SELECT ?3, 'votes', judge.name, run, created_ms, created_ms, cost_usd
             FROM vote JOIN judge ON judge.id = judge
             WHERE battle = ?1 AND judge = ?2 AND cost_usd IS NOT 0.0 ON CONFLICT DO NOTHING",
            params![battle, judge.0, &uid[..16]],
        )?;
        self.merged.votes_set_aside += 1;
        Ok(())
    }

    /// A text that identifies a judge's vote in every copy of the project.
    fn vote_identity(&self, query: &MatchedQuery, battle: i64, judge: JudgeId) -> Result<String> {
        type Columns = (String, String, bool, f64, i64);
        let (a, b, is_swapped, margin, created_ms): Columns = self.db.one(
            "SELECT one.name, other.name, swapped, margin, created_ms
             FROM vote JOIN battle ON battle.id = vote.battle
             JOIN document AS one ON one.query = battle.query AND one.position = battle.a
             JOIN document AS other ON other.query = battle.query AND other.position = battle.b
             WHERE battle.id = ?1 AND judge = ?2",
            params![battle, judge.0],
            |row| row.try_into(),
        )?;
        let (query, judge): (String, String) = self.db.one(
            "SELECT query.name, json_array(judge.name, provider, model, prompt_hash, params)
             FROM query, judge WHERE query.id = ?1 AND judge.id = ?2",
            params![query.ours.0, judge.0],
            |row| row.try_into(),
        )?;
        // Whichever document the battle names first.
        let is_turned = a > b;
        Ok(serde_json::json!([
            query,
            judge,
            a.as_str().min(&b),
            a.as_str().max(&b),
            is_swapped != is_turned,
            turn(margin, is_turned).to_bits(),
            created_ms,
        ])
        .to_string())
    }

    /// Whether the other file has set aside a judge's vote in a battle with this time.
    pub(super) fn is_aside(&self, battle: i64, judge: i64, created_ms: i64) -> Result<bool> {
        let mut statement = self.from.prepare_cached(
            "SELECT 1 FROM duplicate_vote WHERE battle = ?1 AND judge = ?2 AND created_ms = ?3",
        )?;
        Ok(statement.exists(params![battle, judge, created_ms])?)
    }

    /// Copies the duplicates of a query. Their costs are in the ledger.
    pub(super) fn duplicates(&mut self, query: &MatchedQuery, battles: &BattleRows) -> Result<()> {
        let mut statement = self.from.prepare_cached(&format!(
            "SELECT duplicate_vote.battle, judge, swapped, margin, reasoning, {KEPT}
             FROM battle JOIN duplicate_vote ON duplicate_vote.battle = battle.id
             WHERE battle.query = ?1 ORDER BY duplicate_vote.battle, judge, created_ms, margin"
        ))?;
        let mut rows = statement.query([query.theirs])?;
        while let Some(row) = rows.next()? {
            let Some((battle, is_turned)) = battles.get(&row.get::<_, i64>(0)?).copied() else {
                continue;
            };
            let judge = self.judge(row.get(1)?)?;
            let is_swapped = row.get::<_, bool>(2)? != is_turned;
            let mut values: Vec<Value> = vec![
                battle.into(),
                judge.0.into(),
                i64::from(is_swapped).into(),
                turn(row.get(3)?, is_turned).into(),
            ];
            for column in 4..5 + KEPT.split(',').count() {
                values.push(row.get(column)?);
            }
            self.db.change(
                &format!(
                    "INSERT OR IGNORE INTO duplicate_vote (battle, judge, swapped, margin,
                         reasoning, {KEPT})
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)"
                ),
                params_from_iter(values),
            )?;
        }
        Ok(())
    }
}
