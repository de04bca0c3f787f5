//! Azure OpenAI: OpenAI's format at the user's own address, with a deployment name as model.

use super::connection::percent_encoded;
use super::learnt::{Learnt, StepsLeft};
use super::provider_trait::Provider;
use super::response::HttpResponse;
use super::service::{CallOptions, KeyHeader, Service, ServiceAccess, VendorKey};
use super::settings::JudgeSettings;
use super::wire_format::WireFormat;
use super::{chat, error_response, openai};
use crate::judge::call::{CallError, JudgePrompt, JudgeReply};
use reqwest::Url;
use serde_json::Value;

/// Azure's format.
#[derive(Clone, Copy, Debug, Default)]
pub struct Azure;

/// The variable of an Entra token; all others contain keys.
const TOKEN: &str = "AZURE_OPENAI_AD_TOKEN";

impl Service for Azure {
    fn name(&self) -> &'static str {
        "azure"
    }

    fn access(&self) -> ServiceAccess {
        let key = VendorKey {
            other_variables: &["AZURE_API_KEY", "AZURE_INFERENCE_CREDENTIAL"],
            ..VendorKey::new(
                &[TOKEN, "AZURE_OPENAI_API_KEY"],
                &[
                    ".openai.azure.com",
                    ".openai.azure.us",
                    ".cognitiveservices.azure.com",
                    ".services.ai.azure.com",
                    ".api.cognitive.microsoft.com",
                ],
            )
        };
        ServiceAccess::cloud(key, "", "AZURE_OPENAI_ENDPOINT")
    }

    fn key_header(&self, variable: &str) -> KeyHeader {
        if variable == TOKEN {
            KeyHeader::BEARER
        } else {
            KeyHeader::bare("api-key")
        }
    }
}

impl Provider for Azure {
    fn format(&'static self) -> Box<dyn WireFormat> {
        Box::new(*self)
    }

    fn url(&self, base: &Url, options: CallOptions<'_>) -> Url {
        address(base, options.model, options.api_version)
    }
}

impl WireFormat for Azure {
    fn build_request(
        &self,
        settings: &JudgeSettings,
        prompt: &JudgePrompt,
        learnt: Learnt,
    ) -> Value {
        chat::request(settings, prompt, &openai::dialect(settings, learnt))
    }

    fn steps_left(&self, settings: &JudgeSettings, learnt: Learnt) -> StepsLeft {
        openai::steps_left(settings, learnt)
    }

    fn caps(&self) -> &'static [&'static str] {
        chat::CAPS
    }

    fn parse_response(
        &self,
        settings: &JudgeSettings,
        received: &HttpResponse,
    ) -> Result<JudgeReply, CallError> {
        let value = error_response::json(settings, received);
        let mut result = value.and_then(|value| self.parse_reply(settings, &value, received));
        // Azure sends -1 and 0 for unknown values.
        let limits = match &mut result {
            Ok(reply) => &mut reply.limits,
            Err(error) => &mut error.exchange.limits,
        };
        limits.requests_remaining = limits.requests_remaining.filter(|left| *left > 0);
        limits.tokens_remaining = limits.tokens_remaining.filter(|left| *left > 0);
        result
    }
}

/// The address of calls to `deployment`: the version 1 route, or the dated one if `api_version` is
/// a date.
pub fn address(endpoint: &Url, deployment: &str, api_version: Option<&str>) -> Url {
    let path = endpoint.path().trim_end_matches('/');
    let root = path
        .strip_suffix("/openai/v1")
        .or_else(|| path.strip_suffix("/openai"))
        .unwrap_or(path);
    let route = match api_version {
        Some(_) => format!("deployments/{}", percent_encoded(deployment)),
        None => "v1".to_owned(),
    };
    let mut url = endpoint.clone();
    url.set_path(&format!("{root}/openai/{route}/chat/completions"));
    if let Some(version) = api_version {
        url.query_pairs_mut().append_pair("api-version", version);
    }
    url
}

#[cfg(test)]
mod tests {
    use super::super::testing::{received, settings};
    use super::*;
    use crate::judge::call::{FailureCause, Retry};
    use serde_json::json;

    #[test]
    fn any_endpoint_is_taken() {
        let to = |endpoint: &str, version| {
            address(&Url::parse(endpoint).unwrap(), "my gpt", version).to_string()
        };
        for endpoint in [
            "https://r.openai.azure.com",
            "https://r.openai.azure.com/",
            "https://r.openai.azure.com/openai/v1/",
        ] {
            assert_eq!(
                to(endpoint, None),
                "https://r.openai.azure.com/openai/v1/chat/completions"
            );
        }
        assert_eq!(
            to("https://r.openai.azure.com/openai", Some("2024-10-21")),
            "https://r.openai.azure.com/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21"
        );
    }

    #[test]
    fn its_input_filter_is_no_bad_request() {
        let body = json!({"error": {"message": "..", "type": null, "param": "prompt", "code": "content_filter", "status": 400,
            "innererror": {"code": "ResponsibleAIPolicyViolation"}}});
        let error = Azure
            .parse_response(&settings("azure", "mine"), &received(400, &body))
            .unwrap_err();
        assert_eq!(
            (error.cause, error.retry, error.stops_judge),
            (FailureCause::Filtered, Retry::Never, false)
        );
    }
}
