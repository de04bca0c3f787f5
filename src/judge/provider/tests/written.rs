//! How replies are interpreted: their letter with its probabilities, and text outside the content.

use super::super::testing::{received, settings};
use super::*;
use crate::judge::parse::NoAnswer;
use crate::judge::prompt::{LETTER, Template};

const ANSWER: &str = r#"{"thoughts":["t"],"score":-0.5}"#;

fn letter(params: Value) -> JudgeSettings {
    JudgeSettings {
        template: Template::parse(LETTER).unwrap(),
        params: params.as_object().unwrap().clone(),
        ..settings("vllm", "m")
    }
}

/// A reply with these tokens. The most likely alternatives at each position are the token itself
/// and the other letter.
fn tokens(tokens: &[&str], finish: &str) -> Value {
    let tops = |token: &str| {
        let other = if token.contains('B') { "A" } else { "B" };
        json!([{"token": token, "logprob": 0.75f64.ln()}, {"token": other, "logprob": 0.25f64.ln()}])
    };
    let content: Vec<Value> = tokens
        .iter()
        .map(|token| json!({"token": token, "logprob": -0.1, "top_logprobs": tops(token)}))
        .collect();
    json!({"choices": [{"finish_reason": finish, "message": {"content": tokens.concat()}, "logprobs": {"content": content}}]})
}

#[rstest]
#[case::alone(&["A"], Some(-0.5))]
#[case::with_a_space(&[" B"], Some(0.5))]
#[case::markdown(&["**", "B", "**"], Some(0.5))]
#[case::full_stop(&["A", "."], Some(-0.5))]
#[case::end_of_turn(&["A", "<|im_end|>"], Some(-0.5))]
#[case::after_thinking(&["<think>", "A", "</think>", "\n\n", "B"], Some(0.5))]
#[case::after_half_a_tag(&["Okay", ", ", "A", "</think>", "\n\n", "B"], Some(0.5))]
#[case::a_token_of_more(&["A", "</think>", "(B"], Some(1.0))]
#[case::article(&["A", " careful", " reading"], None)]
#[case::both(&["B", "oth", " are", " fine", "."], None)]
#[case::between(&["I", " cannot", " choose", " between", " A", " and", " B", "."], None)]
#[case::named(&["Document", " B"], None)]
#[case::reason(&["A", "\n\n", "It", " names", " the", " capital"], None)]
#[case::only_thinking(&["<think>", "B", "</think>"], None)]
fn probabilities_are_those_of_a_letter_alone(#[case] texts: &[&str], #[case] margin: Option<f64>) {
    let settings = letter(json!({}));
    let wire = COMPATIBLE;
    let reply = wire
        .parse_response(&settings, &received(200, &tokens(texts, "stop")))
        .unwrap();
    let opinion = wire.opinion(&settings, &reply, &[]);
    let found = opinion.as_ref().ok().map(|opinion| opinion.margin.get());
    match (found, margin) {
        (Some(found), Some(margin)) => assert!((found - margin).abs() < 1e-9, "{found}"),
        (found, margin) => assert_eq!(found, margin),
    }
    if margin.is_none() {
        assert_eq!(reply.odds, None);
        assert_eq!(opinion.unwrap_err().cause(), FailureCause::Malformed);
    }
}

#[test]
fn a_letter_that_was_cut_off_counts_only_under_a_grammar() {
    let wire = COMPATIBLE;
    let read = |params: Value, texts: &[&str]| {
        wire.parse_response(&letter(params), &received(200, &tokens(texts, "length")))
    };
    for texts in [&["A"][..], &["A", " careful"], &["Okay"]] {
        let error = read(json!({"max_tokens": 1}), texts).unwrap_err();
        assert_eq!(error.cause, FailureCause::Truncated);
        assert_eq!(error.raw, Some(texts.concat()), "its text is kept");
    }
    let grammar = json!({"max_tokens": 1, "structured_outputs": {"choice": ["A", "B", "T"]}});
    let reply = read(grammar.clone(), &["A"]).unwrap();
    assert!(reply.odds.is_some());
    assert!(read(grammar, &["A", " careful"]).is_err());
}

/// Replies with empty content and `text` in another field, with the name of that field.
fn outside(text: &str) -> Vec<(Box<dyn WireFormat>, &'static str, Value)> {
    let chat = |message: Value| json!({"choices": [{"finish_reason": "stop", "message": message}]});
    let compatible = || Box::new(COMPATIBLE) as Box<dyn WireFormat>;
    vec![
        (
            compatible(),
            "reasoning_content",
            chat(json!({"content": null, "reasoning_content": text, "tool_calls": []})),
        ),
        (
            compatible(),
            "reasoning",
            chat(json!({"content": "", "reasoning": text})),
        ),
        (
            compatible(),
            "reasoning_details",
            chat(
                json!({"content": " \n", "reasoning_details": [{"type": "reasoning.text", "text": text}]}),
            ),
        ),
        (
            compatible(),
            "thinking chunk",
            chat(
                json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": text}]}]}),
            ),
        ),
        (
            compatible(),
            "tool call",
            chat(
                json!({"tool_calls": [{"type": "function", "function": {"name": "judgement", "arguments": text}}]}),
            ),
        ),
        (
            Box::new(Ollama),
            "thinking",
            json!({"message": {"content": "", "thinking": text}, "done_reason": "stop", "prompt_eval_count": 9, "eval_count": 3}),
        ),
        (
            Box::new(Ollama),
            "thinking",
            json!({"message": {"thinking": text}, "done_reason": "stop"}),
        ),
        (
            Box::new(Gemini),
            "thought part",
            json!({"candidates": [{"content": {"parts": [{"text": text, "thought": true}]}, "finishReason": "STOP"}]}),
        ),
        (
            Box::new(Anthropic),
            "thinking block",
            json!({"content": [{"type": "thinking", "thinking": text}], "stop_reason": "end_turn"}),
        ),
    ]
}

#[test]
fn an_answer_outside_the_content_is_read_if_it_is_exactly_one() {
    for (wire, field, body) in outside(ANSWER) {
        let settings = settings("compatible", "m");
        let reply = wire
            .parse_response(&settings, &received(200, &body))
            .unwrap();
        assert_eq!(reply.outside, Some(field));
        let opinion = wire.opinion(&settings, &reply, &[]).unwrap();
        assert_eq!(opinion.margin.get(), -0.5, "{field}");
        assert!(wire.opinion(&settings, &reply, &[ANSWER]).is_err());
    }
}

#[test]
fn other_text_outside_the_content_is_kept_and_named() {
    let text = format!("Maybe {ANSWER}");
    for (wire, field, body) in outside(&text) {
        let judge = network(settings("compatible", "m"), wire, None);
        let reply = judge
            .read(&received(200, &body), Learnt::default())
            .unwrap();
        let error = opinion_of(&judge, &case(), reply).unwrap_err();
        assert_eq!(error.cause, FailureCause::Malformed, "{field}");
        assert!(error.message.contains(field), "{error}");
        assert_eq!(error.raw.as_deref(), Some(text.as_str()), "{field}");
        let named = NoAnswer::OutsideContent {
            field,
            characters: text.len(),
        };
        assert_eq!(error.message, named.to_string());
    }
}

#[test]
fn content_comes_before_what_the_model_thought() {
    let wire = COMPATIBLE;
    let settings = settings("compatible", "m");
    for message in [
        json!({"content": ANSWER, "reasoning_content": "{\"thoughts\":[],\"score\":1}"}),
        json!({"content": [
            {"type": "thinking", "thinking": [{"type": "text", "text": "{\"thoughts\":[],\"score\":1}"}]},
            {"type": "reasoning", "text": "hm"},
            {"type": "text", "text": ANSWER}]}),
    ] {
        let body = json!({"choices": [{"finish_reason": "stop", "message": message}]});
        let reply = wire
            .parse_response(&settings, &received(200, &body))
            .unwrap();
        assert_eq!((reply.text.as_str(), reply.outside), (ANSWER, None));
    }
}

#[test]
fn thinking_that_was_cut_off_is_kept() {
    let body = json!({"choices": [{"finish_reason": "length", "message": {"content": "", "reasoning_content": "Okay, so"}}]});
    let error = COMPATIBLE
        .parse_response(&settings("compatible", "m"), &received(200, &body))
        .unwrap_err();
    assert_eq!(error.cause, FailureCause::Truncated);
    assert_eq!(error.raw.as_deref(), Some("Okay, so"));
}
