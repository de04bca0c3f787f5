//! The part of a worker that talks to the server while judges are asked: it leases units, extends
//! the leases, and stores the answers.
//!
//! Calls are made outside of transactions. While the server is away, the calls of leased units go
//! on until the leases expire, and their answers wait in the project.

use super::fetch::merge_stored;
use super::identity::Identity;
use super::job::SharedQuery;
use super::planner::{self, RoundPlan};
use super::shared_run::SharedRun;
use super::{dollars, micros};
use crate::app::annotate::progress::{JudgeProgress, RunProgress};
use crate::app::annotate::{
    PartEnd, PartKey, RunRequest, WorkPart, pairs_of_round_part, probe_shares,
};
use crate::app::error::AppError;
use crate::client::RunControl;
use crate::domain::sampling;
use crate::domain::sanitize;
use crate::features::remote::client::{
    Address, Job, JoinedWorker, LEDGER_UNIT, Seat, Server, ServerError, Unit, WorkerReport,
};
use crate::judge::JudgeSpec;
use crate::store::corpus::QueryKey;
use crate::store::merge::Piece;
use crate::store::{Db, Store, StoreError};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Interval between looks at what is to be done.
pub(super) const TICK: Duration = Duration::from_millis(50);
/// Maximum age of an answer that is not on the server.
pub(super) const PUSH_EVERY: Duration = Duration::from_secs(1);
/// Interval between looks for free units while there are none.
pub(super) const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Interval between updates of the cost of other calls.
pub(super) const LEDGER_EVERY: Duration = Duration::from_secs(30);
/// Interval between attempts to reach a server that is away.
pub(super) const RETRY_EVERY: Duration = Duration::from_secs(2);
/// How long the last answers may take to reach the server after the calls have ended.
pub(super) const LAST_PUSH: Duration = Duration::from_secs(20);
/// Maximum number of units leased at a time.
const MAX_UNITS: usize = 16;
/// Number of calls of a judge for which units are leased ahead, beyond those in flight.
const AHEAD: usize = 8;

/// How the lessee ended, with the server for the next one.
pub(super) enum LesseeEnd {
    /// All units of the job are done.
    Done(Server),
    /// The run has ended before.
    Left(Server),
    /// Others have taken over units, since the server did not hear of this worker in time.
    LostLease(Server),
    /// The server does not answer, and answers are missing there.
    Unsent(AppError),
    Failed(AppError),
}

/// A worker's place at the server.
pub(super) struct Place {
    pub(super) server: Server,
    pub(super) seat: Seat,
    pub(super) joined: JoinedWorker,
    pub(super) money: Option<Money>,
}

/// The connection to the run of the judges.
pub(super) struct RunLink {
    pub(super) parts: mpsc::UnboundedSender<WorkPart>,
    pub(super) ended: mpsc::UnboundedReceiver<PartEnd>,
    pub(super) control: watch::Sender<RunControl>,
    pub(super) progress: watch::Receiver<RunProgress>,
}

/// A worker's part of a budget, in millionths of a dollar unless noted.
#[derive(Clone, Debug)]
pub(super) struct Money {
    /// The amount that the worker may spend, with the amount that it has spent.
    pub(super) reserved: i64,
    /// The amount that is reserved at a time.
    share: i64,
    /// The spending of the project when the run began, in all and as this worker, in dollars.
    committed_usd: f64,
    pub(super) spent_usd: f64,
    /// The spending of the run, in dollars.
    pub(super) run_usd: f64,
    is_exhausted: bool,
}

impl Money {
    /// The money of a worker that joins. Spending that the server knows of and the project does
    /// not, since it was restored from a backup, counts.
    pub(super) async fn of(
        store: &Store,
        job: &Job,
        joined: JoinedWorker,
        share: i64,
    ) -> Result<Self, AppError> {
        let (job, path) = (job.clone(), store.path().to_owned());
        let read = move |db: &mut Db| {
            let mut identity = Identity::take(db, &path, &job)?;
            // Calls that were open then have ended.
            let reported_usd = dollars(joined.spent) - identity.open_usd;
            // Reported amounts are rounded up.
            if reported_usd - identity.spent_usd(db)? > 2e-6 {
                identity.other_usd = db.committed_usd()? - reported_usd;
                identity.keep(db, &job)?;
            }
            Ok((db.committed_usd()?, identity.spent_usd(db)?))
        };
        let (committed_usd, spent_usd) = store.write(read).await?;
        Ok(Self {
            reserved: joined.reserved,
            share,
            committed_usd,
            spent_usd,
            run_usd: 0.0,
            is_exhausted: false,
        })
    }

    /// The maximum total spending of the project.
    pub(super) fn limit_usd(&self) -> f64 {
        self.committed_usd + dollars(self.reserved) - self.spent_usd
    }

    /// The dollars that may still be spent.
    pub(super) fn left_usd(&self) -> f64 {
        dollars(self.reserved) - self.spent_usd - self.run_usd
    }

    /// Reserves more if half of a share or less is left. Returns whether it has got more.
    pub(super) async fn top_up(
        &mut self,
        server: &mut Server,
        seat: &Seat,
    ) -> Result<bool, ServerError> {
        if self.is_exhausted || self.left_usd() > dollars(self.share) / 2.0 {
            return Ok(false);
        }
        self.grow(server, seat).await
    }

    /// Reserves a further share, or what is left. Returns whether that is anything.
    pub(super) async fn grow(
        &mut self,
        server: &mut Server,
        seat: &Seat,
    ) -> Result<bool, ServerError> {
        let granted = server.reserve(seat, self.share).await?;
        self.reserved += granted;
        self.is_exhausted = granted < self.share;
        Ok(granted > 0)
    }
}

/// A query of the dataset: its key, the number of its documents, and of its pairs to probe.
#[derive(Clone, Copy)]
struct QueryShare {
    key: QueryKey,
    documents: usize,
    probe: usize,
}

pub(super) struct Lessee {
    address: Address,
    job: Job,
    store: Store,
    lease: Duration,
    request: RunRequest,
    judges: Vec<JudgeSpec>,
    tell: fn(&str),
    seat: Seat,
    joined: JoinedWorker,
    /// `None` while the server is away.
    server: Option<Server>,
    tried: Option<Instant>,
    /// The queries of the dataset by name.
    queries: HashMap<String, QueryShare>,
    /// `None` once no further unit is wanted.
    parts: Option<mpsc::UnboundedSender<WorkPart>>,
    ended: mpsc::UnboundedReceiver<PartEnd>,
    control: watch::Sender<RunControl>,
    progress: watch::Receiver<RunProgress>,
    money: Option<Money>,
    /// Leased units with pending calls.
    open: HashMap<PartKey, Unit>,
    /// Units whose calls have ended, and which are not done on the server yet.
    finished: Vec<Unit>,
    /// Units whose calls were not all made, since a judge left or skipped the query, and which are
    /// not given back yet: another worker may do better.
    aside: Vec<Unit>,
    /// Those that were given back. A judge that was dropped may return and answer them.
    given_back: Vec<Unit>,
    /// Units for planning rounds, which are being planned.
    planning: Vec<Unit>,
    plans: JoinSet<Result<RoundPlan, AppError>>,
    /// Planned rounds that are not on the server yet.
    planned: Vec<RoundPlan>,
    /// For each query, the round before which all answers are in the project.
    known_rounds: HashMap<String, i32>,
    /// For each unit, the number of answers on its query when its answers were last stored.
    pushed: HashMap<i32, i64>,
    reported: Option<WorkerReport>,
    /// Until when the server keeps the leases.
    valid_until: watch::Sender<Instant>,
    renewed: Instant,
    /// When there was no free unit.
    found_none: Option<Instant>,
    pushed_at: Instant,
    ledger_at: Instant,
    /// The number of calls that the run had counted when units were given to it.
    given_at: Option<(usize, Instant)>,
    is_done: bool,
    is_lost: bool,
    failed: Option<AppError>,
}

impl Lessee {
    pub(super) fn new(
        shared: &SharedRun,
        Place {
            server,
            seat,
            joined,
            money,
        }: Place,
        RunLink {
            parts,
            ended,
            control,
            progress,
        }: RunLink,
        tell: fn(&str),
    ) -> Self {
        let now = Instant::now();
        let judges: Vec<JudgeSpec> = shared
            .ensemble
            .iter()
            .map(|judge| judge.spec().clone())
            .collect();
        Self {
            address: shared.address.clone(),
            job: shared.job.clone(),
            store: shared.store.clone(),
            lease: shared.lease,
            request: RunRequest {
                queries: None,
                ..shared.request.clone()
            },
            queries: shares(shared, &judges),
            judges,
            tell,
            seat,
            joined,
            server: Some(server),
            tried: None,
            parts: Some(parts),
            ended,
            control,
            progress,
            money,
            open: HashMap::new(),
            finished: Vec::new(),
            aside: Vec::new(),
            given_back: Vec::new(),
            planning: Vec::new(),
            plans: JoinSet::new(),
            planned: Vec::new(),
            known_rounds: HashMap::new(),
            pushed: HashMap::new(),
            reported: None,
            valid_until: watch::Sender::new(now),
            renewed: now,
            found_none: None,
            pushed_at: now,
            ledger_at: now,
            given_at: None,
            is_done: false,
            is_lost: false,
            failed: None,
        }
    }

    /// Works until the run has ended and its answers are on the server.
    pub(super) async fn work(mut self) -> LesseeEnd {
        let guard = guard(self.control.clone(), self.valid_until.subscribe());
        let guard = tokio::spawn(guard);
        self.begin().await;
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                end = self.ended.recv() => match end {
                    Some(end) => self.finish(&end),
                    None => break,
                },
                Some(plan) = self.plans.join_next() => match plan.map_err(AppError::failed) {
                    Ok(Ok(plan)) => self.planned.push(plan),
                    Ok(Err(error)) | Err(error) => self.on_app_error(error),
                },
                _ = ticks.tick() => {}
            }
            self.step().await;
        }
        guard.abort();
        self.end().await
    }

    /// Goes on with the units that this worker had when it was stopped, and stores answers that
    /// did not reach the server then, whoever has their units now.
    async fn begin(&mut self) {
        self.renew_now().await;
        if let Err(error) = self.push_unsent().await {
            self.on_app_error(error);
        }
    }

    /// Stores answers about units that this worker had before, whoever has them now.
    async fn push_unsent(&mut self) -> Result<(), AppError> {
        let job = self.job.clone();
        let known = self.store.read(move |db| Identity::known(db, &job)).await?;
        let mut unsent = known.map(|known| known.unsent).unwrap_or_default();
        let known = self.known_units();
        unsent.retain(|unit| !known.contains(&unit.id));
        if unsent.is_empty() {
            return Ok(());
        }
        let unsent = unsent.into_iter().map(|unit| (unit, false));
        self.push(unsent.collect(), false).await
    }

    /// The IDs of the units that this worker has.
    fn known_units(&self) -> HashSet<i32> {
        let units = self.open.values().chain(&self.finished).chain(&self.aside);
        let units = units.chain(&self.planning);
        units.map(|unit| unit.id).collect()
    }

    async fn step(&mut self) {
        if self.server.is_none() {
            self.reconnect().await;
        }
        if let Err(error) = self.store_answers(false).await {
            self.on_app_error(error);
        }
        self.give_back().await;
        self.store_rounds().await;
        if self.renewed.elapsed() >= self.lease / 4 {
            self.renew_now().await;
        }
        self.top_up().await;
        self.look_for_units().await;
    }

    fn on_app_error(&mut self, error: AppError) {
        self.failed.get_or_insert(error);
        self.stop();
    }

    /// Ends the run; calls in flight may finish.
    fn stop(&mut self) {
        self.parts = None;
        self.control.send_if_modified(|control| {
            let changes = !control.cancelled;
            control.cancelled = true;
            changes
        });
    }

    fn on_error(&mut self, error: ServerError) {
        if error.is_temporary() {
            if self.server.take().is_some() {
                (self.tell)(&format!(
                    "{error}. Work on leased units goes on, and their answers wait in the project"
                ));
            }
            self.tried = Some(Instant::now());
        } else {
            self.on_app_error(error.into());
        }
    }

    async fn reconnect(&mut self) {
        if self
            .tried
            .is_some_and(|tried| tried.elapsed() < RETRY_EVERY)
        {
            return;
        }
        self.tried = Some(Instant::now());
        match Server::connect(&self.address).await {
            Ok(server) => {
                (self.tell)(&format!("{} answers again", server.name()));
                let patience = (self.lease / 4).max(RETRY_EVERY);
                self.server = Some(server.with_patience(patience));
                self.renew_now().await;
                if let Err(error) = self.push_unsent().await {
                    self.on_app_error(error);
                }
            }
            Err(error) if error.is_temporary() => {}
            Err(error) => self.on_app_error(error.into()),
        }
    }

    /// Extends the leases, compares the leased units with those in progress, and works on the
    /// others.
    async fn renew_now(&mut self) {
        let asked = Instant::now();
        self.renewed = asked;
        let Some(server) = &self.server else {
            return;
        };
        let units = match server.renew(&self.seat, self.lease.as_secs_f64()).await {
            Ok(units) => units,
            Err(error) => return self.on_error(error),
        };
        let renewed: HashSet<i32> = units.iter().map(|unit| unit.id).collect();
        if self.open.values().any(|unit| !renewed.contains(&unit.id)) {
            if !self.control.borrow().cancelled {
                (self.tell)(
                    "other workers have taken over units in the meantime; this one starts over \
                     with other units",
                );
                self.is_lost = true;
            }
            return self.stop();
        }
        self.keep_until(asked + self.lease);
        self.take(units).await;
    }

    /// Records until when the server keeps the leases.
    fn keep_until(&mut self, until: Instant) {
        self.valid_until.send_replace(until);
        pause(&self.control, false);
    }

    async fn top_up(&mut self) {
        let (Some(server), Some(money)) = (&mut self.server, &mut self.money) else {
            return;
        };
        let spend = self.progress.borrow().spend();
        money.run_usd = spend.usd();
        match money.top_up(server, &self.seat).await {
            Ok(false) => {}
            Ok(true) => {
                let limit_usd = money.limit_usd();
                let set = |control: &mut RunControl| control.budget_usd = Some(limit_usd);
                self.control.send_modify(set);
            }
            Err(error) => self.on_error(error),
        }
    }

    /// Number of units to lease now: enough to keep every judge busy.
    fn wanted(&self) -> usize {
        let progress = self.progress.borrow();
        if let Some((before, given)) = self.given_at
            && before == counted(&progress)
            && given.elapsed() < LOOK_EVERY
        {
            // The run has not counted the last ones yet.
            return 0;
        }
        let calls = if self.request.campaign.is_some() {
            sampling::PAIRS_PER_ROUND_PART
        } else {
            sampling::PAIRS_PER_PART
        };
        let lacking = |judge: &JudgeProgress| {
            let pending = judge.total.saturating_sub(judge.votes + judge.failures);
            let wanted = judge.window.max(1) + AHEAD;
            wanted.saturating_sub(pending).div_ceil(calls)
        };
        let judges = progress.judges.iter();
        let asked = judges.filter(|judge| judge.stopped.is_none() && !judge.dropped);
        let wanted = asked.map(lacking).max().unwrap_or(0).min(MAX_UNITS);
        wanted.max(usize::from(self.open.is_empty()))
    }

    async fn look_for_units(&mut self) {
        let has_looked = |at: Instant| at.elapsed() < LOOK_EVERY;
        if self.parts.is_none() || self.server.is_none() || self.found_none.is_some_and(has_looked)
        {
            return;
        }
        // A round that is being planned will have units.
        let wanted = self.wanted().saturating_sub(self.planning.len());
        if wanted == 0 {
            return;
        }
        let asked = Instant::now();
        let Some(server) = &self.server else {
            return;
        };
        let (lease_s, wanted) = (self.lease.as_secs_f64(), wanted as i64);
        let aside: Vec<i32> = self.given_back.iter().map(|unit| unit.id).collect();
        let units = match server.lease(&self.seat, lease_s, wanted, &aside).await {
            Ok(units) => units,
            Err(error) => return self.on_error(error),
        };
        self.found_none = units.is_empty().then_some(asked);
        if !units.is_empty() {
            if self.open.is_empty() {
                self.keep_until(asked + self.lease);
            }
            return self.take(units).await;
        }
        if !self.open.is_empty() || !self.finished.is_empty() || !self.aside.is_empty() {
            return;
        }
        match server.rest(&self.job, &aside).await {
            Ok(rest) => {
                self.is_done = rest.unfinished == 0;
                if rest.not_aside == 0 {
                    self.parts = None;
                }
            }
            Err(error) => self.on_error(error),
        }
    }

    /// Gives units to the run that it does not have, after the answers of other workers about them
    /// are in the project, and begins to plan rounds.
    async fn take(&mut self, mut units: Vec<Unit>) {
        let known = self.known_units();
        units.retain(|unit| !known.contains(&unit.id));
        let (planning, units): (Vec<_>, Vec<_>) = units.into_iter().partition(Unit::is_planning);
        for unit in planning {
            self.plan(unit).await;
        }
        let (Some(server), false) = (&self.server, units.is_empty()) else {
            return;
        };
        let ids: Vec<i32> = units.iter().map(|unit| unit.id).collect();
        let pieces = match server.pieces_of_others(&self.seat, &ids).await {
            Ok(pieces) => pieces,
            // The units are leased, and come back with the next renewal.
            Err(error) => return self.on_error(error),
        };
        let (job, taken) = (self.job.clone(), units.clone());
        let take = move |db: &mut Db| {
            let merged = merge_stored(db, &job, &pieces)?;
            Identity::change(db, &job, |worker| worker.owe(taken))?;
            Ok(merged)
        };
        let merged = match self.store.write(take).await {
            Ok(merged) => merged,
            Err(error) => return self.on_app_error(error.into()),
        };
        merged.problems.iter().for_each(|why| (self.tell)(why));
        self.given_at = Some((counted(&self.progress.borrow()), Instant::now()));
        for unit in units {
            let QueryShare { key, probe, .. } = match self.query_of(&unit) {
                Ok(query) => query,
                Err(error) => return self.on_app_error(error),
            };
            let key = PartKey {
                query: key,
                round: unit.round.map(|round| round as usize),
                part: unit.part.map(|part| part as usize),
            };
            if let Some(round) = key.round
                && !merged.rounds.contains(&(unit.query.clone(), round))
            {
                return self.on_app_error(AppError::Invalid(format!(
                    "the project has other calls in round {} of the query {:?} than the job: use \
                     a new project file",
                    round + 1,
                    sanitize::line(&unit.query)
                )));
            }
            self.open.insert(key, unit);
            let part = WorkPart { key, probe };
            if self
                .parts
                .as_ref()
                .is_none_or(|parts| parts.send(part).is_err())
            {
                // The run is ending.
                self.parts = None;
            }
        }
    }

    fn query_of(&self, unit: &Unit) -> Result<QueryShare, AppError> {
        let query = self.queries.get(&unit.query).copied();
        query.ok_or_else(|| {
            AppError::Invalid(format!(
                "the job has a query that the dataset lacks: {:?}",
                unit.query
            ))
        })
    }

    /// Begins to plan the round of a unit, after all answers about its query are in the project.
    async fn plan(&mut self, unit: Unit) {
        let key = match self.query_of(&unit) {
            Ok(query) => query.key,
            Err(error) => return self.on_app_error(error),
        };
        let Some(server) = &self.server else {
            // The unit is leased, and comes back with the next renewal.
            return;
        };
        let from = self.known_rounds.get(&unit.query).copied().unwrap_or(0);
        let pieces = match server.pieces_of_rounds(&self.seat, &unit.query, from).await {
            Ok(pieces) => pieces,
            Err(error) => return self.on_error(error),
        };
        let job = self.job.clone();
        let merge = move |db: &mut Db| merge_stored(db, &job, &pieces);
        match self.store.write(merge).await {
            // A round is never planned from a part of the answers.
            Ok(merged) => {
                if let Some(why) = merged.problems.into_iter().next() {
                    return self.on_app_error(AppError::Failed(why));
                }
            }
            Err(error) => return self.on_app_error(error.into()),
        }
        let ended = unit.round.unwrap_or(0);
        self.known_rounds.insert(unit.query.clone(), ended);
        self.planning.push(unit.clone());
        let (store, request) = (self.store.clone(), Arc::new(self.request.clone()));
        let plan = planner::plan(store, request, self.judges.clone(), key, unit);
        self.plans.spawn(plan);
    }

    /// Stores planned rounds on the server.
    async fn store_rounds(&mut self) {
        while let (Some(server), Some(plan)) = (&mut self.server, self.planned.last()) {
            let RoundPlan {
                unit,
                round,
                rounds,
                parts,
            } = plan;
            let added = server.add_round(&self.seat, unit, *round, rounds, *parts);
            match added.await {
                // Another worker may have planned it, after the lease has expired.
                Ok(_) => {}
                Err(error) => return self.on_error(error),
            }
            let id = unit.id;
            self.planned.pop();
            self.planning.retain(|unit| unit.id != id);
            self.found_none = None;
        }
    }

    /// Notes that the calls of a part have ended.
    fn finish(&mut self, end: &PartEnd) {
        let Some(unit) = self.open.remove(&end.key) else {
            return;
        };
        if end.is_complete {
            self.finished.push(unit);
            return;
        }
        self.aside.push(unit);
        let judges = &self.progress.borrow().judges;
        if judges.iter().any(|judge| judge.stopped.is_some()) {
            self.parts = None;
        }
    }

    /// Gives back the units that were put aside, once their answers are on the server.
    async fn give_back(&mut self) {
        let is_due = self.failed.is_none() && !self.aside.is_empty();
        let (Some(server), true) = (&self.server, is_due) else {
            return;
        };
        let units: Vec<i32> = self.aside.iter().map(|unit| unit.id).collect();
        match server.give_back(&self.seat, &units).await {
            Ok(()) => self.given_back.append(&mut self.aside),
            Err(error) => self.on_error(error),
        }
    }

    /// Stores new answers on the server.
    async fn store_answers(&mut self, is_last: bool) -> Result<(), AppError> {
        let has_ended = !self.finished.is_empty() || !self.aside.is_empty();
        let is_due = self.pushed_at.elapsed() >= PUSH_EVERY || has_ended;
        if self.server.is_none() || !is_due && !is_last {
            return Ok(());
        }
        self.pushed_at = Instant::now();
        let with_ledger = is_last || self.ledger_at.elapsed() >= LEDGER_EVERY;
        let unfinished = self
            .open
            .values()
            .chain(&self.aside)
            .chain(&self.given_back);
        let unfinished = unfinished.map(|unit| (unit.clone(), false));
        let finished = self.finished.iter().map(|unit| (unit.clone(), true));
        self.push(finished.chain(unfinished).collect(), with_ledger)
            .await
    }

    /// Stores the answers about these units that are new, and marks the finished ones as done.
    async fn push(&mut self, units: Vec<(Unit, bool)>, with_ledger: bool) -> Result<(), AppError> {
        let done: Vec<i32> = units
            .iter()
            .filter(|(_, is_finished)| *is_finished)
            .map(|(unit, _)| unit.id)
            .collect();
        let (queries, known, job) = (self.queries.clone(), self.pushed.clone(), self.job.clone());
        let (request, judges) = (self.request.clone(), self.judges.clone());
        let of = units.clone();
        let packed = self.store.write(move |db| {
            let (mut pieces, mut kept) = (Vec::new(), HashMap::new());
            for (unit, is_finished) in of {
                let Some(query) = queries.get(&unit.query) else {
                    continue;
                };
                let calls = db.kept_calls(query.key)?;
                kept.insert(unit.id, calls);
                if !is_finished && known.get(&unit.id) == Some(&calls) {
                    continue;
                }
                let pairs = match (unit.round, unit.part) {
                    (Some(round), Some(part)) => {
                        let (round, part) = (round as usize, part as usize);
                        Some(pairs_of_round_part(db, query.key, round, part)?)
                    }
                    (_, Some(part)) => {
                        let (name, documents) = (&unit.query, query.documents);
                        let planned = sampling::plan(request.seed, name, documents, request.cycles);
                        Some(sampling::pairs_of_part(&planned, part as usize))
                    }
                    (_, None) => None,
                };
                let piece = Piece::of_query(db, query.key, pairs, &judges)?;
                pieces.extend(piece.map(|piece| (unit.id, piece)));
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
            Ok((pieces, kept, worker.spent_usd(db)?))
        });
        let (pieces, kept, spent_usd) = packed.await?;
        let report = {
            let progress = self.progress.borrow();
            WorkerReport {
                votes: self.joined.votes + progress.votes() as i64,
                failures: self.joined.failures + progress.failures() as i64,
                spent: micros(spent_usd),
            }
        };
        if pieces.is_empty() && done.is_empty() && self.reported == Some(report) {
            return Ok(());
        }
        let Some(server) = &mut self.server else {
            return Ok(());
        };
        let lease_s = self.lease.as_secs_f64();
        let pushed = server.push(&self.seat, &pieces, &done, report, lease_s);
        let planning = match pushed.await {
            Ok(planning) => planning,
            Err(error) if error.is_temporary() => {
                self.on_error(error);
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        self.reported = Some(report);
        self.pushed.extend(kept);
        self.finished.retain(|unit| !done.contains(&unit.id));
        if with_ledger {
            self.ledger_at = Instant::now();
        }
        // Units in progress will have further answers.
        let in_progress: HashSet<i32> = self
            .open
            .values()
            .chain(&self.finished)
            .map(|unit| unit.id)
            .collect();
        let sent = units.into_iter().map(|(unit, _)| unit.id);
        let sent: HashSet<i32> = sent.filter(|id| !in_progress.contains(id)).collect();
        if !sent.is_empty() {
            let job = self.job.clone();
            let forget = move |db: &mut Db| {
                Identity::change(db, &job, |worker| {
                    worker.unsent.retain(|unit| !sent.contains(&unit.id));
                })
            };
            self.store.write(forget).await?;
        }
        self.take(planning).await;
        Ok(())
    }

    /// Stores the last answers after the run.
    async fn end(mut self) -> LesseeEnd {
        let began = Instant::now();
        let is_lost = self.is_lost;
        let open = self.open.drain().map(|(_, unit)| unit);
        self.aside.extend(open);
        loop {
            if let Some(error) = self.failed {
                return LesseeEnd::Failed(error);
            }
            if self.server.is_none() {
                self.tried = None;
                self.reconnect().await;
            }
            if self.failed.is_none() && self.server.is_some() {
                let stored = match self.store_answers(true).await {
                    Ok(()) => self.push_unsent().await,
                    Err(error) => Err(error),
                };
                match stored {
                    Ok(()) if self.server.is_some() => break,
                    Ok(()) => {}
                    Err(error) => self.on_app_error(error),
                }
            }
            if began.elapsed() >= LAST_PUSH {
                let server = self.address.name();
                return LesseeEnd::Unsent(AppError::Failed(format!(
                    "{server} does not answer: the last answers are in the project only; run the \
                     same command again to store them on the server"
                )));
            }
            tokio::time::sleep(RETRY_EVERY / 4).await;
        }
        let Some(server) = self.server else {
            return LesseeEnd::Unsent(AppError::Failed(format!(
                "{} does not answer",
                self.address.name()
            )));
        };
        if self.is_done {
            return LesseeEnd::Done(server);
        }
        // Someone has pressed Ctrl-C as well.
        let is_stopped = self.control.borrow().grace.is_zero();
        if is_lost && !is_stopped {
            LesseeEnd::LostLease(server)
        } else {
            LesseeEnd::Left(server)
        }
    }
}

/// Number of calls that a run has counted.
fn counted(progress: &RunProgress) -> usize {
    progress.judges.iter().map(|judge| judge.total).sum()
}

pub(super) fn pause(control: &watch::Sender<RunControl>, paused: bool) {
    control.send_if_modified(|control| {
        let changes = control.paused != paused;
        control.paused = paused;
        changes
    });
}

/// Pauses the run whenever the leases end, whatever its lessee is waiting for: others may have the
/// units from then on.
pub(super) async fn guard(
    control: watch::Sender<RunControl>,
    mut valid_until: watch::Receiver<Instant>,
) {
    loop {
        let until = *valid_until.borrow_and_update();
        tokio::select! {
            () = tokio::time::sleep_until(until) => {
                if *valid_until.borrow() <= Instant::now() {
                    pause(&control, true);
                }
                if valid_until.changed().await.is_err() {
                    return;
                }
            }
            changed = valid_until.changed() => if changed.is_err() {
                return;
            },
        }
    }
}

/// The queries of the dataset by name.
fn shares(shared: &SharedRun, judges: &[JudgeSpec]) -> HashMap<String, QueryShare> {
    let documents = shared.queries.iter().map(|(query, _)| query.documents);
    let probes = probe_shares(&shared.request, judges, documents);
    let queries = shared.queries.iter().zip(probes);
    let queries = queries.map(|((query, key), probe)| {
        let SharedQuery { name, documents } = query.clone();
        let share = QueryShare {
            key: *key,
            documents,
            probe,
        };
        (name, share)
    });
    queries.collect()
}
