//! Servers with an OpenAI-compatible chat completions API: vLLM, llama.cpp, LM Studio, OpenRouter,
//! Groq and other vendors, and any other at a base URL. The constraints that a server
//! supports on the form of an answer are detected once and remembered.

use super::chat;
use super::error_response;
use super::json::{merge, text_at};
use super::learnt::{Learnt, Refusal, StepsLeft};
use super::provider_trait::{EmbeddingFormat, ModelList, Provider, ProviderLimits, SHORT_CAP};
use super::response::HttpResponse;
use super::service::{Service, ServiceAccess, VendorKey};
use super::settings::{AnswerFields, JudgeSettings};
use super::wire_format::WireFormat;
use crate::judge::call::{CallError, FailureCause, JudgePrompt, JudgeReply};
use serde_json::{Map, Value, json};

/// A server with this API.
#[derive(Clone, Copy, Debug)]
pub struct Compatible {
    pub name: &'static str,
    pub(super) access: ServiceAccess,
    /// The field of the output limit.
    pub(super) cap: &'static str,
    /// The first constraint on the form of the answer to try, in steps down from a schema.
    pub(super) rung: u8,
    /// The field of the seed.
    pub(super) seed: &'static str,
    /// Whether it embeds texts too.
    pub(super) embeds: bool,
    /// Maximum number of concurrent calls, if it processes few.
    pub(super) concurrency: Option<usize>,
    /// Whether `think` in the parameters is a variable of the chat template, `enable_thinking`.
    pub(super) template_thinks: bool,
    /// Fields of every request.
    pub(super) extra: Option<(&'static str, &'static str)>,
}

/// Any server with this API at an address that the user gives.
pub const COMPATIBLE: Compatible = Compatible {
    name: "compatible",
    access: ServiceAccess {
        runs_locally: false,
        ..ServiceAccess::local("")
    },
    cap: chat::MAX_TOKENS,
    rung: SCHEMA,
    seed: "seed",
    embeds: true,
    concurrency: None,
    template_thinks: false,
    extra: None,
};

/// A vendor's server, with the variables of its key and its host names.
const fn cloud(
    name: &'static str,
    base: &'static str,
    keys: &'static [&'static str],
    servers: &'static [&'static str],
) -> Compatible {
    Compatible {
        name,
        access: ServiceAccess::cloud(VendorKey::new(keys, servers), base, ""),
        embeds: false,
        ..COMPATIBLE
    }
}

/// A server on the user's own machine, where models are small.
const fn own(name: &'static str, base: &'static str) -> Compatible {
    Compatible {
        name,
        access: ServiceAccess::local(base),
        ..COMPATIBLE
    }
}

/// The servers with known addresses, and `compatible` for any other.
pub static SERVERS: [Compatible; 17] = [
    COMPATIBLE,
    Compatible {
        concurrency: Some(4),
        template_thinks: true,
        ..own("llamacpp", "http://127.0.0.1:8080/v1")
    },
    Compatible {
        concurrency: Some(4),
        ..own("lmstudio", "http://127.0.0.1:1234/v1")
    },
    Compatible {
        template_thinks: true,
        ..own("vllm", "http://127.0.0.1:8000/v1")
    },
    Compatible {
        embeds: true,
        // Otherwise a request may be routed to a server that ignores the schema.
        extra: Some(("provider", r#"{"require_parameters": true}"#)),
        ..cloud(
            "openrouter",
            "https://openrouter.ai/api/v1",
            &["OPENROUTER_API_KEY"],
            &["openrouter.ai"],
        )
    },
    Compatible {
        cap: chat::MAX_COMPLETION_TOKENS,
        ..cloud(
            "groq",
            "https://api.groq.com/openai/v1",
            &["GROQ_API_KEY"],
            &["api.groq.com"],
        )
    },
    Compatible {
        embeds: true,
        ..cloud(
            "together",
            "https://api.together.ai/v1",
            &["TOGETHER_API_KEY"],
            &["api.together.ai", "api.together.xyz"],
        )
    },
    Compatible {
        seed: "random_seed",
        embeds: true,
        ..cloud(
            "mistral",
            "https://api.mistral.ai/v1",
            &["MISTRAL_API_KEY"],
            &["api.mistral.ai"],
        )
    },
    Compatible {
        rung: OBJECT,
        ..cloud(
            "deepseek",
            "https://api.deepseek.com/v1",
            &["DEEPSEEK_API_KEY"],
            &["api.deepseek.com"],
        )
    },
    cloud(
        "xai",
        "https://api.x.ai/v1",
        &["XAI_API_KEY"],
        &["api.x.ai"],
    ),
    cloud(
        "fireworks",
        "https://api.fireworks.ai/inference/v1",
        &["FIREWORKS_API_KEY"],
        &["api.fireworks.ai"],
    ),
    cloud(
        "cerebras",
        "https://api.cerebras.ai/v1",
        &["CEREBRAS_API_KEY"],
        &["api.cerebras.ai"],
    ),
    cloud(
        "perplexity",
        "https://api.perplexity.ai",
        &["PERPLEXITY_API_KEY"],
        &["api.perplexity.ai"],
    ),
    cloud(
        "nvidia",
        "https://integrate.api.nvidia.com/v1",
        &["NVIDIA_API_KEY"],
        &["integrate.api.nvidia.com"],
    ),
    cloud(
        "dashscope",
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        &["DASHSCOPE_API_KEY"],
        &["dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com"],
    ),
    cloud(
        "moonshot",
        "https://api.moonshot.ai/v1",
        &["MOONSHOT_API_KEY"],
        &["api.moonshot.ai", "api.moonshot.cn"],
    ),
    Compatible {
        access: ServiceAccess::cloud(HUGGING_FACE, "https://router.huggingface.co/v1", ""),
        ..cloud("huggingface", "", &[], &[])
    },
];

/// Hugging Face's token. Anyone can rent a machine below `.endpoints.huggingface.cloud`.
pub(super) const HUGGING_FACE: VendorKey = VendorKey {
    other_variables: &["HUGGING_FACE_HUB_TOKEN", "HUGGINGFACEHUB_API_TOKEN"],
    ..VendorKey::new(
        &["HF_TOKEN"],
        &["router.huggingface.co", "api-inference.huggingface.co"],
    )
};

/// `json_schema`.
const SCHEMA: u8 = 0;
/// `json_object`.
const OBJECT: u8 = 2;

impl Service for Compatible {
    fn name(&self) -> &'static str {
        self.name
    }

    fn access(&self) -> ServiceAccess {
        self.access
    }
}

impl Provider for Compatible {
    fn format(&'static self) -> Box<dyn WireFormat> {
        Box::new(*self)
    }

    fn limits(&self) -> ProviderLimits {
        let usual = ProviderLimits::default();
        ProviderLimits {
            short_cap: self.access.runs_locally.then_some(SHORT_CAP),
            document_chars: if self.access.needs_key {
                usual.document_chars
            } else {
                16_000
            },
            concurrency: self.concurrency,
            ..usual
        }
    }

    fn embeddings(&self) -> Option<EmbeddingFormat> {
        self.embeds.then_some(EmbeddingFormat::OpenAi)
    }

    fn own_models(&self) -> Option<ModelList> {
        (!self.access.needs_key).then_some(ModelList::OpenAi)
    }
}

impl Compatible {
    fn rung(self, learnt: Learnt) -> u8 {
        (self.rung + learnt.rung()).min(chat::PLAIN)
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
        let schema = if self.access.runs_locally {
            answer.bounded_schema(learnt.has(Refusal::Bounds))
        } else {
            answer.schema()
        };
        let extra = self.extra.iter().filter_map(|(name, value)| {
            Some(((*name).to_owned(), serde_json::from_str(value).ok()?))
        });
        let dialect = chat::Dialect {
            role: "system",
            cap: self.cap,
            format: chat::format_at(self.rung(learnt), schema),
            logprobs: true,
            temperature: true,
            seed: Some(self.seed),
            extra: extra.collect(),
            learnt,
            ..chat::Dialect::default()
        };
        let mut body = chat::request(settings, prompt, &dialect);
        if self.template_thinks {
            switch_thinking(&mut body);
        }
        body
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

/// Moves `think`, which switches thinking on or off in Ollama, to where vLLM and llama.cpp have it.
fn switch_thinking(body: &mut Value) {
    let think = body.get("think").and_then(Value::as_bool);
    if let (Some(think), Some(fields)) = (think, body.as_object_mut()) {
        fields.shift_remove("think");
        merge(
            body,
            &Map::from_iter([(
                "chat_template_kwargs".to_owned(),
                json!({"enable_thinking": think}),
            )]),
        );
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
    use super::super::testing::{received, server, settings};
    use super::*;
    use crate::judge::prompt::{LETTER, Template};

    fn error(status: u16, body: Value) -> CallError {
        let wire = COMPATIBLE;
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
            let wire = server(name);
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
        let wire = COMPATIBLE;
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
        let wire = COMPATIBLE;
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
        let wire = server("groq");
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
