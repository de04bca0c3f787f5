//! The task that owns a run: it plans, lets each judge go its way, counts what is on disk, and refits.

mod event_loop;

use super::battle_question::{BattleQuestion, VoteReply};
use super::error::RunError;
use super::plan::{enter_plan, share};
use super::progress::{RunPhase, RunProgress};
use super::question_source::{SourceEvent, SourceTask};
use super::request::{RunOutcome, RunRequest};
use super::rounds::{RoundPlanner, UnfinishedQuery};
use crate::app::run_lock::RunLock;
use crate::client::budget::Budget;
use crate::client::gate::RateGate;
use crate::client::question::ServiceQuestion as _;
use crate::client::window;
use crate::client::worker::{QuestionEnd, WorkerEvent};
use crate::client::{RunControl, lock, now_ms};
use crate::domain::vote::JudgeId;
use crate::judge::{Judge, JudgeEnsemble, Usage};
use crate::store::Store;
use crate::store::corpus::QueryKey;
use crate::store::judges::EnsembleId;
use crate::store::ledger::{Charge, Spent};
use crate::store::runs::{RunId, RunRow};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use uuid::Uuid;

/// How often watchers are told.
const REPORT_EVERY: Duration = Duration::from_millis(40);
/// The same words about a judge's repeated calls are said again after this time.
const SAID_AGAIN: Duration = Duration::from_secs(10);
/// Events that workers may be ahead of the run.
const BACKLOG: usize = 4_096;

/// Queries whose plans share a transaction.
const PLANNED_TOGETHER: usize = 64;

struct Dispatcher {
    store: Store,
    ensemble: JudgeEnsemble,
    judges: Vec<JudgeId>,
    run: RunId,
    control: watch::Receiver<RunControl>,
    progress_to: watch::Sender<RunProgress>,
    progress: RunProgress,
    budget: Budget,
    gates: Vec<Arc<Mutex<RateGate>>>,
    started: Instant,
    reported: Instant,
    /// The queries that are not done.
    open: HashMap<QueryKey, UnfinishedQuery>,
    /// Where the run is played in rounds.
    rounds: Option<RoundPlanner>,
    /// The way to each judge's feeder, while there may be more for it to do.
    visits: Vec<mpsc::UnboundedSender<SourceTask>>,
    /// Judges nobody waits for: their workers have ended, or make no calls for now while others do.
    gone: Vec<bool>,
    /// Judges whose workers have ended.
    left: Vec<bool>,
    /// Judges that make no calls for now.
    away: Vec<bool>,
    /// Judges that a person has dropped and that have no call in flight.
    resting: Vec<bool>,
    /// What was said last of each judge's repeated calls, and when.
    said: Vec<Option<(String, Instant)>>,
    /// Judges that were dropped before the run began, a bit each.
    dropped_before: u64,
    /// Calls that have not ended, those of judges that are gone left out.
    waited_for: usize,
    missing: usize,
    broke: bool,
}

pub(super) async fn run(
    store: Store,
    ensemble: JudgeEnsemble,
    request: RunRequest,
    control: watch::Receiver<RunControl>,
    progress_to: watch::Sender<RunProgress>,
) -> Result<RunOutcome, RunError> {
    if ensemble.is_empty() {
        return Err(RunError::NoJudge);
    }
    for (judge_index, judge) in ensemble.iter().enumerate() {
        let name = &judge.spec().name;
        if ensemble[..judge_index]
            .iter()
            .any(|other| other.spec().name == *name)
        {
            return Err(RunError::TwiceNamed(name.clone()));
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
    let names: Vec<String> = ensemble
        .iter()
        .map(|judge| window_setting(judge.as_ref()))
        .collect();
    let (spent_usd, committed_usd, windows) = store
        .write(move |db| {
            // This run holds the lock: whatever is open was cut short.
            db.charge_killed_calls(now_ms())?;
            let spent = db.spent()?.iter().map(Spent::usd).sum::<f64>();
            let windows = names.iter().map(|name| db.remembered(name));
            let windows = windows.collect::<Result<Vec<_>, _>>()?;
            Ok((spent, db.committed_usd()?, windows))
        })
        .await?;
    let now = Instant::now();
    let RunControl {
        budget_usd: limit_usd,
        dropped: dropped_before,
        ..
    } = *control.borrow();
    let gates = ensemble
        .iter()
        .zip(windows)
        .map(|(judge, remembered)| {
            let concurrency = control.borrow().concurrency;
            let first = remembered.and_then(|text| text.parse().ok());
            let gate = RateGate::of_judge(&ensemble, judge.as_ref(), concurrency, first);
            Arc::new(Mutex::new(gate))
        })
        .collect();
    let mut progress = progress_to.borrow().clone();
    progress.spent_before_usd = spent_usd;
    let rounds = request
        .campaign
        .map(|campaign| RoundPlanner::new(store.clone(), campaign, request.clone(), &judges));
    let mut dispatcher = Dispatcher {
        store: store.clone(),
        gone: vec![false; judges.len()],
        left: vec![false; judges.len()],
        away: vec![false; judges.len()],
        resting: vec![false; judges.len()],
        said: vec![None; judges.len()],
        dropped_before,
        ensemble,
        judges,
        run,
        control,
        progress_to,
        progress,
        budget: Budget::new(limit_usd, committed_usd),
        gates,
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
    let windows = dispatcher.windows();
    let ended = store
        .write(move |db| {
            for (name, size) in &windows {
                db.remember(name, &size.to_string())?;
            }
            db.end_run(run, state, now_ms())
        })
        .await;
    // What went wrong first says more.
    result?;
    ended?;
    dispatcher.progress.phase = RunPhase::Done;
    dispatcher.report(true);
    Ok(RunOutcome {
        run,
        cancelled,
        broke: dispatcher.broke,
        missing: (dispatcher.progress.queries_planned == dispatcher.progress.queries)
            .then(|| dispatcher.missing - dispatcher.progress.votes()),
        progress: dispatcher.progress,
    })
}

impl Dispatcher {
    async fn work(&mut self, request: &RunRequest, ensemble: EnsembleId) -> Result<(), RunError> {
        let queries = match &request.queries {
            Some(queries) => queries.clone(),
            None => self.store.read(|db| db.runnable_queries()).await?,
        };
        let waiting = self.plan(request, ensemble, queries).await?;
        self.progress.phase = RunPhase::Judging;
        self.report(true);
        for (judge, gate) in self.progress.judges.iter().zip(&self.gates) {
            lock(gate).window.expect(judge.total);
        }
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
        request: &RunRequest,
        ensemble: EnsembleId,
        queries: Vec<QueryKey>,
    ) -> Result<Vec<QueryKey>, RunError> {
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
                for (judge_index, judge) in self.progress.judges.iter_mut().enumerate() {
                    judge.total +=
                        plan.calls[judge_index] + share(plan.unplanned, judges.len(), judge_index);
                }
                self.progress.total += total;
                self.progress.battles += plan.battles;
                self.progress.already += plan.already;
                self.progress.queries_planned += 1;
                self.missing += plan.missing;
                self.waited_for += total - plan.unplanned;
                if total > 0 {
                    let open = UnfinishedQuery {
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

    fn steer(&mut self, control: RunControl) {
        if self.progress.paused != control.paused {
            self.progress.paused = control.paused;
            self.progress
                .say(if control.paused { "paused" } else { "resumed" }.to_owned());
        }
        self.budget.set_limit(control.budget_usd);
        for (judge_index, judge) in self.progress.judges.iter_mut().enumerate() {
            judge.dropped = control.is_dropped(judge_index);
        }
        for (judge, gate) in self.ensemble.iter().zip(&self.gates) {
            let most = judge.limits().concurrency.unwrap_or(control.concurrency);
            lock(gate).window.set_limit(most.min(control.concurrency));
        }
    }

    /// The windows of judges behind a network, to begin with next time.
    fn windows(&self) -> Vec<(String, usize)> {
        let judges = self.ensemble.iter().zip(&self.gates);
        judges
            .filter(|(judge, _)| !judge.spec().is_offline())
            .map(|(judge, gate)| {
                let gate = lock(gate);
                let size = gate.window.size();
                // Where the provider limits a minute's calls, a large window would only meet that limit at once.
                let size = if gate.pace.is_limited() {
                    size.min(window::FIRST)
                } else {
                    size
                };
                (window_setting(judge.as_ref()), size)
            })
            .collect()
    }

    /// Takes in what a worker tells; returns what ends the run.
    async fn hear(
        &mut self,
        judge_index: usize,
        event: WorkerEvent<BattleQuestion>,
    ) -> Result<Option<RunError>, RunError> {
        match event {
            WorkerEvent::Ended {
                question,
                end,
                charge,
            } => self.ended(judge_index, question.query, end, charge).await?,
            WorkerEvent::Again { charge, line } => {
                self.charge(judge_index, charge);
                if !line.is_empty() {
                    let judge = &mut self.progress.judges[judge_index];
                    judge.retries += 1;
                    let line = format!("{}: {line}", judge.name);
                    // The same refusal of hundreds of calls would push everything else out of the log.
                    let what = line.split(';').next().unwrap_or_default().to_owned();
                    let said = self.said[judge_index].as_ref();
                    if said.is_none_or(|(said, at)| *said != what || at.elapsed() > SAID_AGAIN) {
                        self.said[judge_index] = Some((what, Instant::now()));
                        self.progress.say(line);
                    }
                }
            }
            WorkerEvent::Stopped(why) => {
                let judge = &mut self.progress.judges[judge_index];
                if judge.stopped.is_none() {
                    let line = format!("{} stopped: {why}", judge.name);
                    judge.stopped = Some(why);
                    self.progress.say(line);
                }
            }
            WorkerEvent::Broke => self.is_broke(),
            WorkerEvent::Away { dropped } => {
                (self.away[judge_index], self.resting[judge_index]) = (true, dropped);
                let waiting = lock(&self.gates[judge_index]).waiting(Instant::now());
                if let Some((wait, why)) = waiting.filter(|_| !dropped) {
                    let name = &self.progress.judges[judge_index].name;
                    let line = format!("{name} waits {:.0} s: {why}", wait.as_secs_f64().ceil());
                    self.progress.say(line);
                }
                self.weigh_absences().await?;
            }
            WorkerEvent::Back => {
                (self.away[judge_index], self.resting[judge_index]) = (false, false);
                let line = format!("{} goes on", self.progress.judges[judge_index].name);
                self.progress.say(line);
                self.weigh_absences().await?;
            }
            WorkerEvent::Failed(error) => return Ok(Some(error.into())),
        }
        Ok(None)
    }

    /// Takes in what a feeder tells; returns what ends the run.
    async fn fed(&mut self, fed: SourceEvent) -> Result<Option<RunError>, RunError> {
        match fed {
            SourceEvent::Found {
                judge_index,
                query,
                calls,
            } => self.found(judge_index, query, calls).await?,
            SourceEvent::Reused { judge_index, query } => {
                let charge = Charge::Known(0.0);
                self.ended(judge_index, query, QuestionEnd::Shared, charge)
                    .await?;
            }
            SourceEvent::Failed(error) => return Ok(Some(error)),
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

    fn charge(&mut self, judge_index: usize, charge: Charge) {
        let judge = &mut self.progress.judges[judge_index];
        match charge {
            Charge::Known(usd) => judge.spent_usd += usd,
            Charge::Assumed(usd) => judge.assumed_usd += usd,
            Charge::Unpriced => self.progress.unpriced += 1,
        }
    }

    fn used(&mut self, judge_index: usize, usage: Usage, latency: Duration) {
        let judge = &mut self.progress.judges[judge_index];
        let sum = |a: u64, b: u64| a.saturating_add(b);
        judge.usage.input = sum(judge.usage.input, usage.input);
        judge.usage.cached = sum(judge.usage.cached, usage.cached);
        judge.usage.output = sum(judge.usage.output, usage.output);
        judge.usage.thinking = sum(judge.usage.thinking, usage.thinking);
        judge.latency_ms += latency.as_secs_f64() * 1e3;
    }

    async fn ended(
        &mut self,
        judge_index: usize,
        query: QueryKey,
        end: QuestionEnd<VoteReply>,
        charge: Charge,
    ) -> Result<(), RunError> {
        self.charge(judge_index, charge);
        match end {
            QuestionEnd::Answered(voted) => {
                let exchange = BattleQuestion::exchange(&voted);
                self.used(judge_index, exchange.usage, exchange.latency);
                self.progress.judges[judge_index].votes += 1;
            }
            QuestionEnd::Duplicate(voted) => {
                let exchange = BattleQuestion::exchange(&voted);
                self.used(judge_index, exchange.usage, exchange.latency);
                let judge = &mut self.progress.judges[judge_index];
                (judge.votes, judge.reused) = (judge.votes + 1, judge.reused + 1);
                let line = format!(
                    "{}: a vote on the same battle had come from elsewhere; the second one does not count",
                    judge.name
                );
                self.progress.say(line);
            }
            QuestionEnd::Shared => {
                let judge = &mut self.progress.judges[judge_index];
                (judge.votes, judge.reused) = (judge.votes + 1, judge.reused + 1);
            }
            QuestionEnd::Failed(error) => {
                self.used(judge_index, error.exchange.usage, error.exchange.latency);
                let judge = &mut self.progress.judges[judge_index];
                judge.failed(error.cause);
                let line = format!("{}: {error}", judge.name);
                self.progress.say(line);
            }
        }
        // Nobody waits any more for the calls of a judge that has left.
        if let Some(open) = self.open.get_mut(&query)
            && open.calls[judge_index] > 0
        {
            open.calls[judge_index] -= 1;
            self.waited_for -= 1;
            self.settle(query).await?;
        }
        Ok(())
    }

    /// Refits a query and keeps its summary.
    async fn summarise(&self, query: QueryKey) -> Result<(), RunError> {
        self.store.summarise(query).await?;
        Ok(())
    }

    /// With all votes in, the noise of the battles can be estimated; the intervals of every query follow it.
    async fn estimate_dispersion(&mut self, ensemble: EnsembleId) -> Result<(), RunError> {
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
    async fn summarise_all(&mut self, queries: Vec<QueryKey>) -> Result<(), RunError> {
        if queries.is_empty() {
            return Ok(());
        }
        self.progress.enter(RunPhase::Refitting, queries.len());
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
            .map_err(|error| RunError::Crashed(error.to_string()))??;
        Ok(())
    }

    fn report(&mut self, now: bool) {
        if now || self.reported.elapsed() >= REPORT_EVERY {
            self.reported = Instant::now();
            let moment = Instant::now();
            for (judge, gate) in self.progress.judges.iter_mut().zip(&self.gates) {
                let gate = lock(gate);
                judge.window = gate.window.size();
                judge.learned_per_minute = gate.pace.learned_per_s().map(|per_s| 60.0 * per_s);
                let (held_s, waiting_for) = gate
                    .waiting(moment)
                    .map(|(wait, why)| (wait.as_secs_f64(), why))
                    .unzip();
                (judge.held_s, judge.waiting_for) = (held_s, waiting_for);
            }
            self.progress.tick(self.started.elapsed());
            self.progress_to.send_replace(self.progress.clone());
        }
    }
}

/// Where a judge's window is remembered.
fn window_setting(judge: &dyn Judge) -> String {
    format!("window of {}", judge.spec().name)
}
