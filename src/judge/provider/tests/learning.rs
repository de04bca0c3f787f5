//! Real servers' responses to unsupported parameters, and the requests that follow.

use super::super::JudgeSettings;
use super::super::anthropic::Anthropic;
use super::super::azure::Azure;
use super::super::compatible::Compatible;
use super::super::gemini::Gemini;
use super::super::learnt::{Learnt, Refusal};
use super::super::ollama::Ollama;
use super::super::openai::OpenAi;
use super::super::testing::{received, server, settings};
use super::super::wire_format::WireFormat;
use crate::judge::JudgePrompt;
use crate::judge::call::Asking;
use crate::judge::prompt::{LETTER, Template};
use rstest::rstest;
use serde_json::{Value, json};

fn letter(provider: &str, model: &str) -> JudgeSettings {
    let mut settings = settings(provider, model);
    settings.template = Template::parse(LETTER).unwrap();
    settings
}

/// The request after a server has responded with `refusals`, one after the other.
fn after(
    wire: &dyn WireFormat,
    settings: &JudgeSettings,
    refusals: &[(u16, Value)],
) -> (Value, Vec<&'static str>) {
    let mut learnt = Learnt::default();
    for (status, body) in refusals {
        let error = wire
            .parse_response(settings, &received(*status, body))
            .unwrap_err();
        let more = wire.adapt(settings, learnt, &error);
        learnt = more.unwrap_or_else(|| panic!("nothing learnt from {body}"));
    }
    let prompt = JudgePrompt {
        system: "Judge.".to_owned(),
        user: "Which?".to_owned(),
        ..JudgePrompt::default()
    };
    (
        wire.build_request(settings, &prompt, learnt),
        learnt.words(),
    )
}

fn compatible(name: &str) -> Compatible {
    server(name)
}

#[test]
fn what_is_known_is_not_learnt_again() {
    // Ollama's requests contain the temperature even if other things were rejected.
    let settings = settings("ollama", "m");
    let refusal = json!({"error": "unsupported option: temperature"});
    let error = Ollama
        .parse_response(&settings, &received(400, &refusal))
        .unwrap_err();
    let mut learnt = Learnt::default();
    let mut steps = 0;
    while let Some(more) = Ollama.adapt(&settings, learnt, &error) {
        assert_ne!(more, learnt);
        learnt = more;
        steps += 1;
    }
    assert!(steps <= 2, "{steps}");
}

#[test]
fn azure_without_efforts_gets_none_and_then_a_temperature() {
    let refusal = json!({"error": {"message": "Unrecognized request argument supplied: reasoning_effort", "type": "invalid_request_error", "param": null, "code": null}});
    let (request, _) = after(&Azure, &settings("azure", "mine"), &[(400, refusal)]);
    assert_eq!(
        request.get("reasoning_effort").and_then(Value::as_str),
        None
    );
    assert_eq!(request["temperature"], 0);
}

/// The remaining parts of `output_config` after each refusal.
#[rstest]
#[case::whole("output_config: Extra inputs are not permitted", None, None)]
#[case::structure(
    "'claude-3-haiku' does not support structured outputs",
    Some("low"),
    None
)]
#[case::format("output_config.format: not supported by this model", Some("low"), None)]
#[case::effort(
    "This model does not support the effort parameter.",
    None,
    Some("json_schema")
)]
fn older_models_of_anthropic_are_asked_without_what_they_refuse(
    #[case] message: &str,
    #[case] effort: Option<&str>,
    #[case] format: Option<&str>,
) {
    let settings = settings("anthropic", "claude-sonnet-5-5");
    let refusal =
        json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}});
    let (request, notes) = after(&Anthropic, &settings, &[(400, refusal.clone())]);
    let at = |place: &str| request.pointer(place).and_then(Value::as_str);
    assert_eq!(at("/output_config/effort"), effort, "{request}");
    assert_eq!(at("/output_config/format/type"), format, "{request}");
    assert!(!notes.is_empty());
    // The user's own parameters stay.
    let mut own = settings;
    own.params = json!({"output_config": {"effort": "high"}})
        .as_object()
        .unwrap()
        .clone();
    let error = Anthropic
        .parse_response(&own, &received(400, &refusal))
        .unwrap_err();
    let learnt = Anthropic.adapt(&own, Learnt::default(), &error);
    assert!(learnt.is_none() || message.contains("structured"));
}

#[test]
fn a_gateway_that_wants_the_other_limit_gets_it() {
    let refusal = json!({"error": {"message": "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "type": "invalid_request_error", "param": "max_tokens", "code": "unsupported_parameter"}});
    let (request, notes) = after(
        &compatible("compatible"),
        &settings("compatible", "gpt"),
        &[(400, refusal)],
    );
    assert_eq!(request["max_completion_tokens"], 4096);
    assert_eq!(request.get("max_tokens"), None);
    assert_eq!(notes.len(), 1);
    let refusal = json!({"error": {"message": "Unrecognized request argument supplied: max_completion_tokens"}});
    let (request, _) = after(&OpenAi, &settings("openai", "gpt-4.1"), &[(400, refusal)]);
    assert_eq!(request["max_tokens"], 4096);
}

#[rstest]
#[case(400, json!({"object": "error", "message": "System role not supported", "type": "BadRequestError", "param": null, "code": 400}))]
#[case(500, json!({"error": {"message": "Error rendering prompt with jinja template: System role not supported", "type": "server_error", "code": 500}}))]
fn instructions_go_before_the_message_where_there_is_no_system_role(
    #[case] status: u16,
    #[case] refusal: Value,
) {
    let (request, _) = after(
        &compatible("llamacpp"),
        &settings("llamacpp", "gemma"),
        &[(status, refusal)],
    );
    assert_eq!(
        request["messages"],
        json!([{"role": "user", "content": "Judge.\n\nWhich?"}])
    );
}

#[test]
fn openrouter_without_an_endpoint_for_all_parameters_is_asked_for_fewer() {
    let refusal = json!({"error": {"message": "No endpoints found that can handle the requested parameters. To learn more about provider routing, visit: https://openrouter.ai/docs/provider-routing", "code": 404}});
    let three = vec![(404, refusal); 3];
    let (request, _) = after(
        &compatible("openrouter"),
        &settings("openrouter", "some/model"),
        &three,
    );
    assert_eq!(
        (request.get("seed"), request.get("temperature")),
        (None, None)
    );
    assert_eq!(request["response_format"]["type"], "json_object");
    assert_eq!(request["provider"]["require_parameters"], true);
    let gone = json!({"error": {"message": "No endpoints found for some/model.", "code": 404}});
    let wire = compatible("openrouter");
    let error = wire
        .parse_response(&settings("openrouter", "some/model"), &received(404, &gone))
        .unwrap_err();
    assert_eq!(
        wire.adapt(
            &settings("openrouter", "some/model"),
            Learnt::default(),
            &error
        ),
        None
    );
}

#[rstest]
#[case(500, json!({"error": {"message": "[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': \"Input should be 'text' or 'json_object'\", 'input': 'json_schema'}]", "type": "internal_server_error", "param": null, "code": null}}))]
#[case(500, json!({"error": {"code": 500, "message": "response_format type must be one of \"text\" or \"json_object\", but got: json_schema", "type": "server_error"}}))]
#[case(400, json!({"error": "'response_format.type' must be 'json_object' or 'text'"}))]
#[case(422, json!({"detail": [{"type": "literal_error", "loc": ["body", "response_format", "type"], "msg": "Input should be 'text' or 'json_object'"}]}))]
fn a_server_without_schemas_is_asked_for_an_object(#[case] status: u16, #[case] refusal: Value) {
    let (request, notes) = after(
        &compatible("compatible"),
        &settings("compatible", "m"),
        &[(status, refusal.clone()), (status, refusal)],
    );
    assert_eq!(request["response_format"], json!({"type": "json_object"}));
    assert!(notes[0].contains("schema"), "{notes:?}");
}

#[rstest]
#[case("temperature", json!({"error": {"message": "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.", "param": "temperature", "code": "unsupported_value"}}))]
#[case("seed", json!({"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]}))]
fn what_the_user_did_not_ask_for_is_left_out_and_what_he_asked_for_is_an_error(
    #[case] name: &str,
    #[case] refusal: Value,
) {
    let wire = compatible("compatible");
    let mut settings = settings("compatible", "m");
    let (request, notes) = after(&wire, &settings, &[(400, refusal.clone())]);
    assert_eq!((request.get(name), notes.len()), (None, 1));
    settings.params.insert(name.to_owned(), json!(0));
    let error = wire
        .parse_response(&settings, &received(400, &refusal))
        .unwrap_err();
    assert_eq!(wire.adapt(&settings, Learnt::default(), &error), None);
}

#[test]
fn likeliest_answers_are_asked_for_wherever_they_are_taken() {
    let request = |wire: &dyn WireFormat, provider: &str, model: &str| {
        let prompt = JudgePrompt::default();
        wire.build_request(&settings(provider, model), &prompt, Learnt::default())
    };
    let old = request(&OpenAi, "openai", "gpt-4.1");
    assert_eq!((&old["temperature"], &old["seed"]), (&json!(0), &json!(0)));
    let thinks = request(&OpenAi, "openai", "gpt-6.1-terra");
    assert_eq!(
        (thinks.get("temperature"), &thinks["seed"]),
        (None, &json!(0))
    );
    let mistral = request(&compatible("mistral"), "mistral", "m");
    assert_eq!(
        (mistral.get("seed"), &mistral["random_seed"]),
        (None, &json!(0))
    );
    let gemini = request(&Gemini, "gemini", "gemini-2.5-flash");
    assert_eq!(gemini["generationConfig"]["temperature"], 0);
}

#[test]
fn log_probabilities_are_asked_for_wherever_there_are_some() {
    let prompt = JudgePrompt::default();
    let none = Learnt::default();
    for (wire, provider, model) in [
        (&OpenAi as &dyn WireFormat, "openai", "gpt-4.1"),
        (&Azure, "azure", "mine"),
        (&compatible("groq"), "groq", "m"),
        (&compatible("deepseek"), "deepseek", "m"),
        (&Ollama, "ollama", "m"),
    ] {
        let request = wire.build_request(&letter(provider, model), &prompt, none);
        assert_eq!(request["logprobs"], true, "{provider}");
        let score = wire.build_request(&settings(provider, model), &prompt, none);
        assert_eq!(score.get("logprobs"), None, "{provider}");
    }
    let request = Gemini.build_request(&letter("gemini", "gemini-2.5-flash"), &prompt, none);
    assert_eq!(request["generationConfig"]["responseLogprobs"], true);
    let refusal = json!({"error": {"code": 400, "message": "Logprobs is not enabled for this model.", "status": "INVALID_ARGUMENT"}});
    let (request, _) = after(
        &Gemini,
        &letter("gemini", "gemini-2.5-flash"),
        &[(400, refusal)],
    );
    assert_eq!(request["generationConfig"].get("logprobs"), None);
}

#[test]
fn googles_and_ollamas_probabilities_are_read() {
    let top = |token: &str, p: f64| json!({"token": token, "logProbability": p.ln()});
    let answer = json!({"candidates": [{"content": {"parts": [{"text": "B"}]}, "finishReason": "STOP", "logprobsResult": {
        "chosenCandidates": [top("B", 0.6)],
        "topCandidates": [{"candidates": [top("B", 0.6), top("A", 0.2), top("T", 0.2)]}]}}]});
    let judge = letter("gemini", "gemini-2.5-flash");
    let reply = Gemini
        .parse_response(&judge, &received(200, &answer))
        .unwrap();
    let opinion = Gemini.opinion(&judge, &reply, &[]).unwrap();
    assert!((opinion.margin.get() - 0.4).abs() < 1e-9);
    let top = |token: &str, p: f64| json!({"token": token, "logprob": p.ln()});
    let answer = json!({"model": "m", "message": {"content": "A"}, "done": true, "done_reason": "stop", "prompt_eval_count": 9, "eval_count": 1,
        "logprobs": [{"token": "A", "logprob": -0.1, "top_logprobs": [top("A", 0.3), top("B", 0.2), top("T", 0.5)]}]});
    let judge = letter("ollama", "m");
    let reply = Ollama
        .parse_response(&judge, &received(200, &answer))
        .unwrap();
    assert_eq!(
        Ollama.opinion(&judge, &reply, &[]).unwrap().margin.get(),
        0.0
    );
}

#[test]
fn a_letter_after_a_thought_is_given_room_and_found() {
    let wire = compatible("vllm");
    let judge = letter("vllm", "qwen3");
    let cut = json!({"choices": [{"finish_reason": "length", "message": {"content": "<think>\nOkay, the"}}], "usage": {"prompt_tokens": 9, "completion_tokens": 8}});
    let error = wire
        .parse_response(&judge, &received(200, &cut))
        .unwrap_err();
    let learnt = wire.adapt(&judge, Learnt::default(), &error).unwrap();
    assert!(learnt.has(Refusal::ShortAnswer));
    let request = wire.build_request(&judge, &JudgePrompt::default(), learnt);
    assert_eq!(
        (&request["max_tokens"], &request["logprobs"]),
        (&json!(4096), &json!(true))
    );
    let top = |token: &str, p: f64| json!({"token": token, "logprob": p.ln()});
    let answer = json!({"choices": [{"finish_reason": "stop", "message": {"content": "<think>A is better</think>\n\nB"}, "logprobs": {"content": [
        {"token": "<think>", "logprob": 0.0, "top_logprobs": [top("<think>", 1.0)]},
        {"token": "A", "logprob": 0.0, "top_logprobs": [top("A", 1.0)]},
        {"token": "B", "logprob": -0.1, "top_logprobs": [top("B", 0.8), top("A", 0.2)]}]}}]});
    let reply = wire
        .parse_response(&judge, &received(200, &answer))
        .unwrap();
    assert!((wire.opinion(&judge, &reply, &[]).unwrap().margin.get() - 0.6).abs() < 1e-9);
}

#[test]
fn one_probability_alone_says_nothing_about_the_others() {
    let wire = compatible("compatible");
    let judge = letter("compatible", "m");
    let answer = json!({"choices": [{"finish_reason": "stop", "message": {"content": "A"}, "logprobs": {"content": [{"token": "A", "logprob": -0.5}]}}]});
    let reply = wire
        .parse_response(&judge, &received(200, &answer))
        .unwrap();
    assert_eq!(reply.odds, None);
}

#[test]
fn the_parameter_that_a_gateway_names_first_is_left_out() {
    let refusal = |message: &str| {
        let message = format!(
            "litellm.UnsupportedParamsError: {message}\n\nLiteLLM: model group 'gpt' failed with the error above."
        );
        (
            400,
            json!({"error": {"message": message, "type": "invalid_request_error", "param": null, "code": "400"}}),
        )
    };
    let (request, notes) = after(
        &compatible("compatible"),
        &settings("compatible", "gpt"),
        &[
            refusal(
                "gpt-6.1-terra doesn't support temperature=0 while reasoning is active. Only temperature=1 is supported unless reasoning_effort resolves to 'none', either set explicitly on the request or declared as the model's default_reasoning_effort.",
            ),
            refusal(
                "anthropic does not support parameters: ['seed'], for model=claude-sonnet-5-5. To drop these, set `litellm.drop_params=True`",
            ),
        ],
    );
    assert_eq!(
        (request.get("temperature"), request.get("seed")),
        (None, None)
    );
    assert_eq!(notes, ["takes no temperature", "takes no seed"]);
    assert_eq!(request["max_tokens"], 4096);
    let thinking = refusal("`temperature` may only be set to 1 when thinking is enabled.");
    let (request, _) = after(
        &compatible("compatible"),
        &settings("compatible", "claude"),
        &[thinking],
    );
    assert_eq!(request.get("temperature"), None);
}

#[rstest]
#[case::named(json!({"error": "Invalid schema for response_format 'judgement': 'maxLength' is not permitted."}))]
#[case::grammar(json!({"error": {"code": 400, "message": "failed to parse grammar", "type": "invalid_request_error"}}))]
fn bounds_that_a_server_does_not_know_are_left_out_and_the_schema_stays(#[case] body: Value) {
    let bounded = |request: &Value| request.to_string().contains("maxItems");
    for (provider, wire) in [
        ("vllm", &compatible("vllm") as &dyn WireFormat),
        ("llamacpp", &compatible("llamacpp")),
        ("ollama", &Ollama),
    ] {
        let settings = settings(provider, "qwen");
        let (request, _) = after(wire, &settings, &[]);
        assert!(bounded(&request), "{request}");
        let (request, notes) = after(wire, &settings, &[(400, body.clone())]);
        assert!(
            !bounded(&request) && request.to_string().contains("additionalProperties"),
            "{request}"
        );
        assert_eq!(notes.len(), 1);
    }
    let (request, _) = after(&OpenAi, &settings("openai", "gpt-6.1-terra"), &[]);
    assert!(!bounded(&request), "strict servers refuse them");
}

#[test]
fn a_model_that_does_not_think_gets_little_room_until_it_needs_more() {
    let mut settings = settings("llamacpp", "qwen");
    settings.short_cap = Some(1024);
    let wire = compatible("llamacpp");
    let cap = |learnt, asking| {
        let prompt = JudgePrompt {
            asking,
            ..JudgePrompt::default()
        };
        wire.build_request(&settings, &prompt, learnt)["max_tokens"].clone()
    };
    let first = Learnt::default();
    assert_eq!(
        (cap(first, Asking::First), cap(first, Asking::Longer)),
        (json!(1024), json!(2048))
    );
    let cut = |text: &str| {
        let body = json!({"choices": [{"finish_reason": "length", "message": {"content": text}}]});
        wire.parse_response(&settings, &received(200, &body))
            .unwrap_err()
    };
    let long = wire
        .adapt(&settings, first, &cut("{\"thoughts\": [\"A says"))
        .unwrap();
    assert_eq!(
        (cap(long, Asking::First), cap(long, Asking::Longer)),
        (json!(4096), json!(8192))
    );
    // An answer that repeats itself would fill any limit.
    let looped = cut(&"A says so. ".repeat(60));
    assert!(looped.message.contains("repeats itself"), "{looped}");
    assert_eq!(wire.adapt(&settings, first, &looped), None);
}

#[test]
fn a_question_that_is_asked_again_is_not_answered_by_the_same_tokens() {
    for (wire, provider, place) in [
        (&compatible("llamacpp") as &dyn WireFormat, "llamacpp", ""),
        (&Ollama, "ollama", "/options"),
        (&Gemini, "gemini", "/generationConfig"),
    ] {
        let settings = settings(provider, "m");
        let sampling = |asking| {
            let prompt = JudgePrompt {
                asking,
                ..JudgePrompt::default()
            };
            let request = wire.build_request(&settings, &prompt, Learnt::default());
            let at = |name: &str| {
                request
                    .pointer(&format!("{place}/{name}"))
                    .unwrap()
                    .as_f64()
                    .unwrap()
            };
            (at("temperature"), at("seed"))
        };
        let (first, again) = (sampling(Asking::First), sampling(Asking::Again));
        assert_eq!(first.0, 0.0);
        assert!(again.0 > 0.2 && again.1 != first.1, "{provider}");
        assert_eq!(again, sampling(Asking::Longer));
    }
}
