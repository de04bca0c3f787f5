//! Ollama: `/api/chat` with a schema in `format`. The context size is fixed and nothing may be
//! truncated silently: a prompt that does not fit is an error, and so is an answer that shows signs
//! of a truncated prompt.

use super::chat;
use super::error_response;
use super::json::{count_at, merge, text_at};
use super::learnt::{Learnt, Refusal};
use super::provider_trait::{
    EmbeddingFormat, ModelList, Provider, ProviderLimits, SHORT_CAP, api_route,
};
use super::response::HttpResponse;
use super::service::{CallOptions, Service, ServiceAccess, VendorKey};
use super::settings::{
    AnswerFields, JudgeSettings, broken_off, cut_off, failure_in_reply, odd_stop, seed, temperature,
};
use super::token_counts::TokenCounts;
use super::wire_format::WireFormat;
use crate::judge::call::{CallError, FailureCause, JudgePrompt, JudgeReply, Usage};
use crate::judge::price::CacheWrites;
use reqwest::Url;
use serde_json::{Value, json};

/// The server on this machine.
const BASE: &str = "http://127.0.0.1:11434";

/// Number of most likely tokens requested for each generated one.
const TOP: u64 = 20;

/// Requested context size in tokens, always the same: another value would reload the model.
pub(crate) const CONTEXT: u64 = 16_384;

/// Ollama's format.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ollama;

impl Service for Ollama {
    fn name(&self) -> &'static str {
        "ollama"
    }

    fn access(&self) -> ServiceAccess {
        ServiceAccess {
            key: VendorKey::new(&["OLLAMA_API_KEY"], &["ollama.com", ".ollama.com"]),
            key_is_for_cloud: true,
            base_env: "OLLAMA_HOST",
            // Its own route, and that of the OpenAI-compatible API, which cannot set a context
            // size.
            routes: &["/v1/chat/completions", "/api/chat", "/api", "/v1"],
            ..ServiceAccess::local(BASE)
        }
    }

    fn parse_base(&self, text: &str) -> Option<Url> {
        host(text)
    }
}

impl Provider for Ollama {
    fn format(&'static self) -> Box<dyn WireFormat> {
        Box::new(*self)
    }

    fn url(&self, base: &Url, _: CallOptions<'_>) -> Url {
        api_route(base, "/chat")
    }

    fn limits(&self) -> ProviderLimits {
        ProviderLimits {
            cap: 2048,
            short_cap: Some(SHORT_CAP),
            document_chars: 16_000,
            concurrency: Some(4),
        }
    }

    fn embeddings(&self) -> Option<EmbeddingFormat> {
        Some(EmbeddingFormat::Ollama)
    }

    fn own_models(&self) -> Option<ModelList> {
        Some(ModelList::Ollama)
    }
}

impl WireFormat for Ollama {
    fn build_request(
        &self,
        settings: &JudgeSettings,
        prompt: &JudgePrompt,
        learnt: Learnt,
    ) -> Value {
        let mut messages = Vec::new();
        if !prompt.system.is_empty() {
            messages.push(json!({"role": "system", "content": prompt.system}));
        }
        messages.push(json!({"role": "user", "content": prompt.user}));
        let letter = settings.template.answer.is_word();
        let mut body = json!({
            "model": settings.spec.model,
            "stream": false,
            "messages": messages,
            "format": settings.template.answer.bounded_schema(learnt.has(Refusal::Bounds)),
            "think": false,
            "keep_alive": "30m",
            "truncate": false,
            "shift": false,
            "options": {
                "num_ctx": CONTEXT,
                "num_predict": settings.cap(prompt, learnt.needs_room()),
                "temperature": temperature(prompt),
                "seed": seed(prompt, 1),
            },
        });
        if let Value::Object(body) = &mut body {
            if body.get("format").is_some_and(Value::is_null) {
                body.shift_remove("format");
            }
            if learnt.has(Refusal::Thinking) {
                body.shift_remove("think");
            }
            if letter && !learnt.has(Refusal::Logprobs) {
                body.insert("logprobs".to_owned(), json!(true));
                body.insert("top_logprobs".to_owned(), json!(TOP));
            }
        }
        merge(&mut body, &settings.params);
        body
    }

    fn caps(&self) -> &'static [&'static str] {
        &["/options/num_predict"]
    }

    fn parse_response(
        &self,
        settings: &JudgeSettings,
        received: &HttpResponse,
    ) -> Result<JudgeReply, CallError> {
        let value = error_response::json(settings, received)
            .map_err(|error| error_response::with_pull(settings, error))?;
        self.parse_reply(settings, &value, received)
    }

    fn parse_reply(
        &self,
        settings: &JudgeSettings,
        value: &Value,
        received: &HttpResponse,
    ) -> Result<JudgeReply, CallError> {
        let Some(message) = value.get("message").filter(|message| message.is_object()) else {
            return Err(error_response::not_json(received));
        };
        let (text, outside) = chat::written(message);
        let stop = text_at(value, "/done_reason");
        let read = count_at(value, "/prompt_eval_count");
        let counts = TokenCounts::of(value);
        let usage = Usage {
            input: counts.needed("/prompt_eval_count"),
            output: counts.needed("/eval_count"),
            ..Usage::default()
        };
        let fields = AnswerFields {
            text,
            outside,
            model: text_at(value, "/model"),
            stop_reason: stop.clone(),
            tokens: counts.settle(usage, CacheWrites::default()),
            ..AnswerFields::default()
        };
        let mut reply = settings.reply(fields, received);
        if settings.template.answer.is_word() {
            let tokens = value.get("logprobs").and_then(Value::as_array);
            reply.odds = tokens.and_then(|tokens| chat::odds(tokens, &reply.text));
        }
        let context = context(settings);
        // Servers without support for `truncate` keep the whole window, or half of it and two
        // tokens. A request too short to have overflowed, at two bytes per token, reaches such a
        // count only by chance.
        let halved = read.abs_diff(context / 2 + 2) <= 2 && received.sent as u64 > 2 * context;
        if read >= context || halved {
            let message = format!(
                "the server read {read} tokens of a context of {context}, the mark of a prompt cut \
                 silently; raise \
                 params.options.num_ctx or lower max_document_chars"
            );
            return Err(failure_in_reply(FailureCause::TooLong, message, reply));
        }
        match stop.as_deref() {
            Some("stop") | None => Ok(reply),
            Some("length") => Err(cut_off(settings, reply)),
            Some("") => Err(broken_off(FailureCause::Connection, None, reply)),
            // The model is being loaded or unloaded.
            Some(reason @ ("load" | "unload")) => {
                Err(broken_off(FailureCause::Server, Some(reason), reply))
            }
            other => Err(odd_stop(other, reply)),
        }
    }
}

/// The context size that requests ask for.
fn context(settings: &JudgeSettings) -> u64 {
    let own = settings
        .params
        .get("options")
        .and_then(|options| options.get("num_ctx"));
    own.and_then(Value::as_u64).unwrap_or(CONTEXT)
}

/// An address in the format of `OLLAMA_HOST`: a bare host means http on Ollama's port, and 0.0.0.0
/// means this machine.
pub fn host(text: &str) -> Option<Url> {
    let text = text.trim().trim_end_matches('/');
    let mut url = if text.contains("://") {
        Url::parse(text)
    } else {
        Url::parse(&format!("http://{text}"))
    }
    .ok()?;
    if !text.contains("://") && url.port().is_none() {
        url.set_port(Some(11434)).ok()?;
    }
    if url.host_str() == Some("0.0.0.0") {
        url.set_host(Some("127.0.0.1")).ok()?;
    }
    Some(url)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{received, settings};
    use super::*;
    use crate::judge::call::Retry;

    fn reply(status: u16, body: Value) -> Result<JudgeReply, CallError> {
        Ollama.parse_response(&settings("ollama", "qwen3:8b"), &received(status, &body))
    }

    #[test]
    fn the_request_is_the_documented_one() {
        let prompt = JudgePrompt {
            system: "s".to_owned(),
            user: "u".to_owned(),
            ..JudgePrompt::default()
        };
        assert_eq!(
            Ollama
                .build_request(&settings("ollama", "qwen3:8b"), &prompt, Learnt::default())
                .to_string(),
            concat!(
                r#"{"model":"qwen3:8b","stream":false,"messages":[{"role":"system","content":"s"},{"role":"user","content":"u"}],"#,
                r#""format":{"type":"object","properties":{"thoughts":{"type":"array","items":{"type":"string","maxLength":400},"maxItems":8},"score":{"type":"number"}},"#,
                r#""required":["thoughts","score"],"additionalProperties":false},"#,
                r#""think":false,"keep_alive":"30m","truncate":false,"shift":false,"#,
                r#""options":{"num_ctx":16384,"num_predict":2048,"temperature":0,"seed":1}}"#
            )
        );
        assert_eq!(
            Ollama
                .build_request(
                    &settings("ollama", "gpt-oss"),
                    &prompt,
                    Learnt::default().with(Refusal::Thinking)
                )
                .get("think"),
            None
        );
    }

    #[test]
    fn a_cut_prompt_is_an_error() {
        let body = |read: u64, stop: &str| json!({"model": "qwen3:8b", "message": {"content": "{}"}, "done_reason": stop, "done": true, "prompt_eval_count": read, "eval_count": 5});
        assert_eq!(reply(200, body(1000, "stop")).unwrap().usage.input, 1000);
        for read in [16_384, 8194, 8193, 20_000] {
            assert_eq!(
                reply(200, body(read, "stop")).unwrap_err().cause,
                FailureCause::TooLong,
                "{read}"
            );
        }
        let short = HttpResponse {
            sent: 20_000,
            ..received(200, &body(8194, "stop"))
        };
        let settings = settings("ollama", "qwen3:8b");
        assert!(Ollama.parse_response(&settings, &short).is_ok());
        assert_eq!(
            reply(200, body(1000, "length")).unwrap_err().cause,
            FailureCause::Truncated
        );
        assert_eq!(
            reply(200, body(1000, "")).unwrap_err().cause,
            FailureCause::Connection
        );
        assert_eq!(
            reply(200, body(1000, "load")).unwrap_err().retry,
            Retry::After(None),
            "it passes"
        );
        let overflow = reply(
            400,
            json!({"error": "the input length exceeds the context length"}),
        )
        .unwrap_err();
        assert!(
            overflow.cause == FailureCause::TooLong
                && !overflow.stops_judge
                && overflow.message.contains("max_document_chars")
        );
    }

    #[test]
    fn a_missing_model_says_how_to_get_it() {
        let error = reply(
            404,
            json!({"error": "model \"qwen3:8b\" not found, try pulling it first"}),
        )
        .unwrap_err();
        assert!(
            error.stops_judge && error.message.ends_with("run: ollama pull qwen3:8b"),
            "{error}"
        );
    }

    #[test]
    fn hosts_are_read_as_ollama_reads_them() {
        for (text, url) in [
            ("gpu", "http://gpu:11434/"),
            ("0.0.0.0:1234", "http://127.0.0.1:1234/"),
            ("http://gpu", "http://gpu/"),
            ("https://gpu/ollama", "https://gpu/ollama"),
        ] {
            assert_eq!(host(text).unwrap().as_str(), url);
        }
        assert_eq!(host("http://["), None);
    }
}
