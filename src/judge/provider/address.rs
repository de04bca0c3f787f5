//! Checks where a key may be sent, and puts it into a header.

use super::service::KeyHeader;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use std::net::IpAddr;

/// Why calls cannot be sent to an address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidBaseUrl {
    #[error(
        "base_url holds a user name or a password; put the key in the environment and name its \
         variable with key_env"
    )]
    HoldsPassword,
    #[error(
        "base_url ends in a query; keys do not belong in addresses, and azure's version goes into \
         api_version"
    )]
    HoldsQuery,
    #[error(
        "http://{0} would send the key unencrypted; use https, or set insecure_http = true or \
         --insecure-http if the network is yours"
    )]
    Unencrypted(String),
    #[error("base_url begins with {0}:, not https: or http:")]
    Scheme(String),
}

/// A key that cannot be sent in a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the key contains invalid characters; copy it again")]
pub struct InvalidKey;

/// Returns an error if a key would be sent unencrypted, or if the address itself contains a secret.
pub(crate) fn check_address(
    url: &Url,
    has_key: bool,
    insecure_http: bool,
) -> Result<(), InvalidBaseUrl> {
    if !url.username().is_empty() || url.password().is_some() {
        return Err(InvalidBaseUrl::HoldsPassword);
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(InvalidBaseUrl::HoldsQuery);
    }
    match url.scheme() {
        "https" => Ok(()),
        "http" if !has_key || insecure_http || is_loopback(url) => Ok(()),
        "http" => Err(InvalidBaseUrl::Unencrypted(place(url))),
        other => Err(InvalidBaseUrl::Scheme(other.to_owned())),
    }
}

/// Whether the address is on this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Adds a header whose value is hidden from debug output.
pub(crate) fn secret(
    headers: &mut HeaderMap,
    header: KeyHeader,
    key: &SecretString,
) -> Result<(), InvalidKey> {
    let text = format!("{}{}", header.prefix, key.expose_secret());
    let mut value = HeaderValue::from_str(&text).map_err(|_| InvalidKey)?;
    value.set_sensitive(true);
    headers.insert(HeaderName::from_static(header.name), value);
    Ok(())
}

/// Host and port, the only parts of an address that messages repeat.
pub(crate) fn place(url: &Url) -> String {
    let host = url.host_str().unwrap_or("?");
    url.port()
        .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// `base` with `path` added.
pub(crate) fn join(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_path(&format!("{}{path}", base.path().trim_end_matches('/')));
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_travels_only_encrypted_or_within_this_machine() {
        let check = |url: &str, key, insecure| {
            check_address(&Url::parse(url).unwrap(), key, insecure).is_ok()
        };
        assert!(check("https://api.example.com/v1", true, false));
        assert!(check("http://127.0.0.1:8000/v1", true, false));
        assert!(check("http://localhost/v1", true, false));
        assert!(check("http://[::1]:9/v1", true, false));
        assert!(check("http://gpu.lan/v1", false, false));
        assert!(!check("http://gpu.lan/v1", true, false));
        assert!(!check("http://localhost.evil.com/v1", true, false));
        assert!(check("http://gpu.lan/v1", true, true));
        assert!(!check("https://me:pw@api.example.com", true, true));
        assert!(!check("https://api.example.com?key=1", false, true));
        assert!(!check("ftp://api.example.com", false, true));
    }

    #[test]
    fn a_key_in_a_header_is_not_printed() {
        let mut headers = HeaderMap::new();
        let key = SecretString::from("sk-very-secret");
        secret(&mut headers, KeyHeader::BEARER, &key).unwrap();
        assert!(!format!("{headers:?}").contains("secret"));
        let bad = secret(
            &mut headers,
            KeyHeader::bare("x-api-key"),
            &SecretString::from("a\nb"),
        )
        .unwrap_err();
        assert!(!bad.to_string().contains("a\nb"));
    }
}
