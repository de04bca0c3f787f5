//! The providers of judges. Adding one takes its file and a line here; a server with OpenAI's chat
//! completions API takes only a line in [`compatible`](super::compatible).

use super::anthropic::Anthropic;
use super::azure::Azure;
use super::bedrock::Bedrock;
use super::compatible::SERVERS;
use super::decisions::DecisionEndpoint;
use super::gemini::Gemini;
use super::ollama::Ollama;
use super::openai::OpenAi;
use super::provider_trait::Provider;
use super::vertex::Vertex;
use crate::judge::spec::OFFLINE;
use std::sync::LazyLock;

/// The providers that are each defined in a file.
const VENDORS: &[&dyn Provider] = &[
    &OpenAi,
    &Anthropic,
    &Gemini,
    &Vertex,
    &Azure,
    &Bedrock,
    &Ollama,
    &DecisionEndpoint::OpenAi,
    &DecisionEndpoint::Gemini,
];

/// All providers, in the order in which messages list them.
pub static PROVIDERS: LazyLock<Vec<&'static dyn Provider>> = LazyLock::new(|| {
    let servers = SERVERS.iter().map(|server| server as &dyn Provider);
    VENDORS.iter().copied().chain(servers).collect()
});

/// The provider with this name.
pub fn provider_named(name: &str) -> Option<&'static dyn Provider> {
    named_in(&PROVIDERS, name)
}

/// The one of `providers` with that name.
pub fn named_in(providers: &[&'static dyn Provider], name: &str) -> Option<&'static dyn Provider> {
    providers
        .iter()
        .copied()
        .find(|provider| provider.name() == name)
}

/// An error message for an unknown provider.
pub fn unknown_provider(name: &str, providers: &[&dyn Provider]) -> String {
    let known: Vec<&str> = providers.iter().map(|provider| provider.name()).collect();
    format!(
        "no provider is called {name:?}; the providers are {OFFLINE}, {}",
        known.join(", ")
    )
}

/// The variables in which keys of judges are looked up, with their providers.
pub fn key_variables() -> Vec<(&'static str, &'static str)> {
    let mut found: Vec<(&str, &str)> = Vec::new();
    let needed = PROVIDERS
        .iter()
        .filter(|provider| provider.access().needs_key);
    for provider in needed {
        for variable in provider.access().key.variables {
            // Two endpoints of one vendor take the same key.
            if found.iter().all(|(known, _)| known != variable) {
                found.push((*variable, provider.name()));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique() {
        let names: HashSet<&str> = PROVIDERS.iter().map(|provider| provider.name()).collect();
        assert_eq!(names.len(), PROVIDERS.len());
    }
}
