//! Decides where an API key may be sent.
//!
//! Without asking the user, the key in a well-known variable may be sent to its vendor's servers,
//! and any key to this machine. Every other combination of a variable and a server needs the user's
//! permission, because someone else may have written the folder's `overrule.toml`.

use crate::domain::permission::{KeyUse, PermissionRequest};
use crate::judge::provider::address::{is_loopback, place};
use reqwest::Url;

/// Well-known variables with their vendors' servers; a name that starts with a dot stands for all
/// servers below it. Only servers run by the vendor itself are listed: anyone can rent a machine
/// below `.endpoints.huggingface.cloud`.
const KNOWN: &[(&[&str], &[&str])] = &[
    (
        &["OPENAI_API_KEY", "OPENAI_ADMIN_KEY"],
        &["api.openai.com", ".api.openai.com"],
    ),
    (
        &[
            "AZURE_OPENAI_API_KEY",
            "AZURE_OPENAI_AD_TOKEN",
            "AZURE_API_KEY",
            "AZURE_INFERENCE_CREDENTIAL",
        ],
        &[
            ".openai.azure.com",
            ".openai.azure.us",
            ".cognitiveservices.azure.com",
            ".services.ai.azure.com",
            ".api.cognitive.microsoft.com",
        ],
    ),
    (
        &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"],
        &["api.anthropic.com"],
    ),
    (
        &["GOOGLE_API_KEY", "GEMINI_API_KEY"],
        &["generativelanguage.googleapis.com"],
    ),
    (&["OPENROUTER_API_KEY"], &["openrouter.ai"]),
    (&["GROQ_API_KEY"], &["api.groq.com"]),
    (
        &["TOGETHER_API_KEY"],
        &["api.together.ai", "api.together.xyz"],
    ),
    (&["MISTRAL_API_KEY"], &["api.mistral.ai"]),
    (&["DEEPSEEK_API_KEY"], &["api.deepseek.com"]),
    (&["OLLAMA_API_KEY"], &["ollama.com", ".ollama.com"]),
    (
        &["COHERE_API_KEY", "CO_API_KEY"],
        &["api.cohere.com", "api.cohere.ai"],
    ),
    (&["VOYAGE_API_KEY"], &["api.voyageai.com", "ai.mongodb.com"]),
    (&["JINA_API_KEY", "JINA_AI_API_KEY"], &["api.jina.ai"]),
    (
        &["ZEROENTROPY_API_KEY"],
        &["api.zeroentropy.dev", "eu-api.zeroentropy.dev"],
    ),
    (&["XAI_API_KEY"], &["api.x.ai"]),
    (&["FIREWORKS_API_KEY"], &["api.fireworks.ai"]),
    (&["CEREBRAS_API_KEY"], &["api.cerebras.ai"]),
    (&["PERPLEXITY_API_KEY"], &["api.perplexity.ai"]),
    (&["NVIDIA_API_KEY"], &["integrate.api.nvidia.com"]),
    (
        &["DASHSCOPE_API_KEY"],
        &["dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com"],
    ),
    (
        &["MOONSHOT_API_KEY"],
        &["api.moonshot.ai", "api.moonshot.cn"],
    ),
    (
        &[
            "HF_TOKEN",
            "HUGGING_FACE_HUB_TOKEN",
            "HUGGINGFACEHUB_API_TOKEN",
        ],
        &["router.huggingface.co", "api-inference.huggingface.co"],
    ),
];

/// A key about to be sent.
pub(super) struct KeyDestination<'a> {
    /// The variable that contains it.
    pub(super) variable: &'a str,
    pub(super) to: &'a Url,
    /// Whether the address comes from the user's own environment, for keys of this provider.
    pub(super) address_is_users: bool,
    /// The servers trusted by the user's own configuration.
    pub(super) trusted: &'a [String],
    /// Whether the command line allows sending keys unencrypted.
    pub(super) insecure_http: bool,
}

/// Whether a key may be sent to its destination.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum KeyDecision {
    Send,
    /// Only if the user allows it.
    Ask(PermissionRequest),
    /// Never, for this reason.
    Refuse(String),
}

impl KeyDestination<'_> {
    pub(super) fn decide(&self) -> KeyDecision {
        let host = self.to.host_str().unwrap_or_default();
        let trusted = || {
            let mut trusted = self.trusted.iter();
            trusted.any(|trusted| trusted.eq_ignore_ascii_case(host))
        };
        let is_encrypted = self.to.scheme() == "https" || self.insecure_http;
        let is_vendors = is_vendors(self.variable, host);
        if is_loopback(self.to)
            || is_encrypted && (is_vendors || self.address_is_users || trusted())
        {
            KeyDecision::Send
        } else if is_vendors {
            let (variable, place) = (self.variable, place(self.to));
            KeyDecision::Refuse(format!(
                "{variable} is not sent to {place} unencrypted; use https"
            ))
        } else {
            KeyDecision::Ask(PermissionRequest::Key(KeyUse {
                variable: self.variable.to_owned(),
                server: self.to.origin().ascii_serialization(),
            }))
        }
    }
}

fn is_vendors(variable: &str, host: &str) -> bool {
    // On some systems, variable names are case-insensitive.
    let named = |known: &&str| known.eq_ignore_ascii_case(variable);
    KNOWN
        .iter()
        .filter(|(variables, _)| variables.iter().any(named))
        .flat_map(|(_, hosts)| *hosts)
        .any(|vendors| {
            if vendors.starts_with('.') {
                host.ends_with(vendors)
            } else {
                host == *vendors
            }
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decide(variable: &str, to: &str) -> KeyDecision {
        KeyDestination {
            variable,
            to: &Url::parse(to).unwrap(),
            address_is_users: false,
            trusted: &["Gateway.example.com".to_owned()],
            insecure_http: false,
        }
        .decide()
    }

    #[test]
    fn without_asking_a_key_goes_to_its_vendor_to_this_machine_and_to_trusted_servers() {
        for (variable, to) in [
            ("OPENAI_API_KEY", "https://api.openai.com/v1"),
            ("OPENAI_API_KEY", "https://eu.api.openai.com/v1"),
            ("openai_api_key", "https://api.openai.com/v1"),
            ("OPENAI_API_KEY", "http://127.0.0.1:8000/v1"),
            ("OPENAI_API_KEY", "http://localhost:8000/v1"),
            ("OPENAI_API_KEY", "https://gateway.example.com/v1"),
            ("AZURE_OPENAI_API_KEY", "https://mine.openai.azure.com"),
            ("ANTHROPIC_API_KEY", "https://api.anthropic.com"),
            (
                "GEMINI_API_KEY",
                "https://generativelanguage.googleapis.com",
            ),
            ("HF_TOKEN", "https://router.huggingface.co/v1"),
            ("MY_KEY", "http://[::1]:8000/v1"),
        ] {
            assert_eq!(decide(variable, to), KeyDecision::Send, "{variable} {to}");
        }
    }

    #[test]
    fn every_other_combination_needs_permission() {
        for (variable, to, server) in [
            (
                "OPENAI_API_KEY",
                "https://gw.example.com/v1",
                "https://gw.example.com",
            ),
            (
                "OPENAI_API_KEY",
                "https://api.openai.com.example.com/v1",
                "https://api.openai.com.example.com",
            ),
            (
                "OPENAI_API_KEY",
                "https://evilapi.openai.com/v1",
                "https://evilapi.openai.com",
            ),
            (
                "OPENAI_API_KEY",
                "https://api.openai.com./v1",
                "https://api.openai.com.",
            ),
            (
                "OPENAI_API_KEY",
                "https://api.anthropic.com",
                "https://api.anthropic.com",
            ),
            (
                "OPENAI_API_KEY",
                "https://127.0.0.1.example.com",
                "https://127.0.0.1.example.com",
            ),
            (
                "OPENAI_API_KEY",
                "http://gateway.example.com/v1",
                "http://gateway.example.com",
            ),
            (
                "AZURE_OPENAI_API_KEY",
                "https://openai.azure.com.example.com",
                "https://openai.azure.com.example.com",
            ),
            (
                "HF_TOKEN",
                "https://x.eu-west-1.aws.endpoints.huggingface.cloud/v1",
                "https://x.eu-west-1.aws.endpoints.huggingface.cloud",
            ),
            (
                "aws_secret_access_key",
                "http://10.0.0.7:8443/v1",
                "http://10.0.0.7:8443",
            ),
            ("MYSQL_PWD", "http://0.0.0.0:80/v1", "http://0.0.0.0"),
            (
                "MY_KEY",
                "https://anywhere.example.org:443/v1",
                "https://anywhere.example.org",
            ),
            (
                "AWS_SECRET_ACCESS_KEY",
                "https://api.openai.com/v1",
                "https://api.openai.com",
            ),
        ] {
            let asked = KeyDecision::Ask(PermissionRequest::Key(KeyUse {
                variable: variable.to_owned(),
                server: server.to_owned(),
            }));
            assert_eq!(decide(variable, to), asked, "{variable} {to}");
        }
    }

    #[test]
    fn a_vendors_key_is_never_sent_unencrypted() {
        let KeyDecision::Refuse(why) = decide("OPENAI_API_KEY", "http://api.openai.com/v1") else {
            panic!("not refused");
        };
        assert!(
            why.contains("OPENAI_API_KEY") && why.contains("use https"),
            "{why}"
        );
    }
}
