//! OpenAI's batches: a file of lines, then a job.

use super::client::{
    BatchClient, as_received, content_type, files_at, id_at, id_segment, not_created,
};
use super::format::{BatchFormat, BatchPage, ListedBatch, ReadResponse, next_page};
use crate::domain::hex::short_hex;
use crate::judge::batch::{BatchAnswer, BatchState, BatchStatus, NotSubmitted};
use crate::judge::call::CallError;
use crate::judge::provider::error_response::{ErrorBody, classify};
use crate::judge::provider::json::{count_at, text_at};
use crate::judge::provider::settings::JudgeSettings;
use futures::FutureExt;
use futures::future::BoxFuture;
use reqwest::{Method, Url};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const ENDPOINT: &str = "/v1/chat/completions";

#[derive(Debug)]
pub(crate) struct OpenAiBatches;

impl BatchFormat for OpenAiBatches {
    fn path(&self) -> &'static str {
        "/batches"
    }

    fn page_parameters(&self) -> (&'static str, &'static str) {
        ("limit", "after")
    }

    fn line(&self, id: &str, body: Value) -> Value {
        json!({"custom_id": id, "method": "POST", "url": ENDPOINT, "body": body})
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
        let response = value
            .get("response")
            .filter(|response| response.is_object());
        let status = response.and_then(|response| {
            let status = response.get("status_code");
            // Some gateways leave the status of an answer out.
            status.map_or(Some(200), |status| u16::try_from(status.as_u64()?).ok())
        });
        let body = response.and_then(|response| response.get("body"));
        let error = value.get("error").filter(|error| !error.is_null());
        let (response, status, body) = match (response, status, body, error) {
            // An answer counts, even if it comes with an error.
            (Some(response), Some(status @ 200..=299), Some(body), _) => (response, status, body),
            (.., Some(error)) => {
                let complaint = ErrorBody::of(error);
                // Codes of the batch, such as batch_expired, are about calls that it did not make.
                return Some(if complaint.code.starts_with("batch_") {
                    BatchAnswer::NotMade
                } else {
                    let status = complaint.status().or(Some(500));
                    BatchAnswer::Failed(classify(settings, status, &complaint))
                });
            }
            (Some(response), Some(status), Some(body), None) => (response, status, body),
            _ => return None,
        };
        let mut result = read(&as_received(status, body));
        let request_id = text_at(response, "/request_id");
        match &mut result {
            Ok(reply) => reply.request_id = request_id.or(reply.request_id.take()),
            Err(error) => {
                error.exchange.request_id = request_id.or(error.exchange.request_id.take())
            }
        }
        Some(match result {
            Err(error) if !(200..300).contains(&status) => BatchAnswer::Failed(error),
            result => BatchAnswer::Answered(Box::new(result)),
        })
    }

    fn submit<'a>(
        &'a self,
        client: BatchClient<'a>,
        name: &'a str,
        lines: &'a [String],
    ) -> BoxFuture<'a, Result<String, NotSubmitted>> {
        async move {
            let size: usize = lines.iter().map(|line| line.len() + 1).sum();
            // A boundary that occurs in no line: the lines are JSON, which never contains a line
            // break followed by two dashes.
            let boundary =
                format!("overrule-{}", short_hex(&Sha256::digest(name)));
            let mut form = Vec::with_capacity(size + 1024);
            form.extend_from_slice(
                format!(
                    "--{boundary}\r\nContent-Disposition: form-data; \
                     name=\"purpose\"\r\n\r\nbatch\r\n--{boundary}\r\nContent-Disposition: \
                     form-data; name=\"file\"; filename=\"overrule.jsonl\"\r\nContent-Type: \
                     application/jsonl\r\n\r\n"
                )
                .as_bytes(),
            );
            for line in lines {
                form.extend_from_slice(line.as_bytes());
                form.push(b'\n');
            }
            form.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
            let headers = content_type(&format!("multipart/form-data; boundary={boundary}"));
            let file = client
                .ask(Method::POST, &client.at("/files"), headers, Some(form))
                .await
                .and_then(|file| client.pick(&file, "the file's id", |file| id_at(file, "/id")))
                .map_err(NotSubmitted::before)?;
            let job = json!({"input_file_id": file, "endpoint": ENDPOINT, "completion_window": "24h", "metadata": {"overrule": name}});
            let job = Some(job.to_string().into_bytes());
            client
                .picked(Method::POST, &client.at("/batches"), job, "the batch's id", |job| {
                    id_at(job, "/id")
                })
                .await
                .map_err(not_created)
        }
        .boxed()
    }

    fn page(&self, list: &Value) -> Option<BatchPage> {
        let listed = |job: &Value| {
            let metadata = job.get("metadata").and_then(Value::as_object);
            ListedBatch {
                id: id_at(job, "/id"),
                mark: metadata
                    .filter(|metadata| !metadata.is_empty())
                    .map(|_| text_at(job, "/metadata/overrule").unwrap_or_default()),
                status: self.status(job),
            }
        };
        let jobs: Vec<ListedBatch> = list.get("data")?.as_array()?.iter().map(listed).collect();
        let next = next_page(list, &jobs);
        Some(BatchPage { jobs, next })
    }

    fn status(&self, value: &Value) -> Option<BatchStatus> {
        let state = match text_at(value, "/status")?.as_str() {
            "completed" => BatchState::Ended,
            "failed" => BatchState::Failed,
            "expired" => BatchState::Expired,
            "cancelled" => BatchState::Cancelled,
            _ => BatchState::Running,
        };
        let message = text_at(value, "/errors/data/0/message").map(|message| {
            let code = text_at(value, "/errors/data/0/code").unwrap_or_default();
            let remedy = if code == "token_limit_exceeded" {
                "; wait for other batches to end, then submit again"
            } else {
                ""
            };
            format!("{code}: {message}{remedy}")
        });
        Some(BatchStatus {
            state,
            done: count_at(value, "/request_counts/completed"),
            failed: count_at(value, "/request_counts/failed"),
            total: count_at(value, "/request_counts/total"),
            // If every line failed, there is only the second.
            files: files_at(value, &["/output_file_id", "/error_file_id"]),
            message,
        })
    }

    fn result_urls(
        &self,
        client: &BatchClient<'_>,
        _: &str,
        status: &BatchStatus,
    ) -> Result<Vec<Url>, CallError> {
        let url = |file: &String| Ok(client.at(&format!("/files/{}/content", id_segment(file)?)));
        status.files.iter().map(url).collect()
    }
}
