//! Batches of a judge over HTTP. Results are matched by the ids of their calls, in any order.

use super::RemoteJudge;
use crate::domain::hex::short_hex;
use crate::judge::batch::{
    BatchAnswer, BatchApi, BatchLimits, BatchResult, BatchSearch, BatchState, BatchStatus,
    NotSubmitted, UnconfirmedBatch,
};
use crate::judge::call::{CallError, JudgePrompt, Usage};
use crate::judge::provider::batch::client::{BatchClient, LISTED};
use crate::judge::provider::batch::format::{BatchFormat, ListedBatch, NextPage};
use crate::judge::provider::batch::openai::OpenAiBatches;
use crate::judge::provider::connection::ConnectionKey;
use crate::judge::provider::error_response::{self, ErrorBody};
use crate::judge::provider::response::HttpResponse;
use crate::judge::provider::settings::JudgeSettings;
use futures::FutureExt;
use futures::future::BoxFuture;
use reqwest::Method;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::HashSet;

/// Maximum number of lines in a batch: half the limit of the strictest provider.
const MAX_REQUESTS: usize = 25_000;
/// Maximum number of pages of the provider's list to read.
const MAX_PAGES: usize = 500;
/// Number of result lines to read from a batch of unknown origin.
const OPENED_LINES: usize = 20;
/// After this many listed batches, the results of batches of unknown origin are not opened any
/// more.
const MAX_OPENED: usize = 2_000;
/// Maximum size of a batch in bytes: a file is held in memory while it is sent.
const MAX_BYTES: usize = 64 << 20;

impl RemoteJudge {
    fn batches(&self) -> (&'static dyn BatchFormat, &JudgeSettings) {
        // Without a batch endpoint, this trait is never handed out, so OpenAI's format is just a
        // placeholder.
        match &self.batch {
            Some((format, settings)) => (*format, settings),
            None => (&OpenAiBatches, &self.settings),
        }
    }

    fn batch_client(&self) -> BatchClient<'_> {
        BatchClient {
            settings: &self.settings,
            connection: &self.connection,
        }
    }
}

impl BatchApi for RemoteJudge {
    fn batch_limits(&self) -> BatchLimits {
        let most = self.batches().1.limits.batch_requests;
        BatchLimits {
            requests: most.map_or(MAX_REQUESTS, |most| most.clamp(1, MAX_REQUESTS)),
            bytes: MAX_BYTES,
        }
    }

    fn batch_line(&self, id: &str, prompt: &JudgePrompt) -> Value {
        let (format, settings) = self.batches();
        format.line(id, self.request_with(settings, prompt))
    }

    fn parse_batch_line(&self, line: &str) -> Option<BatchResult> {
        let value: Value = serde_json::from_str(line).ok()?;
        let (format, settings) = self.batches();
        let read = |response: &HttpResponse| {
            error_response::guarded(response, || self.wire.parse_response(settings, response))
        };
        let id = format.result_id(&value)?;
        let answer = match format.result(settings, &value, &read)? {
            BatchAnswer::Answered(answer) => {
                BatchAnswer::Answered(Box::new(self.connection.redact_result(*answer)))
            }
            BatchAnswer::Failed(error) => BatchAnswer::Failed(self.connection.redact_error(error)),
            BatchAnswer::NotMade => BatchAnswer::NotMade,
        };
        Some((id, answer))
    }

    fn batch_cost(&self, prompt: &JudgePrompt) -> (Usage, Option<f64>, Option<f64>) {
        let (_, settings) = self.batches();
        let (usage, cost) = self.expected(settings, prompt);
        (usage, cost, self.bound(settings, prompt).1)
    }

    fn batch_usd_of(&self, usage: &Usage) -> Option<f64> {
        self.batches().1.usd_of(usage)
    }

    fn account(&self, salt: &str) -> String {
        let mut headers: Vec<(&str, &[u8])> = self
            .connection
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_bytes()))
            .collect();
        headers.sort_unstable();
        let base = [("", self.connection.base.as_str().as_bytes())];
        let mut hash = Sha256::new_with_prefix(salt);
        // A renewed key is that of the same account.
        let command = match &self.connection.key {
            Some(ConnectionKey::Renewable(key)) => Some(&key.command),
            _ => None,
        };
        let words = command.into_iter().flat_map(|command| command.words());
        let words = words.map(|word| ("", word.as_bytes()));
        for (name, value) in base.into_iter().chain(headers).chain(words) {
            for part in [name.as_bytes(), value] {
                hash.update((part.len() as u64).to_le_bytes());
                hash.update(part);
            }
        }
        short_hex(&hash.finalize())
    }

    fn submit<'a>(
        &'a self,
        name: &'a str,
        lines: &'a [String],
    ) -> BoxFuture<'a, Result<String, NotSubmitted>> {
        self.batches().0.submit(self.batch_client(), name, lines)
    }

    fn find<'a>(
        &'a self,
        unconfirmed: UnconfirmedBatch<'a>,
    ) -> BoxFuture<'a, Result<BatchSearch, CallError>> {
        self.search(unconfirmed).boxed()
    }

    fn status<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<BatchStatus, CallError>> {
        async move {
            let (format, _) = self.batches();
            let client = self.batch_client();
            let url = client.at(&format.batch_path(id)?);
            let status = client
                .picked(Method::GET, &url, None, "the batch's state", |value| {
                    format.status(value)
                })
                .await
                .map_err(without_advice)?;
            Ok(self.connection.redact_status(status))
        }
        .boxed()
    }

    fn fetch<'a>(
        &'a self,
        id: &'a str,
        status: &'a BatchStatus,
        each: &'a mut (dyn FnMut(&str) + Send),
    ) -> BoxFuture<'a, Result<(), CallError>> {
        async move {
            let client = self.batch_client();
            for url in self.batches().0.result_urls(&client, id, status)? {
                match client.lines(&url, each).await {
                    // The results have a fixed address and are not there yet, since none are named.
                    Err(error) if status.files.is_empty() && is_missing(&error) => {}
                    brought => brought.map_err(without_advice)?,
                }
            }
            Ok(())
        }
        .boxed()
    }

    fn cancel<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), CallError>> {
        async move {
            let client = self.batch_client();
            let url = client.at(&self.batches().0.cancel_path(id)?);
            let accepted =
                |value: &Value| value.get("error").is_none_or(Value::is_null).then_some(());
            client
                .picked(
                    Method::POST,
                    &url,
                    Some(Vec::new()),
                    "whether it stops",
                    accepted,
                )
                .await
                .map_err(without_advice)
        }
        .boxed()
    }
}

impl RemoteJudge {
    /// Reads the provider's list of batches page by page.
    async fn search(&self, unconfirmed: UnconfirmedBatch<'_>) -> Result<BatchSearch, CallError> {
        let (format, _) = self.batches();
        let client = self.batch_client();
        let (size, after) = format.page_parameters();
        let mut found = BatchSearch {
            is_whole: true,
            ..BatchSearch::default()
        };
        let mut cursors = HashSet::new();
        let mut seen = HashSet::new();
        let mut url = client.at(format.path());
        url.query_pairs_mut().append_pair(size, &LISTED.to_string());
        let mut next = url.clone();
        loop {
            let list = |list: &Value| format.page(list);
            let page = client
                .picked(Method::GET, &next, None, "which batches there are", list)
                .await
                .map_err(without_advice)?;
            for job in page.jobs {
                match &job.id {
                    Some(id) if unconfirmed.others.contains(id) || !seen.insert(id.clone()) => {}
                    Some(id) => match self
                        .is_sought(&client, id, &job, unconfirmed, seen.len())
                        .await
                    {
                        Some(true) => found.marked.push(id.clone()),
                        Some(false) => {}
                        None => found.possible.push(id.clone()),
                    },
                    // It may be the sought batch, but without an id it cannot be used.
                    None => found.is_whole = false,
                }
            }
            match page.next {
                NextPage::None => return Ok(found),
                NextPage::After(cursor)
                    if cursors.insert(cursor.clone()) && cursors.len() < MAX_PAGES =>
                {
                    next = url.clone();
                    next.query_pairs_mut().append_pair(after, &cursor);
                }
                // The list repeats a cursor, is too long, or does not say how it continues.
                NextPage::After(_) | NextPage::Unknown => {
                    found.is_whole = false;
                    return Ok(found);
                }
            }
        }
    }

    /// Whether a listed batch is the sought one; `None` if it has no tag at all.
    async fn is_sought(
        &self,
        client: &BatchClient<'_>,
        id: &str,
        job: &ListedBatch,
        unconfirmed: UnconfirmedBatch<'_>,
        checked: usize,
    ) -> Option<bool> {
        if let Some(mark) = &job.mark {
            return Some(mark == unconfirmed.name);
        }
        let status = job.status.as_ref()?;
        let of_other_size = status.total > 0 && status.total != unconfirmed.calls as u64;
        // A batch that was refused as a whole made no call, so it does not matter whose it is.
        let is_refused = status.state == BatchState::Failed && status.is_void();
        if of_other_size || is_refused {
            return Some(false);
        }
        if status.state == BatchState::Running || checked > MAX_OPENED {
            return None;
        }
        let (format, _) = self.batches();
        let mut calls = Vec::new();
        for url in format.result_urls(client, id, status).ok()? {
            let lines = client.first_lines(&url, OPENED_LINES).await;
            calls.extend(lines.iter().filter_map(|line| {
                let value: Value = serde_json::from_str(line).ok()?;
                format.result_id(&value)
            }));
        }
        // A line may be about another call even in a batch of our own, so that one is not enough.
        let is_ours = calls
            .iter()
            .any(|call| call.starts_with(unconfirmed.id_prefix));
        let is_conclusive = is_ours || calls.len() >= OPENED_LINES.min(unconfirmed.calls);
        is_conclusive.then_some(is_ours)
    }
}

/// Whether the provider does not have what was asked for.
fn is_missing(error: &CallError) -> bool {
    matches!(error.exchange.status, Some(404 | 410))
}

/// A failure about a batch or a file that the provider does not have, in the provider's words
/// alone: the advice for a single call is to check the model, which is not the reason here.
fn without_advice(mut error: CallError) -> CallError {
    if let Some(raw) = error.raw.as_ref().filter(|_| is_missing(&error)) {
        error.message = ErrorBody::read(raw.as_bytes()).shown();
    }
    error
}

#[cfg(test)]
mod tests;
