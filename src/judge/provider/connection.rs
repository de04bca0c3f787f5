//! The address of a judge's calls, and its key, which is removed from everything the server returns
//! before it is shown or stored.

use super::http::Http;
use super::key_command::RenewableKey;
use super::response::HttpResponse;
use crate::judge::batch::BatchStatus;
use crate::judge::call::{CallError, Exchange, JudgeReply};
use reqwest::header::HeaderMap;
use reqwest::{Method, Url};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use std::fmt;

/// Replacement for a key.
const HIDDEN: &str = "[key]";
/// Shorter keys are placeholders for servers that need none: `x`, `none`, `EMPTY`, `ollama`.
/// Answers contain such words.
const SHORTEST: usize = 8;
/// The same for the password of basic authentication, which people choose shorter.
const SHORTEST_PASSWORD: usize = 4;

/// The address of calls, with the key in the headers.
#[derive(Clone)]
pub struct ApiConnection {
    /// The client, shared by all judges.
    pub http: Http,
    /// The URL of a single call.
    pub url: Url,
    /// The server's root, for batches.
    pub base: Url,
    /// Sent with every call.
    pub headers: HeaderMap,
    /// The key, which is removed from responses.
    pub(crate) key: Option<ConnectionKey>,
}

/// A key that calls carry.
#[derive(Clone)]
pub(crate) enum ConnectionKey {
    /// It is one of the headers.
    Fixed(SecretString),
    /// It is one of the headers in another form: all texts that give it away, such as the password
    /// of basic authentication.
    Basic(Vec<SecretString>),
    /// It is added to the headers of each call.
    Renewable(RenewableKey),
}

impl fmt::Debug for ApiConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiConnection")
            .field("url", &self.url.as_str())
            .field("timeouts", &self.http.timeouts())
            .finish_non_exhaustive()
    }
}

impl ApiConnection {
    /// Whether calls carry a key.
    pub fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// The headers of a call, with the current token.
    pub(crate) async fn call_headers(&self) -> Result<HeaderMap, CallError> {
        match &self.key {
            Some(ConnectionKey::Renewable(key)) => key.add_to(&self.headers, &key.token().await?),
            _ => Ok(self.headers.clone()),
        }
    }

    /// Sends JSON to the URL and reads the response.
    pub(crate) async fn post(&self, url: &Url, body: Vec<u8>) -> Result<HttpResponse, CallError> {
        let none = HeaderMap::new();
        self.send(Method::POST, url, none, Some(body)).await
    }

    /// Makes a request with these additional headers. If the server rejects a renewable token, it
    /// is renewed, and the request is made once more: nothing was charged for the rejected one.
    pub(crate) async fn send(
        &self,
        method: Method,
        url: &Url,
        more: HeaderMap,
        body: Option<Vec<u8>>,
    ) -> Result<HttpResponse, CallError> {
        let mut headers = self.headers.clone();
        headers.extend(more);
        let Some(ConnectionKey::Renewable(key)) = &self.key else {
            return self.http.send(method, url, headers, body).await;
        };
        let token = key.token().await?;
        let first = key.add_to(&headers, &token)?;
        let received = self
            .http
            .send(method.clone(), url, first, body.clone())
            .await?;
        if received.status != 401 {
            return Ok(received);
        }
        match key.renewed(&token).await? {
            Some(token) => {
                let again = key.add_to(&headers, &token)?;
                self.http.send(method, url, again, body).await
            }
            None => Ok(received),
        }
    }

    /// All keys in every spelling in which a server may repeat them, longest first.
    fn spellings(&self) -> Vec<String> {
        let keys = match &self.key {
            None => Vec::new(),
            Some(ConnectionKey::Fixed(key)) => vec![key.clone()],
            Some(ConnectionKey::Basic(texts)) => texts.clone(),
            Some(ConnectionKey::Renewable(key)) => key.command.issued(),
        };
        let shortest = match &self.key {
            Some(ConnectionKey::Basic(_)) => SHORTEST_PASSWORD,
            _ => SHORTEST,
        };
        let mut all: Vec<String> = keys
            .iter()
            .flat_map(|key| spellings_of(key.expose_secret(), shortest))
            .collect();
        all.sort_by_key(|spelling| std::cmp::Reverse(spelling.len()));
        all.dedup();
        all
    }

    /// The result of a call, with the key removed.
    pub(crate) fn redact_result(
        &self,
        result: Result<JudgeReply, CallError>,
    ) -> Result<JudgeReply, CallError> {
        match result {
            Ok(mut reply) => {
                let spellings = self.spellings();
                hide(&spellings, &mut reply.text);
                for field in [
                    &mut reply.model,
                    &mut reply.stop_reason,
                    &mut reply.request_id,
                    &mut reply.fingerprint,
                ] {
                    hide_in(&spellings, field);
                }
                Ok(reply)
            }
            Err(error) => Err(self.redact_error(error)),
        }
    }

    /// A text with the key removed.
    pub(crate) fn redact_text(&self, mut text: String) -> String {
        hide(&self.spellings(), &mut text);
        text
    }

    /// A failure with the key removed.
    pub(crate) fn redact_error(&self, mut error: CallError) -> CallError {
        let spellings = self.spellings();
        hide(&spellings, &mut error.message);
        hide_in(&spellings, &mut error.raw);
        *error.exchange = self.redact_exchange(*error.exchange);
        error
    }

    /// The data of a call with the key removed.
    pub(crate) fn redact_exchange(&self, mut exchange: Exchange) -> Exchange {
        let spellings = self.spellings();
        for field in [
            &mut exchange.model,
            &mut exchange.stop_reason,
            &mut exchange.request_id,
        ] {
            hide_in(&spellings, field);
        }
        exchange
    }

    /// The status of a batch with the key removed.
    pub(crate) fn redact_status(&self, mut status: BatchStatus) -> BatchStatus {
        hide_in(&self.spellings(), &mut status.message);
        status
    }
}

/// A key in every spelling in which a server may repeat it.
fn spellings_of(key: &str, shortest: usize) -> Vec<String> {
    if key.len() < shortest {
        return Vec::new();
    }
    let json = Value::from(key).to_string();
    let json = json.trim_matches('"').to_owned();
    let slashes = json.replace('/', "\\/");
    let form = percent_encoded(key).replace("%20", "+");
    let encoded = percent_encoded(key);
    let lower = lower_digits(&encoded);
    vec![key.to_owned(), json, slashes, form, encoded, lower]
}

fn hide_in(spellings: &[String], field: &mut Option<String>) {
    if let Some(text) = field {
        hide(spellings, text);
    }
}

fn hide(spellings: &[String], text: &mut String) {
    for spelling in spellings {
        if text.contains(spelling.as_str()) {
            *text = text.replace(spelling.as_str(), HIDDEN);
        }
    }
}

/// The text with everything escaped that has a meaning in addresses.
pub(crate) fn percent_encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

/// The same with the hexadecimal digits of its escapes in lowercase.
fn lower_digits(encoded: &str) -> String {
    let mut digits = 0;
    let lower = |c: char| match c {
        '%' => {
            digits = 2;
            c
        }
        c if digits > 0 => {
            digits -= 1;
            c.to_ascii_lowercase()
        }
        c => c,
    };
    encoded.chars().map(lower).collect()
}
