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
    /// 429 that does not say when.
    RateLimitedBare,
    /// 429 that will not pass.
    Quota,
    Unauthorised,
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
    OutOfRange,
    Empty,
    Refusal,
    Filtered,
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

/// The answer of a call that fails.
pub(super) async fn answer(
    fault: Fault,
    dialect: Dialect,
    recorded: &Recorded,
) -> Result<Response<Out>, Error> {
    let kind = "application/json";
    let error = |status: u16, kind: &str, message: &str| {
        whole(status, &dialect.error(status, kind, message))
    };
    let text = |text: &str, stop: &str| Ok(whole(200, &wire::reply(dialect, recorded, text, stop)));
    let good = || wire::good_text(dialect, recorded);
    let done = dialect.stop();
    let half = || {
        let body = wire::reply(dialect, recorded, &good(), done).to_string();
        Bytes::copy_from_slice(&body.as_bytes()[..body.len() / 2])
    };
    match fault {
        Fault::RateLimited => {
            let mut response = error(429, dialect.rate_limit(), "slow down");
            response
                .headers_mut()
                .insert("retry-after", "0.02".parse().unwrap());
            Ok(response)
        }
        Fault::RateLimitedBare => Ok(error(429, dialect.rate_limit(), "slow down")),
        Fault::Quota => Ok(whole(429, &dialect.quota())),
        Fault::Unauthorised => Ok(error(401, "authentication_error", "no such key")),
        Fault::BadRequest => Ok(error(400, "invalid_request_error", "this will not do")),
        Fault::UnknownModel => Ok(error(404, "not_found_error", "no such model")),
        Fault::Server500 => Ok(error(500, "server_error", "something broke")),
        Fault::Unavailable503 => Ok(error(503, "server_error", "not now")),
        Fault::Overloaded529 => Ok(error(529, "overloaded_error", "overloaded")),
        Fault::Reset => Err(Error::other("reset")),
        Fault::Hang => std::future::pending().await,
        Fault::Slow => {
            let body = stream::iter([Ok(half())]).chain(stream::pending());
            Ok(build(200, kind, &[], pieces(body)))
        }
        Fault::CutBody => {
            let body = stream::iter([Ok(half()), Err(Error::other("cut"))]);
            Ok(build(
                200,
                kind,
                &[("content-length", "1000000")],
                pieces(body),
            ))
        }
        Fault::CutJson => Ok(build(200, kind, &[], full(half()))),
        Fault::WrongType => {
            let page = Bytes::from_static(b"<html>Welcome to the hotel's network</html>");
            Ok(build(200, "text/html", &[], full(page)))
        }
        Fault::Huge => {
            let body = stream::iter((0..160).map(|_| Ok(Bytes::from_static(&[b' '; 65_536]))));
            Ok(build(200, kind, &[], pieces(body)))
        }
        Fault::CutText => {
            let whole_text = good();
            text(&whole_text[..whole_text.len() - 3], done)
        }
        Fault::Length => text("{\"thoughts\": [\"A s", dialect.length()),
        Fault::Prose => text("Document B is better, about 0.7 I would say.", done),
        Fault::OutOfRange => text(&json!({"thoughts": ["x"], "score": 85}).to_string(), done),
        Fault::Empty => text("", done),
        Fault::Refusal => Ok(whole(200, &dialect.refusal(recorded))),
        Fault::Filtered => Ok(whole(dialect.filter_status(), &dialect.filtered(recorded))),
    }
}
