//! Voyage.

use super::rerank_provider::{RerankProvider, versioned};
use crate::judge::provider::service::{Service, ServiceAccess, VendorKey};
use reqwest::Url;
use serde_json::{Value, json};

/// Prefix of the keys issued by Voyage's new owner, and the server for them.
const ELSEWHERE: (&str, &str) = ("al-", "https://ai.mongodb.com/v1");

/// Voyage.
#[derive(Clone, Copy, Debug)]
pub(super) struct Voyage;

impl Service for Voyage {
    fn name(&self) -> &'static str {
        "voyage"
    }

    fn access(&self) -> ServiceAccess {
        let key = VendorKey::new(&["VOYAGE_API_KEY"], &["api.voyageai.com", "ai.mongodb.com"]);
        ServiceAccess::cloud(key, "https://api.voyageai.com/v1", "")
    }
}

impl RerankProvider for Voyage {
    fn route(&self, base: &Url, _: &str) -> Url {
        versioned(base, &["/v1"], "/rerank")
    }

    fn documents(&self) -> usize {
        1_000
    }

    fn base_of_key(&self, key: &str) -> Option<&'static str> {
        key.starts_with(ELSEWHERE.0).then_some(ELSEWHERE.1)
    }

    fn request(&self, model: &str, query: &str, documents: &[&str]) -> Value {
        json!({
            "model": model, "query": query, "documents": documents, "top_k": documents.len(),
            "truncation": true, "return_documents": false,
        })
    }
}
