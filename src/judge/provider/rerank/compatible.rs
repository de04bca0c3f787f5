//! Servers with Cohere's API: vLLM, LiteLLM, llama.cpp.

use super::rerank_provider::RerankProvider;
use crate::judge::call::CallError;
use crate::judge::provider::address::join;
use crate::judge::provider::error_body::ErrorBody;
use crate::judge::provider::response::HttpResponse;
use crate::judge::provider::service::{Service, ServiceAccess};
use crate::judge::provider::settings::JudgeSettings;
use reqwest::Url;

/// llama.cpp's message for a query and a document that exceed its batch of tokens.
const LLAMA_TOO_LARGE: &str = "too large to process";

/// Any server with Cohere's API.
#[derive(Clone, Copy, Debug)]
pub(super) struct CompatibleReranker;

impl Service for CompatibleReranker {
    fn name(&self) -> &'static str {
        "compatible"
    }

    fn access(&self) -> ServiceAccess {
        ServiceAccess::local("")
    }
}

impl RerankProvider for CompatibleReranker {
    fn route(&self, base: &Url, _: &str) -> Url {
        join(base, "/rerank")
    }

    fn server_decides_model(&self) -> bool {
        true
    }

    fn refusal(
        &self,
        _: &JudgeSettings,
        received: &HttpResponse,
        mut error: CallError,
    ) -> CallError {
        if error.message.contains(LLAMA_TOO_LARGE) {
            error.message = format!(
                "{}; lower max_document_chars, or start the server with larger --batch-size and \
                 --ubatch-size",
                ErrorBody::read(&received.body).shown()
            );
        }
        error
    }
}
