//! What there is to judge with: keys by the names of their variables, and model servers by asking them what they have.

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

/// Servers of one's own machine, asked at their usual ports.
const LOCAL: [&str; 4] = ["ollama", "llamacpp", "lmstudio", "vllm"];
/// A server on this machine answers at once or is not there.
const PATIENCE: Duration = Duration::from_secs(1);
/// More models of one server are not listed.
const MOST_MODELS: usize = 500;

/// What there is to judge with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Discovery {
    /// Keys that are set, in the environment or in `.env`: their names, never what is in them.
    pub keys: Vec<FoundKey>,
    /// Servers that answered with a list of models.
    pub servers: Vec<FoundServer>,
    /// Every server that was asked.
    pub asked: Vec<ServerAddress>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundKey {
    pub variable: &'static str,
    pub provider: &'static str,
}

/// Where a server is looked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ServerAddress {
    /// The provider, as `overrule.toml` names it.
    pub provider: String,
    /// What `base_url` is set to.
    pub url: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundServer {
    pub provider: String,
    pub url: String,
    pub models: Vec<String>,
}

impl FoundServer {
    /// Its models but for those that, by their names, make vectors.
    pub fn judges(&self) -> impl Iterator<Item = &String> {
        let embeds = |model: &&String| {
            let name = model.to_lowercase();
            ["embed", "minilm", "bge-", "rerank"]
                .iter()
                .any(|part| name.contains(part))
        };
        self.models.iter().filter(move |model| !embeds(model))
    }

    /// The model that a name means: of Ollama's, one without its tag too where only one has it.
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

    /// Where a server was looked for that did not answer.
    pub fn address(&self, provider: &str) -> Option<&str> {
        let mut asked = self.asked.iter().filter(|asked| asked.provider != "openai");
        let asked = asked.find(|asked| asked.provider == provider)?;
        Some(&asked.url)
    }

    /// Whether a provider is asked at its own address, and has the models that it is known for.
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

/// The servers that are asked where none are named: those of this machine at their usual ports, Ollama where OLLAMA_HOST
/// says, and the one of OPENAI_BASE_URL.
pub fn usual_addresses(env: &dyn Fn(&str) -> Option<String>) -> Vec<ServerAddress> {
    let at = |provider: &str, url: &str| ServerAddress {
        provider: provider.to_owned(),
        url: url.trim_end_matches('/').to_owned(),
    };
    let usual = LOCAL.iter().filter_map(|provider| match *provider {
        "ollama" => {
            let named = env("OLLAMA_HOST").and_then(|host| ollama::host(&host));
            let url = named.map_or_else(|| ollama::BASE.to_owned(), |url| url.to_string());
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

/// `PROVIDER=URL`.
///
/// # Errors
/// It is not that.
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

/// Asks all servers at once; those that do not answer within a second, or with anything but a list of models, are not
/// there. No key is sent.
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
    // A name is written into a file and shown; one with control characters is nobody's.
    let sound = names.filter(|name| !name.is_empty() && !name.contains(char::is_control));
    Some(FoundServer {
        provider: address.provider.clone(),
        url: address.url.clone(),
        models: sound.take(MOST_MODELS).map(str::to_owned).collect(),
    })
}
