//! Cohere.

use super::rerank_provider::{RerankProvider, versioned};
use crate::judge::call::{CallError, FailureCause, Retry};
use crate::judge::provider::response::HttpResponse;
use crate::judge::provider::service::{Service, ServiceAccess, VendorKey};
use crate::judge::provider::settings::JudgeSettings;
use reqwest::Url;

/// Number of tokens, including the query, of a part that is counted as a separate document.
const PART: usize = 500;
/// Number of parts per search.
const PARTS: usize = 100;
/// Approximate number of bytes per token of English text.
const BYTES_PER_TOKEN: usize = 4;

/// Cohere.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cohere;

impl Service for Cohere {
    fn name(&self) -> &'static str {
        "cohere"
    }

    fn access(&self) -> ServiceAccess {
        let key = VendorKey::new(
            &["CO_API_KEY", "COHERE_API_KEY"],
            &["api.cohere.com", "api.cohere.ai"],
        );
        ServiceAccess::cloud(key, "https://api.cohere.com", "CO_API_URL")
    }
}

impl RerankProvider for Cohere {
    fn route(&self, base: &Url, _: &str) -> Url {
        versioned(base, &["/v2", "/v1"], "/rerank")
    }

    fn documents(&self) -> usize {
        1_000
    }

    fn counts_searches(&self) -> bool {
        true
    }

    fn expected_searches(&self, documents: &[&str]) -> f64 {
        let parts: usize = documents
            .iter()
            .map(|text| text.len() / BYTES_PER_TOKEN)
            .sum();
        (documents.len() + parts / PART).div_ceil(PARTS).max(1) as f64
    }

    /// No tokenizer produces more than one token per byte.
    fn worst_searches(&self, query: &str, documents: &[&str]) -> f64 {
        let room = PART.saturating_sub(query.len()).max(PART / 2);
        let parts = documents
            .iter()
            .map(|text| text.len().div_ceil(room).max(1));
        parts.sum::<usize>().div_ceil(PARTS).max(1) as f64
    }

    fn refusal(
        &self,
        settings: &JudgeSettings,
        received: &HttpResponse,
        mut error: CallError,
    ) -> CallError {
        match received.status {
            498 => {
                error.cause = FailureCause::Unauthorized;
                error.message = format!("{}; check {}", error.message, settings.key_env);
                error.stopping()
            }
            // The server closed the connection.
            499 => {
                error.cause = FailureCause::Server;
                error.retry = Retry::After(error.exchange.limits.retry_after);
                error
            }
            _ => error,
        }
    }
}
