//! Ways to fail.

use super::Recorded;
use super::answer::hash;
use super::wire::{self, Dialect};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::Response;
use hyper::body::{Bytes, Frame};
use serde_json::{Value, json};
use std::io::Error;

pub(crate) type Out = BoxBody<Bytes, Error>;

/// One way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// 429, to be tried again in 20 ms.
    RateLimited,
    /// 429, to be tried again in a second.
    RateLimited1s,
    /// 429, to be tried again in so many milliseconds.
    RateLimitedFor(u32),
    /// 429 that does not say when.
    RateLimitedBare,
    /// 429 that will not pass.
    Quota,
    Unauthorized,
    /// 400 for no reason that is known.
    BadRequest,
    UnknownModel,
    Server500,
    Unavailable503,
    Overloaded529,
    /// The connection ends without an answer.
    Reset,
    /// No answer ever comes.
    Hang,
    /// Half an answer comes, and no more.
    Slow,
    /// Half an answer comes, and the connection ends.
    CutBody,
    /// The answer's own JSON is cut.
    CutJson,
    /// HTML under a status of success.
    WrongType,
    /// Ten megabytes.
    Huge,
    /// The model's JSON is cut though it says that it is done.
    CutText,
    /// The model was cut off by the cap.
    Length,
    Prose,
    /// The model answers with this text.
    Says(&'static str),
    OutOfRange,
    Empty,
    Refusal,
    Filtered,
    /// A good answer that does not say what it used.
    NoUsage,
    /// A good answer that used less than nothing.
    NegativeUsage,
    /// A good answer that used more than a counter holds.
    AbsurdUsage,
    /// A good answer after which one is to wait for longer than a clock can tell.
    HugeRetryAfter,
    /// A good answer that repeats the key of the request wherever there is text.
    KeyEcho,
}

/// What the server makes of a call before it sends it, or part of it.
pub(super) struct Answer {
    /// `None` where none ever comes; an error ends the connection.
    pub(super) response: Option<Result<Response<Out>, Error>>,
    /// Input and output tokens, where an answer was computed.
    pub(super) tokens: Option<(u64, u64)>,
}

impl Answer {
    pub(super) fn status(&self) -> Option<u16> {
        let response = self.response.as_ref()?.as_ref().ok()?;
        Some(response.status().as_u16())
    }

    /// An error that costs nothing.
    pub(super) fn refusal(status: u16, body: &Value) -> Self {
        Self::free(whole(status, body))
    }

    fn free(response: Response<Out>) -> Self {
        Self {
            response: Some(Ok(response)),
            tokens: None,
        }
    }

    /// A whole answer; one that succeeds is charged for what it says it used.
    pub(super) fn charged(status: u16, body: &Value) -> Self {
        Self {
            response: Some(Ok(whole(status, body))),
            tokens: wire::counted(body).filter(|_| status == 200),
        }
    }
}

/// Faults by chance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Faults {
    pub(crate) seed: u64,
    /// How likely each is, of all calls.
    pub(crate) rates: Vec<(Fault, f64)>,
    /// These models always fail like this.
    pub(crate) doomed: Vec<(String, Fault)>,
}

impl Faults {
    /// The fault of one attempt at one case, whatever came before.
    pub(super) fn pick(&self, model: &str, case: &str, attempt: usize) -> Option<Fault> {
        if let Some((_, fault)) = self.doomed.iter().find(|(doomed, _)| doomed == model) {
            return Some(*fault);
        }
        let digest = hash(&[&self.seed.to_string(), model, case, &attempt.to_string()]);
        let dice = u32::from_le_bytes(digest[..4].try_into().unwrap());
        let mut dice = f64::from(dice) / f64::from(u32::MAX);
        for (fault, rate) in &self.rates {
            dice -= rate;
            if dice < 0.0 {
                return Some(*fault);
            }
        }
        None
    }
}

/// An answer of JSON.
pub(crate) fn whole(status: u16, body: &Value) -> Response<Out> {
    build(
        status,
        "application/json",
        &[],
        full(body.to_string().into()),
    )
}

pub(super) fn full(bytes: Bytes) -> Out {
    BodyExt::boxed(Full::new(bytes).map_err(|never| match never {}))
}

fn pieces(pieces: impl stream::Stream<Item = Result<Bytes, Error>> + Send + Sync + 'static) -> Out {
    BodyExt::boxed(StreamBody::new(pieces.map_ok(Frame::data)))
}

fn build(status: u16, kind: &str, headers: &[(&str, &str)], body: Out) -> Response<Out> {
    let mut builder = Response::builder()
        .status(status)
        .header("content-type", kind)
        .header("x-request-id", "req-fake");
    for (name, value) in headers {
        builder = builder.header(*name, *value);
    }
    builder.body(body).unwrap()
}

/// The answer of a call that fails, or that succeeds in a strange way.
pub(super) fn answer(fault: Fault, dialect: Dialect, recorded: &Recorded) -> Answer {
    let kind = "application/json";
    let error = |status: u16, kind: &str, message: &str| {
        Answer::refusal(status, &dialect.error(status, kind, message))
    };
    let later = |seconds: &str| {
        let limit = dialect.error(429, dialect.rate_limit(), "slow down");
        let mut response = whole(429, &limit);
        let seconds = seconds.parse().unwrap();
        response.headers_mut().insert("retry-after", seconds);
        Answer::free(response)
    };
    let text =
        |text: &str, stop: &str| Answer::charged(200, &wire::reply(dialect, recorded, text, stop));
    let good = || wire::good_text(dialect, recorded);
    let done = dialect.stop();
    let reply = || wire::reply(dialect, recorded, &good(), done);
    // Computed and charged, though this is what comes of it.
    let instead = |body: &Value, response: Response<Out>| Answer {
        response: Some(Ok(response)),
        tokens: wire::counted(body),
    };
    let half = |body: &Value| {
        let body = body.to_string();
        Bytes::copy_from_slice(&body.as_bytes()[..body.len() / 2])
    };
    match fault {
        Fault::RateLimited => later("0.02"),
        Fault::RateLimited1s => later("1"),
        Fault::RateLimitedFor(ms) => later(&(f64::from(ms) / 1e3).to_string()),
        Fault::RateLimitedBare => error(429, dialect.rate_limit(), "slow down"),
        Fault::Quota => Answer::refusal(429, &dialect.quota()),
        Fault::Unauthorized => error(401, "authentication_error", "no such key"),
        Fault::BadRequest => error(400, "invalid_request_error", "this will not do"),
        Fault::UnknownModel => error(404, "not_found_error", "no such model"),
        Fault::Server500 => error(500, "server_error", "something broke"),
        Fault::Unavailable503 => error(503, "server_error", "not now"),
        Fault::Overloaded529 => error(529, "overloaded_error", "overloaded"),
        Fault::Reset => Answer {
            response: Some(Err(Error::other("reset"))),
            tokens: None,
        },
        Fault::Hang => Answer {
            response: None,
            tokens: None,
        },
        Fault::Slow => {
            let body = reply();
            let sent = stream::iter([Ok(half(&body))]).chain(stream::pending());
            instead(&body, build(200, kind, &[], pieces(sent)))
        }
        Fault::CutBody => {
            let body = reply();
            let sent = stream::iter([Ok(half(&body)), Err(Error::other("cut"))]);
            let length = [("content-length", "1000000")];
            instead(&body, build(200, kind, &length, pieces(sent)))
        }
        Fault::CutJson => {
            let body = reply();
            instead(&body, build(200, kind, &[], full(half(&body))))
        }
        Fault::WrongType => {
            let page = Bytes::from_static(b"<html>Welcome to the hotel's network</html>");
            Answer::free(build(200, "text/html", &[], full(page)))
        }
        Fault::Huge => {
            let body = stream::iter((0..160).map(|_| Ok(Bytes::from_static(&[b' '; 65_536]))));
            Answer::free(build(200, kind, &[], pieces(body)))
        }
        Fault::CutText => {
            let whole_text = good();
            text(&whole_text[..whole_text.len().saturating_sub(3)], done)
        }
        Fault::Length => text("{\"thoughts\": [\"A s", dialect.length()),
        Fault::Prose => text("Document B is better, about 0.7 I would say.", done),
        Fault::Says(words) => text(words, done),
        Fault::OutOfRange => text(&json!({"thoughts": ["x"], "score": 85}).to_string(), done),
        Fault::Empty => text("", done),
        Fault::Refusal => Answer::charged(200, &dialect.refusal(recorded)),
        Fault::Filtered => Answer::charged(dialect.filter_status(), &dialect.filtered(recorded)),
        Fault::NoUsage => {
            let (body, mut told) = (reply(), reply());
            if let Some(told) = told.as_object_mut() {
                wire::USAGE
                    .iter()
                    .for_each(|name| drop(told.shift_remove(*name)));
            }
            instead(&body, whole(200, &told))
        }
        Fault::NegativeUsage => {
            let body = reply();
            let negative = |count: &Value| json!(-count.as_i64().unwrap_or(1));
            instead(&body, whole(200, &wire::recounted(&body, &negative)))
        }
        Fault::AbsurdUsage => {
            let body = reply();
            // Alternately beyond every integer and just beyond a signed one.
            let absurd = |count: &Value| match count.as_i64() {
                Some(odd) if odd % 2 == 1 => json!(1e19),
                _ => json!(i64::MAX as u64 + 1),
            };
            instead(&body, whole(200, &wire::recounted(&body, &absurd)))
        }
        Fault::HugeRetryAfter => {
            let body = reply();
            let headers = [
                ("retry-after", "9223372036854775807"),
                ("x-ratelimit-remaining-tokens", "0"),
                ("x-ratelimit-reset-tokens", "1e19"),
                ("x-ratelimit-reset-requests", "1e19s"),
            ];
            let response = build(200, kind, &headers, full(body.to_string().into()));
            instead(&body, response)
        }
        Fault::KeyEcho => {
            let key = wire::key(recorded).unwrap_or_default();
            let mut body = wire::reply(dialect, recorded, &wire::echoing(&good(), &key), done);
            for name in ["id", "model", "modelVersion", "responseId"] {
                if body.get(name).is_some() {
                    body[name] = json!(key);
                }
            }
            let headers = [("x-request-id", key.as_str()), ("request-id", key.as_str())];
            let bytes = full(body.to_string().into());
            let mut response = build(200, kind, &[], bytes);
            for (name, value) in headers {
                response.headers_mut().insert(name, value.parse().unwrap());
            }
            instead(&body, response)
        }
    }
}
