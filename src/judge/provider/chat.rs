//! The chat completions format of OpenAI, Azure and all compatible servers.

use super::error_response;
use super::json::{merge, text_at};
use super::learnt::{Learnt, Refusal};
use super::response::HttpResponse;
use super::settings::{
    AnswerFields, JudgeSettings, broken_off, context_full, cut_off, filtered, odd_stop, refused,
    seed, served_terms, temperature,
};
use super::token_counts::{ChargedTokens, TokenCounts};
use crate::judge::call::{
    AnswerProbabilities, Asking, CallError, FailureCause, JudgePrompt, JudgeReply, Usage,
};
use crate::judge::parse::{AnswerWord, answer_word};
use serde_json::{Map, Value, json};

/// Number of most likely tokens requested for each generated one.
const TOP: u64 = 20;
/// Tokens that a single letter may take.
const LETTER_CAP: u64 = 8;

pub const MAX_TOKENS: &str = "max_tokens";
pub const MAX_COMPLETION_TOKENS: &str = "max_completion_tokens";

/// The fields that limit the answer, as JSON pointers.
pub const CAPS: &[&str] = &["/max_completion_tokens", "/max_tokens"];

/// The differences between the requests of servers.
#[derive(Clone, Debug, Default)]
pub struct Dialect {
    /// The role of the system prompt.
    pub role: &'static str,
    /// The field of the output limit.
    pub cap: &'static str,
    /// The reasoning effort, if one is sent.
    pub effort: Option<String>,
    /// Whether to ask the provider not to store the call.
    pub private: bool,
    /// The form of the answer, if one is requested.
    pub format: Option<Value>,
    /// Whether to request log-probabilities if the answer is a letter.
    pub logprobs: bool,
    /// Whether to send a temperature.
    pub temperature: bool,
    /// The field of the seed, if supported.
    pub seed: Option<&'static str>,
    /// Additional fields, overridden by the user's.
    pub extra: Map<String, Value>,
    /// Fields that override the user's.
    pub overriding: Map<String, Value>,
    /// What the server does not support.
    pub learnt: Learnt,
}

/// The form of the answer after this many steps down: a schema, a JSON object with the schema in
/// the request, a JSON object, text with the form described only in the prompt.
pub fn format_at(rung: u8, schema: Option<Value>) -> Option<Value> {
    let schema = schema?;
    match rung {
        0 => Some(json!({
            "type": "json_schema",
            "json_schema": {"name": "judgement", "strict": true, "schema": schema},
        })),
        1 => Some(json!({"type": "json_object", "schema": schema})),
        2 => Some(json!({"type": "json_object"})),
        _ => None,
    }
}

/// The last step down, at which no form is requested.
pub const PLAIN: u8 = 3;

pub fn request(settings: &JudgeSettings, prompt: &JudgePrompt, dialect: &Dialect) -> Value {
    let learnt = dialect.learnt;
    let mut messages = Vec::new();
    let merged = learnt.has(Refusal::System) && !prompt.system.is_empty();
    if !prompt.system.is_empty() && !merged {
        messages.push(json!({"role": dialect.role, "content": prompt.system}));
    }
    let user = if merged {
        json!(format!("{}\n\n{}", prompt.system, prompt.user))
    } else {
        json!(prompt.user)
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
    // A model that reasons first needs room for that, and returns nothing with only a few tokens.
    let thinks = dialect
        .effort
        .as_deref()
        .is_some_and(|effort| effort != "none");
    let longer = prompt.asking == Asking::Longer;
    let short = logprobs && !thinks && !longer && !learnt.needs_room();
    let cap = match learnt.has(Refusal::CapField) {
        true if dialect.cap == MAX_TOKENS => MAX_COMPLETION_TOKENS,
        true => MAX_TOKENS,
        false => dialect.cap,
    };
    put(
        cap,
        if short {
            json!(LETTER_CAP.min(settings.cap))
        } else {
            json!(settings.cap(prompt, learnt.needs_room()))
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
        put("temperature", temperature(prompt));
    }
    if let Some(seed) = dialect.seed.filter(|_| !learnt.has(Refusal::Seed)) {
        put(seed, self::seed(prompt, 0));
    }
    let mut body = Value::Object(body);
    merge(&mut body, &dialect.extra);
    merge(&mut body, &settings.params);
    merge(&mut body, &dialect.overriding);
    body
}

/// The reply in the parsed body of a successful response.
pub fn reply(
    settings: &JudgeSettings,
    value: &Value,
    received: &HttpResponse,
) -> Result<JudgeReply, CallError> {
    let Some(choice) = value.pointer("/choices/0") else {
        return Err(error_response::not_json(received));
    };
    if let Some(mut error) = error_response::inner(settings, choice, received) {
        // The answer had started and may be charged.
        error.exchange.status = Some(received.status);
        return Err(error);
    }
    let stop = text_at(choice, "/finish_reason");
    let refusal = text_at(choice, "/message/refusal").filter(|refusal| !refusal.is_empty());
    let (text, outside) = written(choice.get("message").unwrap_or(&Value::Null));
    let fields = AnswerFields {
        text,
        outside,
        model: served_model(value),
        stop_reason: stop.clone(),
        request_id: received
            .request_id()
            .or_else(|| text_at(value, "/x_groq/id"))
            .or_else(|| text_at(value, "/id")),
        fingerprint: text_at(value, "/system_fingerprint"),
        tokens: tokens(value, settings),
        charged_usd: charged(value, received),
        served: served_terms(value, received),
    };
    let mut reply = settings.reply(fields, received);
    let is_word = settings.template.answer.is_word();
    if is_word {
        let tokens = choice
            .pointer("/logprobs/content")
            .and_then(Value::as_array);
        reply.odds = tokens.and_then(|tokens| odds(tokens, &reply.text));
    }
    if let Some(refusal) = refusal {
        (reply.text, reply.outside) = (refusal, None);
        return Err(refused(reply));
    }
    match stop.as_deref() {
        None | Some("stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence") => Ok(reply),
        // Only a grammar guarantees that nothing would have followed.
        Some("length" | "model_length")
            if is_word && has_grammar(settings) && answer_word(&reply.text).is_some() =>
        {
            Ok(reply)
        }
        Some("length" | "model_length" | "max_tokens") => Err(cut_off(settings, reply)),
        Some("model_context_window_exceeded") => Err(context_full(reply)),
        Some(reason) if is_filter(reason) => Err(filtered(Some(reason), reply)),
        Some(reason) if is_transient(reason) => {
            Err(broken_off(FailureCause::Server, Some(reason), reply))
        }
        other => Err(odd_stop(other, reply)),
    }
}

/// Whether a stop reason is that of a filter, such as Zhipu's `sensitive`.
fn is_filter(reason: &str) -> bool {
    const FILTERS: [&str; 9] = [
        "content_filter",
        "sensitive",
        "safety",
        "guardrail",
        "moderation",
        "censor",
        "toxic",
        "recitation",
        "prohibited",
    ];
    let reason = reason.to_ascii_lowercase();
    FILTERS.iter().any(|filter| reason.contains(filter))
}

/// Whether a stop reason is a transient state of the server, such as DeepSeek's
/// `insufficient_system_resource`.
fn is_transient(reason: &str) -> bool {
    const TRANSIENT: [&str; 10] = [
        "error",
        "insufficient_system_resource",
        "network_error",
        "server_error",
        "overloaded",
        "abort",
        "cancelled",
        "canceled",
        "timeout",
        "unavailable",
    ];
    TRANSIENT.contains(&reason.to_ascii_lowercase().as_str())
}

/// The model that answered, with the fingerprint of its weights and server if given.
fn served_model(value: &Value) -> Option<String> {
    let model = text_at(value, "/model")?;
    match text_at(value, "/system_fingerprint").filter(|fingerprint| !fingerprint.is_empty()) {
        Some(fingerprint) => Some(format!("{model} {fingerprint}")),
        None => Some(model),
    }
}

/// The charge reported by a server in dollars: OpenRouter and xAI in the response, LiteLLM in a
/// header.
///
/// For a call with the user's own key, OpenRouter's `cost` is only its fee; the vendor's price of
/// the call is added.
fn charged(value: &Value, received: &HttpResponse) -> Option<f64> {
    let number = |pointer| value.pointer(pointer).and_then(Value::as_f64);
    let of_openrouter = || {
        let is_byok = value.pointer("/usage/is_byok") == Some(&Value::Bool(true));
        let upstream = number("/usage/cost_details/upstream_inference_cost");
        Some(number("/usage/cost")? + upstream.filter(|_| is_byok).unwrap_or_default())
    };
    let of_xai = || Some(number("/usage/cost_in_usd_ticks")? / TICKS_PER_USD);
    let of_litellm = || received.header("x-litellm-response-cost")?.parse().ok();
    of_openrouter().or_else(of_xai).or_else(of_litellm)
}

/// xAI's unit of `cost_in_usd_ticks`.
const TICKS_PER_USD: f64 = 1e10;

/// Whether the user's parameters constrain the server to a grammar, in the fields of vLLM, SGLang
/// and llama.cpp.
fn has_grammar(settings: &JudgeSettings) -> bool {
    [
        "structured_outputs",
        "guided_choice",
        "guided_regex",
        "guided_grammar",
        "grammar",
        "regex",
        "ebnf",
    ]
    .iter()
    .any(|field| settings.params.contains_key(*field))
}

/// The text of a message: its content or, if that is empty, the text of another field with the name
/// of the field.
pub(super) fn written(message: &Value) -> (String, Option<&'static str>) {
    let content = text_of(message.get("content"), |kind| kind == Some("text"));
    if !content.trim().is_empty() {
        return (content, None);
    }
    let any = |value: Option<&Value>| text_of(value, |_| true);
    let tool = message.pointer("/tool_calls/0/function/arguments");
    [
        ("reasoning_content", any(message.get("reasoning_content"))),
        ("reasoning", any(message.get("reasoning"))),
        ("thinking", any(message.get("thinking"))),
        ("reasoning_details", any(message.get("reasoning_details"))),
        ("thinking chunk", any(message.get("content"))),
        ("tool call", any(tool)),
    ]
    .into_iter()
    .find(|(_, text)| !text.trim().is_empty())
    .map_or((content, None), |(field, text)| (text, Some(field)))
}

/// A string, or the texts of the members of a (possibly nested) list whose type is `wanted`.
fn text_of(value: Option<&Value>, wanted: fn(Option<&str>) -> bool) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts
            .iter()
            .filter(|part| wanted(part.get("type").and_then(Value::as_str)))
            .map(|part| text_of(part.get("text").or_else(|| part.get("thinking")), wanted))
            .collect(),
        _ => String::new(),
    }
}

fn tokens(value: &Value, settings: &JudgeSettings) -> Option<ChargedTokens> {
    let counts = TokenCounts::of(value);
    let input = counts.needed("/usage/prompt_tokens");
    let written = counts.needed("/usage/completion_tokens");
    let thinking = counts.optional("/usage/completion_tokens_details/reasoning_tokens");
    // xAI, and Gemini behind OpenAI's format, do not include reasoning in `completion_tokens`.
    let total = counts.optional("/usage/total_tokens");
    let output = if total > 0 {
        written.max(total.saturating_sub(input))
    } else if thinking > written {
        written + thinking
    } else {
        written
    };
    let usage = Usage {
        input,
        cached: counts
            .optional("/usage/prompt_tokens_details/cached_tokens")
            .max(counts.optional("/usage/prompt_cache_hit_tokens")),
        output,
        thinking,
    };
    let cache_written = counts.optional("/usage/prompt_tokens_details/cache_write_tokens");
    counts.settle(usage, settings.cache_writes(cache_written))
}

/// The probabilities in the log-probabilities of a one-word answer; `None` if the answer is not a
/// single word, or if the probabilities of the other words are missing, since one alone says
/// nothing about the rest.
///
/// `tokens` are those of the whole reply as generated, including reasoning, each with its most
/// likely alternatives. The word is the last of them: only punctuation and special tokens may
/// follow it.
pub(super) fn odds(tokens: &[Value], text: &str) -> Option<AnswerProbabilities> {
    let answer = answer_word(text)?;
    let token_text = |token: &Value| text_at(token, "/token").unwrap_or_default();
    let is_format = |token: &str| token.starts_with('<') && token.ends_with('>');
    let last = tokens.iter().rfind(|token| {
        let text = token_text(token);
        text.contains(char::is_alphabetic) && !is_format(text.trim())
    })?;
    if AnswerWord::of(token_text(last).trim()) != Some(answer) {
        return None;
    }
    let mut odds = AnswerProbabilities::default();
    for token in last.get("top_logprobs")?.as_array()? {
        let probability = token.get("logprob").and_then(Value::as_f64)?.min(0.0).exp();
        let word = AnswerWord::of(token_text(token).trim());
        match (word, answer.is_yes_or_no()) {
            (Some(AnswerWord::A), false) | (Some(AnswerWord::Yes), true) => odds.a += probability,
            (Some(AnswerWord::B), false) | (Some(AnswerWord::No), true) => odds.b += probability,
            (Some(AnswerWord::Tie), false) => odds.tie += probability,
            _ => {}
        }
    }
    (odds.a + odds.b + odds.tie > 0.0).then_some(odds)
}
