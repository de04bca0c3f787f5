//! The API calls shared by all batch formats.

use crate::judge::batch::NotSubmitted;
use crate::judge::call::{CallError, FailureCause, Retry};
use crate::judge::provider::address::join;
use crate::judge::provider::connection::{ApiConnection, percent_encoded};
use crate::judge::provider::error_response;
use crate::judge::provider::response::HttpResponse;
use crate::judge::provider::settings::JudgeSettings;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Method, Url};
use serde_json::Value;

/// The number of batches on a page of a list.
pub(crate) const LISTED: usize = 100;

/// Maximum length of a line of results, in bytes.
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
        let sent = if url.origin() == self.connection.base.origin() {
            self.connection.send(method, url, more, body).await
        } else {
            self.connection.http.send(method, url, more, body).await
        };
        let received = sent.map_err(|error| self.connection.redact_error(error))?;
        if received.is_ok() {
            return Ok(received);
        }
        Err(self
            .connection
            .redact_error(error_response::from_response(self.settings, &received)))
    }

    /// Makes a request and returns what `pick` finds in the JSON of the answer. If it finds
    /// nothing, the failure says so in the provider's words or, without any, that `what` is
    /// missing.
    pub(crate) async fn picked<T>(
        &self,
        method: Method,
        url: &Url,
        body: Option<Vec<u8>>,
        what: &str,
        pick: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<T, CallError> {
        let received = self.ask(method, url, HeaderMap::new(), body).await?;
        self.pick(&received, what, pick)
    }

    /// Returns what `pick` finds in the JSON of an answer, or fails like [`BatchClient::picked`].
    pub(crate) fn pick<T>(
        &self,
        received: &HttpResponse,
        what: &str,
        pick: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<T, CallError> {
        let value = if received.body.is_empty() {
            Value::Null
        } else {
            serde_json::from_slice(&received.body)
                .map_err(|_| self.connection.redact_error(no_json(received)))?
        };
        pick(&value).ok_or_else(|| {
            let reported = error_response::inner(self.settings, &value, received);
            self.connection
                .redact_error(reported.unwrap_or_else(|| unclear(what)))
        })
    }

    /// The first lines of a file; fewer, or none, if reading it fails.
    pub(crate) async fn first_lines(&self, url: &Url, most: usize) -> Vec<String> {
        let mut kept: Vec<u8> = Vec::new();
        let mut is_good = false;
        let mut each = |status: u16, chunk: &[u8]| {
            kept.extend_from_slice(chunk);
            is_good = (200..300).contains(&status);
            let lines = kept.iter().filter(|byte| **byte == b'\n').count();
            is_good && kept.len() <= LINE_BYTES && lines < most
        };
        let Ok(headers) = self.connection.call_headers().await else {
            return Vec::new();
        };
        // The reading ends with an error if there is more than is wanted.
        let http = &self.connection.http;
        drop(
            http.stream(Method::GET, url, headers, None, &mut each)
                .await,
        );
        if !is_good {
            return Vec::new();
        }
        String::from_utf8_lossy(&kept)
            .lines()
            .take(most)
            .map(str::to_owned)
            .collect()
    }

    /// Calls `each` with the lines of a file, one at a time; only one is in memory.
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
                self.connection.call_headers().await?,
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

/// A response that is not JSON is a page of some server in between: nothing was paid for, and it
/// may be transient.
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

/// An id of the provider as one segment of an address. Ids may hold any characters.
pub(crate) fn id_segment(id: &str) -> Result<String, CallError> {
    if matches!(id, "" | "." | "..") {
        Err(CallError::new(
            FailureCause::BadRequest,
            format!("{id:?} cannot be the id of a batch or a file"),
        ))
    } else {
        Ok(percent_encoded(id))
    }
}

/// A resource name of the provider, whose parts are segments of an address.
pub(crate) fn id_path(name: &str) -> Result<String, CallError> {
    let segments: Vec<String> = name.split('/').map(id_segment).collect::<Result<_, _>>()?;
    Ok(segments.join("/"))
}

/// The id at a JSON pointer, if it can be used as one.
pub(crate) fn id_at(value: &Value, pointer: &str) -> Option<String> {
    let id = match value.pointer(pointer)? {
        Value::String(id) => id.clone(),
        Value::Number(id) => id.to_string(),
        _ => return None,
    };
    (!id.trim().is_empty() && id_segment(&id).is_ok()).then_some(id)
}

/// The names of files at JSON pointers. Providers leave a file out, write null or write an empty
/// name if there is none.
pub(crate) fn files_at(value: &Value, pointers: &[&str]) -> Vec<String> {
    pointers.iter().filter_map(|at| id_at(value, at)).collect()
}

/// A failure of the call that creates a batch. The batch may exist unless the provider was never
/// reached or refused it.
pub(crate) fn not_created(error: CallError) -> NotSubmitted {
    let may_exist = match error.exchange.status {
        Some(408 | 409 | 499) => true,
        Some(status) => !(300..500).contains(&status),
        None => error.exchange.sent,
    };
    NotSubmitted { error, may_exist }
}

pub(crate) fn unclear(what: &str) -> CallError {
    let mut error = CallError::new(
        FailureCause::Server,
        format!("the provider's answer does not say {what}"),
    );
    error.exchange.sent = true;
    error
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

/// A body as if it had been received in its own response.
pub(super) fn as_received(status: u16, body: &Value) -> HttpResponse {
    HttpResponse {
        status,
        body: body.to_string().into_bytes(),
        ..HttpResponse::default()
    }
}
