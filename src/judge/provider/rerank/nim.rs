//! NVIDIA's NIM: the hosted models, and containers on the user's own servers.

use super::rerank_provider::{RerankProvider, versioned};
use crate::judge::provider::address::join;
use crate::judge::provider::service::{Service, ServiceAccess, VendorKey};
use reqwest::Url;
use serde_json::{Value, json};

/// The server of the hosted models, each of which has its own route there.
const HOSTED: &str = "ai.api.nvidia.com";

/// NIM.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nim;

impl Service for Nim {
    fn name(&self) -> &'static str {
        "nim"
    }

    fn access(&self) -> ServiceAccess {
        let key = VendorKey {
            other_variables: &["NVIDIA_NIM_API_KEY", "NGC_API_KEY"],
            ..VendorKey::new(&["NVIDIA_API_KEY"], &[HOSTED])
        };
        ServiceAccess::cloud(key, "https://ai.api.nvidia.com/v1/retrieval", "")
    }
}

impl RerankProvider for Nim {
    fn route(&self, base: &Url, model: &str) -> Url {
        if base.host_str() == Some(HOSTED) {
            join(base, &format!("/{}/reranking", model.replace('.', "_")))
        } else {
            versioned(base, &["/v1"], "/ranking")
        }
    }

    fn request(&self, model: &str, query: &str, documents: &[&str]) -> Value {
        let passages: Vec<Value> = documents.iter().map(|text| json!({"text": text})).collect();
        json!({"model": model, "query": {"text": query}, "passages": passages, "truncate": "END"})
    }
}
