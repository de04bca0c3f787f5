//! The wire formats, from the server's side.

use super::answer::{CURE, Lineup, Shown, margin};
use super::fault::Answer;
use super::rerank::{self, Asked};
use super::{Recorded, State};
use serde_json::{Value, json};

/// Whose format a request is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Chat,
    Azure,
    Anthropic,
    Gemini,
    Ollama,
    OpenAiDecisions,
    GeminiDecisions,
    /// `/embeddings` of OpenAI.
    Embeddings,
    /// `/api/embed` of Ollama.
    OllamaEmbed,
    ZeroEntropyRank,
    CohereRank,
    VoyageRank,
    JinaRank,
    TeiRank,
    MixedbreadRank,
    PineconeRank,
    NimRank,
    /// `/rerank` of vLLM and its like.
    CompatibleRank,
}

impl Dialect {
    /// The dialect of a call; `None` for everything about batches and files.
    pub(super) fn of(recorded: &Recorded) -> Option<Self> {
        let path = recorded.target.split('?').next().unwrap_or_default();
        Some(match path {
            _ if recorded.method != "POST" => return None,
            "/v1/messages" => Self::Anthropic,
            "/api/chat" => Self::Ollama,
            "/api/embed" => Self::OllamaEmbed,
            "/v1/decisions" => Self::OpenAiDecisions,
            "/v1beta/decisions" => Self::GeminiDecisions,
            "/v1/models/rerank" => Self::ZeroEntropyRank,
            "/v2/rerank" => Self::CohereRank,
            "/v1/reranking" => Self::MixedbreadRank,
            "/v1/ranking" => Self::NimRank,
            _ if path.ends_with("/rerank") => match &recorded.body {
                body if body["documents"][0].is_object() => Self::PineconeRank,
                body if body.get("texts").is_some() => Self::TeiRank,
                body if body.get("top_k").is_some() => Self::VoyageRank,
                body if body.get("return_documents").is_some() => Self::JinaRank,
                _ => Self::CompatibleRank,
            },
            // Bedrock has the same route as Azure.
            _ if path.starts_with("/openai/") && recorded.header("api-key").is_some() => {
                Self::Azure
            }
            _ if path.ends_with("/chat/completions") => Self::Chat,
            _ if path.ends_with("/embeddings") => Self::Embeddings,
            _ if path.ends_with(":generateContent") => Self::Gemini,
            _ => return None,
        })
    }

    pub(super) fn model(self, recorded: &Recorded) -> String {
        if self == Self::Gemini {
            let name = recorded.target.split("/models/").nth(1).unwrap_or_default();
            return name.split(':').next().unwrap_or_default().to_owned();
        }
        let name = recorded.body["model"].as_str().unwrap_or_default();
        name.trim_start_matches("models/").to_owned()
    }

    /// Whether it is a rerank service.
    fn ranks(self) -> bool {
        matches!(
            self,
            Self::ZeroEntropyRank
                | Self::CohereRank
                | Self::VoyageRank
                | Self::JinaRank
                | Self::TeiRank
                | Self::MixedbreadRank
                | Self::PineconeRank
                | Self::NimRank
                | Self::CompatibleRank
        )
    }

    /// What is asked, the same for the same texts.
    pub(super) fn case(self, body: &Value) -> String {
        let text = self.user_text(body);
        match Asked::of(&text) {
            Some(asked) => asked.key(),
            None if self.ranks() => {
                let digest = super::answer::hash(&[&text]);
                digest[..4]
                    .iter()
                    .map(|byte| format!("{byte:02x}"))
                    .collect()
            }
            None => Shown::of(&text).key(),
        }
    }

    pub(super) fn user_text(self, body: &Value) -> String {
        if self.ranks() {
            return format!("{:?}", rerank::sent(body));
        }
        if matches!(self, Self::Embeddings | Self::OllamaEmbed) {
            return body["input"].to_string();
        }
        let last = || body["messages"].as_array().and_then(|all| all.last());
        let text = match self {
            Self::Gemini => &body["contents"][0]["parts"][0]["text"],
            Self::OpenAiDecisions | Self::GeminiDecisions => &body["input"],
            _ => last().map_or(&Value::Null, |last| &last["content"]),
        };
        text.as_str().unwrap_or_default().to_owned()
    }

    pub(super) fn stop(self) -> &'static str {
        match self {
            Self::Anthropic => "end_turn",
            Self::Gemini => "STOP",
            _ => "stop",
        }
    }

    pub(super) fn length(self) -> &'static str {
        match self {
            Self::Anthropic => "max_tokens",
            Self::Gemini => "MAX_TOKENS",
            _ => "length",
        }
    }

    pub(super) fn rate_limit(self) -> &'static str {
        match self {
            Self::Anthropic => "rate_limit_error",
            Self::Gemini => "RESOURCE_EXHAUSTED",
            _ => "rate_limit_exceeded",
        }
    }

    pub(super) fn error(self, status: u16, kind: &str, message: &str) -> Value {
        match self {
            Self::Anthropic => json!({
                "type": "error",
                "error": {"type": kind, "message": message},
                "request_id": "req-fake",
            }),
            Self::Gemini | Self::GeminiDecisions => {
                json!({"error": {"code": status, "message": message, "status": kind, "details": []}})
            }
            Self::Ollama | Self::OllamaEmbed => json!({"error": message}),
            Self::CohereRank => json!({"id": "fake", "message": message}),
            Self::VoyageRank | Self::JinaRank | Self::ZeroEntropyRank => json!({"detail": message}),
            Self::TeiRank => json!({"error": message, "error_type": kind}),
            _ => json!({"error": {"message": message, "type": kind, "param": null, "code": null}}),
        }
    }

    pub(super) fn quota(self) -> Value {
        match self {
            Self::Anthropic => {
                let details = json!({"error_code": "enforced_spend_limit_reached"});
                let error =
                    json!({"type": "rate_limit_error", "message": "no more", "details": details});
                json!({"type": "error", "error": error})
            }
            Self::Gemini | Self::GeminiDecisions => {
                let violations = json!([{"quotaId": "GenerateRequestsPerDayPerProjectPerModel"}]);
                let mut error = self.error(429, "RESOURCE_EXHAUSTED", "no more");
                error["error"]["details"] = json!([{"violations": violations}]);
                error
            }
            _ => {
                let mut error = self.error(429, "insufficient_quota", "no more");
                error["error"] = json!({"message": "no more", "type": "insufficient_quota"});
                error
            }
        }
    }

    pub(super) fn refusal(self, recorded: &Recorded) -> Value {
        match self {
            Self::Chat | Self::Azure => {
                let mut body = reply(self, recorded, "", self.stop());
                let message =
                    json!({"role": "assistant", "content": null, "refusal": "I will not."});
                body["choices"][0]["message"] = message;
                body
            }
            Self::Anthropic => {
                let mut body = reply(self, recorded, "", "refusal");
                body["content"] = json!([]);
                let details = json!({"type": "refusal", "category": "bio", "explanation": null});
                body["stop_details"] = details;
                body
            }
            Self::OpenAiDecisions => json!({"answers": [{"type": "refusal", "name": "better"}]}),
            // The others refuse in words only.
            _ => reply(
                self,
                recorded,
                "I'm sorry, but I can't help with that.",
                self.stop(),
            ),
        }
    }

    pub(super) fn filter_status(self) -> u16 {
        if self == Self::Azure { 400 } else { 200 }
    }

    pub(super) fn filtered(self, recorded: &Recorded) -> Value {
        match self {
            Self::Azure => json!({"error": {
                "message": "filtered", "type": null, "param": "prompt",
                "code": "content_filter", "status": 400,
                "innererror": {"code": "ResponsibleAIPolicyViolation"},
            }}),
            Self::Gemini => json!({
                "promptFeedback": {"blockReason": "SAFETY"},
                "usageMetadata": {"promptTokenCount": 9},
            }),
            Self::Anthropic => self.refusal(recorded),
            _ => reply(self, recorded, "", "content_filter"),
        }
    }
}

/// What a server says that does not know something, or was given no key.
pub(super) fn refusal(
    state: &State,
    dialect: Dialect,
    recorded: &Recorded,
) -> Option<(u16, Value)> {
    let body = &recorded.body;
    let bad = |param: &str, message: &str| {
        let kind = "invalid_request_error";
        let error =
            json!({"message": message, "type": kind, "param": param, "code": "unsupported_value"});
        Some((400, json!({"error": error})))
    };
    if let (Some(taken), Some(effort)) = (&state.effort, body["reasoning_effort"].as_str())
        && effort != taken
    {
        return bad("reasoning_effort", "unsupported value: 'reasoning_effort'");
    }
    let form = match body["response_format"]["type"].as_str() {
        Some("json_schema") => 0,
        Some(_) if body["response_format"].get("schema").is_some() => 1,
        Some(_) => 2,
        None => 3,
    };
    if form < state.first_form {
        return Some((
            400,
            json!({"error": "'response_format.type' must be something else"}),
        ));
    }
    if state.no_logprobs && body["logprobs"] == true {
        return bad("logprobs", "logprobs are not supported");
    }
    let key = match dialect {
        Dialect::Anthropic => recorded.header("x-api-key"),
        // Vertex takes access tokens too.
        Dialect::Gemini | Dialect::GeminiDecisions => recorded
            .header("x-goog-api-key")
            .or_else(|| recorded.header("authorization")),
        Dialect::Azure | Dialect::PineconeRank => recorded.header("api-key"),
        // Servers on one's own machine want none.
        Dialect::Ollama | Dialect::Chat | Dialect::Embeddings | Dialect::OllamaEmbed => Some("any"),
        Dialect::TeiRank | Dialect::CompatibleRank => Some("any"),
        Dialect::OpenAiDecisions
        | Dialect::ZeroEntropyRank
        | Dialect::CohereRank
        | Dialect::VoyageRank
        | Dialect::MixedbreadRank
        | Dialect::NimRank
        | Dialect::JinaRank => recorded.header("authorization"),
    };
    let unknown = dialect.error(401, "authentication_error", "no key");
    key.is_none().then_some((401, unknown))
}

/// A good answer's text.
pub(super) fn good_text(dialect: Dialect, recorded: &Recorded) -> String {
    if dialect.ranks() {
        return rerank::scores(&recorded.body);
    }
    let prompt = dialect.user_text(&recorded.body);
    if let Some(asked) = Asked::of(&prompt) {
        return asked.answer();
    }
    if let Some(lineup) = Lineup::of(&prompt) {
        return lineup.answer(&dialect.model(recorded));
    }
    let shown = Shown {
        // The sentence may also stand in the system prompt.
        is_cured: recorded.body.to_string().contains(CURE),
        ..Shown::of(&prompt)
    };
    let margin = margin(&dialect.model(recorded), &shown);
    let (letter, choice) = match margin {
        m if m < 0.0 => ("A", "A"),
        m if m > 0.0 => ("B", "B"),
        _ => ("T", "tie"),
    };
    if prompt.contains("Answer with one letter") {
        letter.to_owned()
    } else if prompt.contains("then \"choice\"") {
        json!({"thoughts": shown.thoughts(), "choice": choice}).to_string()
    } else {
        json!({"thoughts": shown.thoughts(), "score": margin}).to_string()
    }
}

/// Where answers say what they used.
pub(super) const USAGE: [&str; 4] = ["usage", "usageMetadata", "prompt_eval_count", "eval_count"];

/// The input and output tokens that an answer says it used; `None` where it is no answer.
pub(super) fn counted(body: &Value) -> Option<(u64, u64)> {
    let first = |paths: &[&str]| paths.iter().find_map(|path| body.pointer(path)?.as_u64());
    let input = first(&[
        "/usage/prompt_tokens",
        "/usage/input_tokens",
        "/usage/total_input_tokens",
        "/usageMetadata/promptTokenCount",
        "/prompt_eval_count",
        "/usage/total_tokens",
        "/meta/billed_units/input_tokens",
        "/total_tokens",
    ])?;
    let output = first(&[
        "/usage/completion_tokens",
        "/usage/output_tokens",
        "/usage/total_output_tokens",
        "/usageMetadata/candidatesTokenCount",
        "/eval_count",
    ]);
    Some((input, output.unwrap_or(0)))
}

/// An answer with every count of its usage changed.
pub(super) fn recounted(body: &Value, change: &dyn Fn(&Value) -> Value) -> Value {
    fn walk(value: &mut Value, change: &dyn Fn(&Value) -> Value) {
        match value {
            Value::Object(fields) => fields.values_mut().for_each(|field| walk(field, change)),
            Value::Number(_) => *value = change(value),
            _ => {}
        }
    }
    let mut body = body.clone();
    for name in USAGE {
        if let Some(usage) = body.get_mut(name) {
            walk(usage, change);
        }
    }
    body
}

/// The key that a request was made with.
pub(super) fn key(recorded: &Recorded) -> Option<String> {
    let names = ["authorization", "x-api-key", "x-goog-api-key", "api-key"];
    let key = names.iter().find_map(|name| recorded.header(name))?;
    Some(key.trim_start_matches("Bearer ").to_owned())
}

/// An answer's text with `word` among its thoughts.
pub(super) fn echoing(text: &str, word: &str) -> String {
    let mut answer: Value = serde_json::from_str(text).unwrap_or_default();
    match answer.get_mut("thoughts") {
        Some(thoughts) => {
            *thoughts = json!([format!("the key is {word}")]);
            answer.to_string()
        }
        None => text.to_owned(),
    }
}

/// A good answer, of a server that says how much it still takes or of one that does not.
pub(super) fn success(dialect: Dialect, recorded: &Recorded, tells_room: bool) -> Answer {
    let text = good_text(dialect, recorded);
    let mut answer = Answer::charged(200, &reply(dialect, recorded, &text, dialect.stop()));
    let limits: &[(&'static str, &'static str)] = match dialect {
        _ if !tells_room => &[],
        Dialect::Chat | Dialect::Azure => &[
            ("x-ratelimit-remaining-requests", "499"),
            ("x-ratelimit-reset-requests", "120ms"),
            ("x-ratelimit-remaining-tokens", "100000"),
        ],
        Dialect::Anthropic => &[
            ("anthropic-ratelimit-requests-remaining", "499"),
            ("request-id", "req-fake"),
        ],
        _ => &[],
    };
    if let Some(Ok(response)) = &mut answer.response {
        for (name, value) in limits {
            response.headers_mut().insert(*name, value.parse().unwrap());
        }
    }
    answer
}

/// A successful answer around a text. Tokens are a quarter of the bytes.
pub(super) fn reply(dialect: Dialect, recorded: &Recorded, text: &str, stop: &str) -> Value {
    let model = dialect.model(recorded);
    let prompt = dialect.user_text(&recorded.body);
    let margin = margin(&model, &Shown::of(&prompt));
    let yes = Asked::of(&prompt).and_then(|asked| asked.probability());
    let (input, output) = (recorded.body.to_string().len() / 4, text.len() / 4 + 1);
    let (a, b) = ((1.0 - margin) / 2.0, (1.0 + margin) / 2.0);
    match dialect {
        Dialect::Chat | Dialect::Azure => {
            let top = |token: &str, p: f64| json!({"token": token, "logprob": p.max(1e-9).ln(), "bytes": null});
            let tops = match yes {
                Some(yes) => json!([top("Yes", yes), top("No", 1.0 - yes)]),
                None => json!([top("A", a), top("B", b), top(" T", 0.0)]),
            };
            let logprobs = if recorded.body["logprobs"] == true {
                json!({"content": [{"token": text, "logprob": -0.1, "top_logprobs": tops}]})
            } else {
                Value::Null
            };
            let message = json!({"role": "assistant", "content": text, "refusal": null});
            json!({
                "id": "chatcmpl-fake", "object": "chat.completion", "created": 1,
                "model": format!("{model}-2026-09-01"),
                "choices": [{"index": 0, "message": message, "logprobs": logprobs, "finish_reason": stop}],
                "usage": {
                    "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output,
                    "prompt_tokens_details": {"cached_tokens": 0},
                    "completion_tokens_details": {"reasoning_tokens": 0},
                },
            })
        }
        Dialect::Anthropic => json!({
            "id": "msg_fake", "type": "message", "role": "assistant", "model": model,
            "content": [{"type": "thinking", "thinking": "", "signature": ""}, {"type": "text", "text": text}],
            "stop_reason": stop, "stop_sequence": null,
            "usage": {
                "input_tokens": input, "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0, "output_tokens": output,
            },
        }),
        Dialect::Gemini => {
            let content = json!({"role": "model", "parts": [{"text": text}]});
            json!({
                "candidates": [{"content": content, "finishReason": stop, "index": 0}],
                "usageMetadata": {
                    "promptTokenCount": input, "candidatesTokenCount": output, "totalTokenCount": input + output,
                },
                "modelVersion": model, "responseId": "resp-fake",
            })
        }
        Dialect::Ollama => json!({
            "model": model, "created_at": "2026-11-21T00:00:00Z",
            "message": {"role": "assistant", "content": text}, "done": true, "done_reason": stop,
            "total_duration": 1, "prompt_eval_count": input, "eval_count": output,
        }),
        Dialect::OpenAiDecisions => {
            let of = |value: &str, p: f64| json!({"value": value, "probability": p});
            let probabilities = json!([of("A", a), of("B", b), of("tie", 0.0)]);
            let mut answer =
                json!({"type": "choice", "name": "better", "choice": "A", "confidence": 0.5});
            answer["probabilities"] = probabilities;
            let usage = json!({"input_tokens": input, "output_tokens": 0, "total_tokens": input});
            json!({"model": model, "answers": [answer], "usage": usage})
        }
        Dialect::Embeddings => {
            // Backwards, as nothing forbids.
            let vectors = vectors(recorded).into_iter().enumerate().rev();
            let datum =
                |(at, vector)| json!({"object": "embedding", "index": at, "embedding": vector});
            let data: Vec<Value> = vectors.map(datum).collect();
            let usage = json!({"prompt_tokens": input, "total_tokens": input});
            json!({"object": "list", "data": data, "model": model, "usage": usage})
        }
        Dialect::OllamaEmbed => {
            let vectors = vectors(recorded);
            json!({"model": model, "embeddings": vectors, "total_duration": 1, "prompt_eval_count": input})
        }
        Dialect::GeminiDecisions => {
            let probabilities = json!({"a": a, "b": b, "tie": 0.0});
            let answer = json!({"type": "choice", "choice": "a", "confidence": 0.5, "probabilities": probabilities});
            let usage = json!({"total_input_tokens": input, "total_output_tokens": 0, "total_tokens": input});
            json!({"answers": {"better": answer}, "usage": usage})
        }
        _ => rerank::reply(dialect, &model, text, input),
    }
}

/// How often each text of a call speaks of what the tests speak of; the last number keeps a vector
/// from being zero.
fn vectors(recorded: &Recorded) -> Vec<[f64; 4]> {
    let texts = recorded.body["input"].as_array().unwrap();
    let count = |text: &Value, words: [&str; 2]| {
        let text = text.as_str().unwrap().to_lowercase();
        let found: usize = words.iter().map(|word| text.matches(word).count()).sum();
        found as f64
    };
    texts
        .iter()
        .map(|text| {
            [
                count(text, ["aspirin", "salicyl"]),
                count(text, ["fever", "pyretic"]),
                count(text, ["bread", "sourdough"]),
                0.5,
            ]
        })
        .collect()
}
