//! Fingerprints of the judges' model weights.

use super::Merger;
use crate::store::Result;
use rusqlite::params;

impl Merger<'_> {
    /// Copies the fingerprints of judges with merged votes where they differ from those here at
    /// that time.
    pub(crate) fn weights(&mut self) -> Result<()> {
        let mut statement = self.from.prepare_cached(
            "SELECT judge, fingerprint, votes_before, seen_ms FROM judge_weights ORDER BY seen_ms,
             id",
        )?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let Some((judge, _)) = self.judges.get(&row.get::<_, i64>(0)?) else {
                continue;
            };
            let (fingerprint, votes_before, seen_ms): (String, i64, i64) =
                (row.get(1)?, row.get(2)?, row.get(3)?);
            self.db.change(
                "INSERT INTO judge_weights (judge, fingerprint, votes_before, seen_ms)
                 SELECT ?1, ?2, ?3, ?4 WHERE ?2 IS NOT (
                     SELECT fingerprint FROM judge_weights WHERE judge = ?1 AND seen_ms <= ?4
                     ORDER BY seen_ms DESC, id DESC LIMIT 1)",
                params![judge.0, fingerprint, votes_before, seen_ms],
            )?;
        }
        Ok(())
    }
}
