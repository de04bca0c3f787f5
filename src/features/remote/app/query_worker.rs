//! A worker of a job whose units are queries: it leases some, asks about them, stores the answers on
//! the server, and leases the next ones.
//!
//! While it asks, it extends the leases and stores new answers every second. Calls are made outside
//! of transactions. While the server is away, they go on until the leases expire.

use super::fetch::merge_stored;
use super::identity::Identity;
use super::job::{JobAnswers, job_answers};
use super::lessee::{
    LAST_PUSH, LEDGER_EVERY, LOOK_EVERY, Money, PUSH_EVERY, RETRY_EVERY, TICK, guard, pause,
};
use super::micros;
use super::shared_queries::SharedQueries;
use super::worker::{SHORTEST_PATIENCE, first_share};
use crate::app::error::AppError;
use crate::app::question_set::{QuestionSession, QuestionSetOutcome, QuestionSetProgress};
use crate::app::shared_questions::QuestionsLeft;
use crate::app::text_format::counted;
use crate::client::{RunControl, now_ms};
use crate::domain::sanitize;
use crate::features::remote::client::{
    JobRest, JoinedWorker, LEDGER_UNIT, Seat, Server, ServerError, Unit, WorkerReport,
};
use crate::store::merge::{AnswerCount, Piece, SharedAnswers, Terms};
use crate::store::{Db, StoreError};
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

/// Maximum number of queries leased at a time.
const MAX_UNITS: i64 = 64;
/// Number of queries per call in flight.
const PER_CALL: i64 = 2;
/// A worker leases at most its share of the units that are left, divided by this.
const PARTS: i64 = 2;

/// How a worker's participation ended.
#[derive(Debug)]
pub enum QueriesEnd {
    /// All units of the job are done.
    Done,
    /// The budget of the job is spent or reserved.
    BudgetReached,
    /// Someone stopped it.
    Stopped,
    /// Questions are left that nobody answers here, for these reasons.
    Incomplete(Vec<String>),
    /// The server could not be told everything; the answers are in the project.
    Unsent(AppError),
}

/// What connects a worker with its user.
pub struct QueryFront<'a> {
    /// Signals that stop it.
    pub stops: &'a mut mpsc::Receiver<()>,
    pub tell: fn(&str),
    /// Tells the user that the calls end.
    pub tell_stopping: fn(&RunControl),
    /// Receives the number of answers of this worker so far.
    pub follow: &'a mut dyn FnMut(AnswerCount),
}

/// Works on a job until it is done, the budget is spent, or the user stops it.
///
/// # Errors
/// The server refuses a request, or the project fails.
pub async fn take_part_in_queries<'a>(
    shared: &'a SharedQueries,
    server: Server,
    front: QueryFront<'a>,
) -> Result<QueriesEnd, AppError> {
    let JobAnswers::Of(answers, terms) = job_answers(&shared.job)? else {
        return Err(AppError::Failed("a job of another command".to_owned()));
    };
    let (of, path) = (shared.job.clone(), shared.store.path().to_owned());
    let take = shared.store.write(move |db| {
        // Even if nothing is left to ask.
        db.charge_killed_calls(now_ms())?;
        Identity::take(db, &path, &of)
    });
    let identity = take.await?;
    let joined = server.join(&shared.job, identity.worker, &shared.name);
    let (seat, joined) = joined.await?;
    let now = Instant::now();
    let first_share = first_share(shared.job.budget, shared.questions.worst_usd());
    let mut worker = QueryWorker {
        first_share,
        share: first_share,
        server: Some(server.with_patience((shared.lease / 4).max(SHORTEST_PATIENCE))),
        queries: shared.questions.queries().into_iter().collect(),
        shared,
        front,
        answers,
        terms,
        tried: None,
        seat,
        joined,
        money: None,
        units: Vec::new(),
        steer: watch::Sender::new(shared.control),
        valid_until: watch::Sender::new(now),
        renewed: now,
        pushed: HashMap::new(),
        pushed_at: now,
        ledger_at: now,
        reported: None,
        total: AnswerCount::default(),
        batch: AnswerCount::default(),
        is_short: false,
        is_lost: false,
        is_stopped: false,
        aside: HashSet::new(),
    };
    let end = worker.work().await?;
    if matches!(end, QueriesEnd::Unsent(_)) {
        return Ok(end);
    }
    if let Err(error) = worker.push_last(&[]).await? {
        return Ok(QueriesEnd::Unsent(error));
    }
    worker.leave().await?;
    Ok(end)
}

struct QueryWorker<'a> {
    shared: &'a SharedQueries,
    front: QueryFront<'a>,
    answers: &'static SharedAnswers,
    terms: Terms,
    /// The queries of the command.
    queries: HashSet<String>,
    /// `None` while the server is away.
    server: Option<Server>,
    tried: Option<Instant>,
    seat: Seat,
    /// The state of the worker when it joined, with the money that it has reserved since.
    joined: JoinedWorker,
    /// The part of the budget that is reserved at a time, at first and now.
    first_share: Option<i64>,
    share: Option<i64>,
    money: Option<Money>,
    /// The leased units that are asked about.
    units: Vec<Unit>,
    /// Controls the calls about them.
    steer: watch::Sender<RunControl>,
    /// Until when the server keeps the leases.
    valid_until: watch::Sender<Instant>,
    renewed: Instant,
    /// For each unit, the number of its answers when they were last stored.
    pushed: HashMap<i32, AnswerCount>,
    pushed_at: Instant,
    ledger_at: Instant,
    reported: Option<WorkerReport>,
    /// The answers of this process about earlier units, and about these ones.
    total: AnswerCount,
    batch: AnswerCount,
    /// Whether the last share was too small for another call.
    is_short: bool,
    /// Whether others have taken over units.
    is_lost: bool,
    is_stopped: bool,
    /// Units whose questions judges skipped, which are given back: another worker may do better.
    aside: HashSet<i32>,
}

impl QueryWorker<'_> {
    async fn work(&mut self) -> Result<QueriesEnd, AppError> {
        loop {
            if self.is_stopped {
                return Ok(QueriesEnd::Stopped);
            }
            if !self.reach().await? {
                self.wait(RETRY_EVERY / 4).await;
                continue;
            }
            // Units that it had when it was stopped come first.
            let Some(mut units) = self.renew().await? else {
                continue;
            };
            if !self.push_unsent(&units).await? {
                continue;
            }
            if !self.give_back(&mut units).await? {
                continue;
            }
            if units.is_empty() {
                let Some(rest) = self.rest().await? else {
                    continue;
                };
                if rest.unfinished == 0 {
                    return Ok(QueriesEnd::Done);
                }
                if rest.not_aside == 0 {
                    let skipped = counted(rest.unfinished as usize, "query");
                    let why = format!("judges skipped {skipped} after failed calls");
                    return Ok(QueriesEnd::Incomplete(vec![why]));
                }
                let limit = wanted(rest, self.shared.control.concurrency);
                let Some(leased) = self.lease(limit).await? else {
                    continue;
                };
                units = leased;
            }
            if units.is_empty() {
                self.wait(LOOK_EVERY).await;
                continue;
            }
            self.units = units;
            let end = self.work_on_units().await;
            self.units.clear();
            if let Some(end) = end? {
                return Ok(end);
            }
        }
    }

    /// Asks about the leased units and stores the answers. Returns how the participation ended, if
    /// it did.
    async fn work_on_units(&mut self) -> Result<Option<QueriesEnd>, AppError> {
        self.is_lost = false;
        if !self.take_over().await? {
            return Ok(None);
        }
        let left = self.left().await?;
        let mut outcome = QuestionSetOutcome::default();
        if !left.queries.is_empty() {
            match self.fund().await? {
                None => return Ok(None),
                Some(false) => return Ok(Some(QueriesEnd::BudgetReached)),
                Some(true) => {}
            }
            outcome = self.ask(left).await?;
        }
        let left = self.left().await?.queries;
        let is_done = |unit: &&Unit| !left.contains(&unit.query);
        let done: Vec<i32> = self.units.iter().filter(is_done).map(|of| of.id).collect();
        if let Err(error) = self.push_last(&done).await? {
            return Ok(Some(QueriesEnd::Unsent(error)));
        }
        if !outcome.budget_reached {
            self.share = self.first_share;
        }
        if left.is_empty() || self.is_stopped || self.is_lost {
            return Ok(None);
        }
        if let (true, Some(share)) = (outcome.budget_reached, self.share) {
            self.is_short = true;
            self.share = Some(share.saturating_mul(2));
            return Ok(None);
        }
        if outcome.troubles.is_empty() {
            let skipped = self.units.iter().filter(|unit| left.contains(&unit.query));
            self.aside.extend(skipped.map(|unit| unit.id));
            return Ok(None);
        }
        Ok(Some(QueriesEnd::Incomplete(outcome.troubles)))
    }

    /// The questions about the units that are left.
    async fn left(&self) -> Result<QuestionsLeft, AppError> {
        let (store, questions) = (self.shared.store.clone(), self.shared.questions.clone());
        let names: Vec<String> = self.units.iter().map(|unit| unit.query.clone()).collect();
        let left = tokio::task::spawn_blocking(move || questions.left(&store, &names));
        left.await.map_err(AppError::failed)?
    }

    /// Asks, while the leases are extended and new answers are stored.
    async fn ask(&mut self, left: QuestionsLeft) -> Result<QuestionSetOutcome, AppError> {
        let money = self.money.as_ref();
        let (steer, control) = watch::channel(RunControl {
            budget_usd: money.map(Money::limit_usd),
            ..self.shared.control
        });
        self.steer = steer;
        let guarded = guard(self.steer.clone(), self.valid_until.subscribe());
        let guarded = tokio::spawn(guarded);
        let (tell, mut told) = watch::channel(QuestionSetProgress::default());
        let (store, lock) = (self.shared.store.clone(), self.shared.lock.clone());
        let mut asking = tokio::spawn(async move {
            let session = QuestionSession {
                store: &store,
                lock,
                control,
                tell: Box::new(move |progress| {
                    tell.send_replace(*progress);
                }),
            };
            left.prepared.run(session).await
        });
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut failed = None;
        let ended = loop {
            tokio::select! {
                biased;
                ended = &mut asking => break ended,
                Some(()) = self.front.stops.recv() => self.stop(),
                Ok(()) = told.changed() => {
                    let progress = *told.borrow_and_update();
                    self.follow(progress);
                }
                _ = ticks.tick() => if failed.is_none() && let Err(error) = self.step().await {
                    failed = Some(error);
                    self.steer.send_modify(RunControl::stop);
                },
            }
        };
        guarded.abort();
        let outcome = ended.map_err(AppError::failed)??;
        if let Some(error) = failed {
            return Err(error);
        }
        self.follow(outcome.progress);
        let AnswerCount { answers, failures } = std::mem::take(&mut self.batch);
        self.total.answers += answers;
        self.total.failures += failures;
        Ok(outcome)
    }

    fn stop(&mut self) {
        self.is_stopped = true;
        self.steer.send_modify(RunControl::stop);
        (self.front.tell_stopping)(&self.steer.borrow());
    }

    fn follow(&mut self, progress: QuestionSetProgress) {
        self.batch = AnswerCount {
            answers: progress.done - progress.failed,
            failures: progress.failed,
        };
        let so_far = self.so_far();
        (self.front.follow)(so_far);
    }

    /// The answers of this process.
    fn so_far(&self) -> AnswerCount {
        AnswerCount {
            answers: self.total.answers + self.batch.answers,
            failures: self.total.failures + self.batch.failures,
        }
    }

    async fn step(&mut self) -> Result<(), AppError> {
        if !self.reach().await? {
            return Ok(());
        }
        if self.pushed_at.elapsed() >= PUSH_EVERY {
            let with_ledger = self.ledger_at.elapsed() >= LEDGER_EVERY;
            self.push(self.units.clone(), &[], with_ledger).await?;
        }
        if self.renewed.elapsed() >= self.shared.lease / 4 {
            self.renew().await?;
        }
        self.top_up().await
    }

    /// Waits, unless someone stops the worker.
    async fn wait(&mut self, duration: Duration) {
        tokio::select! {
            () = tokio::time::sleep(duration) => {}
            Some(()) = self.front.stops.recv() => self.stop(),
        }
    }

    /// Reconnects to a server that was away. Returns whether it is there.
    async fn reach(&mut self) -> Result<bool, AppError> {
        let has_tried = |at: Instant| at.elapsed() < RETRY_EVERY;
        if self.server.is_some() || self.tried.is_some_and(has_tried) {
            return Ok(self.server.is_some());
        }
        self.tried = Some(Instant::now());
        match Server::connect(&self.shared.address).await {
            Ok(server) => {
                (self.front.tell)(&format!("{} answers again", server.name()));
                let patience = (self.shared.lease / 4).max(SHORTEST_PATIENCE);
                self.server = Some(server.with_patience(patience));
                self.renew().await?;
            }
            Err(error) if error.is_temporary() => {}
            Err(error) => return Err(error.into()),
        }
        Ok(self.server.is_some())
    }

    /// The answer to a request; `None` if the server is away.
    fn answered<T>(&mut self, answer: Result<T, ServerError>) -> Result<Option<T>, AppError> {
        match answer {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.is_temporary() => {
                if self.server.take().is_some() {
                    (self.front.tell)(&format!(
                        "{error}. Work on leased units goes on, and their answers wait in the \
                         project"
                    ));
                }
                self.tried = Some(Instant::now());
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Extends the leases, and returns the leased units. If others have some that are asked about,
    /// asking ends.
    async fn renew(&mut self) -> Result<Option<Vec<Unit>>, AppError> {
        let asked = Instant::now();
        self.renewed = asked;
        let Some(server) = &self.server else {
            return Ok(None);
        };
        let renewed = server.renew(&self.seat, self.shared.lease.as_secs_f64());
        let renewed = renewed.await;
        let Some(units) = self.answered(renewed)? else {
            return Ok(None);
        };
        let ids: HashSet<i32> = units.iter().map(|unit| unit.id).collect();
        if self.units.iter().all(|unit| ids.contains(&unit.id)) {
            self.keep_until(asked);
        } else if !self.is_lost {
            (self.front.tell)(
                "other workers have taken over units in the meantime; this one starts over with \
                 other units",
            );
            self.is_lost = true;
            self.steer.send_modify(|control| control.cancelled = true);
        }
        Ok(Some(units))
    }

    /// Notes that the leases were extended at this time.
    fn keep_until(&self, asked: Instant) {
        self.valid_until.send_replace(asked + self.shared.lease);
        pause(&self.steer, false);
    }

    fn aside(&self) -> Vec<i32> {
        self.aside.iter().copied().collect()
    }

    /// Removes units that were put aside from the leased ones, and gives them back to the server.
    /// Returns false if it is away.
    async fn give_back(&mut self, leased: &mut Vec<Unit>) -> Result<bool, AppError> {
        let aside = leased.extract_if(.., |unit| self.aside.contains(&unit.id));
        let aside: Vec<i32> = aside.map(|unit| unit.id).collect();
        let (Some(server), false) = (&self.server, aside.is_empty()) else {
            return Ok(self.server.is_some());
        };
        let given = server.give_back(&self.seat, &aside).await;
        Ok(self.answered(given)?.is_some())
    }

    async fn rest(&mut self) -> Result<Option<JobRest>, AppError> {
        let Some(server) = &self.server else {
            return Ok(None);
        };
        let rest = server.rest(&self.shared.job, &self.aside()).await;
        self.answered(rest)
    }

    async fn lease(&mut self, limit: i64) -> Result<Option<Vec<Unit>>, AppError> {
        let asked = Instant::now();
        let Some(server) = &self.server else {
            return Ok(None);
        };
        let (lease_s, aside) = (self.shared.lease.as_secs_f64(), self.aside());
        let leased = server.lease(&self.seat, lease_s, limit, &aside).await;
        let leased = self.answered(leased)?;
        self.keep_until(asked);
        Ok(leased)
    }

    /// Adds the answers of other workers about the units to the project. Returns false if the
    /// server is away.
    async fn take_over(&mut self) -> Result<bool, AppError> {
        let Some(server) = &self.server else {
            return Ok(false);
        };
        let mut units = self.units.iter();
        if let Some(unit) = units.find(|unit| !self.queries.contains(&unit.query)) {
            return Err(AppError::Invalid(format!(
                "the job has a query that this worker lacks: {:?}",
                sanitize::line(&unit.query)
            )));
        }
        let ids: Vec<i32> = self.units.iter().map(|unit| unit.id).collect();
        let pieces = server.pieces_of_others(&self.seat, &ids).await;
        let Some(pieces) = self.answered(pieces)? else {
            return Ok(false);
        };
        let (job, taken) = (self.shared.job.clone(), self.units.clone());
        let take = move |db: &mut Db| {
            let merged = merge_stored(db, &job, &pieces)?;
            Identity::change(db, &job, |worker| worker.owe(taken))?;
            Ok(merged.problems)
        };
        let problems = self.shared.store.write(take).await?;
        problems.iter().for_each(|of| (self.front.tell)(of));
        Ok(true)
    }

    /// Reserves money for the next calls. Returns whether there is any, and `None` if the server is
    /// away.
    async fn fund(&mut self) -> Result<Option<bool>, AppError> {
        let (Some(share), Some(server)) = (self.share, &mut self.server) else {
            return Ok(self.server.as_ref().map(|_| true));
        };
        let joined = self.joined;
        let mut money = Money::of(&self.shared.store, &self.shared.job, joined, share).await?;
        let grown = if self.is_short {
            money.grow(server, &self.seat).await
        } else {
            money.top_up(server, &self.seat).await
        };
        let Some(mut has_grown) = self.answered(grown)? else {
            return Ok(None);
        };
        while let (true, true, Some(server)) =
            (money.left_usd() <= 0.0, has_grown, &mut self.server)
        {
            let grown = money.grow(server, &self.seat).await;
            has_grown = self.answered(grown)?.unwrap_or(false);
        }
        let is_short = std::mem::take(&mut self.is_short);
        self.joined.reserved = money.reserved;
        let has_money = money.left_usd() > 0.0 && (has_grown || !is_short);
        self.money = Some(money);
        Ok(self.server.as_ref().map(|_| has_money))
    }

    /// Reserves more money while judges are asked.
    async fn top_up(&mut self) -> Result<(), AppError> {
        let (Some(server), Some(money)) = (&mut self.server, &mut self.money) else {
            return Ok(());
        };
        let grown = money.top_up(server, &self.seat).await;
        let (limit_usd, reserved) = (money.limit_usd(), money.reserved);
        self.joined.reserved = reserved;
        if self.answered(grown)? == Some(true) {
            let set = |control: &mut RunControl| control.budget_usd = Some(limit_usd);
            self.steer.send_modify(set);
        }
        Ok(())
    }

    /// Stores answers about units that this worker had before, whoever has them now. Returns false
    /// if the server is away.
    async fn push_unsent(&mut self, current: &[Unit]) -> Result<bool, AppError> {
        let job = self.shared.job.clone();
        let known = self.shared.store.read(move |db| Identity::known(db, &job));
        let mut unsent = known.await?.map(|known| known.unsent).unwrap_or_default();
        unsent.retain(|unit| !current.contains(unit));
        if unsent.is_empty() {
            return Ok(true);
        }
        self.push(unsent, &[], false).await
    }

    /// Stores the last answers about the units, and waits for a server that is away. The error is
    /// why they could not be stored.
    async fn push_last(&mut self, done: &[i32]) -> Result<Result<(), AppError>, AppError> {
        let mut stopped = None;
        loop {
            if self.reach().await? && self.push(self.units.clone(), done, true).await? {
                return Ok(Ok(()));
            }
            if self.is_stopped {
                let stopped: Instant = *stopped.get_or_insert_with(Instant::now);
                if stopped.elapsed() >= LAST_PUSH {
                    return Ok(Err(AppError::Failed(format!(
                        "{} does not answer: the last answers are in the project only; run the \
                         same command again to store them on the server",
                        self.shared.address.name()
                    ))));
                }
            }
            self.wait(RETRY_EVERY / 4).await;
        }
    }

    /// Stores the answers about these units that are new, and marks some as done. Returns false if
    /// the server is away.
    async fn push(
        &mut self,
        units: Vec<Unit>,
        done: &[i32],
        with_ledger: bool,
    ) -> Result<bool, AppError> {
        self.pushed_at = Instant::now();
        let (job, known) = (self.shared.job.clone(), self.pushed.clone());
        let (answers, terms, of) = (self.answers, self.terms.clone(), units.clone());
        let packed = self.shared.store.write(move |db| {
            let (mut pieces, mut counts) = (Vec::new(), HashMap::new());
            for unit in of {
                let Some(query) = db.known_query(&unit.query)? else {
                    continue;
                };
                let count = answers.count(db, query, &terms)?;
                if known.get(&unit.id) != Some(&count) {
                    let piece = Piece::of_answers(db, query, answers, &terms)?;
                    pieces.extend(piece.map(|piece| (unit.id, piece)));
                }
                counts.insert(unit.id, count);
            }
            let Some(mut worker) = Identity::known(db, &job)? else {
                return Err(StoreError::Corrupt(
                    "the worker of the job is gone".to_owned(),
                ));
            };
            worker.open_usd = db.committed()?.1;
            worker.keep(db, &job)?;
            if with_ledger {
                pieces.push((LEDGER_UNIT, Piece::of_ledger(db, worker.joined_ms)?));
            }
            Ok((pieces, counts, worker.spent_usd(db)?))
        });
        let (pieces, counts, spent_usd) = packed.await?;
        if let Some(money) = &mut self.money {
            money.run_usd = spent_usd - money.spent_usd;
        }
        let so_far = self.so_far();
        let report = WorkerReport {
            votes: self.joined.votes + so_far.answers as i64,
            failures: self.joined.failures + so_far.failures as i64,
            spent: micros(spent_usd),
        };
        if pieces.is_empty() && done.is_empty() && self.reported == Some(report) {
            return Ok(true);
        }
        let Some(server) = &mut self.server else {
            return Ok(false);
        };
        let lease_s = self.shared.lease.as_secs_f64();
        let pushed = server.push(&self.seat, &pieces, done, report, lease_s);
        let pushed = pushed.await;
        if self.answered(pushed)?.is_none() {
            return Ok(false);
        }
        self.reported = Some(report);
        self.joined.spent = report.spent;
        self.pushed.extend(counts);
        if with_ledger {
            self.ledger_at = Instant::now();
        }
        // Units in progress will have further answers.
        let in_progress = |unit: &Unit| self.units.contains(unit) && !done.contains(&unit.id);
        let sent: Vec<Unit> = units.into_iter().filter(|of| !in_progress(of)).collect();
        if !sent.is_empty() {
            self.pushed
                .retain(|unit, _| sent.iter().all(|sent| sent.id != *unit));
            let job = self.shared.job.clone();
            let forget = move |db: &mut Db| {
                Identity::change(db, &job, |worker| {
                    worker.unsent.retain(|unit| !sent.contains(unit));
                })
            };
            self.shared.store.write(forget).await?;
        }
        Ok(true)
    }

    /// Ends the worker in order.
    async fn leave(&mut self) -> Result<(), AppError> {
        let job = self.shared.job.clone();
        let end = self.shared.store.write(move |db| Identity::end(db, &job));
        end.await?;
        let Some(server) = &mut self.server else {
            return Ok(());
        };
        Ok(server.leave(&self.seat).await?)
    }
}

/// Number of units to lease: enough to keep the judges busy with this number of calls in flight, and
/// fewer when the last ones are shared.
fn wanted(rest: JobRest, concurrency: usize) -> i64 {
    let busy = i64::try_from(concurrency).unwrap_or(MAX_UNITS);
    let most = busy.saturating_mul(PER_CALL).clamp(1, MAX_UNITS);
    let part = rest.unfinished as f64 / (PARTS * rest.workers.max(1)) as f64;
    (part.ceil() as i64).clamp(1, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_units_are_shared() {
        let units = |unfinished, workers, concurrency| {
            let rest = JobRest {
                unfinished,
                not_aside: unfinished,
                workers,
            };
            wanted(rest, concurrency)
        };
        assert_eq!(units(1_000, 2, 256), MAX_UNITS);
        assert_eq!(units(1_000, 2, 4), 8);
        assert_eq!(units(10, 2, 256), 3);
        assert_eq!(units(1, 9, 256), 1);
        // A worker that was just forgotten leases all the same.
        assert_eq!(units(3, 0, 256), 2);
    }
}
