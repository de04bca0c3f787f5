//! The HTTP client for all providers: timeouts, a size limit on replies, redirects on the same
//! server only, keys in headers only.

mod certificate;
mod clients;
mod failure;

use super::error_response;
use super::rate_limits;
use super::response::{HttpResponse, beginning};
use crate::judge::call::{CallError, FailureCause};
use clients::HttpClients;
pub(crate) use failure::REDIRECT_REMEDY;
use failure::{broken, cut_off, redirected, timed_out, too_long};
use jiff::Timestamp;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use reqwest::{Method, Url};
use std::sync::Arc;
use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    pub connect: Duration,
    /// For the first byte of a response; reasoning models take minutes.
    pub first_byte: Duration,
    pub whole: Duration,
    /// Maximum number of bytes of a response.
    pub reply_bytes: usize,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(300),
            whole: Duration::from_secs(600),
            reply_bytes: 4 << 20,
        }
    }
}

/// The clients; clones share connections. They are initialized by the first call.
#[derive(Clone, Debug)]
pub struct Http {
    clients: Arc<HttpClients>,
    timeouts: Timeouts,
}

impl Http {
    /// Clients with these timeouts.
    pub fn new(timeouts: Timeouts) -> Self {
        Self {
            clients: Arc::default(),
            timeouts,
        }
    }

    /// The same clients with other timeouts.
    #[must_use]
    pub fn with_timeouts(&self, timeouts: Timeouts) -> Self {
        Self {
            clients: Arc::clone(&self.clients),
            timeouts,
        }
    }

    pub fn timeouts(&self) -> Timeouts {
        self.timeouts
    }

    /// Makes a request and reads the whole response.
    pub(crate) async fn send(
        &self,
        method: Method,
        url: &Url,
        headers: HeaderMap,
        body: Option<Vec<u8>>,
    ) -> Result<HttpResponse, CallError> {
        let mut kept = Vec::new();
        let cap = self.timeouts.reply_bytes;
        let answer = self
            .stream(method, url, headers, body, &mut |_, chunk| {
                kept.extend_from_slice(chunk);
                kept.len() <= cap
            })
            .await;
        let mut received = match answer {
            Ok(received) => received,
            // Half a response may have been charged like a whole one.
            Err(error) if !kept.is_empty() => return Err(error.with_raw(beginning(&kept))),
            Err(error) => return Err(error),
        };
        received.body = kept;
        Ok(received)
    }

    /// Makes a request and passes the response body on in chunks; `each` gets the status with each
    /// chunk and returns whether to continue.
    pub(crate) async fn stream(
        &self,
        method: Method,
        url: &Url,
        headers: HeaderMap,
        body: Option<Vec<u8>>,
        each: &mut (dyn FnMut(u16, &[u8]) -> bool + Send),
    ) -> Result<HttpResponse, CallError> {
        let started = Instant::now();
        let Timeouts {
            first_byte, whole, ..
        } = self.timeouts;
        let client = self.clients.of(url, self.timeouts.connect)?;
        let bare = body.is_some() && !headers.contains_key(CONTENT_TYPE);
        let mut request = client.http.request(method, url.clone()).headers(headers);
        if bare {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        let sent = body.as_ref().map_or(0, Vec::len);
        if let Some(body) = body {
            request = request.body(body);
        }
        // Keep the response head beyond the timeout: once it has arrived, the call may be charged.
        let mut head = None;
        let mut bytes = 0;
        let answer = async {
            let answered = tokio::time::timeout(first_byte, request.send()).await;
            let mut response = answered
                .map_err(|_| timed_out(url, "no answer", first_byte))?
                .map_err(|error| broken(url, &error))?;
            let received = head.insert(HttpResponse {
                status: response.status().as_u16(),
                headers: std::mem::take(response.headers_mut()),
                sent,
                at: arrival_time(),
                ..HttpResponse::default()
            });
            if (300..400).contains(&received.status) {
                return Err(redirected(url, received));
            }
            while let Some(chunk) = response
                .chunk()
                .await
                .map_err(|error| cut_off(url, bytes, &error))?
            {
                bytes += chunk.len();
                if !each(received.status, &chunk) {
                    return Err(too_long(url, self.timeouts.reply_bytes));
                }
            }
            Ok(())
        };
        let result = tokio::time::timeout(whole, answer).await;
        let result = result.unwrap_or_else(|_| Err(timed_out(url, "no whole answer", whole)));
        let error = match (result, head) {
            (Ok(()), Some(mut received)) => {
                received.latency = started.elapsed();
                return Ok(received);
            }
            (Err(mut error), Some(head)) => {
                error.exchange.request_id = head.request_id();
                error.exchange.limits = rate_limits::read(&head);
                error_response::sent(error, &head)
            }
            (Err(error), None) => error,
            (Ok(()), None) => CallError::new(FailureCause::Connection, "no answer came"),
        };
        Err(with_latency(error, started.elapsed()))
    }
}

fn with_latency(mut error: CallError, latency: Duration) -> CallError {
    error.exchange.latency = latency;
    error
}

/// When an answer arrived, for a `Retry-After` that names a date.
#[expect(
    clippy::disallowed_methods,
    reason = "compared with dates in headers, not stored"
)]
fn arrival_time() -> Timestamp {
    Timestamp::now()
}
