//! Anthropic's message batches: all requests in one call, results as lines.

use super::agent::{Agent, as_received, unclear};
use super::{BatchResult, BatchState, BatchStatus, Read};
use crate::judge::provider::failure::{Complaint, classify};
use crate::judge::provider::{Settings, count_at, text_at};
use crate::judge::{CallError, Cause};
use reqwest::Method;
use serde_json::{Value, json};

pub(super) fn line(id: &str, body: Value) -> Value {
    json!({"custom_id": id, "params": body})
}

pub(super) fn result(settings: &Settings, value: &Value, read: Read<'_>) -> Option<BatchResult> {
    let id = text_at(value, "/custom_id")?;
    let result = match text_at(value, "/result/type")?.as_str() {
        "succeeded" => read(&as_received(200, value.pointer("/result/message")?)),
        "errored" => {
            let complaint = Complaint::of(value.pointer("/result/error")?);
            let status = match complaint.kind.as_str() {
                "invalid_request_error" => 400,
                "authentication_error" => 401,
                "billing_error" => 402,
                "permission_error" => 403,
                "not_found_error" => 404,
                "request_too_large" => 413,
                "rate_limit_error" => 429,
                _ => 500,
            };
            Err(classify(settings, status, &complaint))
        }
        "expired" => Err(CallError::new(
            Cause::TimedOut,
            "the batch expired before this call was made",
        )),
        "canceled" => Err(CallError::new(
            Cause::TimedOut,
            "the batch was cancelled before this call was made",
        )),
        _ => return None,
    };
    Some((id, result))
}

pub(super) async fn submit(agent: &Agent<'_>, lines: &[String]) -> Result<String, CallError> {
    let body = format!("{{\"requests\":[{}]}}", lines.join(",")).into_bytes();
    let batch = agent
        .json(Method::POST, &agent.at("/v1/messages/batches"), Some(body))
        .await?;
    text_at(&batch, "/id").ok_or_else(|| unclear("the batch's id"))
}

pub(super) fn status(value: &Value) -> Option<BatchStatus> {
    let count = |name: &str| count_at(value, &format!("/request_counts/{name}"));
    let (done, failed) = (
        count("succeeded"),
        count("errored") + count("canceled") + count("expired"),
    );
    let state = match text_at(value, "/processing_status")?.as_str() {
        "ended" if done == 0 && count("canceled") > 0 => BatchState::Cancelled,
        "ended" if done == 0 && count("expired") > 0 => BatchState::Expired,
        "ended" => BatchState::Ended,
        _ => BatchState::Running,
    };
    Some(BatchStatus {
        state,
        done,
        failed,
        total: done + failed + count("processing"),
        files: text_at(value, "/results_url").into_iter().collect(),
        message: None,
    })
}
