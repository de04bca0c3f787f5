//! Which judges a command works with: those of `overrule.toml` that have their keys, or else the offline ones.

use super::{Context, Failure};
use crate::domain::sanitise;
use crate::judge::ensemble::{Dotenv, JudgesFile, Missing, Sources, ensemble_from};
use crate::judge::provider::http::Patience;
use crate::judge::{Ensemble, Judge, Prompt, offline};
use anyhow::anyhow;
use std::path::Path;
use std::sync::Arc;

/// An ensemble, and what is to be said about it.
#[derive(Debug)]
pub(super) struct Chosen {
    /// The judges, in order.
    pub(super) ensemble: Ensemble,
    /// Who is left out and why, in words.
    pub(super) notes: Vec<String>,
}

/// The judges named, or all of them; those of `overrule.toml` beside the project come first, the offline ones after.
pub(super) fn choose(
    context: &Context,
    names: &[String],
    insecure_http: bool,
) -> Result<Chosen, Failure> {
    for (at, name) in names.iter().enumerate() {
        if names[..at].contains(name) {
            return Err(Failure::usage(anyhow!(
                "--judges: {:?} is named twice",
                sanitise::line(name)
            )));
        }
    }
    let folder = context
        .project()
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let (file, found) = JudgesFile::load(folder).map_err(Failure::usage)?;
    let dotenv = Dotenv::load(folder).map_err(|error| Failure::usage(anyhow!("{error}")))?;
    let sources = Sources {
        env: &|name| {
            std::env::var(name)
                .ok()
                .filter(|value| !value.trim().is_empty())
        },
        dotenv: &dotenv,
        folder,
        today: jiff::Zoned::now().date(),
        insecure_http,
        patience: Patience::default(),
    };
    let (network, missing) = ensemble_from(&file, &sources).map_err(Failure::usage)?;
    if names.is_empty() {
        return Ok(all(network, &missing, found.is_some()));
    }
    let ensemble = names
        .iter()
        .map(|name| named(name, &network, &missing))
        .collect::<Result<_, _>>()?;
    Ok(Chosen {
        ensemble,
        notes: Vec::new(),
    })
}

fn all(network: Ensemble, missing: &[Missing], configured: bool) -> Chosen {
    let wanting = |missing: &Missing| {
        format!(
            "{} is left out: it wants {}",
            missing.judge, missing.key_env
        )
    };
    if network.is_empty() {
        let notes = if configured {
            let mut notes: Vec<String> = missing.iter().map(wanting).collect();
            notes.push(
                "no judge of overrule.toml has its key, so the offline judges are used".to_owned(),
            );
            notes
        } else {
            let keys: Vec<&str> = missing
                .iter()
                .map(|missing| missing.key_env.as_str())
                .collect();
            vec![format!(
                "no key is set ({}), so the offline judges are used",
                keys.join("; ")
            )]
        };
        return Chosen {
            ensemble: offline::ensemble(),
            notes,
        };
    }
    Chosen {
        ensemble: network,
        notes: missing.iter().map(wanting).collect(),
    }
}

fn named(name: &str, network: &Ensemble, missing: &[Missing]) -> Result<Arc<dyn Judge>, Failure> {
    if let Some(judge) = network.iter().find(|judge| judge.spec().name == name) {
        return Ok(Arc::clone(judge));
    }
    if let Some(missing) = missing.iter().find(|missing| missing.judge == name) {
        let key = &missing.key_env;
        return Err(Failure::usage(anyhow!(
            "judge {name:?} wants a key: set {key}, or put it into .env beside the project"
        )));
    }
    offline::judge(name).ok_or_else(|| {
        let mut known: Vec<&str> = network
            .iter()
            .map(|judge| judge.spec().name.as_str())
            .collect();
        known.extend(missing.iter().map(|missing| missing.judge.as_str()));
        known.extend(offline::NAMES);
        let name = sanitise::line(name);
        Failure::usage(anyhow!(
            "no judge is called {name:?}; there are {}",
            known.join(", ")
        ))
    })
}

/// Whether a call of the judge may cost money.
pub(super) fn is_paid(judge: &dyn Judge) -> bool {
    !judge.spec().is_offline() && judge.worst(&Prompt::default()).1 != Some(0.0)
}

/// Names of the judges whose price is unknown.
pub(super) fn unpriced(ensemble: &Ensemble) -> Vec<&str> {
    let unknown = ensemble
        .iter()
        .filter(|judge| judge.worst(&Prompt::default()).1.is_none());
    unknown.map(|judge| judge.spec().name.as_str()).collect()
}
