//! Amazon Bedrock: its OpenAI-compatible chat completions API, with a Bedrock API key.

use super::compatible::{COMPATIBLE, Compatible};
use super::provider_trait::Provider;
use super::service::{Environment, Service, ServiceAccess, VendorKey};
use super::wire_format::WireFormat;

/// Amazon Bedrock.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bedrock;

impl Service for Bedrock {
    fn name(&self) -> &'static str {
        "bedrock"
    }

    fn access(&self) -> ServiceAccess {
        let key = VendorKey::new(
            &["AWS_BEARER_TOKEN_BEDROCK"],
            &[
                "bedrock-runtime.<region>.amazonaws.com",
                "bedrock-mantle.<region>.amazonaws.com",
                "bedrock-mantle.<region>.api.aws",
            ],
        );
        ServiceAccess::cloud(key, "", "AWS_BEDROCK_BASE_URL")
    }

    fn usual_base(&self, env: Environment<'_>) -> Option<String> {
        let region = env("AWS_REGION").or_else(|| env("AWS_DEFAULT_REGION"))?;
        Some(format!(
            "https://bedrock-runtime.{region}.amazonaws.com/openai/v1"
        ))
    }

    fn address_variables(&self) -> Vec<&'static str> {
        vec!["AWS_REGION", "AWS_BEDROCK_BASE_URL"]
    }
}

impl Provider for Bedrock {
    fn format(&'static self) -> Box<dyn WireFormat> {
        Box::new(Compatible {
            name: self.name(),
            ..COMPATIBLE
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_region_names_the_server() {
        let base = |known: &'static str| {
            let env = move |name: &str| (name == known).then(|| "eu-west-1".to_owned());
            Bedrock.usual_base(&env)
        };
        let address = "https://bedrock-runtime.eu-west-1.amazonaws.com/openai/v1";
        assert_eq!(base("AWS_REGION").as_deref(), Some(address));
        assert_eq!(base("AWS_DEFAULT_REGION").as_deref(), Some(address));
        assert_eq!(base("HOME"), None);
    }
}
