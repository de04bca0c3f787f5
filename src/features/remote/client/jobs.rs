//! Jobs: runs that many processes share, their workers, and their budgets.
//!
//! Amounts are in millionths of a US dollar, so that sums are exact.

use super::error::ServerError;
use super::server::{Server, in_time};
use uuid::Uuid;

/// A worker that was not heard of for longer than this is silent, in seconds.
pub(super) const SILENT_S: f64 = 60.0;

/// A job on the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    pub id: i64,
    pub uid: Uuid,
    /// The terms on which all workers agree, as a JSON object.
    pub terms: String,
    pub budget: Option<i64>,
}

/// A unit of a new job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewUnit {
    pub query: String,
    /// The part of the query's plan; `None` for the whole query, or for planning a round.
    pub part: Option<i32>,
    /// The round, if pairs are chosen in rounds.
    pub round: Option<i32>,
}

impl NewUnit {
    /// All calls about a query.
    pub fn whole(query: String) -> Self {
        Self {
            query,
            part: None,
            round: None,
        }
    }

    /// Planning the first round of a query.
    pub fn first_round(query: String) -> Self {
        Self {
            round: Some(0),
            ..Self::whole(query)
        }
    }
}

/// The right to work as a worker, which one process has at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seat {
    pub job: i64,
    pub worker: Uuid,
    pub(super) session: Uuid,
}

/// The state of a worker when it joins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JoinedWorker {
    /// The amount that it may spend, with the amount that it has spent.
    pub reserved: i64,
    /// The amount that it has reported as spent.
    pub spent: i64,
    pub votes: i64,
    pub failures: i64,
}

/// The state of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct JobStatus {
    pub name: String,
    pub done: i64,
    pub leased: i64,
    pub waiting: i64,
    /// Number of queries that may get further rounds, and with them further units.
    pub open_rounds: i64,
    pub budget: Option<i64>,
    pub reserved: i64,
    pub spent: i64,
    /// Since the first worker started, in seconds.
    pub elapsed_s: f64,
    pub workers: Vec<WorkerStatus>,
}

/// The state of a worker.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkerStatus {
    pub id: Uuid,
    pub name: String,
    pub votes: i64,
    pub failures: i64,
    pub spent: i64,
    pub reserved: i64,
    /// Number of units that it has leased.
    pub leased: i64,
    /// Number of units that it has finished.
    pub done: i64,
    /// Whether it has ended in order.
    pub has_ended: bool,
    /// Since it was last heard of, in seconds.
    pub silent_s: f64,
    /// Between its start and when it was last heard of, in seconds.
    pub worked_s: f64,
}

impl WorkerStatus {
    /// Votes per second between its start and its last sign of life.
    pub fn votes_per_s(&self) -> Option<f64> {
        (self.worked_s > 0.0).then(|| self.votes as f64 / self.worked_s)
    }

    /// Whether it was not heard of for a while, although it has not ended.
    pub fn is_silent(&self) -> bool {
        !self.has_ended && self.silent_s > SILENT_S
    }
}

impl Server {
    /// The job with this name.
    pub async fn job(&self, name: &str) -> Result<Option<Job>, ServerError> {
        let row = self
            .answer(self.client.query_opt(
                "SELECT id, uid, terms, budget FROM overrule.job WHERE name = $1",
                &[&name],
            ))
            .await?;
        let job = |row: tokio_postgres::Row| {
            Ok(Job {
                id: row.try_get(0)?,
                uid: row.try_get(1)?,
                terms: row.try_get(2)?,
                budget: row.try_get(3)?,
            })
        };
        row.map(job).transpose().map_err(|error| self.error(&error))
    }

    /// Creates a job with its units, unless there is one with this name.
    pub async fn create_job(
        &mut self,
        name: &str,
        terms: &str,
        budget: Option<i64>,
        units: &[NewUnit],
    ) -> Result<(), ServerError> {
        let patience = self.patience * 10;
        let created = async {
            let transaction = self.client.transaction().await?;
            let job = transaction
                .query_opt(
                    "INSERT INTO overrule.job (name, terms, budget) VALUES ($1, $2, $3)
                     ON CONFLICT (name) DO NOTHING RETURNING id",
                    &[&name, &terms, &budget],
                )
                .await?;
            let Some(job) = job else {
                return Ok(());
            };
            let job: i64 = job.try_get(0)?;
            for (first, units) in (0i32..).step_by(10_000).zip(units.chunks(10_000)) {
                let ids: Vec<i32> = (first + 1..).take(units.len()).collect();
                let queries: Vec<&str> = units.iter().map(|unit| unit.query.as_str()).collect();
                let parts: Vec<Option<i32>> = units.iter().map(|unit| unit.part).collect();
                let rounds: Vec<Option<i32>> = units.iter().map(|unit| unit.round).collect();
                transaction
                    .execute(
                        "INSERT INTO overrule.unit (job, id, query, part, round)
                         SELECT $1, id, query, part, round
                         FROM unnest($2::int[], $3::text[], $4::int[], $5::int[])
                             AS new (id, query, part, round)",
                        &[&job, &ids, &queries, &parts, &rounds],
                    )
                    .await?;
            }
            transaction.commit().await
        };
        let created = in_time(patience, created).await;
        self.outcome(created)
    }

    /// Takes the seat of a worker, which is registered if it is new. A process that had the seat
    /// loses it.
    pub async fn join(
        &self,
        job: &Job,
        worker: Uuid,
        name: &str,
    ) -> Result<(Seat, JoinedWorker), ServerError> {
        let seat = Seat {
            job: job.id,
            worker,
            session: Uuid::now_v7(),
        };
        let row = self
            .answer(self.client.query_one(
                "INSERT INTO overrule.worker (id, job, name, session) VALUES ($1, $2, $3, $4)
                 ON CONFLICT (id) DO UPDATE SET seen = now(), ended = NULL, name = excluded.name,
                     session = excluded.session
                 RETURNING reserved, spent, votes, failures",
                &[&worker, &job.id, &name, &seat.session],
            ))
            .await?;
        let joined = || {
            Ok(JoinedWorker {
                reserved: row.try_get(0)?,
                spent: row.try_get(1)?,
                votes: row.try_get(2)?,
                failures: row.try_get(3)?,
            })
        };
        let joined = joined().map_err(|error| self.error(&error))?;
        Ok((seat, joined))
    }

    /// Reserves up to `wanted` of the budget for a worker, and returns the amount reserved. The sum
    /// of all reservations never exceeds the budget.
    pub async fn reserve(&mut self, seat: &Seat, wanted: i64) -> Result<i64, ServerError> {
        let patience = self.patience;
        let reserved = async {
            let transaction = self.client.transaction().await?;
            // The row stays locked until the end of the transaction. One statement for both would
            // compute the rest from an older version of the row.
            let rest: Option<i64> = transaction
                .query_one(
                    "SELECT budget - reserved FROM overrule.job WHERE id = $1 FOR NO KEY UPDATE",
                    &[&seat.job],
                )
                .await?
                .try_get(0)?;
            let granted = rest.map_or(wanted, |rest| wanted.min(rest.max(0)));
            transaction
                .execute(
                    "UPDATE overrule.job SET reserved = reserved + $2 WHERE id = $1",
                    &[&seat.job, &granted],
                )
                .await?;
            let seats = transaction
                .execute(
                    "UPDATE overrule.worker SET reserved = reserved + $3
                     WHERE id = $1 AND session = $2",
                    &[&seat.worker, &seat.session, &granted],
                )
                .await?;
            if seats == 0 {
                return Ok(None);
            }
            transaction.commit().await?;
            Ok(Some(granted))
        };
        let reserved = in_time(patience, reserved).await;
        self.seated(self.outcome(reserved)?)
    }

    /// The result of a request by a worker that still has its seat.
    pub(super) fn seated<T>(&self, result: Option<T>) -> Result<T, ServerError> {
        result.ok_or_else(|| ServerError::Replaced(self.name().to_owned()))
    }

    /// Ends a worker: returns the money that it has not spent, and frees its units.
    pub async fn leave(&mut self, seat: &Seat) -> Result<(), ServerError> {
        let left = self.end(seat.job, seat.worker, Some(seat.session)).await?;
        self.seated(left).map(drop)
    }

    /// Ends a worker that is dead: returns its money except what it has reported as spent, and
    /// frees its units. If it is alive after all, it stops at its next request. Returns the amount,
    /// and the number of units.
    pub async fn release(&mut self, job: i64, worker: Uuid) -> Result<(i64, u64), ServerError> {
        let released = self.end(job, worker, None).await?;
        self.seated(released)
    }

    async fn end(
        &mut self,
        job: i64,
        worker: Uuid,
        session: Option<Uuid>,
    ) -> Result<Option<(i64, u64)>, ServerError> {
        let patience = self.patience;
        let ended = async {
            let transaction = self.client.transaction().await?;
            // In the same order as reservations, so that two processes never wait for each other.
            transaction
                .execute(
                    "SELECT 1 FROM overrule.job WHERE id = $1 FOR NO KEY UPDATE",
                    &[&job],
                )
                .await?;
            let unspent = transaction
                .query_opt(
                    "SELECT greatest(reserved - spent, 0) FROM overrule.worker
                     WHERE id = $1 AND session = coalesce($2, session) FOR NO KEY UPDATE",
                    &[&worker, &session],
                )
                .await?;
            let Some(unspent) = unspent else {
                return Ok(None);
            };
            let unspent: i64 = unspent.try_get(0)?;
            transaction
                .execute(
                    "UPDATE overrule.job SET reserved = greatest(reserved - $2, 0) WHERE id = $1",
                    &[&job, &unspent],
                )
                .await?;
            transaction
                .execute(
                    "UPDATE overrule.worker
                     SET reserved = reserved - $2, ended = now(), session = NULL WHERE id = $1",
                    &[&worker, &unspent],
                )
                .await?;
            let units = transaction
                .execute(
                    "UPDATE overrule.unit SET worker = NULL, leased_until = NULL
                     WHERE job = $1 AND worker = $2 AND NOT done",
                    &[&job, &worker],
                )
                .await?;
            transaction.commit().await?;
            Ok(Some((unspent, units)))
        };
        let ended = in_time(patience, ended).await;
        self.outcome(ended)
    }

    /// Changes the budget of a job that has one, or removes it. Returns false if the job has none,
    /// or if more than the new budget is reserved.
    pub async fn set_budget(&self, job: &Job, budget: Option<i64>) -> Result<bool, ServerError> {
        let changed = self
            .answer(self.client.execute(
                "UPDATE overrule.job SET budget = $2
                 WHERE id = $1 AND budget IS NOT NULL AND ($2::bigint IS NULL OR reserved <= $2)",
                &[&job.id, &budget],
            ))
            .await?;
        Ok(changed > 0)
    }

    /// The state of all jobs, oldest first.
    pub async fn status(&self) -> Result<Vec<JobStatus>, ServerError> {
        let jobs = self
            .answer(self.client.query(
                "SELECT job.id, job.name, budget, job.reserved, units.done, units.leased,
                     units.waiting, coalesce(workers.spent, 0)::bigint,
                     coalesce(extract(epoch FROM now() - workers.started), 0)::float8, rounds.open
                 FROM overrule.job,
                 LATERAL (SELECT count(*) FILTER (WHERE done) AS done,
                     count(*) FILTER (WHERE NOT done AND leased_until >= now()) AS leased,
                     count(*) FILTER (WHERE NOT done
                         AND coalesce(leased_until < now(), true)) AS waiting
                     FROM overrule.unit WHERE unit.job = job.id
                     AND (round IS NULL OR part IS NOT NULL)) AS units,
                 LATERAL (SELECT count(DISTINCT query) AS open FROM overrule.unit
                     WHERE unit.job = job.id AND round IS NOT NULL AND NOT done) AS rounds,
                 LATERAL (SELECT sum(spent) AS spent, min(started) AS started
                     FROM overrule.worker WHERE worker.job = job.id) AS workers
                 ORDER BY job.id",
                &[],
            ))
            .await?;
        let mut found = Vec::new();
        for row in jobs {
            let job = || {
                Ok((
                    row.try_get::<_, i64>(0)?,
                    JobStatus {
                        name: row.try_get(1)?,
                        budget: row.try_get(2)?,
                        reserved: row.try_get(3)?,
                        done: row.try_get(4)?,
                        leased: row.try_get(5)?,
                        waiting: row.try_get(6)?,
                        spent: row.try_get(7)?,
                        elapsed_s: row.try_get(8)?,
                        open_rounds: row.try_get(9)?,
                        workers: Vec::new(),
                    },
                ))
            };
            let (id, status) = job().map_err(|error| self.error(&error))?;
            let workers = self.workers(id).await?;
            found.push(JobStatus { workers, ..status });
        }
        Ok(found)
    }

    async fn workers(&self, job: i64) -> Result<Vec<WorkerStatus>, ServerError> {
        let rows = self
            .answer(self.client.query(
                "SELECT id, name, votes, failures, spent, reserved,
                     (SELECT count(*) FROM overrule.unit WHERE unit.job = $1 AND NOT done
                         AND unit.worker = worker.id AND leased_until >= now()
                         AND (round IS NULL OR part IS NOT NULL)),
                     (SELECT count(*) FROM overrule.unit WHERE unit.job = $1 AND done
                         AND unit.worker = worker.id AND (round IS NULL OR part IS NOT NULL)),
                     ended IS NOT NULL,
                     extract(epoch FROM now() - seen)::float8,
                     extract(epoch FROM seen - started)::float8
                 FROM overrule.worker WHERE job = $1 ORDER BY started, id",
                &[&job],
            ))
            .await?;
        let worker = |row: tokio_postgres::Row| {
            Ok(WorkerStatus {
                id: row.try_get(0)?,
                name: row.try_get(1)?,
                votes: row.try_get(2)?,
                failures: row.try_get(3)?,
                spent: row.try_get(4)?,
                reserved: row.try_get(5)?,
                leased: row.try_get(6)?,
                done: row.try_get(7)?,
                has_ended: row.try_get(8)?,
                silent_s: row.try_get(9)?,
                worked_s: row.try_get(10)?,
            })
        };
        self.each(rows, worker)
    }
}
