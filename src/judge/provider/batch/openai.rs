//! OpenAI's batches: a file of lines, then a job.

use super::client::{BatchClient, as_received, checked, content_type, unclear};
use super::format::{BatchFormat, ReadResponse};
use crate::judge::batch::{BatchAnswer, BatchResult, BatchState, BatchStatus, UnconfirmedBatch};
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

    fn page_size_name(&self) -> &'static str {
        "limit"
    }

    fn line(&self, id: &str, body: Value) -> Value {
        json!({"custom_id": id, "method": "POST", "url": ENDPOINT, "body": body})
    }

    fn result(
        &self,
        settings: &JudgeSettings,
        value: &Value,
        read: ReadResponse<'_>,
    ) -> Option<BatchResult> {
        let id = text_at(value, "/custom_id")?;
        if let Some(error) = value.get("error").filter(|error| !error.is_null()) {
            let complaint = ErrorBody::of(error);
            let answer = match complaint.code.as_str() {
                "batch_expired" | "batch_cancelled" => BatchAnswer::NotMade,
                _ => BatchAnswer::Failed(classify(
                    settings,
                    complaint.status().or(Some(500)),
                    &complaint,
                )),
            };
            return Some((id, answer));
        }
        let response = value.get("response")?;
        let status = u16::try_from(count_at(response, "/status_code")).ok()?;
        let mut result = read(&as_received(status, response.get("body")?));
        let request_id = text_at(response, "/request_id");
        match &mut result {
            Ok(reply) => reply.request_id = request_id.or(reply.request_id.take()),
            Err(error) => {
                error.exchange.request_id = request_id.or(error.exchange.request_id.take())
            }
        }
        Some((id, result.into()))
    }

    fn submit<'a>(
        &'a self,
        client: BatchClient<'a>,
        name: &'a str,
        lines: &'a [String],
    ) -> BoxFuture<'a, Result<String, CallError>> {
        async move {
            let size: usize = lines.iter().map(|line| line.len() + 1).sum();
            // A boundary that occurs in no line: the lines are JSON, in which a line break and two dashes never meet.
            let boundary =
                format!("overrule-{:02x?}", &Sha256::digest(name)[..8]).replace([' ', ',', '[', ']'], "");
            let mut form = Vec::with_capacity(size + 1024);
            form.extend_from_slice(
                format!(
                    "--{boundary}\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n--{boundary}\r\nContent-Disposition: \
                     form-data; name=\"file\"; filename=\"overrule.jsonl\"\r\nContent-Type: application/jsonl\r\n\r\n"
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
                .await?;
            let file: Value = serde_json::from_slice(&file.body).map_err(|_| unclear("the file's id"))?;
            let file = text_at(&file, "/id").ok_or_else(|| unclear("the file's id"))?;
            let job = json!({"input_file_id": file, "endpoint": ENDPOINT, "completion_window": "24h", "metadata": {"overrule": name}});
            let job = client
                .json(
                    Method::POST,
                    &client.at("/batches"),
                    Some(job.to_string().into_bytes()),
                )
                .await?;
            text_at(&job, "/id").ok_or_else(|| unclear("the batch's id"))
        }
        .boxed()
    }

    fn find(&self, list: &Value, unconfirmed: UnconfirmedBatch<'_>) -> Vec<String> {
        let jobs = list.get("data").and_then(Value::as_array);
        let named =
            |job: &&Value| text_at(job, "/metadata/overrule").as_deref() == Some(unconfirmed.name);
        let found = jobs.into_iter().flatten().filter(named);
        found.filter_map(|job| text_at(job, "/id")).collect()
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
            // Where every line failed there is only the second.
            files: ["/output_file_id", "/error_file_id"]
                .iter()
                .filter_map(|at| text_at(value, at))
                .collect(),
            message,
        })
    }

    fn result_urls(
        &self,
        client: &BatchClient<'_>,
        _: &str,
        status: &BatchStatus,
    ) -> Result<Vec<Url>, CallError> {
        let url = |file: &String| Ok(client.at(&format!("/files/{}/content", checked(file)?)));
        status.files.iter().map(url).collect()
    }
}
