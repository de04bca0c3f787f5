//! What an answer that is no reply means, in one table for all providers: cause, whether to try again, whether the
//! judge is to stop, and the remedy in words.

use super::rate_limits::{self, until};
use super::response::{HttpResponse, beginning};
use super::settings::JudgeSettings;
use crate::judge::call::{CallError, FailureCause, Retry, catch_panic};
use serde_json::Value;

/// The most characters of a server's own words that are repeated.
const SHOWN: usize = 300;

/// Codes and types that mean that no money or quota is left.
const EXHAUSTED: &[&str] = &[
    "insufficient_quota",
    "credit_balance_exhausted",
    "organization_spend_limit_exceeded",
    "project_spend_limit_exceeded",
    "organization_usage_limit_exceeded",
    "contract_spend_limit_reached",
    "enforced_spend_limit_reached",
    "linked_organization_spend_limit_reached",
    "billing_unavailable",
    "billing_error",
    "organization_on_hold",
];

/// Words of a message that mean the same, in lower case.
const EXHAUSTED_WORDS: &[&str] = &[
    "spend limit",
    "spending limit",
    "credit balance",
    "prepaid credits",
    "prepayment credits",
    "insufficient balance",
    "billing account",
];

/// Codes of a request that no case would make right.
const UNKNOWN_PARAMETER: &[&str] = &[
    "unsupported_parameter",
    "unsupported_value",
    "unknown_parameter",
    "invalid_json_schema",
];

/// An error body in any of the shapes that occur.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ErrorBody {
    pub message: String,
    /// `type` or `status`.
    pub kind: String,
    /// `code`, `details.error_code` or the reason in Google's details.
    pub code: String,
    pub param: String,
    /// Google's `retryDelay`.
    delay: Option<String>,
    /// Google's quota ids.
    quota: String,
}

impl ErrorBody {
    pub(crate) fn read(body: &[u8]) -> Self {
        match serde_json::from_slice::<Value>(body) {
            Ok(value) => Self::of(&value),
            Err(_) => Self {
                message: String::from_utf8_lossy(&body[..body.len().min(4 * SHOWN)]).into_owned(),
                ..Self::default()
            },
        }
    }

    pub(crate) fn of(value: &Value) -> Self {
        let value = value.get(0).unwrap_or(value);
        let error = value
            .get("error")
            .filter(|error| !error.is_null())
            .unwrap_or(value);
        let field = |name: &str| match error.get(name) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => String::new(),
        };
        let mut complaint = Self {
            message: match error {
                Value::String(text) => text.clone(),
                _ => field("message"),
            },
            kind: [field("type"), field("status")]
                .into_iter()
                .find(|text| !text.is_empty())
                .unwrap_or_default(),
            code: field("code"),
            param: field("param"),
            ..Self::default()
        };
        if complaint.message.is_empty() {
            complaint.message = value
                .get("detail")
                .map(|detail| {
                    detail
                        .as_str()
                        .map_or_else(|| detail.to_string(), str::to_owned)
                })
                .unwrap_or_default();
        }
        match error.get("details") {
            Some(Value::Array(details)) => {
                details.iter().for_each(|detail| complaint.google(detail))
            }
            Some(details) => {
                if let Some(code) = details.get("error_code").and_then(Value::as_str) {
                    complaint.code = code.to_owned();
                }
            }
            None => {}
        }
        complaint
    }

    fn google(&mut self, detail: &Value) {
        if let Some(reason) = detail.get("reason").and_then(Value::as_str) {
            self.code = reason.to_owned();
        }
        if let Some(delay) = detail.get("retryDelay").and_then(Value::as_str) {
            self.delay = Some(delay.to_owned());
        }
        let violations = detail.get("violations").and_then(Value::as_array);
        for violation in violations.into_iter().flatten() {
            if let Some(id) = violation.get("quotaId").and_then(Value::as_str) {
                self.quota.push_str(id);
                self.quota.push(' ');
            }
        }
    }

    fn is(&self, names: &[&str]) -> bool {
        names.contains(&self.code.as_str()) || names.contains(&self.kind.as_str())
    }

    fn says(&self, words: &[&str]) -> bool {
        let message = self.message.to_lowercase();
        words.iter().any(|words| message.contains(words))
    }

    fn shown(&self) -> String {
        let text: String = self
            .message
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        let mut shown: String = text
            .chars()
            .filter(|c| !c.is_control())
            .take(SHOWN)
            .collect();
        if shown.is_empty() {
            shown = [self.code.as_str(), &self.kind]
                .into_iter()
                .find(|text| !text.is_empty())
                .unwrap_or("no reason given")
                .to_owned();
        }
        shown
    }
}

/// The failure in an answer whose status is no success.
pub(crate) fn from_response(settings: &JudgeSettings, received: &HttpResponse) -> CallError {
    let complaint = ErrorBody::read(&received.body);
    let mut error = classify(settings, received.status, &complaint);
    let limits = rate_limits::read(received);
    let delay = complaint
        .delay
        .as_deref()
        .and_then(|delay| until(delay, received.at));
    match received.header("x-should-retry") {
        Some("false") => error.retry = Retry::Never,
        Some("true") if !error.stops_judge => error.retry = Retry::After(None),
        _ => {}
    }
    if let Retry::After(wait) = &mut error.retry {
        *wait = limits.retry_after.or(delay);
    }
    error.exchange.limits = limits;
    with_response(error, received).with_raw(beginning(&received.body))
}

/// The failure that a status and a complaint amount to.
pub(crate) fn classify(settings: &JudgeSettings, status: u16, complaint: &ErrorBody) -> CallError {
    let said = complaint.shown();
    let model = &settings.spec.model;
    let key = if settings.key_env.is_empty() {
        "the key"
    } else {
        &settings.key_env
    };
    let error = |cause, text: String| CallError::new(cause, text);
    let no_money = || {
        error(
            FailureCause::QuotaExhausted,
            format!(
                "{said}; add credit or raise the limit at {}, then go on",
                settings.spec.provider
            ),
        )
        .stopping()
    };
    let filtered = complaint.is(&["content_filter", "ResponsibleAIPolicyViolation"])
        || complaint.says(&["content management policy"]);
    if complaint.is(EXHAUSTED)
        || complaint.says(EXHAUSTED_WORDS) && matches!(status, 400 | 402 | 403 | 429)
    {
        return no_money();
    }
    match status {
        400 if complaint.is(&["API_KEY_INVALID"]) || complaint.says(&["api key not valid"]) => {
            error(FailureCause::Unauthorised, format!("{said}; check {key}")).stopping()
        }
        400 if complaint.kind == "FAILED_PRECONDITION" => error(
            FailureCause::Unauthorised,
            format!("{said}; check the account's region and billing"),
        )
        .stopping(),
        400 | 403 if filtered => error(
            FailureCause::Filtered,
            format!("the provider's filter withheld the answer: {said}"),
        ),
        403 if complaint.says(&["moderation", "flagged"]) => error(FailureCause::Filtered, said),
        400 | 413 | 422 if too_long(complaint) => error(
            FailureCause::BadRequest,
            format!("{said}; the prompt does not fit: lower max_document_chars"),
        ),
        400 | 422 if complaint.is(UNKNOWN_PARAMETER) => error(
            FailureCause::BadRequest,
            format!("{said}; take it out of the judge's params"),
        )
        .stopping(),
        401 | 403 | 407 => error(
            FailureCause::Unauthorised,
            format!("{said}; check {key} and what it may do"),
        )
        .stopping(),
        402 => no_money(),
        404 => error(
            FailureCause::BadRequest,
            format!("{said}; check the model {model:?} and base_url"),
        )
        .stopping(),
        408 => error(FailureCause::TimedOut, said),
        409 => error(FailureCause::Server, said),
        429 if complaint.quota.contains("PerDay") => error(
            FailureCause::QuotaExhausted,
            format!("{said}; the quota of the day is used up: go on tomorrow or raise it"),
        )
        .stopping(),
        429 if complaint.says(&["request too large"]) => error(
            FailureCause::BadRequest,
            format!(
                "{said}; one call is larger than the limit of a minute: lower max_document_chars"
            ),
        ),
        429 => error(FailureCause::RateLimited, said),
        503 if complaint.says(&["no provider", "no allowed providers"]) => error(
            FailureCause::BadRequest,
            format!("{said}; loosen the judge's params"),
        )
        .stopping(),
        500..=599 => error(FailureCause::Server, format!("status {status}: {said}")),
        _ => error(FailureCause::BadRequest, format!("status {status}: {said}")),
    }
}

fn too_long(complaint: &ErrorBody) -> bool {
    complaint.is(&[
        "context_length_exceeded",
        "request_too_large",
        "exceed_context_size_error",
    ]) || complaint.says(&[
        "context size",
        "context length",
        "context window",
        "prompt is too long",
        "too many tokens",
        "maximum context",
        "input length exceeds",
    ])
}

/// A failure in an answer, which has been sent for and may be charged.
pub(crate) fn sent(mut error: CallError, received: &HttpResponse) -> CallError {
    error.exchange.sent = true;
    error.exchange.status.get_or_insert(received.status);
    error
}

/// What `read` makes of an answer. It may have been paid for, so that even a panic over it keeps its beginning.
pub(crate) fn guarded<T>(
    received: &HttpResponse,
    read: impl FnOnce() -> Result<T, CallError>,
) -> Result<T, CallError> {
    let read = catch_panic(read).unwrap_or_else(|panic| Err(crashed(received, &panic)));
    read.map_err(|error| sent(error, received))
}

/// A failure with what is known of the answer that it was found in.
pub(crate) fn with_response(mut error: CallError, received: &HttpResponse) -> CallError {
    error.exchange.status = Some(received.status);
    error.exchange.request_id = received.request_id();
    error.exchange.latency = received.latency;
    sent(error, received)
}

/// The failure with the command that gets a missing model, where Ollama does not know it.
pub(crate) fn with_pull(settings: &JudgeSettings, mut error: CallError) -> CallError {
    if error.exchange.status == Some(404) {
        let model = &settings.spec.model;
        error.message = format!("{}; run: ollama pull {model}", error.message);
    }
    error
}

/// The failure of an answer over which our own program panicked: everything that came is kept.
fn crashed(received: &HttpResponse, panic: &str) -> CallError {
    let message = format!("reading the answer panicked: {panic}");
    let error = CallError::new(FailureCause::Crashed, message);
    with_response(error, received).with_raw(beginning(&received.body))
}

/// The failure of a success that holds no reply: it may have been paid for, and is asked once more.
pub(crate) fn not_json(received: &HttpResponse) -> CallError {
    let json = serde_json::from_slice::<serde::de::IgnoredAny>(&received.body).is_ok();
    let what = match received.header("content-type") {
        _ if json => "JSON that holds no reply".to_owned(),
        kind => format!("{} that is no JSON", kind.unwrap_or("something")),
    };
    let message = format!("the server answered {what}; check base_url if it goes on");
    let mut error = CallError::new(FailureCause::Malformed, message);
    error.no_answer = true;
    error.exchange.limits = rate_limits::read(received);
    with_response(error, received).with_raw(beginning(&received.body))
}

/// The JSON of a successful answer, or the failure.
pub(crate) fn json(settings: &JudgeSettings, received: &HttpResponse) -> Result<Value, CallError> {
    if !received.is_ok() {
        return Err(from_response(settings, received));
    }
    serde_json::from_slice(&received.body).map_err(|_| not_json(received))
}
