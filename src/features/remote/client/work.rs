//! Units that workers lease, and the pieces that they store.

use super::error::ServerError;
use super::jobs::{Job, Seat};
use super::rounds::end_rounds;
use super::server::{Server, in_time};
use super::unit::Unit;
use crate::store::merge::Piece;
use tokio_postgres::Row;
use uuid::Uuid;

/// The unit under which a worker stores the cost of its other calls.
pub const LEDGER_UNIT: i32 = 0;

/// The totals that a worker reports with its pieces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkerReport {
    /// Votes, or the answers of another command.
    pub votes: i64,
    pub failures: i64,
    /// Millionths of a US dollar.
    pub spent: i64,
}

/// How far the pieces of a job have been read: the number of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor(pub String);

impl Cursor {
    /// Whether it is before another one.
    pub fn is_before(&self, other: &Self) -> bool {
        let number = |of: &Self| of.0.parse::<u64>().unwrap_or_default();
        number(self) < number(other)
    }

    /// Before the first transaction.
    pub fn start() -> Self {
        Self("0".to_owned())
    }

    /// After all transactions, including those of another server from which this one was restored.
    pub fn end() -> Self {
        Self(u64::MAX.to_string())
    }
}

/// A piece of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPiece {
    pub unit: i32,
    pub worker: Uuid,
    pub changed: Cursor,
    pub body: Vec<u8>,
    /// The query of the unit; `None` for the cost of other calls.
    pub query: Option<String>,
    /// Whether it contains the rounds of the query so far, and not answers.
    pub has_rounds: bool,
}

impl Server {
    /// Leases up to `limit` units that are free or whose leases have expired, for `seconds`, except
    /// those that the worker has put aside.
    pub async fn lease(
        &self,
        seat: &Seat,
        seconds: f64,
        limit: i64,
        aside: &[i32],
    ) -> Result<Vec<Unit>, ServerError> {
        let rows = self
            .answer(self.client.query(
                // Without MATERIALIZED, a join may run the selection again for each row, and lease
                // more than the limit.
                "WITH free AS MATERIALIZED (SELECT unit.id FROM overrule.unit
                     WHERE job = $1 AND NOT done AND unit.id <> ALL ($6)
                     AND (leased_until IS NULL OR leased_until < now())
                     AND EXISTS (SELECT 1 FROM overrule.worker
                         WHERE worker.id = $2 AND session = $3)
                     ORDER BY part IS NULL, unit.id LIMIT $5 FOR UPDATE OF unit SKIP LOCKED)
                 UPDATE overrule.unit
                 SET worker = $2, leased_until = now() + $4 * interval '1 second'
                 FROM free WHERE unit.job = $1 AND unit.id = free.id
                 RETURNING unit.id, unit.query, unit.round, unit.part",
                &[
                    &seat.job,
                    &seat.worker,
                    &seat.session,
                    &seconds,
                    &limit,
                    &aside,
                ],
            ))
            .await?;
        self.units(rows)
    }

    /// Extends the leases of a worker, and returns its units.
    pub async fn renew(&self, seat: &Seat, seconds: f64) -> Result<Vec<Unit>, ServerError> {
        let seen = "UPDATE overrule.worker SET seen = now() WHERE id = $1 AND session = $2";
        let seats = self
            .answer(self.client.execute(seen, &[&seat.worker, &seat.session]))
            .await?;
        self.seated((seats > 0).then_some(()))?;
        let rows = self
            .answer(self.client.query(
                "UPDATE overrule.unit SET leased_until = now() + $3 * interval '1 second'
                 WHERE job = $1 AND worker = $2 AND NOT done
                 RETURNING id, query, round, part",
                &[&seat.job, &seat.worker, &seconds],
            ))
            .await?;
        self.units(rows)
    }

    fn units(&self, rows: Vec<Row>) -> Result<Vec<Unit>, ServerError> {
        let mut units: Vec<Unit> = self.each(rows, Unit::of_row)?;
        units.sort_by_key(|unit| unit.id);
        Ok(units)
    }

    /// Gives units back, so that other workers can lease them, unless another process has taken the
    /// place of this one.
    pub async fn give_back(&self, seat: &Seat, units: &[i32]) -> Result<(), ServerError> {
        self.answer(self.client.execute(
            "UPDATE overrule.unit SET worker = NULL, leased_until = NULL
             WHERE job = $1 AND worker = $2 AND id = ANY ($4) AND NOT done
             AND EXISTS (SELECT 1 FROM overrule.worker
                 WHERE worker.id = $2 AND session = $3)",
            &[&seat.job, &seat.worker, &seat.session, &units],
        ))
        .await?;
        Ok(())
    }

    /// Number of units that are not done, whoever has leased them.
    pub async fn unfinished(&self, job: &Job) -> Result<i64, ServerError> {
        let count = "SELECT count(*) FROM overrule.unit WHERE job = $1 AND NOT done";
        let row = self
            .answer(self.client.query_one(count, &[&job.id]))
            .await?;
        row.try_get(0).map_err(|error| self.error(&error))
    }

    /// Stores pieces of a worker, and marks units as done, in one transaction. Returns units for
    /// planning the rounds after those that end with these units, leased for `seconds`.
    pub async fn push(
        &mut self,
        seat: &Seat,
        pieces: &[(i32, Piece)],
        done: &[i32],
        report: WorkerReport,
        seconds: f64,
    ) -> Result<Vec<Unit>, ServerError> {
        let units: Vec<i32> = pieces.iter().map(|(unit, _)| *unit).collect();
        let count = |of: fn(&Piece) -> usize| -> Vec<i32> {
            let counts = pieces.iter().map(|(_, piece)| of(piece));
            counts.map(|count| count as i32).collect()
        };
        let (votes, failures) = (count(|piece| piece.votes), count(|piece| piece.failures));
        let bodies: Vec<&[u8]> = pieces.iter().map(|(_, piece)| &piece.bytes[..]).collect();
        let patience = self.patience;
        let pushed = async {
            let transaction = self.client.transaction().await?;
            let seats = transaction
                .execute(
                    "UPDATE overrule.worker
                     SET seen = now(), votes = $3, failures = $4, spent = $5
                     WHERE id = $1 AND session = $2",
                    &[
                        &seat.worker,
                        &seat.session,
                        &report.votes,
                        &report.failures,
                        &report.spent,
                    ],
                )
                .await?;
            if seats == 0 {
                return Ok(None);
            }
            if !pieces.is_empty() {
                transaction
                    .execute(
                        "INSERT INTO overrule.piece (job, unit, worker, votes, failures, body)
                         SELECT $1, unit, $2, votes, failures, body
                         FROM unnest($3::int[], $4::int[], $5::int[], $6::bytea[])
                             AS new (unit, votes, failures, body)
                         ON CONFLICT (job, unit, worker) DO UPDATE
                         SET votes = excluded.votes, failures = excluded.failures,
                             body = excluded.body
                         WHERE piece.body IS DISTINCT FROM excluded.body",
                        &[&seat.job, &seat.worker, &units, &votes, &failures, &bodies],
                    )
                    .await?;
            }
            let mut planning = Vec::new();
            if !done.is_empty() {
                let rows = transaction
                    .query(
                        "UPDATE overrule.unit SET done = true, worker = $2, leased_until = NULL
                         WHERE job = $1 AND id = ANY ($3) AND NOT done
                         RETURNING id, query, round, part",
                        &[&seat.job, &seat.worker, &done],
                    )
                    .await?;
                let units = rows.into_iter().map(Unit::of_row);
                let units = units.collect::<Result<Vec<_>, _>>()?;
                planning = end_rounds(&transaction, seat, units, seconds).await?;
            }
            transaction.commit().await?;
            Ok(Some(planning))
        };
        let pushed = in_time(patience, pushed).await;
        self.seated(self.outcome(pushed)?)
    }

    /// The pieces of other workers about these units, and the rounds that the units are parts of, in
    /// the order of their transactions.
    pub async fn pieces_of_others(
        &self,
        seat: &Seat,
        units: &[i32],
    ) -> Result<Vec<StoredPiece>, ServerError> {
        let rows = self
            .answer(self.client.query(
                "SELECT piece.unit, piece.worker, changed::text, body, unit.query,
                     unit.round IS NOT NULL AND unit.part IS NULL
                 FROM overrule.piece JOIN overrule.unit
                 ON unit.job = piece.job AND unit.id = piece.unit
                 WHERE piece.job = $1 AND piece.unit = ANY ($2 || ARRAY(
                     SELECT planned.id FROM overrule.unit JOIN overrule.unit AS planned
                     ON planned.job = unit.job AND planned.query = unit.query
                         AND planned.round = unit.round AND planned.part IS NULL
                     WHERE unit.job = $1 AND unit.id = ANY ($2)))
                 AND (piece.worker <> $3 OR piece.unit <> ALL ($2))
                 ORDER BY changed, piece.unit, piece.worker",
                &[&seat.job, &units, &seat.worker],
            ))
            .await?;
        self.stored(rows)
    }

    /// The rounds and the answers of a query from a round on, in the order of their transactions.
    pub async fn pieces_of_rounds(
        &self,
        seat: &Seat,
        query: &str,
        from: i32,
    ) -> Result<Vec<StoredPiece>, ServerError> {
        let rows = self
            .answer(self.client.query(
                "SELECT piece.unit, piece.worker, changed::text, body, unit.query,
                     unit.part IS NULL
                 FROM overrule.piece JOIN overrule.unit
                 ON unit.job = piece.job AND unit.id = piece.unit
                 WHERE unit.job = $1 AND unit.query = $2 AND unit.round >= $3
                 ORDER BY changed, piece.unit, piece.worker",
                &[&seat.job, &query, &from],
            ))
            .await?;
        self.stored(rows)
    }

    /// The number of the oldest transaction in progress. All rows of earlier ones can be read, and
    /// later ones may still get rows.
    pub async fn horizon(&self) -> Result<Cursor, ServerError> {
        let oldest = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text";
        let row = self.answer(self.client.query_one(oldest, &[])).await?;
        Ok(Cursor(row.try_get(0).map_err(|error| self.error(&error))?))
    }

    /// Number of pieces of a job that are stored and not before this reading.
    pub async fn held_back(&self, job: &Job, before: &Cursor) -> Result<i64, ServerError> {
        let row = self
            .answer(self.client.query_one(
                "SELECT count(*) FROM overrule.piece
                 WHERE job = $1 AND changed >= $2::text::xid8",
                &[&job.id, &before.0],
            ))
            .await?;
        row.try_get(0).map_err(|error| self.error(&error))
    }

    /// Up to `limit` pieces of a job from transaction `from` on and before `before`, after the piece
    /// `after`, in the order of their transactions.
    pub async fn pieces(
        &self,
        job: &Job,
        (from, before): (&Cursor, &Cursor),
        after: Option<&StoredPiece>,
        limit: i64,
    ) -> Result<Vec<StoredPiece>, ServerError> {
        let (changed, unit, worker) = match after {
            Some(piece) => (&piece.changed, piece.unit, piece.worker),
            None => (from, i32::MIN, Uuid::nil()),
        };
        let rows = self
            .answer(self.client.query(
                "SELECT piece.unit, piece.worker, changed::text, body, unit.query,
                     coalesce(unit.round IS NOT NULL AND unit.part IS NULL, false)
                 FROM overrule.piece LEFT JOIN overrule.unit
                 ON unit.job = piece.job AND unit.id = piece.unit
                 WHERE piece.job = $1 AND changed < $2::text::xid8
                 AND (changed, piece.unit, piece.worker) > ($3::text::xid8, $4, $5)
                 ORDER BY changed, piece.unit, piece.worker LIMIT $6",
                &[&job.id, &before.0, &changed.0, &unit, &worker, &limit],
            ))
            .await?;
        self.stored(rows)
    }

    fn stored(&self, rows: Vec<Row>) -> Result<Vec<StoredPiece>, ServerError> {
        let piece = |row: Row| {
            Ok(StoredPiece {
                unit: row.try_get(0)?,
                worker: row.try_get(1)?,
                changed: Cursor(row.try_get(2)?),
                body: row.try_get(3)?,
                query: row.try_get(4)?,
                has_rounds: row.try_get(5)?,
            })
        };
        self.each(rows, piece)
    }
}
