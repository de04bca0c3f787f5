//! Anthropic's message batches: all requests in one call, results as lines.

use super::client::{BatchClient, as_received, checked, unclear};
use super::format::{BatchFormat, ReadResponse};
use crate::judge::batch::{BatchAnswer, BatchResult, BatchState, BatchStatus, UnconfirmedBatch};
use crate::judge::call::CallError;
use crate::judge::provider::error_response::{ErrorBody, classify};
use crate::judge::provider::json::{count_at, text_at};
use crate::judge::provider::settings::JudgeSettings;
use futures::FutureExt;
use futures::future::BoxFuture;
use jiff::Timestamp;
use reqwest::{Method, Url};
use serde_json::{Value, json};

/// How far two machines' clocks may be apart, in milliseconds.
const CLOCKS_MS: i64 = 300_000;

#[derive(Debug)]
pub(crate) struct AnthropicBatches;

impl BatchFormat for AnthropicBatches {
    fn path(&self) -> &'static str {
        "/v1/messages/batches"
    }

    fn page_size_name(&self) -> &'static str {
        "limit"
    }

    fn line(&self, id: &str, body: Value) -> Value {
        json!({"custom_id": id, "params": body})
    }

    fn result(
        &self,
        settings: &JudgeSettings,
        value: &Value,
        read: ReadResponse<'_>,
    ) -> Option<BatchResult> {
        let id = text_at(value, "/custom_id")?;
        let answer = match text_at(value, "/result/type")?.as_str() {
            "succeeded" => read(&as_received(200, value.pointer("/result/message")?)).into(),
            "errored" => {
                let complaint = ErrorBody::of(value.pointer("/result/error")?);
                let status = complaint.status().or(Some(500));
                BatchAnswer::Failed(classify(settings, status, &complaint))
            }
            "expired" | "canceled" => BatchAnswer::NotMade,
            _ => return None,
        };
        Some((id, answer))
    }

    fn submit<'a>(
        &'a self,
        client: BatchClient<'a>,
        _: &'a str,
        lines: &'a [String],
    ) -> BoxFuture<'a, Result<String, CallError>> {
        async move {
            let body = format!("{{\"requests\":[{}]}}", lines.join(",")).into_bytes();
            let batch = client
                .json(Method::POST, &client.at("/v1/messages/batches"), Some(body))
                .await?;
            text_at(&batch, "/id").ok_or_else(|| unclear("the batch's id"))
        }
        .boxed()
    }

    // Anthropic keeps no names: batches of the size, made since.
    fn find(&self, list: &Value, unconfirmed: UnconfirmedBatch<'_>) -> Vec<String> {
        let jobs = list.get("data").and_then(Value::as_array);
        let alike = |job: &&Value| {
            let made: Option<Timestamp> =
                text_at(job, "/created_at").and_then(|at| at.parse().ok());
            let lines = self.status(job).map(|status| status.total);
            made.is_some_and(|made| made.as_millisecond() >= unconfirmed.since_ms - CLOCKS_MS)
                && lines == Some(unconfirmed.lines as u64)
        };
        let found = jobs.into_iter().flatten().filter(alike);
        found.filter_map(|job| text_at(job, "/id")).collect()
    }

    fn status(&self, value: &Value) -> Option<BatchStatus> {
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

    fn result_urls(
        &self,
        client: &BatchClient<'_>,
        id: &str,
        status: &BatchStatus,
    ) -> Result<Vec<Url>, CallError> {
        let own = client.at(&format!("{}/results", self.batch_path(checked(id)?)));
        // The key goes to no other server, whatever the answer says.
        let named = status.files.first().and_then(|file| Url::parse(file).ok());
        let url = named.filter(|url| url.origin() == own.origin());
        Ok(vec![url.unwrap_or(own)])
    }
}
