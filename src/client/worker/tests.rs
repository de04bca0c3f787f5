//! Tests a worker against simulated servers in virtual time: rates, outages, money and panics.

use super::outcome::ATTEMPTS;
use super::*;
use crate::client::question::{AttemptEnd, CallNeeds, RecordJob};
use crate::client::window::FIRST;
use crate::domain::sampling::SeededRng;
use crate::judge::{Exchange, JudgeLimits, RateLimits, Retry};
use crate::store::Store;
use proptest::prelude::*;
use std::collections::HashSet;

mod failures;
mod kept;
mod limits;
mod stops;

/// How the server handles a request.
#[derive(Clone, Copy, Debug)]
enum ServerFate {
    /// An answer after this latency.
    Answer(Duration),
    /// An immediate refusal, optionally with a wait.
    Refused(Option<Duration>),
    /// No connection.
    Dead,
    /// A server error after this latency.
    Broken(Duration),
    /// Never any response.
    Silent,
    /// A time-out after this latency: the call may have been charged.
    Late(Duration),
    /// An unreadable answer after this latency.
    Junk(Duration),
    /// Rejected as an invalid request.
    Wrong,
    /// A page from a server in between, which may be gone at the next attempt.
    Page,
    /// Rejected because of the request's form, which the client has adapted since.
    Adapted,
    /// The client's own code panics.
    Panic,
}

type ServerRule = Box<dyn FnMut(&ServerRequest) -> (ServerFate, RateLimits) + Send>;

struct ServerRequest {
    number: usize,
    /// Earlier requests of the same question.
    before: usize,
    since_start: Duration,
}

/// Decides how each request is handled and counts them.
struct SimulatedServer {
    start: Instant,
    rule: Mutex<ServerRule>,
    books: Mutex<ServerBooks>,
    /// If set, reserved and spent money is checked with every request.
    budget: Option<Budget>,
    cost: fn(usize) -> Option<f64>,
    /// Questions whose answers nobody waits for.
    unwanted: Arc<Mutex<HashSet<usize>>>,
}

#[derive(Clone, Debug, Default)]
struct ServerBooks {
    requests: usize,
    refused: usize,
    asked: HashMap<usize, usize>,
    begun: Vec<Duration>,
    in_flight: usize,
    most_in_flight: usize,
    slowest: Duration,
    over_budget: usize,
}

struct ServerQuestion {
    server: Arc<SimulatedServer>,
    number: usize,
    key: Option<[u8; 32]>,
    worst_usd: Option<f64>,
    case: Option<CaseId>,
    once_more: bool,
}

/// Frees a slot whether the call ends or is dropped.
struct ServerCallGuard<'a>(&'a SimulatedServer);

impl Drop for ServerCallGuard<'_> {
    fn drop(&mut self) {
        lock(&self.0.books).in_flight -= 1;
    }
}

impl SimulatedServer {
    fn new(rule: impl FnMut(&ServerRequest) -> ServerFate + Send + 'static) -> Self {
        let mut rule = rule;
        Self::telling(move |request| (rule(request), RateLimits::default()))
    }

    fn telling(
        rule: impl FnMut(&ServerRequest) -> (ServerFate, RateLimits) + Send + 'static,
    ) -> Self {
        Self {
            start: Instant::now(),
            rule: Mutex::new(Box::new(rule)),
            books: Mutex::default(),
            budget: None,
            cost: |_| Some(0.001),
            unwanted: Arc::default(),
        }
    }

    fn books(&self) -> ServerBooks {
        lock(&self.books).clone()
    }

    async fn serve(&self, number: usize) -> Result<Exchange, CallError> {
        let since_start = self.start.elapsed();
        let before = {
            let mut books = lock(&self.books);
            books.requests += 1;
            books.begun.push(since_start);
            books.in_flight += 1;
            books.most_in_flight = books.most_in_flight.max(books.in_flight);
            let asked = books.asked.entry(number).or_default();
            *asked += 1;
            *asked - 1
        };
        let _in_flight = ServerCallGuard(self);
        if let Some(budget) = &self.budget {
            let within = budget.reserve(0.0).is_some();
            lock(&self.books).over_budget += usize::from(!within);
        }
        let request = ServerRequest {
            number,
            before,
            since_start,
        };
        let (fate, limits) = lock(&self.rule)(&request);
        let mut exchange = Exchange {
            sent: true,
            limits,
            ..Exchange::default()
        };
        let fail = |exchange: Exchange, cause: FailureCause, words: &str| {
            let mut error = CallError::new(cause, words);
            if let Some(wait) = exchange.limits.retry_after {
                error.retry = Retry::After(Some(wait));
            }
            error.exchange = Box::new(exchange);
            Err(error)
        };
        match fate {
            ServerFate::Answer(latency) | ServerFate::Junk(latency) => {
                tokio::time::sleep(latency).await;
                (exchange.latency, exchange.status) = (latency, Some(200));
                exchange.cost_usd = (self.cost)(number);
                let mut books = lock(&self.books);
                books.slowest = books.slowest.max(latency);
                match fate {
                    ServerFate::Answer(_) => Ok(exchange),
                    _ => fail(exchange, FailureCause::Malformed, "not JSON"),
                }
            }
            ServerFate::Refused(wait) => {
                lock(&self.books).refused += 1;
                (exchange.limits.retry_after, exchange.status) = (wait, Some(429));
                fail(exchange, FailureCause::RateLimited, "slow down")
            }
            ServerFate::Dead => {
                exchange.sent = false;
                fail(exchange, FailureCause::Connection, "cannot connect")
            }
            ServerFate::Broken(latency) => {
                tokio::time::sleep(latency).await;
                exchange.status = Some(500);
                fail(exchange, FailureCause::Server, "it broke")
            }
            ServerFate::Silent => std::future::pending().await,
            ServerFate::Late(latency) => {
                tokio::time::sleep(latency).await;
                fail(exchange, FailureCause::TimedOut, "too late")
            }
            ServerFate::Page => {
                exchange.status = Some(502);
                let page = fail(exchange, FailureCause::Malformed, "a page");
                page.map_err(|mut error| {
                    error.no_answer = true;
                    error
                })
            }
            ServerFate::Wrong => {
                exchange.status = Some(400);
                fail(exchange, FailureCause::BadRequest, "not this")
            }
            ServerFate::Adapted => {
                exchange.status = Some(400);
                let refused = fail(exchange, FailureCause::BadRequest, "not in this form");
                refused.map_err(|mut error| {
                    error.retry = Retry::Adapted;
                    error
                })
            }
            ServerFate::Panic => panic!("of all things"),
        }
    }
}

impl ServiceQuestion for ServerQuestion {
    type Answer = Exchange;

    fn ask(&self) -> BoxFuture<'_, Result<Exchange, CallError>> {
        self.server.serve(self.number).boxed()
    }

    fn exchange(answer: &Exchange) -> &Exchange {
        answer
    }

    fn is_wanted(&self) -> bool {
        !lock(&self.server.unwanted).contains(&self.number)
    }

    fn needs(&self) -> CallNeeds {
        CallNeeds {
            tokens: 100,
            worst_usd: self.worst_usd,
            sent: true,
        }
    }

    fn rephrased(&self, error: &CallError) -> Option<Self> {
        let again = error.cause == FailureCause::Malformed && !error.no_answer && !self.once_more;
        again.then(|| Self {
            server: Arc::clone(&self.server),
            once_more: true,
            ..*self
        })
    }

    fn key(&self) -> Option<[u8; 32]> {
        self.key
    }

    fn case(&self) -> Option<CaseId> {
        self.case
    }

    fn name(&self) -> String {
        self.number.to_string()
    }

    fn keep(&self, _: AttemptEnd<'_, Exchange>) -> Option<RecordJob> {
        None
    }

    fn share(&self) -> Option<RecordJob> {
        Some(Box::new(|_| Ok(RecordOutcome::Row)))
    }
}

/// Setup of a worker.
#[derive(Clone)]
struct WorkerSetup {
    places: usize,
    first: usize,
    /// Number of calls that the gate is told to expect.
    expected: usize,
    limits: JudgeLimits,
    worst_usd: Option<f64>,
    budget: Budget,
    ledger: CallLedger,
    control: Arc<watch::Sender<RunControl>>,
    judge_index: usize,
    key: fn(usize) -> Option<[u8; 32]>,
    case: fn(usize) -> Option<CaseId>,
}

impl WorkerSetup {
    fn new(places: usize) -> Self {
        let control = RunControl {
            concurrency: places,
            ..RunControl::default()
        };
        Self {
            places,
            first: FIRST,
            expected: 0,
            limits: JudgeLimits::default(),
            worst_usd: Some(0.5),
            budget: Budget::new(None, 0.0),
            ledger: CallLedger::Nowhere,
            control: Arc::new(watch::Sender::new(control)),
            judge_index: 0,
            key: |_| None,
            case: |_| None,
        }
    }
}

#[derive(Debug, Default)]
struct WorkerResult {
    answered: Vec<usize>,
    shared: usize,
    failed: Vec<(usize, CallError, Charge)>,
    again: usize,
    /// Dollars by kind, over all attempts.
    known_usd: f64,
    assumed_usd: f64,
    unpriced: usize,
    stopped: Option<String>,
    skipped: Vec<i64>,
    /// When the last case was skipped.
    skipped_at: Duration,
    budget_reached: bool,
    away: Vec<bool>,
    back: usize,
    took: Duration,
}

impl WorkerResult {
    fn charge(&mut self, charge: Charge) {
        match charge {
            Charge::Known(usd) => self.known_usd += usd,
            Charge::Assumed(usd) => self.assumed_usd += usd,
            Charge::Unpriced => self.unpriced += 1,
        }
    }
}

/// Sends this many questions to a server and waits until the worker has ended.
async fn play(server: &Arc<SimulatedServer>, calls: usize, setup: WorkerSetup) -> WorkerResult {
    let start = Instant::now();
    let (_over, over) = watch::channel(false);
    let shared = Arc::new(WorkerContext {
        ledger: setup.ledger,
        budget: setup.budget,
        purpose: CallPurpose::Vote,
        run: None,
        control: setup.control.subscribe(),
        over,
        next_call: Mutex::new(start),
    });
    let mut gate = RateGate::new(setup.limits, setup.places, setup.first, true, start);
    gate.window.expect(setup.expected);
    let gate = Arc::new(Mutex::new(gate));
    let (questions, asked) = mpsc::channel(64);
    let (events, mut heard) = mpsc::channel(64);
    let mut worker = Worker::new(
        shared,
        setup.judge_index,
        "s".to_owned(),
        gate,
        asked,
        events,
    );
    worker.salt = 7;
    let worker = tokio::spawn(worker.work());
    let to_ask = Arc::clone(server);
    let feeder = tokio::spawn(async move {
        for number in 0..calls {
            let question = ServerQuestion {
                server: Arc::clone(&to_ask),
                number,
                key: (setup.key)(number),
                worst_usd: setup.worst_usd,
                case: (setup.case)(number),
                once_more: false,
            };
            if questions.send(question).await.is_err() {
                return;
            }
        }
    });
    let mut played = WorkerResult::default();
    while let Some((_, event)) = heard.recv().await {
        match event {
            WorkerEvent::Ended {
                question,
                end,
                charge,
            } => {
                played.charge(charge);
                match end {
                    QuestionEnd::Answered(_) | QuestionEnd::Duplicate(_) => {
                        played.answered.push(question.number);
                    }
                    QuestionEnd::Shared => played.shared += 1,
                    QuestionEnd::Failed(error) => {
                        played.failed.push((question.number, error, charge))
                    }
                }
            }
            WorkerEvent::Again { charge, .. } => {
                played.charge(charge);
                played.again += 1;
            }
            WorkerEvent::Stopped(why) => {
                assert_eq!(played.stopped, None, "said once");
                played.stopped = Some(why);
            }
            WorkerEvent::CaseSkipped { case, .. } => {
                played.skipped.push(case.0);
                played.skipped_at = start.elapsed();
            }
            WorkerEvent::BudgetReached => played.budget_reached = true,
            WorkerEvent::Away { dropped } => played.away.push(dropped),
            WorkerEvent::Back => played.back += 1,
            WorkerEvent::Failed(error) => panic!("{error}"),
        }
    }
    worker.await.unwrap();
    feeder.await.unwrap();
    played.took = start.elapsed();
    played
}

/// A uniform random number for one request, the same in every run.
fn draw(request: &ServerRequest, what: &str) -> f64 {
    let name = format!("{}/{}", request.number, request.before);
    SeededRng::new(11, &[what, &name]).unit()
}

/// A lognormally distributed latency.
fn lognormal(request: &ServerRequest, median_s: f64, sigma: f64) -> Duration {
    let angle = std::f64::consts::TAU * draw(request, "angle");
    let radius = (-2.0 * draw(request, "radius").max(1e-12).ln()).sqrt();
    Duration::from_secs_f64(median_s * (sigma * radius * angle.cos()).exp())
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

/// A token bucket as servers implement it.
struct ServerLimit {
    per_s: f64,
    burst: f64,
    level: f64,
    at: Duration,
}

impl ServerLimit {
    fn new(per_minute: f64, burst: f64) -> Self {
        Self {
            per_s: per_minute / 60.0,
            burst,
            level: burst,
            at: Duration::ZERO,
        }
    }

    fn take(&mut self, now: Duration) -> bool {
        let flowed = (now - self.at).as_secs_f64() * self.per_s;
        (self.level, self.at) = ((self.level + flowed).min(self.burst), now);
        let taken = self.level >= 1.0;
        self.level -= f64::from(u8::from(taken));
        taken
    }

    /// Whole seconds until the next call is accepted.
    fn next(&self) -> Duration {
        seconds(((1.0 - self.level) / self.per_s).ceil().max(1.0))
    }

    fn told(&self) -> RateLimits {
        RateLimits {
            requests_limit: Some(self.burst as u64),
            requests_remaining: Some(self.level as u64),
            requests_reset: Some(seconds((self.burst - self.level) / self.per_s)),
            ..RateLimits::default()
        }
    }
}
