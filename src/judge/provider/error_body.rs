//! Parses error bodies of all providers into one structure.

use serde_json::Value;

/// Maximum number of characters of a server's message to repeat.
const SHOWN: usize = 300;

/// Number of characters of a message that are searched. Some servers repeat the request, which may
/// contain anything; gateways put the provider's message, sometimes a whole body, after their own.
const SEARCHED: usize = 1_500;

/// An error body in any of the known formats.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ErrorBody {
    pub(crate) message: String,
    /// `type` or `status`.
    pub(crate) kind: String,
    /// `code`, `details.error_code` or the reason in Google's details.
    pub(crate) code: String,
    pub(crate) param: String,
    /// Google's `retryDelay`, or the `Retry-After` or reset of a provider that OpenRouter repeats.
    pub(crate) delay: Option<String>,
    /// Whether it is JSON, and therefore not a page from some other server.
    pub(crate) is_json: bool,
    /// Google's quota IDs, inner codes of Azure, reasons of a filter.
    details: String,
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
        let outer = ["error", "base_resp"]
            .iter()
            .find_map(|name| {
                value
                    .get(*name)
                    .filter(|error| !error.is_null() && !error.is_boolean())
            })
            .or_else(|| value.pointer("/errors/0"))
            .or_else(|| value.get("detail").filter(|detail| detail.is_object()))
            .unwrap_or(value);
        let error = outer
            .get("error")
            .filter(|inner| inner.is_object())
            .unwrap_or(outer);
        let field = |names: &[&str]| {
            let places = [error, value].into_iter();
            let mut found =
                places.flat_map(|place| names.iter().filter_map(|name| word(place.get(*name)?)));
            found.next().unwrap_or_default()
        };
        let message = word(error)
            .or_else(|| {
                let names = ["message", "status_msg", "msg", "error_msg", "error"];
                names.iter().find_map(|name| word(error.get(*name)?))
            })
            .or_else(|| value.get("detail").map(detail))
            .unwrap_or_default();
        let mut body = Self {
            message,
            kind: field(&["type", "status", "error_type"]),
            code: field(&["code", "status_code", "error_code"]),
            param: field(&["param"]),
            is_json: true,
            ..Self::default()
        };
        match error.get("details") {
            Some(Value::Array(details)) => details.iter().for_each(|detail| body.google(detail)),
            Some(details) => {
                if let Some(code) = details.get("error_code").and_then(Value::as_str) {
                    code.clone_into(&mut body.code);
                }
            }
            None => {}
        }
        if let Some(code) = error.pointer("/innererror/code").and_then(word) {
            body.add_detail(&code);
        }
        if let Some(metadata) = error.get("metadata") {
            body.openrouter(metadata);
        }
        body
    }

    fn google(&mut self, detail: &Value) {
        if let Some(reason) = detail.get("reason").and_then(Value::as_str) {
            reason.clone_into(&mut self.code);
        }
        if let Some(delay) = detail.get("retryDelay").and_then(Value::as_str) {
            self.delay = Some(delay.to_owned());
        }
        let violations = detail.get("violations").and_then(Value::as_array);
        for violation in violations.into_iter().flatten() {
            if let Some(id) = violation.get("quotaId").and_then(Value::as_str) {
                self.add_detail(id);
            }
        }
    }

    /// OpenRouter's own message is not informative; the provider's is in the metadata.
    fn openrouter(&mut self, metadata: &Value) {
        if let Some(raw) = metadata.get("raw").and_then(word) {
            let inner = Self::read(raw.as_bytes());
            let said = if inner.is_json { inner.shown() } else { raw };
            if !self.message.contains(&said) {
                self.message = match self.message.as_str() {
                    "" => said,
                    own => format!("{own}: {said}"),
                };
            }
            self.add_detail(&inner.kind);
            self.add_detail(&inner.code);
            self.delay = self.delay.take().or(inner.delay);
        }
        let headers = metadata.get("headers").and_then(Value::as_object);
        let header = |wanted: &str| {
            let mut headers = headers.into_iter().flatten();
            headers
                .find_map(|(name, value)| word(value).filter(|_| name.eq_ignore_ascii_case(wanted)))
        };
        self.delay = self
            .delay
            .take()
            .or_else(|| header("retry-after"))
            .or_else(|| header("x-ratelimit-reset"));
    }

    fn add_detail(&mut self, detail: &str) {
        self.details.push_str(detail);
        self.details.push(' ');
    }

    pub(crate) fn is(&self, names: &[&str]) -> bool {
        names.contains(&self.code.as_str()) || names.contains(&self.kind.as_str())
    }

    /// All of its text in lowercase, to be searched for words.
    pub(crate) fn words(&self) -> String {
        let message: String = self.message.chars().take(SEARCHED).collect();
        let Self {
            code,
            kind,
            details,
            ..
        } = self;
        format!("{message} {code} {kind} {details}").to_lowercase()
    }

    /// Whether it contains no information.
    pub(crate) fn is_silent(&self) -> bool {
        self.words().trim().is_empty()
    }

    /// Whether the message contains any of these (lowercase) words.
    pub(crate) fn says(&self, any: &[&str]) -> bool {
        let words = self.words();
        any.iter().any(|word| words.contains(word))
    }

    /// The HTTP status that it stands for, if it came with a success status.
    pub(crate) fn status(&self) -> Option<u16> {
        let own = |text: &str| {
            text.parse()
                .ok()
                .filter(|status| (400..=599).contains(status))
        };
        own(&self.code).or_else(|| own(&self.kind)).or_else(|| {
            const KINDS: &[(u16, &[&str])] = &[
                (
                    400,
                    &[
                        "invalid_request",
                        "invalid_argument",
                        "invalid_prompt",
                        "bad_request",
                    ],
                ),
                (
                    401,
                    &["authentication", "unauthenticated", "invalid_api_key"],
                ),
                (402, &["billing", "insufficient_"]),
                (403, &["permission"]),
                (404, &["not_found"]),
                (413, &["request_too_large"]),
                (
                    429,
                    &["rate_limit", "resource_exhausted", "too_many_requests"],
                ),
                (503, &["unavailable"]),
                (504, &["timeout", "deadline_exceeded"]),
                (529, &["overloaded"]),
            ];
            let names = format!("{} {}", self.kind, self.code).to_lowercase();
            let named =
                |(_, words): &&(u16, &[&str])| words.iter().any(|word| names.contains(word));
            KINDS.iter().find(named).map(|(status, _)| *status)
        })
    }

    /// The message on one line.
    pub(crate) fn shown(&self) -> String {
        // LiteLLM appends the model group and the fallbacks that it did not try.
        let words: Vec<_> = self
            .message
            .split("\n\nLiteLLM: ")
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .collect();
        let text = words.join(" ");
        let shown: String = text
            .chars()
            .filter(|c| !c.is_control())
            .take(SHOWN)
            .collect();
        [shown.as_str(), &self.code, &self.kind]
            .into_iter()
            .find(|text| !text.is_empty())
            .unwrap_or("no reason given")
            .to_owned()
    }
}

/// A string or a number as text; `None` if empty.
fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
    .filter(|text| !text.is_empty())
}

/// FastAPI's validation messages with their locations. Its copy of the invalid input is omitted.
fn detail(detail: &Value) -> String {
    let one = |entry: &Value| {
        let message = word(entry.get("msg")?)?;
        let place = entry.get("loc").and_then(Value::as_array);
        let place: Vec<String> = place.into_iter().flatten().filter_map(word).collect();
        Some(match place.as_slice() {
            [] => message,
            place => format!("{}: {message}", place.join(".")),
        })
    };
    let told: Vec<String> = detail
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(one)
        .collect();
    match (detail, told.as_slice()) {
        (Value::String(text), _) => text.clone(),
        (_, []) => detail.to_string(),
        (_, told) => told.join("; "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    #[rstest]
    #[case::openai(json!({"error": {"message": "no", "type": "t", "code": "c"}}), "no", "c", "t")]
    #[case::text(json!({"error": "no"}), "no", "", "")]
    #[case::xai(json!({"code": "c", "error": "no"}), "no", "c", "")]
    #[case::tei(json!({"error": "no", "error_type": "t"}), "no", "", "t")]
    #[case::vllm(json!({"object": "error", "message": "no", "type": "t", "code": 400}), "no", "400", "t")]
    #[case::google(json!([{"error": {"message": "no", "status": "t", "code": 429}}]), "no", "429", "t")]
    #[case::minimax(json!({"choices": null, "base_resp": {"status_code": 1026, "status_msg": "no"}}), "no", "1026", "")]
    #[case::cloudflare(json!({"success": false, "errors": [{"code": 7, "message": "no"}]}), "no", "7", "")]
    #[case::fastapi(json!({"detail": "no"}), "no", "", "")]
    #[case::flag(json!({"error": true, "message": "no", "code": 402}), "no", "402", "")]
    #[case::inner(json!({"error": {"error": {"message": "no", "type": "t"}}}), "no", "", "t")]
    #[case::wrapped(json!({"detail": {"error": {"message": "no"}}}), "no", "", "")]
    fn every_shape_is_read(
        #[case] body: Value,
        #[case] message: &str,
        #[case] code: &str,
        #[case] kind: &str,
    ) {
        let read = ErrorBody::of(&body);
        assert_eq!(
            (
                read.message.as_str(),
                read.code.as_str(),
                read.kind.as_str()
            ),
            (message, code, kind)
        );
    }

    #[test]
    fn the_input_that_a_server_repeats_is_not_what_it_says() {
        let body = json!({"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted",
            "input": {"messages": "a document on sensitive content"}}]});
        let read = ErrorBody::of(&body);
        assert_eq!(read.shown(), "body.seed: Extra inputs are not permitted");
        assert!(!read.words().contains("sensitive"));
    }

    #[test]
    fn what_openrouter_repeats_of_a_provider_is_part_of_the_message() {
        let raw = json!({"error": {"message": "images only", "code": "bad_input"}}).to_string();
        for raw in [raw.as_str(), "images only"] {
            let body = json!({"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": raw}}});
            let read = ErrorBody::of(&body);
            assert_eq!(read.shown(), "Provider returned error: images only");
        }
        let headers = json!({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1795650000000"});
        let body = json!({"error": {"message": "free-models-per-min", "code": 429, "metadata": {"headers": headers}}});
        assert_eq!(ErrorBody::of(&body).delay.as_deref(), Some("1795650000000"));
    }

    #[rstest]
    #[case(json!({"code": 429}), Some(429))]
    #[case(json!({"code": "1113"}), None)]
    #[case(json!({"type": "overloaded_error"}), Some(529))]
    #[case(json!({"type": "invalid_request_error", "code": "context_length_exceeded"}), Some(400))]
    #[case(json!({"status": "RESOURCE_EXHAUSTED"}), Some(429))]
    #[case(json!({"message": "something"}), None)]
    fn an_error_under_success_has_a_status_of_its_own(
        #[case] error: Value,
        #[case] status: Option<u16>,
    ) {
        assert_eq!(ErrorBody::of(&json!({"error": error})).status(), status);
    }
}
