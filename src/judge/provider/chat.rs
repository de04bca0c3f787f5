//! The chat-completions format, which OpenAI, Azure and every compatible server speak.

use super::error_response::{self, ErrorBody};
use super::json::{merge, text_at};
use super::response::HttpResponse;
use super::settings::{
    AnswerFields, JudgeSettings, broken_off, cut_off, filtered, odd_stop, refused,
};
use super::token_counts::{ChargedTokens, TokenCounts};
use crate::judge::call::{
    AnswerProbabilities, CallError, FailureCause, JudgePrompt, JudgeReply, Usage,
};
use crate::judge::prompt::AnswerForm;
use serde_json::{Map, Value, json};

/// Likeliest tokens asked for beside each one written.
const TOP: u64 = 20;
/// Tokens a single letter may take.
const LETTER_CAP: u64 = 8;

/// Where a request limits the answer, as JSON pointers.
pub const CAPS: &[&str] = &["/max_completion_tokens", "/max_tokens"];

/// How a server's requests differ from another's.
#[derive(Clone, Debug, Default)]
pub struct Dialect {
    /// The role of standing instructions.
    pub role: &'static str,
    /// The field of the output cap.
    pub cap: &'static str,
    /// The reasoning effort, where one is sent.
    pub effort: Option<String>,
    /// Whether to forbid that the provider keeps the call.
    pub private: bool,
    /// The form of the answer, where one is asked for.
    pub format: Option<Value>,
    /// Whether to ask for log-probabilities.
    pub logprobs: bool,
    /// Further fields, before the user's.
    pub extra: Map<String, Value>,
    /// Fields that what was learnt puts over the user's.
    pub learnt: Map<String, Value>,
}

/// The form that strict servers keep to.
pub fn strict_format(answer: AnswerForm) -> Option<Value> {
    let schema = answer.schema()?;
    Some(json!({
        "type": "json_schema",
        "json_schema": {"name": "judgement", "strict": true, "schema": schema},
    }))
}

pub fn request(settings: &JudgeSettings, prompt: &JudgePrompt, dialect: &Dialect) -> Value {
    let mut messages = Vec::new();
    if !prompt.system.is_empty() {
        messages.push(json!({"role": dialect.role, "content": prompt.system}));
    }
    messages.push(json!({"role": "user", "content": prompt.user}));
    let mut body = Map::new();
    let mut put = |name: &str, value: Value| {
        body.insert(name.to_owned(), value);
    };
    put("model", json!(settings.spec.model));
    put("messages", Value::Array(messages));
    let short = dialect.logprobs && settings.template.answer == AnswerForm::Letter;
    put(
        dialect.cap,
        json!(if short {
            LETTER_CAP
        } else {
            settings.cap(prompt)
        }),
    );
    if let Some(effort) = &dialect.effort {
        put("reasoning_effort", json!(effort));
    }
    if dialect.private {
        put("store", json!(false));
    }
    if let Some(format) = &dialect.format {
        put("response_format", format.clone());
    }
    if dialect.logprobs {
        put("logprobs", json!(true));
        put("top_logprobs", json!(TOP));
    }
    let mut body = Value::Object(body);
    merge(&mut body, &dialect.extra);
    merge(&mut body, &settings.params);
    merge(&mut body, &dialect.learnt);
    body
}

/// The reply in a parsed body of a success.
pub fn reply(
    settings: &JudgeSettings,
    value: &Value,
    received: &HttpResponse,
) -> Result<JudgeReply, CallError> {
    // Some servers report errors under a status of success.
    for error in [value.get("error"), value.pointer("/choices/0/error")]
        .into_iter()
        .flatten()
    {
        if !error.is_null() {
            return Err(inner(settings, error, received));
        }
    }
    let Some(choice) = value.pointer("/choices/0") else {
        return Err(error_response::not_json(received));
    };
    let stop = text_at(choice, "/finish_reason");
    let refusal = text_at(choice, "/message/refusal").filter(|refusal| !refusal.is_empty());
    let fields = AnswerFields {
        text: content(choice.pointer("/message/content")),
        model: text_at(value, "/model"),
        stop_reason: stop.clone(),
        request_id: received
            .request_id()
            .or_else(|| text_at(value, "/x_groq/id"))
            .or_else(|| text_at(value, "/id")),
        tokens: tokens(value),
        charged_usd: value
            .pointer("/usage/cost")
            .and_then(Value::as_f64)
            .filter(|_| settings.price.is_none()),
    };
    let mut reply = settings.reply(fields, received);
    let letter = settings.template.answer == AnswerForm::Letter;
    if letter {
        reply.odds = odds(choice);
    }
    if let Some(refusal) = refusal {
        reply.text = refusal;
        return Err(refused(reply));
    }
    match stop.as_deref() {
        None | Some("stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence") => Ok(reply),
        // A letter is whole however the answer went on.
        Some("length" | "model_length") if letter && !reply.text.trim().is_empty() => Ok(reply),
        Some("length" | "model_length") => Err(cut_off(settings, reply)),
        Some("content_filter") => Err(filtered(None, reply)),
        Some("error") => Err(broken_off(FailureCause::Server, reply)),
        other => Err(odd_stop(other, reply)),
    }
}

/// An error inside a success: its own code counts as the status.
fn inner(settings: &JudgeSettings, error: &Value, received: &HttpResponse) -> CallError {
    let complaint = ErrorBody::of(error);
    let status = complaint.code.parse().unwrap_or(502);
    let error = error_response::classify(settings, status, &complaint);
    error_response::with_response(error, received)
}

/// Text, or the text pieces of a list.
fn content(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts
            .iter()
            .filter(|part| part.get("type").and_then(Value::as_str) == Some("text"))
            .filter_map(|part| part.get("text")?.as_str())
            .collect(),
        _ => String::new(),
    }
}

fn tokens(value: &Value) -> Option<ChargedTokens> {
    let counts = TokenCounts::of(value);
    let usage = Usage {
        input: counts.needed("/usage/prompt_tokens"),
        cached: counts
            .optional("/usage/prompt_tokens_details/cached_tokens")
            .max(counts.optional("/usage/prompt_cache_hit_tokens")),
        output: counts.needed("/usage/completion_tokens"),
        thinking: counts.optional("/usage/completion_tokens_details/reasoning_tokens"),
    };
    let written = counts.optional("/usage/prompt_tokens_details/cache_write_tokens");
    counts.settle(usage, written)
}

/// What the log-probabilities at the first written letter say.
fn odds(choice: &Value) -> Option<AnswerProbabilities> {
    let tokens = choice.pointer("/logprobs/content")?.as_array()?;
    let first = tokens.iter().find(|token| {
        !text_at(token, "/token")
            .unwrap_or_default()
            .trim()
            .is_empty()
    })?;
    let mut odds = AnswerProbabilities::default();
    let likeliest = first
        .get("top_logprobs")
        .and_then(Value::as_array)
        .filter(|top| !top.is_empty());
    let only = std::slice::from_ref(first);
    for token in likeliest.map_or(only, Vec::as_slice) {
        let text = text_at(token, "/token").unwrap_or_default();
        let probability = token.get("logprob").and_then(Value::as_f64)?.min(0.0).exp();
        match text.trim() {
            "A" | "a" => odds.a += probability,
            "B" | "b" => odds.b += probability,
            "T" | "t" | "Tie" | "tie" => odds.tie += probability,
            _ => {}
        }
    }
    (odds.a + odds.b + odds.tie > 0.0).then_some(odds)
}
