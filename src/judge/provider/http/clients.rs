//! The HTTP clients of a run, shared by all its judges: separate ones for remote servers and for
//! this machine, and several for servers that limit the calls per connection.

use super::failure::chain;
use crate::judge::call::{CallError, FailureCause};
use crate::judge::provider::address::is_loopback;
use reqwest::{Client, Url, redirect};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Number of calls that share one client. Over HTTP/2 they share one connection, and servers
/// process about a hundred of them at once; further ones would silently queue in the connection.
const TOGETHER: usize = 90;
/// Maximum number of clients of one kind.
const MOST: usize = 16;
/// How often an HTTP/2 connection is checked for being alive, and how long the answer may take.
const ASKED_EVERY: Duration = Duration::from_secs(30);
const SAYS_WITHIN: Duration = Duration::from_secs(20);

/// The properties that distinguish clients.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ClientKey {
    /// For this machine: no proxy may see a key that is only for loopback.
    local: bool,
    connect: Duration,
    /// The server, if its calls are counted; `None` if each call has its own connection anyway.
    counted: Option<String>,
}

/// The clients created so far.
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
    /// A client with capacity for one more call.
    pub(super) fn of(&self, url: &Url, connect: Duration) -> Result<LeasedClient, CallError> {
        let local = is_loopback(url);
        let kind = ClientKey {
            local,
            connect,
            counted: (url.scheme() == "https").then(|| url.authority().to_owned()),
        };
        let most = if kind.counted.is_some() { MOST } else { 1 };
        // Count calls under the lock, so that two concurrent calls do not both take the last slot.
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
                let client = build(connect, local).map_err(|error| {
                    let message = format!("no HTTP client: {}", chain(&error));
                    CallError::new(FailureCause::BadRequest, message).stopping()
                })?;
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

fn build(connect: Duration, local: bool) -> reqwest::Result<Client> {
    // It is fine if another crypto provider was installed first.
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
    builder.build()
}

/// Follows redirects only on the same server, because the key belongs to it, and only those that
/// preserve the whole request.
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
