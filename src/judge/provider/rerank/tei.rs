//! Hugging Face's Text Embeddings Inference.

use super::rerank_provider::RerankProvider;
use crate::judge::call::{CallError, FailureCause, Retry};
use crate::judge::provider::address::join;
use crate::judge::provider::compatible::HUGGING_FACE;
use crate::judge::provider::error_body::ErrorBody;
use crate::judge::provider::response::HttpResponse;
use crate::judge::provider::service::{Service, ServiceAccess};
use crate::judge::provider::settings::JudgeSettings;
use reqwest::Url;
use serde_json::{Value, json};

/// Text Embeddings Inference.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tei;

impl Service for Tei {
    fn name(&self) -> &'static str {
        "tei"
    }

    fn access(&self) -> ServiceAccess {
        ServiceAccess {
            key: HUGGING_FACE,
            ..ServiceAccess::local("http://127.0.0.1:8080")
        }
    }
}

impl RerankProvider for Tei {
    fn route(&self, base: &Url, _: &str) -> Url {
        join(base, "/rerank")
    }

    /// The default of `--max-client-batch-size`.
    fn documents(&self) -> usize {
        32
    }

    /// The body is limited to 2 MB.
    fn bytes(&self) -> usize {
        1_800_000
    }

    fn needs_model(&self) -> bool {
        false
    }

    fn server_decides_model(&self) -> bool {
        true
    }

    fn request(&self, _: &str, query: &str, documents: &[&str]) -> Value {
        json!({
            "query": query, "texts": documents, "raw_scores": false, "return_text": false,
            "truncate": true, "truncation_direction": "Right",
        })
    }

    fn refusal(
        &self,
        _: &JudgeSettings,
        received: &HttpResponse,
        mut error: CallError,
    ) -> CallError {
        match received.status {
            // The model behind the server failed.
            424 => {
                error.cause = FailureCause::Server;
                error.retry = Retry::After(error.exchange.limits.retry_after);
            }
            413 => {
                error.message = format!(
                    "{}; send fewer or shorter documents in one call: lower batch or \
                     max_document_chars (the server tells its max_client_batch_size at /info)",
                    ErrorBody::read(&received.body).shown()
                );
            }
            _ => {}
        }
        error
    }
}
