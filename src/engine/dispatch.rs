//! The task that owns a run.

use super::lock::RunLock;
use super::progress::{Phase, Progress};
use super::{Control, EngineError, Outcome, Request, now_ms};
use crate::domain::sampling::{self, Planned};
use crate::domain::vote::JudgeId;
use crate::judge::{
    CallError, Case, Cause, Ensemble, Judge, Opinion, PoolText, Prompt, Reply, Usage, parse,
};
use crate::store::Store;
use crate::store::corpus::QueryKey;
use crate::store::runs::{CallRecord, CallResult, EnsembleId, Holes, Outstanding, RunId, RunRow};
use futures::FutureExt;
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::task::JoinSet;
use uuid::Uuid;

/// How long calls in flight may still run after a cancel.
const GRACE: Duration = Duration::from_millis(700);
/// How often watchers are told.
const REPORT_EVERY: Duration = Duration::from_millis(40);

/// One query's plan: battles, and a presentation for each judge and battle.
pub(super) struct QueryPlan {
    pub(super) planned: Vec<Planned>,
    pub(super) swapped: Vec<Vec<bool>>,
    pub(super) depth: usize,
}

pub(super) fn plan_query(
    request: &Request,
    name: &str,
    documents: usize,
    judges: &[String],
) -> QueryPlan {
    let depth = request
        .depth
        .map_or(documents, |limit| limit.min(documents));
    let planned = sampling::plan(request.seed, name, depth, request.cycles);
    let swapped = judges
        .iter()
        .map(|judge| sampling::presentations(request.seed, name, judge, &planned))
        .collect();
    QueryPlan {
        planned,
        swapped,
        depth,
    }
}

struct Finished {
    query: QueryKey,
    judge: usize,
    usage: Usage,
    cost_usd: Option<f64>,
    latency_ms: f64,
    failure: Option<String>,
    stored: Result<(), crate::store::StoreError>,
}

struct Dispatcher {
    store: Store,
    ensemble: Ensemble,
    judges: Vec<JudgeId>,
    run: RunId,
    control: watch::Receiver<Control>,
    progress_to: watch::Sender<Progress>,
    progress: Progress,
    started: Instant,
    reported: Instant,
    next_call: Instant,
    open: HashMap<QueryKey, usize>,
    calls: JoinSet<Finished>,
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
    let now = Instant::now();
    let progress = progress_to.borrow().clone();
    let mut dispatcher = Dispatcher {
        store: store.clone(),
        ensemble,
        judges,
        run,
        control,
        progress_to,
        progress,
        started: now,
        reported: now,
        next_call: now,
        open: HashMap::new(),
        calls: JoinSet::new(),
    };
    let result = dispatcher.work(&request, ensemble_id).await;
    let cancelled = dispatcher.control.borrow().cancelled;
    let state = match (&result, cancelled) {
        (Err(_), _) => "failed",
        (Ok(_), true) => "cancelled",
        (Ok(_), false) => "done",
    };
    store
        .write(move |db| db.end_run(run, state, now_ms()))
        .await?;
    let missing = result?;
    dispatcher.progress.phase = Phase::Done;
    dispatcher.report(true);
    Ok(Outcome {
        progress: dispatcher.progress,
        cancelled,
        missing,
    })
}

impl Dispatcher {
    /// Plans and judges; returns how many votes of the plan are missing at the end.
    async fn work(
        &mut self,
        request: &Request,
        ensemble: EnsembleId,
    ) -> Result<usize, EngineError> {
        let queries = match &request.queries {
            Some(queries) => queries.clone(),
            None => self.store.read(|db| db.runnable_queries()).await?,
        };
        self.progress.queries = queries.len();
        let names: Vec<String> = self
            .ensemble
            .iter()
            .map(|judge| judge.spec().name.clone())
            .collect();
        let mut waiting: Vec<QueryKey> = Vec::new();
        let mut missing = 0;
        for query in queries {
            if self.control.borrow().cancelled {
                return Ok(0);
            }
            let (request, names, judges) = (request.clone(), names.clone(), self.judges.clone());
            let (planned, calls, holes) = self
                .store
                .write(move |db| {
                    let info = db.query(query)?;
                    let plan = plan_query(&request, info.id.as_str(), info.documents, &names);
                    db.add_plan(query, &plan.planned, plan.depth, ensemble)?;
                    let calls = db.outstanding(
                        query,
                        &plan.planned,
                        &judges,
                        &plan.swapped,
                        request.holes,
                    )?;
                    let mut per_judge = vec![0; judges.len()];
                    for call in &calls {
                        per_judge[call.judge] += 1;
                    }
                    let holes = Holes::FreshAndFailed;
                    let holes = db
                        .outstanding(query, &plan.planned, &judges, &plan.swapped, holes)?
                        .len();
                    Ok((plan.planned.len(), per_judge, holes))
                })
                .await?;
            let total: usize = calls.iter().sum();
            for (judge, count) in self.progress.judges.iter_mut().zip(&calls) {
                judge.total += count;
            }
            self.progress.total += total;
            self.progress.battles += planned;
            self.progress.already += planned * calls.len() - holes;
            missing += holes;
            self.progress.queries_planned += 1;
            if total > 0 {
                waiting.push(query);
            } else {
                self.finish_query(query).await?;
            }
            self.report(false);
        }
        self.progress.phase = Phase::Judging;
        self.report(true);
        for query in &waiting {
            self.judge_query(*query, request, &names).await?;
            if self.control.borrow().cancelled {
                break;
            }
        }
        self.drain().await?;
        if !self.control.borrow().cancelled {
            self.estimate_dispersion(ensemble).await?;
        }
        Ok(missing - self.progress.votes())
    }

    async fn judge_query(
        &mut self,
        query: QueryKey,
        request: &Request,
        names: &[String],
    ) -> Result<(), EngineError> {
        let (request, names, judges) = (request.clone(), names.to_vec(), self.judges.clone());
        let (text, calls) = self
            .store
            .read(move |db| {
                let info = db.query(query)?;
                let plan = plan_query(&request, info.id.as_str(), info.documents, &names);
                let calls =
                    db.outstanding(query, &plan.planned, &judges, &plan.swapped, request.holes)?;
                let documents = (0..plan.depth)
                    .map(|at| db.document_text(query, at))
                    .collect::<Result<Vec<_>, _>>()?;
                Ok((PoolText::new(info.text, documents), calls))
            })
            .await?;
        let pool = Arc::new(text);
        self.open.insert(query, calls.len());
        for call in calls {
            if !self.may_call().await? {
                return Ok(());
            }
            let judge = Arc::clone(&self.ensemble[call.judge]);
            let case = Case {
                pool: Arc::clone(&pool),
                first: if call.swapped { call.b } else { call.a },
                second: if call.swapped { call.a } else { call.b },
            };
            let (store, run, judge_id) = (self.store.clone(), self.run, self.judges[call.judge]);
            self.calls
                .spawn(make_call(store, judge, judge_id, case, call, run, query));
        }
        Ok(())
    }

    /// Waits until one more call may begin; false when the run is to end.
    async fn may_call(&mut self) -> Result<bool, EngineError> {
        loop {
            let control = *self.control.borrow_and_update();
            if control.cancelled {
                return Ok(false);
            }
            if self.progress.paused != control.paused {
                self.progress.paused = control.paused;
                self.progress
                    .say(if control.paused { "paused" } else { "resumed" }.to_owned());
                self.next_call = Instant::now();
                self.report(true);
            }
            while let Some(ended) = self.calls.try_join_next() {
                self.ended(ended).await?;
            }
            self.report(false);
            if !control.paused && self.calls.len() < control.concurrency.max(1) {
                let now = Instant::now();
                match control.pace {
                    Some(pace) if pace > 0.0 => {
                        if self.next_call <= now + Duration::from_millis(1) {
                            self.next_call = self.next_call.max(now - Duration::from_millis(50))
                                + Duration::from_secs_f64(1.0 / pace);
                            return Ok(true);
                        }
                    }
                    _ => return Ok(true),
                }
            }
            let pacing = control.pace.is_some() && !control.paused;
            let next_call = self.next_call;
            tokio::select! {
                ended = self.calls.join_next(), if !self.calls.is_empty() => {
                    if let Some(ended) = ended {
                        self.ended(ended).await?;
                    }
                }
                changed = self.control.changed() => if changed.is_err() {
                    return Ok(false);
                },
                () = tokio::time::sleep_until(next_call.into()), if pacing => {}
            }
        }
    }

    /// Waits for the calls in flight; after a cancel only for a moment.
    async fn drain(&mut self) -> Result<(), EngineError> {
        let mut deadline = None;
        while !self.calls.is_empty() {
            if self.control.borrow_and_update().cancelled && deadline.is_none() {
                deadline = Some(Instant::now() + GRACE);
            }
            let until = deadline.unwrap_or_else(|| Instant::now() + Duration::from_secs(3600));
            tokio::select! {
                ended = self.calls.join_next() => if let Some(ended) = ended {
                    self.ended(ended).await?;
                },
                changed = self.control.changed(), if deadline.is_none() => if changed.is_err() {
                    deadline = Some(Instant::now() + GRACE);
                },
                () = tokio::time::sleep_until(until.into()) => {
                    if deadline.is_some() {
                        self.calls.abort_all();
                        while self.calls.join_next().await.is_some() {}
                    }
                }
            }
            self.report(false);
        }
        Ok(())
    }

    async fn ended(
        &mut self,
        ended: Result<Finished, tokio::task::JoinError>,
    ) -> Result<(), EngineError> {
        let ended = match ended {
            Ok(ended) => ended,
            Err(error) if error.is_cancelled() => return Ok(()),
            Err(error) => return Err(EngineError::Crashed(error.to_string())),
        };
        ended.stored?;
        let judge = &mut self.progress.judges[ended.judge];
        match &ended.failure {
            None => judge.votes += 1,
            Some(_) => judge.failures += 1,
        }
        judge.usage.input += ended.usage.input;
        judge.usage.cached += ended.usage.cached;
        judge.usage.output += ended.usage.output;
        judge.usage.thinking += ended.usage.thinking;
        judge.latency_ms += ended.latency_ms;
        judge.spent_usd += ended.cost_usd.unwrap_or(0.0);
        let line = ended
            .failure
            .map(|failure| format!("{}: {failure}", judge.name));
        self.progress.unpriced += usize::from(ended.cost_usd.is_none());
        if let Some(line) = line {
            self.progress.say(line);
        }
        if let Some(left) = self.open.get_mut(&ended.query) {
            *left -= 1;
            if *left == 0 {
                self.open.remove(&ended.query);
                self.finish_query(ended.query).await?;
            }
        }
        Ok(())
    }

    /// Refits a query whose calls have all ended and keeps its summary.
    async fn finish_query(&mut self, query: QueryKey) -> Result<(), EngineError> {
        self.store.write(move |db| db.cache_summary(query)).await?;
        self.progress.queries_done += 1;
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
            self.store.write(move |db| db.cache_summary(query)).await?;
            self.report(false);
        }
        Ok(())
    }

    fn report(&mut self, now: bool) {
        if now || self.reported.elapsed() >= REPORT_EVERY {
            self.reported = Instant::now();
            self.progress.in_flight = self.calls.len();
            self.progress.tick(self.started.elapsed());
            self.progress_to.send_replace(self.progress.clone());
        }
    }
}

async fn make_call(
    store: Store,
    judge: Arc<dyn Judge>,
    judge_id: JudgeId,
    case: Case,
    call: Outstanding,
    run: RunId,
    query: QueryKey,
) -> Finished {
    let began = Instant::now();
    let offline = judge.spec().is_offline();
    let answer = AssertUnwindSafe(answer(judge.as_ref(), &case))
        .catch_unwind()
        .await;
    let (reply, result) = match answer {
        Ok((reply, Ok(opinion))) => {
            let margin = if call.swapped {
                opinion.margin.flipped()
            } else {
                opinion.margin
            };
            let result = CallResult::Vote {
                margin,
                reasoning: opinion.thoughts.join("\n"),
                model: reply.as_ref().and_then(|reply| reply.model.clone()),
                stop_reason: reply.as_ref().and_then(|reply| reply.stop_reason.clone()),
                request_id: reply.as_ref().and_then(|reply| reply.request_id.clone()),
            };
            (reply, result)
        }
        Ok((reply, Err(error))) => {
            let CallError { cause, message, .. } = error;
            (reply, CallResult::Failure { cause, message })
        }
        Err(panic) => {
            let message = panic
                .downcast_ref::<&str>()
                .map(|text| (*text).to_owned())
                .or_else(|| panic.downcast_ref::<String>().cloned())
                .unwrap_or_default();
            let cause = Cause::Crashed;
            (None, CallResult::Failure { cause, message })
        }
    };
    let latency_ms = reply
        .as_ref()
        .map_or_else(|| began.elapsed(), |reply| reply.latency)
        .as_secs_f64()
        * 1e3;
    let usage = reply.as_ref().map(|reply| reply.usage).unwrap_or_default();
    let cost_usd = reply.as_ref().and_then(|reply| reply.cost_usd);
    let failure = match &result {
        CallResult::Vote { .. } => None,
        CallResult::Failure { cause, message } => Some(format!("{cause}: {message}")),
    };
    let record = CallRecord {
        battle: call.battle,
        judge: judge_id,
        swapped: call.swapped,
        attempt: call.attempt,
        usage,
        cost_usd,
        latency_ms: Some(latency_ms),
        run: Some(run),
        created_ms: now_ms(),
        // An offline judge's reply can be made again at any time; keeping it would triple the file.
        raw: reply
            .filter(|_| !offline || failure.is_some())
            .map(|reply| reply.text),
        result,
    };
    Finished {
        query,
        judge: call.judge,
        usage,
        cost_usd,
        latency_ms,
        failure,
        stored: store.write(move |db| db.record(&record)).await,
    }
}

/// Prompt, call, parse.
async fn answer(judge: &dyn Judge, case: &Case) -> (Option<Reply>, Result<Opinion, CallError>) {
    let prompt: Prompt = judge.prompt(case);
    match judge.call(case, &prompt).await {
        Err(error) => (None, Err(error)),
        Ok(reply) => {
            let opinion = parse::parse(&reply.text).map_err(|error| CallError {
                cause: Cause::Malformed,
                message: error.to_string(),
                raw: None,
            });
            (Some(reply), opinion)
        }
    }
}
