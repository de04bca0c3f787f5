//! The cost of calls: computed from valid counts only, and never more than announced.

use super::super::testing::{KEY, case, network, received, settings};
use super::*;
use crate::judge::billing::TermsRange;
use crate::judge::call::{AnswerProbabilities, Asking};
use crate::judge::price::{Price, TokenRates};
use crate::judge::prompt::{LETTER, Template};
use crate::judge::{Judge, opinion_of};

/// A successful response of each wire format, with these two counts.
fn success(wire: &str, input: &Value, output: &Value) -> Value {
    let text = r#"{"thoughts":[],"score":1}"#;
    match wire {
        "anthropic" => {
            json!({"content": [{"type": "text", "text": text}], "stop_reason": "end_turn",
            "usage": {"input_tokens": input, "output_tokens": output}})
        }
        "gemini" => {
            json!({"candidates": [{"content": {"parts": [{"text": text}]}, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": input, "candidatesTokenCount": output}})
        }
        "ollama" => json!({"message": {"content": text}, "done_reason": "stop",
            "prompt_eval_count": input, "eval_count": output}),
        "openai-decisions" => {
            json!({"answers": [{"type": "choice"}], "usage": {"input_tokens": input}})
        }
        "gemini-decisions" => {
            json!({"answers": {"better": {"type": "choice"}}, "usage": {"total_input_tokens": input}})
        }
        _ => json!({"choices": [{"finish_reason": "stop", "message": {"content": text}}],
            "usage": {"prompt_tokens": input, "completion_tokens": output}}),
    }
}

fn named_wires() -> Vec<(&'static str, Box<dyn WireFormat>)> {
    let names = [
        "openai",
        "anthropic",
        "gemini",
        "azure",
        "ollama",
        "compatible",
        "openai-decisions",
        "gemini-decisions",
    ];
    names.into_iter().zip(wires()).collect()
}

fn priced(provider: &str) -> JudgeSettings {
    let rates = TokenRates {
        input: 1.0,
        output: 2.0,
        cached: None,
    };
    JudgeSettings {
        price: Some(rates.into()),
        ..settings(provider, "m")
    }
}

#[test]
fn counts_that_make_no_sense_cost_an_unknown_sum_on_every_wire() {
    let good = json!(100);
    for (name, wire) in named_wires() {
        let read = |settings: &JudgeSettings, input: &Value, output: &Value| {
            let answer = received(200, &success(name, input, output));
            wire.parse_response(settings, &answer).unwrap()
        };
        let reply = read(&priced(name), &good, &good);
        assert!(reply.cost_usd.unwrap() > 0.0, "{name}");
        assert_eq!(reply.usage.input, 100, "{name}");
        for bad in [
            json!(null),
            json!(-1),
            json!(0.5),
            json!("7"),
            json!(10_000_001),
            json!(u64::MAX),
            json!(i64::MIN),
            json!(1e300),
            json!([1]),
        ] {
            let mut wrong = vec![(&bad, &good)];
            if !name.ends_with("decisions") {
                wrong.push((&good, &bad));
            }
            for (input, output) in wrong {
                // This many tokens would fill Ollama's context.
                if name == "ollama" && input.as_u64().is_some_and(|count| count > 100) {
                    continue;
                }
                let reply = read(&priced(name), input, output);
                assert_eq!(reply.cost_usd, None, "{name}: {input} {output}");
                assert_eq!(reply.usage, Usage::default(), "{name}: {input} {output}");
                let free = JudgeSettings {
                    price: Some(Price::FREE),
                    ..priced(name)
                };
                assert_eq!(read(&free, input, output).cost_usd, Some(0.0), "{name}");
            }
        }
    }
}

#[test]
fn a_charge_that_a_provider_names_has_to_make_sense_too() {
    let settings = JudgeSettings {
        price: None,
        ..settings("openrouter", "m")
    };
    for (cost, charged) in [
        (json!(0.25), Some(0.25)),
        (json!(0), Some(0.0)),
        (json!(-0.25), None),
        (json!(1e9), None),
        (json!("0.25"), None),
    ] {
        let mut body = success("compatible", &json!(100), &json!(100));
        body["usage"]["cost"] = cost.clone();
        let answer = received(200, &body);
        let wire = COMPATIBLE;
        let reply = wire.parse_response(&settings, &answer);
        assert_eq!(reply.unwrap().cost_usd, charged, "{cost}");
    }
}

#[test]
fn thinking_that_is_not_in_the_answers_count_is_charged_as_output() {
    let settings = priced("xai");
    let wire = COMPATIBLE;
    for (usage, output) in [
        (json!({"completion_tokens": 20, "total_tokens": 1320}), 320),
        (json!({"completion_tokens": 100, "total_tokens": 1400}), 400),
        (json!({"completion_tokens": 20}), 320),
        // Included in the answer's tokens.
        (json!({"completion_tokens": 320, "total_tokens": 1320}), 320),
        (json!({"completion_tokens": 320}), 320),
    ] {
        let mut body = success("compatible", &json!(1000), &json!(0));
        body["usage"] = usage;
        body["usage"]["prompt_tokens"] = json!(1000);
        body["usage"]["completion_tokens_details"] = json!({"reasoning_tokens": 300});
        let reply = wire
            .parse_response(&settings, &received(200, &body))
            .unwrap();
        assert_eq!(reply.usage.output, output, "{body}");
        let cost = reply.cost_usd.unwrap();
        assert!(
            (cost - (1000.0 + 2.0 * output as f64) / 1e6).abs() < 1e-12,
            "{cost} {body}"
        );
    }
}

#[test]
fn a_call_is_charged_on_the_terms_on_which_it_was_served() {
    let cost = |name: &str, asked: Value, pointer: (&str, &str), header: Option<&'static str>| {
        let model = match name {
            "anthropic" => "claude-opus-5-5",
            "gemini" => "gemini-3.8-flash",
            _ => "gpt-6.1-terra",
        };
        let mut settings = settings(name, model);
        let url = reqwest::Url::parse("https://api.example.com/v1").unwrap();
        settings.terms = TermsRange::of_request(
            provider_named(name).unwrap().has_account_tiers(),
            &url,
            &asked,
        );
        let mut body = success(name, &json!(1000), &json!(100));
        if let Some((object, field)) = pointer.0.rsplit_once('/') {
            body.pointer_mut(object).unwrap()[field] = json!(pointer.1);
        }
        let mut answer = received(200, &body);
        if let Some(tier) = header {
            let tier = reqwest::header::HeaderValue::from_static(tier);
            answer.headers.insert("x-gemini-service-tier", tier);
        }
        let wire = named_wires().into_iter().find(|(wire, _)| *wire == name);
        let reply = wire.unwrap().1.parse_response(&settings, &answer).unwrap();
        let most = network(settings, Box::new(OpenAi), None)
            .worst(&JudgePrompt {
                user: "u".repeat(4000),
                ..JudgePrompt::default()
            })
            .1
            .unwrap();
        let cost = reply.cost_usd.unwrap();
        assert!(cost <= most, "{name} {pointer:?}: {cost} of {most}");
        (cost * 1e7).round() / 1e7
    };
    let none = ("", "");
    let priority = json!({"service_tier": "priority"});
    let flex = json!({"service_tier": "flex"});
    for (asked, told, usd) in [
        (json!({}), none, 0.0015),
        (json!({}), ("/service_tier", "priority"), 0.003),
        (json!({}), ("/service_tier", "default"), 0.0015),
        (priority.clone(), none, 0.003),
        (priority, ("/service_tier", "default"), 0.0015),
        (flex.clone(), ("/service_tier", "flex"), 0.00075),
        (flex.clone(), none, 0.00075),
        (flex, ("/service_tier", "default"), 0.0015),
    ] {
        assert_eq!(cost("openai", asked, told, None), usd, "{told:?}");
    }
    let geo = |asked: Value, told| cost("anthropic", asked, ("/usage/inference_geo", told), None);
    assert_eq!(geo(json!({}), "global"), 0.006);
    assert_eq!(geo(json!({}), "us"), 0.0066);
    assert_eq!(geo(json!({"inference_geo": "us"}), "us"), 0.0066);
    let fast = json!({"speed": "fast"});
    assert_eq!(cost("anthropic", fast.clone(), none, None), 0.012);
    let standard = ("/usage/speed", "standard");
    assert_eq!(cost("anthropic", fast, standard, None), 0.006);
    let asked = json!({"serviceTier": "priority"});
    assert_eq!(cost("gemini", asked.clone(), none, None), 0.0020250);
    assert_eq!(cost("gemini", asked, none, Some("standard")), 0.001125);
}

#[test]
fn an_hours_cache_is_charged_as_such() {
    let settings = settings("anthropic", "claude-sonnet-5-5");
    let wire = &crate::judge::provider::anthropic::Anthropic;
    for (usage, usd) in [
        (json!({"cache_creation_input_tokens": 600}), 0.0035),
        (
            json!({"cache_creation_input_tokens": 600,
                "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 600}}),
            0.0044,
        ),
        (
            json!({"cache_creation": {"ephemeral_5m_input_tokens": 200, "ephemeral_1h_input_tokens": 400}}),
            0.0041,
        ),
    ] {
        let mut body = success("anthropic", &json!(500), &json!(100));
        for (name, count) in usage.as_object().unwrap() {
            body["usage"][name] = count.clone();
        }
        let reply = wire
            .parse_response(&settings, &received(200, &body))
            .unwrap();
        let cost = reply.cost_usd.unwrap();
        assert!((cost - usd).abs() < 1e-9, "{cost} {usage}");
    }
}

#[test]
fn what_a_server_says_it_charged_is_the_cost_whatever_the_table_says() {
    let wire = COMPATIBLE;
    let of = |settings: &JudgeSettings, more: &Value, header: Option<&str>| {
        let mut body = success("compatible", &json!(1000), &json!(100));
        let usage = body["usage"].as_object_mut().unwrap();
        usage.extend(more.as_object().unwrap().clone());
        let mut answer = received(200, &body);
        if let Some(header) = header {
            answer
                .headers
                .insert("x-litellm-response-cost", header.parse().unwrap());
        }
        wire.parse_response(settings, &answer).unwrap().cost_usd
    };
    let nothing = json!({});
    let free = JudgeSettings {
        price: Some(Price::FREE),
        ..priced("compatible")
    };
    for settings in [&priced("compatible"), &free] {
        assert_eq!(of(settings, &nothing, Some("0.0015")), Some(0.0015));
        assert_eq!(
            of(settings, &json!({"cost_in_usd_ticks": 30_800_000}), None),
            Some(0.00308)
        );
        let own_key = json!({"cost": 0.25, "is_byok": true, "cost_details": {"upstream_inference_cost": 0.5}});
        assert_eq!(of(settings, &own_key, None), Some(0.75));
        let their_key = json!({"cost": 0.25, "is_byok": false, "cost_details": {"upstream_inference_cost": 0.5}});
        assert_eq!(of(settings, &their_key, None), Some(0.25));
    }
    for header in ["None", "-1", "NaN", "1e9"] {
        assert_eq!(
            of(&priced("compatible"), &nothing, Some(header)),
            Some(0.0012),
            "{header}"
        );
        assert_eq!(of(&free, &nothing, Some(header)), Some(0.0), "{header}");
    }
}

fn with_params(provider: &str, params: Value) -> JudgeSettings {
    JudgeSettings {
        params: params.as_object().unwrap().clone(),
        ..priced(provider)
    }
}

#[test]
fn the_worst_price_follows_what_is_really_sent() {
    let prompt = JudgePrompt::default();
    for (name, params, most) in [
        ("openai", json!({}), Some(4096)),
        (
            "openai",
            json!({"max_completion_tokens": 163_840}),
            Some(163_840),
        ),
        ("openai", json!({"max_tokens": 9000}), Some(9000)),
        ("openai", json!({"max_completion_tokens": 10}), Some(10)),
        ("openai", json!({"max_completion_tokens": ""}), None),
        ("azure", json!({"max_completion_tokens": 9000}), Some(9000)),
        (
            "compatible",
            json!({"max_tokens": "", "max_completion_tokens": 70}),
            Some(70),
        ),
        ("compatible", json!({"max_tokens": -1}), None),
        (
            "anthropic",
            json!({"max_tokens": 64_000, "thinking": {"type": "enabled", "budget_tokens": 60_000}}),
            Some(64_000),
        ),
        (
            "anthropic",
            json!({"thinking": {"type": "enabled", "budget_tokens": 20_000}}),
            Some(20_000),
        ),
        ("anthropic", json!({"max_tokens": ""}), None),
        (
            "gemini",
            json!({"generationConfig": {"maxOutputTokens": 65_536}}),
            Some(65_536),
        ),
        (
            "gemini",
            json!({"generationConfig": {"candidateCount": 4}}),
            Some(4 * 8192),
        ),
        (
            "gemini",
            json!({"generationConfig": {"maxOutputTokens": ""}}),
            None,
        ),
        ("gemini", json!({"generationConfig": ""}), None),
        (
            "ollama",
            json!({"options": {"num_predict": 4000}}),
            Some(4000),
        ),
        ("ollama", json!({"options": {"num_predict": -1}}), None),
    ] {
        let wire = named_wires().into_iter().find(|(known, _)| *known == name);
        let judge = network(with_params(name, params.clone()), wire.unwrap().1, None);
        let (usage, worst) = judge.worst(&prompt);
        assert_eq!(worst.is_some(), most.is_some(), "{name} {params}");
        if let Some(most) = most {
            assert_eq!(usage.output, most, "{name} {params}");
        }
        let free = JudgeSettings {
            price: Some(Price::FREE),
            ..with_params(name, params)
        };
        let free = network(free, Box::new(OpenAi), None);
        assert_eq!(free.worst(&prompt).1, Some(0.0), "{name}");
    }
}

#[test]
fn what_params_add_to_a_request_is_read_too() {
    let long = json!({"tools": ["x".repeat(5000)]});
    let judge = network(with_params("openai", long), Box::new(OpenAi), None);
    assert!(judge.worst(&JudgePrompt::default()).0.input > 5000);
}

#[test]
fn a_letter_may_grow_where_the_server_gives_no_probabilities() {
    let mut settings = priced("compatible");
    settings.template = Template::parse(LETTER).unwrap();
    let judge = network(settings, Box::new(COMPATIBLE), None);
    let prompt = JudgePrompt::default();
    assert_eq!(judge.worst(&prompt).0.output, 4096);
    // The expected output is the letter.
    assert_eq!(judge.estimate(&prompt).0.output, 8);
}

#[test]
fn at_most_holds_the_call_and_the_dearest_ones_after_it() {
    let prompt = JudgePrompt {
        user: "u".repeat(1000),
        ..JudgePrompt::default()
    };
    let judge = network(priced("openai"), Box::new(OpenAi), None);
    let worst = |prompt: &JudgePrompt| judge.worst(prompt).1.unwrap();
    let longer = JudgePrompt {
        asking: Asking::Longer,
        ..prompt.clone()
    };
    let most = judge.most_usd(&prompt).unwrap();
    assert!((most - worst(&prompt) - 4.0 * worst(&longer)).abs() < 1e-12);
    let endless = with_params("openai", json!({"max_completion_tokens": ""}));
    let endless = network(endless, Box::new(OpenAi), None);
    assert_eq!(endless.most_usd(&prompt), None);
}

/// Panics on every response.
#[derive(Debug)]
struct PanickingWire;

impl WireFormat for PanickingWire {
    fn build_request(&self, _: &JudgeSettings, _: &JudgePrompt, _: Learnt) -> Value {
        Value::Null
    }

    fn caps(&self) -> &'static [&'static str] {
        &[]
    }

    fn parse_reply(
        &self,
        _: &JudgeSettings,
        _: &Value,
        _: &HttpResponse,
    ) -> Result<JudgeReply, CallError> {
        panic!("asked to panic over an answer")
    }

    fn opinion(
        &self,
        _: &JudgeSettings,
        _: &JudgeReply,
        _: &[&str],
    ) -> Result<Opinion, ParseError> {
        panic!("asked to panic over a reply")
    }
}

#[test]
fn a_panic_over_an_answer_keeps_the_answer() {
    let judge = network(priced("openai"), Box::new(PanickingWire), None);
    let answer = received(200, &json!({"paid": "for"}));
    let error = judge.read(&answer, Learnt::default()).unwrap_err();
    assert_eq!(
        (error.cause, error.retry),
        (FailureCause::Crashed, Retry::Never)
    );
    assert_eq!(
        (error.exchange.status, error.exchange.sent),
        (Some(200), true)
    );
    assert_eq!(error.exchange.cost_usd, None);
    assert_eq!(error.raw.as_deref(), Some(r#"{"paid":"for"}"#));
    assert!(error.message.contains("asked to panic"), "{error}");

    let reply = OpenAi
        .parse_response(
            &priced("openai"),
            &received(200, &success("openai", &json!(100), &json!(100))),
        )
        .unwrap();
    let error = opinion_of(&judge, &case(), reply.clone()).unwrap_err();
    assert_eq!(error.cause, FailureCause::Crashed);
    assert_eq!(error.raw, Some(reply.text));
    assert_eq!(error.exchange.cost_usd, reply.cost_usd);
}

#[test]
fn half_a_success_is_malformed_and_asked_once_more_as_it_was() {
    let judge = network(priced("openai"), Box::new(OpenAi), None);
    let prompt = JudgePrompt {
        user: "u".to_owned(),
        ..JudgePrompt::default()
    };
    let mut page = received(200, &json!(null));
    for body in ["<html>", "", "{\"choices\": [", "{}"] {
        page.body = body.as_bytes().to_vec();
        let error = judge.read(&page, Learnt::default()).unwrap_err();
        assert_eq!(
            (error.cause, error.retry),
            (FailureCause::Malformed, Retry::Never)
        );
        assert_eq!(
            (error.exchange.status, error.exchange.cost_usd),
            (Some(200), None)
        );
        assert_eq!(error.raw.as_deref(), Some(body));
        assert_eq!(
            judge.ask_again(&prompt, &error),
            Some(prompt.clone()),
            "{body}"
        );
    }
}

#[test]
fn the_key_is_in_no_field_of_what_a_call_came_to() {
    let judge = network(priced("openai"), Box::new(OpenAi), None);
    let json = Value::from(KEY).to_string();
    let in_address = "sk-secret%2F0123%224567%2Bab";
    for echo in [
        KEY.to_owned(),
        json.trim_matches('"').to_owned(),
        json.trim_matches('"').replace('/', "\\/"),
        in_address.to_owned(),
        in_address.to_lowercase(),
    ] {
        let said = format!("before {echo} after");
        let text = || Some(said.clone());
        let reply = JudgeReply {
            text: said.clone(),
            outside: None,
            model: text(),
            stop_reason: text(),
            request_id: text(),
            usage: Usage::default(),
            cost_usd: None,
            latency: std::time::Duration::ZERO,
            fingerprint: None,
            odds: None::<AnswerProbabilities>,
            limits: crate::judge::RateLimits::default(),
        };
        let redact = |result| judge.connection.redact_result(result);
        let error = CallError::in_reply(FailureCause::Refused, said.clone(), reply.clone());
        let error = redact(Err(error)).unwrap_err();
        let reply = redact(Ok(reply)).unwrap();
        let exchange = &error.exchange;
        for field in [
            Some(&reply.text),
            reply.model.as_ref(),
            reply.stop_reason.as_ref(),
            reply.request_id.as_ref(),
            Some(&error.message),
            error.raw.as_ref(),
            exchange.model.as_ref(),
            exchange.stop_reason.as_ref(),
            exchange.request_id.as_ref(),
        ] {
            assert_eq!(field.unwrap(), "before [key] after", "{echo}");
        }
    }
}
