//! The user's settings for one judge, and values derived from them: identity, size, price.

use super::rate_limits;
use super::repetition::repeats_itself;
use super::response::HttpResponse;
use super::token_counts::ChargedTokens;
use crate::domain::document_cut::DocumentCut;
use crate::judge::billing::{ServedTerms, ServiceTier, TermsRange, is_us};
use crate::judge::call::{Asking, CallError, FailureCause, JudgePrompt, JudgeReply, Usage};
use crate::judge::metadata::MetadataFields;
use crate::judge::price::{CacheWrites, Price};
use crate::judge::prompt::{AnswerForm, Template};
use crate::judge::spec::{JudgeLimits, JudgeSpec};
use jiff::civil::Date;
use serde_json::{Map, Value, json};

/// The note shown with estimated tokens.
pub const ESTIMATE: &str = "tokens are estimated: four ASCII characters or one and a half others \
                            each, times 1.3 for Claude";

/// Tokens of a typical answer with some reasoning.
const TYPICAL_OUTPUT: u64 = 400;
/// The same for verdicts on ten documents, three of them with a sentence.
const VERDICTS_OUTPUT: u64 = 700;
/// The same for a ranking or selection of about twenty documents, and for one number or name,
/// without reasons.
const RANKING_OUTPUT: u64 = 250;
const NAME_OUTPUT: u64 = 100;
/// The same for the instructions of a judge: those of the built-in prompts have up to 500 tokens.
const REVISION_OUTPUT: u64 = 700;
/// Maximum plausible charge for one call, in dollars.
const MOST_USD: f64 = 1_000.0;
/// Maximum number of tokens that a provider adds around our texts.
const ENVELOPE: u64 = 400;

#[derive(Clone, Debug)]
pub struct JudgeSettings {
    pub spec: JudgeSpec,
    pub template: Template,
    /// The metadata that it sees with a document's text.
    pub metadata: Option<MetadataFields>,
    /// How much of a document it sees.
    pub cut: DocumentCut,
    /// Maximum number of output tokens, including reasoning.
    pub cap: u64,
    /// Output limit until an answer needs more, if the user set no limit: small models tend to
    /// repeat themselves forever.
    pub short_cap: Option<u64>,
    pub params: Map<String, Value>,
    /// The seed that is sent, `none` if none is, if the temperature is not 0 and answers are
    /// random.
    pub seed: Option<String>,
    /// The model that determines abilities and price, if `spec.model` is an alias.
    pub base_model: String,
    pub price: Option<Price>,
    /// The day from which its model is no longer served.
    pub retires: Option<Date>,
    /// The terms on which its calls may be billed.
    pub terms: TermsRange,
    pub limits: JudgeLimits,
    /// The variable of the key, for remedies.
    pub key_env: String,
    /// Where the user adds credit, for remedies.
    pub account: String,
}

/// The fields of a provider's response, before its stop reason is checked.
#[derive(Clone, Debug, Default)]
pub(crate) struct AnswerFields {
    pub text: String,
    /// The field that contains the text, if the content is empty.
    pub outside: Option<&'static str>,
    pub model: Option<String>,
    pub stop_reason: Option<String>,
    pub request_id: Option<String>,
    /// The fingerprint of the system.
    pub fingerprint: Option<String>,
    /// Token counts, if the provider's counts are plausible.
    pub tokens: Option<ChargedTokens>,
    /// The charge reported by the provider.
    pub charged_usd: Option<f64>,
    pub served: ServedTerms,
}

/// The terms on which an answer of any format says that it was served.
pub(crate) fn served_terms(value: &Value, received: &HttpResponse) -> ServedTerms {
    let text = |pointer| value.pointer(pointer)?.as_str();
    let tier = [
        "/service_tier",
        "/usage/service_tier",
        "/usageMetadata/serviceTier",
        "/usageMetadata/trafficType",
    ]
    .into_iter()
    .find_map(text)
    .or_else(|| received.header("x-gemini-service-tier"));
    ServedTerms {
        tier: tier.and_then(ServiceTier::named),
        us_only: text("/usage/inference_geo").map(is_us),
        fast_mode: text("/usage/speed").map(|speed| speed == "fast"),
    }
}

impl JudgeSettings {
    /// Maximum number of output tokens for `prompt`; `needs_room` means that the model needs more
    /// than most do.
    pub fn cap(&self, prompt: &JudgePrompt, needs_room: bool) -> u64 {
        let cap = if needs_room {
            self.cap
        } else {
            self.least_cap()
        };
        match prompt.asking {
            Asking::First | Asking::Again => cap,
            Asking::Longer => cap.saturating_mul(2),
        }
    }

    /// The output limit as long as nothing indicates that the model needs more.
    pub fn least_cap(&self) -> u64 {
        self.short_cap.unwrap_or(self.cap)
    }

    pub(crate) fn param(&self, name: &str) -> Option<&str> {
        self.params.get(name)?.as_str()
    }

    pub(crate) fn reply(&self, fields: AnswerFields, received: &HttpResponse) -> JudgeReply {
        // The server's own charge is what is billed. Without it and without valid counts, the cost
        // is unknown, unless the model is free.
        let charged = fields
            .charged_usd
            .filter(|usd| (0.0..=MOST_USD).contains(usd));
        let cost = charged.or_else(|| match (self.price?, fields.tokens) {
            (price, _) if price.is_free() => Some(0.0),
            (price, tokens) => {
                let price = price
                    .on(self.terms.of_answer(fields.served))
                    .served_at(received.at);
                tokens.map(|tokens| price.cost(&tokens.usage, tokens.writes))
            }
        });
        JudgeReply {
            text: fields.text,
            outside: fields.outside,
            model: fields.model,
            stop_reason: fields.stop_reason,
            request_id: fields.request_id.or_else(|| received.request_id()),
            usage: fields.tokens.map(|tokens| tokens.usage).unwrap_or_default(),
            cost_usd: cost,
            latency: received.latency,
            fingerprint: fields.fingerprint,
            odds: None,
            limits: rate_limits::read(received),
        }
    }

    /// The expected usage of a call on `prompt`, given the request's output limit.
    pub(crate) fn estimate(
        &self,
        prompt: &JudgePrompt,
        allowed: Option<u64>,
    ) -> (Usage, Option<f64>) {
        let typical = match self.template.answer {
            AnswerForm::Verdicts => VERDICTS_OUTPUT,
            AnswerForm::Ranking | AnswerForm::Selection => RANKING_OUTPUT,
            AnswerForm::Winner
            | AnswerForm::Link
            | AnswerForm::Best
            | AnswerForm::BestWorst
            | AnswerForm::Grade
            | AnswerForm::YesNo => NAME_OUTPUT,
            AnswerForm::Revision => REVISION_OUTPUT,
            AnswerForm::Score | AnswerForm::Choice | AnswerForm::Letter | AnswerForm::Slots => {
                TYPICAL_OUTPUT
            }
        };
        let usage = Usage {
            input: self.tokens(&prompt.system) + self.tokens(&prompt.user),
            output: typical.min(allowed.unwrap_or(self.cap)),
            ..Usage::default()
        };
        (usage, self.usd_of(&usage))
    }

    /// Dollars that a call with these tokens costs on the terms that it asks for.
    pub(crate) fn usd_of(&self, usage: &Usage) -> Option<f64> {
        let price = self.price?.on(self.terms.requested);
        Some(price.cost(usage, CacheWrites::default()))
    }

    /// The maximum usage of a call on `prompt`, on the most expensive terms that may apply.
    /// `output` is the request's output limit. No tokenizer makes more than one token of a byte.
    /// The price is `None` if nothing limits the answer.
    pub(crate) fn worst(&self, prompt: &JudgePrompt, output: Option<u64>) -> (Usage, Option<f64>) {
        let added = if self.params.is_empty() {
            0
        } else {
            serde_json::to_string(&self.params).map_or(0, |params| params.len())
        };
        let usage = Usage {
            input: (prompt.system.len() + prompt.user.len() + added) as u64 + ENVELOPE,
            output: output.unwrap_or_else(|| self.cap(prompt, true)),
            ..Usage::default()
        };
        let limited = |price: &Price| price.is_free() || output.is_some();
        let price = self.price.filter(limited);
        let most = price.map(|price| price.worst(&usage, &self.terms));
        (usage, most)
    }

    /// Whether writing to a cache costs more than reading the input.
    pub(crate) fn charges_cache_writes(&self) -> bool {
        self.price.is_some_and(|price| price.charges_cache_writes())
    }

    /// Tokens written to a cache, for an answer that does not say how long they are kept.
    pub(crate) fn cache_writes(&self, tokens: u64) -> CacheWrites {
        let long = if self.terms.requested.long_cache {
            tokens
        } else {
            0
        };
        CacheWrites { tokens, long }
    }

    fn tokens(&self, text: &str) -> u64 {
        let ascii = text.bytes().filter(u8::is_ascii).count() as f64;
        let others = text.chars().filter(|c| !c.is_ascii()).count() as f64;
        let factor = if self.base_model.starts_with("claude") {
            1.3
        } else {
            1.0
        };
        ((ascii / 4.0 + others / 1.5) * factor).ceil() as u64
    }
}

pub(crate) fn failure_in_reply(
    cause: FailureCause,
    message: impl Into<String>,
    reply: JudgeReply,
) -> CallError {
    let mut error = CallError::in_reply(cause, message, reply);
    error.exchange.status = Some(200);
    error.raw = error.raw.filter(|text| !text.is_empty());
    error
}

pub(crate) fn refused(reply: JudgeReply) -> CallError {
    failure_in_reply(FailureCause::Refused, "the model declined to answer", reply)
}

/// The failure for an answer blocked by the provider's filter, with the reason if given.
pub(crate) fn filtered(reason: Option<&str>, reply: JudgeReply) -> CallError {
    let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
    let message = format!("the provider's filter withheld the answer{reason}");
    failure_in_reply(FailureCause::Filtered, message, reply)
}

/// The failure for an answer that the server itself aborted. Retried like a 502.
pub(crate) fn broken_off(
    cause: FailureCause,
    reason: Option<&str>,
    reply: JudgeReply,
) -> CallError {
    let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
    failure_in_reply(
        cause,
        format!("the server broke off the answer{reason}"),
        reply,
    )
}

/// The failure for an answer that exceeded the model's context.
pub(crate) fn context_full(reply: JudgeReply) -> CallError {
    let message = "the model's context is full; lower max_document_chars";
    failure_in_reply(FailureCause::TooLong, message, reply)
}

/// The failure for an answer with an unexpected stop reason.
pub(crate) fn odd_stop(reason: Option<&str>, reply: JudgeReply) -> CallError {
    let reason = reason.unwrap_or("nothing");
    let message = format!("the answer stopped for {reason:?}, which is no answer");
    failure_in_reply(FailureCause::Malformed, message, reply)
}

/// The failure for an answer truncated by the limit.
pub(crate) fn cut_off(settings: &JudgeSettings, reply: JudgeReply) -> CallError {
    let written = match reply.usage.output {
        0 => String::new(),
        tokens => format!(" after {tokens} tokens, thinking included"),
    };
    let message = if repeats_itself(&reply.text) {
        format!(
            "the answer repeats itself and was cut off{written}; a larger limit would not help: \
             set a temperature in params, \
             try prompt = \"letter\", or take a larger model"
        )
    } else {
        format!(
            "the answer was cut off{written}; raise max_output_tokens, now {}",
            settings.cap
        )
    };
    failure_in_reply(FailureCause::Truncated, message, reply)
}

/// The temperature for a prompt: 0, or more if the most likely tokens gave no answer before.
pub(crate) fn temperature(prompt: &JudgePrompt) -> Value {
    match prompt.asking {
        Asking::First => json!(0),
        Asking::Again | Asking::Longer => json!(0.3),
    }
}

/// The seed for a prompt; `first` is the seed of the first attempt.
pub(crate) fn seed(prompt: &JudgePrompt, first: u64) -> Value {
    match prompt.asking {
        Asking::First => json!(first),
        Asking::Again | Asking::Longer => json!(first + 1),
    }
}
