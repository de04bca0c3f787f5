//! Anthropic: Messages with `output_config.format`.

use super::address::join;
use super::batch::anthropic::AnthropicBatches;
use super::batch::format::BatchFormat;
use super::error_response;
use super::json::{merge, text_at};
use super::learnt::{Learnt, StepsLeft};
use super::provider_trait::{Provider, ProviderLimits};
use super::response::HttpResponse;
use super::service::{
    CallOptions, InvalidApiVersion, KeyHeader, Service, ServiceAccess, VendorKey,
};
use super::settings::{
    AnswerFields, JudgeSettings, context_full, cut_off, failure_in_reply, odd_stop, served_terms,
};
use super::token_counts::TokenCounts;
use super::wire_format::WireFormat;
use crate::judge::call::{CallError, FailureCause, JudgePrompt, JudgeReply, Usage};
use crate::judge::price::CacheWrites;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value, json};

/// The version of the API that accepts no sampling parameters.
pub const VERSION: &str = "2026-10-21";

/// The header of the version.
const VERSION_HEADER: HeaderName = HeaderName::from_static("anthropic-version");

/// The version for older models with sampling parameters.
pub const OLD_VERSION: &str = "2023-06-01";

#[derive(Clone, Copy, Debug, Default)]
pub struct Anthropic;

impl Service for Anthropic {
    fn name(&self) -> &'static str {
        "anthropic"
    }

    fn access(&self) -> ServiceAccess {
        let key = VendorKey {
            other_variables: &["ANTHROPIC_AUTH_TOKEN"],
            ..VendorKey::new(&["ANTHROPIC_API_KEY"], &["api.anthropic.com"])
        };
        ServiceAccess {
            routes: &["/v1/messages", "/v1"],
            ..ServiceAccess::cloud(key, "https://api.anthropic.com", "ANTHROPIC_BASE_URL")
        }
    }

    fn key_header(&self, _: &str) -> KeyHeader {
        KeyHeader::bare("x-api-key")
    }

    fn headers(&self, options: CallOptions<'_>) -> Result<HeaderMap, InvalidApiVersion> {
        let version = match options.api_version {
            Some(version) => {
                HeaderValue::from_str(version).map_err(|_| InvalidApiVersion(version.to_owned()))?
            }
            None => HeaderValue::from_static(version(options.params)),
        };
        Ok(HeaderMap::from_iter([(VERSION_HEADER, version)]))
    }
}

impl Provider for Anthropic {
    fn format(&'static self) -> Box<dyn WireFormat> {
        Box::new(*self)
    }

    fn url(&self, base: &Url, _: CallOptions<'_>) -> Url {
        join(base, "/v1/messages")
    }

    fn limits(&self) -> ProviderLimits {
        ProviderLimits {
            cap: 16_000,
            ..ProviderLimits::default()
        }
    }

    fn batches(&self) -> Option<&'static dyn BatchFormat> {
        Some(&AnthropicBatches)
    }

    /// Anthropic's better tier is paid in advance.
    fn has_account_tiers(&self) -> bool {
        false
    }
}

impl WireFormat for Anthropic {
    fn build_request(
        &self,
        settings: &JudgeSettings,
        prompt: &JudgePrompt,
        learnt: Learnt,
    ) -> Value {
        let mut body = json!({
            "model": settings.spec.model,
            "max_tokens": settings.cap(prompt, learnt.needs_room()),
            "system": [{"type": "text", "text": prompt.system, "cache_control": {"type": "ephemeral"}}],
            "messages": [{"role": "user", "content": prompt.user}],
        });
        let mut output = Map::new();
        if takes_effort(&settings.base_model) && learnt.efforts() == 0 {
            output.insert("effort".to_owned(), json!("low"));
        }
        if let Some(schema) = settings
            .template
            .answer
            .schema()
            .filter(|_| learnt.rung() == 0)
        {
            output.insert(
                "format".to_owned(),
                json!({"type": "json_schema", "schema": schema}),
            );
        }
        if let Value::Object(body) = &mut body {
            if prompt.system.is_empty() {
                body.shift_remove("system");
            }
            if !output.is_empty() {
                body.insert("output_config".to_owned(), Value::Object(output));
            }
        }
        merge(&mut body, &settings.params);
        body
    }

    fn steps_left(&self, settings: &JudgeSettings, learnt: Learnt) -> StepsLeft {
        StepsLeft {
            rung: learnt.rung() == 0 && settings.template.answer.schema().is_some(),
            efforts: usize::from(takes_effort(&settings.base_model)),
        }
    }

    fn caps(&self) -> &'static [&'static str] {
        &["/max_tokens"]
    }

    fn parse_reply(
        &self,
        settings: &JudgeSettings,
        value: &Value,
        received: &HttpResponse,
    ) -> Result<JudgeReply, CallError> {
        let Some(content) = value.get("content").and_then(Value::as_array) else {
            return Err(error_response::not_json(received));
        };
        let stop = text_at(value, "/stop_reason");
        let counts = TokenCounts::of(value);
        let read = counts.optional("/usage/cache_read_input_tokens");
        let creation = "/usage/cache_creation";
        let written = counts.optional("/usage/cache_creation_input_tokens");
        // Without the parts, all of it is what was asked for.
        let writes = if value.pointer(creation).is_some_and(Value::is_object) {
            let part = |name: &str| counts.optional(&format!("{creation}/{name}"));
            let long = part("ephemeral_1h_input_tokens");
            CacheWrites {
                tokens: written.max(long + part("ephemeral_5m_input_tokens")),
                long,
            }
        } else {
            settings.cache_writes(written)
        };
        let usage = Usage {
            // Anthropic counts cached tokens separately.
            input: counts.needed("/usage/input_tokens") + read + writes.tokens,
            cached: read,
            output: counts.needed("/usage/output_tokens"),
            thinking: counts.optional("/usage/output_tokens_details/thinking_tokens"),
        };
        let blocks = |kind: &str| -> String {
            content
                .iter()
                .filter(|block| block.get("type").and_then(Value::as_str) == Some(kind))
                .filter_map(|block| block.get(kind)?.as_str())
                .collect()
        };
        let (text, thinking) = (blocks("text"), blocks("thinking"));
        let outside = text.trim().is_empty() && !thinking.trim().is_empty();
        let fields = AnswerFields {
            text: if outside { thinking } else { text },
            outside: outside.then_some("thinking block"),
            model: text_at(value, "/model"),
            stop_reason: stop.clone(),
            request_id: received.request_id().or_else(|| text_at(value, "/id")),
            tokens: counts.settle(usage, writes),
            fingerprint: None,
            charged_usd: None,
            served: served_terms(value, received),
        };
        let reply = settings.reply(fields, received);
        match stop.as_deref() {
            Some("end_turn" | "stop_sequence") => Ok(reply),
            Some("max_tokens") => Err(cut_off(settings, reply)),
            Some("model_context_window_exceeded") => Err(context_full(reply)),
            Some("refusal") => {
                let category = text_at(value, "/stop_details/category")
                    .unwrap_or_else(|| "no category given".to_owned());
                Err(failure_in_reply(
                    FailureCause::Refused,
                    format!("the model declined to answer: {category}"),
                    reply,
                ))
            }
            other => Err(odd_stop(other, reply)),
        }
    }
}

/// The version that the judge's parameters require.
pub fn version(params: &Map<String, Value>) -> &'static str {
    let sampling = ["temperature", "top_p", "top_k"]
        .iter()
        .any(|name| params.contains_key(*name));
    if sampling { OLD_VERSION } else { VERSION }
}

/// Whether the model accepts an effort: those of the 4.5 generation and before do not.
fn takes_effort(model: &str) -> bool {
    !["claude-3", "-4-5", "-4-1", "-4-0", "-4-2025"]
        .iter()
        .any(|old| model.contains(old))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{received, settings};
    use super::*;

    fn reply(status: u16, body: Value) -> Result<JudgeReply, CallError> {
        let settings = settings("anthropic", "claude-sonnet-5-5");
        Anthropic.parse_response(&settings, &received(status, &body))
    }

    #[test]
    fn the_request_is_the_documented_one() {
        let prompt = JudgePrompt {
            system: "You are a judge. RUBRIC".to_owned(),
            user: "...".to_owned(),
            ..JudgePrompt::default()
        };
        assert_eq!(
            Anthropic
                .build_request(
                    &settings("anthropic", "claude-sonnet-5-5"),
                    &prompt,
                    Learnt::default()
                )
                .to_string(),
            concat!(
                r#"{"model":"claude-sonnet-5-5","max_tokens":16000,"#,
                r#""system":[{"type":"text","text":"You are a judge. RUBRIC","cache_control":{"type":"ephemeral"}}],"#,
                r#""messages":[{"role":"user","content":"..."}],"#,
                r#""output_config":{"effort":"low","format":{"type":"json_schema","schema":"#,
                r#"{"type":"object","properties":{"thoughts":{"type":"array","items":{"type":"string"}},"score":{"type":"number"}},"#,
                r#""required":["thoughts","score"],"additionalProperties":false}}}}"#
            )
        );
        let old = Anthropic.build_request(
            &settings("anthropic", "claude-haiku-4-5"),
            &prompt,
            Learnt::default(),
        );
        assert_eq!(old.pointer("/output_config/effort"), None);
        assert!(old.pointer("/output_config/format").is_some());
    }

    #[test]
    fn sampling_parameters_need_the_old_version() {
        let params = |value: Value| value.as_object().unwrap().clone();
        assert_eq!(version(&params(json!({}))), "2026-10-21");
        assert_eq!(version(&params(json!({"temperature": 0}))), "2023-06-01");
    }

    #[test]
    fn text_blocks_are_joined_and_cached_tokens_are_input_too() {
        let reply = reply(200, json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-5-5",
            "content": [{"type": "thinking", "thinking": "", "signature": "x"}, {"type": "text", "text": "{\"a\":"}, {"type": "text", "text": "1}"}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 100, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 30, "output_tokens": 50,
                "output_tokens_details": {"thinking_tokens": 40}}
        })).unwrap();
        assert_eq!(reply.text, "{\"a\":1}");
        assert_eq!(
            (
                reply.usage.input,
                reply.usage.cached,
                reply.usage.output,
                reply.usage.thinking
            ),
            (150, 30, 50, 40)
        );
        let cost = (100.0 * 2.0 + 20.0 * 2.5 + 30.0 * 0.1 + 50.0 * 10.0) / 1e6;
        assert!((reply.cost_usd.unwrap() - cost).abs() < 1e-12);
    }

    #[test]
    fn the_stop_reason_is_looked_at_before_the_text() {
        for (reason, cause) in [
            (json!("max_tokens"), FailureCause::Truncated),
            (
                json!("model_context_window_exceeded"),
                FailureCause::TooLong,
            ),
            (json!("refusal"), FailureCause::Refused),
            (json!("tool_use"), FailureCause::Malformed),
            (json!("pause_turn"), FailureCause::Malformed),
            (Value::Null, FailureCause::Malformed),
        ] {
            let text = r#"{"thoughts":[],"score":1}"#;
            let body = json!({"content": [{"type": "text", "text": text}], "stop_reason": reason, "stop_details": {"category": "bio"}, "usage": {"input_tokens": 9, "output_tokens": 7}});
            let error = reply(200, body).unwrap_err();
            assert_eq!(error.cause, cause, "{reason}");
            assert_eq!(error.exchange.usage.output, 7);
        }
        let empty = reply(
            200,
            json!({"content": [], "stop_reason": "refusal", "stop_details": null}),
        );
        assert_eq!(empty.unwrap_err().cause, FailureCause::Refused);
    }
}
