//! The providers: how each is reached, and the default limits of its judges.

use crate::judge::provider::WireFormat;
use crate::judge::provider::anthropic::{self, Anthropic};
use crate::judge::provider::azure::Azure;
use crate::judge::provider::batch::anthropic::AnthropicBatches;
use crate::judge::provider::batch::format::BatchFormat;
use crate::judge::provider::batch::gemini::GeminiBatches;
use crate::judge::provider::batch::openai::OpenAiBatches;
use crate::judge::provider::compatible::{self, Compatible};
use crate::judge::provider::decisions::DecisionEndpoint;
use crate::judge::provider::gemini::{self, Gemini};
use crate::judge::provider::ollama::{self, Ollama};
use crate::judge::provider::openai::{self, OpenAi};
use crate::judge::spec::GIVE_UP_AFTER;
use std::time::Duration;

/// Local servers take minutes to load models and are started manually.
pub(super) const LOCAL_GIVE_UP_AFTER: Duration = Duration::from_secs(300);

/// Default limit of answers of local models, in tokens. Six points with quotations take about half
/// of it.
pub(super) const SHORT_CAP: u64 = 1024;

/// How a service is reached.
pub(super) struct ServiceAccess {
    pub(super) keys: Vec<&'static str>,
    pub(super) needs_key: bool,
    pub(super) base: &'static str,
    /// The variable that overrides the address; empty if there is none.
    pub(super) base_env: &'static str,
    /// How long its server may fail or stay silent before calls to it stop.
    pub(super) give_up_after: Duration,
}

/// The default settings of a provider's judges.
pub(super) struct ProviderProfile {
    pub(super) wire: Box<dyn WireFormat>,
    /// Its row in the price table.
    pub(super) priced: &'static str,
    pub(super) access: ServiceAccess,
    pub(super) cap: u64,
    /// The limit of answers until one needs more.
    pub(super) short_cap: Option<u64>,
    pub(super) document_chars: usize,
    pub(super) concurrency: Option<usize>,
    pub(super) batch: Option<&'static dyn BatchFormat>,
}

pub(super) fn profile_of(provider: &str) -> Option<ProviderProfile> {
    let cloud = |wire: Box<dyn WireFormat>, priced, keys: &[&'static str], base, base_env| {
        ProviderProfile {
            wire,
            priced,
            access: ServiceAccess {
                keys: keys.to_vec(),
                needs_key: true,
                base,
                base_env,
                give_up_after: GIVE_UP_AFTER,
            },
            cap: 4096,
            short_cap: None,
            document_chars: 24_000,
            concurrency: None,
            batch: None,
        }
    };
    let openai = |wire| {
        cloud(
            wire,
            "openai",
            &["OPENAI_API_KEY"],
            openai::BASE,
            "OPENAI_BASE_URL",
        )
    };
    let google = |wire| {
        cloud(
            wire,
            "gemini",
            &["GOOGLE_API_KEY", "GEMINI_API_KEY"],
            gemini::BASE,
            "GOOGLE_GEMINI_BASE_URL",
        )
    };
    Some(match provider {
        "openai" => ProviderProfile {
            batch: Some(&OpenAiBatches),
            ..openai(Box::new(OpenAi))
        },
        "anthropic" => ProviderProfile {
            cap: 16_000,
            batch: Some(&AnthropicBatches),
            ..cloud(
                Box::new(Anthropic),
                "anthropic",
                &["ANTHROPIC_API_KEY"],
                anthropic::BASE,
                "ANTHROPIC_BASE_URL",
            )
        },
        "gemini" => ProviderProfile {
            cap: 8192,
            batch: Some(&GeminiBatches),
            ..google(Box::new(Gemini))
        },
        "azure" => cloud(
            Box::new(Azure),
            "azure",
            &["AZURE_OPENAI_AD_TOKEN", "AZURE_OPENAI_API_KEY"],
            "",
            "AZURE_OPENAI_ENDPOINT",
        ),
        "openai-decisions" => ProviderProfile {
            cap: 1,
            ..openai(Box::new(DecisionEndpoint::OpenAi))
        },
        "gemini-decisions" => ProviderProfile {
            cap: 1,
            ..google(Box::new(DecisionEndpoint::Gemini))
        },
        "ollama" => {
            let (keys, env) = (&["OLLAMA_API_KEY"], "OLLAMA_HOST");
            let usual = cloud(Box::new(Ollama), "ollama", keys, ollama::BASE, env);
            ProviderProfile {
                access: ServiceAccess {
                    needs_key: false,
                    give_up_after: LOCAL_GIVE_UP_AFTER,
                    ..usual.access
                },
                cap: 2048,
                short_cap: Some(SHORT_CAP),
                document_chars: 16_000,
                concurrency: Some(4),
                ..usual
            }
        }
        other => {
            let preset = compatible::named(other)?;
            let local = matches!(preset.name, "llamacpp" | "lmstudio");
            let wire = Box::new(Compatible(preset));
            let usual = cloud(wire, preset.name, preset.keys, preset.base, "");
            ProviderProfile {
                access: ServiceAccess {
                    needs_key: !preset.keys.is_empty(),
                    give_up_after: if preset.own_machine {
                        LOCAL_GIVE_UP_AFTER
                    } else {
                        GIVE_UP_AFTER
                    },
                    ..usual.access
                },
                short_cap: preset.own_machine.then_some(SHORT_CAP),
                document_chars: if preset.keys.is_empty() {
                    16_000
                } else {
                    24_000
                },
                concurrency: local.then_some(4),
                ..usual
            }
        }
    })
}

/// The names of the providers whose judges run on a server.
pub(super) fn provider_names() -> impl Iterator<Item = &'static str> {
    let vendors = [
        "openai",
        "anthropic",
        "gemini",
        "azure",
        "ollama",
        "openai-decisions",
        "gemini-decisions",
    ];
    let servers = compatible::PRESETS.iter().map(|preset| preset.name);
    vendors.into_iter().chain(servers)
}

/// The variables in which keys are looked up, with their providers.
pub fn key_variables() -> impl Iterator<Item = (&'static str, &'static str)> {
    ["openai", "anthropic", "gemini", "azure"]
        .into_iter()
        .chain(compatible::PRESETS.iter().map(|preset| preset.name))
        .flat_map(|provider| {
            let keys = profile_of(provider).map_or_else(Vec::new, |profile| profile.access.keys);
            keys.into_iter().map(move |variable| (variable, provider))
        })
}

pub(super) fn unknown_provider(provider: &str) -> String {
    let known: Vec<&str> = provider_names().collect();
    format!(
        "no provider is called {provider:?}; there are offline, {}",
        known.join(", ")
    )
}
