//! Google Gemini: `generateContent` with a response schema; the key is sent in a header, never in
//! the URL.

use super::address::join;
use super::batch::format::BatchFormat;
use super::batch::gemini::GeminiBatches;
use super::chat;
use super::error_response;
use super::json::{merge, text_at};
use super::learnt::{Learnt, Refusal};
use super::provider_trait::{Provider, ProviderLimits};
use super::response::HttpResponse;
use super::service::{CallOptions, KeyHeader, Service, ServiceAccess, VendorKey};
use super::settings::{
    AnswerFields, JudgeSettings, cut_off, filtered, odd_stop, seed, served_terms, temperature,
};
use super::token_counts::TokenCounts;
use super::wire_format::WireFormat;
use crate::judge::call::{AnswerProbabilities, CallError, JudgePrompt, JudgeReply, Usage};
use crate::judge::price::CacheWrites;
use reqwest::Url;
use serde_json::{Map, Value, json};

/// How Google's Gemini API is reached, for all of its endpoints.
pub(super) const ACCESS: ServiceAccess = ServiceAccess {
    routes: &["/v1beta", "/v1"],
    ..ServiceAccess::cloud(
        VendorKey::new(
            &["GOOGLE_API_KEY", "GEMINI_API_KEY"],
            &["generativelanguage.googleapis.com"],
        ),
        "https://generativelanguage.googleapis.com",
        "GOOGLE_GEMINI_BASE_URL",
    )
};

/// The header of Google's API keys.
pub(super) const KEY_HEADER: KeyHeader = KeyHeader::bare("x-goog-api-key");

/// The version of the API for single calls.
pub const VERSION: &str = "v1beta";

/// Number of most likely tokens requested for each generated one: the maximum that Google supports.
const TOP: u64 = 20;

const HARMS: [&str; 4] = [
    "HARASSMENT",
    "HATE_SPEECH",
    "SEXUALLY_EXPLICIT",
    "DANGEROUS_CONTENT",
];

#[derive(Clone, Copy, Debug, Default)]
pub struct Gemini;

impl Service for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn access(&self) -> ServiceAccess {
        ACCESS
    }

    fn key_header(&self, _: &str) -> KeyHeader {
        KEY_HEADER
    }
}

impl Provider for Gemini {
    fn format(&'static self) -> Box<dyn WireFormat> {
        Box::new(*self)
    }

    fn url(&self, base: &Url, options: CallOptions<'_>) -> Url {
        let version = options.api_version.unwrap_or(VERSION);
        let model = options
            .model
            .strip_prefix("models/")
            .unwrap_or(options.model);
        join(base, &format!("/{version}/models/{model}:generateContent"))
    }

    fn limits(&self) -> ProviderLimits {
        ProviderLimits {
            cap: 8192,
            ..ProviderLimits::default()
        }
    }

    fn batches(&self) -> Option<&'static dyn BatchFormat> {
        Some(&GeminiBatches)
    }

    /// Google's accounts have no default tier.
    fn has_account_tiers(&self) -> bool {
        false
    }
}

impl WireFormat for Gemini {
    fn build_request(
        &self,
        settings: &JudgeSettings,
        prompt: &JudgePrompt,
        learnt: Learnt,
    ) -> Value {
        let mut generation = Map::new();
        if let Some(schema) = settings.template.answer.schema() {
            generation.insert("responseMimeType".to_owned(), json!("application/json"));
            generation.insert("responseJsonSchema".to_owned(), schema);
        }
        generation.insert(
            "maxOutputTokens".to_owned(),
            json!(settings.cap(prompt, learnt.needs_room())),
        );
        let own = settings
            .params
            .get("generationConfig")
            .and_then(|own| own.get("thinkingConfig"));
        if settings.template.answer.is_word() && !learnt.has(Refusal::Logprobs) {
            generation.insert("responseLogprobs".to_owned(), json!(true));
            generation.insert("logprobs".to_owned(), json!(TOP));
        }
        if !learnt.has(Refusal::Temperature) {
            generation.insert("temperature".to_owned(), temperature(prompt));
        }
        if !learnt.has(Refusal::Seed) {
            generation.insert("seed".to_owned(), seed(prompt, 0));
        }
        let level = takes_level(&settings.base_model) && !learnt.has(Refusal::Thinking);
        if level && own.is_none() {
            generation.insert("thinkingConfig".to_owned(), json!({"thinkingLevel": "LOW"}));
        }
        let off =
            |harm: &&str| json!({"category": format!("HARM_CATEGORY_{harm}"), "threshold": "OFF"});
        let mut body = json!({
            "systemInstruction": {"parts": [{"text": prompt.system}]},
            "contents": [{"role": "user", "parts": [{"text": prompt.user}]}],
            "generationConfig": generation,
            "safetySettings": HARMS.iter().map(off).collect::<Vec<_>>(),
        });
        if let (true, Value::Object(body)) = (prompt.system.is_empty(), &mut body) {
            body.shift_remove("systemInstruction");
        }
        merge(&mut body, &settings.params);
        body
    }

    fn caps(&self) -> &'static [&'static str] {
        &["/generationConfig/maxOutputTokens"]
    }

    fn parse_reply(
        &self,
        settings: &JudgeSettings,
        value: &Value,
        received: &HttpResponse,
    ) -> Result<JudgeReply, CallError> {
        let blocked = text_at(value, "/promptFeedback/blockReason");
        let candidate = value.pointer("/candidates/0");
        if candidate.is_none() && blocked.is_none() {
            return Err(error_response::not_json(received));
        }
        let stop = candidate.and_then(|candidate| text_at(candidate, "/finishReason"));
        let parts = candidate.and_then(|candidate| candidate.pointer("/content/parts")?.as_array());
        let text_of = |thought: bool| -> String {
            parts
                .into_iter()
                .flatten()
                .filter(|part| (part.get("thought") == Some(&Value::Bool(true))) == thought)
                .filter_map(|part| part.get("text")?.as_str())
                .collect()
        };
        let (content, thoughts) = (text_of(false), text_of(true));
        let counts = TokenCounts::of(value);
        let thinking = counts.optional("/usageMetadata/thoughtsTokenCount");
        // Google omits counts of 0.
        let written_out = "/usageMetadata/candidatesTokenCount";
        let written_out = if content.is_empty() {
            counts.optional(written_out)
        } else {
            counts.needed(written_out)
        };
        let usage = Usage {
            input: counts.needed("/usageMetadata/promptTokenCount"),
            cached: counts.optional("/usageMetadata/cachedContentTokenCount"),
            // Thoughts are billed as output but counted separately.
            output: written_out + thinking,
            thinking,
        };
        let outside = content.trim().is_empty() && !thoughts.trim().is_empty();
        let fields = AnswerFields {
            text: if outside { thoughts } else { content },
            outside: outside.then_some("thought part"),
            model: text_at(value, "/modelVersion"),
            stop_reason: stop.clone().or_else(|| blocked.clone()),
            request_id: text_at(value, "/responseId"),
            tokens: counts.settle(usage, CacheWrites::default()),
            fingerprint: None,
            charged_usd: None,
            served: served_terms(value, received),
        };
        let mut reply = settings.reply(fields, received);
        if settings.template.answer.is_word() {
            reply.odds = candidate.and_then(|candidate| odds(candidate, &reply.text));
        }
        match (stop.as_deref(), blocked) {
            (None, Some(reason)) => Err(filtered(Some(&reason), reply)),
            (Some("STOP"), _) => Ok(reply),
            (Some("MAX_TOKENS" | "CONTINUATION"), _) => Err(cut_off(settings, reply)),
            (
                Some(
                    reason @ ("SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
                    | "LANGUAGE" | "OTHER" | "ESCALATION" | "IMAGE_SAFETY"),
                ),
                _,
            ) => Err(filtered(Some(reason), reply)),
            (other, _) => Err(odd_stop(other, reply)),
        }
    }
}

/// The probabilities in a candidate's log-probabilities: Google lists the most likely tokens of
/// each position separately from the chosen ones.
fn odds(candidate: &Value, text: &str) -> Option<AnswerProbabilities> {
    let likeliest = candidate
        .pointer("/logprobsResult/topCandidates")?
        .as_array()?;
    let chosen = candidate
        .pointer("/logprobsResult/chosenCandidates")?
        .as_array()?;
    let tokens: Vec<Value> = chosen
        .iter()
        .zip(likeliest)
        .map(|(chosen, top)| {
            let token =
                |of: &Value| json!({"token": of.get("token"), "logprob": of.get("logProbability")});
            let top = top.get("candidates").and_then(Value::as_array);
            let top: Vec<Value> = top.into_iter().flatten().map(token).collect();
            json!({"token": chosen.get("token"), "top_logprobs": top})
        })
        .collect();
    chat::odds(&tokens, text)
}

/// Whether the model accepts a thinking level: Gemini 3 and later.
fn takes_level(model: &str) -> bool {
    let name = model.strip_prefix("models/").unwrap_or(model);
    let generation = name
        .strip_prefix("gemini-")
        .and_then(|rest| rest.chars().next()?.to_digit(10));
    generation.is_some_and(|generation| generation >= 3)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{received, settings};
    use super::*;
    use crate::judge::call::FailureCause;
    use crate::judge::call::Retry;
    use std::time::Duration;

    fn reply(status: u16, body: Value) -> Result<JudgeReply, CallError> {
        let settings = settings("gemini", "gemini-3.8-flash");
        Gemini.parse_response(&settings, &received(status, &body))
    }

    #[test]
    fn the_request_is_the_documented_one() {
        let prompt = JudgePrompt {
            system: "You are a judge. RUBRIC".to_owned(),
            user: "...".to_owned(),
            ..JudgePrompt::default()
        };
        assert_eq!(
            Gemini
                .build_request(
                    &settings("gemini", "gemini-3.8-flash"),
                    &prompt,
                    Learnt::default()
                )
                .to_string(),
            concat!(
                r#"{"systemInstruction":{"parts":[{"text":"You are a judge. RUBRIC"}]},"contents":[{"role":"user","parts":[{"text":"..."}]}],"#,
                r#""generationConfig":{"responseMimeType":"application/json","responseJsonSchema":"#,
                r#"{"type":"object","properties":{"thoughts":{"type":"array","items":{"type":"string"}},"score":{"type":"number"}},"#,
                r#""required":["thoughts","score"],"additionalProperties":false},"#,
                r#""maxOutputTokens":8192,"temperature":0,"seed":0,"thinkingConfig":{"thinkingLevel":"LOW"}},"#,
                r#""safetySettings":[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"OFF"},"#,
                r#"{"category":"HARM_CATEGORY_HATE_SPEECH","threshold":"OFF"},"#,
                r#"{"category":"HARM_CATEGORY_SEXUALLY_EXPLICIT","threshold":"OFF"},"#,
                r#"{"category":"HARM_CATEGORY_DANGEROUS_CONTENT","threshold":"OFF"}]}"#
            )
        );
        let old = Gemini.build_request(
            &settings("gemini", "gemini-2.5-flash"),
            &prompt,
            Learnt::default(),
        );
        assert_eq!(old.pointer("/generationConfig/thinkingConfig"), None);
    }

    #[test]
    fn the_users_own_thinking_replaces_the_level() {
        let mut settings = settings("gemini", "gemini-3.8-flash");
        settings.params = json!({"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}})
            .as_object()
            .unwrap()
            .clone();
        let body = Gemini.build_request(&settings, &JudgePrompt::default(), Learnt::default());
        assert_eq!(
            body["generationConfig"]["thinkingConfig"],
            json!({"thinkingBudget": 0})
        );
        assert_eq!(body["generationConfig"]["maxOutputTokens"], 8192);
    }

    #[test]
    fn thoughts_are_no_text_but_are_output() {
        let reply = reply(200, json!({
            "candidates": [{"content": {"role": "model", "parts": [{"text": "hm", "thought": true}, {"text": "{}"}]}, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 100, "cachedContentTokenCount": 40, "candidatesTokenCount": 10, "thoughtsTokenCount": 30},
            "modelVersion": "gemini-3.8-flash-001", "responseId": "r1"
        })).unwrap();
        assert_eq!(
            (reply.text.as_str(), reply.request_id.as_deref()),
            ("{}", Some("r1"))
        );
        assert_eq!(
            (
                reply.usage.input,
                reply.usage.cached,
                reply.usage.output,
                reply.usage.thinking
            ),
            (100, 40, 40, 30)
        );
    }

    #[test]
    fn every_way_to_stop_is_decided() {
        for (body, cause) in [
            (
                json!({"candidates": [{"finishReason": "MAX_TOKENS"}]}),
                FailureCause::Truncated,
            ),
            (
                json!({"candidates": [{"finishReason": "CONTINUATION", "continuationToken": "x"}]}),
                FailureCause::Truncated,
            ),
            (
                json!({"candidates": [{"finishReason": "SAFETY"}]}),
                FailureCause::Filtered,
            ),
            (
                json!({"candidates": [{"finishReason": "RECITATION"}]}),
                FailureCause::Filtered,
            ),
            (
                json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}),
                FailureCause::Filtered,
            ),
            (
                json!({"candidates": [{"finishReason": "MALFORMED_RESPONSE"}]}),
                FailureCause::Malformed,
            ),
            (
                json!({"candidates": [{"finishReason": "SOMETHING_NEW"}]}),
                FailureCause::Malformed,
            ),
            (json!({"candidates": [{}]}), FailureCause::Malformed),
            (json!({}), FailureCause::Malformed),
        ] {
            assert_eq!(reply(200, body.clone()).unwrap_err().cause, cause, "{body}");
        }
    }

    #[test]
    fn a_quota_of_the_day_stops_and_one_of_the_minute_waits() {
        let exhausted = |quota: &str| {
            json!([{"error": {"code": 429, "message": "Resource has been exhausted", "status": "RESOURCE_EXHAUSTED", "details": [
                {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": quota}]},
                {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "37s"}]}}])
        };
        let minute = reply(429, exhausted("GenerateRequestsPerMinutePerProject")).unwrap_err();
        assert_eq!(
            (minute.cause, minute.retry),
            (
                FailureCause::RateLimited,
                Retry::After(Some(Duration::from_secs(37)))
            )
        );
        let day = reply(429, exhausted("GenerateRequestsPerDayPerProject")).unwrap_err();
        assert_eq!(
            (day.cause, day.retry, day.stops_judge),
            (FailureCause::QuotaExhausted, Retry::Never, true)
        );
        let key = json!({"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}});
        let key = reply(400, key).unwrap_err();
        assert!(
            key.cause == FailureCause::Unauthorized
                && key.stops_judge
                && key.message.contains("THE_KEY")
        );
    }
}
