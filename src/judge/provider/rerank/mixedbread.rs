//! Mixedbread.

use super::rerank_provider::{RerankProvider, versioned};
use crate::judge::provider::service::{Service, ServiceAccess, VendorKey};
use reqwest::Url;
use serde_json::{Value, json};

/// Mixedbread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mixedbread;

impl Service for Mixedbread {
    fn name(&self) -> &'static str {
        "mixedbread"
    }

    fn access(&self) -> ServiceAccess {
        let key = VendorKey::new(
            &["MXBAI_API_KEY"],
            &["api.mixedbread.com", "api.mixedbread.ai"],
        );
        ServiceAccess::cloud(key, "https://api.mixedbread.com/v1", "")
    }
}

impl RerankProvider for Mixedbread {
    fn route(&self, base: &Url, _: &str) -> Url {
        versioned(base, &["/v1"], "/reranking")
    }

    fn request(&self, model: &str, query: &str, documents: &[&str]) -> Value {
        json!({
            "model": model, "query": query, "input": documents, "top_k": documents.len(),
            "return_input": false,
        })
    }
}
