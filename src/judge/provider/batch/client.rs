//! The calls around batches, and what they share.

use crate::judge::call::{CallError, FailureCause, Retry};
use crate::judge::provider::address::join;
use crate::judge::provider::connection::ApiConnection;
use crate::judge::provider::error_response;
use crate::judge::provider::response::HttpResponse;
use crate::judge::provider::settings::JudgeSettings;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Method, Url};
use serde_json::Value;

/// The longest line of results, in bytes.
const LINE_BYTES: usize = 16 << 20;

pub(crate) struct BatchClient<'a> {
    pub(crate) settings: &'a JudgeSettings,
    pub(crate) connection: &'a ApiConnection,
}

impl BatchClient<'_> {
    pub(crate) fn at(&self, path: &str) -> Url {
        join(&self.connection.base, path)
    }

    pub(crate) async fn ask(
        &self,
        method: Method,
        url: &Url,
        more: HeaderMap,
        body: Option<Vec<u8>>,
    ) -> Result<HttpResponse, CallError> {
        let mut headers = if url.origin() == self.connection.base.origin() {
            self.connection.headers.clone()
        } else {
            HeaderMap::new()
        };
        headers.extend(more);
        let sent = self.connection.http.send(method, url, headers, body).await;
        let received = sent.map_err(|error| self.connection.redact_error(error))?;
        if received.is_ok() {
            return Ok(received);
        }
        Err(self
            .connection
            .redact_error(error_response::from_response(self.settings, &received)))
    }

    pub(crate) async fn json(
        &self,
        method: Method,
        url: &Url,
        body: Option<Vec<u8>>,
    ) -> Result<Value, CallError> {
        let received = self.ask(method, url, HeaderMap::new(), body).await?;
        if received.body.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&received.body)
            .map_err(|_| self.connection.redact_error(no_json(&received)))
    }

    /// Hands the lines of a file on, one at a time; only one is held.
    pub(crate) async fn lines(
        &self,
        url: &Url,
        each: &mut (dyn FnMut(&str) + Send),
    ) -> Result<(), CallError> {
        let mut kept: Vec<u8> = Vec::new();
        let mut bad = false;
        let mut received = self
            .connection
            .http
            .stream(
                Method::GET,
                url,
                self.connection.headers.clone(),
                None,
                &mut |status, chunk| {
                    kept.extend_from_slice(chunk);
                    bad = !(200..300).contains(&status);
                    while let Some(end) =
                        kept.iter().position(|byte| *byte == b'\n').filter(|_| !bad)
                    {
                        let line: Vec<u8> = kept.drain(..=end).collect();
                        hand_on(&line, each);
                    }
                    kept.len() <= LINE_BYTES
                },
            )
            .await
            .map_err(|error| self.connection.redact_error(error))?;
        if bad || !received.is_ok() {
            received.body = kept;
            return Err(self
                .connection
                .redact_error(error_response::from_response(self.settings, &received)));
        }
        hand_on(&kept, each);
        Ok(())
    }
}

/// What is no JSON here is a page of some server in between: nothing was paid for, and it may pass.
fn no_json(received: &HttpResponse) -> CallError {
    let mut error = error_response::not_json(received);
    (error.cause, error.retry) = (FailureCause::Server, Retry::After(None));
    error.no_answer = false;
    error
}

fn hand_on(line: &[u8], each: &mut (dyn FnMut(&str) + Send)) {
    let line = String::from_utf8_lossy(line);
    if !line.trim().is_empty() {
        each(line.trim());
    }
}

/// An identifier that a provider gave, unless it would lead out of its place in an address.
pub(crate) fn checked(id: &str) -> Result<&str, CallError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    if !id.is_empty() && id.chars().all(plain) && !id.contains("..") {
        Ok(id)
    } else {
        Err(CallError::new(
            FailureCause::BadRequest,
            format!("{id:?} is no id of a batch or a file"),
        ))
    }
}

pub(crate) fn unclear(what: &str) -> CallError {
    CallError::new(
        FailureCause::Server,
        format!("the provider's answer does not tell {what}"),
    )
}

pub(super) fn header(name: &'static str, value: &'static str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(name, HeaderValue::from_static(value));
    headers
}

pub(super) fn content_type(value: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(CONTENT_TYPE, value);
    }
    headers
}

/// A body as if it had come alone.
pub(super) fn as_received(status: u16, body: &Value) -> HttpResponse {
    HttpResponse {
        status,
        body: body.to_string().into_bytes(),
        ..HttpResponse::default()
    }
}
