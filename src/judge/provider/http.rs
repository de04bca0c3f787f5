//! One HTTP client for all providers: time-outs, a cap on replies, no redirect to anywhere else, keys in headers only.

use super::address::{is_loopback, place};
use crate::judge::{CallError, Cause, Retry};
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use reqwest::{Client, Method, Url, redirect};
use std::error::Error as _;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// How long to wait for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// For a connection.
    pub connect: Duration,
    /// For the first byte of an answer; models that think take minutes.
    pub first_byte: Duration,
    /// For the whole answer.
    pub whole: Duration,
    /// The most bytes of an answer.
    pub reply_bytes: usize,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(300),
            whole: Duration::from_secs(600),
            reply_bytes: 4 << 20,
        }
    }
}

/// An answer, whatever its status.
#[derive(Clone, Debug, Default)]
pub struct Received {
    /// The HTTP status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Vec<u8>,
    /// From sending to the last byte.
    pub latency: Duration,
    /// Bytes of the request's body.
    pub sent: usize,
}

impl Received {
    /// A header as text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Whether the status is a success.
    pub(crate) fn is_ok(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// The client; clones share connections. What it needs is loaded with the first call.
#[derive(Clone, Debug)]
pub struct Http {
    /// For the world; takes proxies from the environment.
    world: Arc<OnceLock<Result<Client, String>>>,
    /// For this machine; no proxy is to see a key that is only for loopback.
    local: Arc<OnceLock<Result<Client, String>>>,
    patience: Patience,
}

impl Http {
    /// A client with these time-outs.
    pub fn new(patience: Patience) -> Self {
        Self {
            world: Arc::default(),
            local: Arc::default(),
            patience,
        }
    }

    fn client(&self, url: &Url) -> Result<&Client, CallError> {
        let local = is_loopback(url);
        let client = if local { &self.local } else { &self.world };
        let built = client.get_or_init(|| build(self.patience, local));
        let error = |error: &String| CallError::new(Cause::BadRequest, error.clone()).stopping();
        built.as_ref().map_err(error)
    }

    /// Sends JSON and reads the answer.
    pub(crate) async fn post(
        &self,
        url: &Url,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Received, CallError> {
        self.send(Method::POST, url, headers, Some(body)).await
    }

    /// Makes a request and reads all of the answer.
    pub(crate) async fn send(
        &self,
        method: Method,
        url: &Url,
        headers: HeaderMap,
        body: Option<Vec<u8>>,
    ) -> Result<Received, CallError> {
        let mut kept = Vec::new();
        let cap = self.patience.reply_bytes;
        let mut received = self
            .stream(method, url, headers, body, &mut |_, chunk| {
                kept.extend_from_slice(chunk);
                kept.len() <= cap
            })
            .await?;
        received.body = kept;
        Ok(received)
    }

    /// Makes a request and hands the answer's body on in pieces; `each` gets the status with them
    /// and says whether to read on.
    pub(crate) async fn stream(
        &self,
        method: Method,
        url: &Url,
        headers: HeaderMap,
        body: Option<Vec<u8>>,
        each: &mut (dyn FnMut(u16, &[u8]) -> bool + Send),
    ) -> Result<Received, CallError> {
        let started = Instant::now();
        let Patience {
            first_byte, whole, ..
        } = self.patience;
        let client = self.client(url)?;
        let bare = body.is_some() && !headers.contains_key(CONTENT_TYPE);
        let mut request = client.request(method, url.clone()).headers(headers);
        if bare {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        let sent = body.as_ref().map_or(0, Vec::len);
        if let Some(body) = body {
            request = request.body(body);
        }
        let answer = async {
            let answered = tokio::time::timeout(first_byte, request.send()).await;
            let mut response = answered
                .map_err(|_| timed_out(url, "no answer", first_byte))?
                .map_err(|error| broken(url, &error))?;
            let mut received = Received {
                status: response.status().as_u16(),
                headers: std::mem::take(response.headers_mut()),
                sent,
                ..Received::default()
            };
            if (300..400).contains(&received.status) {
                return Err(redirected(url, &received));
            }
            while let Some(chunk) = response
                .chunk()
                .await
                .map_err(|error| broken(url, &error))?
            {
                if !each(received.status, &chunk) {
                    return Err(too_long(url, self.patience.reply_bytes));
                }
            }
            received.latency = started.elapsed();
            Ok(received)
        };
        let result = tokio::time::timeout(whole, answer).await;
        let result = result.unwrap_or_else(|_| Err(timed_out(url, "no whole answer", whole)));
        result.map_err(|mut error| {
            error.exchange.latency = started.elapsed();
            error
        })
    }
}

fn build(patience: Patience, local: bool) -> Result<Client, String> {
    // Whoever installed a provider of cryptography first has the same right to it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .connect_timeout(patience.connect)
        .redirect(redirect::Policy::custom(stay))
        .user_agent(concat!("overrule/", env!("CARGO_PKG_VERSION")));
    let builder = if local { builder.no_proxy() } else { builder };
    builder
        .build()
        .map_err(|error| format!("no HTTP client: {}", chain(&error)))
}

/// Follows redirects on the same server only, the key being for that one, and only those that keep the request whole.
fn stay(attempt: redirect::Attempt<'_>) -> redirect::Action {
    let origin = |url: &Url| url.origin();
    let here = attempt.previous().first().map(origin);
    let whole = matches!(attempt.status().as_u16(), 307 | 308);
    if whole && attempt.previous().len() <= 3 && here == Some(origin(attempt.url())) {
        attempt.follow()
    } else {
        attempt.stop()
    }
}

fn timed_out(url: &Url, what: &str, after: Duration) -> CallError {
    CallError::new(
        Cause::TimedOut,
        format!(
            "{what} from {} within {} s",
            place(url),
            after.as_secs_f64()
        ),
    )
}

fn broken(url: &Url, error: &reqwest::Error) -> CallError {
    let cause = if error.is_timeout() {
        Cause::TimedOut
    } else {
        Cause::Connection
    };
    let words = chain(error);
    let what = if error.is_connect() {
        "cannot connect to"
    } else {
        "the connection broke to"
    };
    let remedy = if error.is_connect() && is_loopback(url) {
        "; is the server running?"
    } else {
        ""
    };
    CallError::new(cause, format!("{what} {}: {words}{remedy}", place(url)))
}

/// The last cause, which says most; none of them names the address.
fn chain(error: &reqwest::Error) -> String {
    let mut last: &dyn std::error::Error = error;
    while let Some(next) = last.source() {
        last = next;
    }
    if error.source().is_none() {
        "unknown cause".to_owned()
    } else {
        last.to_string()
    }
}

fn redirected(url: &Url, received: &Received) -> CallError {
    let target = received.header("location").and_then(|to| url.join(to).ok());
    let target = target.map_or_else(|| "nowhere".to_owned(), |target| place(&target));
    let mut error = CallError::new(
        Cause::BadRequest,
        format!(
            "{} redirects to {target}, which is not given the key; set base_url to the address meant",
            place(url)
        ),
    );
    error.exchange.status = Some(received.status);
    error.stopping()
}

fn too_long(url: &Url, cap: usize) -> CallError {
    let mut error = CallError::new(
        Cause::Malformed,
        format!("the reply of {} is longer than {cap} bytes", place(url)),
    );
    error.retry = Retry::Never;
    error
}
