//! Fingerprints of each judge's model weights, since the weights behind a name may change.

use super::{Db, Result};
use crate::domain::vote::JudgeId;
use rusqlite::params;

/// Source of a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FingerprintSource {
    /// Listed by the server that runs the model.
    Listed,
    /// Reported in an answer. A provider with many servers may report a different one each time.
    Answer,
}

impl Db {
    /// Records the fingerprint of the weights that a judge uses from now on. If it differs from the
    /// previous one, returns the number of votes that the judge cast before.
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
            "INSERT INTO judge_weights (judge, fingerprint, votes_before, seen_ms) VALUES (?1, ?2,
             ?3, ?4)",
            params![judge.0, fingerprint, votes, seen_ms],
        )?;
        Ok((!seen.is_empty() && votes > 0).then_some(votes))
    }

    /// Number of votes that a judge cast before its weights were last replaced; `None` if they
    /// never were.
    pub fn votes_before_replacement(&self, judge: JudgeId) -> Result<Option<usize>> {
        let replaced: Vec<(i64, usize)> = self.all(
            "SELECT seen_ms, votes_before
             FROM (SELECT *, lag(fingerprint) OVER (ORDER BY seen_ms, id) AS before
                   FROM judge_weights WHERE judge = ?1)
             WHERE before IS NOT NULL AND before != fingerprint ORDER BY seen_ms DESC, id DESC",
            [judge.0],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        for (seen_ms, votes_before) in replaced {
            // Rows from a merge are not ordered by time, and their votes were not counted here.
            let earlier: usize = self.value(
                "SELECT count(*) FROM vote WHERE vote.judge = ?1 AND created_ms < ?2",
                params![judge.0, seen_ms],
            )?;
            let votes = votes_before.max(earlier);
            if votes > 0 {
                return Ok(Some(votes));
            }
        }
        Ok(None)
    }

    /// The latest known fingerprint of a judge's weights.
    pub fn weights_of(&self, judge: JudgeId) -> Result<Option<String>> {
        self.maybe_value(
            "SELECT fingerprint FROM judge_weights WHERE judge = ?1 ORDER BY seen_ms DESC, id DESC
             LIMIT 1",
            [judge.0],
        )
    }
}
