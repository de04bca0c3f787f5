mod complaints;
mod cost;
mod learning;
mod written;

use super::anthropic::Anthropic;
use super::azure::Azure;
use super::compatible::COMPATIBLE;
use super::decisions::DecisionEndpoint;
use super::gemini::Gemini;
use super::json::merge;
use super::ollama::Ollama;
use super::openai::OpenAi;
use super::registry::provider_named;
use super::response::HttpResponse;
use super::testing::{case, network, received, settings};
use super::wire_format::WireFormat;
use super::*;
use crate::judge::parse::ParseError;
use crate::judge::{
    CallError, FailureCause, JudgePrompt, JudgeReply, Opinion, Retry, Usage, opinion_of,
};
use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value, json};

fn wires() -> Vec<Box<dyn WireFormat>> {
    vec![
        Box::new(OpenAi),
        Box::new(Anthropic),
        Box::new(Gemini),
        Box::new(Azure),
        Box::new(Ollama),
        Box::new(COMPATIBLE),
        Box::new(DecisionEndpoint::OpenAi),
        Box::new(DecisionEndpoint::Gemini),
    ]
}

#[test]
fn parameters_are_merged_and_an_empty_one_takes_a_field_out() {
    let mut body = json!({"a": 1, "b": {"c": 2, "d": 3}, "e": 4});
    let params = json!({"a": "", "b": {"c": 9, "x": {"y": 1}}, "f": [1]});
    merge(&mut body, params.as_object().unwrap());
    assert_eq!(
        body,
        json!({"b": {"c": 9, "d": 3, "x": {"y": 1}}, "e": 4, "f": [1]})
    );
}

#[test]
fn an_answer_that_counts_no_tokens_has_no_known_cost() {
    let settings = settings("openai", "gpt-6.1-terra");
    let body = json!({"choices": [{"finish_reason": "stop", "message": {"content": "{}"}}]});
    let reply = OpenAi.parse_response(&settings, &received(200, &body));
    assert_eq!(reply.unwrap().cost_usd, None);
}

#[rstest]
#[case::declined("I’m sorry, but I can’t help with that.", FailureCause::Refused)]
#[case::no_opinion("Document B is better.", FailureCause::Malformed)]
fn a_reply_without_an_opinion_fails_for_what_it_says(
    #[case] text: &str,
    #[case] cause: FailureCause,
) {
    let judge = network(settings("openai", "gpt-6.1-terra"), Box::new(OpenAi), None);
    let choice = json!({"finish_reason": "stop", "message": {"content": text}});
    let answer = received(200, &json!({"choices": [choice]}));
    let error = opinion_of(
        &judge,
        &case(),
        judge.read(&answer, Learnt::default()).unwrap(),
    )
    .unwrap_err();
    assert_eq!((error.cause, error.raw.as_deref()), (cause, Some(text)));
}

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[ -~\u{e9}]{0,12}".prop_map(Value::from),
        Just(json!("STOP")),
        Just(json!("insufficient_quota")),
    ];
    let names = prop::sample::select(vec![
        "error",
        "message",
        "choices",
        "content",
        "candidates",
        "parts",
        "text",
        "type",
        "usage",
        "details",
        "code",
        "finish_reason",
        "stop_reason",
        "answers",
        "better",
        "probabilities",
        "promptFeedback",
        "violations",
    ]);
    leaf.prop_recursive(5, 40, 5, move |inner| {
        let list = prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from);
        let object = prop::collection::vec((names.clone(), inner), 0..5);
        let object = object.prop_map(|pairs| {
            pairs
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect()
        });
        prop_oneof![list, object.prop_map(Value::Object)]
    })
}

proptest! {
    #[test]
    fn no_answer_panics_and_none_without_success_is_a_reply(
        status in prop::sample::select(vec![200u16, 201, 204, 400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 499, 500, 503, 529, 999]),
        body in anything(),
        cut in 0..200usize,
    ) {
        let settings = settings("openai", "gpt-6.1-terra");
        let mut received = super::testing::received(status, &body);
        for _ in 0..2 {
            for wire in wires() {
                match wire.parse_response(&settings, &received) {
                    Ok(_) => prop_assert!(received.is_ok()),
                    Err(error) => {
                        prop_assert!(!error.message.is_empty());
                        prop_assert!(!error.stops_judge || error.retry == Retry::Never);
                        let _ = wire.adapt(&settings, Learnt::default(), &error);
                    }
                }
            }
            received.body.truncate(cut);
        }
    }
}
