//! Runs picks: each judge is asked about each lineup, and results are stored before they are
//! reported.
//!
//! The caller makes the calls; a pick differs from a vote only in the question and the stored
//! result.

use crate::client::call_key::key_of;
use crate::client::gate::RateGate;
use crate::client::lock::lock;
use crate::client::question::{AttemptEnd, CallNeeds, RecordJob, RecordOutcome, ServiceQuestion};
use crate::client::worker::{self, Worker, WorkerContext};
use crate::client::{RunControl, now_ms};
use crate::domain::adjudication::{InvalidPick, PickRecord, PickRequest, PickResult, SlotVerdict};
use crate::domain::caught_panic::catch_panic;
use crate::domain::corpus::{DocId, Pool, QueryId};
use crate::domain::hex::hex;
use crate::judge::{
    CallError, Exchange, FailureCause, Judge, JudgeEnsemble, JudgePrompt, JudgeQuestion,
    JudgeReply, JudgeSpec, PoolText, Presented, PresentedPool,
    parse::{self, Written},
};
use crate::store::corpus::QueryKey;
use crate::store::ledger::CallPurpose;
use crate::store::{Store, StoreError};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

/// Maximum number of questions queued for a judge.
const WAITING: usize = 16;

/// A question to send to a judge.
#[derive(Clone, Debug)]
pub struct PickTask {
    /// Index of the judge in the ensemble.
    pub seat: usize,
    pub query: QueryId,
    /// Number of the order in which the pool is shown, from 1.
    pub permutation: usize,
    /// The order, as positions in the pool.
    pub order: Arc<[usize]>,
    pub pool: PoolAt,
    pub ask: PickRequest,
    /// Hash of judge and question.
    pub call: String,
    /// Earlier answers to it that broke the rules or were truncated.
    pub asked: usize,
}

/// Location of a pool.
#[derive(Clone, Debug)]
pub enum PoolAt {
    /// In the project, read when it is needed.
    Stored(QueryKey),
    Loaded(Arc<Pool>),
}

/// A pool in the order in which it is shown.
#[derive(Debug)]
pub struct ShownPool {
    documents: Vec<DocId>,
    pub lineup: PresentedPool,
}

impl ShownPool {
    /// The documents of a pool at these positions, in this order.
    pub fn new(pool: &Pool, order: &[usize], ask: PickRequest) -> Self {
        let shown = order.iter().filter_map(|at| pool.documents.get(*at));
        let documents = shown.clone().map(|document| document.id.clone());
        Self {
            documents: documents.collect(),
            lineup: PresentedPool {
                pool: Arc::new(PoolText::of_documents(&pool.query, shown)),
                ask,
            },
        }
    }
}

/// The pools in use, each once, by query and order.
type OpenPools = Mutex<HashMap<(QueryId, usize), Weak<ShownPool>>>;

/// The pool of a question, shared with other questions about it.
async fn shown(
    store: &Store,
    open: &OpenPools,
    task: &PickTask,
) -> Result<Arc<ShownPool>, StoreError> {
    let place = (task.query.clone(), task.permutation);
    if let Some(known) = lock(open).get(&place).and_then(Weak::upgrade) {
        return Ok(known);
    }
    let pool = match &task.pool {
        PoolAt::Loaded(pool) => Arc::clone(pool),
        PoolAt::Stored(key) => {
            let key = *key;
            Arc::new(store.read(move |db| db.pool(key)).await?)
        }
    };
    let shown = Arc::new(ShownPool::new(&pool, &task.order, task.ask));
    let mut open = lock(open);
    open.retain(|_, pool| pool.strong_count() > 0);
    open.insert(place, Arc::downgrade(&shown));
    Ok(shown)
}

/// Events reported to the caller.
#[derive(Debug)]
pub enum PickEvent {
    /// An attempt has ended and its record is in the project; `last` says whether the question has
    /// ended too.
    Recorded {
        record: Box<PickRecord>,
        last: bool,
        /// The cause and message of a failed call.
        failure: Option<(FailureCause, String)>,
    },
    /// An attempt is being retried; contains a message.
    Again(String),
    /// A judge makes no more calls.
    Stopped {
        /// Its index in the ensemble.
        seat: usize,
        why: String,
    },
    /// The budget does not allow another call.
    BudgetReached,
    Failed(StoreError),
}

/// Hash of a judge and its full prompt, used to detect identical questions.
pub fn call_id(spec: &JudgeSpec, prompt: &JudgePrompt) -> String {
    hex(&key_of(spec, prompt))
}

struct PoolQuestion {
    judge: Arc<dyn Judge>,
    job: Arc<PickTask>,
    shown: Arc<ShownPool>,
    prompt: JudgePrompt,
    asked: usize,
    /// Why the latest answer breaks the rules.
    invalid: Mutex<Option<InvalidPick>>,
    /// Receives records in the order of the attempts.
    records: mpsc::UnboundedSender<PickEvent>,
}

/// An answer that follows the rules.
struct PickReply {
    result: PickResult,
    thoughts: Vec<String>,
    raw: String,
    exchange: Exchange,
}

/// Parses a reply, or returns why it breaks the rules.
fn read(
    lineup: &PresentedPool,
    reply: &JudgeReply,
) -> Result<(PickResult, Vec<String>), InvalidPick> {
    let PresentedPool { pool, ask } = lineup;
    let shown = lineup.shown_texts();
    let written = Written::of(reply, &shown);
    match ask {
        PickRequest::PerDocument => parse::verdicts(written, &pool.documents).map(
            |(verdicts, thoughts): (Vec<SlotVerdict>, _)| {
                (PickResult::Verdicts(verdicts), thoughts)
            },
        ),
        _ => parse::slots(written, pool.documents.len(), *ask).map(|(positions, thoughts)| {
            let slots = positions.into_iter().map(|at| at + 1).collect();
            (PickResult::Slots(slots), thoughts)
        }),
    }
}

impl PoolQuestion {
    fn record(
        &self,
        result: PickResult,
        thoughts: Vec<String>,
        raw: Option<String>,
        exchange: &Exchange,
    ) -> PickRecord {
        let spec = self.judge.spec();
        PickRecord {
            query: self.job.query.clone(),
            judge: spec.name.clone(),
            provider: spec.provider.clone(),
            model: spec.model.clone(),
            prompt: spec.prompt_hash.clone(),
            call: self.job.call.clone(),
            permutation: self.job.permutation,
            ask: self.job.ask,
            order: self.shown.documents.clone(),
            attempt: self.asked + 1,
            result,
            again: false,
            thoughts,
            answered_by: exchange.model.clone(),
            raw,
            truncated: self
                .judge
                .truncated(JudgeQuestion::Pool(&self.shown.lineup))
                > 0,
            tokens_input: exchange.usage.input,
            tokens_output: exchange.usage.output,
            cost_usd: exchange.cost_usd,
            latency_ms: exchange.latency.as_secs_f64() * 1e3,
            created_ms: now_ms(),
        }
    }
}

impl ServiceQuestion for PoolQuestion {
    type Answer = PickReply;

    // The rate of answers that break the rules is a result, so each of the judge's answers counts.
    const JUNK_STOPS: bool = false;

    fn ask(&self) -> BoxFuture<'_, Result<PickReply, CallError>> {
        async {
            let lineup = &self.shown.lineup;
            let reply: JudgeReply = self
                .judge
                .call(JudgeQuestion::Pool(lineup), &self.prompt)
                .await?;
            // The reply is paid for, so a parser that panics must not lose it.
            match catch_panic(|| read(&lineup.with_fields(self.judge.metadata()), &reply)) {
                Ok(Ok((result, thoughts))) => Ok(PickReply {
                    result,
                    thoughts,
                    exchange: reply.exchange(),
                    raw: reply.text,
                }),
                Ok(Err(invalid)) => {
                    *lock(&self.invalid) = Some(invalid);
                    let message = invalid.to_string();
                    Err(CallError::in_reply(FailureCause::Malformed, message, reply))
                }
                Err(panic) => Err(CallError::in_reply(FailureCause::Crashed, panic.0, reply)),
            }
        }
        .boxed()
    }

    fn exchange(answer: &PickReply) -> &Exchange {
        &answer.exchange
    }

    fn needs(&self) -> CallNeeds {
        if self.judge.spec().is_offline() {
            return CallNeeds::default();
        }
        let usage = self.judge.estimate(&self.prompt).0;
        CallNeeds {
            tokens: usage.input + usage.output,
            worst_usd: self.judge.worst(&self.prompt).1,
            sent: true,
        }
    }

    fn rephrased(&self, error: &CallError) -> Option<Self> {
        let prompt = self
            .judge
            .ask_again(&self.prompt, error)
            .filter(|_| self.asked == 0)?;
        Some(Self {
            judge: Arc::clone(&self.judge),
            job: Arc::clone(&self.job),
            shown: Arc::clone(&self.shown),
            prompt,
            asked: self.asked + 1,
            invalid: Mutex::default(),
            records: self.records.clone(),
        })
    }

    fn name(&self) -> String {
        self.job.call.clone()
    }

    fn keep(&self, end: AttemptEnd<'_, PickReply>) -> Option<RecordJob> {
        let (record, last, failure) = match end {
            AttemptEnd::Answered(picked) => {
                let raw = Some(picked.raw.clone());
                let (result, thoughts) = (picked.result.clone(), picked.thoughts.clone());
                let record = self.record(result, thoughts, raw, &picked.exchange);
                (record, true, None)
            }
            AttemptEnd::Failed { error, again } => {
                let result = lock(&self.invalid).take().map_or_else(
                    || PickResult::Failure(format!("{}: {}", error.cause, error.message)),
                    PickResult::Invalid,
                );
                let record = self.record(result, Vec::new(), error.raw.clone(), &error.exchange);
                let failure = (error.cause, error.message.clone());
                (PickRecord { again, ..record }, !again, Some(failure))
            }
        };
        let records = self.records.clone();
        Some(Box::new(move |db| {
            db.add_pick(&record)?;
            // A transaction that fails ends the run with an error, and none of it is reported.
            let record = Box::new(record);
            drop(records.send(PickEvent::Recorded {
                record,
                last,
                failure,
            }));
            Ok(RecordOutcome::Row)
        }))
    }
}

#[derive(Debug)]
pub struct PickSession {
    pub store: Store,
    pub ensemble: JudgeEnsemble,
    pub control: watch::Receiver<RunControl>,
}

/// Sends the tasks to the judges, each judge at its own speed. Ends when all are done, when it is
/// told to stop and the grace period for calls in flight has passed, or when the project fails.
///
/// # Errors
/// The project cannot be read.
pub async fn run(
    picking: PickSession,
    jobs: Vec<PickTask>,
    events: mpsc::UnboundedSender<PickEvent>,
) -> Result<(), StoreError> {
    let PickSession {
        store,
        ensemble,
        mut control,
    } = picking;
    let concurrency = control.borrow().concurrency;
    let (shared, _over) =
        WorkerContext::of_project(&store, CallPurpose::Pick, control.clone()).await?;
    let mut by_judge: Vec<Vec<PickTask>> = ensemble.iter().map(|_| Vec::new()).collect();
    for job in jobs {
        if let Some(jobs) = by_judge.get_mut(job.seat) {
            jobs.push(job);
        }
    }
    let (heard, mut told) = mpsc::channel(WAITING);
    let open = Arc::new(OpenPools::default());
    let mut tasks = JoinSet::new();
    let gates = RateGate::of_ensemble(&ensemble, concurrency, &[]);
    let judges = ensemble.iter().enumerate().zip(gates);
    for (((seat, judge), mut gate), jobs) in judges.zip(by_judge) {
        let (questions, asked) = mpsc::channel(WAITING);
        gate.window.expect(jobs.len());
        let (gate, name) = (Arc::new(Mutex::new(gate)), judge.spec().name.clone());
        let worker = Worker::new(Arc::clone(&shared), seat, name, gate, asked, heard.clone());
        tasks.spawn(worker.work());
        let source = (store.clone(), Arc::clone(&open));
        tasks.spawn(feed(
            Arc::clone(judge),
            source,
            jobs,
            questions,
            events.clone(),
        ));
    }
    // The channel closes with the last worker.
    drop(heard);
    let mut steered = true;
    loop {
        // The workers share one budget. Its limit is changed only here, and before any other event
        // is handled.
        let (seat, event) = tokio::select! {
            biased;
            changed = control.changed(), if steered => {
                steered = changed.is_ok();
                shared.budget.set_limit(control.borrow_and_update().budget_usd);
                continue;
            }
            event = told.recv() => match event {
                Some(event) => event,
                None => break,
            },
        };
        let event = match event {
            // Reported with its record.
            worker::WorkerEvent::Ended { .. } => continue,
            worker::WorkerEvent::Again { line, .. } => PickEvent::Again(line),
            worker::WorkerEvent::Stopped(why) => PickEvent::Stopped { seat, why },
            worker::WorkerEvent::BudgetReached => PickEvent::BudgetReached,
            worker::WorkerEvent::Failed(error) => PickEvent::Failed(error),
            worker::WorkerEvent::Away { .. }
            | worker::WorkerEvent::Back
            | worker::WorkerEvent::CaseSkipped { .. } => continue,
        };
        drop(events.send(event));
    }
    while tasks.join_next().await.is_some() {}
    Ok(())
}

/// Passes questions to a judge as it accepts them.
async fn feed(
    judge: Arc<dyn Judge>,
    (store, open): (Store, Arc<OpenPools>),
    jobs: Vec<PickTask>,
    questions: mpsc::Sender<PoolQuestion>,
    records: mpsc::UnboundedSender<PickEvent>,
) {
    for job in jobs {
        let shown = match shown(&store, &open, &job).await {
            Ok(shown) => shown,
            Err(error) => {
                drop(records.send(PickEvent::Failed(error)));
                return;
            }
        };
        let question = JudgeQuestion::Pool(&shown.lineup);
        if !judge.can_answer(question) {
            continue;
        }
        let mut prompt = judge.prompt(question);
        if job.asked > 0 {
            prompt = judge
                .reask(&prompt, FailureCause::Malformed)
                .unwrap_or(prompt);
        }
        let question = PoolQuestion {
            judge: Arc::clone(&judge),
            asked: job.asked,
            invalid: Mutex::default(),
            job: Arc::new(job),
            shown,
            prompt,
            records: records.clone(),
        };
        if questions.send(question).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests;
