//! Which weights a judge's model was seen with: a name may come to stand for others.

use super::{Db, Result};
use crate::domain::vote::JudgeId;
use rusqlite::params;

/// How a fingerprint came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FingerprintSource {
    /// Listed by the server that has the weights.
    Listed,
    /// Said in an answer. A provider with many servers may say another one with each.
    Answer,
}

impl Db {
    /// Notes the fingerprint of the weights that a judge answers with from now on. Returns how many votes it has cast with
    /// others, where they are others.
    pub fn note_weights(
        &self,
        judge: JudgeId,
        fingerprint: &str,
        source: FingerprintSource,
        seen_ms: i64,
    ) -> Result<Option<usize>> {
        let seen: Vec<String> = self.all(
            "SELECT fingerprint FROM judge_weights WHERE judge = ?1 ORDER BY seen_ms DESC, id DESC",
            [judge.0],
            |row| row.get(0),
        )?;
        let known = match source {
            FingerprintSource::Listed => seen.first().is_some_and(|last| last == fingerprint),
            FingerprintSource::Answer => seen.iter().any(|one| one == fingerprint),
        };
        if known {
            return Ok(None);
        }
        let votes = self.votes_of(judge)?;
        self.change(
            "INSERT INTO judge_weights (judge, fingerprint, votes_before, seen_ms) VALUES (?1, ?2, ?3, ?4)",
            params![judge.0, fingerprint, votes, seen_ms],
        )?;
        Ok((!seen.is_empty() && votes > 0).then_some(votes))
    }

    /// How many votes of a judge were cast before its weights were replaced last; `None` where they never were.
    pub fn votes_before_replacement(&self, judge: JudgeId) -> Result<Option<usize>> {
        self.maybe_value(
            // Rows that a merge brought are not in the order of their times, and their votes were not counted here.
            "SELECT votes FROM (
                 SELECT seen_ms, id, max(votes_before, (
                     SELECT count(*) FROM vote WHERE vote.judge = ?1 AND vote.created_ms < seen.seen_ms)) AS votes
                 FROM (SELECT *, lag(fingerprint) OVER (ORDER BY seen_ms, id) AS before
                       FROM judge_weights WHERE judge = ?1) AS seen
                 WHERE before IS NOT NULL AND before != fingerprint)
             WHERE votes > 0 ORDER BY seen_ms DESC, id DESC LIMIT 1",
            [judge.0],
        )
    }

    /// The weights that a judge was seen with last.
    pub fn weights_of(&self, judge: JudgeId) -> Result<Option<String>> {
        self.maybe_value(
            "SELECT fingerprint FROM judge_weights WHERE judge = ?1 ORDER BY seen_ms DESC, id DESC LIMIT 1",
            [judge.0],
        )
    }
}
