use super::*;
use crate::judge::batch::BatchState;
use crate::judge::provider::WireFormat;
use crate::judge::provider::anthropic::Anthropic;
use crate::judge::provider::batch::{anthropic, gemini, openai};
use crate::judge::provider::gemini::Gemini;
use crate::judge::provider::openai::OpenAi;
use crate::judge::provider::testing::{case, settings};
use crate::judge::{FailureCause, Judge};
use serde_json::json;

fn network(
    provider: &str,
    model: &str,
    wire: Box<dyn WireFormat>,
    batch: &'static dyn BatchFormat,
) -> RemoteJudge {
    crate::judge::provider::testing::network(settings(provider, model), wire, Some(batch))
}

fn openai_batch() -> RemoteJudge {
    network(
        "openai",
        "gpt-6.1-terra",
        Box::new(OpenAi),
        &openai::OpenAiBatches,
    )
}

const TEXT: &str = r#"{"thoughts":[],"score":1}"#;

#[test]
fn lines_hold_the_body_of_a_single_call() {
    let prompt = JudgePrompt {
        user: "u".to_owned(),
        ..JudgePrompt::default()
    };
    let judge = openai_batch();
    let line = judge.batch_line("i-1", &prompt);
    assert_eq!(
        (&line["custom_id"], &line["method"], &line["url"]),
        (
            &json!("i-1"),
            &json!("POST"),
            &json!("/v1/chat/completions")
        )
    );
    assert_eq!(line["body"], judge.request(&prompt));
    let judge = network(
        "anthropic",
        "claude-sonnet-5-5",
        Box::new(Anthropic),
        &anthropic::AnthropicBatches,
    );
    assert_eq!(
        judge.batch_line("i-1", &prompt),
        json!({"custom_id": "i-1", "params": judge.request(&prompt)})
    );
    let judge = network(
        "gemini",
        "gemini-3.8-flash",
        Box::new(Gemini),
        &gemini::GeminiBatches,
    );
    assert_eq!(
        judge.batch_line("i-1", &prompt),
        json!({"key": "i-1", "request": judge.request(&prompt)})
    );
    assert!(Judge::batch(&judge).is_some());
}

#[test]
fn a_line_of_results_is_a_reply_at_half_the_price() {
    let judge = openai_batch();
    let body = json!({"model": "m", "choices": [{"finish_reason": "stop", "message": {"content": TEXT}}], "usage": {"prompt_tokens": 1_000_000, "completion_tokens": 0}});
    let line = json!({"id": "b", "custom_id": "i-1", "response": {"status_code": 200, "request_id": "r", "body": body}, "error": null});
    let (id, result) = judge.parse_batch_line(&line.to_string()).unwrap();
    let reply = result.made().unwrap().unwrap();
    assert_eq!(
        (id.as_str(), reply.request_id.as_deref()),
        ("i-1", Some("r"))
    );
    assert!((reply.cost_usd.unwrap() - 1.0).abs() < 1e-9, "{reply:?}");
    assert_eq!(judge.parse(&case(), &reply).unwrap().margin.get(), 1.0);
    let judge = network(
        "gemini",
        "gemini-3.8-flash",
        Box::new(Gemini),
        &gemini::GeminiBatches,
    );
    let line = json!({"key": "i-2", "response": {"candidates": [{"finishReason": "STOP", "content": {"parts": [{"text": TEXT}]}}]}});
    assert_eq!(
        judge
            .parse_batch_line(&line.to_string())
            .unwrap()
            .1
            .made()
            .unwrap()
            .unwrap()
            .text,
        TEXT
    );
}

#[test]
fn lines_that_failed_say_why() {
    let cause = |judge: &RemoteJudge, line: Value| {
        judge
            .parse_batch_line(&line.to_string())
            .unwrap()
            .1
            .made()
            .unwrap()
            .unwrap_err()
            .cause
    };
    let judge = openai_batch();
    let line = json!({"custom_id": "i", "response": {"status_code": 400, "body": {"error": {"message": "no"}}}});
    assert_eq!(cause(&judge, line), FailureCause::BadRequest);
    let judge = network(
        "anthropic",
        "claude-sonnet-5-5",
        Box::new(Anthropic),
        &anthropic::AnthropicBatches,
    );
    for (result, expected) in [
        (
            json!({"type": "errored", "error": {"type": "error", "error": {"type": "invalid_request_error", "message": "bad"}}}),
            FailureCause::BadRequest,
        ),
        (
            json!({"type": "errored", "error": {"type": "error", "error": {"type": "overloaded_error", "message": "bad"}}}),
            FailureCause::Server,
        ),
        (
            json!({"type": "succeeded", "message": {"content": [], "stop_reason": "refusal"}}),
            FailureCause::Refused,
        ),
    ] {
        assert_eq!(
            cause(&judge, json!({"custom_id": "i", "result": result})),
            expected
        );
    }
    let judge = network(
        "gemini",
        "gemini-3.8-flash",
        Box::new(Gemini),
        &gemini::GeminiBatches,
    );
    assert_eq!(
        cause(
            &judge,
            json!({"key": "i", "error": {"code": 8, "message": "quota"}})
        ),
        FailureCause::RateLimited
    );
    assert_eq!(judge.parse_batch_line("{}"), None);
    assert_eq!(judge.parse_batch_line("nonsense"), None);
}

#[test]
fn calls_that_were_never_made_are_no_failures() {
    let late = json!({"custom_id": "i", "response": null, "error": {"code": "batch_expired", "message": "late"}});
    let answer = openai_batch().parse_batch_line(&late.to_string());
    assert_eq!(answer, Some(("i".to_owned(), BatchAnswer::NotMade)));
    let judge = network(
        "anthropic",
        "claude-sonnet-5-5",
        Box::new(Anthropic),
        &anthropic::AnthropicBatches,
    );
    for kind in ["expired", "canceled"] {
        let line = json!({"custom_id": "i", "result": {"type": kind}});
        let answer = judge.parse_batch_line(&line.to_string());
        assert_eq!(answer, Some(("i".to_owned(), BatchAnswer::NotMade)));
    }
}

#[test]
fn a_batch_is_found_by_its_name_or_else_by_size_and_time() {
    let unconfirmed = UnconfirmedBatch {
        name: "run-1",
        lines: 3,
        since_ms: 1_767_225_600_000,
    };
    let list = json!({"data": [{"id": "b1", "metadata": {"overrule": "run-1"}}, {"id": "b2", "metadata": null}]});
    assert_eq!(openai::OpenAiBatches.find(&list, unconfirmed), ["b1"]);
    let list = json!({"operations": [{"name": "batches/1", "metadata": {"displayName": "run-1"}}, {"name": "batches/2"}]});
    assert_eq!(
        gemini::GeminiBatches.find(&list, unconfirmed),
        ["batches/1"]
    );
    let job = |id: &str, lines: u64, at: &str| json!({"id": id, "created_at": at, "processing_status": "in_progress", "request_counts": {"processing": lines}});
    let list = json!({"data": [
        job("m1", 3, "2026-01-01T00:00:01Z"),
        job("m2", 4, "2026-01-01T00:00:01Z"),
        job("m3", 3, "2025-12-31T00:00:00Z"),
    ]});
    assert_eq!(anthropic::AnthropicBatches.find(&list, unconfirmed), ["m1"]);
}

#[test]
fn states_are_read_from_every_provider() {
    let openai = openai::OpenAiBatches.status(&json!({"status": "completed", "output_file_id": null, "error_file_id": "file-e", "request_counts": {"total": 3, "completed": 0, "failed": 3}})).unwrap();
    assert_eq!(
        (openai.state, openai.total, openai.files),
        (BatchState::Ended, 3, vec!["file-e".to_owned()])
    );
    let failed = openai::OpenAiBatches.status(&json!({"status": "failed", "errors": {"data": [{"code": "token_limit_exceeded", "message": "full"}]}})).unwrap();
    assert!(failed.state == BatchState::Failed && failed.message.unwrap().contains("submit again"));
    for running in ["validating", "in_progress", "finalizing", "cancelling"] {
        assert!(
            !openai::OpenAiBatches
                .status(&json!({"status": running}))
                .unwrap()
                .state
                .is_over()
        );
    }
    let ended = json!({"processing_status": "ended", "request_counts": {"succeeded": 2, "errored": 1}, "results_url": "https://x/y"});
    assert_eq!(anthropic::AnthropicBatches.status(&ended).unwrap().total, 3);
    assert_eq!(
        anthropic::AnthropicBatches
            .status(&json!({"processing_status": "canceling"}))
            .unwrap()
            .state,
        BatchState::Running
    );
    let gemini = json!({"name": "batches/x", "metadata": {"state": "BATCH_STATE_SUCCEEDED", "batchStats": {"requestCount": "2"}, "output": {"responsesFile": "files/r"}}, "done": true});
    let gemini = gemini::GeminiBatches.status(&gemini).unwrap();
    assert_eq!(
        (gemini.state, gemini.total, gemini.files),
        (BatchState::Ended, 2, vec!["files/r".to_owned()])
    );
    let state = |name: &str| {
        gemini::GeminiBatches
            .status(&json!({"metadata": {"state": name}}))
            .unwrap()
            .state
    };
    assert_eq!(state("JOB_STATE_EXPIRED"), BatchState::Expired);
    assert_eq!(state("BATCH_STATE_PENDING"), BatchState::Running);
}

#[test]
fn ids_cannot_lead_elsewhere() {
    for bad in ["", "../x", "a?b", "a#b", "a b", "a\nb"] {
        assert!(checked(bad).is_err(), "{bad:?}");
    }
    assert!(checked("batches/abc-1").is_ok());
}

#[test]
fn lines_without_counts_that_make_sense_have_no_known_cost() {
    let cost = |judge: &RemoteJudge, line: Value| {
        let (_, answer) = judge.parse_batch_line(&line.to_string()).unwrap();
        let reply = answer.made().unwrap().unwrap();
        (reply.cost_usd.is_some(), reply.usage == Usage::default())
    };
    for (count, known) in [
        (json!(12), true),
        (json!(-12), false),
        (json!(1.5), false),
        (json!(u64::MAX), false),
        (Value::Null, false),
    ] {
        let body = json!({"choices": [{"finish_reason": "stop", "message": {"content": TEXT}}],
            "usage": {"prompt_tokens": count, "completion_tokens": 3}});
        let line = json!({"custom_id": "i", "response": {"status_code": 200, "body": body}});
        assert_eq!(cost(&openai_batch(), line), (known, !known), "{count}");
        let judge = network(
            "anthropic",
            "claude-sonnet-5-5",
            Box::new(Anthropic),
            &anthropic::AnthropicBatches,
        );
        let message = json!({"content": [{"type": "text", "text": TEXT}], "stop_reason": "end_turn",
            "usage": {"input_tokens": count, "output_tokens": 3}});
        let line = json!({"custom_id": "i", "result": {"type": "succeeded", "message": message}});
        assert_eq!(cost(&judge, line), (known, !known), "{count}");
        let judge = network(
            "gemini",
            "gemini-3.8-flash",
            Box::new(Gemini),
            &gemini::GeminiBatches,
        );
        let response = json!({"candidates": [{"content": {"parts": [{"text": TEXT}]}, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": count, "candidatesTokenCount": 3}});
        let line = json!({"key": "i", "response": response});
        assert_eq!(cost(&judge, line), (known, !known), "{count}");
    }
}

#[test]
fn a_line_is_read_without_the_key() {
    use crate::judge::provider::testing::KEY;
    let body = json!({"id": KEY, "model": KEY, "choices": [{"finish_reason": "stop", "message": {"content": KEY}}]});
    let line = json!({"custom_id": "i", "response": {"status_code": 200, "request_id": KEY, "body": body}});
    let (_, answer) = openai_batch().parse_batch_line(&line.to_string()).unwrap();
    let reply = answer.made().unwrap().unwrap();
    assert_eq!(reply.text, "[key]");
    assert_eq!(reply.model.as_deref(), Some("[key]"));
    assert_eq!(reply.request_id.as_deref(), Some("[key]"));
}
