//! Generates the documented `overrule.toml`: every setting, with its default from the code.

use super::config::DEFAULT;
use super::reach::LOCAL_PATIENCE;
use super::{build, reranker};
use crate::judge::provider::http::Timeouts;
use crate::judge::provider::ollama;
use crate::judge::provider::registry::{PROVIDERS, provider_named};
use crate::judge::provider::rerank::{SERVICES, service_named};
use crate::judge::provider::{Provider, SHORT_CAP};
use std::collections::BTreeMap;

/// A placeholder of the template, without its brackets, with its value.
pub type DocumentedDefault = (&'static str, String);

/// The provider of the judge in the documented file.
const PROVIDER: &str = "compatible";
/// The service of the reranker in the documented file.
const SERVICE: &str = "cohere";
/// The column in which comments start.
const COMMENT: usize = 41;
/// The width of the file.
const WIDTH: usize = 120;

/// The documented file. `more` contains the defaults of other modules.
pub fn documented_file(more: &[DocumentedDefault]) -> String {
    let values = [&defaults(), more].concat();
    DEFAULT
        .lines()
        .map(|line| {
            if line.contains("<<") {
                filled(line, &values)
            } else {
                format!("{line}\n")
            }
        })
        .collect()
}

/// A template line with its values filled in; a long comment continues on further lines.
fn filled(line: &str, values: &[DocumentedDefault]) -> String {
    let fill = |text: &str| {
        values.iter().fold(text.to_owned(), |text, (name, value)| {
            text.replace(&format!("<<{name}>>"), value)
        })
    };
    let (setting, comment) = line.split_once("  # ").unwrap_or((line, ""));
    let mut current = format!("{:<COMMENT$}#", fill(setting));
    let mut lines = String::new();
    for word in fill(comment).split_whitespace() {
        if current.len() + 1 + word.len() > WIDTH {
            lines.push_str(&format!("{current}\n"));
            current = format!("{:<COMMENT$}#", "#");
        }
        current.push_str(&format!(" {word}"));
    }
    format!("{lines}{current}\n")
}

fn defaults() -> Vec<DocumentedDefault> {
    let timeouts = Timeouts::default();
    let [connect, first_byte, whole] =
        [timeouts.connect, timeouts.first_byte, timeouts.whole].map(|time| time.as_secs());
    let for_local = |seconds: u64| (seconds * u64::from(LOCAL_PATIENCE)).to_string();
    let local_servers: Vec<&str> = PROVIDERS
        .iter()
        .filter(|provider| provider.access().runs_locally)
        .map(|provider| provider.name())
        .collect();
    let documents = service_named(SERVICE).map_or(0, |service| service.documents());
    let services = SERVICES
        .iter()
        .map(|service| (service.name(), service.documents()));
    let chars = |provider: &dyn Provider| provider.limits().document_chars;
    let tokens = |provider: &dyn Provider| chars(provider) / build::CHARS_PER_TOKEN;
    let cap = |provider: &dyn Provider| provider.limits().cap;
    let give_up_after = |provider: &dyn Provider| provider.access().give_up_after().as_secs();
    vec![
        ("document_chars", of_provider(chars)),
        ("document_chars_elsewhere", of_other_providers(chars)),
        ("document_tokens", of_provider(tokens)),
        ("document_tokens_elsewhere", of_other_providers(tokens)),
        ("output_tokens", of_provider(cap)),
        ("output_tokens_elsewhere", of_other_providers(cap)),
        ("short_output_tokens", SHORT_CAP.to_string()),
        ("connect_timeout", connect.to_string()),
        ("first_byte_timeout", first_byte.to_string()),
        ("first_byte_timeout_of_local", for_local(first_byte)),
        ("whole_timeout", whole.to_string()),
        ("whole_timeout_of_local", for_local(whole)),
        ("local_servers", listed(&local_servers)),
        ("give_up_after", of_provider(give_up_after)),
        ("give_up_after_elsewhere", of_other_providers(give_up_after)),
        ("ollama_context", ollama::CONTEXT.to_string()),
        ("reranker_batch", documents.to_string()),
        ("reranker_batch_elsewhere", others(documents, services)),
        ("reranker_chars", reranker::CHARS.to_string()),
    ]
}

/// The default of the documented judge.
fn of_provider<T: ToString>(default: impl Fn(&dyn Provider) -> T) -> String {
    provider_named(PROVIDER).map_or_else(String::new, |provider| default(provider).to_string())
}

/// The defaults of providers that differ from that of the documented judge.
fn of_other_providers<T: Ord + Copy + ToString>(default: impl Fn(&dyn Provider) -> T) -> String {
    provider_named(PROVIDER).map_or_else(String::new, |documented| {
        let all = PROVIDERS
            .iter()
            .map(|provider| (provider.name(), default(*provider)));
        others(default(documented), all)
    })
}

/// The values that differ from `documented`, with the names that they apply to.
fn others<T: Ord + Copy + ToString>(
    documented: T,
    all: impl Iterator<Item = (&'static str, T)>,
) -> String {
    let mut names: BTreeMap<T, Vec<&str>> = BTreeMap::new();
    for (name, value) in all.filter(|(_, value)| *value != documented) {
        names.entry(value).or_default().push(name);
    }
    names
        .iter()
        .rev()
        .map(|(value, names)| format!("{} for {}", value.to_string(), listed(names)))
        .collect::<Vec<_>>()
        .join("; ")
}

/// Names as part of a sentence.
fn listed(names: &[&str]) -> String {
    match names {
        [earlier @ .., last] if !earlier.is_empty() => format!("{} and {last}", earlier.join(", ")),
        names => names.concat(),
    }
}
