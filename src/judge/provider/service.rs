//! The trait for services behind HTTP: where their servers are and which keys they take.

use crate::judge::spec::GIVE_UP_AFTER;
use reqwest::Url;
use reqwest::header::HeaderMap;
use serde_json::{Map, Value};
use std::fmt;
use std::time::Duration;

/// How long a server on the user's machine may fail: it takes minutes to load a model and is
/// started manually.
pub const LOCAL_GIVE_UP_AFTER: Duration = Duration::from_secs(300);

/// Stands for the region in the name of a server.
const REGION: &str = "<region>";

/// The key that a vendor issues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VendorKey {
    /// The variables in which the key is looked up, in order of precedence.
    pub variables: &'static [&'static str],
    /// Other common variables of the vendor. They are not looked up, but `key_env` may name them.
    pub other_variables: &'static [&'static str],
    /// The servers that the vendor itself runs, which get the key without asking the user. A name
    /// that starts with a dot stands for all servers below it, and `<region>` for a cloud region.
    pub servers: &'static [&'static str],
}

impl VendorKey {
    pub const NONE: Self = Self::new(&[], &[]);

    pub const fn new(variables: &'static [&'static str], servers: &'static [&'static str]) -> Self {
        Self {
            variables,
            other_variables: &[],
            servers,
        }
    }

    /// Whether this is the key in `variable`, and `host` is a server of its vendor.
    pub fn is_for(&self, variable: &str, host: &str) -> bool {
        // On some systems, variable names are case-insensitive.
        let named = |known: &&str| known.eq_ignore_ascii_case(variable);
        (self.variables.iter().any(named) || self.other_variables.iter().any(named))
            && self.servers.iter().any(|server| is_server(server, host))
    }
}

fn is_server(server: &str, host: &str) -> bool {
    if let Some((before, after)) = server.split_once(REGION) {
        let region = host
            .strip_prefix(before)
            .and_then(|rest| rest.strip_suffix(after));
        return region.is_some_and(is_region);
    }
    if server.starts_with('.') {
        host.ends_with(server)
    } else {
        host == server
    }
}

/// Whether this is the name of a region such as `us-east-1` or `europe-west4`, and of nothing else
/// that a cloud serves under such a name: `s3-us-west-2` belongs to anyone.
fn is_region(name: &str) -> bool {
    let mut parts = name.split('-');
    let area = parts.next().unwrap_or_default();
    let is_word = |part: &str| part.bytes().all(|byte| byte.is_ascii_lowercase());
    let rest: Vec<&str> = parts.collect();
    area.len() >= 2
        && is_word(area)
        && rest
            .last()
            .is_some_and(|last| last.ends_with(|c: char| c.is_ascii_digit()))
        && rest.iter().all(|part| {
            !part.is_empty()
                && part
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        })
}

/// The header that carries a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyHeader {
    pub name: &'static str,
    /// The text in front of the key.
    pub prefix: &'static str,
}

impl KeyHeader {
    pub const BEARER: Self = Self {
        name: "authorization",
        prefix: "Bearer ",
    };

    /// A header that contains nothing but the key.
    pub const fn bare(name: &'static str) -> Self {
        Self { name, prefix: "" }
    }
}

/// How a service is reached.
#[derive(Clone, Copy, Debug)]
pub struct ServiceAccess {
    pub key: VendorKey,
    pub needs_key: bool,
    /// Whether the key is one for the vendor's cloud, which a server on this machine must not get
    /// unless `key_env` names it.
    pub key_is_for_cloud: bool,
    /// The usual address; empty if there is none.
    pub base: &'static str,
    /// The variable that overrides the address; empty if there is none.
    pub base_env: &'static str,
    /// Routes that are removed from the end of an address, because users paste the address of a
    /// manual call.
    pub routes: &'static [&'static str],
    /// Whether its servers usually run on the user's own machine. They get more time.
    pub runs_locally: bool,
}

impl ServiceAccess {
    pub const fn cloud(key: VendorKey, base: &'static str, base_env: &'static str) -> Self {
        Self {
            key,
            needs_key: true,
            key_is_for_cloud: false,
            base,
            base_env,
            routes: &["/chat/completions"],
            runs_locally: false,
        }
    }

    /// A server of the user's own that needs no key.
    pub const fn local(base: &'static str) -> Self {
        Self {
            needs_key: false,
            runs_locally: true,
            ..Self::cloud(VendorKey::NONE, base, "")
        }
    }

    /// How long its server may fail or stay silent before calls to it stop.
    pub fn give_up_after(&self) -> Duration {
        if self.runs_locally {
            LOCAL_GIVE_UP_AFTER
        } else {
            GIVE_UP_AFTER
        }
    }
}

/// The settings of a judge that its address and headers depend on.
#[derive(Clone, Copy, Debug)]
pub struct CallOptions<'a> {
    pub model: &'a str,
    pub api_version: Option<&'a str>,
    pub params: &'a Map<String, Value>,
}

/// A version of an API that cannot be sent in a header.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("api_version {0:?} is not a valid API version")]
pub struct InvalidApiVersion(pub String);

/// Looks up an environment variable.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A service behind HTTP.
pub trait Service: Send + Sync + fmt::Debug {
    /// Its name in `overrule.toml`.
    fn name(&self) -> &'static str;

    fn access(&self) -> ServiceAccess;

    /// Its address if the user gives none; `None` if there is none.
    fn usual_base(&self, _env: Environment<'_>) -> Option<String> {
        let base = self.access().base;
        (!base.is_empty()).then(|| base.to_owned())
    }

    /// The variables that determine its address, for the message that there is none.
    fn address_variables(&self) -> Vec<&'static str> {
        let base_env = self.access().base_env;
        Vec::from_iter((!base_env.is_empty()).then_some(base_env))
    }

    /// Parses an address given by the user.
    fn parse_base(&self, text: &str) -> Option<Url> {
        Url::parse(text).ok()
    }

    /// The header for a key from this variable.
    fn key_header(&self, _variable: &str) -> KeyHeader {
        KeyHeader::BEARER
    }

    /// Where the user adds credit.
    fn account(&self) -> String {
        if self.access().base.is_empty() && self.access().key == VendorKey::NONE {
            "at the provider or gateway".to_owned()
        } else {
            format!("at {}", self.name())
        }
    }

    /// Headers of every call, in addition to those that all services get.
    ///
    /// # Errors
    /// If the user's version of the API cannot be sent.
    fn headers(&self, _options: CallOptions<'_>) -> Result<HeaderMap, InvalidApiVersion> {
        Ok(HeaderMap::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_stands_for_regions_only() {
        let key = VendorKey::new(&["A_KEY"], &["run.<region>.cloud.com", ".sub.com"]);
        for (host, is_vendors) in [
            ("run.us-east-1.cloud.com", true),
            ("run.us-gov-west-1.cloud.com", true),
            ("run.europe-west4.cloud.com", true),
            ("run.s3-us-west-2.cloud.com", false),
            ("run.s3.cloud.com", false),
            ("run.a.us-east-1.cloud.com", false),
            ("run..cloud.com", false),
            ("run.-1.cloud.com", false),
            ("run.us-east-1.cloud.com.evil.com", false),
            ("a.sub.com", true),
            ("sub.com", false),
        ] {
            assert_eq!(key.is_for("a_key", host), is_vendors, "{host}");
            assert!(!key.is_for("ANOTHER_KEY", host));
        }
    }
}
