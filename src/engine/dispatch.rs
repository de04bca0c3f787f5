//! The task that owns a run: it plans, lets each judge go its way, counts what is on disk, and refits.

use super::budget::Budget;
use super::lane::{Ended, Event, Lane, Shared, Valve, lock};
use super::limits::{Pace, Window};
use super::lock::RunLock;
use super::plan::plan_query;
use super::progress::{Phase, Progress};
use super::{Control, EngineError, Outcome, Request, now_ms};
use crate::domain::vote::JudgeId;
use crate::judge::{Ensemble, Usage};
use crate::store::corpus::QueryKey;
use crate::store::{Db, Store, StoreError};
use crate::store::{
    calls::Holes,
    runs::{EnsembleId, RunId, RunRow},
};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use uuid::Uuid;

/// How often watchers are told.
const REPORT_EVERY: Duration = Duration::from_millis(40);
/// Events that lanes may be ahead of the run.
const BACKLOG: usize = 1024;

/// Queries whose plans share a transaction.
const PLANNED_TOGETHER: usize = 64;

/// What entering a query's plan came to.
struct Entered {
    battles: usize,
    /// Calls to make, for each judge.
    calls: Vec<usize>,
    /// Votes that are not there, whether or not this run is to ask for them.
    holes: usize,
}

fn enter_plan(
    db: &Db,
    query: QueryKey,
    request: &Request,
    ensemble: EnsembleId,
    names: &[String],
    judges: &[JudgeId],
) -> Result<Entered, StoreError> {
    let info = db.query(query)?;
    let plan = plan_query(request, info.id.as_str(), info.documents, names);
    db.add_plan(query, &plan.planned, plan.depth, ensemble)?;
    let mut calls = vec![0; judges.len()];
    for call in db.outstanding(query, &plan.planned, judges, &plan.swapped, request.holes)? {
        calls[call.judge] += 1;
    }
    let all = Holes::FreshAndFailed;
    let holes = db
        .outstanding(query, &plan.planned, judges, &plan.swapped, all)?
        .len()
        + db.pending(query, judges)?;
    Ok(Entered {
        battles: plan.planned.len(),
        calls,
        holes,
    })
}

struct Dispatcher {
    store: Store,
    ensemble: Ensemble,
    judges: Vec<JudgeId>,
    run: RunId,
    control: watch::Receiver<Control>,
    progress_to: watch::Sender<Progress>,
    progress: Progress,
    budget: Budget,
    valves: Vec<Arc<Mutex<Valve>>>,
    started: Instant,
    reported: Instant,
    /// Calls left of each query that is not done.
    open: HashMap<QueryKey, usize>,
    missing: usize,
    broke: bool,
}

pub(super) async fn run(
    store: Store,
    ensemble: Ensemble,
    request: Request,
    control: watch::Receiver<Control>,
    progress_to: watch::Sender<Progress>,
) -> Result<Outcome, EngineError> {
    if ensemble.is_empty() {
        return Err(EngineError::NoJudge);
    }
    for (seat, judge) in ensemble.iter().enumerate() {
        let name = &judge.spec().name;
        if ensemble[..seat]
            .iter()
            .any(|other| other.spec().name == *name)
        {
            return Err(EngineError::TwiceNamed(name.clone()));
        }
    }
    let _lock = RunLock::take(store.path())?;
    let specs: Vec<_> = ensemble.iter().map(|judge| judge.spec().clone()).collect();
    let row = (request.seed, request.cycles, request.depth);
    let (judges, ensemble_id, run) = store
        .write(move |db| {
            let judges = specs
                .iter()
                .map(|spec| db.judge(spec))
                .collect::<Result<Vec<_>, _>>()?;
            let ensemble = db.ensemble(&judges)?;
            let run = db.start_run(&RunRow {
                uid: Uuid::now_v7().to_string(),
                seed: row.0,
                cycles: row.1,
                depth: row.2,
                ensemble,
                started_ms: now_ms(),
            })?;
            Ok((judges, ensemble, run))
        })
        .await?;
    let ((spent_usd, ..), (_, owed_usd)) =
        store.read(|db| Ok((db.spend()?, db.committed()?))).await?;
    let now = Instant::now();
    let limit_usd = control.borrow().budget_usd;
    let valves = ensemble
        .iter()
        .map(|judge| {
            let limits = judge.limits();
            let most = limits
                .concurrency
                .unwrap_or_else(|| control.borrow().concurrency);
            Arc::new(Mutex::new(Valve {
                window: Window::new(most, !judge.spec().is_offline()),
                pace: Pace::new(limits, now),
                stopped: None,
                refused: 0,
            }))
        })
        .collect();
    let mut progress = progress_to.borrow().clone();
    progress.spent_before_usd = spent_usd;
    let mut dispatcher = Dispatcher {
        store: store.clone(),
        ensemble,
        judges,
        run,
        control,
        progress_to,
        progress,
        budget: Budget::new(limit_usd, spent_usd + owed_usd),
        valves,
        started: now,
        reported: now,
        open: HashMap::new(),
        missing: 0,
        broke: false,
    };
    tracing::info!(
        run = run.0,
        seed = request.seed,
        cycles = request.cycles,
        "run begins"
    );
    let result = dispatcher.work(&request, ensemble_id).await;
    let cancelled = dispatcher.control.borrow().cancelled;
    let state = match (&result, cancelled) {
        (Err(_), _) => "failed",
        (Ok(()), true) => "cancelled",
        (Ok(()), false) => "done",
    };
    store
        .write(move |db| db.end_run(run, state, now_ms()))
        .await?;
    result?;
    dispatcher.progress.phase = Phase::Done;
    dispatcher.report(true);
    Ok(Outcome {
        run,
        cancelled,
        broke: dispatcher.broke,
        missing: (dispatcher.progress.queries_planned == dispatcher.progress.queries)
            .then(|| dispatcher.missing - dispatcher.progress.votes()),
        progress: dispatcher.progress,
    })
}

impl Dispatcher {
    async fn work(&mut self, request: &Request, ensemble: EnsembleId) -> Result<(), EngineError> {
        let queries = match &request.queries {
            Some(queries) => queries.clone(),
            None => self.store.read(|db| db.runnable_queries()).await?,
        };
        let waiting = self.plan(request, ensemble, queries).await?;
        self.progress.phase = Phase::Judging;
        self.report(true);
        self.judge(request, waiting).await?;
        // Queries that a stop or a lack of money left unfinished have new votes all the same.
        let unfinished: Vec<QueryKey> = self.open.drain().map(|(query, _)| query).collect();
        for query in unfinished {
            self.summarise(query).await?;
        }
        if !self.control.borrow().cancelled {
            self.estimate_dispersion(ensemble).await?;
        }
        Ok(())
    }

    /// Enters every query's plan and returns the queries with calls to make.
    async fn plan(
        &mut self,
        request: &Request,
        ensemble: EnsembleId,
        queries: Vec<QueryKey>,
    ) -> Result<Vec<QueryKey>, EngineError> {
        self.progress.queries = queries.len();
        let names: Arc<[String]> = self
            .ensemble
            .iter()
            .map(|judge| judge.spec().name.clone())
            .collect();
        let judges: Arc<[JudgeId]> = self.judges.iter().copied().collect();
        let request = Arc::new(request.clone());
        let mut waiting = Vec::new();
        for queries in queries.chunks(PLANNED_TOGETHER) {
            if self.control.borrow().cancelled {
                break;
            }
            let (request, names, judges) = (
                Arc::clone(&request),
                Arc::clone(&names),
                Arc::clone(&judges),
            );
            let keys = queries.to_vec();
            let plans = self
                .store
                .write(move |db| {
                    let plan = |query| enter_plan(db, query, &request, ensemble, &names, &judges);
                    keys.into_iter().map(plan).collect::<Result<Vec<_>, _>>()
                })
                .await?;
            for (query, plan) in queries.iter().zip(plans) {
                let total: usize = plan.calls.iter().sum();
                for (judge, count) in self.progress.judges.iter_mut().zip(&plan.calls) {
                    judge.total += count;
                }
                self.progress.total += total;
                self.progress.battles += plan.battles;
                self.progress.already += plan.battles * plan.calls.len() - plan.holes;
                self.progress.queries_planned += 1;
                self.missing += plan.holes;
                if total > 0 {
                    self.open.insert(*query, total);
                    waiting.push(*query);
                } else {
                    self.progress.queries_done += 1;
                }
            }
            self.report(false);
        }
        if let Some(most) = request.at_most {
            for judge in &mut self.progress.judges {
                judge.total = judge.total.min(most);
            }
            self.progress.total = self.progress.judges.iter().map(|judge| judge.total).sum();
        }
        Ok(waiting)
    }

    /// Lets every judge work through the queries, and counts.
    async fn judge(
        &mut self,
        request: &Request,
        queries: Vec<QueryKey>,
    ) -> Result<(), EngineError> {
        let (events, mut heard) = mpsc::channel(BACKLOG);
        let shared = Arc::new(Shared {
            store: self.store.clone(),
            run: self.run,
            ensemble: self.ensemble.clone(),
            judges: self.judges.clone(),
            names: self
                .ensemble
                .iter()
                .map(|judge| judge.spec().name.clone())
                .collect(),
            request: request.clone(),
            queries,
            control: self.control.clone(),
            budget: self.budget.clone(),
            events,
            pools: Mutex::default(),
            next_call: Mutex::new(Instant::now()),
        });
        let mut lanes = JoinSet::new();
        for (seat, valve) in self.valves.iter().enumerate() {
            lanes.spawn(Lane::new(Arc::clone(&shared), seat, Arc::clone(valve)).work());
        }
        // The channel ends when the last lane and the last call have let go of it.
        drop(shared);
        let mut control = self.control.clone();
        self.steer(*control.borrow_and_update());
        let mut failed = None;
        loop {
            tokio::select! {
                event = heard.recv() => match event {
                    Some(event) => if let Some(error) = self.hear(event).await? {
                        failed.get_or_insert(error);
                        lanes.abort_all();
                    },
                    None => break,
                },
                changed = control.changed() => if changed.is_ok() {
                    self.steer(*control.borrow_and_update());
                } else {
                    lanes.abort_all();
                },
                () = tokio::time::sleep(REPORT_EVERY) => {}
            }
            self.report(false);
        }
        while let Some(ended) = lanes.join_next().await {
            if let Err(error) = ended
                && error.is_panic()
            {
                failed.get_or_insert(EngineError::Crashed(error.to_string()));
            }
        }
        failed.map_or(Ok(()), Err)
    }

    fn steer(&mut self, control: Control) {
        if self.progress.paused != control.paused {
            self.progress.paused = control.paused;
            self.progress
                .say(if control.paused { "paused" } else { "resumed" }.to_owned());
        }
        self.budget.set_limit(control.budget_usd);
        for (seat, judge) in self.progress.judges.iter_mut().enumerate() {
            judge.dropped = control.is_dropped(seat);
        }
        for (judge, valve) in self.ensemble.iter().zip(&self.valves) {
            let most = judge.limits().concurrency.unwrap_or(control.concurrency);
            lock(valve).window.set_limit(most.min(control.concurrency));
        }
    }

    /// Takes an event in; returns what ends the run.
    async fn hear(&mut self, event: Event) -> Result<Option<EngineError>, EngineError> {
        match event {
            Event::Ended(ended) => self.ended(ended).await?,
            Event::Paid {
                seat,
                usage,
                cost_usd,
            } => {
                self.count(seat, usage, cost_usd);
                self.progress.judges[seat].retries += 1;
            }
            Event::Retried { seat, line } => {
                let judge = &mut self.progress.judges[seat];
                judge.retries += 1;
                let line = format!("{}: {line}", judge.name);
                self.progress.say(line);
            }
            Event::Stopped { seat, why } => {
                let judge = &mut self.progress.judges[seat];
                if judge.stopped.is_none() {
                    let line = format!("{} stopped: {why}", judge.name);
                    judge.stopped = Some(why);
                    self.progress.say(line);
                }
            }
            Event::Broke => {
                if !self.broke {
                    self.progress
                        .say("the budget is reached: no further call".to_owned());
                }
                self.broke = true;
            }
            Event::Failed(error) => return Ok(Some(error)),
        }
        Ok(None)
    }

    fn count(&mut self, seat: usize, usage: Usage, cost_usd: Option<f64>) {
        let judge = &mut self.progress.judges[seat];
        judge.usage.input += usage.input;
        judge.usage.cached += usage.cached;
        judge.usage.output += usage.output;
        judge.usage.thinking += usage.thinking;
        judge.spent_usd += cost_usd.unwrap_or(0.0);
        self.progress.unpriced += usize::from(cost_usd.is_none());
    }

    async fn ended(&mut self, ended: Ended) -> Result<(), EngineError> {
        self.count(ended.seat, ended.usage, ended.cost_usd);
        let judge = &mut self.progress.judges[ended.seat];
        judge.latency_ms += ended.latency_ms;
        judge.reused += usize::from(ended.reused);
        match &ended.failure {
            None => judge.votes += 1,
            Some(_) => judge.failures += 1,
        }
        if let Some(failure) = ended.failure {
            let line = format!("{}: {failure}", judge.name);
            self.progress.say(line);
        }
        if let Some(left) = self.open.get_mut(&ended.query) {
            *left -= 1;
            if *left == 0 {
                self.open.remove(&ended.query);
                self.summarise(ended.query).await?;
                self.progress.queries_done += 1;
            }
        }
        Ok(())
    }

    /// Refits a query and keeps its summary.
    async fn summarise(&self, query: QueryKey) -> Result<(), EngineError> {
        self.store.summarise(query).await?;
        Ok(())
    }

    /// With all votes in, the noise of the battles can be estimated; the intervals of every query follow it.
    async fn estimate_dispersion(&mut self, ensemble: EnsembleId) -> Result<(), EngineError> {
        let changed = self
            .store
            .write(move |db| {
                Ok(if db.estimate_phi(ensemble)? {
                    db.queries_of(ensemble)?
                } else {
                    Vec::new()
                })
            })
            .await?;
        for query in changed {
            if self.control.borrow().cancelled {
                break;
            }
            self.summarise(query).await?;
            self.report(false);
        }
        Ok(())
    }

    fn report(&mut self, now: bool) {
        if now || self.reported.elapsed() >= REPORT_EVERY {
            self.reported = Instant::now();
            let moment = Instant::now();
            for (judge, valve) in self.progress.judges.iter_mut().zip(&self.valves) {
                let valve = lock(valve);
                judge.window = valve.window.size();
                judge.held_s = valve.pace.held(moment).map(|left| left.as_secs_f64());
            }
            self.progress.tick(self.started.elapsed());
            self.progress_to.send_replace(self.progress.clone());
        }
    }
}
