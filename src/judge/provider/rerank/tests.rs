//! The wire formats of rerank services.

use super::super::testing::{received, settings};
use super::*;
use crate::judge::call::{CallError, FailureCause, Retry};
use reqwest::Url;
use rstest::rstest;
use serde_json::{Value, json};

#[rstest]
#[case(
    "zeroentropy",
    r#"{"model":"m","query":"q","documents":["a","b"],"top_n":2}"#
)]
#[case(
    "cohere",
    r#"{"model":"m","query":"q","documents":["a","b"],"top_n":2}"#
)]
#[case(
    "voyage",
    r#"{"model":"m","query":"q","documents":["a","b"],"top_k":2,"truncation":true,"return_documents":false}"#
)]
#[case(
    "jina",
    r#"{"model":"m","query":"q","documents":["a","b"],"top_n":2,"return_documents":false}"#
)]
#[case(
    "tei",
    r#"{"query":"q","texts":["a","b"],"raw_scores":false,"return_text":false,"truncate":true,"truncation_direction":"Right"}"#
)]
#[case(
    "compatible",
    r#"{"model":"m","query":"q","documents":["a","b"],"top_n":2}"#
)]
#[case(
    "mixedbread",
    r#"{"model":"m","query":"q","input":["a","b"],"top_k":2,"return_input":false}"#
)]
#[case(
    "pinecone",
    r#"{"model":"m","query":"q","documents":[{"text":"a"},{"text":"b"}],"top_n":2,"return_documents":false,"parameters":{"truncate":"END"}}"#
)]
#[case(
    "nim",
    r#"{"model":"m","query":{"text":"q"},"passages":[{"text":"a"},{"text":"b"}],"truncate":"END"}"#
)]
fn the_request_is_the_documented_one(#[case] service: &str, #[case] body: &str) {
    let request = |params: Value| {
        let params = params.as_object().unwrap();
        super::request(named(service), "m", "q", &["a", "b"], params).to_string()
    };
    assert_eq!(request(json!({})), body);
    let more = format!("{},\"latency\":\"slow\"}}", &body[..body.len() - 1]);
    assert_eq!(request(json!({"latency": "slow"})), more);
}

#[rstest]
#[case(
    "zeroentropy",
    "https://api.zeroentropy.dev/v1",
    "https://api.zeroentropy.dev/v1/models/rerank"
)]
#[case(
    "zeroentropy",
    "http://localhost:1/",
    "http://localhost:1/v1/models/rerank"
)]
#[case("cohere", "https://api.cohere.com", "https://api.cohere.com/v2/rerank")]
#[case(
    "cohere",
    "https://api.cohere.com/v2/",
    "https://api.cohere.com/v2/rerank"
)]
#[case(
    "voyage",
    "https://ai.mongodb.com/v1",
    "https://ai.mongodb.com/v1/rerank"
)]
#[case("jina", "https://api.jina.ai", "https://api.jina.ai/v1/rerank")]
#[case("tei", "http://localhost:8080", "http://localhost:8080/rerank")]
#[case("compatible", "http://localhost:8000", "http://localhost:8000/rerank")]
#[case(
    "compatible",
    "http://localhost:8000/v1",
    "http://localhost:8000/v1/rerank"
)]
#[case(
    "compatible",
    "http://localhost:8000/v1/rerank",
    "http://localhost:8000/v1/rerank"
)]
#[case(
    "compatible",
    "http://localhost:8080/reranking",
    "http://localhost:8080/reranking"
)]
#[case(
    "mixedbread",
    "https://api.mixedbread.com/v1",
    "https://api.mixedbread.com/v1/reranking"
)]
#[case(
    "pinecone",
    "https://api.pinecone.io",
    "https://api.pinecone.io/rerank"
)]
#[case(
    "nim",
    "https://ai.api.nvidia.com/v1/retrieval",
    "https://ai.api.nvidia.com/v1/retrieval/a-3_2/m/reranking"
)]
#[case("nim", "http://localhost:8000", "http://localhost:8000/v1/ranking")]
#[case(
    "nim",
    "http://localhost:8000/v1/ranking",
    "http://localhost:8000/v1/ranking"
)]
fn calls_go_below_the_address_or_to_it(
    #[case] service: &str,
    #[case] base: &str,
    #[case] address: &str,
) {
    let base = Url::parse(base).unwrap();
    assert_eq!(url(named(service), &base, "a-3.2/m").as_str(), address);
}

fn named(service: &str) -> &'static dyn RerankProvider {
    service_named(service).unwrap()
}

fn read(service: &str, status: u16, body: Value) -> Result<ServiceScores, CallError> {
    let response = received(status, &body);
    super::read(named(service), &settings("compatible", "m"), &response, 3)
}

#[rstest]
#[case(
    "zeroentropy",
    json!({"results": [{"index": 2, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.5}, {"index": 1, "relevance_score": 0.1}],
        "actual_latency_mode": "fast", "e2e_latency": 0.1, "total_bytes": 480, "total_tokens": 120}),
    Some(120), None
)]
#[case(
    "cohere",
    json!({"id": "r1", "results": [{"index": 2, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.5}, {"index": 1, "relevance_score": 0.1}],
        "meta": {"billed_units": {"search_units": 1}, "warnings": []}}),
    None, Some(1.0)
)]
#[case(
    "cohere",
    json!({"results": [{"index": 2, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.5}, {"index": 1, "relevance_score": 0.1}],
        "meta": {"billed_units": {"input_tokens": 77}, "tokens": {"input_tokens": 80}}}),
    Some(77), None
)]
#[case(
    "voyage",
    json!({"object": "list", "data": [{"index": 1, "relevance_score": 0.1}, {"index": 2, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.5}],
        "model": "rerank-3", "usage": {"total_tokens": 26}}),
    Some(26), None
)]
#[case(
    "jina",
    json!({"model": "j", "results": [{"index": 2, "relevance_score": 0.9, "document": {"text": "c"}}, {"index": 0, "relevance_score": 0.5},
        {"index": 1, "relevance_score": 0.1}], "usage": {"total_tokens": 15}}),
    Some(15), None
)]
#[case(
    "tei",
    json!([{"index": 2, "score": 0.9}, {"index": 0, "score": 0.5}, {"index": 1, "score": 0.1}]),
    None, None
)]
#[case::llama_cpp(
    "compatible",
    json!({"model": "m", "object": "list", "usage": {"prompt_tokens": 51, "total_tokens": 51},
        "results": [{"index": 0, "relevance_score": 0.5}, {"index": 1, "relevance_score": 0.1}, {"index": 2, "relevance_score": 0.9}]}),
    Some(51), None
)]
#[case::vllm(
    "compatible",
    json!({"id": "rerank-1", "model": "m", "usage": {"total_tokens": 56},
        "results": [{"index": 2, "document": {"text": "c"}, "relevance_score": 0.9}, {"index": 0, "document": {"text": "a"}, "relevance_score": 0.5},
            {"index": 1, "document": {"text": "b"}, "relevance_score": 0.1}]}),
    Some(56), None
)]
#[case::llama_cpp_as_tei(
    "compatible",
    json!([{"index": 0, "score": 0.5}, {"index": 1, "score": 0.1}, {"index": 2, "score": 0.9}]),
    None, None
)]
#[case(
    "mixedbread",
    json!({"model": "m", "object": "list", "usage": {"prompt_tokens": 5, "total_tokens": 7}, "data": [{"index": 2, "score": 0.9}, {"index": 0, "score": 0.5}, {"index": 1, "score": 0.1}]}),
    Some(7),
    None
)]
#[case(
    "pinecone",
    json!({"model": "m", "usage": {"rerank_units": 1}, "data": [{"index": 2, "score": 0.9}, {"index": 0, "score": 0.5}, {"index": 1, "score": 0.1}]}),
    None,
    Some(1.0)
)]
#[case(
    "nim",
    json!({"rankings": [{"index": 2, "logit": 0.9}, {"index": 0, "logit": 0.5}, {"index": 1, "logit": 0.1}], "usage": {"prompt_tokens": 9, "total_tokens": 9}}),
    Some(9),
    None
)]
fn scores_are_put_back_by_their_index(
    #[case] service: &str,
    #[case] body: Value,
    #[case] tokens: Option<u64>,
    #[case] searches: Option<f64>,
) {
    let answer = read(service, 200, body).unwrap();
    assert_eq!(answer.scores, [0.5, 0.1, 0.9]);
    assert_eq!((answer.tokens, answer.searches), (tokens, searches));
    assert_eq!(answer.exchange.usage.input, tokens.unwrap_or(0));
    assert!(answer.exchange.sent && answer.exchange.status == Some(200));
}

#[rstest]
#[case(json!([{"index": 0, "relevance_score": 1}, {"index": 1, "relevance_score": 1}]), "document 2 has no score")]
#[case(json!([{"index": 0, "relevance_score": 1}, {"index": 0, "relevance_score": 1}, {"index": 1, "relevance_score": 1}]), "document 0 was scored twice")]
#[case(json!([{"index": 3, "relevance_score": 1}]), "the index 3, but only 3 documents")]
#[case(json!([{"index": -1, "relevance_score": 1}]), "no index")]
#[case(json!([{"relevance_score": 1}]), "no index")]
#[case(json!([{"index": 0, "relevance_score": null}]), "document 0 has no score")]
#[case(json!([{"index": 0, "relevance_score": "0.5"}]), "document 0 has no score")]
#[case(json!([{"index": 0}]), "document 0 has no score")]
fn an_answer_that_leaves_a_document_without_one_score_is_malformed(
    #[case] results: Value,
    #[case] why: &str,
) {
    for service in SERVICES.iter().map(|service| service.name()) {
        let body = json!({"results": results, "usage": {"total_tokens": 9}});
        let error = read(service, 200, body).unwrap_err();
        assert_eq!(error.cause, FailureCause::Malformed);
        assert!(error.message.contains(why), "{error}");
        // It may have been paid for.
        assert_eq!((error.exchange.usage.input, error.exchange.sent), (9, true));
        assert_eq!(error.retry, Retry::Never);
    }
}

#[test]
fn what_is_no_answer_of_a_reranker_is_said_to_be_none() {
    let error = read("tei", 200, json!({"hello": 1})).unwrap_err();
    assert!(
        error.no_answer && error.cause == FailureCause::Malformed,
        "{error}"
    );
}

#[rstest]
#[case("cohere", 402, json!({"message": "pay first"}), FailureCause::QuotaExhausted, true)]
#[case("jina", 402, json!({"detail": "Account balance not enough"}), FailureCause::QuotaExhausted, true)]
#[case("cohere", 401, json!({"message": "invalid api token"}), FailureCause::Unauthorized, true)]
#[case("cohere", 498, json!({"message": "invalid token"}), FailureCause::Unauthorized, true)]
#[case("cohere", 499, json!({"message": "closed"}), FailureCause::Server, false)]
#[case("cohere", 422, json!({"message": "too many documents"}), FailureCause::BadRequest, false)]
#[case("voyage", 429, json!({"detail": "slow down"}), FailureCause::RateLimited, false)]
#[case("zeroentropy", 429, json!({"detail": "slow down"}), FailureCause::RateLimited, false)]
#[case("voyage", 503, json!({"detail": "down"}), FailureCause::Server, false)]
#[case("tei", 424, json!({"error": "backend", "error_type": "Backend"}), FailureCause::Server, false)]
#[case("tei", 429, json!({"error": "overloaded", "error_type": "Overloaded"}), FailureCause::RateLimited, false)]
#[case("tei", 413, json!({"error": "batch size 64 > maximum allowed batch size 32", "error_type": "Validation"}), FailureCause::TooLong, false)]
#[case("tei", 422, json!({"error": "tokenizer", "error_type": "Tokenizer"}), FailureCause::BadRequest, false)]
#[case("compatible", 500, json!({"error": {"code": 500, "message": "input is too large to process. increase the physical batch size", "type": "server_error"}}), FailureCause::TooLong, false)]
#[case("compatible", 200, json!({"error": {"type": "overloaded_error", "message": "overloaded"}}), FailureCause::Server, false)]
#[case("compatible", 200, json!({"error": {"code": 429, "message": "Budget has been exceeded!"}}), FailureCause::QuotaExhausted, true)]
#[case("cohere", 400, json!({"message": "too many tokens: total number of tokens cannot exceed 4081 - received 9000"}), FailureCause::TooLong, false)]
#[case("cohere", 429, json!({"message": "You are using a Trial key, which is limited to 1000 API calls / month"}), FailureCause::QuotaExhausted, true)]
#[case("voyage", 400, json!({"detail": "The max allowed tokens per submitted batch is 120000. Your batch has 200000 tokens."}), FailureCause::TooLong, false)]
#[case("compatible", 503, json!({"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}), FailureCause::Server, false)]
fn every_refusal_has_its_cause(
    #[case] service: &str,
    #[case] status: u16,
    #[case] body: Value,
    #[case] cause: FailureCause,
    #[case] stops: bool,
) {
    let error = read(service, status, body).unwrap_err();
    assert_eq!((error.cause, error.stops_judge), (cause, stops), "{error}");
    let retried = matches!(cause, FailureCause::Server | FailureCause::RateLimited);
    assert_eq!(error.retry != Retry::Never, retried);
    assert!(!error.message.contains('"') || status == 404, "{error}");
    if service == "compatible" && status == 500 {
        assert!(
            error.message.contains("lower max_document_chars"),
            "{error}"
        );
    }
    if status == 413 {
        assert!(error.message.contains("lower batch"), "{error}");
    }
    if status == 498 {
        assert!(error.message.contains("check THE_KEY"), "{error}");
    }
}

#[test]
fn searches_of_cohere_are_never_more_than_what_is_foretold() {
    let worst = |query: &str, length: usize, count: usize| {
        let text = "x".repeat(length);
        let documents = vec![text.as_str(); count];
        named("cohere").worst_searches(query, &documents)
    };
    assert_eq!(worst("q", 10, 1), 1.0);
    assert_eq!(worst("q", 499, 100), 1.0);
    assert_eq!(worst("q", 500, 100), 2.0);
    assert_eq!(worst("q", 10, 101), 2.0);
    assert_eq!(named("voyage").worst_searches("q", &["x"; 500]), 1.0);
}
