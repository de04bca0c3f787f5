//! A provider on loopback that speaks every wire format, answers from the documents of the prompt alone, fails as it is
//! told, and remembers what it was asked. It runs on a thread of its own, for tests of the binary as well.

#![allow(dead_code, unused_imports, reason = "no test file needs all of it")]

#[path = "fake_provider/answer.rs"]
mod answer;
#[path = "fake_provider/batches.rs"]
mod batches;
#[path = "fake_provider/fault.rs"]
mod fault;
#[path = "fake_provider/wire.rs"]
mod wire;

pub(crate) use answer::{Shown, margin};
pub(crate) use fault::{Fault, Faults};

use fault::{Out, whole};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;
use wire::Dialect;

/// The most requests that are remembered whole.
const REMEMBERED: usize = 20_000;

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
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// How the server behaves, and what it saw.
#[derive(Default)]
struct State {
    queued: VecDeque<Fault>,
    faults: Faults,
    latency: Duration,
    /// Forms of answer below this one are refused, as a server would that does not know them.
    first_form: u8,
    /// The one reasoning effort that is taken.
    effort: Option<String>,
    no_logprobs: bool,
    requests: Vec<Recorded>,
    calls: BTreeMap<(String, String), usize>,
    files: HashMap<String, String>,
    batches: HashMap<String, batches::Job>,
    counter: usize,
}

/// The server; it ends when it is dropped.
pub(crate) struct FakeProvider {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl FakeProvider {
    pub(crate) fn start() -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State::default()));
        let (stop, stopped) = oneshot::channel();
        let shared = Arc::clone(&state);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                tokio::select! {
                    () = serve(listener, address, shared) => {}
                    _ = stopped => {}
                }
            });
        });
        Self {
            address,
            state,
            stop: Some(stop),
            thread: Some(thread),
        }
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

    /// Every answer takes this long.
    pub(crate) fn set_latency(&self, latency: Duration) {
        self.state().latency = latency;
    }

    /// Refuses forms of answer: 1 knows no `json_schema`, 2 no schema beside `json_object`, 3 no form at all.
    pub(crate) fn know_forms_from(&self, first: u8) {
        self.state().first_form = first;
    }

    /// Refuses every reasoning effort but this one.
    pub(crate) fn take_only_effort(&self, effort: &str) {
        self.state().effort = Some(effort.to_owned());
    }

    /// Knows no log-probabilities.
    pub(crate) fn give_no_logprobs(&self) {
        self.state().no_logprobs = true;
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

    /// Batches have run out of time after so many lines each.
    pub(crate) fn expire_batches(&self, made: usize) {
        self.end_batches(Some(made));
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
                    let case = Shown::of(&dialect.user_text(&call.body)).key();
                    *state.calls.entry((dialect.model(&call), case)).or_default() += 1;
                }
            }
        }
    }
}

impl Drop for FakeProvider {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        drop(self.thread.take().map(JoinHandle::join));
    }
}

async fn serve(listener: tokio::net::TcpListener, address: SocketAddr, state: Arc<Mutex<State>>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            continue;
        };
        drop(stream.set_nodelay(true));
        let state = Arc::clone(&state);
        let service = service_fn(move |request| handle(request, address, Arc::clone(&state)));
        tokio::spawn(
            hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service),
        );
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
    let recorded = Recorded {
        method: head.method.to_string(),
        headers: headers.collect(),
        body: serde_json::from_slice(&body)
            .unwrap_or_else(|_| String::from_utf8_lossy(&body).into_owned().into()),
        target,
    };
    let Some(dialect) = Dialect::of(&recorded) else {
        let mut state = state.lock().unwrap();
        let answer = batches::handle(&mut state, &recorded, address);
        remember(&mut state, recorded);
        return Ok(answer);
    };
    let (fault, latency, refusal) = {
        let mut state = state.lock().unwrap();
        let refusal = wire::refusal(&state, dialect, &recorded);
        let model = dialect.model(&recorded);
        let case = Shown::of(&dialect.user_text(&recorded.body)).key();
        let count = state
            .calls
            .entry((model.clone(), case.clone()))
            .or_default();
        *count += 1;
        let attempt = *count;
        let chance = state.faults.pick(&model, &case, attempt);
        let fault = state.queued.pop_front().or(chance);
        remember(&mut state, recorded.clone());
        (fault, state.latency, refusal)
    };
    if !latency.is_zero() {
        tokio::time::sleep(latency).await;
    }
    if let Some((status, error)) = refusal {
        return Ok(whole(status, &error));
    }
    match fault {
        Some(fault) => fault::answer(fault, dialect, &recorded).await,
        None => Ok(wire::success(dialect, &recorded)),
    }
}

fn remember(state: &mut State, recorded: Recorded) {
    if state.requests.len() < REMEMBERED {
        state.requests.push(recorded);
    }
}
