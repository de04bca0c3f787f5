//! Servers with an OpenAI-compatible chat completions API: vLLM, llama.cpp, LM Studio, OpenRouter,
//! Groq, Together, Mistral, DeepSeek, and any other at a base URL. The constraints that a server
//! supports on the form of an answer are detected once and remembered.

use super::chat;
use super::error_response;
use super::json::text_at;
use super::learnt::{Learnt, Refusal, StepsLeft};
use super::response::HttpResponse;
use super::settings::{AnswerFields, JudgeSettings};
use super::wire_format::WireFormat;
use crate::judge::call::{CallError, FailureCause, JudgePrompt, JudgeReply};
use serde_json::{Map, Value, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    pub name: &'static str,
    pub base: &'static str,
    /// The variables of the key; empty if no key is needed.
    pub keys: &'static [&'static str],
    /// The field of the output limit.
    cap: &'static str,
    /// The first constraint on the form of the answer to try, in steps down from a schema.
    rung: u8,
    /// The field of the seed.
    seed: &'static str,
    /// Whether it usually runs locally, with small models.
    pub own_machine: bool,
}

const fn preset(name: &'static str, base: &'static str, keys: &'static [&'static str]) -> Preset {
    Preset {
        name,
        base,
        keys,
        cap: chat::MAX_TOKENS,
        rung: SCHEMA,
        seed: "seed",
        own_machine: false,
    }
}

const fn own(name: &'static str, base: &'static str) -> Preset {
    Preset {
        own_machine: true,
        ..preset(name, base, &[])
    }
}

/// The servers with presets; `compatible` is any other.
pub const PRESETS: &[Preset] = &[
    preset("compatible", "", &[]),
    own("vllm", "http://127.0.0.1:8000/v1"),
    own("llamacpp", "http://127.0.0.1:8080/v1"),
    own("lmstudio", "http://127.0.0.1:1234/v1"),
    preset(
        "openrouter",
        "https://openrouter.ai/api/v1",
        &["OPENROUTER_API_KEY"],
    ),
    Preset {
        cap: chat::MAX_COMPLETION_TOKENS,
        ..preset("groq", "https://api.groq.com/openai/v1", &["GROQ_API_KEY"])
    },
    preset(
        "together",
        "https://api.together.ai/v1",
        &["TOGETHER_API_KEY"],
    ),
    Preset {
        seed: "random_seed",
        ..preset("mistral", "https://api.mistral.ai/v1", &["MISTRAL_API_KEY"])
    },
    Preset {
        rung: OBJECT,
        ..preset(
            "deepseek",
            "https://api.deepseek.com/v1",
            &["DEEPSEEK_API_KEY"],
        )
    },
];

/// `json_schema`.
const SCHEMA: u8 = 0;
/// `json_object`.
const OBJECT: u8 = 2;

/// A compatible server.
#[derive(Clone, Copy, Debug)]
pub struct Compatible(pub &'static Preset);

/// The preset of that name.
pub fn named(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

impl Compatible {
    fn rung(self, learnt: Learnt) -> u8 {
        (self.0.rung + learnt.rung()).min(chat::PLAIN)
    }
}

impl WireFormat for Compatible {
    fn build_request(
        &self,
        settings: &JudgeSettings,
        prompt: &JudgePrompt,
        learnt: Learnt,
    ) -> Value {
        let answer = settings.template.answer;
        let schema = if self.0.own_machine {
            answer.bounded_schema(learnt.has(Refusal::Bounds))
        } else {
            answer.schema()
        };
        let mut extra = Map::new();
        if self.0.name == "openrouter" {
            // Otherwise a request may be routed to a server that ignores the schema.
            extra.insert("provider".to_owned(), json!({"require_parameters": true}));
        }
        let dialect = chat::Dialect {
            role: "system",
            cap: self.0.cap,
            format: chat::format_at(self.rung(learnt), schema),
            logprobs: true,
            temperature: true,
            seed: Some(self.0.seed),
            extra,
            learnt,
            ..chat::Dialect::default()
        };
        chat::request(settings, prompt, &dialect)
    }

    fn steps_left(&self, settings: &JudgeSettings, learnt: Learnt) -> StepsLeft {
        StepsLeft {
            rung: !settings.template.answer.is_word() && self.rung(learnt) < chat::PLAIN,
            efforts: 0,
        }
    }

    fn caps(&self) -> &'static [&'static str] {
        chat::CAPS
    }

    fn parse_response(
        &self,
        settings: &JudgeSettings,
        received: &HttpResponse,
    ) -> Result<JudgeReply, CallError> {
        let value = error_response::json(settings, received);
        match value.and_then(|value| self.parse_reply(settings, &value, received)) {
            Err(error)
                if error.exchange.status == Some(400) && error.cause != FailureCause::Truncated =>
            {
                failed_generation(settings, received).ok_or(error)
            }
            other => other,
        }
    }
}

/// Groq returns a text that its own validation rejected; only our validation counts.
fn failed_generation(settings: &JudgeSettings, received: &HttpResponse) -> Option<JudgeReply> {
    let value: Value = serde_json::from_slice(&received.body).ok()?;
    let fields = AnswerFields {
        text: text_at(&value, "/error/failed_generation").filter(|text| !text.is_empty())?,
        stop_reason: text_at(&value, "/error/code"),
        request_id: received.request_id(),
        ..AnswerFields::default()
    };
    Some(settings.reply(fields, received))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{received, settings};
    use super::*;
    use crate::judge::prompt::{LETTER, Template};

    fn error(status: u16, body: Value) -> CallError {
        let wire = Compatible(&PRESETS[0]);
        let settings = settings("compatible", "qwen");
        wire.parse_response(&settings, &received(status, &body))
            .unwrap_err()
    }

    #[test]
    fn the_ladder_goes_down_one_rung_at_a_time_and_ends() {
        let refusal = error(
            400,
            json!({"error": "'response_format.type' must be 'json_schema' or 'text'"}),
        );
        for (name, forms) in [
            (
                "compatible",
                vec![
                    json!("json_schema"),
                    json!("json_object"),
                    json!("json_object"),
                    Value::Null,
                ],
            ),
            ("deepseek", vec![json!("json_object"), Value::Null]),
        ] {
            let wire = Compatible(named(name).unwrap());
            let settings = settings(name, "m");
            let mut state = Learnt::default();
            let mut sent = Vec::new();
            loop {
                let body = wire.build_request(&settings, &JudgePrompt::default(), state);
                assert_eq!(body["max_tokens"], 4096);
                sent.push(
                    body.pointer("/response_format/type")
                        .cloned()
                        .unwrap_or_default(),
                );
                match wire.adapt(&settings, state, &refusal) {
                    Some(next) => state = next,
                    None => break,
                }
            }
            assert_eq!(sent, forms);
        }
        let wire = Compatible(&PRESETS[0]);
        for other in [
            error(400, json!({"error": {"message": "bad mood"}})),
            error(500, json!({"error": "schema"})),
        ] {
            assert_eq!(
                wire.adapt(&settings("compatible", "m"), Learnt::default(), &other),
                None
            );
        }
    }

    #[test]
    fn a_letter_comes_with_its_probabilities_where_the_server_has_them() {
        let mut settings = settings("compatible", "qwen");
        settings.template = Template::parse(LETTER).unwrap();
        let wire = Compatible(&PRESETS[0]);
        let body = wire.build_request(&settings, &JudgePrompt::default(), Learnt::default());
        assert_eq!(
            (
                &body["logprobs"],
                &body["top_logprobs"],
                &body["max_tokens"]
            ),
            (&json!(true), &json!(20), &json!(8))
        );
        assert_eq!(body.get("response_format"), None);
        let refusal = error(
            400,
            json!({"error": {"message": "logprobs are not supported"}}),
        );
        let learnt = wire.adapt(&settings, Learnt::default(), &refusal).unwrap();
        assert_eq!(
            wire.build_request(&settings, &JudgePrompt::default(), learnt)
                .get("logprobs"),
            None
        );
        let top = |token: &str, p: f64| json!({"token": token, "logprob": p.ln()});
        let answer = json!({"choices": [{"finish_reason": "stop", "message": {"content": " A"}, "logprobs": {"content": [
            {"token": " A", "logprob": -0.1, "top_logprobs": [top(" A", 0.6), top("B", 0.2), top("T", 0.1), top("The", 0.1), {"token": "b", "logprob": -9999.0}]}]}}]});
        let reply = wire
            .parse_response(&settings, &received(200, &answer))
            .unwrap();
        let opinion = wire.opinion(&settings, &reply, &[]).unwrap();
        assert!(
            (opinion.margin.get() + 0.4 / 0.9).abs() < 1e-9,
            "{opinion:?}"
        );
    }

    #[test]
    fn an_error_under_success_is_an_error() {
        let openrouter = |code: u16| error(200, json!({"error": {"code": code, "message": "no"}}));
        assert_eq!(openrouter(402).cause, FailureCause::QuotaExhausted);
        assert_eq!(openrouter(429).cause, FailureCause::RateLimited);
        let inside = json!({"choices": [{"error": {"code": 502, "message": "down"}, "message": {"content": ""}}]});
        assert_eq!(error(200, inside).cause, FailureCause::Server);
        assert_eq!(
            error(
                403,
                json!({"error": {"code": 403, "message": "input was flagged by moderation"}})
            )
            .cause,
            FailureCause::Filtered
        );
    }

    #[test]
    fn text_that_groq_refused_is_judged_by_us() {
        let body = json!({"error": {"message": "Failed to validate JSON", "code": "json_validate_failed", "failed_generation": "{\"thoughts\":[],\"score\":0.5}"}});
        let wire = Compatible(named("groq").unwrap());
        let settings = settings("groq", "openai/gpt-oss-120b");
        let reply = wire
            .parse_response(&settings, &received(400, &body))
            .unwrap();
        assert_eq!(
            wire.opinion(&settings, &reply, &[]).unwrap().margin.get(),
            0.5
        );
    }
}
