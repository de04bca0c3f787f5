//! Anthropic's message batches: all requests in one call, results as lines.

use super::client::{BatchClient, as_received, id_at, not_created};
use super::format::{BatchFormat, BatchPage, ListedBatch, ReadResponse, next_page};
use crate::judge::batch::{BatchAnswer, BatchState, BatchStatus, NotSubmitted};
use crate::judge::call::CallError;
use crate::judge::provider::error_response::{ErrorBody, classify};
use crate::judge::provider::json::{count_at, text_at};
use crate::judge::provider::settings::JudgeSettings;
use futures::FutureExt;
use futures::future::BoxFuture;
use reqwest::{Method, Url};
use serde_json::{Value, json};

#[derive(Debug)]
pub(crate) struct AnthropicBatches;

impl BatchFormat for AnthropicBatches {
    fn path(&self) -> &'static str {
        "/v1/messages/batches"
    }

    fn page_parameters(&self) -> (&'static str, &'static str) {
        ("limit", "after_id")
    }

    fn line(&self, id: &str, body: Value) -> Value {
        json!({"custom_id": id, "params": body})
    }

    fn result_id(&self, value: &Value) -> Option<String> {
        text_at(value, "/custom_id")
    }

    fn result(
        &self,
        settings: &JudgeSettings,
        value: &Value,
        read: ReadResponse<'_>,
    ) -> Option<BatchAnswer> {
        Some(match text_at(value, "/result/type")?.as_str() {
            "succeeded" => {
                let message = value.pointer("/result/message")?;
                BatchAnswer::Answered(Box::new(read(&as_received(200, message))))
            }
            "errored" => {
                let complaint = ErrorBody::of(value.pointer("/result/error")?);
                let status = complaint.status().or(Some(500));
                BatchAnswer::Failed(classify(settings, status, &complaint))
            }
            "expired" | "canceled" => BatchAnswer::NotMade,
            _ => return None,
        })
    }

    fn submit<'a>(
        &'a self,
        client: BatchClient<'a>,
        _: &'a str,
        lines: &'a [String],
    ) -> BoxFuture<'a, Result<String, NotSubmitted>> {
        async move {
            let body = format!("{{\"requests\":[{}]}}", lines.join(",")).into_bytes();
            client
                .picked(
                    Method::POST,
                    &client.at(self.path()),
                    Some(body),
                    "the batch's id",
                    |job| id_at(job, "/id"),
                )
                .await
                .map_err(not_created)
        }
        .boxed()
    }

    // Anthropic stores no names: only the ids in the results show whether the batch is ours.
    fn page(&self, list: &Value) -> Option<BatchPage> {
        let listed = |job: &Value| ListedBatch {
            id: id_at(job, "/id"),
            mark: None,
            status: self.status(job),
        };
        let jobs: Vec<ListedBatch> = list.get("data")?.as_array()?.iter().map(listed).collect();
        let next = next_page(list, &jobs);
        Some(BatchPage { jobs, next })
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
            files: text_at(value, "/results_url")
                .filter(|url| !url.trim().is_empty())
                .into_iter()
                .collect(),
            message: None,
        })
    }

    fn result_urls(
        &self,
        client: &BatchClient<'_>,
        id: &str,
        status: &BatchStatus,
    ) -> Result<Vec<Url>, CallError> {
        let own = client.at(&format!("{}/results", self.batch_path(id)?));
        // The key must not go to any other server, no matter what the response says.
        let url = status
            .files
            .first()
            .and_then(|file| Url::parse(file).ok())
            .filter(|url| url.origin() == own.origin());
        Ok(vec![url.unwrap_or(own)])
    }
}
