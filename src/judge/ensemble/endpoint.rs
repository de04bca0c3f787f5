//! Determines the address of a service's servers, and the headers of calls.

use super::config::JudgeConfig;
use super::sources::{BuildError, JudgeSources};
use crate::judge::provider::service::{CallOptions, Service, ServiceAccess};
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

/// The base address, and whether it comes from the environment. It comes from the configuration or
/// the environment, never from `.env`: a folder created by someone else must not redirect the
/// user's key.
pub(super) fn base(
    config: &JudgeConfig,
    service: &dyn Service,
    access: &ServiceAccess,
    sources: &JudgeSources<'_>,
) -> Result<(Url, bool), BuildError> {
    let env = Some(access.base_env)
        .filter(|name| !name.is_empty())
        .and_then(|name| (sources.env)(name))
        .map(|text| text.trim().to_owned())
        .filter(|text| !text.is_empty());
    let from_env = config.base_url.is_none() && env.is_some();
    let text = config
        .base_url
        .clone()
        .or(env)
        .or_else(|| service.usual_base(sources.env))
        .filter(|text| !text.is_empty())
        .ok_or_else(|| {
            let settings = [vec!["base_url"], service.address_variables()].concat();
            format!("there is no address; set {}", settings.join(", or "))
        })?;
    let mut url = service
        .parse_base(&text)
        .ok_or_else(|| "base_url is not an address; write it as https://host/path".to_owned())?;
    let path = url.path().trim_end_matches('/');
    let path = access
        .routes
        .iter()
        .find_map(|route| path.strip_suffix(route))
        .unwrap_or(path)
        .to_owned();
    url.set_path(&path);
    Ok((url, from_env))
}

/// The settings that the address and the headers of calls depend on.
pub(super) fn options(config: &JudgeConfig) -> CallOptions<'_> {
    CallOptions {
        model: &config.model,
        api_version: config.api_version.as_deref(),
        params: &config.params,
    }
}

/// The headers of every call, apart from that of the key.
pub(super) fn headers(
    config: &JudgeConfig,
    service: &dyn Service,
) -> Result<HeaderMap, BuildError> {
    let mut headers = own_headers(config)?;
    headers.extend(service.headers(options(config))?);
    Ok(headers)
}

/// The headers requested by the user.
fn own_headers(config: &JudgeConfig) -> Result<HeaderMap, BuildError> {
    /// Set by us, or by the connection.
    const OURS: &[&str] = &["content-type", "content-length", "host", "connection"];
    let mut headers = HeaderMap::new();
    for (name, value) in &config.headers {
        let wrong = |why: &str| BuildError::Invalid(format!("headers: {name:?} {why}"));
        let header: HeaderName = name
            .parse()
            .map_err(|_| wrong("is not a valid header name"))?;
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
            .map_err(|_| wrong("has a value with characters that headers cannot contain"))?;
        // Some gateways take keys in custom headers.
        value.set_sensitive(true);
        headers.insert(header, value);
    }
    Ok(headers)
}
