//! Jina.

use super::rerank_provider::{RerankProvider, versioned};
use crate::judge::provider::service::{Service, ServiceAccess, VendorKey};
use reqwest::Url;
use serde_json::{Value, json};

/// Jina.
#[derive(Clone, Copy, Debug)]
pub(super) struct Jina;

impl Service for Jina {
    fn name(&self) -> &'static str {
        "jina"
    }

    fn access(&self) -> ServiceAccess {
        let key = VendorKey::new(&["JINA_API_KEY", "JINA_AI_API_KEY"], &["api.jina.ai"]);
        ServiceAccess::cloud(key, "https://api.jina.ai/v1", "")
    }
}

impl RerankProvider for Jina {
    fn route(&self, base: &Url, _: &str) -> Url {
        versioned(base, &["/v1"], "/rerank")
    }

    fn documents(&self) -> usize {
        1_000
    }

    fn is_listwise(&self, model: &str) -> bool {
        model.starts_with("jina-reranker-v3")
    }

    fn request(&self, model: &str, query: &str, documents: &[&str]) -> Value {
        json!({
            "model": model, "query": query, "documents": documents, "top_n": documents.len(),
            "return_documents": false,
        })
    }
}
