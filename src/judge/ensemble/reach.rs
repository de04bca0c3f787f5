//! Determines how a service is reached: its address, the key to send, timeouts and headers.

use super::config::JudgeConfig;
use super::endpoint::{base, headers};
use super::key_destination::{KeyDecision, KeyDestination};
use super::sources::{BuildError, JudgeSources, KeyProblem, NotAllowed};
use crate::judge::provider::address::{check_address, is_loopback, secret};
use crate::judge::provider::http::{Http, Timeouts};
use crate::judge::provider::key_command::{KeyCommand, RenewableKey};
use crate::judge::provider::rerank::SERVICES;
use crate::judge::provider::service::{Service, ServiceAccess, VendorKey};
use crate::judge::provider::{ApiConnection, ConnectionKey, Provider};
use reqwest::Url;
use secrecy::{ExposeSecret, SecretString};
use std::sync::Arc;
use std::time::Duration;

/// Maximum value of any time setting, in seconds: a day.
const LONGEST_S: f64 = 86_400.0;
/// Factor for the timeouts of local servers.
pub(super) const LOCAL_PATIENCE: u32 = 3;
/// Added to the timeout of a call, so that the call times out before its server is given up.
const MARGIN: Duration = Duration::from_secs(10);

/// Where a key comes from.
pub(super) enum FoundKey {
    Fixed(SecretString),
    /// It is renewed by a command.
    Renewable(Arc<KeyCommand>),
}

/// A service with everything needed to call it.
pub(super) struct ReachedService {
    /// Calls go to the base address until a route is set.
    pub(super) connection: ApiConnection,
    /// The variables of its key, for remedies.
    pub(super) key_env: String,
    /// Whether calls are free: the service is on this machine and needs no key.
    pub(super) is_free: bool,
}

pub(super) fn reach(
    config: &JudgeConfig,
    service: &dyn Service,
    access: &ServiceAccess,
    sources: &JudgeSources<'_>,
    http: &Http,
) -> Result<ReachedService, BuildError> {
    let (base, from_env) = base(config, service, access, sources)?;
    let own_key = config.key_env.as_deref();
    let found = available_key(config, access, sources, &base);
    let key_env = wanted_keys(config, access).join(" or ");
    let timeouts = timeouts(config, access, sources)?;
    if found.is_none() && (access.needs_key || own_key.is_some()) {
        return Err(BuildError::Key(KeyProblem::NotSet(key_env)));
    }
    let vendors = vendor_keys(sources.providers);
    let decision = found.as_ref().map(|(variable, _)| {
        KeyDestination {
            variable,
            to: &base,
            address_is_users: from_env && access.key.variables.contains(variable),
            vendors: &vendors,
            trusted: sources.trusted_hosts,
            insecure_http: sources.insecure_http,
        }
        .decide()
    });
    let is_optional = own_key.is_none() && !access.needs_key;
    let (found, request) = match decision {
        None | Some(KeyDecision::Send) => (found, None),
        // A key that overrule.toml did not ask for is not sent, and the server is called without
        // one.
        Some(_) if is_optional => (None, None),
        Some(KeyDecision::Ask(request)) => (found, Some(request)),
        Some(KeyDecision::Refuse(why)) => return Err(why.into()),
    };
    check_address(
        &base,
        found.is_some(),
        config.insecure_http || sources.insecure_http,
    )?;
    if let Some(request) = request
        && !(sources.allows)(&request, &config.name)
    {
        return Err(BuildError::Key(KeyProblem::NotAllowed(NotAllowed(request))));
    }
    let mut headers = headers(config, service)?;
    let key = match found {
        None => None,
        Some((variable, FoundKey::Fixed(key))) => {
            secret(&mut headers, service.key_header(variable), &key)?;
            Some(ConnectionKey::Fixed(key))
        }
        Some((variable, FoundKey::Renewable(command))) => {
            let header = service.key_header(variable);
            Some(ConnectionKey::Renewable(RenewableKey { header, command }))
        }
    };
    Ok(ReachedService {
        key_env,
        is_free: is_free(&base, key.is_some()),
        connection: ApiConnection {
            http: http.with_timeouts(timeouts),
            url: base.clone(),
            headers,
            key,
            base,
        },
    })
}

/// Whether calls are free: the service is on this machine and is sent no key.
pub(super) fn is_free(base: &Url, has_key: bool) -> bool {
    !has_key && is_loopback(base)
}

/// The variables that may contain the key, the user's own if one is named.
fn wanted_keys<'a>(config: &'a JudgeConfig, access: &ServiceAccess) -> Vec<&'a str> {
    config
        .key_env
        .as_deref()
        .map_or_else(|| access.key.variables.to_vec(), |name| vec![name])
}

/// The key for calls to `base`, with its variable, if it is set.
pub(super) fn available_key<'a>(
    config: &'a JudgeConfig,
    access: &ServiceAccess,
    sources: &JudgeSources<'_>,
    base: &Url,
) -> Option<(&'a str, FoundKey)> {
    // A vendor's key for its cloud must not be sent to a server on this machine.
    if access.key_is_for_cloud && is_loopback(base) && config.key_env.is_none() {
        return None;
    }
    wanted_keys(config, access)
        .into_iter()
        .find_map(|name| Some((name, found_key(name, sources)?)))
}

/// The keys of the vendors of all providers and reranking services.
pub(super) fn vendor_keys(providers: &[&dyn Provider]) -> Vec<VendorKey> {
    let judges = providers.iter().map(|provider| provider.access().key);
    let rerankers = SERVICES.iter().map(|service| service.access().key);
    judges.chain(rerankers).collect()
}

/// The environment takes precedence over the user's commands, and these over the file `.env`. An
/// empty variable counts as unset.
fn found_key(name: &str, sources: &JudgeSources<'_>) -> Option<FoundKey> {
    let command = || {
        let command = sources.key_commands.get(name)?;
        Some(FoundKey::Renewable(Arc::clone(command)))
    };
    in_environment(name, sources)
        .map(FoundKey::Fixed)
        .or_else(command)
        .or_else(|| in_dotenv(name, sources).map(FoundKey::Fixed))
}

/// The same, if the key is known before a call.
pub(super) fn key(name: &str, sources: &JudgeSources<'_>) -> Option<SecretString> {
    match found_key(name, sources)? {
        FoundKey::Fixed(key) => Some(key),
        FoundKey::Renewable(_) => None,
    }
}

fn in_environment(name: &str, sources: &JudgeSources<'_>) -> Option<SecretString> {
    trimmed(&(sources.env)(name)?)
}

fn in_dotenv(name: &str, sources: &JudgeSources<'_>) -> Option<SecretString> {
    trimmed(sources.dotenv.get(name)?.expose_secret())
}

fn trimmed(text: &str) -> Option<SecretString> {
    let text = Some(text.trim()).filter(|text| !text.is_empty())?;
    Some(SecretString::from(text.to_owned()))
}

/// The timeouts of calls.
fn timeouts(
    config: &JudgeConfig,
    access: &ServiceAccess,
    sources: &JudgeSources<'_>,
) -> Result<Timeouts, BuildError> {
    let mut usual = sources.timeouts;
    if access.runs_locally {
        // A single core may generate for minutes, and nothing is sent before the answer is
        // complete.
        usual.first_byte *= LOCAL_PATIENCE;
        usual.whole *= LOCAL_PATIENCE;
    }
    let or = |name, given, usual| Ok::<_, BuildError>(seconds(name, given)?.unwrap_or(usual));
    Ok(Timeouts {
        connect: or("connect_timeout_s", config.connect_timeout_s, usual.connect)?,
        first_byte: or(
            "first_byte_timeout_s",
            config.first_byte_timeout_s,
            usual.first_byte,
        )?,
        whole: or("timeout_s", config.timeout_s, usual.whole)?,
        ..usual
    })
}

/// How long a server may fail and how long it may stay silent before calls to it stop: the time set
/// by the user, or the default, for which silence never ends a call before the call's own timeout.
pub(super) fn patience(
    given: Option<f64>,
    usual: Duration,
    first_byte: Duration,
) -> Result<(Duration, Duration), BuildError> {
    let given = seconds("give_up_after_s", given)?;
    Ok(match given.filter(|given| *given != usual) {
        Some(given) => (given, given),
        None => (usual, usual.max(first_byte + MARGIN)),
    })
}

/// Validates a time set by the user.
pub(super) fn seconds(name: &str, given: Option<f64>) -> Result<Option<Duration>, BuildError> {
    let Some(seconds) = given else {
        return Ok(None);
    };
    if seconds > 0.0 && seconds <= LONGEST_S {
        return Ok(Some(Duration::from_secs_f64(seconds)));
    }
    Err(format!("{name} = {seconds}: expected seconds above 0, {LONGEST_S} at most").into())
}
