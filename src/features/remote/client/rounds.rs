//! Rounds of queries whose pairs are chosen from the answers to earlier rounds.
//!
//! A unit that has a round and no part stands for planning the round. It is added to a job when the
//! last unit of the round before is done, and it is leased like any other unit, so that another
//! worker plans the round if the first one dies.

use super::error::ServerError;
use super::jobs::Seat;
use super::server::{Server, in_time};
use super::unit::Unit;
use crate::store::merge::Piece;
use std::collections::BTreeSet;
use tokio_postgres::Transaction;

/// Keeps others from ending or planning a round of the query `$2` of the job `$1` until the end of
/// the transaction.
const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtextextended($2, $1))";

/// Adds a unit for planning the next round of each query of these units whose units are all done.
/// They are leased to the worker for `seconds`.
pub(super) async fn end_rounds(
    transaction: &Transaction<'_>,
    seat: &Seat,
    done: Vec<Unit>,
    seconds: f64,
) -> Result<Vec<Unit>, tokio_postgres::Error> {
    let in_rounds = done.into_iter().filter(|unit| unit.round.is_some());
    // In order, so that two workers never wait for each other.
    let queries: BTreeSet<String> = in_rounds.map(|unit| unit.query).collect();
    for query in &queries {
        transaction.execute(LOCK, &[&seat.job, query]).await?;
    }
    if queries.is_empty() {
        return Ok(Vec::new());
    }
    // Whoever held a lock before has committed, and this statement sees it.
    let queries: Vec<String> = queries.into_iter().collect();
    let rows = transaction
        .query(
            "INSERT INTO overrule.unit (job, id, query, round, worker, leased_until)
             SELECT $1, nextval('overrule.unit_id'), query, last + 1, $2,
                 now() + $3 * interval '1 second'
             FROM (SELECT query, max(round) AS last FROM overrule.unit
                 WHERE job = $1 AND query = ANY ($4) AND round IS NOT NULL
                 GROUP BY query HAVING bool_and(done)) AS ended
             RETURNING id, query, round, part",
            &[&seat.job, &seat.worker, &seconds, &queries],
        )
        .await?;
    rows.into_iter().map(Unit::of_row).collect()
}

impl Server {
    /// Stores a planned round: `rounds` contains the rounds of its query so far, and `parts` units are
    /// added to the job. The query has no further round if there are no parts. Returns false and
    /// stores nothing if the worker does not have the unit any more.
    pub async fn add_round(
        &mut self,
        seat: &Seat,
        unit: &Unit,
        round: i32,
        rounds: &Piece,
        parts: i32,
    ) -> Result<bool, ServerError> {
        let patience = self.patience;
        let added = async {
            let transaction = self.client.transaction().await?;
            let seats = transaction
                .execute(
                    "UPDATE overrule.worker SET seen = now() WHERE id = $1 AND session = $2",
                    &[&seat.worker, &seat.session],
                )
                .await?;
            if seats == 0 {
                return Ok(None);
            }
            transaction.execute(LOCK, &[&seat.job, &unit.query]).await?;
            let planned = transaction
                .execute(
                    "UPDATE overrule.unit SET done = true, leased_until = NULL, round = $4
                     WHERE job = $1 AND id = $2 AND worker = $3 AND NOT done",
                    &[&seat.job, &unit.id, &seat.worker, &round],
                )
                .await?;
            if planned == 0 {
                return Ok(Some(false));
            }
            if parts > 0 {
                transaction
                    .execute(
                        "INSERT INTO overrule.piece (job, unit, worker, votes, failures, body)
                         VALUES ($1, $2, $3, 0, 0, $4)",
                        &[&seat.job, &unit.id, &seat.worker, &rounds.bytes],
                    )
                    .await?;
                transaction
                    .execute(
                        "INSERT INTO overrule.unit (job, id, query, round, part)
                         SELECT $1, nextval('overrule.unit_id'), $2, $3, part
                         FROM generate_series(0, $4::integer - 1) AS part",
                        &[&seat.job, &unit.query, &round, &parts],
                    )
                    .await?;
            }
            transaction.commit().await?;
            Ok(Some(true))
        };
        let added = in_time(patience, added).await;
        self.seated(self.outcome(added)?)
    }
}
