//! Finds available judges: keys by the names of their variables, and model servers by querying
//! their models.

use crate::app::error::AppError;
use crate::judge::ensemble::{Dotenv, key_variables};
use crate::judge::provider::http::{Http, Timeouts};
use crate::judge::provider::{compatible, ollama};
use reqwest::header::HeaderMap;
use reqwest::{Method, Url};
use serde::Serialize;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// Local servers, which are queried at their default ports.
const LOCAL: [&str; 4] = ["ollama", "llamacpp", "lmstudio", "vllm"];
/// A server on this machine either answers quickly or is not running.
const PATIENCE: Duration = Duration::from_secs(1);
/// Maximum number of models listed per server.
const MOST_MODELS: usize = 500;

/// The available keys and servers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Discovery {
    /// Names of the keys that are set in the environment or in `.env`, never their values.
    pub keys: Vec<FoundKey>,
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

    /// The queried address of a server that did not answer.
    pub fn address(&self, provider: &str) -> Option<&str> {
        let mut asked = self.asked.iter().filter(|asked| asked.provider != "openai");
        let asked = asked.find(|asked| asked.provider == provider)?;
        Some(&asked.url)
    }

    /// Whether a provider is used at its default address and has its well-known models.
    pub fn is_at_home(&self, provider: &str) -> bool {
        self.asked.iter().all(|asked| asked.provider != provider)
    }
}

/// The keys that are set in the environment, or in `.env` in `folder`.
pub fn found_keys(
    folder: &Path,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<FoundKey>, AppError> {
    let dotenv = Dotenv::load(folder).map_err(AppError::invalid)?;
    let set = |variable: &str| env(variable).is_some() || dotenv.get(variable).is_some();
    let found = key_variables().filter(|(variable, _)| set(variable));
    Ok(found
        .map(|(variable, provider)| FoundKey { variable, provider })
        .collect())
}

/// The servers to query if none are given: those on this machine at their default ports, with
/// Ollama at the address in OLLAMA_HOST, and the one in OPENAI_BASE_URL.
pub fn usual_addresses(env: &dyn Fn(&str) -> Option<String>) -> Vec<ServerAddress> {
    let at = |provider: &str, url: &str| ServerAddress {
        provider: provider.to_owned(),
        url: url.trim_end_matches('/').to_owned(),
    };
    let usual = LOCAL.iter().filter_map(|provider| match *provider {
        "ollama" => {
            let url = env("OLLAMA_HOST")
                .and_then(|host| ollama::host(&host))
                .map_or_else(|| ollama::BASE.to_owned(), |url| url.to_string());
            Some(at(provider, &url))
        }
        _ => Some(at(provider, compatible::named(provider)?.base)),
    });
    let mut all: Vec<ServerAddress> = usual.collect();
    if let Some(url) = env("OPENAI_BASE_URL").filter(|url| Url::parse(url).is_ok()) {
        let provider = match env("OPENAI_API_KEY") {
            Some(_) => "openai",
            None => "compatible",
        };
        all.retain(|known| known.url != url.trim_end_matches('/'));
        all.push(at(provider, &url));
    }
    all
}

/// Parses `PROVIDER=URL`.
///
/// # Errors
/// It has another form.
pub fn parse_address(text: &str) -> Result<ServerAddress, String> {
    let (provider, url) = text
        .split_once('=')
        .ok_or("expected PROVIDER=URL, such as vllm=http://127.0.0.1:8000/v1")?;
    let url = url.trim_end_matches('/');
    Url::parse(url).map_err(|error| format!("{url:?} is no address: {error}"))?;
    Ok(ServerAddress {
        provider: provider.to_owned(),
        url: url.to_owned(),
    })
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
    let is_ollama = address.provider == "ollama";
    let route = if is_ollama { "/api/tags" } else { "/models" };
    let url = Url::parse(&format!("{}{route}", address.url)).ok()?;
    let answer = http.send(Method::GET, &url, HeaderMap::new(), None).await;
    let answer = answer.ok().filter(|answer| answer.is_ok())?;
    let body: Value = serde_json::from_slice(&answer.body).ok()?;
    let (list, name) = if is_ollama {
        ("models", "name")
    } else {
        ("data", "id")
    };
    let models = body.get(list)?.as_array()?.iter();
    let names = models.filter_map(|model| model.get(name)?.as_str());
    // Names are written to a file and displayed; no legitimate one contains control characters.
    let sound = names.filter(|name| !name.is_empty() && !name.contains(char::is_control));
    Some(FoundServer {
        provider: address.provider.clone(),
        url: address.url.clone(),
        models: sound.take(MOST_MODELS).map(str::to_owned).collect(),
    })
}
