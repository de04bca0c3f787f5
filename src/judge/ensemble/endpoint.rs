//! Determines the address of a judge's calls, with or without its route, and their headers.

use super::config::JudgeConfig;
use super::provider_profile::ServiceAccess;
use super::sources::JudgeSources;
use crate::judge::provider::address::{join, secret};
use crate::judge::provider::{anthropic, azure, gemini, ollama};
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use secrecy::SecretString;

/// The base address, and whether it comes from the environment. It comes from the configuration or
/// the environment, never from `.env`: a folder created by someone else must not redirect the
/// user's key.
pub(super) fn base(
    config: &JudgeConfig,
    access: &ServiceAccess,
    sources: &JudgeSources<'_>,
) -> Result<(Url, bool), String> {
    let env = Some(access.base_env)
        .filter(|name| !name.is_empty())
        .and_then(|name| (sources.env)(name));
    let env = env
        .map(|text| text.trim().to_owned())
        .filter(|text| !text.is_empty());
    let from_env = config.base_url.is_none() && env.is_some();
    let text = config
        .base_url
        .clone()
        .or(env)
        .unwrap_or_else(|| access.base.to_owned());
    if text.is_empty() {
        let or = if access.base_env.is_empty() {
            String::new()
        } else {
            format!(", or {}", access.base_env)
        };
        return Err(format!("there is no address; set base_url{or}"));
    }
    let url = if config.provider == "ollama" {
        ollama::host(&text)
    } else {
        Url::parse(&text).ok()
    };
    let mut url = url.ok_or("base_url is not an address; write it as https://host/path")?;
    let path = route_removed(&config.provider, url.path());
    url.set_path(&path);
    Ok((url, from_env))
}

/// A path without the route that we add ourselves, because users paste the address of a manual
/// call.
fn route_removed(provider: &str, path: &str) -> String {
    let path = path.trim_end_matches('/');
    let routes: &[&str] = match provider {
        "anthropic" => &["/v1/messages", "/v1"],
        // Ollama's own route, and that of the OpenAI-compatible API, which cannot set a context
        // size.
        "ollama" => &["/v1/chat/completions", "/api/chat", "/api", "/v1"],
        "gemini" | "gemini-decisions" => &["/v1beta", "/v1"],
        _ => &["/chat/completions"],
    };
    routes
        .iter()
        .find_map(|route| path.strip_suffix(route))
        .unwrap_or(path)
        .to_owned()
}

pub(super) fn address(config: &JudgeConfig, base: &Url) -> Result<Url, String> {
    let version = config.api_version.as_deref();
    let model = config
        .model
        .strip_prefix("models/")
        .unwrap_or(&config.model);
    Ok(match config.provider.as_str() {
        "anthropic" => join(base, "/v1/messages"),
        "gemini" => join(
            base,
            &format!(
                "/{}/models/{model}:generateContent",
                version.unwrap_or(gemini::VERSION)
            ),
        ),
        "gemini-decisions" => join(
            base,
            &format!("/{}/decisions", version.unwrap_or(gemini::VERSION)),
        ),
        "openai-decisions" => join(base, "/decisions"),
        "ollama" => join(
            base,
            if base.path().trim_end_matches('/').ends_with("/api") {
                "/chat"
            } else {
                "/api/chat"
            },
        ),
        "azure" => azure::address(base, &config.model, version)
            .ok_or("base_url is not an address of azure's")?,
        _ => join(base, "/chat/completions"),
    })
}

pub(super) fn headers(
    config: &JudgeConfig,
    key: Option<&(&str, SecretString)>,
) -> Result<HeaderMap, String> {
    let mut headers = own_headers(config)?;
    if config.provider == "anthropic" {
        let version = match &config.api_version {
            Some(version) => HeaderValue::from_str(version)
                .map_err(|_| format!("api_version {version:?} is not a version"))?,
            None => HeaderValue::from_static(anthropic::version(&config.params)),
        };
        headers.insert("anthropic-version", version);
    }
    if let Some((name, key)) = key {
        let (header, prefix) = match config.provider.as_str() {
            "anthropic" => ("x-api-key", ""),
            "gemini" | "gemini-decisions" => ("x-goog-api-key", ""),
            "azure" if *name != "AZURE_OPENAI_AD_TOKEN" => ("api-key", ""),
            _ => ("authorization", "Bearer "),
        };
        secret(&mut headers, header, prefix, key)?;
    }
    Ok(headers)
}

/// The headers requested by the user.
fn own_headers(config: &JudgeConfig) -> Result<HeaderMap, String> {
    /// Set by us, or by the connection.
    const OURS: &[&str] = &["content-type", "content-length", "host", "connection"];
    let mut headers = HeaderMap::new();
    for (name, value) in &config.headers {
        let wrong = |why: &str| format!("headers: {name:?} {why}");
        let header: HeaderName = name.parse().map_err(|_| wrong("is not a header name"))?;
        if [
            "authorization",
            "api-key",
            "x-api-key",
            "x-goog-api-key",
            "cookie",
        ]
        .contains(&header.as_str())
        {
            return Err(wrong(
                "carries a secret; put the key into the environment and name its variable with \
                 key_env",
            ));
        }
        if OURS.contains(&header.as_str()) {
            return Err(wrong("is set by the judge itself"));
        }
        let mut value = HeaderValue::from_str(value)
            .map_err(|_| wrong("has a value with characters that no header takes"))?;
        // Some gateways take keys in custom headers.
        value.set_sensitive(true);
        headers.insert(header, value);
    }
    Ok(headers)
}
