//! The trait for a provider's batch format: addresses, lines and their results.

use super::client::{BatchClient, LISTED, id_at, id_segment};
use crate::judge::batch::{BatchAnswer, BatchStatus, NotSubmitted};
use crate::judge::call::{CallError, JudgeReply};
use crate::judge::provider::response::HttpResponse;
use crate::judge::provider::settings::JudgeSettings;
use futures::future::BoxFuture;
use reqwest::Url;
use serde_json::Value;
use std::fmt;

/// Parses the response of a line once its body is found.
pub(crate) type ReadResponse<'a> = &'a dyn Fn(&HttpResponse) -> Result<JudgeReply, CallError>;

/// A batch as a list of batches shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListedBatch {
    /// `None` if it has no id that can be used.
    pub(crate) id: Option<String>,
    /// The name that its submitter gave it, empty if it has other metadata instead; `None` without
    /// any.
    pub(crate) mark: Option<String>,
    pub(crate) status: Option<BatchStatus>,
}

/// Whether and how a list continues after a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NextPage {
    /// This was the last page.
    None,
    /// The next page starts after this cursor.
    After(String),
    /// There is another page, but this one does not say how to request it.
    Unknown,
}

/// A page of a list of batches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BatchPage {
    pub(crate) jobs: Vec<ListedBatch>,
    pub(crate) next: NextPage,
}

/// The next page of a list that reports whether there are more batches, and the last id.
pub(crate) fn next_page(list: &Value, jobs: &[ListedBatch]) -> NextPage {
    let cursor = || {
        let last = jobs.last().and_then(|job| job.id.clone());
        id_at(list, "/last_id").or(last)
    };
    let has_more = list.get("has_more").and_then(Value::as_bool);
    if has_more.unwrap_or(jobs.len() >= LISTED) {
        cursor().map_or(NextPage::Unknown, NextPage::After)
    } else {
        NextPage::None
    }
}

pub(crate) trait BatchFormat: Send + Sync + fmt::Debug {
    fn path(&self) -> &'static str;

    /// The provider's names of the parameters for the page size and the cursor.
    fn page_parameters(&self) -> (&'static str, &'static str);

    /// The path of a batch.
    fn batch_path(&self, id: &str) -> Result<String, CallError> {
        Ok(format!("{}/{}", self.path(), id_segment(id)?))
    }

    fn cancel_path(&self, id: &str) -> Result<String, CallError> {
        Ok(format!("{}/cancel", self.batch_path(id)?))
    }

    /// The line for a call with this body.
    fn line(&self, id: &str, body: Value) -> Value;

    /// The caller's id of the call that a line of results is about.
    fn result_id(&self, value: &Value) -> Option<String>;

    /// Parses a line of results; `None` if it is not one.
    fn result(
        &self,
        settings: &JudgeSettings,
        value: &Value,
        read: ReadResponse<'_>,
    ) -> Option<BatchAnswer>;

    /// Submits lines and returns the batch's id.
    fn submit<'a>(
        &'a self,
        client: BatchClient<'a>,
        name: &'a str,
        lines: &'a [String],
    ) -> BoxFuture<'a, Result<String, NotSubmitted>>;

    /// A page of the list of batches; `None` if it is not one.
    fn page(&self, list: &Value) -> Option<BatchPage>;

    fn status(&self, value: &Value) -> Option<BatchStatus>;

    /// The addresses of a batch's results.
    fn result_urls(
        &self,
        client: &BatchClient<'_>,
        id: &str,
        status: &BatchStatus,
    ) -> Result<Vec<Url>, CallError>;
}
