//! The HTTP clients of a run, shared by all its judges: for the world and for this machine, and more than one where a
//! server lets only so many calls share a connection.

use super::failure::chain;
use crate::judge::call::{CallError, FailureCause};
use crate::judge::provider::address::is_loopback;
use reqwest::{Client, Url, redirect};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Calls that share one client. Over HTTP/2 they share one connection, and servers let about a hundred of them go on at
/// once; the others would wait in it, unseen.
const TOGETHER: usize = 90;
/// Clients of one kind at most.
const MOST: usize = 16;
/// How often a connection over HTTP/2 is asked whether it still stands, and how long it may take to say so.
const ASKED_EVERY: Duration = Duration::from_secs(30);
const SAYS_WITHIN: Duration = Duration::from_secs(20);

/// What makes clients differ.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ClientKey {
    /// For this machine: no proxy is to see a key that is only for loopback.
    local: bool,
    connect: Duration,
    /// The server, where its calls are counted; none where each has a connection of its own anyway.
    counted: Option<String>,
}

/// The clients made so far.
#[derive(Debug, Default)]
pub(super) struct HttpClients(Mutex<HashMap<ClientKey, Vec<SharedClient>>>);

#[derive(Clone, Debug)]
struct SharedClient {
    client: Client,
    calls: Arc<AtomicUsize>,
}

/// A client for one call, which counts as one of its calls until this is dropped.
#[derive(Debug)]
pub(super) struct LeasedClient {
    pub(super) http: Client,
    calls: Arc<AtomicUsize>,
}

impl Drop for LeasedClient {
    fn drop(&mut self) {
        self.calls.fetch_sub(1, Ordering::Relaxed);
    }
}

impl HttpClients {
    /// A client with room for one more call.
    pub(super) fn of(&self, url: &Url, connect: Duration) -> Result<LeasedClient, CallError> {
        let local = is_loopback(url);
        let kind = ClientKey {
            local,
            connect,
            counted: (url.scheme() == "https").then(|| url.authority().to_owned()),
        };
        let most = if kind.counted.is_some() { MOST } else { 1 };
        // Calls are counted under the lock, so that two that come together do not both take the last place.
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let made = all.entry(kind).or_default();
        let calls = |shared: &&SharedClient| shared.calls.load(Ordering::Relaxed);
        let free = made.iter().find(|shared| calls(shared) < TOGETHER);
        let found = match free.cloned() {
            Some(shared) => Some(shared),
            None if made.len() >= most => made.iter().min_by_key(calls).cloned(),
            None => None,
        };
        let shared = match found {
            Some(shared) => shared,
            None => {
                let client = build(connect, local)
                    .map_err(|words| CallError::new(FailureCause::BadRequest, words).stopping())?;
                let shared = SharedClient {
                    client,
                    calls: Arc::default(),
                };
                made.push(shared.clone());
                shared
            }
        };
        shared.calls.fetch_add(1, Ordering::Relaxed);
        Ok(LeasedClient {
            http: shared.client,
            calls: shared.calls,
        })
    }
}

fn build(connect: Duration, local: bool) -> Result<Client, String> {
    // Whoever installed a provider of cryptography first has the same right to it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .connect_timeout(connect)
        .pool_max_idle_per_host(usize::MAX)
        .http2_adaptive_window(true)
        .http2_keep_alive_interval(ASKED_EVERY)
        .http2_keep_alive_timeout(SAYS_WITHIN)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_to_one_server_are_spread_over_clients_and_others_are_not() {
        let clients = HttpClients::default();
        let connect = Duration::from_secs(1);
        let lend = |url: &str| clients.of(&Url::parse(url).unwrap(), connect).unwrap();
        let made = || {
            let all = clients.0.lock().unwrap();
            let mut made: Vec<usize> = all.values().map(Vec::len).collect();
            made.sort_unstable();
            made
        };
        let lent: Vec<LeasedClient> = (0..450)
            .map(|_| lend("https://api.example.com/v1"))
            .collect();
        assert_eq!(made(), [5]);
        drop(lent);
        let lent: Vec<LeasedClient> = (0..450)
            .map(|_| lend("https://api.example.com/v1"))
            .collect();
        assert_eq!(made(), [5], "the same ones again");
        let local: Vec<LeasedClient> = (0..450).map(|_| lend("http://127.0.0.1:1/v1")).collect();
        assert_eq!(made(), [1, 5]);
        drop((lent, local));
    }
}
