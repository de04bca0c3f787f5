//! ZeroEntropy.

use super::rerank_provider::{RerankProvider, versioned};
use crate::judge::provider::service::{Service, ServiceAccess, VendorKey};
use reqwest::Url;

/// Bytes that are counted per document in addition to its text and the query's.
const DOCUMENT_OVERHEAD: usize = 150;

/// ZeroEntropy.
#[derive(Clone, Copy, Debug)]
pub(super) struct ZeroEntropy;

impl Service for ZeroEntropy {
    fn name(&self) -> &'static str {
        "zeroentropy"
    }

    fn access(&self) -> ServiceAccess {
        let key = VendorKey::new(
            &["ZEROENTROPY_API_KEY"],
            &["api.zeroentropy.dev", "eu-api.zeroentropy.dev"],
        );
        ServiceAccess::cloud(
            key,
            "https://api.zeroentropy.dev/v1",
            "ZEROENTROPY_BASE_URL",
        )
    }
}

impl RerankProvider for ZeroEntropy {
    fn route(&self, base: &Url, _: &str) -> Url {
        versioned(base, &["/v1"], "/models/rerank")
    }

    fn documents(&self) -> usize {
        1_000
    }

    fn bytes(&self) -> usize {
        5_000_000
    }

    fn bytes_of(&self, query: &str, document: &str) -> usize {
        DOCUMENT_OVERHEAD + query.len() + document.len()
    }
}
