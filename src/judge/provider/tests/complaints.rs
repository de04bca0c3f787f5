//! Error bodies of providers and gateways: their cause, whether the judge stops, whether to retry,
//! and the wait.

use super::super::JudgeSettings;
use super::super::anthropic::Anthropic;
use super::super::compatible::COMPATIBLE;
use super::super::gemini::Gemini;
use super::super::ollama::Ollama;
use super::super::testing::{received, settings};
use super::super::wire_format::WireFormat;
use crate::judge::call::{CallError, FailureCause, Retry};
use rstest::rstest;
use serde_json::{Value, json};
use std::time::Duration;

fn gateway() -> JudgeSettings {
    settings("compatible", "gpt")
}

fn failure(status: u16, body: &Value) -> CallError {
    let answer = received(status, body);
    let wire = COMPATIBLE;
    wire.parse_response(&gateway(), &answer).unwrap_err()
}

/// An error as OpenAI and most others format it.
fn openai(message: &str, kind: &str, code: Value) -> Value {
    json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
}

/// The same error as LiteLLM forwards it.
fn litellm(message: &str, code: &str) -> Value {
    let message = format!(
        "litellm.BadRequestError: OpenAIException - {message}\n\nLiteLLM: model group 'gpt' failed \
         with the error above. No fallback was attempted."
    );
    openai(&message, "invalid_request_error", json!(code))
}

#[rstest]
#[case::openai(400, openai("Invalid prompt: your prompt was flagged as potentially violating our usage policy.", "invalid_request_error", json!("invalid_prompt")))]
#[case::anthropic(400, json!({"type": "error", "error": {"type": "invalid_request_error", "message": "Output blocked by content filtering policy"}}))]
#[case::azure(400, json!({"error": {"message": "..", "type": null, "param": "prompt", "code": "content_filter", "innererror": {"code": "ResponsibleAIPolicyViolation"}}}))]
#[case::azure_jailbreak(400, json!({"error": {"message": "The prompt was refused", "innererror": {"code": "ResponsibleAIPolicyViolation"}}}))]
#[case::xai(403, json!({"code": "The caller does not have permission to execute the specified operation", "error": "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_CSAM"}))]
#[case::dashscope(400, openai("Input data may contain inappropriate content.", "data_inspection_failed", json!("data_inspection_failed")))]
#[case::dashscope_native(400, json!({"code": "DataInspectionFailed", "message": "Output data may contain inappropriate content.", "request_id": "x"}))]
#[case::deepseek(400, openai("Content Exists Risk", "invalid_request_error", json!("invalid_request_error")))]
#[case::moonshot(
    400,
    openai(
        "The request was rejected because it was considered high risk",
        "content_filter",
        Value::Null
    )
)]
#[case::zhipu(400, json!({"contentFilter": [{"level": 1, "role": "user"}], "error": {"code": "1301", "message": "系统检测到输入或生成内容可能包含不安全或敏感内容"}}))]
#[case::openrouter(403, json!({"error": {"code": 403, "message": "Input was flagged", "metadata": {"reasons": ["violence"], "flagged_input": "x"}}}))]
#[case::openrouter_raw(400, json!({"error": {"code": 400, "message": "Provider returned error", "metadata": {"raw": "{\"error\":{\"message\":\"no\",\"code\":\"data_inspection_failed\"}}"}}}))]
#[case::litellm(
    400,
    litellm(
        "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
        "400"
    )
)]
#[case::guardrail(400, openai("Violated guardrail policy", "None", json!("400")))]
#[case::volcengine(400, openai("The request failed because the input text may contain sensitive information.", "BadRequest", json!("InputTextSensitiveContentDetected")))]
#[case::minimax(200, json!({"choices": null, "base_resp": {"status_code": 1026, "status_msg": "input new_sensitive"}}))]
#[case::under_success(200, json!({"error": {"code": 403, "message": "Input was flagged by moderation"}}))]
#[case::for_legal_reasons(451, json!({"error": "the content was refused"}))]
#[case::stop_reason(200, json!({"choices": [{"finish_reason": "sensitive", "message": {"content": ""}}]}))]
#[case::stop_reason_of_gemini(200, json!({"choices": [{"finish_reason": "content_filter: PROHIBITED_CONTENT", "message": {}}]}))]
#[case::stop_reason_of_bedrock(200, json!({"choices": [{"finish_reason": "guardrail_intervened", "message": {"content": ""}}]}))]
fn a_filter_concerns_one_case(#[case] status: u16, #[case] body: Value) {
    let error = failure(status, &body);
    assert_eq!(
        (error.cause, error.retry, error.stops_judge),
        (FailureCause::Filtered, Retry::Never, false),
        "{error}"
    );
}

#[rstest]
#[case::openai(400, openai("This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.", "invalid_request_error", json!("context_length_exceeded")))]
#[case::openai_responses(
    400,
    openai(
        "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.",
        "invalid_request_error",
        Value::Null
    )
)]
#[case::anthropic(400, json!({"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 210000 tokens > 200000 maximum"}}))]
#[case::anthropic_bytes(413, json!({"type": "error", "error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}}))]
#[case::gemini(400, json!({"error": {"code": 400, "message": "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", "status": "INVALID_ARGUMENT"}}))]
#[case::mistral(400, json!({"object": "error", "message": "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length", "type": "invalid_request_error", "code": "3051"}))]
#[case::xai(400, json!({"code": "Client specified an invalid argument", "error": "This model's maximum prompt length is 131072 but the request contains 140000 tokens."}))]
#[case::dashscope(400, openai("<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]", "invalid_request_error", json!("invalid_parameter_error")))]
#[case::zhipu(400, json!({"error": {"code": "1261", "message": "Prompt 超长"}}))]
#[case::moonshot(
    400,
    openai(
        "Invalid request: Your request exceeded model token limit: 8192",
        "invalid_request_error",
        Value::Null
    )
)]
#[case::groq(413, openai("Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 8000, please reduce your message size and try again.", "tokens", json!("rate_limit_exceeded")))]
#[case::groq_context(400, openai("Please reduce the length of the messages or completion.", "invalid_request_error", json!("context_length_exceeded")))]
#[case::of_a_minute(429, openai("Request too large for gpt-6 on tokens per min (TPM): Limit 30000, Requested 40000.", "tokens", json!("rate_limit_exceeded")))]
#[case::openrouter(400, json!({"error": {"code": 400, "message": "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens (39000 of text input, 1000 in the output)."}}))]
#[case::tgi(422, json!({"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens and 512 `max_new_tokens`", "error_type": "validation"}))]
#[case::vllm(400, json!({"object": "error", "message": "This model's maximum context length is 4096 tokens. However, you requested 9000 tokens in the messages. Please reduce the length of the messages.", "type": "BadRequestError", "code": 400}))]
#[case::vllm_input(400, json!({"error": {"message": "This model's maximum context length is 4096 tokens. However, your request has 9000 input tokens. Please reduce the length of the input messages.", "type": "BadRequestError", "code": 400}}))]
#[case::vllm_decoder(400, json!({"error": {"message": "The decoder prompt (length 9000) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens.", "type": "BadRequestError", "code": 400}}))]
#[case::vllm_negative(400, json!({"error": {"message": "max_tokens must be at least 1, got -4904.", "type": "BadRequestError", "code": 400}}))]
#[case::sglang(400, json!({"object": "error", "message": "The input (9000 tokens) is longer than the model's context length (4096 tokens).", "type": "BadRequestError", "code": 400}))]
#[case::llamacpp(400, json!({"error": {"code": 400, "message": "the request exceeds the available context size (4096 tokens), try increasing it", "type": "exceed_context_size_error"}}))]
#[case::lmstudio(400, json!({"error": "Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough."}))]
#[case::ollama(500, json!({"error": "the input length exceeds the context length"}))]
#[case::litellm(
    400,
    litellm(
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
        "400"
    )
)]
#[case::bedrock(400, json!({"message": "Input is too long for requested model."}))]
#[case::cohere(400, json!({"message": "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 9000."}))]
#[case::tei(413, json!({"error": "Input validation error: `inputs` must have less than 512 tokens. Given: 900", "error_type": "Validation"}))]
#[case::nginx(413, json!("<html><head><title>413 Request Entity Too Large</title></head></html>"))]
#[case::stop_reason(200, json!({"choices": [{"finish_reason": "model_context_window_exceeded", "message": {"content": ""}}]}))]
fn texts_that_are_too_long_concern_one_case(#[case] status: u16, #[case] body: Value) {
    let error = failure(status, &body);
    assert_eq!(
        (error.cause, error.retry, error.stops_judge),
        (FailureCause::TooLong, Retry::Never, false),
        "{error}"
    );
    assert!(error.message.contains("max_document_chars"), "{error}");
}

#[rstest]
#[case::openai(429, openai("You exceeded your current quota, please check your plan and billing details.", "insufficient_quota", json!("insufficient_quota")))]
#[case::openai_billing(429, openai("Your account is not active, please check your billing details on our website.", "billing_not_active", json!("billing_not_active")))]
#[case::anthropic_400(400, json!({"type": "error", "error": {"type": "invalid_request_error", "message": "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC."}}))]
#[case::anthropic_429(429, json!({"type": "error", "error": {"type": "rate_limit_error", "message": "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC."}}))]
#[case::anthropic_credit(400, json!({"type": "error", "error": {"type": "invalid_request_error", "message": "Your credit balance is too low to access the Anthropic API."}}))]
#[case::anthropic_details(429, json!({"type": "error", "error": {"type": "rate_limit_error", "message": "..", "details": {"error_code": "enforced_spend_limit_reached"}}}))]
#[case::gemini_day(429, json!({"error": {"code": 429, "message": "You exceeded your current quota. Please retry in 37s.", "status": "RESOURCE_EXHAUSTED", "details": [{"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}, {"retryDelay": "37s"}]}}))]
#[case::gemini_prepaid(429, json!({"error": {"code": 429, "message": "Your prepayment credits are depleted.", "status": "RESOURCE_EXHAUSTED"}}))]
#[case::xai(403, json!({"code": "The caller does not have permission", "error": "Your team has either used all available credits or reached its monthly spending limit."}))]
#[case::deepseek(402, openai("Insufficient Balance", "unknown_error", json!("invalid_request_error")))]
#[case::dashscope(400, openai("Access denied, please make sure your account is in good standing.", "Arrearage", json!("Arrearage")))]
#[case::dashscope_free(403, openai("The free tier of the model has been exhausted.", "AllocationQuota.FreeTierOnly", json!("AllocationQuota.FreeTierOnly")))]
#[case::zhipu(429, json!({"error": {"code": "1113", "message": "Insufficient balance or no resource package. Please recharge."}}))]
#[case::zhipu_plan(429, json!({"error": {"code": "1308", "message": "已达到 5 小时的使用上限"}}))]
#[case::openrouter_credits(402, json!({"error": {"code": 402, "message": "This request requires more credits, or fewer max_tokens. You requested up to 4096 tokens, but can only afford 1200."}}))]
#[case::openrouter_day(429, json!({"error": {"code": 429, "message": "Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day", "metadata": {"headers": {"X-RateLimit-Reset": "4102444800000"}}}}))]
#[case::openrouter_key(403, json!({"error": {"code": 403, "message": "Key limit exceeded (daily limit). Manage it using https://openrouter.ai/settings/keys"}}))]
#[case::openrouter_inside(200, json!({"error": {"code": 402, "message": "Insufficient credits"}}))]
#[case::groq_day(429, openai("Rate limit reached for model `x` on tokens per day (TPD): Limit 100000, Used 99000, Requested 2000. Please try again in 14m24s.", "tokens", json!("rate_limit_exceeded")))]
#[case::cohere_month(429, json!({"message": "You are using a Trial key, which is limited to 1000 API calls / month."}))]
#[case::github(429, json!({"error": {"code": "RateLimitReached", "message": "Rate limit of 150 per 86400s exceeded for UserByModelByDay. Please wait 40000 seconds before retrying."}}))]
#[case::huggingface(402, json!({"error": "You have exceeded your monthly included credits for Inference Providers."}))]
#[case::together(
    402,
    openai(
        "Credit limit exceeded, please navigate to https://api.together.ai/settings/billing",
        "credit_limit",
        Value::Null
    )
)]
#[case::litellm_400(400, openai("Budget has been exceeded! Current cost: 10.2, Max budget: 10.0", "budget_exceeded", json!("400")))]
#[case::litellm_429(429, openai("Budget has been exceeded! Key=sk-...abcd Current cost: 10.01, Max budget: 10.0", "budget_exceeded", json!("429")))]
#[case::litellm_user(400, openai("ExceededBudget: User=ada over budget. Spend=10.2, Budget=10.0", "budget_exceeded", json!("400")))]
#[case::litellm_words(
    400,
    litellm(
        "ExceededModelBudget: LiteLLM Virtual Key: sk-1, exceeded budget for model=gpt",
        "400"
    )
)]
#[case::through_litellm(
    429,
    litellm(
        "You exceeded your current quota, please check your plan and billing details.",
        "429"
    )
)]
#[case::through_litellm_whole(
    429,
    litellm(
        "{\"error\": {\"message\": \"no\", \"code\": \"insufficient_quota\"}}",
        "429"
    )
)]
#[case::anthropic_through_litellm(
    400,
    litellm(
        "AnthropicException - {\"type\":\"error\",\"error\":{\"message\":\"Your credit balance is too low\"}}",
        "400"
    )
)]
#[case::ollama_cloud(429, json!({"error": "you have reached your weekly usage limit, upgrade for higher limits"}))]
#[case::cloudflare(429, json!({"errors": [{"code": 4006, "message": "you have used up your daily free allocation of 10,000 neurons"}]}))]
fn money_that_is_gone_is_final_and_told_in_the_providers_words(
    #[case] status: u16,
    #[case] body: Value,
) {
    let error = failure(status, &body);
    assert_eq!(
        (error.cause, error.retry, error.stops_judge),
        (FailureCause::QuotaExhausted, Retry::Never, true),
        "{error}"
    );
    let said = super::super::error_body::ErrorBody::of(&body).shown();
    assert!(error.message.starts_with(&said), "{error}");
}

/// Rate limits with the requested wait in seconds.
#[rstest]
#[case::openai(429, openai("Rate limit reached for gpt-6 on requests per min (RPM): Limit 3, Used 3. Please try again in 20s.", "requests", json!("rate_limit_exceeded")), Some(20.0))]
#[case::openai_ms(429, openai("Rate limit reached on tokens per min (TPM). Please try again in 547ms.", "tokens", json!("rate_limit_exceeded")), Some(0.547))]
#[case::azure(429, openai("Requests have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 26 seconds. Please go here: https://aka.ms/oai/quotaincrease", "", json!("429")), Some(26.0))]
#[case::gemini(429, json!([{"error": {"code": 429, "message": "You exceeded your current quota, please check your plan and billing details.", "status": "RESOURCE_EXHAUSTED", "details": [{"violations": [{"quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]}, {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "37s"}]}}]), Some(37.0))]
#[case::gemini_through_litellm(
    429,
    litellm(
        "VertexAIException - {\"error\": {\"code\": 429, \"message\": \"You exceeded your current quota, please check your plan and billing details.\", \"details\": [{\"quotaId\": \"GenerateRequestsPerMinutePerProject\"}, {\"retryDelay\": \"37s\"}]}}",
        "429"
    ),
    Some(37.0)
)]
#[case::gemini_words(429, openai("You exceeded your current quota, please check your plan and billing details. Please retry in 1m2.5s.", "", json!(429)), Some(62.5))]
#[case::openrouter_minute(429, json!({"error": {"code": 429, "message": "Rate limit exceeded: free-models-per-min.", "metadata": {"headers": {"X-RateLimit-Reset": "1795694430000"}}}}), Some(30.0))]
#[case::inside(200, json!({"error": {"code": 429, "message": "Provider returned error", "metadata": {"raw": "m is temporarily rate-limited upstream. Please retry shortly"}}, "choices": null}), None)]
#[case::cohere(429, json!({"message": "You are using a Trial key, which is limited to 10 API calls / minute."}), None)]
#[case::voyage(429, json!({"detail": "You have not yet added your payment method in the billing page and will have reduced rate limits of 3 RPM and 10K TPM."}), None)]
#[case::mistral(429, json!({"object": "error", "message": "Service tier capacity exceeded for this model.", "type": "service_tier_capacity_exceeded", "code": "3505"}), None)]
#[case::zhipu(429, json!({"error": {"code": "1302", "message": "您当前使用该API的并发数过高"}}), None)]
#[case::bare(429, json!({"error": {"message": "slow down"}}), None)]
fn limits_that_pass_are_waited_for(
    #[case] status: u16,
    #[case] body: Value,
    #[case] seconds: Option<f64>,
) {
    let mut answer = received(status, &body);
    answer.at = "2026-11-26T12:00:00Z".parse().unwrap();
    let wire = COMPATIBLE;
    let error = wire.parse_response(&gateway(), &answer).unwrap_err();
    let wait = seconds.map(Duration::from_secs_f64);
    assert_eq!(
        (error.cause, error.retry, error.stops_judge),
        (FailureCause::RateLimited, Retry::After(wait), false),
        "{error}"
    );
    assert_eq!(error.exchange.limits.retry_after, wait);
}

#[rstest]
#[case::deepseek(json!({"choices": [{"finish_reason": "insufficient_system_resource", "message": {"content": ""}}]}))]
#[case::openrouter(json!({"choices": [{"finish_reason": "error", "native_finish_reason": "error", "message": {"content": "{\"score\": 1}"}}], "usage": {"prompt_tokens": null}}))]
#[case::openrouter_choice(json!({"choices": [{"finish_reason": "error", "error": {"code": 502, "message": "Upstream error"}, "message": {"content": ""}}]}))]
#[case::openrouter_whole(json!({"error": {"code": 502, "message": "Provider returned error"}, "user_id": "u"}))]
#[case::zhipu(json!({"choices": [{"finish_reason": "network_error", "message": {"content": ""}}]}))]
#[case::sglang(json!({"choices": [{"finish_reason": "abort", "message": {"content": ""}}]}))]
#[case::words(json!({"error": "upstream connect error"}))]
#[case::anthropic(json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}))]
#[case::gemini(json!({"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}))]
fn a_passing_state_under_success_is_tried_again(#[case] body: Value) {
    let error = failure(200, &body);
    assert_eq!(
        (error.cause, error.retry, error.stops_judge),
        (FailureCause::Server, Retry::After(None), false),
        "{error}"
    );
}

#[test]
fn errors_under_success_are_found_in_every_format() {
    let error = |wire: &dyn WireFormat, provider: &str, body: Value| {
        let answer = received(200, &body);
        let error = wire.parse_response(&settings(provider, "m"), &answer);
        let error = error.unwrap_err();
        (error.cause, error.retry)
    };
    let overloaded =
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let passing = (FailureCause::Server, Retry::After(None));
    assert_eq!(error(&Anthropic, "anthropic", overloaded), passing);
    let unavailable =
        json!({"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}});
    assert_eq!(error(&Gemini, "gemini", unavailable), passing);
    let broken = json!({"error": "llama runner process no longer running"});
    assert_eq!(error(&Ollama, "ollama", broken), passing);
    for reason in ["load", "unload"] {
        let loading = json!({"message": {"content": ""}, "done": true, "done_reason": reason});
        assert_eq!(error(&Ollama, "ollama", loading), passing);
    }
}

#[rstest]
#[case::openai(
    400,
    openai(
        "Could not finish the message because max_tokens or model output limit was reached. Please try again with higher max_tokens.",
        "invalid_request_error",
        Value::Null
    )
)]
#[case::litellm(
    400,
    litellm(
        "Could not finish the message because max_tokens or model output limit was reached. Please try again with higher max_tokens.",
        "400"
    )
)]
#[case::groq(400, openai("Failed to validate JSON: max completion tokens reached before generating a valid document", "invalid_request_error", json!("json_validate_failed")))]
fn an_answer_that_was_cut_off_may_come_as_a_refusal(#[case] status: u16, #[case] body: Value) {
    let error = failure(status, &body);
    assert_eq!(
        (error.cause, error.stops_judge),
        (FailureCause::Truncated, false)
    );
    assert!(
        error.message.contains("raise max_output_tokens, now 4096"),
        "{error}"
    );
    let wire = COMPATIBLE;
    assert_eq!(wire.adapt(&gateway(), Default::default(), &error), None);
}

/// Errors that every call of a judge would get, with a part of the advice.
#[rstest]
#[case::no_room(400, json!({"object": "error", "message": "This model's maximum context length is 4096 tokens. However, you requested 4396 tokens (300 in the messages, 4096 in the completion). Please reduce the length of the messages or completion.", "code": 400}), "leaves no room for a prompt: lower it")]
#[case::no_room_now(400, json!({"error": {"message": "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 4096 tokens and your request has 300 input tokens (4096 > 4096 - 300). None", "code": 400}}), "leaves no room for a prompt: lower it")]
#[case::of_the_model(400, openai("max_tokens is too large: 40960. This model supports at most 16384 completion tokens, whereas you provided 40960.", "invalid_request_error", json!("invalid_value")), "lower max_output_tokens, now 4096")]
#[case::of_anthropic(400, json!({"type": "error", "error": {"type": "invalid_request_error", "message": "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-5-5"}}), "lower max_output_tokens")]
#[case::of_dashscope(400, openai("Range of max_tokens should be [1, 2048]", "invalid_request_error", json!("invalid_parameter_error")), "lower max_output_tokens")]
#[case::of_groq(
    400,
    openai(
        "`max_completion_tokens` must be less than or equal to `32768`, the maximum value for `max_completion_tokens` is less than the `context_window` for this model",
        "invalid_request_error",
        Value::Null
    ),
    "lower max_output_tokens"
)]
#[case::litellm_model(400, openai("/chat/completions: Invalid model name passed in model=nix. Call `/v1/models` to view available models for your key.", "invalid_request_error", json!("400")), "check the model \"gpt\"")]
#[case::deepseek_model(
    400,
    openai("Model Not Exist", "invalid_request_error", Value::Null),
    "check the model"
)]
#[case::key(400, json!({"code": "Client specified an invalid argument", "error": "Incorrect API key provided: x"}), "check THE_KEY")]
#[case::account(400, json!({"type": "error", "error": {"type": "invalid_request_error", "message": "This organization has been disabled."}}), "the account at compatible")]
#[case::permission(403, json!({"error": {"message": "You may not use this model", "type": "permission_error"}}), "check THE_KEY and what it may do")]
#[case::bare(403, json!({"error": {"message": "Forbidden", "code": 403}}), "check THE_KEY")]
#[case::empty(403, json!({}), "check THE_KEY")]
#[case::retired(410, json!({"error": "gone"}), "check the model")]
fn a_fault_of_the_judge_stops_it_with_advice_that_fits(
    #[case] status: u16,
    #[case] body: Value,
    #[case] advice: &str,
) {
    let error = failure(status, &body);
    assert!(error.stops_judge && error.retry == Retry::Never, "{error}");
    assert!(error.message.contains(advice), "{error}");
}

#[test]
fn a_limit_that_fits_with_shorter_texts_does_not_stop_the_judge() {
    let body = json!({"error": {"message": "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 32768 tokens and your request has 30000 input tokens (4096 > 32768 - 30000)."}});
    let error = failure(400, &body);
    assert_eq!(
        (error.cause, error.stops_judge),
        (FailureCause::TooLong, false)
    );
    assert!(
        error.message.contains("max_output_tokens (4096)"),
        "{error}"
    );
    // The longer answer requested after a truncated one does not fit; the default one would.
    let body = json!({"error": {"message": "This model's maximum context length is 8192 tokens. However, you requested 8492 tokens (300 in the messages, 8192 in the completion)."}});
    assert!(!failure(400, &body).stops_judge);
}

#[test]
fn a_parameter_of_the_users_own_that_is_refused_is_named() {
    let mut settings = gateway();
    settings.params = json!({"temperature": 0.2, "n": 1})
        .as_object()
        .unwrap()
        .clone();
    let message = "litellm.UnsupportedParamsError: gpt-6.1-terra doesn't support temperature=0.2 \
                   while reasoning is active. Only temperature=1 is supported unless \
                   reasoning_effort resolves to 'none'";
    let answer = received(400, &openai(message, "invalid_request_error", json!("400")));
    let wire = COMPATIBLE;
    let error = wire.parse_response(&settings, &answer).unwrap_err();
    assert!(error.stops_judge, "{error}");
    assert!(
        error
            .message
            .ends_with("take \"temperature\" out of the judge's params"),
        "{error}"
    );
    assert_eq!(wire.adapt(&settings, Default::default(), &error), None);
}

#[rstest]
#[case::unknown(400, json!({"error": "bad mood"}))]
#[case::no_reason_that_is_about_the_key(403, json!({"error": {"message": "We would rather not answer this."}}))]
#[case::a_firewall(403, json!("<html>Attention Required!</html>"))]
fn an_unknown_refusal_does_not_stop_the_judge_by_itself(#[case] status: u16, #[case] body: Value) {
    let mut answer = received(status, &body);
    if let Some(page) = body.as_str() {
        answer.body = page.as_bytes().to_vec();
    }
    let wire = COMPATIBLE;
    let error = wire.parse_response(&gateway(), &answer).unwrap_err();
    assert_eq!(
        (error.cause, error.stops_judge),
        (FailureCause::BadRequest, false),
        "{error}"
    );
}
