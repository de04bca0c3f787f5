//! A provider that does not exist, to test that a file as described in CONTRIBUTING.md is enough.

use super::address::join;
use super::learnt::Learnt;
use super::provider_trait::{Provider, ProviderLimits};
use super::service::{CallOptions, KeyHeader, Service, ServiceAccess, VendorKey};
use super::settings::JudgeSettings;
use super::wire_format::WireFormat;
use crate::judge::call::JudgePrompt;
use reqwest::Url;
use serde_json::{Value, json};

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MadeUp;

impl Service for MadeUp {
    fn name(&self) -> &'static str {
        "made-up"
    }

    fn access(&self) -> ServiceAccess {
        let key = VendorKey::new(&["MADE_UP_API_KEY"], &["api.made-up.example"]);
        ServiceAccess::cloud(key, "https://api.made-up.example", "MADE_UP_BASE_URL")
    }

    fn key_header(&self, _: &str) -> KeyHeader {
        KeyHeader::bare("x-made-up-key")
    }
}

impl Provider for MadeUp {
    fn format(&'static self) -> Box<dyn WireFormat> {
        Box::new(*self)
    }

    fn url(&self, base: &Url, options: CallOptions<'_>) -> Url {
        let version = options.api_version.unwrap_or("v9");
        join(base, &format!("/{version}/made-up/chat/completions"))
    }

    fn limits(&self) -> ProviderLimits {
        ProviderLimits {
            cap: 777,
            ..ProviderLimits::default()
        }
    }
}

impl WireFormat for MadeUp {
    fn build_request(&self, settings: &JudgeSettings, prompt: &JudgePrompt, _: Learnt) -> Value {
        json!({
            "model": settings.spec.model,
            "most": settings.cap(prompt, false),
            "messages": [
                {"role": "rules", "content": prompt.system},
                {"role": "question", "content": prompt.user},
            ],
        })
    }

    fn caps(&self) -> &'static [&'static str] {
        &["/most"]
    }
}
