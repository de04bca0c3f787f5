//! The trait of a provider's format of batches: addresses, lines and their results.

use super::client::BatchClient;
use crate::judge::batch::{BatchResult, BatchStatus, UnconfirmedBatch};
use crate::judge::call::{CallError, JudgeReply};
use crate::judge::provider::response::HttpResponse;
use crate::judge::provider::settings::JudgeSettings;
use futures::future::BoxFuture;
use reqwest::Url;
use serde_json::Value;
use std::fmt;

/// How a line is read once its body is found.
pub(crate) type ReadResponse<'a> = &'a dyn Fn(&HttpResponse) -> Result<JudgeReply, CallError>;

pub(crate) trait BatchFormat: Send + Sync + fmt::Debug {
    fn path(&self) -> &'static str;

    /// What the provider calls the number of batches that a list is to hold.
    fn page_size_name(&self) -> &'static str;

    fn batch_path(&self, id: &str) -> String {
        format!("{}/{id}", self.path())
    }

    fn cancel_path(&self, id: &str) -> String {
        format!("{}/cancel", self.batch_path(id))
    }

    /// The line that asks for the call with this body.
    fn line(&self, id: &str, body: Value) -> Value;

    /// What a line of results says; `None` where it is none.
    fn result(
        &self,
        settings: &JudgeSettings,
        value: &Value,
        read: ReadResponse<'_>,
    ) -> Option<BatchResult>;

    /// Hands lines over and returns the batch's id.
    fn submit<'a>(
        &'a self,
        client: BatchClient<'a>,
        name: &'a str,
        lines: &'a [String],
    ) -> BoxFuture<'a, Result<String, CallError>>;

    /// The ids of the batches in a list that may be the one that was not confirmed.
    fn find(&self, list: &Value, unconfirmed: UnconfirmedBatch<'_>) -> Vec<String>;

    fn status(&self, value: &Value) -> Option<BatchStatus>;

    /// Where the results of a batch lie.
    fn result_urls(
        &self,
        client: &BatchClient<'_>,
        id: &str,
        status: &BatchStatus,
    ) -> Result<Vec<Url>, CallError>;
}
