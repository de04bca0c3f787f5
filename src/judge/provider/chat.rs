//! The chat-completions format, which OpenAI, Azure and every compatible server speak.

use super::error_response::{self, ErrorBody};
use super::json::{merge, text_at};
use super::learnt::{Learnt, Refusal};
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

pub const MAX_TOKENS: &str = "max_tokens";
pub const MAX_COMPLETION_TOKENS: &str = "max_completion_tokens";

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
    /// Whether to ask for log-probabilities, where the answer is a letter.
    pub logprobs: bool,
    /// Whether to ask for the likeliest answer.
    pub temperature: bool,
    /// The field of the seed, where one is taken.
    pub seed: Option<&'static str>,
    /// Further fields, before the user's.
    pub extra: Map<String, Value>,
    /// Fields that go over the user's.
    pub overriding: Map<String, Value>,
    /// What the server does without.
    pub learnt: Learnt,
}

/// The form of the answer after so many steps down: a schema, a JSON object with the schema beside it, a JSON object, text
/// with the form described in the prompt only.
pub fn format_at(rung: u8, answer: AnswerForm) -> Option<Value> {
    let schema = answer.schema()?;
    match rung {
        0 => strict_format(answer),
        1 => Some(json!({"type": "json_object", "schema": schema})),
        2 => Some(json!({"type": "json_object"})),
        _ => None,
    }
}

/// The last step down, at which no form is asked for.
pub const PLAIN: u8 = 3;

/// The form that strict servers keep to.
pub fn strict_format(answer: AnswerForm) -> Option<Value> {
    let schema = answer.schema()?;
    Some(json!({
        "type": "json_schema",
        "json_schema": {"name": "judgement", "strict": true, "schema": schema},
    }))
}

pub fn request(settings: &JudgeSettings, prompt: &JudgePrompt, dialect: &Dialect) -> Value {
    let learnt = dialect.learnt;
    let mut messages = Vec::new();
    let merged = learnt.has(Refusal::System) && !prompt.system.is_empty();
    if !prompt.system.is_empty() && !merged {
        messages.push(json!({"role": dialect.role, "content": prompt.system}));
    }
    let user = match merged {
        true => json!(format!("{}\n\n{}", prompt.system, prompt.user)),
        false => json!(prompt.user),
    };
    messages.push(json!({"role": "user", "content": user}));
    let mut body = Map::new();
    let mut put = |name: &str, value: Value| {
        body.insert(name.to_owned(), value);
    };
    put("model", json!(settings.spec.model));
    put("messages", Value::Array(messages));
    let letter = settings.template.answer.is_word();
    let logprobs = letter && dialect.logprobs && !learnt.has(Refusal::Logprobs);
    // A model that thinks first needs the room for it, and says nothing in a few tokens.
    let thinks = dialect
        .effort
        .as_deref()
        .is_some_and(|effort| effort != "none");
    let short = logprobs && !thinks && !prompt.longer && !learnt.has(Refusal::ShortAnswer);
    let cap = match learnt.has(Refusal::CapField) {
        true if dialect.cap == MAX_TOKENS => MAX_COMPLETION_TOKENS,
        true => MAX_TOKENS,
        false => dialect.cap,
    };
    put(
        cap,
        match short {
            true => json!(LETTER_CAP.min(settings.cap)),
            false => json!(settings.cap(prompt)),
        },
    );
    if let Some(effort) = &dialect.effort {
        put("reasoning_effort", json!(effort));
    }
    if dialect.private && !learnt.has(Refusal::Store) {
        put("store", json!(false));
    }
    if let Some(format) = &dialect.format {
        put("response_format", format.clone());
    }
    if logprobs {
        put("logprobs", json!(true));
        put("top_logprobs", json!(TOP));
    }
    if dialect.temperature && !learnt.has(Refusal::Temperature) {
        put("temperature", json!(0));
    }
    if let Some(seed) = dialect.seed.filter(|_| !learnt.has(Refusal::Seed)) {
        put(seed, json!(0));
    }
    let mut body = Value::Object(body);
    merge(&mut body, &dialect.extra);
    merge(&mut body, &settings.params);
    merge(&mut body, &dialect.overriding);
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
        model: served_model(value),
        stop_reason: stop.clone(),
        request_id: received
            .request_id()
            .or_else(|| text_at(value, "/x_groq/id"))
            .or_else(|| text_at(value, "/id")),
        fingerprint: text_at(value, "/system_fingerprint"),
        tokens: tokens(value),
        charged_usd: charged(value, received).filter(|_| settings.price.is_none()),
    };
    let mut reply = settings.reply(fields, received);
    let answer = settings.template.answer;
    let letter = answer.is_word();
    if letter {
        let tokens = choice
            .pointer("/logprobs/content")
            .and_then(Value::as_array);
        reply.odds = tokens.and_then(|tokens| odds(tokens, answer));
    }
    if let Some(refusal) = refusal {
        reply.text = refusal;
        return Err(refused(reply));
    }
    match stop.as_deref() {
        None | Some("stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence") => Ok(reply),
        // A letter is whole however the answer went on.
        Some("length" | "model_length") if letter && says_something(&reply.text) => Ok(reply),
        Some("length" | "model_length") => Err(cut_off(settings, reply)),
        Some("content_filter") => Err(filtered(None, reply)),
        Some("error") => Err(broken_off(FailureCause::Server, reply)),
        other => Err(odd_stop(other, reply)),
    }
}

/// The model that answered, with the fingerprint of its weights and server where one is given.
fn served_model(value: &Value) -> Option<String> {
    let model = text_at(value, "/model")?;
    match text_at(value, "/system_fingerprint").filter(|fingerprint| !fingerprint.is_empty()) {
        Some(fingerprint) => Some(format!("{model} {fingerprint}")),
        None => Some(model),
    }
}

/// Dollars that a gateway says it charged: OpenRouter in the answer, LiteLLM in a header.
fn charged(value: &Value, received: &HttpResponse) -> Option<f64> {
    let told = value.pointer("/usage/cost").and_then(Value::as_f64);
    told.or_else(|| received.header("x-litellm-response-cost")?.parse().ok())
}

/// Whether there is text that is not the beginning of a thought.
fn says_something(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty() && (!text.starts_with("<think") || text.contains("</think"))
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

/// What the log-probabilities at the answer's letter or word say: `tokens` as written, each with the likeliest beside it. The letter is the
/// first token with text, or the last letter where the model has thought before. Without the others' probabilities nothing is
/// known, as one alone says nothing about the rest.
pub(super) fn odds(tokens: &[Value], answer: AnswerForm) -> Option<AnswerProbabilities> {
    let letter_of = |token: &str| letter_of(token, answer);
    let text = |token: &Value| text_at(token, "/token").unwrap_or_default();
    let mut written = tokens.iter().filter(|token| !text(token).trim().is_empty());
    let first = written.next()?;
    let letter = match letter_of(&text(first)) {
        Some(_) => first,
        None => written.rfind(|token| letter_of(&text(token)).is_some())?,
    };
    let mut odds = AnswerProbabilities::default();
    for token in letter.get("top_logprobs")?.as_array()? {
        let probability = token.get("logprob").and_then(Value::as_f64)?.min(0.0).exp();
        match letter_of(&text(token)) {
            Some('a') => odds.a += probability,
            Some('b') => odds.b += probability,
            Some(_) => odds.tie += probability,
            None => {}
        }
    }
    (odds.a + odds.b + odds.tie > 0.0).then_some(odds)
}

/// The answer that a token is, `a` (or yes), `b` (or no) or `t`.
fn letter_of(token: &str, answer: AnswerForm) -> Option<char> {
    let token = token.trim();
    if answer == AnswerForm::YesNo {
        return match token {
            "Yes" | "yes" | "YES" => Some('a'),
            "No" | "no" | "NO" => Some('b'),
            _ => None,
        };
    }
    match token {
        "A" | "a" => Some('a'),
        "B" | "b" => Some('b'),
        "T" | "t" | "Tie" | "tie" => Some('t'),
        _ => None,
    }
}
