//! The task that owns a run: it plans, lets each judge go its way, counts what is on disk, and refits.

mod play;

use super::budget::Budget;
use super::lane::{Ended, Event, Valve, lock};
use super::lock::RunLock;
use super::plan::{enter_plan, share};
use super::progress::{Phase, Progress};
use super::rounds::{Open, Rounds, Visit};
use super::{Control, EngineError, Outcome, Request, now_ms};
use crate::domain::vote::JudgeId;
use crate::judge::{Ensemble, Usage};
use crate::store::Store;
use crate::store::corpus::QueryKey;
use crate::store::runs::{EnsembleId, RunId, RunRow};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};
use uuid::Uuid;

/// How often watchers are told.
const REPORT_EVERY: Duration = Duration::from_millis(40);
/// Events that lanes may be ahead of the run.
const BACKLOG: usize = 1024;

/// Queries whose plans share a transaction.
const PLANNED_TOGETHER: usize = 64;

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
    /// The queries that are not done.
    open: HashMap<QueryKey, Open>,
    /// Where the run is played in rounds.
    rounds: Option<Rounds>,
    /// The way to each judge's lane, while there may be more for it to do.
    visits: Vec<mpsc::UnboundedSender<Visit>>,
    /// Judges whose lanes have ended.
    gone: Vec<bool>,
    /// Calls that have not ended, those of judges that are gone left out.
    waited_for: usize,
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
    let row = request.clone();
    let (judges, ensemble_id, run) = store
        .write(move |db| {
            let judges = specs
                .iter()
                .map(|spec| db.judge(spec))
                .collect::<Result<Vec<_>, _>>()?;
            let ensemble = db.ensemble(&judges)?;
            let run = db.start_run(&RunRow {
                uid: Uuid::now_v7().to_string(),
                seed: row.seed,
                cycles: row.cycles,
                depth: row.depth,
                campaign: row.campaign,
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
            let concurrency = control.borrow().concurrency;
            Arc::new(Mutex::new(Valve::new(judge.as_ref(), concurrency, now)))
        })
        .collect();
    let mut progress = progress_to.borrow().clone();
    progress.spent_before_usd = spent_usd;
    let rounds = request
        .campaign
        .map(|campaign| Rounds::new(store.clone(), campaign, request.clone(), &judges));
    let mut dispatcher = Dispatcher {
        store: store.clone(),
        gone: vec![false; judges.len()],
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
        rounds,
        visits: Vec::new(),
        waited_for: 0,
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
        self.summarise_all(unfinished).await?;
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
            let (request, names) = (Arc::clone(&request), Arc::clone(&names));
            let keys = queries.to_vec();
            let seats = Arc::clone(&judges);
            let plans = self
                .store
                .write(move |db| {
                    let plan = |query| enter_plan(db, query, &request, ensemble, &names, &seats);
                    keys.into_iter().map(plan).collect::<Result<Vec<_>, _>>()
                })
                .await?;
            for (query, plan) in queries.iter().zip(plans) {
                let total = plan.calls.iter().sum::<usize>() + plan.unplanned;
                for (seat, judge) in self.progress.judges.iter_mut().enumerate() {
                    judge.total += plan.calls[seat] + share(plan.unplanned, judges.len(), seat);
                }
                self.progress.total += total;
                self.progress.battles += plan.battles;
                self.progress.already += plan.already;
                self.progress.queries_planned += 1;
                self.missing += plan.holes;
                self.waited_for += total - plan.unplanned;
                if total > 0 {
                    let open = Open {
                        place: waiting.len(),
                        calls: plan.calls,
                        unplanned: plan.unplanned,
                        short: false,
                    };
                    self.open.insert(*query, open);
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
            Event::Found { seat, query, calls } => self.found(seat, query, calls).await?,
            Event::Broke => self.is_broke(),
            Event::Failed(error) => return Ok(Some(error)),
        }
        Ok(None)
    }

    fn is_broke(&mut self) {
        if !self.broke {
            self.progress
                .say("the budget is reached: no further call".to_owned());
        }
        self.broke = true;
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
        match ended.failure {
            None => judge.votes += 1,
            Some((cause, failure)) => {
                judge.failed(cause);
                let line = format!("{}: {failure}", judge.name);
                self.progress.say(line);
            }
        }
        // Nobody waits any more for the calls of a judge that has left.
        if let Some(open) = self.open.get_mut(&ended.query)
            && open.calls[ended.seat] > 0
        {
            open.calls[ended.seat] -= 1;
            self.waited_for -= 1;
            self.settle(ended.query).await?;
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
        self.summarise_all(changed).await
    }

    /// Refits queries on all cores and keeps their summaries. A cancel leaves the rest to whoever looks at them; they are
    /// known to be out of date.
    async fn summarise_all(&mut self, queries: Vec<QueryKey>) -> Result<(), EngineError> {
        if queries.is_empty() {
            return Ok(());
        }
        self.progress.enter(Phase::Refitting, queries.len());
        self.report(true);
        let (counts, mut counted) = watch::channel(0);
        let (store, control) = (self.store.clone(), self.control.clone());
        let work = tokio::task::spawn_blocking(move || {
            store.summarise_all(&queries, |_, _| {
                counts.send_modify(|count| *count += 1);
                !control.borrow().cancelled
            })
        });
        // The channel ends with the work.
        while counted.changed().await.is_ok() {
            self.progress.step_done = *counted.borrow_and_update();
            self.report(false);
        }
        work.await
            .map_err(|error| EngineError::Crashed(error.to_string()))??;
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
