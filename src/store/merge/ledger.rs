//! The cost of calls other than votes, failures and picks: ledger rows, matched by UID.

use super::Merger;
use crate::store::Result;
use rusqlite::types::Value;
use rusqlite::{params, params_from_iter};

/// Columns that can be copied without translation.
const PLAIN: &str =
    "uid, purpose, service, worst_usd, sent_ms, ended_ms, cause, cost_usd, assumed_usd, kept";

impl Merger<'_> {
    /// Copies the cost of calls that have ended. Calls in flight there are copied by a later merge.
    pub(crate) fn ledger(&mut self) -> Result<()> {
        let mut statement = self.from.prepare_cached(&format!(
            "SELECT run.uid, {} FROM call LEFT JOIN run ON run.id = call.run
             WHERE call.ended_ms IS NOT NULL ORDER BY call.uid",
            PLAIN
                .split(", ")
                .map(|column| format!("call.{column}"))
                .collect::<Vec<_>>()
                .join(", ")
        ))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let run = match row.get::<_, Option<String>>(0)? {
                Some(uid) => self.known_run(&uid)?,
                None => None,
            };
            let mut values: Vec<Value> = vec![run.into()];
            for column in 1..=PLAIN.split(',').count() {
                values.push(row.get(column)?);
            }
            let added = self.db.change(
                &format!(
                    "INSERT INTO call (run, {PLAIN}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,
                     ?10, ?11)
                     ON CONFLICT DO NOTHING"
                ),
                params_from_iter(values),
            )?;
            if added > 0 {
                self.merged.spent_usd += row.get::<_, Option<f64>>("cost_usd")?.unwrap_or(0.0);
                self.merged.assumed_usd += row.get::<_, Option<f64>>("assumed_usd")?.unwrap_or(0.0);
            }
        }
        Ok(())
    }

    fn known_run(&self, uid: &str) -> Result<Option<i64>> {
        self.db
            .maybe_value("SELECT id FROM run WHERE uid = ?1", params![uid])
    }
}
