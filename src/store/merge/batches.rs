//! Batches that both projects have: results that the other one has fetched count as fetched here.

use super::Merger;
use crate::registry;
use crate::store::Result;
use crate::store::batches::{BatchCallState, BatchId, BatchStage, batch_call_uid};
use crate::store::corpus::QueryKey;
use rusqlite::params;

impl Merger<'_> {
    /// Marks calls of batches as done that are done in the other file. `queries` are those whose
    /// votes and failures were merged: the results of other queries remain to be fetched. List calls
    /// must have been merged.
    pub(crate) fn batches(&mut self, queries: &[QueryKey]) -> Result<()> {
        let queries = serde_json::to_string(&queries.iter().map(|key| key.0).collect::<Vec<_>>())?;
        for theirs in self.other.batches(false)? {
            let ours: Option<i64> = self.db.maybe_value(
                "SELECT id FROM batch WHERE uid = ?1 AND closed_ms IS NULL",
                [&theirs.uid],
            )?;
            let Some(ours) = ours.map(BatchId) else {
                continue;
            };
            let known: Option<String> = self
                .db
                .value("SELECT remote FROM batch WHERE id = ?1", [ours.0])?;
            if let Some(remote) = theirs.remote.as_ref().filter(|_| known.is_none()) {
                self.db.name_batch(ours, remote)?;
            }
            let there = self.other.batch_call_states(theirs.id)?;
            for &(number, state) in &there {
                if state != BatchCallState::Open
                    && self.has_result(ours, (&theirs.uid, number, state), &queries)?
                {
                    self.db.end_batch_call(ours, number, state)?;
                }
            }
            let here = self.db.batch_call_states(ours)?;
            let is_here = here.iter().zip(&there).all(|(here, there)| {
                here.1 != BatchCallState::Open || there.1 == BatchCallState::Open
            });
            if theirs.stage == BatchStage::Fetched && theirs.is_closed && is_here {
                let now_ms = theirs.checked_ms.unwrap_or(theirs.submitted_ms);
                let message = theirs.message.as_deref();
                self.db
                    .note_batch(ours, BatchStage::Fetched, theirs.told, message, now_ms)?;
            }
        }
        Ok(())
    }

    /// Whether a call is open here and its result was merged: that of a vote about one of these
    /// queries, or that of a list.
    fn has_result(
        &self,
        batch: BatchId,
        (uid, number, state): (&str, usize, BatchCallState),
        queries: &str,
    ) -> Result<bool> {
        if let Some((call, BatchCallState::Open)) = self.db.batch_call(batch, number)?
            && call.vote.is_none()
        {
            return registry::has_list_result(self.db, &batch_call_uid(uid, number, Some(state)));
        }
        self.exists(
            "SELECT 1 FROM batch_call JOIN battle ON battle.id = batch_call.battle
             WHERE batch = ?1 AND number = ?2 AND done = 0
                 AND battle.query IN (SELECT value FROM json_each(?3))",
            params![batch.0, number, queries],
        )
    }

    /// Number of pending calls in batches that only the other file has.
    pub(crate) fn calls_pending(&self) -> Result<usize> {
        let open = self.other.batches(true)?.into_iter().map(|theirs| {
            let is_here = self.exists("SELECT 1 FROM batch WHERE uid = ?1", [&theirs.uid])?;
            Ok(if is_here { 0 } else { theirs.left })
        });
        open.sum()
    }
}
