//! Turns error responses into failures: the cause, whether to retry, whether the judge stops, and a
//! remedy.

use super::complaint::Complaint;
pub(crate) use super::error_body::ErrorBody;
use super::rate_limits;
use super::response::{HttpResponse, beginning};
use super::settings::JudgeSettings;
use crate::domain::caught_panic::catch_panic;
use crate::judge::call::{CallError, FailureCause, Retry};
use serde_json::Value;

/// Words of a refusal that concerns the caller rather than the texts.
const ABOUT_ACCESS: &[&str] = &[
    "key",
    "permi",
    "auth",
    "forbid",
    "denied",
    "access",
    "allow",
    "token",
    "credential",
    "country",
    "region",
    "location",
    "territory",
    "subscri",
    "plan",
    "project",
    "organi",
    "account",
    "model",
    "enabled",
];

/// The failure for a response with an error status.
pub(crate) fn from_response(settings: &JudgeSettings, received: &HttpResponse) -> CallError {
    let body = ErrorBody::read(&received.body);
    let error = classify(settings, Some(received.status), &body);
    with_wait(with_response(error, received), &body, received)
}

/// The failure that a response with a success status reports instead of an answer. The status in
/// the error takes precedence.
pub(crate) fn inner(
    settings: &JudgeSettings,
    value: &Value,
    received: &HttpResponse,
) -> Option<CallError> {
    let is_error = |error: &&Value| match error {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => true,
    };
    let failed = |status: &&Value| status.as_i64().is_some_and(|status| status != 0);
    value
        .get("error")
        .filter(is_error)
        .or_else(|| value.pointer("/base_resp/status_code").filter(failed))?;
    let body = ErrorBody::of(value);
    let mut error = classify(settings, body.status(), &body);
    error = with_wait(with_response(error, received), &body, received);
    error.exchange.status = Some(body.status().unwrap_or(502));
    Some(error)
}

/// Adds the wait that the server requests in its headers, in the details of the error or in its
/// message.
fn with_wait(mut error: CallError, body: &ErrorBody, received: &HttpResponse) -> CallError {
    let mut limits = rate_limits::read(received);
    match received.header("x-should-retry") {
        Some("false") => error.retry = Retry::Never,
        Some("true") if !error.stops_judge => error.retry = Retry::After(None),
        _ => {}
    }
    if let Retry::After(wait) = &mut error.retry {
        let delay = body.delay.as_deref();
        limits.retry_after = limits
            .retry_after
            .or_else(|| rate_limits::until(delay?, received.at))
            .or_else(|| rate_limits::told(&body.words()));
        *wait = limits.retry_after;
    }
    error.exchange.limits = limits;
    error.with_raw(beginning(&received.body))
}

/// The failure for an error body; `status` is the HTTP status, or `None` if unknown.
pub(crate) fn classify(
    settings: &JudgeSettings,
    status: Option<u16>,
    body: &ErrorBody,
) -> CallError {
    use FailureCause::{
        BadRequest, Filtered, QuotaExhausted, RateLimited, Server, TimedOut, TooLong, Truncated,
        Unauthorized,
    };
    let said = body.shown();
    let key = match settings.key_env.as_str() {
        "" => "the key",
        name => name,
    };
    let provider = &settings.spec.provider;
    let model = &settings.spec.model;
    let error = |cause, text: String| CallError::new(cause, text);
    let no_money = || {
        let place = &settings.account;
        let text = format!("{said}; add credit or raise the limit {place}, then continue");
        error(QuotaExhausted, text).stopping()
    };
    let unknown = |status: u16| {
        let advice = "if `overrule doctor` reports it too, correct the judge in overrule.toml";
        error(BadRequest, format!("status {status}: {said}; {advice}"))
    };
    let of_judge = |advice: String| error(BadRequest, format!("{said}; {advice}")).stopping();
    match Complaint::of(settings, status.unwrap_or(400), body) {
        Complaint::NoMoney => return no_money(),
        Complaint::NoQuota => {
            let advice = "the quota is used up: continue when it is renewed, or raise it";
            return error(QuotaExhausted, format!("{said}; {advice}")).stopping();
        }
        Complaint::Account => {
            let text = format!("{said}; check the account at {provider}");
            return error(Unauthorized, text).stopping();
        }
        Complaint::Key => {
            return error(Unauthorized, format!("{said}; check {key}")).stopping();
        }
        Complaint::Content => {
            let text = format!("the provider's filter withheld the answer: {said}");
            return error(Filtered, text);
        }
        Complaint::CutOff => {
            let cap = settings.cap;
            return error(
                Truncated,
                format!("{said}; raise max_output_tokens, now {cap}"),
            );
        }
        Complaint::CapTooLarge => {
            let cap = settings.cap;
            return of_judge(format!("lower max_output_tokens, now {cap}"));
        }
        Complaint::NoRoom => {
            let cap = settings.cap;
            return of_judge(format!(
                "max_output_tokens ({cap}) fills the whole context and leaves no room for a \
                 prompt: lower it, or serve the \
                 model with a longer context"
            ));
        }
        Complaint::TooLong { with_cap } => {
            let advice = if with_cap {
                format!(
                    "the prompt and max_output_tokens ({}) do not fit together: lower \
                     max_document_chars or max_output_tokens",
                    settings.cap
                )
            } else {
                "the prompt does not fit: lower max_document_chars".to_owned()
            };
            return error(TooLong, format!("{said}; {advice}"));
        }
        Complaint::Model => return of_judge(format!("check the model {model:?}")),
        Complaint::Parameter(own) => {
            return of_judge(match own {
                Some(name) => format!("take {name:?} out of the judge's params"),
                None => "take it out of the judge's params".to_owned(),
            });
        }
        Complaint::Other => {}
    }
    let Some(status) = status else {
        return error(Server, said);
    };
    match status {
        400 if body.kind == "FAILED_PRECONDITION" => {
            let advice = "check the account's region and billing";
            error(Unauthorized, format!("{said}; {advice}")).stopping()
        }
        // A refusal that does not mention access may concern the texts, like the page of a
        // firewall.
        403 if !body.is_json || !(body.says(ABOUT_ACCESS) || body.is_silent()) => unknown(403),
        401 | 403 | 407 => error(
            Unauthorized,
            format!("{said}; check {key} and what it may do"),
        )
        .stopping(),
        402 => no_money(),
        404 | 405 | 410 => of_judge(format!("check the model {model:?} and base_url")),
        408 => error(TimedOut, said),
        409 => error(Server, said),
        429 => error(RateLimited, said),
        503 if body.says(&["no provider", "no allowed providers"]) => {
            of_judge("loosen the judge's params".to_owned())
        }
        500..=599 => error(Server, format!("status {status}: {said}")),
        _ => unknown(status),
    }
}

/// A failure found in a response, whose request was sent and may be charged.
pub(crate) fn sent(mut error: CallError, received: &HttpResponse) -> CallError {
    error.exchange.sent = true;
    error.exchange.status.get_or_insert(received.status);
    error
}

/// Runs `read` on a response. The response may have been paid for, so even after a panic its
/// beginning is kept.
pub(crate) fn guarded<T>(
    received: &HttpResponse,
    read: impl FnOnce() -> Result<T, CallError>,
) -> Result<T, CallError> {
    let read = catch_panic(read).unwrap_or_else(|panic| Err(crashed(received, &panic.0)));
    read.map_err(|error| sent(error, received))
}

/// A failure with the known data of its response.
pub(crate) fn with_response(mut error: CallError, received: &HttpResponse) -> CallError {
    error.exchange.status = Some(received.status);
    error.exchange.request_id = received.request_id();
    error.exchange.latency = received.latency;
    sent(error, received)
}

/// The failure with the command that downloads a missing model, if Ollama does not have it.
pub(crate) fn with_pull(settings: &JudgeSettings, mut error: CallError) -> CallError {
    if error.exchange.status == Some(404) {
        let model = &settings.spec.model;
        error.message = format!("{}; run: ollama pull {model}", error.message);
    }
    error
}

/// The failure if our own code panicked on a response; the whole response is kept.
fn crashed(received: &HttpResponse, panic: &str) -> CallError {
    let message = format!("reading the answer panicked: {panic}");
    let error = CallError::new(FailureCause::Crashed, message);
    with_response(error, received).with_raw(beginning(&received.body))
}

/// The failure for a successful response that contains no reply: it may have been paid for, and is
/// retried once.
pub(crate) fn not_json(received: &HttpResponse) -> CallError {
    let json = serde_json::from_slice::<serde::de::IgnoredAny>(&received.body).is_ok();
    let what = match received.header("content-type") {
        _ if json => "JSON without a reply".to_owned(),
        kind => format!("{} that is not JSON", kind.unwrap_or("something")),
    };
    let message = format!("the server answered {what}; check base_url if this continues");
    let mut error = CallError::new(FailureCause::Malformed, message);
    error.no_answer = true;
    error.exchange.limits = rate_limits::read(received);
    with_response(error, received).with_raw(beginning(&received.body))
}

/// The failure for a successful response that is not a reply: the error that it reports, if any.
pub(crate) fn no_reply(settings: &JudgeSettings, received: &HttpResponse) -> CallError {
    let value = serde_json::from_slice(&received.body).unwrap_or_default();
    inner(settings, &value, received).unwrap_or_else(|| not_json(received))
}

/// The JSON of a successful response, or the failure. Some servers report errors with a success
/// status.
pub(crate) fn json(settings: &JudgeSettings, received: &HttpResponse) -> Result<Value, CallError> {
    if !received.is_ok() {
        return Err(from_response(settings, received));
    }
    let value = serde_json::from_slice(&received.body).map_err(|_| not_json(received))?;
    match inner(settings, &value, received) {
        Some(error) => Err(error),
        None => Ok(value),
    }
}
