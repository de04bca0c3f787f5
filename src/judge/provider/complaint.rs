//! Classifies errors by the codes and words of all providers, since gateways quote them in their
//! messages.

use super::error_body::ErrorBody;
use super::rate_limits;
use super::settings::JudgeSettings;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Complaint {
    /// No money, credit or budget is left.
    NoMoney,
    /// A quota of a day or longer is used up.
    NoQuota,
    /// The account is blocked.
    Account,
    /// The key is missing or wrong.
    Key,
    /// A filter blocked the answer to these texts.
    Content,
    /// The answer was truncated by its limit.
    CutOff,
    /// The limit of an answer exceeds the model's maximum.
    CapTooLarge,
    /// The limit of an answer leaves no room in the context for any prompt.
    NoRoom,
    /// The texts are too long, or too long with the room that the answer needs.
    TooLong { with_cap: bool },
    /// The model does not exist.
    Model,
    /// An unsupported parameter, with its name if the user set it.
    Parameter(Option<String>),
    /// Anything else.
    Other,
}

/// No money, regardless of the rest of the message.
const NO_MONEY: &[&str] = &[
    "insufficient_quota",
    "insufficient quota",
    "insufficient balance",
    "insufficient account balance",
    "insufficient credit",
    "insufficient_credit",
    "insufficient funds",
    "not enough credit",
    "out of credit",
    "requires more credits",
    "credit balance",
    "credit_balance",
    "credit limit",
    "credit_limit",
    "prepaid credits",
    "prepayment credits",
    "included credits",
    "available credits",
    "credits are depleted",
    "spend limit",
    "spend_limit",
    "spending limit",
    "spending_limit",
    "spend cap",
    "spending cap",
    "budget has been exceeded",
    "budget_exceeded",
    "budgetexceeded",
    "exceededbudget",
    "exceededmodelbudget",
    "exceededtokenbudget",
    "exceeded budget",
    "exceeded its budget",
    "budget exceeded",
    "over budget",
    "organization_usage_limit_exceeded",
    "api usage limits",
    "key limit exceeded",
    "billing_hard_limit",
    "billing hard limit",
    "billing_not_active",
    "billing_unavailable",
    "billing_error",
    "billing account",
    "organization_on_hold",
    "exceeded_current_quota",
    "arrearage",
    "in arrears",
    "billoverdue",
    "freetieronly",
    "free tier of the model has been exhausted",
    "free allocation",
    "resource package",
    "payment required",
    "欠费",
    "余额不足",
];

/// Zhipu's codes for no money, and for daily, weekly, monthly and plan quotas.
const ZHIPU_NO_MONEY: &[&str] = &["1113"];
const ZHIPU_NO_QUOTA: &[&str] = &["1304", "1308", "1309", "1310"];

/// No money, unless it refers to a limit per minute.
const NO_MONEY_OR_TOO_FAST: &[&str] = &[
    "exceeded your current quota",
    "check your plan and billing",
    "usage limit",
    "usage_limit",
];

/// Daily or longer quotas.
const LONG: &[&str] = &[
    "per day",
    "per-day",
    "perday",
    "per_day",
    "byday",
    "(rpd)",
    "(tpd)",
    "/ day",
    "/day",
    "daily limit",
    "daily quota",
    "daily request",
    "daily token",
    "daily usage",
    "per 86400",
    "per week",
    "weekly limit",
    "per month",
    "per-month",
    "/ month",
    "/month",
    "monthly limit",
    "monthly quota",
    "monthly usage",
    "call volume quota",
];

/// Limits per minute or shorter.
const SHORT: &[&str] = &[
    "perminute",
    "per_minute",
    "per-min",
    "per min",
    "/ minute",
    "/min",
    "(rpm)",
    "(tpm)",
    "per second",
    "persecond",
    "per_second",
];

const ACCOUNT: &[&str] = &[
    "account_deactivated",
    "account deactivated",
    "account has been deactivated",
    "account is deactivated",
    "account has been disabled",
    "account is disabled",
    "organization has been disabled",
    "account has been suspended",
    "account is suspended",
    "is suspended, please",
    "account has been banned",
    "account is not active",
    "account is in good standing",
    "access_terminated",
    "blocked_api_access",
    "organization_restricted",
];

const KEY: &[&str] = &[
    "api_key_invalid",
    "invalid_api_key",
    "api key not valid",
    "invalid api key",
    "incorrect api key",
    "api key is invalid",
    "api key is missing",
    "no api key",
];

/// Filters of prompts and of answers.
const CONTENT: &[&str] = &[
    "content_filter",
    "content filter",
    "contentfilter",
    "content management policy",
    "content policy",
    "content_policy",
    "contentpolicy",
    "content safety",
    "content exists risk",
    "content violates",
    "content blocked",
    "content was blocked",
    "inappropriate content",
    "sensitive content",
    "sensitivecontent",
    "sensitive_content",
    "new_sensitive",
    "harmful content",
    "unsafe content",
    "prohibited content",
    "prohibited_content",
    "prohibited use policy",
    "data_inspection",
    "datainspection",
    "invalid_prompt",
    "flagged",
    "moderation",
    "usage policy",
    "usage policies",
    "usage guidelines",
    "safety system",
    "safety filter",
    "safety check",
    "safety policy",
    "safety settings",
    "safety guidelines",
    "safety reasons",
    "responsible ai",
    "responsibleai",
    "policy_violation",
    "policy violation",
    "bio_policy",
    "considered high risk",
    "censorship",
    "guardrail",
    "jailbreak",
    "prompt injection",
    "不安全或敏感",
    "敏感内容",
    "敏感信息",
];

/// Zhipu's code for unsafe texts, and those of MiniMax.
const CONTENT_CODES: &[&str] = &["1301", "1026", "1027"];

const CUT_OFF: &[&str] = &[
    "could not finish",
    "model output limit was reached",
    "higher max_tokens",
    "higher max_completion_tokens",
    "completion tokens reached before",
    "tokens limit reached before",
];

/// Names of the output limit.
const CAP: &[&str] = &[
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "maxoutputtokens",
    "max_new_tokens",
    "maxtokens",
    "num_predict",
    "in the completion",
    "for the completion",
    "in the output",
    "completion tokens",
    "output tokens",
    "output length",
];

/// Words about a limit that the model or the server does not allow.
const OUT_OF_RANGE: &[&str] = &[
    "too large",
    "too high",
    "at most",
    "at least",
    "less than",
    "maximum allowed",
    "maximum value",
    "supported range",
    "valid range",
    "should be [",
    "range of",
    "exceeds the model limit",
    "exceeds the limit",
    "exceeds the maximum",
    "exceeds model",
    "which is the maximum",
];

const TOO_LONG: &[&str] = &[
    "context_length_exceeded",
    "exceed_context_size",
    "request_too_large",
    "string_above_max_length",
    "context length",
    "context size",
    "context window",
    "contextwindow",
    "context limit",
    "maximum context",
    "model length",
    "model maximum",
    "max_model_len",
    "prompt length",
    "prompt is too long",
    "prompt too long",
    "input is too long",
    "input too long",
    "string too long",
    "text is too long",
    "too many tokens",
    "tokens exceed",
    "token count exceeds",
    "token limit",
    "input length",
    "input token",
    "max length",
    "exceeds maximum",
    "must have less than",
    "reduce the length",
    "reduce the number of tokens",
    "reduce your message",
    "reduce your prompt",
    "shorter input",
    "request too large",
    "request entity too large",
    "payload too large",
    "body too large",
    "maximum size",
    "too large to process",
    "too large for model",
    "`inputs` tokens",
    "max allowed tokens",
    "must be at least 1, got -",
    "超长",
];

/// Zhipu's code for prompts that are too long.
const TOO_LONG_CODES: &[&str] = &["1261"];

/// Codes for a parameter that the model or its provider does not support.
const PARAMETER_CODES: &[&str] = &[
    "unsupported_parameter",
    "unsupported_value",
    "unknown_parameter",
    "invalid_json_schema",
];

/// Words that say that something is not supported.
pub(super) const NOT_TAKEN: &[&str] = &[
    "unrecognized",
    "unrecognised",
    "unknown",
    "unsupported",
    "not supported",
    "does not support",
    "doesn't support",
    "don't support",
    "not permitted",
    "not allowed",
    "extra",
    "deprecated",
    "only the default",
    "use 'max",
    "use `max",
    ". use max",
    "instead",
];

const NO_MODEL: &[&str] = &[
    "not found",
    "not exist",
    "invalid model",
    "not a valid model",
    "unknown model",
    "no such model",
    "decommissioned",
    "has been retired",
];

impl Complaint {
    /// Classifies an error with this status for a judge with these settings.
    pub(crate) fn of(settings: &JudgeSettings, status: u16, body: &ErrorBody) -> Self {
        let words = body.words();
        let says = |any: &[&str]| any.iter().any(|word| words.contains(word));
        let too_fast = says(SHORT) || rate_limits::told(&words).is_some();
        let limits = matches!(status, 402 | 403 | 429);
        if says(NO_MONEY)
            || (status == 429 && body.is(ZHIPU_NO_MONEY))
            || (says(NO_MONEY_OR_TOO_FAST) && !says(LONG) && !too_fast)
        {
            return Self::NoMoney;
        }
        // If a message names both limits, the limit per minute was reached, except in Google's
        // quota IDs.
        if words.contains("perday")
            || (limits && (body.is(ZHIPU_NO_QUOTA) || says(LONG) && !says(SHORT)))
        {
            return Self::NoQuota;
        }
        if status == 429 && says(&["request too large"]) {
            return Self::TooLong { with_cap: false };
        }
        if matches!(status, 401 | 404 | 405 | 407..=412 | 429 | 502..) {
            return Self::Other;
        }
        if says(ACCOUNT) {
            return Self::Account;
        }
        if says(KEY) {
            return Self::Key;
        }
        if says(CONTENT) || body.is(CONTENT_CODES) || status == 451 {
            return Self::Content;
        }
        if says(CUT_OFF) {
            return Self::CutOff;
        }
        let with_cap = says(CAP);
        if with_cap && context(&words).is_some_and(|context| context <= settings.least_cap()) {
            return Self::NoRoom;
        }
        if says(TOO_LONG) || body.is(TOO_LONG_CODES) || status == 413 {
            return Self::TooLong { with_cap };
        }
        if with_cap && says(OUT_OF_RANGE) {
            return Self::CapTooLarge;
        }
        if words.contains("token") && says(&["exceed", "too many", "too long", "longer than"]) {
            return Self::TooLong { with_cap };
        }
        if status >= 500 {
            return Self::Other;
        }
        if words.contains("model") && says(NO_MODEL) {
            return Self::Model;
        }
        let named = |name: &&String| {
            let name = name.to_lowercase();
            body.param.to_lowercase() == name || names(&words, &name)
        };
        let own = settings.params.keys().find(named);
        if body.is(PARAMETER_CODES) || (own.is_some() && says(NOT_TAKEN)) {
            return Self::Parameter(own.cloned());
        }
        Self::Other
    }
}

/// Whether `words` contain `name` as a whole name.
fn names(words: &str, name: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    words.match_indices(name).any(|(at, _)| {
        let before = words[..at].chars().next_back();
        let after = words[at + name.len()..].chars().next();
        !before.is_some_and(part) && !after.is_some_and(part)
    })
}

/// The context size that a complaint states, in tokens.
fn context(words: &str) -> Option<u64> {
    const NAMES: [&str; 5] = [
        "context length",
        "context size",
        "context window",
        "model length",
        "maximum length",
    ];
    NAMES.iter().find_map(|name| {
        let (_, after) = words.split_once(name)?;
        let at = after.find(|c: char| c.is_ascii_digit())?;
        let (before, number) = after.split_at(at);
        let near = before.chars().all(|c| !c.is_numeric()) && before.len() <= 16;
        let end = number.find(|c: char| !c.is_ascii_digit() && c != ',');
        let number = number[..end.unwrap_or(number.len())].replace(',', "");
        number.parse().ok().filter(|_| near)
    })
}
