//! An HTTP response as received.

use jiff::Timestamp;
use reqwest::header::HeaderMap;
use std::time::Duration;

#[derive(Clone, Debug, Default)]
pub struct HttpResponse {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    /// From sending the request to receiving the last byte.
    pub latency: Duration,
    /// Size of the request body in bytes.
    pub sent: usize,
    /// When its head arrived, which is the reference for relative times.
    pub at: Timestamp,
}

impl HttpResponse {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    pub(crate) fn is_ok(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The provider's identifier of the call, from the headers.
    pub(crate) fn request_id(&self) -> Option<String> {
        [
            "x-request-id",
            "request-id",
            "apim-request-id",
            "x-goog-request-id",
        ]
        .iter()
        .find_map(|name| self.header(name).map(str::to_owned))
    }
}

/// Maximum number of bytes of a body to keep with a failure.
pub(crate) const KEPT: usize = 16_384;

pub(crate) fn beginning(body: &[u8]) -> String {
    String::from_utf8_lossy(&body[..body.len().min(KEPT)]).into_owned()
}
