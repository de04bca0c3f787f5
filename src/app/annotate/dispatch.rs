//! The task that owns a run: plans it, starts the judges, counts stored results, and refits.

mod event_loop;
mod events;
mod orders;
mod pinned_models;
mod planning;
mod refit;
mod shared;
mod weights;

use super::error::RunError;
use super::estimate::time::{time_setting, window_setting};
use super::judge_history::remember_seed;
use super::progress::{RunPhase, RunProgress};
use super::prompt_inputs::{LackingInputs, check_project};
use super::question_source::SourceTask;
use super::request::{RunOutcome, RunRequest};
use super::rounds::{RoundPlanner, UnfinishedQuery};
use super::shared_work::{PartKey, SharedWork, WorkFeed};
use crate::app::run_lock::RunLock;
use crate::client::budget::Budget;
use crate::client::gate::RateGate;
use crate::client::{RunControl, lock, now_ms, window};
use crate::domain::judge_report::BothOrders;
use crate::domain::judge_set::{JudgeSet, MAX_JUDGES};
use crate::domain::spend::Spend;
use crate::domain::vote::JudgeId;
use crate::judge::{JudgeEnsemble, JudgeSpec, PromptText};
use crate::registry;
use crate::store::corpus::QueryKey;
use crate::store::judges::EnsembleId;
use crate::store::ledger::Spent;
use crate::store::runs::{RunId, RunRow};
use crate::store::{Store, StoreError};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use uuid::Uuid;

/// Interval between progress reports.
const REPORT_EVERY: Duration = Duration::from_millis(40);
/// Number of events that workers may be ahead of the run.
const BACKLOG: usize = 4_096;

/// Data on pairs that were seen in both orders.
#[derive(Default)]
struct OrderWatch {
    /// Each judge's answers on queries that are not probed.
    before: Vec<BothOrders>,
    probed: Vec<QueryKey>,
    /// Number of probed pairs of the other queries, and each judge's answers on them.
    pairs: usize,
    now: Vec<BothOrders>,
    read: Option<Instant>,
}

/// The state of one judge during a run; its index is that of the ensemble.
struct RunJudge {
    id: JudgeId,
    gate: Arc<Mutex<RateGate>>,
    /// A sender to its question source, while it may receive more work.
    source_tasks: Option<mpsc::UnboundedSender<SourceTask>>,
    attendance: Attendance,
    /// Nobody waits for its calls: its worker has ended, or it makes no calls for now while others
    /// do.
    gone: bool,
    /// The latest message about its retries, and the message's time.
    said: Option<(String, Instant)>,
    /// Whether its model weights have been checked in this run.
    weighed: bool,
}

impl RunJudge {
    fn new(id: JudgeId, gate: RateGate) -> Self {
        Self {
            id,
            gate: Arc::new(Mutex::new(gate)),
            source_tasks: None,
            attendance: Attendance::Working,
            gone: false,
            said: None,
            weighed: false,
        }
    }

    /// Sends its question source to a query; a source that has ended has no more work.
    fn send(&self, task: SourceTask) {
        if let Some(tasks) = &self.source_tasks {
            drop(tasks.send(task));
        }
    }
}

/// Whether a judge makes calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Attendance {
    Working,
    /// It makes no calls for now, for instance because its service refuses them.
    Waiting,
    /// A person has dropped it, and it has no call in flight.
    Dropped,
    /// Its worker has ended.
    Ended,
}

struct Dispatcher {
    store: Store,
    ensemble: JudgeEnsemble,
    judges: Vec<RunJudge>,
    run: RunId,
    control: watch::Receiver<RunControl>,
    progress_to: watch::Sender<RunProgress>,
    progress: RunProgress,
    budget: Budget,
    started: Instant,
    reported: Instant,
    /// Indices of the queries with pairs to probe.
    probed: Vec<usize>,
    orders: OrderWatch,
    /// The unfinished queries, or parts of them.
    open: HashMap<PartKey, UnfinishedQuery>,
    /// Set if the run is played in rounds.
    rounds: Option<RoundPlanner>,
    /// Queries that a judge skips because its calls about them keep failing.
    skipped_queries: HashSet<(usize, QueryKey)>,
    /// Judges that were dropped before the run began.
    dropped_before: JudgeSet,
    /// Number of pending calls, without those of judges that are gone.
    waited_for: usize,
    missing: usize,
    budget_reached: bool,
    /// Whether a change of a judge's model stops the run.
    pin_model: bool,
    /// The judge whose model changed, if that stopped the run.
    model_changed: Option<String>,
    /// Set if the run shares its work with others.
    shared: Option<SharedWork>,
}

pub(super) async fn run(
    lock: Option<Arc<RunLock>>,
    store: Store,
    ensemble: JudgeEnsemble,
    request: RunRequest,
    control: watch::Receiver<RunControl>,
    progress_to: watch::Sender<RunProgress>,
    feed: Option<WorkFeed>,
) -> Result<RunOutcome, RunError> {
    if ensemble.is_empty() {
        return Err(RunError::NoJudge);
    }
    if ensemble.len() > MAX_JUDGES {
        return Err(RunError::TooManyJudges(ensemble.len()));
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
    // Acquired before the first row is written and released after the last one: while it is held,
    // every open call in the ledger belongs to a dead process.
    let _lock = match lock {
        Some(held) => held,
        None => Arc::new(RunLock::take(store.path())?),
    };
    let lacking = LackingInputs::of(&ensemble);
    let of = request.queries.clone().unwrap_or_default();
    store
        .read(move |db| check_project(db, lacking, &of))
        .await?;
    let specs = specs_of(&ensemble);
    let prompts = prompt_texts(&ensemble);
    let row = request.clone();
    let (judge_ids, ensemble_id, run) = store
        .write(move |db| {
            registry::record_prompts(db, &prompts, now_ms())?;
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
        .map(|judge| window_setting(&judge.spec().name))
        .collect();
    let campaign = request.rounds().map(|campaign| (*campaign, request.seed));
    let (asked, of) = (judge_ids.clone(), request.queries.clone());
    let (spent_before, committed_usd, windows, campaign, answers, mut models) = store
        .write(move |db| {
            // This run holds the lock, so every open call was interrupted.
            db.charge_killed_calls(now_ms())?;
            let spent_before: Spend = db.spent()?.iter().map(Spent::spend).sum();
            let windows = names.iter().map(|name| db.remembered(name));
            let windows = windows.collect::<Result<Vec<_>, _>>()?;
            let prior = |(campaign, seed)| {
                let lambda = db.campaign_prior(ensemble_id, &campaign, seed)?;
                Ok::<_, StoreError>((campaign, lambda))
            };
            let campaign = campaign.map(prior).transpose()?;
            let answers = db.position_counts(&asked, of.as_deref())?;
            let models = db.keep_answering_models()?;
            let committed_usd = db.committed_usd()?;
            Ok((
                spent_before,
                committed_usd,
                windows,
                campaign,
                answers,
                models,
            ))
        })
        .await?;
    let now = Instant::now();
    let RunControl {
        budget_usd: limit_usd,
        dropped: dropped_before,
        ..
    } = *control.borrow();
    let sizes: Vec<Option<usize>> = windows
        .into_iter()
        .map(|remembered| remembered.and_then(|text| text.parse().ok()))
        .collect();
    let gates = RateGate::of_ensemble(&ensemble, control.borrow().concurrency, &sizes);
    let judges = judge_ids.iter().zip(gates);
    let judges = judges.map(|(id, gate)| RunJudge::new(*id, gate)).collect();
    let mut progress = progress_to.borrow().clone();
    progress.spent_before = spent_before;
    for ((judge, answers), id) in progress.judges.iter_mut().zip(answers).zip(&judge_ids) {
        judge.answers = answers;
        judge.models = models.remove(id).unwrap_or_default();
    }
    let rounds = campaign.map(|(campaign, lambda)| {
        let campaign = (campaign, ensemble_id);
        RoundPlanner::new(store.clone(), campaign, lambda, request.clone(), &judge_ids)
    });
    let mut dispatcher = Dispatcher {
        store: store.clone(),
        skipped_queries: HashSet::new(),
        dropped_before,
        ensemble,
        judges,
        run,
        control,
        progress_to,
        progress,
        budget: Budget::new(limit_usd, committed_usd),
        started: now,
        reported: now,
        probed: Vec::new(),
        orders: OrderWatch::default(),
        open: HashMap::new(),
        rounds,
        waited_for: 0,
        missing: 0,
        budget_reached: false,
        pin_model: request.pin_model,
        model_changed: None,
        shared: feed.map(SharedWork::new),
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
    let times = dispatcher.call_times();
    let seeds = dispatcher.seeds_used();
    // Whatever the result, record the end of the run, and save the window sizes for the next run.
    let ended = store
        .write(move |db| {
            for (name, size) in &windows {
                db.remember(name, &size.to_string())?;
            }
            for (name, seconds) in &times {
                db.remember(name, &seconds.to_string())?;
            }
            for (judge, seed) in &seeds {
                remember_seed(db, *judge, seed)?;
            }
            db.end_run(run, state, now_ms())?;
            db.keep_answering_models()
        })
        .await;
    // The first error is more informative.
    result?;
    let mut models = ended?;
    let judges = dispatcher.progress.judges.iter_mut();
    for (judge, RunJudge { id, .. }) in judges.zip(&dispatcher.judges) {
        judge.models = models.remove(id).unwrap_or_default();
    }
    dispatcher.progress.phase = RunPhase::Done;
    dispatcher.report(true);
    Ok(RunOutcome {
        run,
        cancelled,
        budget_reached: dispatcher.budget_reached,
        model_changed: dispatcher.model_changed,
        missing: (dispatcher.progress.queries_planned == dispatcher.progress.queries).then(|| {
            let votes = dispatcher.progress.votes();
            dispatcher.missing.saturating_sub(votes)
        }),
        progress: dispatcher.progress,
    })
}

impl Dispatcher {
    async fn work(&mut self, request: &RunRequest, ensemble: EnsembleId) -> Result<(), RunError> {
        let queries = match &request.queries {
            Some(queries) => queries.clone(),
            None => self.store.read(|db| db.runnable_queries()).await?,
        };
        let all = queries.clone();
        let waiting = match self.shared {
            // Each part is planned when it comes.
            Some(_) => Vec::new(),
            None => self.plan(request, ensemble, queries).await?,
        };
        self.watch_orders(&all, &waiting).await?;
        if !waiting.is_empty() || self.shared.is_some() {
            self.check_pinned_models();
            self.ask_for_weights().await?;
        }
        self.progress.phase = RunPhase::Judging;
        self.report(true);
        for (progress, judge) in self.progress.judges.iter().zip(&self.judges) {
            lock(&judge.gate).window.expect(progress.total);
        }
        self.judge(request, ensemble, waiting).await?;
        // Plans may ask about some pairs in both orders on their own, even for queries without a
        // probe.
        self.watch_orders(&all, &[]).await?;
        if !self.control.borrow().cancelled {
            self.estimate(ensemble).await?;
        }
        Ok(())
    }

    fn judge_ids(&self) -> Vec<JudgeId> {
        self.judges.iter().map(|judge| judge.id).collect()
    }

    fn specs(&self) -> Vec<JudgeSpec> {
        specs_of(&self.ensemble)
    }

    fn steer(&mut self, control: RunControl) {
        if self.progress.paused != control.paused {
            self.progress.paused = control.paused;
            self.progress
                .say(if control.paused { "paused" } else { "resumed" }.to_owned());
        }
        self.budget.set_limit(control.budget_usd);
        for (judge_index, judge) in self.progress.judges.iter_mut().enumerate() {
            judge.dropped = control.dropped.contains(judge_index);
        }
        for (judge, RunJudge { gate, .. }) in self.ensemble.iter().zip(&self.judges) {
            let most = judge.limits().concurrency.unwrap_or(control.concurrency);
            lock(gate).window.set_limit(most.min(control.concurrency));
        }
    }

    /// The windows of judges behind a network, as initial values for the next run.
    fn windows(&self) -> Vec<(String, usize)> {
        let judges = self.ensemble.iter().zip(&self.judges);
        judges
            .filter(|(judge, _)| !judge.spec().is_offline())
            .map(|(judge, RunJudge { gate, .. })| {
                let gate = lock(gate);
                let size = gate.window.size();
                // If the provider has a per-minute limit, a large initial window would only hit
                // that limit at once.
                let size = if gate.pace.is_limited() {
                    size.min(window::FIRST)
                } else {
                    size
                };
                (window_setting(&judge.spec().name), size)
            })
            .collect()
    }

    /// Mean call latency of judges behind a network, in seconds.
    fn call_times(&self) -> Vec<(String, f64)> {
        let asked = self
            .progress
            .judges
            .iter()
            .filter(|judge| !judge.offline && judge.latency_ms > 0.0);
        asked
            .map(|judge| {
                let calls = (judge.votes + judge.failures).saturating_sub(judge.reused);
                let mean_s = judge.latency_ms / calls.max(1) as f64 / 1e3;
                (time_setting(&judge.name), mean_s)
            })
            .collect()
    }

    /// The seeds of judges that sample their answers and have answered.
    fn seeds_used(&self) -> Vec<(JudgeId, String)> {
        let judges = self.judges.iter().zip(&self.ensemble);
        judges
            .zip(&self.progress.judges)
            .filter(|(_, progress)| progress.votes > progress.reused)
            .filter_map(|((running, judge), _)| Some((running.id, judge.seed()?)))
            .collect()
    }

    fn report(&mut self, now: bool) {
        if now || self.reported.elapsed() >= REPORT_EVERY {
            self.reported = Instant::now();
            let moment = Instant::now();
            let judges = self.ensemble.iter().zip(&mut self.progress.judges);
            for ((of, judge), RunJudge { gate, .. }) in judges.zip(&self.judges) {
                judge.server_notes = of.server_notes();
                judge.finding = judge.answers.finding_words();
                let gate = lock(gate);
                judge.window = gate.window.size();
                judge.in_flight = gate.in_flight;
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

fn prompt_texts(ensemble: &JudgeEnsemble) -> Vec<PromptText> {
    ensemble
        .iter()
        .filter_map(|judge| judge.prompt_text())
        .collect()
}

fn specs_of(ensemble: &JudgeEnsemble) -> Vec<JudgeSpec> {
    ensemble.iter().map(|judge| judge.spec().clone()).collect()
}
