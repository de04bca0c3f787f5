//! Files and batches of OpenAI, Anthropic and Gemini. A batch runs until the test says that it is
//! finished.

use super::fault::{Out, full, whole};
use super::wire::{self, Dialect};
use super::{Recorded, State};
use hyper::Response;
use serde_json::{Value, json};
use std::net::SocketAddr;

/// How the batch endpoints misbehave, from the moment this is set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BatchFaults {
    /// New batches are made, and the answer that says so is a 504.
    pub(crate) lose_creation: bool,
    /// New batches are not made, and the answer is a 504.
    pub(crate) drop_creation: bool,
    /// New batches are not listed before
    /// [`FakeProvider::list_batches`](super::FakeProvider::list_batches).
    pub(crate) list_late: bool,
    /// New batches get an error for this many lines, and for as many an answer that is not a
    /// judgment.
    pub(crate) failing: usize,
    pub(crate) unusable: usize,
    /// New batches run out of time before the last lines.
    pub(crate) late: usize,
    /// Answers do not tell their usage.
    pub(crate) no_usage: bool,
    /// Batches on a page of the list.
    pub(crate) page: Option<usize>,
    /// The list is empty, and says that there is more.
    pub(crate) endless_list: bool,
    /// Names are not kept.
    pub(crate) no_names: bool,
    pub(crate) no_counts: bool,
    /// Results are not named.
    pub(crate) no_files: bool,
    /// Files that are not there have an empty id.
    pub(crate) empty_ids: bool,
    /// A batch that is over claims to have failed.
    pub(crate) claims_failure: bool,
    /// The last lines of each file do not come.
    pub(crate) lose_lines: usize,
    /// Each answer comes after an error for the same call, and once more.
    pub(crate) repeat: bool,
    /// A line about another call comes first.
    pub(crate) stranger: bool,
    /// A line that is no JSON comes last.
    pub(crate) garbage: bool,
    /// Requests with another key than this see an account without batches.
    pub(crate) only_key: Option<&'static str>,
}

/// A batch.
#[derive(Clone, Debug, Default)]
pub(super) struct Job {
    pub(super) finished: bool,
    /// Lines at the beginning that get an error.
    failing: usize,
    /// Lines after these whose answer is not a judgment.
    unusable: usize,
    /// Lines at the end that there is no time for.
    late: usize,
    pub(super) hidden: bool,
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
    let faults = state.batch_faults.clone();
    let is_other = |key: &str| {
        !recorded
            .headers
            .iter()
            .any(|(_, value)| value.contains(key))
    };
    if faults.only_key.is_some_and(is_other) {
        return if recorded.method == "GET" && path.ends_with("batches") {
            whole(200, &json!({"data": [], "has_more": false}))
        } else {
            not_found()
        };
    }
    let creates = recorded.method == "POST"
        && (["/v1/batches", "/v1/messages/batches"].contains(&path)
            || path.ends_with(":batchGenerateContent"));
    if creates && faults.drop_creation {
        return whole(504, &json!("gateway time-out"));
    }
    let new = Job {
        failing: faults.failing,
        unusable: faults.unusable,
        late: faults.late,
        hidden: faults.list_late,
        ..Job::default()
    };
    let answer = answer(state, recorded, address, path, new, &faults);
    if creates && faults.lose_creation {
        whole(504, &json!("gateway time-out"))
    } else {
        answer
    }
}

fn answer(
    state: &mut State,
    recorded: &Recorded,
    address: SocketAddr,
    path: &str,
    new: Job,
    faults: &BatchFaults,
) -> Response<Out> {
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
                ..new
            };
            let id = format!("batch_{number}");
            let answer = openai(&id, &job, faults);
            state.batches.insert(id, job);
            whole(200, &answer)
        }
        ("GET", "/v1/batches") if recorded.target.contains("pageSize") => {
            let (jobs, next) = listed(state, recorded, "batches/", "pageToken=", faults);
            let list: Vec<Value> = jobs
                .iter()
                .map(|(id, job)| gemini(id, job, faults))
                .collect();
            whole(
                200,
                &json!({ "operations": list, "nextPageToken": next.unwrap_or_default() }),
            )
        }
        ("GET", "/v1/batches") => {
            let (jobs, next) = listed(state, recorded, "batch_", "after=", faults);
            let list: Vec<Value> = jobs
                .iter()
                .map(|(id, job)| openai(id, job, faults))
                .collect();
            whole(200, &json!({ "data": list, "has_more": next.is_some() }))
        }
        ("GET", "/v1/messages/batches") => {
            let (jobs, next) = listed(state, recorded, "msgbatch", "after_id=", faults);
            let list: Vec<Value> = jobs
                .iter()
                .map(|(id, job)| anthropic(id, job, address, faults))
                .collect();
            whole(
                200,
                &json!({"data": list, "has_more": next.is_some(), "last_id": next}),
            )
        }
        ("POST", "/v1/messages/batches") => {
            let job = Job {
                lines: body["requests"].as_array().cloned().unwrap_or_default(),
                ..new
            };
            let id = format!("msgbatch_{number}");
            let answer = anthropic(&id, &job, address, faults);
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
                ..new
            };
            let id = format!("batches/g{number}");
            let answer = gemini(&id, &job, faults);
            state.batches.insert(id, job);
            whole(200, &answer)
        }
        _ => existing(state, recorded, path, address, faults).unwrap_or_else(not_found),
    }
}

/// A page of the batches whose id begins like this, and the cursor of the next one.
fn listed(
    state: &State,
    recorded: &Recorded,
    prefix: &str,
    cursor: &str,
    faults: &BatchFaults,
) -> (Vec<(String, Job)>, Option<String>) {
    if faults.endless_list {
        return (Vec::new(), Some("again".to_owned()));
    }
    let mut jobs: Vec<(String, Job)> = state
        .batches
        .iter()
        .filter(|(id, job)| id.starts_with(prefix) && !job.hidden)
        .map(|(id, job)| (id.clone(), job.clone()))
        .collect();
    jobs.sort_by(|(one, _), (other, _)| one.cmp(other));
    if let Some((_, after)) = recorded.target.split_once(cursor) {
        let after = after.replace("%2F", "/");
        jobs.retain(|(id, _)| *id > after);
    }
    let page = faults.page.unwrap_or(usize::MAX);
    let next = (jobs.len() > page).then(|| jobs[page - 1].0.clone());
    jobs.truncate(page);
    (jobs, next)
}

/// Requests about what is there already.
fn existing(
    state: &mut State,
    recorded: &Recorded,
    path: &str,
    address: SocketAddr,
    faults: &BatchFaults,
) -> Option<Response<Out>> {
    let cancel = recorded.method == "POST";
    let rest = path.strip_prefix("/v1/")?;
    if let Some(id) = rest.strip_prefix("messages/batches/") {
        if let Some(id) = id.strip_suffix("/results") {
            return Some(text(state.batches.get(id)?.results(faults, Part::All)));
        }
        let id = id.trim_end_matches("/cancel");
        let job = state.batches.get_mut(id)?;
        job.cancelled |= cancel;
        return Some(whole(200, &anthropic(id, job, address, faults)));
    }
    let file = rest
        .strip_prefix("files/")
        .and_then(|rest| rest.strip_suffix("/content"));
    if let Some(file) = file {
        let (id, part) = match file.strip_prefix("err-") {
            Some(id) => (id, Part::Errors),
            None => (file.strip_prefix("out-")?, Part::Answers),
        };
        return Some(text(state.batches.get(id)?.results(faults, part)));
    }
    if let Some(file) = rest.strip_suffix(":download") {
        let id = file.replace("files/out-", "batches/");
        return Some(text(state.batches.get(&id)?.results(faults, Part::All)));
    }
    if rest.starts_with("batches/g") {
        let id = rest.trim_end_matches(":cancel");
        let job = state.batches.get_mut(id)?;
        job.cancelled |= cancel;
        return Some(whole(200, &gemini(id, job, faults)));
    }
    let id = rest.strip_prefix("batches/")?.trim_end_matches("/cancel");
    let job = state.batches.get_mut(id)?;
    job.cancelled |= cancel;
    Some(whole(200, &openai(id, job, faults)))
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

/// The lines that a file of results has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    All,
    Answers,
    Errors,
}

impl Job {
    pub(super) fn clear_errors(&mut self) {
        self.failing = 0;
    }

    /// Lines that there was time for.
    fn made(&self) -> usize {
        let most = self.lines.len().saturating_sub(self.late);
        self.made.unwrap_or(most).min(most)
    }

    fn failed(&self) -> usize {
        self.failing.min(self.made())
    }

    /// The results, in another order than the requests.
    fn results(&self, faults: &BatchFaults, part: Part) -> String {
        let (mut written, mut orphans) = (Vec::new(), Vec::new());
        if faults.stranger {
            let mut other = self.lines[0].clone();
            let name = if other.get("key").is_some() {
                "key"
            } else {
                "custom_id"
            };
            other[name] = json!("request-1");
            written.push(self.result(&other, false, faults));
        }
        for (at, line) in self.lines.iter().enumerate().rev() {
            let fails = at < self.failed();
            if part == Part::Answers && fails || part == Part::Errors && !fails {
                continue;
            }
            if fails {
                written.push(error(line));
            } else if at < self.made() {
                let answer = self.result(line, at < self.failing + self.unusable, faults);
                if faults.repeat {
                    orphans.push(error(line));
                    written.extend([error(line), answer.clone()]);
                }
                written.push(answer);
            } else {
                written.push(late(line));
            }
        }
        written.truncate(written.len().saturating_sub(faults.lose_lines));
        // An error that precedes a repeated answer is not lost without it: alone, it would mean
        // that the call had failed.
        if faults.repeat && written.last().is_some_and(|last| orphans.contains(last)) {
            written.pop();
        }
        let mut text: String = written.iter().map(|line| format!("{line}\n")).collect();
        if faults.garbage {
            text.push_str("<html>");
        }
        text
    }

    /// Model and body of every line that was made.
    pub(super) fn answered(&self) -> Vec<(Dialect, Recorded)> {
        self.lines
            .iter()
            .take(self.made())
            .map(|line| self.call(line))
            .collect()
    }

    /// Lines that a model answered.
    pub(super) fn paid(&self) -> usize {
        let gives_nothing =
            self.made.is_some() && self.lines.iter().any(|line| line.get("request").is_some());
        if self.finished && !gives_nothing {
            self.made() - self.failed()
        } else {
            0
        }
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

    fn result(&self, line: &Value, is_unusable: bool, faults: &BatchFaults) -> Value {
        let (dialect, call) = self.call(line);
        let id = &line["custom_id"];
        let text = match self.says {
            _ if is_unusable => "I cannot decide.".to_owned(),
            Some(text) => text.to_owned(),
            None => wire::good_text(dialect, &call),
        };
        let mut reply = wire::reply(dialect, &call, &text, dialect.stop());
        if let (true, Some(reply)) = (faults.no_usage, reply.as_object_mut()) {
            reply.retain(|name, _| !name.starts_with("usage"));
        }
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

/// A line that failed.
fn error(line: &Value) -> Value {
    let id = &line["custom_id"];
    if line.get("params").is_some() {
        let error = json!({"type": "api_error", "message": "broken"});
        json!({"custom_id": id, "result": {"type": "errored", "error": {"type": "error", "error": error}}})
    } else if line.get("request").is_some() {
        json!({"key": line["key"], "error": {"code": 13, "message": "broken"}})
    } else {
        let body = json!({"error": {"message": "broken", "type": "server_error"}});
        json!({"custom_id": id, "response": {"status_code": 500, "body": body}, "error": null})
    }
}

/// A line that there was no time for.
fn late(line: &Value) -> Value {
    let id = &line["custom_id"];
    if line.get("params").is_some() {
        json!({"custom_id": id, "result": {"type": "expired"}})
    } else if line.get("request").is_some() {
        json!({"key": line["key"], "error": {"code": 4, "message": "too late"}})
    } else {
        json!({"custom_id": id, "response": null, "error": {"code": "batch_expired", "message": "too late"}})
    }
}

fn openai(id: &str, job: &Job, faults: &BatchFaults) -> Value {
    let status = match (job.cancelled, job.finished) {
        (true, _) => "cancelled",
        (false, true) if faults.claims_failure => "failed",
        (false, true) if job.made() < job.lines.len() => "expired",
        (false, true) => "completed",
        (false, false) => "in_progress",
    };
    let file = |kind: &str, is_there: bool| match (is_there && !faults.no_files, faults.empty_ids) {
        (true, _) => json!(format!("{kind}-{id}")),
        (false, true) => json!(""),
        (false, false) => Value::Null,
    };
    let failed = if job.finished { job.failed() } else { 0 };
    let counts = if faults.no_counts {
        json!({"total": 0, "completed": 0, "failed": 0})
    } else {
        json!({"total": job.lines.len(), "completed": job.paid(), "failed": failed})
    };
    json!({
        "id": id, "object": "batch", "status": status,
        "metadata": if faults.no_names { &Value::Null } else { &job.metadata },
        "errors": (status == "failed").then(|| json!({"data": [{"code": "token_limit_exceeded", "message": "queue is full"}]})),
        "output_file_id": file("out", job.finished),
        "error_file_id": file("err", job.finished && job.failed() > 0),
        "request_counts": counts,
    })
}

fn anthropic(id: &str, job: &Job, address: SocketAddr, faults: &BatchFaults) -> Value {
    let over = job.finished || job.cancelled;
    let all = job.lines.len();
    let failed = if job.finished { job.failed() } else { 0 };
    let counts = if faults.no_counts {
        json!({})
    } else {
        json!({
            "processing": if over { 0 } else { all }, "succeeded": job.paid(), "errored": failed,
            "canceled": if job.cancelled { all - job.paid() - failed } else { 0 },
            "expired": if job.finished { all - job.made() } else { 0 },
        })
    };
    json!({
        "id": id, "type": "message_batch", "processing_status": if over { "ended" } else { "in_progress" },
        "request_counts": counts,
        "results_url": (over && !faults.no_files).then(|| format!("http://{address}/v1/messages/batches/{id}/results")),
    })
}

fn gemini(id: &str, job: &Job, faults: &BatchFaults) -> Value {
    let state = match (job.cancelled, job.finished) {
        (true, _) => "BATCH_STATE_CANCELLED",
        (false, true) if faults.claims_failure => "BATCH_STATE_FAILED",
        (false, true) if job.made.is_some() => "BATCH_STATE_EXPIRED",
        (false, true) => "BATCH_STATE_SUCCEEDED",
        (false, false) => "BATCH_STATE_RUNNING",
    };
    let file = || json!({"responsesFile": id.replace("batches/", "files/out-")});
    let name = if faults.no_names {
        &Value::Null
    } else {
        &job.metadata
    };
    let stats = if faults.no_counts {
        json!({})
    } else {
        json!({"requestCount": job.lines.len().to_string()})
    };
    json!({
        "name": id, "done": job.finished || job.cancelled,
        "error": (state == "BATCH_STATE_FAILED").then(|| json!({"code": 8, "message": "queue is full"})),
        "metadata": {
            "state": state, "displayName": name, "batchStats": stats,
            "output": (job.finished && job.made.is_none() && !faults.no_files).then(file),
        },
    })
}
