use super::*;
use crate::judge::batch::BatchState;
use crate::judge::provider::anthropic::Anthropic;
use crate::judge::provider::batch::format::BatchPage;
use crate::judge::provider::batch::{anthropic, gemini, openai};
use crate::judge::provider::gemini::Gemini;
use crate::judge::provider::openai::OpenAi;
use crate::judge::provider::testing::{case, settings};
use crate::judge::provider::wire_format::WireFormat;
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
fn lists_tell_whose_a_batch_is_and_how_they_go_on() {
    let of_openai = |list: Value| openai::OpenAiBatches.page(&list).unwrap();
    let marks = |page: BatchPage| -> Vec<(Option<String>, Option<String>)> {
        page.jobs
            .into_iter()
            .map(|job| (job.id, job.mark))
            .collect()
    };
    let some = |text: &str| Some(text.to_owned());
    let list = json!({"data": [
        {"id": "b1", "metadata": {"overrule": "run-1"}},
        {"id": "b2", "metadata": {"team": "search"}},
        {"id": "arn:aws:b/3", "metadata": null},
        {"id": 4},
        {"id": ""},
    ]});
    assert_eq!(
        marks(of_openai(list)),
        [
            (some("b1"), some("run-1")),
            (some("b2"), some("")),
            (some("arn:aws:b/3"), None),
            (some("4"), None),
            (None, None),
        ]
    );
    let after = |cursor: &str| NextPage::After(cursor.to_owned());
    for (list, next) in [
        (json!({"data": []}), NextPage::None),
        (json!({"data": [], "has_more": true}), NextPage::Unknown),
        (
            json!({"data": [{"id": "b1"}], "has_more": true}),
            after("b1"),
        ),
        (
            json!({"data": [{"id": "b1"}], "has_more": true, "last_id": "b9"}),
            after("b9"),
        ),
        (json!({"data": vec![json!({"id": "b1"}); 100]}), after("b1")),
        (
            json!({"data": vec![json!({"id": "b1"}); 100], "has_more": false}),
            NextPage::None,
        ),
    ] {
        assert_eq!(of_openai(list.clone()).next, next, "{list}");
        assert_eq!(
            anthropic::AnthropicBatches.page(&list).unwrap().next,
            next,
            "{list}"
        );
    }
    let of_gemini = |list: Value| gemini::GeminiBatches.page(&list);
    let list = json!({"operations": [{"name": "batches/1", "metadata": {"displayName": "run-1"}}, {"name": "batches/2"}], "nextPageToken": "t"});
    let page = of_gemini(list).unwrap();
    assert_eq!(page.next, after("t"));
    assert_eq!(
        marks(page),
        [
            (some("batches/1"), some("run-1")),
            (some("batches/2"), None)
        ]
    );
    assert_eq!(of_gemini(json!({})).unwrap().next, NextPage::None);
    for broken in [json!({"error": {"message": "no"}}), json!(null), json!([])] {
        assert_eq!(openai::OpenAiBatches.page(&broken), None);
        assert_eq!(anthropic::AnthropicBatches.page(&broken), None);
        assert_eq!(of_gemini(broken), None);
    }
}

#[test]
fn an_account_is_known_by_its_hash_and_not_by_its_key() {
    use crate::judge::provider::testing::KEY;
    let judge = openai_batch();
    let hash = judge.account("a batch");
    assert_eq!(hash.len(), 16);
    assert!(!KEY.contains(&hash));
    assert_eq!(hash, openai_batch().account("a batch"));
    assert_ne!(hash, judge.account("another batch"));
    let mut other = openai_batch();
    let key = reqwest::header::HeaderValue::from_static("Bearer sk-other");
    other.connection.headers.insert("authorization", key);
    assert_ne!(hash, other.account("a batch"));
    let mut other = openai_batch();
    other.connection.base.set_path("/v2");
    assert_ne!(hash, other.account("a batch"));
}

#[test]
fn an_answer_counts_whatever_is_next_to_it() {
    let body = json!({"choices": [{"finish_reason": "stop", "message": {"content": TEXT}}]});
    let answered = |judge: &RemoteJudge, line: &Value| {
        let (_, answer) = judge.parse_batch_line(&line.to_string()).unwrap();
        matches!(&answer, BatchAnswer::Answered(answer) if answer.is_ok())
    };
    for (status, error) in [
        (json!(200), json!({})),
        (json!(200), json!("")),
        (
            json!(200),
            json!({"code": "batch_expired", "message": "late"}),
        ),
        (json!(null), Value::Null),
    ] {
        let mut response = json!({"status_code": status, "body": body});
        if status.is_null() {
            response.as_object_mut().unwrap().remove("status_code");
        }
        let line = json!({"custom_id": "i", "response": response, "error": error});
        assert!(answered(&openai_batch(), &line), "{line}");
    }
    let judge = network(
        "gemini",
        "gemini-3.8-flash",
        Box::new(Gemini),
        &gemini::GeminiBatches,
    );
    let response =
        json!({"candidates": [{"finishReason": "STOP", "content": {"parts": [{"text": TEXT}]}}]});
    let line = json!({"key": "i", "response": response, "error": null});
    assert!(answered(&judge, &line));
    let line = json!({"key": "i", "response": null, "error": {"code": 8, "message": "quota"}});
    assert!(!answered(&judge, &line));
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
fn ids_of_any_form_stay_in_their_place_in_an_address() {
    let judge = openai_batch();
    let client = judge.batch_client();
    let path = |format: &dyn BatchFormat, id: &str| {
        let path = format.batch_path(id).ok()?;
        Some(client.at(&path).path().to_owned())
    };
    for (id, expected) in [
        ("batch_1", Some("/v1/batches/batch_1")),
        ("arn:aws:b/c", Some("/v1/batches/arn%3Aaws%3Ab%2Fc")),
        ("../x", Some("/v1/batches/..%2Fx")),
        ("a?b#c d", Some("/v1/batches/a%3Fb%23c%20d")),
        ("", None),
        (".", None),
        ("..", None),
    ] {
        assert_eq!(
            path(&openai::OpenAiBatches, id).as_deref(),
            expected,
            "{id:?}"
        );
    }
    let of_gemini = |id: &str| path(&gemini::GeminiBatches, id);
    assert!(
        of_gemini("batches/abc-1")
            .unwrap()
            .ends_with("/v1/batches/abc-1")
    );
    assert!(
        of_gemini("batches/a:b?c")
            .unwrap()
            .ends_with("/v1/batches/a%3Ab%3Fc")
    );
    for bad in ["../x", "batches/../x", "batches//x", "batches/"] {
        assert_eq!(of_gemini(bad), None, "{bad:?}");
    }
}

#[test]
fn an_empty_name_of_a_file_is_no_file() {
    for (empty, expected) in [
        (json!(""), 1),
        (json!(null), 1),
        (json!(" "), 1),
        (json!("e"), 2),
    ] {
        let value = json!({"status": "completed", "output_file_id": "o", "error_file_id": empty});
        let status = openai::OpenAiBatches.status(&value).unwrap();
        assert_eq!(status.files.len(), expected, "{value}");
    }
    let value = json!({"metadata": {"state": "BATCH_STATE_SUCCEEDED", "output": {"responsesFile": ""}}, "response": {"responsesFile": "files/r"}});
    assert_eq!(
        gemini::GeminiBatches.status(&value).unwrap().files,
        ["files/r"]
    );
    let value = json!({"processing_status": "ended", "results_url": ""});
    assert!(
        anthropic::AnthropicBatches
            .status(&value)
            .unwrap()
            .files
            .is_empty()
    );
}

#[test]
fn an_error_is_no_state() {
    let error = json!({"error": {"message": "no such batch", "code": 404}});
    assert_eq!(openai::OpenAiBatches.status(&error), None);
    assert_eq!(anthropic::AnthropicBatches.status(&error), None);
    assert_eq!(gemini::GeminiBatches.status(&error), None);
}

#[test]
fn a_batch_may_exist_unless_it_was_refused_or_never_sent() {
    use crate::judge::provider::batch::client::not_created;
    for (status, sent, expected) in [
        (Some(400), true, false),
        (Some(429), true, false),
        (Some(307), true, false),
        (Some(408), true, true),
        (Some(409), true, true),
        (Some(500), true, true),
        (Some(504), true, true),
        (Some(200), true, true),
        (None, true, true),
        (None, false, false),
    ] {
        let mut error = CallError::new(FailureCause::Server, "");
        (error.exchange.status, error.exchange.sent) = (status, sent);
        assert_eq!(not_created(error).may_exist, expected, "{status:?} {sent}");
    }
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
