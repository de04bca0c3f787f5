//! Batches of a judge behind HTTP. Results are matched by the caller's own ids, in any order.

use super::RemoteJudge;
use crate::judge::batch::{
    BatchAnswer, BatchApi, BatchLimits, BatchResult, BatchStatus, UnconfirmedBatch,
};
use crate::judge::call::{CallError, JudgePrompt, Usage};
use crate::judge::provider::batch::client::{BatchClient, checked, unclear};
use crate::judge::provider::batch::format::BatchFormat;
use crate::judge::provider::batch::openai::OpenAiBatches;
use crate::judge::provider::error_response;
use crate::judge::provider::response::HttpResponse;
use crate::judge::provider::settings::JudgeSettings;
use futures::FutureExt;
use futures::future::BoxFuture;
use reqwest::Method;
use serde_json::Value;

/// Lines in one batch at most: half of what the strictest provider takes.
const MAX_REQUESTS: usize = 25_000;
/// Batches that providers list at a time.
const LISTED: usize = 100;
/// Bytes of one batch at most: a file is held in memory while it is sent.
const MAX_BYTES: usize = 64 << 20;

impl RemoteJudge {
    fn batches(&self) -> (&'static dyn BatchFormat, &JudgeSettings) {
        // Without a batch endpoint nobody is handed this trait; OpenAI's format is as good as any then.
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
        let (id, result) = format.result(settings, &value, &read)?;
        let answer = match result.made() {
            Some(made) => self.connection.redact_result(made).into(),
            None => BatchAnswer::NotMade,
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

    fn submit<'a>(
        &'a self,
        name: &'a str,
        lines: &'a [String],
    ) -> BoxFuture<'a, Result<String, CallError>> {
        self.batches().0.submit(self.batch_client(), name, lines)
    }

    fn find<'a>(
        &'a self,
        unconfirmed: UnconfirmedBatch<'a>,
    ) -> BoxFuture<'a, Result<(Vec<String>, bool), CallError>> {
        async move {
            let (format, _) = self.batches();
            let client = self.batch_client();
            let mut url = client.at(format.path());
            url.set_query(Some(&format!("{}={LISTED}", format.page_size_name())));
            let list = client.json(Method::GET, &url, None).await?;
            let listed = ["data", "operations", "batches"]
                .iter()
                .find_map(|at| list.get(at)?.as_array().map(Vec::len));
            let found = format.find(&list, unconfirmed);
            Ok((found, listed.is_none_or(|listed| listed < LISTED)))
        }
        .boxed()
    }

    fn status<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<BatchStatus, CallError>> {
        async move {
            let (format, _) = self.batches();
            let client = self.batch_client();
            let url = client.at(&format.batch_path(checked(id)?));
            let value = client.json(Method::GET, &url, None).await?;
            let status = format.status(&value);
            let status = status.ok_or_else(|| unclear("the batch's state"))?;
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
                client.lines(&url, each).await?;
            }
            Ok(())
        }
        .boxed()
    }

    fn cancel<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), CallError>> {
        async move {
            let client = self.batch_client();
            let url = client.at(&self.batches().0.cancel_path(checked(id)?));
            let answer = client.json(Method::POST, &url, Some(Vec::new())).await;
            answer.map(drop)
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests;
