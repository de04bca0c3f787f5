//! Finds available judges: keys by the names of their variables, and model servers by querying
//! their models.

use crate::app::error::AppError;
use crate::config::KeysConfig;
use crate::judge::ensemble::Dotenv;
use crate::judge::provider::http::{Http, Timeouts};
use crate::judge::provider::registry::{PROVIDERS, key_variables, provider_named};
use crate::judge::provider::{ModelList, rerank};
use reqwest::header::HeaderMap;
use reqwest::{Method, Url};
use serde::Serialize;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// A server on this machine either answers quickly or is not running.
const PATIENCE: Duration = Duration::from_secs(1);
/// Maximum number of models listed per server.
const MOST_MODELS: usize = 500;

/// The available keys and servers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Discovery {
    /// Names of the keys that are set in the environment or in `.env`, or that a command of the
    /// user's configuration prints, never their values.
    pub keys: Vec<FoundKey>,
    /// The same for keys of reranking services that no judge takes.
    pub reranker_keys: Vec<FoundKey>,
    /// Servers that returned a list of models.
    pub servers: Vec<FoundServer>,
    /// All servers that were queried.
    pub asked: Vec<ServerAddress>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundKey {
    pub variable: &'static str,
    pub provider: &'static str,
}

/// The address at which to look for a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ServerAddress {
    /// The provider as named in `overrule.toml`.
    pub provider: String,
    /// The value for `base_url`.
    pub url: String,
    /// The variable that contains it, if judges of the provider read it there too, along with the
    /// key.
    #[serde(skip)]
    pub variable: Option<&'static str>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundServer {
    pub provider: String,
    pub url: String,
    pub models: Vec<String>,
}

impl FoundServer {
    /// Its models, except for those whose names indicate embedding models.
    pub fn judges(&self) -> impl Iterator<Item = &String> {
        let embeds = |model: &&String| {
            let name = model.to_lowercase();
            ["embed", "minilm", "bge-", "rerank"]
                .iter()
                .any(|part| name.contains(part))
        };
        self.models.iter().filter(move |model| !embeds(model))
    }

    /// The model that a name refers to: for Ollama, also a name without its tag if it is unique.
    pub fn find(&self, name: &str) -> Option<String> {
        let exact = |wanted: &str| self.models.iter().find(|model| *model == wanted);
        let mut tagged = self.models.iter().filter(|model| {
            let tag = model.strip_prefix(name);
            tag.is_some_and(|tag| tag.starts_with(':'))
        });
        let only = || tagged.next().filter(|_| tagged.next().is_none());
        let found = exact(name).or_else(|| exact(&format!("{name}:latest")));
        found.or_else(only).cloned()
    }
}

impl Discovery {
    pub fn server(&self, provider: &str) -> Option<&FoundServer> {
        self.servers
            .iter()
            .find(|server| server.provider == provider)
    }

    /// The address of a provider's server to write to the file: the queried one, unless judges read
    /// it from the environment, which is why their key may be sent there.
    pub fn address(&self, provider: &str) -> Option<&str> {
        let asked = self
            .asked
            .iter()
            .filter(|asked| asked.variable.is_none())
            .find(|asked| asked.provider == provider)?;
        Some(&asked.url)
    }

    /// The variable that a provider's address is read from instead of its default one.
    pub fn address_variable(&self, provider: &str) -> Option<&'static str> {
        let mut asked = self.asked.iter();
        asked.find(|asked| asked.provider == provider)?.variable
    }

    /// Whether a provider is used at its default address and has its well-known models.
    pub fn is_at_home(&self, provider: &str) -> bool {
        self.asked.iter().all(|asked| asked.provider != provider)
    }
}

/// The keys of judges that are set in the environment or in `.env` in `folder`, or that a
/// configured command prints (it is not run); and those that only reranking services use.
pub fn found_keys(
    folder: &Path,
    env: &dyn Fn(&str) -> Option<String>,
    keys: &KeysConfig,
) -> Result<(Vec<FoundKey>, Vec<FoundKey>), AppError> {
    let dotenv = Dotenv::load(folder).map_err(AppError::invalid)?;
    let set = |(variable, provider): (&'static str, &'static str)| {
        let is_set = env(variable).is_some()
            || keys.key_command.contains_key(variable)
            || dotenv.get(variable).is_some();
        is_set.then_some(FoundKey { variable, provider })
    };
    let judges: Vec<FoundKey> = key_variables().into_iter().filter_map(set).collect();
    let rerankers = rerank::key_variables()
        .filter_map(set)
        .filter(|key| judges.iter().all(|judge| judge.variable != key.variable))
        .collect();
    Ok((judges, rerankers))
}

/// Finds keys and queries servers: the given ones, or else the usual ones.
///
/// # Errors
/// The file `.env` cannot be read.
pub async fn look_around(
    folder: &Path,
    keys: &KeysConfig,
    servers: Vec<ServerAddress>,
) -> Result<Discovery, AppError> {
    let asked = if servers.is_empty() {
        usual_addresses(&set_variable)
    } else {
        servers
    };
    let (keys, reranker_keys) = found_keys(folder, &set_variable, keys)?;
    Ok(Discovery {
        keys,
        reranker_keys,
        servers: ask_servers(&asked).await,
        asked,
    })
}

/// The servers on this machine that list models; addresses of other machines are skipped.
pub async fn servers_here() -> Vec<FoundServer> {
    let is_here = |asked: &ServerAddress| {
        let url = Url::parse(&asked.url).ok();
        let host = url.and_then(|url| Some(url.host_str()?.to_owned()));
        host.is_some_and(|host| ["localhost", "127.0.0.1", "[::1]"].contains(&host.as_str()))
    };
    let usual: Vec<ServerAddress> = usual_addresses(&set_variable)
        .into_iter()
        .filter(is_here)
        .collect();
    let mut found = ask_servers(&usual).await;
    found.retain(|server| server.judges().next().is_some());
    found
}

/// The value of an environment variable, unless it is blank.
fn set_variable(name: &str) -> Option<String> {
    let value = std::env::var(name).ok();
    value.filter(|value| !value.trim().is_empty())
}

/// The servers to query if none are given: those that usually run on this machine, at their default
/// ports or at the addresses in their variables, and those at the address that a variable such as
/// OPENAI_BASE_URL gives for a vendor's API.
pub fn usual_addresses(env: &dyn Fn(&str) -> Option<String>) -> Vec<ServerAddress> {
    let mut all: Vec<ServerAddress> = Vec::new();
    for provider in PROVIDERS.iter() {
        let access = provider.access();
        let given = env(access.base_env);
        if access.runs_locally {
            let url = given
                .and_then(|text| provider.parse_base(&text))
                .map_or_else(|| access.base.to_owned(), |url| url.to_string());
            all.push(at(provider.name(), &url, None));
        }
    }
    for provider in PROVIDERS.iter() {
        let access = provider.access();
        let url = env(access.base_env).filter(|url| Url::parse(url).is_ok());
        if let (Some(url), Some(keyless)) = (url, provider.keyless()) {
            let has_key = access.key.variables.iter().any(|name| env(name).is_some());
            let server = if has_key {
                at(provider.name(), &url, Some(access.base_env))
            } else {
                at(keyless.name(), &url, None)
            };
            all.retain(|known| known.url != server.url);
            all.push(server);
        }
    }
    all
}

fn at(provider: &str, url: &str, variable: Option<&'static str>) -> ServerAddress {
    ServerAddress {
        provider: provider.to_owned(),
        url: url.trim_end_matches('/').to_owned(),
        variable,
    }
}

/// Why a text is not the address of a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    #[error("expected PROVIDER=URL, such as vllm=http://127.0.0.1:8000/v1")]
    NoProvider,
    #[error("{url:?} is not a valid address: {why}")]
    Invalid { url: String, why: String },
}

/// Parses `PROVIDER=URL`.
///
/// # Errors
/// It has another form.
pub fn parse_address(text: &str) -> Result<ServerAddress, AddressError> {
    let (provider, url) = text.split_once('=').ok_or(AddressError::NoProvider)?;
    let url = url.trim_end_matches('/');
    Url::parse(url).map_err(|error| AddressError::Invalid {
        url: url.to_owned(),
        why: error.to_string(),
    })?;
    Ok(at(provider, url, None))
}

/// Queries all servers in parallel. Servers that do not return a list of models within a second are
/// ignored. No key is sent.
pub async fn ask_servers(addresses: &[ServerAddress]) -> Vec<FoundServer> {
    let http = Http::new(Timeouts {
        connect: PATIENCE,
        first_byte: PATIENCE,
        whole: 2 * PATIENCE,
        reply_bytes: 4 << 20,
    });
    let asked = addresses.iter().map(|address| ask(&http, address));
    let answers = futures::future::join_all(asked).await;
    answers.into_iter().flatten().collect()
}

async fn ask(http: &Http, address: &ServerAddress) -> Option<FoundServer> {
    let list = provider_named(&address.provider)
        .and_then(|provider| provider.own_models())
        .unwrap_or(ModelList::OpenAi);
    let url = list.url(&Url::parse(&address.url).ok()?);
    let answer = http.send(Method::GET, &url, HeaderMap::new(), None).await;
    let answer = answer.ok().filter(|answer| answer.is_ok())?;
    let body: Value = serde_json::from_slice(&answer.body).ok()?;
    // Names are written to a file and displayed; no legitimate one contains control characters.
    let is_sound = |name: &&str| !name.is_empty() && !name.contains(char::is_control);
    Some(FoundServer {
        provider: address.provider.clone(),
        url: address.url.clone(),
        models: list
            .names(&body)?
            .into_iter()
            .filter(is_sound)
            .take(MOST_MODELS)
            .map(str::to_owned)
            .collect(),
    })
}
