//! OpenAI: chat completions with structured outputs.

use super::batch::format::BatchFormat;
use super::batch::openai::OpenAiBatches;
use super::chat::{self, Dialect};
use super::compatible::COMPATIBLE;
use super::learnt::{Learnt, Refusal, StepsLeft};
use super::provider_trait::{EmbeddingFormat, Provider};
use super::service::{Service, ServiceAccess, VendorKey};
use super::settings::JudgeSettings;
use super::wire_format::WireFormat;
use crate::judge::call::JudgePrompt;
use serde_json::{Value, json};

/// How OpenAI's API is reached, for all of its endpoints.
pub(super) const ACCESS: ServiceAccess = ServiceAccess::cloud(
    VendorKey {
        other_variables: &["OPENAI_ADMIN_KEY"],
        ..VendorKey::new(&["OPENAI_API_KEY"], &["api.openai.com", ".api.openai.com"])
    },
    "https://api.openai.com/v1",
    "OPENAI_BASE_URL",
);

/// Default reasoning effort of judges.
const EFFORT: &str = "low";

/// OpenAI's format.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenAi;

impl Service for OpenAi {
    fn name(&self) -> &'static str {
        "openai"
    }

    fn access(&self) -> ServiceAccess {
        ACCESS
    }
}

impl Provider for OpenAi {
    fn format(&'static self) -> Box<dyn WireFormat> {
        Box::new(*self)
    }

    fn batches(&self) -> Option<&'static dyn BatchFormat> {
        Some(&OpenAiBatches)
    }

    fn embeddings(&self) -> Option<EmbeddingFormat> {
        Some(EmbeddingFormat::OpenAi)
    }

    fn keyless(&self) -> Option<&'static dyn Provider> {
        Some(&COMPATIBLE)
    }
}

impl WireFormat for OpenAi {
    fn build_request(
        &self,
        settings: &JudgeSettings,
        prompt: &JudgePrompt,
        learnt: Learnt,
    ) -> Value {
        chat::request(settings, prompt, &dialect(settings, learnt))
    }

    fn steps_left(&self, settings: &JudgeSettings, learnt: Learnt) -> StepsLeft {
        steps_left(settings, learnt)
    }

    fn caps(&self) -> &'static [&'static str] {
        chat::CAPS
    }
}

/// The dialect of OpenAI and Azure.
pub(super) fn dialect(settings: &JudgeSettings, learnt: Learnt) -> Dialect {
    let effort = efforts(settings).get(learnt.efforts()).copied();
    // Reasoning models accept no sampling parameters except the seed.
    let plain = effort.is_none_or(|effort| effort == "none");
    let mut dialect = Dialect {
        role: "developer",
        cap: chat::MAX_COMPLETION_TOKENS,
        effort: effort.map(str::to_owned),
        private: true,
        format: chat::format_at(learnt.rung(), settings.template.answer.schema()),
        logprobs: true,
        temperature: plain,
        seed: Some("seed"),
        learnt,
        ..Dialect::default()
    };
    // In explicit mode without a breakpoint, nothing is written to the cache. Battles are asked in
    // a random order and at the same time, so a paid write would often be read by nobody.
    if settings.charges_cache_writes() && !learnt.has(Refusal::CacheMode) {
        dialect.extra.insert(
            "prompt_cache_options".to_owned(),
            json!({"mode": "explicit"}),
        );
    }
    if learnt.efforts() > 0 {
        // The user's own effort has been rejected; after the last, none is sent.
        let effort = effort.unwrap_or_default().into();
        dialect
            .overriding
            .insert("reasoning_effort".to_owned(), effort);
    }
    dialect
}

pub(super) fn steps_left(settings: &JudgeSettings, learnt: Learnt) -> StepsLeft {
    StepsLeft {
        rung: learnt.rung() < chat::PLAIN,
        efforts: efforts(settings).len(),
    }
}

/// The efforts to try, the preferred one first; after the last, none is sent.
fn efforts(settings: &JudgeSettings) -> Vec<&str> {
    match settings.param("reasoning_effort") {
        Some("") => Vec::new(),
        None if !reasons(&settings.base_model) => Vec::new(),
        None => vec![EFFORT],
        Some("none") => vec!["none", "minimal", "low"],
        Some("minimal") => vec!["minimal", "low"],
        Some(EFFORT) => vec![EFFORT],
        Some(other) => vec![other, EFFORT],
    }
}

/// Whether the model accepts an effort, judging by its name.
fn reasons(model: &str) -> bool {
    !["gpt-4", "gpt-3", "chatgpt-4"]
        .iter()
        .any(|old| model.starts_with(old))
}

#[cfg(test)]
mod tests {
    use super::super::learnt::learn;
    use super::super::testing::{received, settings};
    use super::*;
    use crate::judge::call::{Asking, CallError, FailureCause, JudgeReply};
    use crate::judge::price::PriceTable;
    use jiff::civil::date;

    fn reply(status: u16, body: Value) -> Result<JudgeReply, CallError> {
        let settings = settings("openai", "gpt-6.1-terra");
        OpenAi.parse_response(&settings, &received(status, &body))
    }

    #[test]
    fn the_request_is_the_documented_one() {
        let prompt = JudgePrompt {
            system: "You are a judge.".to_owned(),
            user: "...".to_owned(),
            ..JudgePrompt::default()
        };
        let settings = settings("openai", "gpt-6.1-terra");
        let body = OpenAi.build_request(&settings, &prompt, Learnt::default());
        assert_eq!(
            body.to_string(),
            concat!(
                r#"{"model":"gpt-6.1-terra","#,
                r#""messages":[{"role":"developer","content":"You are a judge."},{"role":"user","content":"..."}],"#,
                r#""max_completion_tokens":4096,"reasoning_effort":"low","store":false,"#,
                r#""response_format":{"type":"json_schema","json_schema":{"name":"judgement","strict":true,"schema":"#,
                r#"{"type":"object","properties":{"thoughts":{"type":"array","items":{"type":"string"}},"score":{"type":"number"}},"#,
                r#""required":["thoughts","score"],"additionalProperties":false}}},"seed":0,"#,
                r#""prompt_cache_options":{"mode":"explicit"}}"#
            )
        );
        let longer = JudgePrompt {
            asking: Asking::Longer,
            ..prompt
        };
        assert_eq!(
            OpenAi.build_request(&settings, &longer, Learnt::default())["max_completion_tokens"],
            8192
        );
    }

    #[test]
    fn nothing_is_written_to_a_cache_where_that_costs_more() {
        let mut settings = settings("openai", "gpt-6.1-terra");
        let mode = |settings: &JudgeSettings, learnt| {
            let body = OpenAi.build_request(settings, &JudgePrompt::default(), learnt);
            body["prompt_cache_options"]["mode"].clone()
        };
        let table = PriceTable::embedded();
        let price = |model| table.find("openai", "chat", model, date(2026, 11, 21));
        settings.price = price("gpt-6.1-terra");
        assert_eq!(mode(&settings, Learnt::default()), "explicit");
        let refused = reply(400, json!({"error": {"message": "Unrecognized request argument supplied: prompt_cache_options", "param": "prompt_cache_options", "code": "unknown_parameter"}})).unwrap_err();
        let body = OpenAi.build_request(&settings, &JudgePrompt::default(), Learnt::default());
        let left = steps_left(&settings, Learnt::default());
        let next = learn(Learnt::default(), &settings, &body, left, &refused).unwrap();
        assert_eq!(mode(&settings, next), Value::Null);
        let users = json!({"prompt_cache_options": {"mode": "implicit"}});
        settings.params = users.as_object().unwrap().clone();
        assert_eq!(mode(&settings, Learnt::default()), "implicit");
        settings.params.clear();
        settings.price = price("gpt-5.1");
        assert!(settings.price.is_some());
        assert_eq!(mode(&settings, Learnt::default()), Value::Null);
        settings.price = None;
        assert_eq!(mode(&settings, Learnt::default()), Value::Null);
    }

    #[test]
    fn a_rejected_effort_steps_on_and_is_left_out_in_the_end() {
        let mut settings = settings("openai", "gpt-6.1-sol");
        settings.params = json!({"reasoning_effort": "none", "seed": 7})
            .as_object()
            .unwrap()
            .clone();
        let error = reply(400, json!({"error": {"message": "no", "type": "invalid_request_error", "param": "reasoning_effort", "code": "unsupported_value"}})).unwrap_err();
        let mut state = Learnt::default();
        let mut sent = Vec::new();
        loop {
            let body = OpenAi.build_request(&settings, &JudgePrompt::default(), state);
            assert_eq!(body["seed"], 7);
            sent.push(body.get("reasoning_effort").cloned().unwrap_or_default());
            match OpenAi.adapt(&settings, state, &error) {
                Some(next) => state = next,
                None => break,
            }
        }
        assert_eq!(
            sent,
            [json!("none"), json!("minimal"), json!("low"), Value::Null]
        );
        let other = reply(
            400,
            json!({"error": {"message": "bad", "param": "seed", "code": null}}),
        )
        .unwrap_err();
        assert_eq!(OpenAi.adapt(&settings, Learnt::default(), &other), None);
    }

    #[test]
    fn old_models_get_no_effort() {
        let body = OpenAi.build_request(
            &settings("openai", "gpt-4.1-mini"),
            &JudgePrompt::default(),
            Learnt::default(),
        );
        assert_eq!(body.get("reasoning_effort"), None);
    }

    #[test]
    fn a_reply_says_all_there_is_to_know() {
        let reply = reply(200, json!({
            "id": "chatcmpl-1", "model": "gpt-6.1-terra-2026-09-01",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "{}", "refusal": null}}],
            "usage": {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100,
                "prompt_tokens_details": {"cached_tokens": 200, "cache_write_tokens": 300},
                "completion_tokens_details": {"reasoning_tokens": 60}}
        })).unwrap();
        assert_eq!(
            (reply.text.as_str(), reply.stop_reason.as_deref()),
            ("{}", Some("stop"))
        );
        assert_eq!(reply.model.as_deref(), Some("gpt-6.1-terra-2026-09-01"));
        assert_eq!(reply.request_id.as_deref(), Some("chatcmpl-1"));
        assert_eq!(
            (
                reply.usage.input,
                reply.usage.cached,
                reply.usage.output,
                reply.usage.thinking
            ),
            (1000, 200, 100, 60)
        );
        let cost = (500.0 + 200.0 * 0.05 + 300.0 * 1.25 + 100.0 * 5.0) / 1e6;
        assert!((reply.cost_usd.unwrap() - cost).abs() < 1e-12);
    }

    #[test]
    fn the_stop_reason_is_looked_at_before_the_text() {
        let stopped = |reason: &str, message: Value| {
            let body = json!({"choices": [{"finish_reason": reason, "message": message}], "usage": {"prompt_tokens": 10, "completion_tokens": 1_000_000}});
            reply(200, body).unwrap_err()
        };
        let whole = json!({"content": r#"{"thoughts":[],"score":1}"#});
        for (reason, cause) in [
            ("length", FailureCause::Truncated),
            ("content_filter", FailureCause::Filtered),
            ("error", FailureCause::Server),
            ("tool_calls", FailureCause::Malformed),
        ] {
            let error = stopped(reason, whole.clone());
            assert_eq!((error.cause, error.stops_judge), (cause, false), "{reason}");
            assert!(error.exchange.cost_usd.unwrap() > 5.0 && error.raw.is_some());
        }
        let refused = stopped("stop", json!({"content": null, "refusal": "No."}));
        assert_eq!(
            (refused.cause, refused.raw.as_deref()),
            (FailureCause::Refused, Some("No."))
        );
    }
}
