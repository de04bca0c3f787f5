//! Failures of the connection: the cause in words, with a remedy if there is one.

use super::certificate;
use crate::judge::call::{CallError, FailureCause, Retry};
use crate::judge::provider::address::{is_loopback, place};
use crate::judge::provider::response::HttpResponse;
use reqwest::Url;
use std::error::Error as _;
use std::time::Duration;

pub(super) fn timed_out(url: &Url, what: &str, after: Duration) -> CallError {
    let seconds = after.as_secs_f64();
    let message = format!("{what} from {} within {seconds} s", place(url));
    let mut error = CallError::new(FailureCause::TimedOut, message);
    error.exchange.sent = true;
    error
}

/// A call that ended before any of its response arrived.
pub(super) fn broken(url: &Url, error: &reqwest::Error) -> CallError {
    if let Some(why) = certificate::distrusted(error) {
        return CallError::new(
            FailureCause::Connection,
            certificate::describe(&place(url), why),
        )
        .stopping();
    }
    if is_unreadable(error) {
        return unreadable(url, error);
    }
    let cause = if error.is_timeout() {
        FailureCause::TimedOut
    } else {
        FailureCause::Connection
    };
    let words = chain(error);
    let what = if error.is_connect() {
        "cannot connect to"
    } else {
        "the connection broke to"
    };
    let remedy = if error.is_connect() && is_loopback(url) {
        " (is the server running?)"
    } else {
        ""
    };
    let message = format!("{what} {}: {words}{remedy}", place(url));
    let mut told = CallError::new(cause, message);
    told.exchange.sent = !error.is_connect() && !error.is_builder();
    told
}

/// Whether the head of the response was too large to be read.
fn is_unreadable(error: &reqwest::Error) -> bool {
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    causes
        .filter_map(|cause| cause.downcast_ref::<hyper::Error>())
        .any(hyper::Error::is_parse_too_large)
}

/// A response with a head of thousands of lines. It has been paid for, and a retry would look the
/// same.
fn unreadable(url: &Url, error: &reqwest::Error) -> CallError {
    let (place, words) = (place(url), chain(error));
    let message = format!("the headers of the answer of {place} are too large to be read: {words}");
    let mut error = CallError::new(FailureCause::Connection, message);
    error.exchange.sent = true;
    error.retry = Retry::Never;
    error
}

/// A call whose response was cut off.
pub(super) fn cut_off(url: &Url, bytes: usize, error: &reqwest::Error) -> CallError {
    let (place, words) = (place(url), chain(error));
    let message = format!("the answer was cut off after {bytes} bytes from {place}: {words}");
    CallError::new(FailureCause::Connection, message)
}

/// The last cause, which is the most informative; none of them contains the URL.
pub(super) fn chain(error: &reqwest::Error) -> String {
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

/// The end of the message about a redirect: what to do about it in the configuration of a judge.
pub(crate) const REDIRECT_REMEDY: &str =
    ", which is not given the key; set base_url to the address meant";

pub(super) fn redirected(url: &Url, received: &HttpResponse) -> CallError {
    let target = received.header("location").and_then(|to| url.join(to).ok());
    let target = target.map_or_else(|| "nowhere".to_owned(), |target| place(&target));
    let mut error = CallError::new(
        FailureCause::BadRequest,
        format!("{} redirects to {target}{REDIRECT_REMEDY}", place(url)),
    );
    error.exchange.status = Some(received.status);
    error.stopping()
}

pub(super) fn too_long(url: &Url, cap: usize) -> CallError {
    let mut error = CallError::new(
        FailureCause::Malformed,
        format!("the reply of {} is longer than {cap} bytes", place(url)),
    );
    error.retry = Retry::Never;
    error
}
