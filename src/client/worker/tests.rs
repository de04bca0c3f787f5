//! A worker against simulated servers, in virtual time: rates, outages, money, panics.

use super::outcome::ATTEMPTS;
use super::*;
use crate::client::question::AttemptEnd;
use crate::client::question::{CallNeeds, RecordJob};
use crate::client::window::FIRST;
use crate::domain::sampling::SeededRng;
use crate::judge::Retry;
use crate::judge::{Exchange, JudgeLimits, RateLimits};
use crate::store::Store;
use proptest::prelude::*;

mod failures;

/// What a request comes to.
#[derive(Clone, Copy, Debug)]
enum ServerFate {
    /// An answer after so long.
    Answer(Duration),
    /// A refusal at once, which may say when to come back.
    Refused(Option<Duration>),
    /// No connection.
    Dead,
    /// An error of the server after so long.
    Broken(Duration),
    /// Nothing, ever.
    Silent,
    /// An answer, after so long, that cannot be read.
    Junk(Duration),
    /// A page of some server in between, which may be gone at the next try.
    Page,
    /// A refusal of the request's form, which the client has changed since.
    Adapted,
    /// The client's own code panics.
    Panic,
}

type ServerRule = Box<dyn FnMut(&ServerRequest) -> (ServerFate, RateLimits) + Send>;

struct ServerRequest {
    number: usize,
    /// Requests of the same question before this one.
    before: usize,
    since_start: Duration,
}

/// What becomes of each request, and what was counted.
struct SimulatedServer {
    start: Instant,
    rule: Mutex<ServerRule>,
    books: Mutex<ServerBooks>,
    /// Whether money set aside and spent is looked at with every request.
    budget: Option<Budget>,
    cost: fn(usize) -> Option<f64>,
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
    once_more: bool,
}

/// Gives a place back, whether the call ends or is given up.
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
            ServerFate::Page => {
                exchange.status = Some(502);
                let page = fail(exchange, FailureCause::Malformed, "a page");
                page.map_err(|mut error| {
                    error.no_answer = true;
                    error
                })
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

/// How a worker is set up.
#[derive(Clone)]
struct WorkerSetup {
    places: usize,
    first: usize,
    limits: JudgeLimits,
    worst_usd: Option<f64>,
    budget: Budget,
    ledger: CallLedger,
    control: Arc<watch::Sender<RunControl>>,
    judge_index: usize,
    key: fn(usize) -> Option<[u8; 32]>,
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
            limits: JudgeLimits::default(),
            worst_usd: Some(0.5),
            budget: Budget::new(None, 0.0),
            ledger: CallLedger::Nowhere,
            control: Arc::new(watch::Sender::new(control)),
            judge_index: 0,
            key: |_| None,
        }
    }
}

#[derive(Debug, Default)]
struct WorkerResult {
    answered: Vec<usize>,
    shared: usize,
    failed: Vec<(usize, CallError, Charge)>,
    again: usize,
    /// Dollars by kind, of every attempt.
    known_usd: f64,
    assumed_usd: f64,
    unpriced: usize,
    stopped: Option<String>,
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

/// Puts so many questions to a server and waits until the worker has ended.
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
    let gate = RateGate::new(setup.limits, setup.places, setup.first, true, start);
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

/// A uniform number for one request, the same in every run.
fn draw(request: &ServerRequest, what: &str) -> f64 {
    let name = format!("{}/{}", request.number, request.before);
    SeededRng::new(11, &[what, &name]).unit()
}

/// A latency of a lognormal distribution.
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

/// A token bucket as servers have it.
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

    /// Whole seconds until the next call is taken.
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

#[tokio::test(start_paused = true)]
async fn a_limit_of_a_minute_is_kept_to_and_nothing_fails() {
    type Latency = fn(&ServerRequest) -> Duration;
    let latencies: [(&str, Latency); 4] = [
        ("5 ms", |_| ms(5)),
        ("50 ms", |request| {
            ms(45 + (10.0 * draw(request, "jitter")) as u64)
        }),
        ("500 ms", |request| {
            ms(450 + (100.0 * draw(request, "jitter")) as u64)
        }),
        ("lognormal", |request| lognormal(request, 1.5, 0.5)),
    ];
    for (name, latency) in latencies {
        for names_wait in [true, false] {
            let mut limit = ServerLimit::new(60.0, 120.0);
            let server = Arc::new(SimulatedServer::new(move |request| {
                if limit.take(request.since_start) {
                    ServerFate::Answer(latency(request))
                } else {
                    ServerFate::Refused(names_wait.then(|| limit.next()))
                }
            }));
            let played = play(&server, 240, WorkerSetup::new(256)).await;
            let books = server.books();
            let what = format!(
                "{name}, Retry-After {names_wait}: {} of {} refused, {:?}",
                books.refused, books.requests, played.took
            );
            assert_eq!(
                (played.answered.len(), played.failed.len()),
                (240, 0),
                "{what}"
            );
            assert!(books.refused * 100 <= books.requests * 15, "{what}");
            assert!(played.took <= seconds(135.0), "{what}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn sporadic_refusals_cost_little() {
    for (share, names_wait, at_most) in [
        (0.05, true, 4.0),
        (0.05, false, 4.0),
        (0.2, true, 12.0),
        (0.2, false, 12.0),
    ] {
        let server = Arc::new(SimulatedServer::new(move |request| {
            if draw(request, "refused") < share {
                ServerFate::Refused(names_wait.then_some(seconds(1.0)))
            } else {
                ServerFate::Answer(ms(50))
            }
        }));
        let played = play(&server, 3_000, WorkerSetup::new(256)).await;
        assert_eq!((played.answered.len(), played.failed.len()), (3_000, 0));
        assert!(
            played.took <= seconds(at_most),
            "{share} refused, Retry-After {names_wait}: {:?}",
            played.took
        );
    }
}

#[tokio::test(start_paused = true)]
async fn all_places_are_used_at_the_speed_of_real_models() {
    for median_s in [1.5, 4.0] {
        for workers in [3, 1] {
            let (calls, places) = (3_000 / workers, 450 / workers);
            let server = |worker: usize| {
                let rule = move |request: &ServerRequest| {
                    let number = worker * 10_000 + request.number;
                    ServerFate::Answer(lognormal(
                        &ServerRequest { number, ..*request },
                        median_s,
                        0.5,
                    ))
                };
                Arc::new(SimulatedServer::new(rule))
            };
            let start = Instant::now();
            let servers: Vec<_> = (0..workers).map(server).collect();
            let plays = servers
                .iter()
                .map(|server| play(server, calls, WorkerSetup::new(places)));
            let played = futures::future::join_all(plays).await;
            assert!(played.iter().all(|played| played.answered.len() == calls));
            let mean_s = median_s * (0.5f64 * 0.5 / 2.0).exp();
            let slowest = servers.iter().map(|server| server.books().slowest).max();
            let ideal = seconds(3_000.0 * mean_s / 450.0);
            let bound = ideal.mul_f64(1.25) + slowest.unwrap() / 2;
            let took = start.elapsed();
            assert!(
                took <= bound,
                "{median_s} s, {workers}: {took:?} > {bound:?}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn limits_told_in_headers_are_used_up_without_refusals_or_stops() {
    // Calls, limit a minute, burst, latency.
    for (calls, per_minute, burst, latency) in [
        (900, 600.0, 600.0, 50),
        (900, 600.0, 600.0, 1_000),
        (400, 600.0, 100.0, 50),
        (400, 600.0, 100.0, 1_000),
    ] {
        let mut limit = ServerLimit::new(per_minute, burst);
        let server = Arc::new(SimulatedServer::telling(move |request| {
            let fate = if limit.take(request.since_start) {
                ServerFate::Answer(ms(latency))
            } else {
                ServerFate::Refused(None)
            };
            (fate, limit.told())
        }));
        let played = play(&server, calls, WorkerSetup::new(256)).await;
        let books = server.books();
        let ideal_s = (calls as f64 - burst) / (per_minute / 60.0) + latency as f64 / 1e3;
        let what = format!(
            "{calls} at {latency} ms, burst {burst}: {:?} of {ideal_s} s, {} refused",
            played.took, books.refused
        );
        assert_eq!(played.answered.len(), calls, "{what}");
        assert_eq!(books.refused, 0, "{what}");
        assert!(played.took <= seconds(1.1 * ideal_s), "{what}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_dead_server_stops_the_worker_within_its_time_and_with_few_requests() {
    for fate in [ServerFate::Dead, ServerFate::Broken(ms(20))] {
        // Three judges of one server begin with a third of the window each.
        for (first, requests) in [(FIRST / 3, 40), (FIRST, FIRST + 20)] {
            let server = Arc::new(SimulatedServer::new(move |_| fate));
            let setup = WorkerSetup {
                first,
                ..WorkerSetup::new(256)
            };
            let played = play(&server, 120, setup).await;
            let why = played.stopped.unwrap();
            let words = match fate {
                ServerFate::Dead => "cannot connect",
                _ => "it broke",
            };
            assert!(why.contains(words), "{why}");
            assert!(played.took <= seconds(75.0), "{:?}", played.took);
            assert!(played.took >= seconds(60.0), "{:?}", played.took);
            assert_eq!(played.answered.len() + played.failed.len(), 0);
            let books = server.books();
            assert!(books.requests <= requests, "{} requests", books.requests);
            assert_eq!((played.assumed_usd, played.known_usd), (0.0, 0.0));
            assert_eq!(played.away.first(), Some(&false), "nobody waits for it");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn silence_stops_the_worker_and_what_is_in_flight_is_charged() {
    for after in [0, 100] {
        let server = Arc::new(SimulatedServer::new(move |request| {
            if request.number < after {
                ServerFate::Answer(ms(50))
            } else {
                ServerFate::Silent
            }
        }));
        let played = play(&server, 500, WorkerSetup::new(64)).await;
        let why = played.stopped.unwrap();
        assert!(why.contains("no answer to any of 64 calls"), "{why}");
        assert_eq!(played.answered.len(), after);
        assert!(played.took >= seconds(60.0), "{:?}", played.took);
        assert!(played.took <= seconds(62.0), "{:?}", played.took);
        assert_eq!(played.assumed_usd, 32.0, "64 calls of half a dollar");
        assert_eq!(server.books().in_flight, 0);
    }
}

#[tokio::test(start_paused = true)]
async fn an_outage_is_waited_for_and_nothing_fails() {
    for fate in [
        ServerFate::Dead,
        ServerFate::Broken(ms(20)),
        ServerFate::Refused(Some(seconds(1.0))),
    ] {
        let server = Arc::new(SimulatedServer::new(move |request| {
            match request.since_start.as_secs_f64() {
                5.0..35.0 => fate,
                _ => ServerFate::Answer(lognormal(request, 1.5, 0.5)),
            }
        }));
        let played = play(&server, 3_000, WorkerSetup::new(256)).await;
        assert_eq!(played.answered.len(), 3_000, "{fate:?}");
        assert_eq!(played.stopped, None, "{fate:?}");
        // Without the outage it takes about 22 s.
        assert!(played.took <= seconds(75.0), "{fate:?}: {:?}", played.took);
    }
}

#[tokio::test(start_paused = true)]
async fn junk_alone_stops_the_worker() {
    let server = Arc::new(SimulatedServer::new(|_| ServerFate::Junk(ms(50))));
    let played = play(&server, 500, WorkerSetup::new(1)).await;
    let why = played.stopped.unwrap();
    assert!(why.contains("25 answers in a row"), "{why}");
    assert_eq!(server.books().requests, 25);
    assert!((played.known_usd - 0.025).abs() < 1e-9, "each is paid for");
    // Some answers between, and nothing stops.
    let server = Arc::new(SimulatedServer::new(|request| match request.number % 10 {
        0 => ServerFate::Answer(ms(50)),
        _ => ServerFate::Junk(ms(50)),
    }));
    let played = play(&server, 100, WorkerSetup::new(1)).await;
    assert_eq!(played.stopped, None);
    assert_eq!((played.answered.len(), played.failed.len()), (10, 90));
    assert_eq!(server.books().requests, 190, "each is asked once more");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_panics_has_failed_and_the_others_go_on() {
    let server = Arc::new(SimulatedServer::new(|request| match request.number {
        7 => ServerFate::Panic,
        _ => ServerFate::Answer(ms(50)),
    }));
    let played = play(&server, 100, WorkerSetup::new(64)).await;
    assert_eq!((played.answered.len(), played.stopped), (99, None));
    let (number, error, charge) = &played.failed[0];
    assert_eq!((*number, error.cause), (7, FailureCause::Crashed));
    assert!(error.message.contains("of all things"));
    assert_eq!(
        *charge,
        Charge::Assumed(0.5),
        "nobody knows how far it came"
    );
}

#[tokio::test(start_paused = true)]
async fn a_cancel_keeps_what_comes_in_time_and_charges_the_rest() {
    let setup = WorkerSetup::new(64);
    let control = Arc::clone(&setup.control);
    let server = Arc::new(SimulatedServer::new(|request| match request.number % 4 {
        0 => ServerFate::Answer(seconds(40.0)),
        _ => ServerFate::Answer(seconds(10.0)),
    }));
    let steer = async {
        tokio::time::sleep(seconds(1.0)).await;
        control.send_modify(|control| control.stop_within(seconds(15.0)));
    };
    let (played, ()) = tokio::join!(play(&server, 500, setup), steer);
    assert_eq!((played.answered.len(), server.books().requests), (48, 64));
    assert_eq!((played.assumed_usd, played.again), (8.0, 16));
    assert!(
        played.failed.is_empty(),
        "what was left is owed, not failed"
    );
    assert!(played.took <= seconds(16.1), "{:?}", played.took);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_worker_makes_no_calls_until_it_is_taken_back() {
    let setup = WorkerSetup::new(64);
    let control = Arc::clone(&setup.control);
    let server = Arc::new(SimulatedServer::new(|_| ServerFate::Answer(ms(50))));
    let steer = async {
        tokio::time::sleep(ms(220)).await;
        control.send_modify(|control| control.toggle(0));
        tokio::time::sleep(seconds(100.0)).await;
        control.send_modify(|control| control.toggle(0));
    };
    let (played, ()) = tokio::join!(play(&server, 3_000, setup), steer);
    assert_eq!(played.answered.len(), 3_000);
    assert_eq!((played.away, played.back), (vec![true], 1));
    let between = ms(225)..seconds(100.2);
    let begun = server.books().begun;
    assert_eq!(begun.iter().filter(|at| between.contains(*at)).count(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_worker_sets_no_money_aside() {
    let setup = WorkerSetup::new(8);
    let control = Arc::clone(&setup.control);
    let budget = Budget::new(Some(100.0), 0.0);
    let setup = WorkerSetup {
        budget: budget.clone(),
        ..setup
    };
    let server = Arc::new(SimulatedServer::new(|_| ServerFate::Answer(seconds(1.0))));
    let steer = async {
        tokio::time::sleep(ms(1_500)).await;
        assert!(budget.is_waiting());
        control.send_modify(|control| control.toggle(0));
        tokio::time::sleep(seconds(5.0)).await;
        assert!(!budget.is_waiting(), "others would wait for it");
        control.send_modify(|control| control.toggle(0));
    };
    let (played, ()) = tokio::join!(play(&server, 40, setup), steer);
    assert_eq!((played.answered.len(), played.budget_reached), (40, false));
    assert_eq!(server.books().requests, 40, "nothing was asked twice");
}

#[tokio::test(start_paused = true)]
async fn a_pause_begins_nothing() {
    let setup = WorkerSetup::new(8);
    let control = Arc::clone(&setup.control);
    let server = Arc::new(SimulatedServer::new(|_| ServerFate::Answer(seconds(1.0))));
    let steer = async {
        tokio::time::sleep(ms(500)).await;
        control.send_modify(|control| control.paused = true);
        tokio::time::sleep(seconds(500.0)).await;
        assert_eq!(server.books().requests, 8);
        control.send_modify(|control| control.paused = false);
    };
    let (played, ()) = tokio::join!(play(&server, 40, setup), steer);
    assert_eq!((played.answered.len(), played.stopped), (40, None));
}

#[tokio::test]
async fn the_same_question_is_asked_once_and_its_answer_shared() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("p.db")).unwrap();
    for fails_first in [false, true] {
        let server = Arc::new(SimulatedServer::new(move |request| match request.number {
            0 if fails_first => ServerFate::Junk(Duration::ZERO),
            _ => ServerFate::Answer(Duration::ZERO),
        }));
        let setup = WorkerSetup {
            ledger: CallLedger::Project(store.clone()),
            key: |number| Some([number as u8 % 5; 32]),
            ..WorkerSetup::new(64)
        };
        let played = play(&server, 100, setup).await;
        let failed = usize::from(fails_first);
        assert_eq!(played.failed.len(), failed);
        assert_eq!((played.answered.len(), played.shared), (5, 95 - failed));
        // The one that failed was asked once more, and then another took its place.
        assert_eq!(server.books().requests, 5 + 2 * failed);
    }
}

#[tokio::test]
async fn a_question_that_was_answered_long_ago_is_not_bought_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("p.db")).unwrap();
    let server = Arc::new(SimulatedServer::new(|_| ServerFate::Answer(ms(5))));
    let setup = WorkerSetup {
        ledger: CallLedger::Project(store),
        key: |number| Some([number as u8 % 40; 32]),
        ..WorkerSetup::new(1)
    };
    let played = play(&server, 41, setup).await;
    assert_eq!((played.answered.len(), played.shared), (40, 1));
    assert_eq!(server.books().requests, 40);
}

#[tokio::test]
async fn the_ledger_knows_of_each_call_that_was_sent_and_of_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.db");
    let store = Store::open(&path).unwrap();
    let setup = WorkerSetup {
        ledger: CallLedger::Project(store.clone()),
        ..WorkerSetup::new(1)
    };
    let control = Arc::clone(&setup.control);
    let look = rusqlite::Connection::open(&path).unwrap();
    let server = Arc::new(SimulatedServer::new(move |request| {
        let open = "SELECT count(*) FROM call WHERE ended_ms IS NULL";
        let open: usize = look.query_row(open, [], |row| row.get(0)).unwrap();
        assert!(open > 0, "sent before it was written down");
        if request.number == 5 {
            let control = Arc::clone(&control);
            tokio::spawn(async move {
                // By then the next one has been written down too.
                tokio::time::sleep(ms(30)).await;
                control.send_modify(RunControl::stop);
            });
        }
        ServerFate::Answer(ms(60))
    }));
    let played = play(&server, 100, setup).await;
    assert_eq!((played.answered.len(), played.failed.len()), (6, 0));
    let spent = store.read(|db| db.spent()).await.unwrap();
    assert_eq!((spent[0].calls, spent[0].open_calls), (6, 0));
    assert_eq!(spent[0].assumed_calls, 0);
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_asked_once_more_and_waits_for_money_is_not_lost() {
    let budget = Budget::new(Some(1.0), 0.0);
    let others = budget.clone();
    let server = Arc::new(SimulatedServer::new(move |request| match request.before {
        0 => {
            // What is left goes to somebody else for a while.
            let reserved = others.reserve(0.5);
            tokio::spawn(async move {
                tokio::time::sleep(seconds(1.0)).await;
                drop(reserved);
            });
            ServerFate::Junk(ms(50))
        }
        _ => ServerFate::Answer(ms(50)),
    }));
    let setup = WorkerSetup {
        budget,
        key: |_| Some([1; 32]),
        ..WorkerSetup::new(4)
    };
    let played = play(&server, 1, setup).await;
    assert_eq!((played.answered.len(), played.budget_reached), (1, false));
    assert!(played.took >= seconds(1.0), "{:?}", played.took);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_cannot_be_shared_is_asked_for_again() {
    let server = Arc::new(SimulatedServer::new(|_| ServerFate::Answer(ms(50))));
    // Nothing is kept anywhere, so there is nothing to share.
    let setup = WorkerSetup {
        key: |_| Some([1; 32]),
        ..WorkerSetup::new(64)
    };
    let played = play(&server, 10, setup).await;
    assert_eq!((played.answered.len(), played.shared), (10, 0));
}

#[tokio::test(start_paused = true)]
async fn a_refusal_uses_up_attempts_only_while_nobody_is_answered() {
    // One call is refused thirty times while the others are answered.
    let server = Arc::new(SimulatedServer::new(|request| match request.number {
        3 if request.before < 30 => ServerFate::Refused(Some(seconds(1.0))),
        _ => ServerFate::Answer(ms(500)),
    }));
    let played = play(&server, 1_000, WorkerSetup::new(4)).await;
    assert_eq!((played.answered.len(), played.failed.len()), (1_000, 0));
    assert_eq!(server.books().asked[&3], 31);
    // Nobody is answered.
    let server = Arc::new(SimulatedServer::new(|_| ServerFate::Refused(None)));
    let played = play(&server, 1, WorkerSetup::new(4)).await;
    assert_eq!((played.answered.len(), played.failed.len()), (0, 1));
    assert_eq!(server.books().asked[&0], ATTEMPTS as usize);
}

#[tokio::test(start_paused = true)]
async fn a_refused_call_waits_for_as_long_as_it_was_told_to() {
    let server = Arc::new(SimulatedServer::new(|request| {
        match (request.number, request.before) {
            (3, 0) => ServerFate::Refused(Some(seconds(30.0))),
            _ => ServerFate::Answer(ms(50)),
        }
    }));
    let played = play(&server, 100, WorkerSetup::new(4)).await;
    assert_eq!((played.answered.len(), played.again), (100, 1));
    // One second more at most, so that not all come back at once.
    assert!(played.took >= seconds(30.0), "{:?}", played.took);
    assert!(played.took <= seconds(31.2), "{:?}", played.took);
}

#[tokio::test(start_paused = true)]
async fn money_that_is_gone_is_told_and_what_came_is_kept() {
    let mut server = SimulatedServer::new(|_| ServerFate::Answer(ms(50)));
    server.cost = |_| Some(0.25);
    let server = Arc::new(server);
    let budget = Budget::new(Some(10.0), 0.0);
    let setup = WorkerSetup {
        budget: budget.clone(),
        ..WorkerSetup::new(64)
    };
    let played = play(&server, 500, setup).await;
    assert!(played.budget_reached);
    // 10 dollars less the worst price of one more call.
    assert_eq!((played.answered.len(), played.known_usd), (39, 9.75));
    assert_eq!(budget.spent_usd(), 9.75);
}

/// What each call of a judge costs at worst and comes to.
fn fates() -> impl Strategy<Value = Vec<(u8, u8)>> {
    prop::collection::vec((0u8..6, 0u8..16), 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn spent_and_set_aside_never_pass_the_limit(
        fates in fates(),
        limit in 0u32..800,
        places in 1usize..40,
        priced in any::<bool>(),
        cancelled_ms in prop::option::of(0u64..3_000),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            // Sixteenths, so that sums are exact.
            let limit = f64::from(limit) / 16.0;
            let budget = Budget::new(Some(limit), 0.0);
            let setup = WorkerSetup::new(places);
    let control = Arc::clone(&setup.control);
            let setup = WorkerSetup {
                budget: budget.clone(),
                worst_usd: priced.then_some(1.0),
                ..setup
            };
            let server = || {
                let fates = fates.clone();
                let mut server = SimulatedServer::new(move |request| {
                    let (fate, time) = fates[(request.number + request.before) % fates.len()];
                    let time = ms(u64::from(time) * 100);
                    match fate {
                        0 => ServerFate::Junk(time),
                        1 => ServerFate::Refused(Some(time)),
                        2 => ServerFate::Panic,
                        3 => ServerFate::Broken(time),
                        _ => ServerFate::Answer(time),
                    }
                });
                server.budget = Some(budget.clone());
                // Some answers tell no usage.
                server.cost = |number| (number % 3 > 0).then(|| (number % 16) as f64 / 16.0);
                Arc::new(server)
            };
            let servers = [server(), server(), server()];
            let plays = servers.iter().enumerate().map(|(judge_index, server)| {
                play(server, 40, WorkerSetup { judge_index, ..setup.clone() })
            });
            let steer = async {
                if let Some(after) = cancelled_ms {
                    tokio::time::sleep(ms(after)).await;
                    control.send_modify(|control| control.stop_within(ms(300)));
                }
            };
            let (played, ()) = tokio::join!(futures::future::join_all(plays), steer);
            let told: f64 = played.iter().map(|played| played.known_usd + played.assumed_usd).sum();
            assert_eq!(budget.spent_usd(), told, "every attempt is told");
            if priced {
                assert!(told <= limit);
                assert!(servers.iter().all(|server| server.books().over_budget == 0));
            }
            assert!(!budget.is_waiting(), "all is given back");
        });
    }
}
