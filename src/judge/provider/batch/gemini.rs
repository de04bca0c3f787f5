//! Gemini's batches: a file of lines, uploaded in two steps, then a job.

use super::client::{BatchClient, as_received, content_type, header, unclear};
use super::{BatchAnswer, BatchResult, BatchState, BatchStatus, ReadResponse, UnconfirmedBatch};
use crate::judge::CallError;
use crate::judge::provider::error_response::{ErrorBody, classify};
use crate::judge::provider::{JudgeSettings, count_at, text_at};
use reqwest::header::HeaderValue;
use reqwest::{Method, Url};
use serde_json::{Value, json};

pub(super) fn line(id: &str, body: Value) -> Value {
    json!({"key": id, "request": body})
}

pub(super) fn result(
    settings: &JudgeSettings,
    value: &Value,
    read: ReadResponse<'_>,
) -> Option<BatchResult> {
    let id = text_at(value, "/key").or_else(|| text_at(value, "/metadata/key"))?;
    let result = match (value.get("response"), value.get("error")) {
        (Some(response), _) => read(&as_received(200, response)),
        (None, Some(error)) => Err(classify(
            settings,
            status_of(count_at(error, "/code")),
            &ErrorBody::of(error),
        )),
        (None, None) => return None,
    };
    Some((id, BatchAnswer::from(result)))
}

/// Google's own codes of remote calls, or an HTTP status.
fn status_of(code: u64) -> u16 {
    match code {
        3 | 9 | 11 => 400,
        5 => 404,
        7 => 403,
        8 => 429,
        16 => 401,
        1 => 499,
        code => u16::try_from(code)
            .ok()
            .filter(|code| (400..600).contains(code))
            .unwrap_or(500),
    }
}

pub(super) async fn submit(
    agent: &BatchClient<'_>,
    name: &str,
    lines: &[String],
) -> Result<String, CallError> {
    let mut file = lines.join("\n").into_bytes();
    file.push(b'\n');
    let mut headers = header("x-goog-upload-protocol", "resumable");
    headers.insert("x-goog-upload-command", HeaderValue::from_static("start"));
    headers.insert(
        "x-goog-upload-header-content-length",
        HeaderValue::from(file.len()),
    );
    headers.insert(
        "x-goog-upload-header-content-type",
        HeaderValue::from_static("application/jsonl"),
    );
    let body = json!({"file": {"displayName": name}})
        .to_string()
        .into_bytes();
    let begun = agent
        .ask(
            Method::POST,
            &agent.at("/upload/v1/files"),
            headers,
            Some(body),
        )
        .await?;
    let place = begun
        .header("x-goog-upload-url")
        .and_then(|url| Url::parse(url).ok());
    let place = place.ok_or_else(|| unclear("where to put the file"))?;
    let mut headers = content_type("application/jsonl");
    headers.insert(
        "x-goog-upload-command",
        HeaderValue::from_static("upload, finalize"),
    );
    headers.insert("x-goog-upload-offset", HeaderValue::from_static("0"));
    let put = agent.ask(Method::POST, &place, headers, Some(file)).await?;
    let put: Value = serde_json::from_slice(&put.body).map_err(|_| unclear("the file's name"))?;
    let file = text_at(&put, "/file/name").ok_or_else(|| unclear("the file's name"))?;
    let model = &agent.settings.spec.model;
    let model = model.strip_prefix("models/").unwrap_or(model);
    let job = json!({"batch": {"displayName": name, "inputConfig": {"fileName": file}}});
    let url = agent.at(&format!("/v1/models/{model}:batchGenerateContent"));
    let job = agent
        .json(Method::POST, &url, Some(job.to_string().into_bytes()))
        .await?;
    text_at(&job, "/name").ok_or_else(|| unclear("the batch's name"))
}

pub(super) fn find(list: &Value, unconfirmed: UnconfirmedBatch<'_>) -> Vec<String> {
    let jobs = ["operations", "batches"]
        .iter()
        .find_map(|at| list.get(at)?.as_array());
    let named = |job: &&Value| {
        let name = text_at(job, "/metadata/displayName").or_else(|| text_at(job, "/displayName"));
        name.as_deref() == Some(unconfirmed.name)
    };
    let found = jobs.into_iter().flatten().filter(named);
    found.filter_map(|job| text_at(job, "/name")).collect()
}

pub(super) fn status(value: &Value) -> Option<BatchStatus> {
    let state = text_at(value, "/metadata/state").or_else(|| text_at(value, "/state"));
    let state = state.unwrap_or_default();
    let short = state
        .trim_start_matches("BATCH_STATE_")
        .trim_start_matches("JOB_STATE_");
    let over = value.get("done") == Some(&Value::Bool(true));
    let error = value.get("error").filter(|error| !error.is_null());
    let state = match short {
        "SUCCEEDED" | "PARTIALLY_SUCCEEDED" => BatchState::Ended,
        "FAILED" => BatchState::Failed,
        "CANCELLED" => BatchState::Cancelled,
        "EXPIRED" => BatchState::Expired,
        _ if over && error.is_some() => BatchState::Failed,
        _ if over => BatchState::Ended,
        _ => BatchState::Running,
    };
    // Google writes 64-bit counts as strings.
    let count = |name: &str| {
        let found = value.pointer(&format!("/metadata/batchStats/{name}"));
        found
            .and_then(|count| count.as_u64().or_else(|| count.as_str()?.parse().ok()))
            .unwrap_or(0)
    };
    let places = [
        "/metadata/output/responsesFile",
        "/response/responsesFile",
        "/response/output/responsesFile",
        "/output/responsesFile",
    ];
    Some(BatchStatus {
        state,
        done: count("successfulRequestCount"),
        failed: count("failedRequestCount"),
        total: count("requestCount"),
        files: places
            .iter()
            .find_map(|at| text_at(value, at))
            .into_iter()
            .collect(),
        message: error.map(|error| ErrorBody::of(error).message),
    })
}
