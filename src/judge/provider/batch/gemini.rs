//! Gemini's batches: a file of lines, uploaded in two steps, then a job.

use super::client::{
    BatchClient, as_received, content_type, files_at, header, id_at, id_path, not_created, unclear,
};
use super::format::{BatchFormat, BatchPage, ListedBatch, NextPage, ReadResponse};
use crate::judge::batch::{BatchAnswer, BatchState, BatchStatus, NotSubmitted};
use crate::judge::call::CallError;
use crate::judge::provider::error_response::{ErrorBody, classify};
use crate::judge::provider::json::{count_at, text_at};
use crate::judge::provider::settings::JudgeSettings;
use futures::FutureExt;
use futures::future::BoxFuture;
use reqwest::header::HeaderValue;
use reqwest::{Method, Url};
use serde_json::{Value, json};

/// Google's own RPC codes, or an HTTP status.
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

#[derive(Debug)]
pub(crate) struct GeminiBatches;

impl BatchFormat for GeminiBatches {
    fn path(&self) -> &'static str {
        "/v1/batches"
    }

    fn page_parameters(&self) -> (&'static str, &'static str) {
        ("pageSize", "pageToken")
    }

    fn line(&self, id: &str, body: Value) -> Value {
        json!({"key": id, "request": body})
    }

    fn result_id(&self, value: &Value) -> Option<String> {
        text_at(value, "/key").or_else(|| text_at(value, "/metadata/key"))
    }

    fn result(
        &self,
        settings: &JudgeSettings,
        value: &Value,
        read: ReadResponse<'_>,
    ) -> Option<BatchAnswer> {
        let field = |name: &str| value.get(name).filter(|field| field.is_object());
        Some(match (field("response"), field("error")) {
            (Some(response), _) => {
                BatchAnswer::Answered(Box::new(read(&as_received(200, response))))
            }
            (None, Some(error)) => BatchAnswer::Failed(classify(
                settings,
                Some(status_of(count_at(error, "/code"))),
                &ErrorBody::of(error),
            )),
            (None, None) => return None,
        })
    }

    fn submit<'a>(
        &'a self,
        client: BatchClient<'a>,
        name: &'a str,
        lines: &'a [String],
    ) -> BoxFuture<'a, Result<String, NotSubmitted>> {
        async move {
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
            let begun = client
                .ask(
                    Method::POST,
                    &client.at("/upload/v1/files"),
                    headers,
                    Some(body),
                )
                .await
                .map_err(NotSubmitted::before)?;
            let place = begun
                .header("x-goog-upload-url")
                .and_then(|url| Url::parse(url).ok());
            let place =
                place.ok_or_else(|| NotSubmitted::before(unclear("where to put the file")))?;
            let mut headers = content_type("application/jsonl");
            headers.insert(
                "x-goog-upload-command",
                HeaderValue::from_static("upload, finalize"),
            );
            headers.insert("x-goog-upload-offset", HeaderValue::from_static("0"));
            let file = client
                .ask(Method::POST, &place, headers, Some(file))
                .await
                .and_then(|put| {
                    client.pick(&put, "the file's name", |put| id_at(put, "/file/name"))
                })
                .map_err(NotSubmitted::before)?;
            let model = &client.settings.spec.model;
            let model = model.strip_prefix("models/").unwrap_or(model);
            let job = json!({"batch": {"displayName": name, "inputConfig": {"fileName": file}}});
            let url = client.at(&format!("/v1/models/{model}:batchGenerateContent"));
            let job = Some(job.to_string().into_bytes());
            client
                .picked(Method::POST, &url, job, "the batch's name", |job| {
                    id_at(job, "/name")
                })
                .await
                .map_err(not_created)
        }
        .boxed()
    }

    fn page(&self, list: &Value) -> Option<BatchPage> {
        let jobs = ["operations", "batches"]
            .iter()
            .find_map(|at| list.get(at)?.as_array());
        // Google leaves empty lists out, and an error is no list.
        if jobs.is_none() && (!list.is_object() || list.get("error").is_some()) {
            return None;
        }
        let listed = |job: &Value| ListedBatch {
            id: id_at(job, "/name"),
            mark: text_at(job, "/metadata/displayName")
                .or_else(|| text_at(job, "/displayName"))
                .filter(|name| !name.is_empty()),
            status: self.status(job),
        };
        let token = text_at(list, "/nextPageToken").filter(|token| !token.is_empty());
        Some(BatchPage {
            jobs: jobs.into_iter().flatten().map(listed).collect(),
            next: token.map_or(NextPage::None, NextPage::After),
        })
    }

    fn status(&self, value: &Value) -> Option<BatchStatus> {
        let state = text_at(value, "/metadata/state").or_else(|| text_at(value, "/state"));
        let over = value.get("done") == Some(&Value::Bool(true));
        let is_batch = over
            || ["name", "metadata"]
                .iter()
                .any(|at| value.get(at).is_some());
        let state = state.or_else(|| is_batch.then(String::new))?;
        let short = state
            .trim_start_matches("BATCH_STATE_")
            .trim_start_matches("JOB_STATE_");
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
            files: files_at(value, &places).into_iter().take(1).collect(),
            message: error.map(|error| ErrorBody::of(error).message),
        })
    }

    fn batch_path(&self, id: &str) -> Result<String, CallError> {
        Ok(format!("/v1/{}", id_path(id)?))
    }

    fn cancel_path(&self, id: &str) -> Result<String, CallError> {
        Ok(format!("{}:cancel", self.batch_path(id)?))
    }

    fn result_urls(
        &self,
        client: &BatchClient<'_>,
        _: &str,
        status: &BatchStatus,
    ) -> Result<Vec<Url>, CallError> {
        let url = |file: &String| {
            let mut url = client.at(&format!("/v1/{}:download", id_path(file)?));
            url.set_query(Some("alt=media"));
            Ok(url)
        };
        status.files.iter().map(url).collect()
    }
}
