//! A provider on loopback that speaks every wire format, answers from the documents of the prompt
//! alone, fails as it is told, and remembers what it was asked. It runs on a thread of its own, for
//! tests of the binary as well.

#![allow(dead_code, unused_imports, reason = "no test file needs all of it")]

#[path = "fake_provider/answer.rs"]
mod answer;
#[path = "fake_provider/batches.rs"]
mod batches;
#[path = "fake_provider/books.rs"]
mod books;
#[path = "fake_provider/fault.rs"]
mod fault;
#[path = "fake_provider/latent.rs"]
mod latent;
#[path = "fake_provider/pace.rs"]
mod pace;
#[path = "fake_provider/rerank.rs"]
mod rerank;
#[path = "fake_provider/wire.rs"]
mod wire;

pub(crate) use answer::{CURE, Shown, margin};
pub(crate) use batches::BatchFaults;
pub(crate) use books::Books;
pub(crate) use fault::{Fault, Faults};
pub(crate) use latent::{latent_margin, normal};
pub(crate) use pace::{Latency, RetryAfter};
pub(crate) use rerank::relevance;

use fault::{Answer, Out, whole};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use pace::Limit;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use wire::Dialect;

/// The most requests that are remembered whole.
const REMEMBERED: usize = 20_000;
/// Connections that may wait to be taken.
const WAITING: u32 = 4_096;

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    pub(crate) method: String,
    /// Path and query.
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
}

impl Recorded {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }
}

/// How the server behaves, and what it saw.
#[derive(Default)]
struct State {
    queued: VecDeque<Fault>,
    faults: Faults,
    latency: Latency,
    /// The latency of successful calls whose prompt contains these words.
    slow: Option<(String, Duration)>,
    limit: Option<Limit>,
    books: Books,
    /// Scripted answers to calls whose prompt contains certain words: words, status, body, and
    /// number of attempts per call.
    marked: Vec<(String, u16, Value, usize)>,
    /// Forms of answer below this one are refused, as a server would that does not know them.
    first_form: u8,
    /// The one reasoning effort that is taken.
    effort: Option<String>,
    no_logprobs: bool,
    /// A model, the one that answers in its place, and the number of calls that it still answers
    /// itself.
    replaced: Option<(String, String, usize)>,
    /// What is listed as there; nothing is where this is `None`.
    models: Option<Vec<String>>,
    requests: Vec<Recorded>,
    calls: BTreeMap<(String, String), usize>,
    files: HashMap<String, String>,
    batches: HashMap<String, batches::Job>,
    batch_faults: BatchFaults,
    counter: usize,
}

/// What becomes of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Door {
    /// They are served.
    Open,
    /// They are refused.
    Closed,
    /// They are taken, and nothing is read from them.
    Silent,
}

/// The server; it ends when it is dropped.
pub(crate) struct FakeProvider {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    doors: Option<mpsc::UnboundedSender<(Door, SyncSender<()>)>>,
    thread: Option<JoinHandle<()>>,
}

impl FakeProvider {
    pub(crate) fn start() -> Self {
        Self::start_at(0)
    }

    /// A server at a port of one's choice; 0 takes a free one.
    pub(crate) fn start_at(port: u16) -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        let (doors, commands) = mpsc::unbounded_channel();
        let (tell, told) = sync_channel(1);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async move {
                let socket = reserve(SocketAddr::from(([127, 0, 0, 1], port)));
                let address = socket.local_addr().unwrap();
                let listener = socket.listen(WAITING).unwrap();
                tell.send(address).unwrap();
                serve(listener, address, shared, commands).await;
            });
        });
        Self {
            address: told.recv().unwrap(),
            state,
            doors: Some(doors),
            thread: Some(thread),
        }
    }

    fn turn(&self, door: Door) {
        let (done, told) = sync_channel(1);
        if let Some(doors) = &self.doors {
            doors.send((door, done)).unwrap();
        }
        // The server's own thread answers, so the caller's runtime may stand still meanwhile.
        told.recv().unwrap();
    }

    /// Ends every connection and refuses new ones; the port stays this server's.
    pub(crate) fn go_down(&self) {
        self.turn(Door::Closed);
    }

    /// Ends every connection, takes new ones, and never reads from them.
    pub(crate) fn go_silent(&self) {
        self.turn(Door::Silent);
    }

    /// Serves again at the same address.
    pub(crate) fn come_back(&self) {
        self.turn(Door::Open);
    }

    /// The server's root, as Anthropic, Gemini, Azure and Ollama want it.
    pub(crate) fn root(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The address with `/v1`, as OpenAI and compatible servers want it.
    pub(crate) fn v1(&self) -> String {
        format!("{}/v1", self.root())
    }

    /// An `overrule.toml` with the three default judges on this server; `more` goes into each.
    pub(crate) fn config(&self, more: &str) -> String {
        let judge = |name: &str, provider: &str, model: &str, url: String| {
            format!(
                "[[judge]]\nname = {name:?}\nprovider = {provider:?}\nmodel = {model:?}\nbase_url = {url:?}\n{more}\n\n"
            )
        };
        [
            judge("gpt", "openai", "gpt-6.1-terra", self.v1()),
            judge("claude", "anthropic", "claude-sonnet-5-5", self.root()),
            judge("gemini", "gemini", "gemini-3.8-flash", self.root()),
        ]
        .concat()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// The next calls fail like this, one each.
    pub(crate) fn fail_next(&self, faults: &[Fault]) {
        self.state().queued.extend(faults);
    }

    /// Calls fail by chance, the same ones for the same seed whatever their order.
    pub(crate) fn fail_at_random(&self, faults: Faults) {
        self.state().faults = faults;
    }

    /// Answers calls whose prompt contains these words with this status and body.
    pub(crate) fn answer_marked(&self, words: &str, status: u16, body: Value) {
        self.answer_marked_at_first(words, status, body, usize::MAX);
    }

    /// Does the same for the first `times` attempts at each call.
    pub(crate) fn answer_marked_at_first(
        &self,
        words: &str,
        status: u16,
        body: Value,
        times: usize,
    ) {
        let marked = (words.to_owned(), status, body, times);
        self.state().marked.push(marked);
    }

    /// Removes all scripted answers.
    pub(crate) fn forget_marked(&self) {
        self.state().marked.clear();
    }

    /// Every answer takes this long.
    pub(crate) fn set_latency(&self, latency: Duration) {
        self.set_latencies(Latency::Constant(latency));
    }

    /// How long calls take whose prompt contains these words, unless their answer is scripted.
    pub(crate) fn slow_down(&self, words: &str, latency: Duration) {
        self.state().slow = Some((words.to_owned(), latency));
    }

    /// Answers take so long.
    pub(crate) fn set_latencies(&self, latency: Latency) {
        self.state().latency = latency;
    }

    /// Takes `burst` requests for each model, and then so many a minute; the others get 429 at
    /// once.
    pub(crate) fn limit_requests(
        &self,
        per_minute: f64,
        burst: u32,
        headers: bool,
        retry_after: RetryAfter,
    ) {
        self.state().limit = Some(Limit::new(per_minute, burst, headers, retry_after));
    }

    /// Takes any number of requests again.
    pub(crate) fn lift_limit(&self) {
        self.state().limit = None;
    }

    /// What a million input and output tokens of a model cost.
    pub(crate) fn set_price(&self, model: &str, input_usd: f64, output_usd: f64) {
        let prices = &mut self.state().books.prices;
        prices.insert(model.to_owned(), (input_usd, output_usd));
    }

    /// What was counted so far.
    pub(crate) fn books(&self) -> Books {
        self.state().books.clone()
    }

    /// What a provider would charge: for every call that it computed an answer to, also where the
    /// answer was cut, told no usage, or was not waited for. Batches are left out.
    pub(crate) fn billed_usd(&self) -> f64 {
        self.state().books.billed_usd()
    }

    /// Requests of any kind so far, those that are no longer remembered included.
    pub(crate) fn total_requests(&self) -> usize {
        self.state().books.requests
    }

    /// Refuses forms of answer: 1 knows no `json_schema`, 2 no schema beside `json_object`, 3 no
    /// form at all.
    pub(crate) fn know_forms_from(&self, first: u8) {
        self.state().first_form = first;
    }

    /// Refuses every reasoning effort but this one.
    pub(crate) fn take_only_effort(&self, effort: &str) {
        self.state().effort = Some(effort.to_owned());
    }

    /// Has `other` answer for this model, after it has answered this many more calls.
    pub(crate) fn replace_model(&self, model: &str, other: &str, after: usize) {
        self.state().replaced = Some((model.to_owned(), other.to_owned(), after));
    }

    /// Knows no log-probabilities.
    pub(crate) fn give_no_logprobs(&self) {
        self.state().no_logprobs = true;
    }

    /// Lists these models where Ollama and OpenAI list theirs; what stands after an @ is the
    /// digest.
    pub(crate) fn list_models(&self, models: &[&str]) {
        let models = models.iter().map(|model| (*model).to_owned());
        self.state().models = Some(models.collect());
    }

    /// The requests so far, in order.
    pub(crate) fn requests(&self) -> Vec<Recorded> {
        self.state().requests.clone()
    }

    /// How often each model was asked each case; calls that were refused or failed count.
    pub(crate) fn calls(&self) -> BTreeMap<(String, String), usize> {
        self.state().calls.clone()
    }

    /// Calls of all models on all cases.
    pub(crate) fn total_calls(&self) -> usize {
        self.state().calls.values().sum()
    }

    /// Everything that batches wait for has happened.
    pub(crate) fn finish_batches(&self) {
        self.end_batches(None);
    }

    /// The same, where the models answer every line with this text.
    pub(crate) fn finish_batches_saying(&self, text: &'static str) {
        for job in self.state().batches.values_mut() {
            job.says = Some(text);
        }
        self.end_batches(None);
    }

    /// Batches have run out of time after so many lines each.
    pub(crate) fn expire_batches(&self, made: usize) {
        self.end_batches(Some(made));
    }

    /// Lines of existing batches that had an error have an answer.
    pub(crate) fn clear_batch_errors(&self) {
        self.state()
            .batches
            .values_mut()
            .for_each(batches::Job::clear_errors);
    }

    /// The batch endpoints misbehave like this from now on.
    pub(crate) fn set_batch_faults(&self, faults: BatchFaults) {
        self.state().batch_faults = faults;
    }

    /// All batches are listed.
    pub(crate) fn list_batches(&self) {
        for job in self.state().batches.values_mut() {
            job.hidden = false;
        }
    }

    /// The batches whose id begins like this are gone.
    pub(crate) fn lose_batches(&self, prefix: &str) {
        self.state().batches.retain(|id, _| !id.starts_with(prefix));
    }

    /// Answers of models that batches have delivered or can deliver.
    pub(crate) fn batch_answers(&self) -> usize {
        self.state().batches.values().map(batches::Job::paid).sum()
    }

    fn end_batches(&self, made: Option<usize>) {
        let state = &mut *self.state();
        let running = state.batches.values_mut().filter(|job| !job.finished);
        for job in running {
            job.finished = true;
            job.made = made;
            // Gemini gives nothing back of a batch that expired.
            for (dialect, call) in job.answered() {
                if made.is_none() || dialect != Dialect::Gemini {
                    let case = dialect.case(&call.body);
                    *state.calls.entry((dialect.model(&call), case)).or_default() += 1;
                }
            }
        }
    }
}

impl Drop for FakeProvider {
    fn drop(&mut self) {
        self.doors = None;
        drop(self.thread.take().map(JoinHandle::join));
    }
}

/// A socket that holds an address; connections to it are refused until it listens.
fn reserve(address: SocketAddr) -> TcpSocket {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_reuseaddr(true).unwrap();
    // Two sockets of this server may have its port at once, so that it is never free for another.
    #[cfg(unix)]
    socket.set_reuseport(true).unwrap();
    socket.bind(address).unwrap();
    socket
}

async fn serve(
    listener: TcpListener,
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    mut commands: mpsc::UnboundedReceiver<(Door, SyncSender<()>)>,
) {
    let mut door = Door::Open;
    let mut listener = Some(listener);
    // Holds the port while there is no listener.
    let mut held = None;
    let mut connections = JoinSet::new();
    loop {
        let accepted = async {
            match &listener {
                Some(listener) => listener.accept().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            command = commands.recv() => {
                let Some((wanted, done)) = command else { return };
                door = wanted;
                connections.shutdown().await;
                if door == Door::Closed {
                    held.get_or_insert_with(|| reserve(address));
                    listener = None;
                } else if let Some(socket) = held.take() {
                    listener = Some(socket.listen(WAITING).unwrap());
                }
                let _ = done.send(());
            }
            stream = accepted => {
                let Ok((stream, _)) = stream else { continue };
                let state = Arc::clone(&state);
                let silent = door == Door::Silent;
                connections.spawn(async move {
                    if silent {
                        let _held: TcpStream = stream;
                        std::future::pending::<()>().await;
                    } else {
                        attend(stream, address, state).await;
                    }
                });
            }
            _ = connections.join_next(), if !connections.is_empty() => {}
        }
    }
}

async fn attend(stream: TcpStream, address: SocketAddr, state: Arc<Mutex<State>>) {
    drop(stream.set_nodelay(true));
    let service = service_fn(move |request| handle(request, address, Arc::clone(&state)));
    let connection =
        hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    drop(connection.await);
}

/// A call that waits for its answer; it is over when this is dropped, whether it was answered or
/// given up.
struct InFlight(Arc<Mutex<State>>);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.lock().unwrap().books.left(Instant::now());
    }
}

/// An error ends the connection without an answer.
async fn handle(
    request: Request<Incoming>,
    address: SocketAddr,
    state: Arc<Mutex<State>>,
) -> Result<Response<Out>, std::io::Error> {
    let (head, body) = request.into_parts();
    let body = body
        .collect()
        .await
        .map(|body| body.to_bytes())
        .unwrap_or_default();
    let target = head
        .uri
        .path_and_query()
        .map(ToString::to_string)
        .unwrap_or_default();
    let headers = head
        .headers
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap_or("?").to_owned()));
    let mut recorded = Recorded {
        method: head.method.to_string(),
        headers: headers.collect(),
        body: serde_json::from_slice(&body)
            .unwrap_or_else(|_| String::from_utf8_lossy(&body).into_owned().into()),
        target,
    };
    let Some(dialect) = Dialect::of(&recorded) else {
        let mut state = state.lock().unwrap();
        let answer = batches::handle(&mut state, &recorded, address);
        // A server without a list of models is asked for one, which is no call of a model.
        let is_list = ["/api/tags", "/v1/models"].contains(&recorded.target.as_str());
        if state.models.is_some() || !is_list {
            remember(&mut state, &recorded);
        }
        return Ok(answer);
    };
    let model = dialect.model(&recorded);
    let case = dialect.case(&recorded.body);
    let (answer, latency, headers) = {
        let mut state = state.lock().unwrap();
        let now = Instant::now();
        state.books.arrived(now);
        let asked = (model.clone(), case.clone());
        let attempt = state.calls.get(&asked).map_or(1, |count| count + 1);
        state.calls.insert(asked, attempt);
        remember(&mut state, &recorded);
        if let Some((_, other, left)) = state.replaced.as_mut().filter(|of| of.0 == model) {
            if *left == 0 {
                recorded.body["model"] = other.as_str().into();
            } else {
                *left -= 1;
            }
        }
        let mut headers = Vec::new();
        if let Some(limit) = &mut state.limit {
            let taken = limit.take(&model, now);
            headers = limit.headers(taken, dialect);
            if taken.refused {
                state.books.refused += 1;
                let error = dialect.error(429, dialect.rate_limit(), "too many requests");
                return Ok(with(whole(429, &error), headers));
            }
        }
        let chance = state.faults.pick(&model, &case, attempt);
        let fault = state.queued.pop_front().or(chance);
        let text = recorded.body.to_string();
        let marked = state
            .marked
            .iter()
            .find(|(words, .., times)| text.contains(words) && attempt <= *times);
        let said = marked.map(|(_, status, body, _)| (*status, body.clone()));
        let slow = state.slow.as_ref().filter(|_| said.is_none());
        let slow = slow.filter(|(words, _)| text.contains(words));
        let latency = slow.map(|(_, latency)| *latency);
        let answer = match (
            said.or_else(|| wire::refusal(&state, dialect, &recorded)),
            fault,
        ) {
            (Some((status, body)), _) => Answer::refusal(status, &body),
            (None, Some(fault)) => fault::answer(fault, dialect, &recorded),
            (None, None) => wire::success(dialect, &recorded, state.limit.is_none()),
        };
        state.books.let_in(now);
        state.books.refused += usize::from(answer.status() == Some(429));
        if let Some(tokens) = answer.tokens {
            state.books.bill(&model, tokens);
        }
        let latency = latency.unwrap_or_else(|| state.latency.of(&model, &case, attempt));
        (answer, latency, headers)
    };
    let in_flight = InFlight(Arc::clone(&state));
    if !latency.is_zero() {
        tokio::time::sleep(latency).await;
    }
    let Some(response) = answer.response else {
        return std::future::pending().await;
    };
    drop(in_flight);
    Ok(with(response?, headers))
}

fn with(mut response: Response<Out>, headers: Vec<(&'static str, String)>) -> Response<Out> {
    for (name, value) in headers {
        let headers = response.headers_mut();
        headers
            .entry(name)
            .or_insert_with(|| value.parse().unwrap());
    }
    response
}

fn remember(state: &mut State, recorded: &Recorded) {
    state.books.requests += 1;
    if state.requests.len() < REMEMBERED {
        state.requests.push(recorded.clone());
    }
}
