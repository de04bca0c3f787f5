//! Decides where an API key may be sent.
//!
//! Without asking the user, the key in a well-known variable may be sent to its vendor's servers,
//! and any key to this machine. Every other combination of a variable and a server needs the user's
//! permission, because someone else may have written the folder's `overrule.toml`.

use crate::domain::permission::{KeyUse, PermissionRequest};
use crate::judge::provider::address::{is_loopback, place};
use crate::judge::provider::service::VendorKey;
use reqwest::Url;

/// A key about to be sent.
pub(super) struct KeyDestination<'a> {
    /// The variable that contains it.
    pub(super) variable: &'a str,
    pub(super) to: &'a Url,
    /// Whether the address comes from the user's own environment, for keys of this provider.
    pub(super) address_is_users: bool,
    /// The keys of all known vendors.
    pub(super) vendors: &'a [VendorKey],
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
        let is_vendors = self
            .vendors
            .iter()
            .any(|key| key.is_for(self.variable, host));
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

#[cfg(test)]
mod tests {
    use super::super::reach::vendor_keys;
    use super::*;
    use crate::judge::provider::registry::PROVIDERS;

    fn decide(variable: &str, to: &str) -> KeyDecision {
        KeyDestination {
            variable,
            to: &Url::parse(to).unwrap(),
            address_is_users: false,
            vendors: &vendor_keys(&PROVIDERS),
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
