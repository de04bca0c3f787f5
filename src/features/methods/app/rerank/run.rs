//! Runs reranking methods: one worker per service and many queries in parallel, with each result
//! stored before it is reported.

use super::open_candidates::OpenCandidates;
use super::plan::{OutstandingRanking, RerankPlan};
use super::query_run::{self, QueryEnd};
use super::question::{GivenAnswer, QueryFailure, QuestionSenders, RerankQuestion};
use super::service::RerankService;
use crate::client::gate::RateGate;
use crate::client::worker::{QuestionEnd, Worker, WorkerContext, WorkerEvent};
use crate::client::{RunControl, window};
use crate::domain::spend::Spend;
use crate::features::methods::domain::MethodRow;
use crate::store::ledger::CallPurpose;
use crate::store::{Store, StoreError};
use std::sync::{Arc, Mutex};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;
use uuid::Uuid;

/// Maximum number of questions queued for a service.
const WAITING: usize = 64;
/// Minimum and maximum number of queries in progress. Methods that ask one question at a time need
/// many of them to keep a service busy.
const QUERIES: (usize, usize) = (16, 128);

/// Events reported to the caller.
#[derive(Debug)]
pub enum RerankEvent {
    /// A method has finished a query, and its result is in the project.
    Ranked(Box<MethodRow>),
    /// A judge has answered a question about two queries, or its answer was unreadable.
    Linked { answered: bool },
    /// A call has ended and was charged this much.
    Called(Spend),
    /// An attempt is being retried; contains a message.
    Again(String),
    /// A service makes no more calls.
    Stopped { service: String, why: String },
    /// A service makes no more calls about a query.
    Skipped { service: String, why: String },
    /// The budget does not allow another call.
    BudgetReached,
}

/// Performs the remaining work. Ends when all is done, when it has to stop and the grace period
/// for calls in flight has passed, or when the project fails.
pub async fn run(
    store: Store,
    plan: Arc<RerankPlan>,
    control: watch::Receiver<RunControl>,
    events: mpsc::UnboundedSender<RerankEvent>,
) -> Result<(), StoreError> {
    let concurrency = control.borrow().concurrency;
    let services = plan.services.clone();
    let rankings = {
        let (store, control, events) = (store.clone(), control.clone(), events.clone());
        move |senders| rank_all(store, plan, senders, control, concurrency, events)
    };
    with_workers(&store, &services, control, &events, rankings).await
}

/// Runs `work` on a separate task, with a worker for each service that asks the questions it sends.
/// Ends when both the work and the workers have ended.
pub(super) async fn with_workers<W, F>(
    store: &Store,
    services: &[RerankService],
    control: watch::Receiver<RunControl>,
    events: &mpsc::UnboundedSender<RerankEvent>,
    work: W,
) -> Result<(), StoreError>
where
    W: FnOnce(QuestionSenders) -> F,
    F: Future<Output = Result<(), StoreError>> + Send + 'static,
{
    let concurrency = control.borrow().concurrency;
    let (shared, _over) = WorkerContext::of_project(store, CallPurpose::Reranking, control).await?;
    shared.follow_limit();
    let (heard, mut told) = mpsc::channel(WAITING);
    let mut workers = JoinSet::new();
    let mut senders = Vec::new();
    for ((place, service), gate) in services
        .iter()
        .enumerate()
        .zip(gates(services, concurrency))
    {
        let (questions, asked) = mpsc::channel(WAITING);
        let (gate, name) = (Arc::new(Mutex::new(gate)), service.name().to_owned());
        let worker = Worker::new(Arc::clone(&shared), place, name, gate, asked, heard.clone());
        workers.spawn(worker.work());
        senders.push(questions);
    }
    // The channel closes with the last worker, and a worker ends with the last sender of its
    // questions.
    drop(heard);
    let work = tokio::spawn(work(senders.into()));
    let service = |place: usize| {
        let service = services.get(place);
        service.map_or("", |service| service.name()).to_owned()
    };
    let mut failure = None;
    while let Some((place, event)) = told.recv().await {
        let event = match event {
            WorkerEvent::Ended {
                question,
                end,
                charge,
            } => {
                let is_call = !matches!(end, QuestionEnd::Shared) && !question.asks_judges();
                answer(&question, end);
                if !is_call {
                    continue;
                }
                RerankEvent::Called(charge.spend())
            }
            WorkerEvent::Again { charge, line } => {
                drop(events.send(RerankEvent::Called(charge.spend())));
                if line.is_empty() {
                    continue;
                }
                RerankEvent::Again(line)
            }
            WorkerEvent::Stopped(why) => RerankEvent::Stopped {
                service: service(place),
                why,
            },
            WorkerEvent::CaseSkipped { why, .. } => RerankEvent::Skipped {
                service: service(place),
                why,
            },
            WorkerEvent::BudgetReached => RerankEvent::BudgetReached,
            WorkerEvent::Failed(error) => {
                failure.get_or_insert(error);
                continue;
            }
            WorkerEvent::Away { .. } | WorkerEvent::Back => continue,
        };
        drop(events.send(event));
    }
    while workers.join_next().await.is_some() {}
    let done = work.await.unwrap_or_else(|error| {
        Err(StoreError::Internal(format!(
            "the run ended unexpectedly: {error}"
        )))
    });
    failure.map_or(done, Err)
}

/// Sends the result of a question to the asker.
fn answer(question: &RerankQuestion, end: QuestionEnd<super::question::RerankReply>) {
    if question.is_interrupted() {
        // Dropped without an answer, so the query stays outstanding.
        return;
    }
    let told = match end {
        QuestionEnd::Answered(reply) | QuestionEnd::Duplicate(reply) => Ok(GivenAnswer {
            known: question.given(&reply),
            reused: false,
        }),
        QuestionEnd::Shared => match question.take_found() {
            Some(known) => Ok(GivenAnswer {
                known,
                reused: true,
            }),
            // Dropped without an answer, so the query stays outstanding.
            None => return,
        },
        QuestionEnd::Failed(error) => match question.unreadable(&error) {
            Some(known) => Ok(GivenAnswer {
                known,
                reused: false,
            }),
            None => Err(QueryFailure::Call(error.to_string())),
        },
    };
    question.tell(told);
}

/// The gates of the services; judges on one server share its slots.
fn gates(services: &[RerankService], concurrency: usize) -> Vec<RateGate> {
    let judges = services.iter().filter_map(RerankService::judge).collect();
    let mut of_judges = RateGate::of_ensemble(&judges, concurrency, &[]).into_iter();
    let now = Instant::now();
    services
        .iter()
        .filter_map(|service| match service {
            RerankService::Judge(_) => of_judges.next(),
            RerankService::Reranker(reranker) => {
                let limits = reranker.limits();
                let most = reranker.concurrency().min(concurrency);
                let first = most.min(window::FIRST);
                Some(RateGate::new(
                    limits,
                    most,
                    first,
                    reranker.is_remote(),
                    now,
                ))
            }
        })
        .collect()
}

/// Lets each method rank each query that it has not ranked yet, many in parallel.
async fn rank_all(
    store: Store,
    plan: Arc<RerankPlan>,
    senders: QuestionSenders,
    control: watch::Receiver<RunControl>,
    concurrency: usize,
    events: mpsc::UnboundedSender<RerankEvent>,
) -> Result<(), StoreError> {
    let most = if plan.one_at_a_time {
        1
    } else {
        concurrency.clamp(QUERIES.0, QUERIES.1)
    };
    let mut tasks: JoinSet<Result<Option<MethodRow>, StoreError>> = JoinSet::new();
    let mut outstanding = plan.outstanding.iter().copied();
    let mut pools = OpenCandidates::default();
    let mut failure = None;
    loop {
        let more = failure.is_none() && !control.borrow().cancelled && tasks.len() < most;
        if let Some(next) = more.then(|| outstanding.next()).flatten() {
            let candidates = match pools.of(&store, &plan, next.query).await {
                Ok(candidates) => candidates,
                Err(error) => {
                    failure.get_or_insert(error);
                    continue;
                }
            };
            let (store, plan, senders) = (store.clone(), Arc::clone(&plan), Arc::clone(&senders));
            tasks.spawn(async move {
                let OutstandingRanking { method, .. } = next;
                let Some(method) = plan.methods.get(method) else {
                    return Ok(None);
                };
                let end =
                    query_run::rank(method, &candidates, &senders, &store, plan.retry).await?;
                let QueryEnd::Over(result) = end else {
                    return Ok(None);
                };
                let (key, row) = (candidates.key, result.row.clone());
                store
                    .write(move |db| {
                        db.add_rerank_result(&Uuid::now_v7().into_bytes(), key, &result)
                    })
                    .await?;
                Ok(Some(row))
            });
            continue;
        }
        match tasks.join_next().await {
            None => break,
            Some(Ok(Ok(Some(row)))) => drop(events.send(RerankEvent::Ranked(Box::new(row)))),
            Some(Ok(Ok(None))) => {}
            Some(Ok(Err(error))) => {
                failure.get_or_insert(error);
            }
            Some(Err(error)) => {
                let what = format!("ranking a query ended unexpectedly: {error}");
                failure.get_or_insert(StoreError::Internal(what));
            }
        }
    }
    failure.map_or(Ok(()), Err)
}
