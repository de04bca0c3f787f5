//! Pinecone.

use super::rerank_provider::RerankProvider;
use crate::judge::provider::address::join;
use crate::judge::provider::service::{
    CallOptions, InvalidApiVersion, KeyHeader, Service, ServiceAccess, VendorKey,
};
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};

/// The version of the API.
const VERSION: HeaderValue = HeaderValue::from_static("2025-10");

/// Pinecone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pinecone;

impl Service for Pinecone {
    fn name(&self) -> &'static str {
        "pinecone"
    }

    fn access(&self) -> ServiceAccess {
        let key = VendorKey::new(&["PINECONE_API_KEY"], &["api.pinecone.io"]);
        ServiceAccess::cloud(key, "https://api.pinecone.io", "")
    }

    fn key_header(&self, _: &str) -> KeyHeader {
        KeyHeader::bare("api-key")
    }

    fn headers(&self, _: CallOptions<'_>) -> Result<HeaderMap, InvalidApiVersion> {
        let name = HeaderName::from_static("x-pinecone-api-version");
        Ok(HeaderMap::from_iter([(name, VERSION)]))
    }
}

impl RerankProvider for Pinecone {
    fn route(&self, base: &Url, _: &str) -> Url {
        join(base, "/rerank")
    }

    fn request(&self, model: &str, query: &str, documents: &[&str]) -> Value {
        let records: Vec<Value> = documents.iter().map(|text| json!({"text": text})).collect();
        json!({
            "model": model, "query": query, "documents": records, "top_n": documents.len(),
            "return_documents": false, "parameters": {"truncate": "END"},
        })
    }
}
