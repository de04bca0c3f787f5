//! Files and batches of OpenAI, Anthropic and Gemini. A batch runs until the test says that it is finished.

use super::fault::{Out, full, whole};
use super::wire::{self, Dialect};
use super::{Recorded, State};
use hyper::Response;
use serde_json::{Value, json};
use std::net::SocketAddr;

/// A batch.
#[derive(Clone, Debug, Default)]
pub(super) struct Job {
    pub(super) finished: bool,
    /// Lines that were answered, where time ran out before all of them were.
    pub(super) made: Option<usize>,
    /// The answer to every line, if it does not follow from the texts.
    pub(super) says: Option<&'static str>,
    cancelled: bool,
    lines: Vec<Value>,
    model: String,
    metadata: Value,
}

fn not_found() -> Response<Out> {
    whole(
        404,
        &json!({"error": {"message": "no such thing here", "type": "invalid_request_error"}}),
    )
}

pub(super) fn handle(state: &mut State, recorded: &Recorded, address: SocketAddr) -> Response<Out> {
    let path = recorded.target.split('?').next().unwrap_or_default();
    let body = &recorded.body;
    state.counter += 1;
    let number = state.counter;
    if let (Some(models), "GET") = (&state.models, recorded.method.as_str()) {
        let named = |key: &str| -> Vec<Value> {
            let models = models.iter();
            let entry = |model: &String| match model.split_once('@') {
                Some((name, digest)) => json!({ key: name, "digest": digest }),
                None => json!({ key: model }),
            };
            models.map(entry).collect()
        };
        match path {
            "/api/tags" => return whole(200, &json!({"models": named("name")})),
            "/v1/models" => return whole(200, &json!({"object": "list", "data": named("id")})),
            _ => {}
        }
    }
    match (recorded.method.as_str(), path) {
        ("POST", "/v1/files") => {
            let text = body.as_str().unwrap_or_default();
            let file = text.split("\r\n\r\n").nth(2).unwrap_or_default();
            let file = file.split("\r\n--").next().unwrap_or_default();
            state
                .files
                .insert(format!("file-{number}"), file.to_owned());
            whole(
                200,
                &json!({"id": format!("file-{number}"), "object": "file", "purpose": "batch"}),
            )
        }
        ("POST", "/v1/batches") => {
            let file = body["input_file_id"].as_str().unwrap_or_default();
            let job = Job {
                lines: lines(state.files.get(file)),
                metadata: body["metadata"].clone(),
                ..Job::default()
            };
            let id = format!("batch_{number}");
            let answer = openai(&id, &job);
            state.batches.insert(id, job);
            whole(200, &answer)
        }
        ("GET", "/v1/batches") => {
            let gemini_wants = recorded.target.contains("pageSize");
            let list: Vec<Value> = state
                .batches
                .iter()
                .map(|(id, job)| {
                    if gemini_wants {
                        gemini(id, job)
                    } else {
                        openai(id, job)
                    }
                })
                .collect();
            let field = if gemini_wants { "operations" } else { "data" };
            whole(200, &json!({ field: list }))
        }
        ("GET", "/v1/messages/batches") => {
            let list: Vec<Value> = state
                .batches
                .iter()
                .filter(|(id, _)| id.starts_with("msgbatch"))
                .map(|(id, job)| anthropic(id, job, address))
                .collect();
            whole(200, &json!({"data": list, "has_more": false}))
        }
        ("POST", "/v1/messages/batches") => {
            let job = Job {
                lines: body["requests"].as_array().cloned().unwrap_or_default(),
                ..Job::default()
            };
            let id = format!("msgbatch_{number}");
            let answer = anthropic(&id, &job, address);
            state.batches.insert(id, job);
            whole(200, &answer)
        }
        ("POST", "/upload/v1/files") => {
            let mut response = whole(200, &json!({}));
            let url = format!("http://{address}/upload/put/g{number}");
            response
                .headers_mut()
                .insert("x-goog-upload-url", url.parse().unwrap());
            response
        }
        ("POST", _) if path.starts_with("/upload/put/") => {
            let name = format!("files/{}", path.trim_start_matches("/upload/put/"));
            // A file of one line is JSON itself.
            let text = body
                .as_str()
                .map_or_else(|| body.to_string(), str::to_owned);
            state.files.insert(name.clone(), text);
            whole(200, &json!({"file": {"name": name}}))
        }
        ("POST", _) if path.ends_with(":batchGenerateContent") => {
            let file = body["batch"]["inputConfig"]["fileName"]
                .as_str()
                .unwrap_or_default();
            let model = path
                .split("/models/")
                .nth(1)
                .and_then(|rest| rest.split(':').next());
            let job = Job {
                lines: lines(state.files.get(file)),
                model: model.unwrap_or_default().to_owned(),
                metadata: body["batch"]["displayName"].clone(),
                ..Job::default()
            };
            let id = format!("batches/g{number}");
            let answer = gemini(&id, &job);
            state.batches.insert(id, job);
            whole(200, &answer)
        }
        _ => existing(state, recorded, path, address).unwrap_or_else(not_found),
    }
}

/// Requests about what is there already.
fn existing(
    state: &mut State,
    recorded: &Recorded,
    path: &str,
    address: SocketAddr,
) -> Option<Response<Out>> {
    let cancel = recorded.method == "POST";
    let rest = path.strip_prefix("/v1/")?;
    if let Some(id) = rest.strip_prefix("messages/batches/") {
        if let Some(id) = id.strip_suffix("/results") {
            return Some(text(state.batches.get(id)?.results()));
        }
        let id = id.trim_end_matches("/cancel");
        let job = state.batches.get_mut(id)?;
        job.cancelled |= cancel;
        return Some(whole(200, &anthropic(id, job, address)));
    }
    let file = rest
        .strip_prefix("files/")
        .and_then(|rest| rest.strip_suffix("/content"));
    if let Some(file) = file {
        return Some(text(
            state.batches.get(file.strip_prefix("out-")?)?.results(),
        ));
    }
    if let Some(file) = rest.strip_suffix(":download") {
        let id = file.replace("files/out-", "batches/");
        return Some(text(state.batches.get(&id)?.results()));
    }
    if rest.starts_with("batches/g") {
        let id = rest.trim_end_matches(":cancel");
        let job = state.batches.get_mut(id)?;
        job.cancelled |= cancel;
        return Some(whole(200, &gemini(id, job)));
    }
    let id = rest.strip_prefix("batches/")?.trim_end_matches("/cancel");
    let job = state.batches.get_mut(id)?;
    job.cancelled |= cancel;
    Some(whole(200, &openai(id, job)))
}

fn text(text: String) -> Response<Out> {
    let mut response = whole(200, &Value::Null);
    response.headers_mut().remove("content-length");
    *response.body_mut() = full(text.into());
    response
}

fn lines(text: Option<&String>) -> Vec<Value> {
    let lines = text.map(String::as_str).unwrap_or_default().lines();
    lines
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

impl Job {
    /// The results, in another order than the requests.
    fn results(&self) -> String {
        let made = self.made.unwrap_or(self.lines.len());
        let lines = self.lines.iter().enumerate().rev();
        lines
            .map(|(at, line)| match at < made {
                true => format!("{}\n", self.result(line)),
                false => format!("{}\n", late(line)),
            })
            .collect()
    }

    /// Model and body of every line that was answered.
    pub(super) fn answered(&self) -> Vec<(Dialect, Recorded)> {
        let made = self.made.unwrap_or(self.lines.len());
        let lines = self.lines.iter().take(made);
        lines.map(|line| self.call(line)).collect()
    }

    fn call(&self, line: &Value) -> (Dialect, Recorded) {
        let (dialect, body, target) = if let Some(params) = line.get("params") {
            (Dialect::Anthropic, params, String::new())
        } else if let Some(request) = line.get("request") {
            let target = format!("/v1/models/{}:generateContent", self.model);
            (Dialect::Gemini, request, target)
        } else {
            (Dialect::Chat, &line["body"], String::new())
        };
        let call = Recorded {
            method: "POST".to_owned(),
            target,
            headers: Vec::new(),
            body: body.clone(),
        };
        (dialect, call)
    }

    fn result(&self, line: &Value) -> Value {
        let (dialect, call) = self.call(line);
        let id = &line["custom_id"];
        let text = match self.says {
            Some(text) => text.to_owned(),
            None => wire::good_text(dialect, &call),
        };
        let reply = wire::reply(dialect, &call, &text, dialect.stop());
        match dialect {
            Dialect::Anthropic => {
                json!({"custom_id": id, "result": {"type": "succeeded", "message": reply}})
            }
            Dialect::Gemini => json!({"key": line["key"], "response": reply}),
            _ => {
                let response =
                    json!({"status_code": 200, "request_id": "req-batch", "body": reply});
                json!({"id": "br", "custom_id": id, "response": response, "error": null})
            }
        }
    }
}

/// A line that there was no time for.
fn late(line: &Value) -> Value {
    let id = &line["custom_id"];
    match line.get("params") {
        Some(_) => json!({"custom_id": id, "result": {"type": "expired"}}),
        None => {
            json!({"custom_id": id, "response": null, "error": {"code": "batch_expired", "message": "too late"}})
        }
    }
}

fn openai(id: &str, job: &Job) -> Value {
    let status = match (job.cancelled, job.finished) {
        (true, _) => "cancelled",
        (false, true) if job.made.is_some() => "expired",
        (false, true) => "completed",
        (false, false) => "in_progress",
    };
    let made = job.made.unwrap_or(job.lines.len());
    let done = if job.finished { made } else { 0 };
    json!({
        "id": id, "object": "batch", "status": status, "metadata": job.metadata, "error_file_id": null,
        "output_file_id": job.finished.then(|| format!("out-{id}")),
        "request_counts": {"total": job.lines.len(), "completed": done, "failed": 0},
    })
}

fn anthropic(id: &str, job: &Job, address: SocketAddr) -> Value {
    let over = job.finished || job.cancelled;
    let all = job.lines.len();
    let done = if job.finished {
        job.made.unwrap_or(all)
    } else {
        0
    };
    json!({
        "id": id, "type": "message_batch", "created_at": "2099-01-01T00:00:00Z", "processing_status": if over { "ended" } else { "in_progress" },
        "request_counts": {
            "processing": if over { 0 } else { all }, "succeeded": done, "errored": 0,
            "canceled": if job.cancelled { all - done } else { 0 },
            "expired": if job.finished { all - done } else { 0 },
        },
        "results_url": over.then(|| format!("http://{address}/v1/messages/batches/{id}/results")),
    })
}

fn gemini(id: &str, job: &Job) -> Value {
    let state = match (job.cancelled, job.finished) {
        (true, _) => "BATCH_STATE_CANCELLED",
        (false, true) if job.made.is_some() => "BATCH_STATE_EXPIRED",
        (false, true) => "BATCH_STATE_SUCCEEDED",
        (false, false) => "BATCH_STATE_RUNNING",
    };
    let file = || json!({"responsesFile": id.replace("batches/", "files/out-")});
    json!({
        "name": id, "done": job.finished || job.cancelled,
        "metadata": {
            "state": state, "displayName": job.metadata,
            "batchStats": {"requestCount": job.lines.len().to_string()},
            "output": (job.finished && job.made.is_none()).then(file),
        },
    })
}
