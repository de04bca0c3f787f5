//! Which judges a command works with: those of `overrule.toml` that have their keys, or else the offline ones.

use super::error::{AppError, invalid};
use crate::config::Config;
use crate::domain::adjudication::PickMode;
use crate::domain::named::did_you_mean;
use crate::domain::sanitise;
use crate::embedding::Embedder;
use crate::judge::ensemble::{
    Dotenv, EnsembleError, FILE, JudgeSources, JudgesFile, MissingKey, ensemble_from, own_prices,
    pickers_from, rerank_judges_from,
};
use crate::judge::provider::http::Timeouts;
use crate::judge::reranker::Reranker;
use crate::judge::{
    Judge, JudgeEnsemble, JudgePrompt, OFFLINE, PoolText, PresentedPool, PresentedQuestion,
    RerankKind, offline,
};
use std::path::Path;
use std::sync::Arc;

/// Bytes of an answer full of vectors at most.
const VECTORS: usize = 64 << 20;
/// Bytes of an answer of a reranker at most: some repeat the documents.
const RANKED: usize = 16 << 20;

/// An ensemble, and what is to be said about it.
#[derive(Debug)]
pub struct ChosenJudges {
    pub ensemble: JudgeEnsemble,
    /// Who is left out and why, in words.
    pub notes: Vec<String>,
    /// Judges of the user's own file whose keys are not set.
    pub missing: Vec<MissingKey>,
}

impl ChosenJudges {
    /// Why nothing may be judged: another ensemble would do it than the one that was configured.
    pub fn missing_keys(&self) -> Option<String> {
        (!self.missing.is_empty()).then(|| keys_missing(&self.missing))
    }
}

/// Where judges and their keys come from: the files beside the project, and the environment.
#[derive(Clone, Copy, Debug)]
pub struct JudgeConfiguration<'a> {
    /// The project, whose folder may hold `overrule.toml` and `.env`.
    pub project: &'a Path,
    /// Who may be sent a key.
    pub config: &'a Config,
    /// Let keys travel unencrypted to other machines.
    pub insecure_http: bool,
}

/// An embedder by its name, or what is wrong with it.
pub type NamedEmbedder = (String, Result<Embedder, AppError>);

/// A reranker by its name, or what is wrong with it.
pub type NamedReranker = (String, Result<Reranker, AppError>);

type MadeJudges = Result<(JudgeEnsemble, Vec<MissingKey>), EnsembleError>;

impl JudgeConfiguration<'_> {
    /// The judges named, or all of them; those of `overrule.toml` beside the project come first, the offline ones after.
    ///
    /// # Errors
    /// A judge of the user's own file has no key.
    pub fn choose(&self, names: &[String]) -> Result<ChosenJudges, AppError> {
        complete(self.chosen(names, ensemble_from)?)
    }

    /// The judges that are configured and have their keys, and those that want one: to look at a project, or to say what is
    /// missing.
    pub fn available(&self) -> Result<ChosenJudges, AppError> {
        self.chosen(&[], ensemble_from)
    }

    /// The same for picks that are asked for in this way. Judges that can only compare two documents are left out, unless
    /// they are named.
    pub fn choose_pickers(
        &self,
        names: &[String],
        way: PickMode,
    ) -> Result<ChosenJudges, AppError> {
        let chosen = self.chosen(names, |file, sources| pickers_from(file, sources, way))?;
        let empty = PresentedPool {
            pool: Arc::new(PoolText::new("", Vec::new())),
            ask: way.ask(0),
        };
        let can = |judge: &dyn Judge| judge.pick_prompt(&empty).is_some();
        able(
            complete(chosen)?,
            names,
            can,
            "can only compare two documents",
            "pick",
        )
    }

    /// The same for reranking questions of this kind. Judges that can only compare two documents are left out, unless they
    /// are named.
    pub fn choose_rerankers(
        &self,
        names: &[String],
        kind: RerankKind,
    ) -> Result<ChosenJudges, AppError> {
        let make =
            |file: &JudgesFile, sources: &JudgeSources<'_>| rerank_judges_from(file, sources, kind);
        let example = PresentedQuestion::example(kind);
        let can = |judge: &dyn Judge| judge.rerank_prompt(&example).is_some();
        able(
            complete(self.chosen(names, make)?)?,
            names,
            can,
            match kind {
                RerankKind::Link => "cannot compare documents of two queries",
                _ => "can only compare two documents, in battles (zelo)",
            },
            "answer such questions",
        )
    }

    /// The embedder of that name in `overrule.toml`.
    pub fn embedder(&self, name: &str) -> Result<Embedder, AppError> {
        let timeouts = Timeouts {
            reply_bytes: VECTORS,
            ..Timeouts::default()
        };
        self.read(timeouts, |file, _, sources| {
            let all = &file.embedders;
            let Some(config) = all.iter().find(|embedder| embedder.name == name) else {
                let known: Vec<&str> = all.iter().map(|embedder| embedder.name.as_str()).collect();
                let there = match known.is_empty() {
                    true => {
                        "there is none; `overrule config judges` shows how to write one".to_owned()
                    }
                    false => format!("there are {}", known.join(", ")),
                };
                return Err(invalid!(
                    "--embed: no [[embedder]] of {FILE} is called {name:?}; {there}"
                ));
            };
            Embedder::new(config, sources).map_err(AppError::invalid)
        })
    }

    /// Every embedder of `overrule.toml` by name, or what is wrong with it.
    pub fn embedders(&self) -> Result<Vec<NamedEmbedder>, AppError> {
        let timeouts = Timeouts {
            reply_bytes: VECTORS,
            ..Timeouts::default()
        };
        self.read(timeouts, |file, found, sources| {
            // The commented default names some that nobody has asked for.
            let configs = file.embedders.iter().filter(|_| found);
            Ok(configs
                .map(|config| {
                    let made = Embedder::new(config, sources).map_err(AppError::invalid);
                    (config.name.clone(), made)
                })
                .collect())
        })
    }

    /// Every reranker of `overrule.toml` by name, or what is wrong with it. No program is started.
    pub fn rerankers(&self) -> Result<Vec<NamedReranker>, AppError> {
        let timeouts = Timeouts {
            reply_bytes: RANKED,
            ..Timeouts::default()
        };
        self.read(timeouts, |file, _, sources| {
            let own = own_prices(file, sources).map_err(AppError::invalid)?;
            let mut made: Vec<NamedReranker> = Vec::new();
            for config in &file.rerankers {
                let reranker = match made.iter().any(|(name, _)| *name == config.name) {
                    true => Err(invalid!(
                        "reranker {:?}: the name is used twice; give every reranker its own",
                        config.name
                    )),
                    false => {
                        Reranker::new(config, own.as_ref(), sources).map_err(AppError::invalid)
                    }
                };
                made.push((config.name.clone(), reranker));
            }
            Ok(made)
        })
    }

    fn chosen(
        &self,
        names: &[String],
        make: impl Fn(&JudgesFile, &JudgeSources<'_>) -> MadeJudges,
    ) -> Result<ChosenJudges, AppError> {
        for (at, name) in names.iter().enumerate() {
            if names[..at].contains(name) {
                let name = sanitise::line(name);
                return Err(invalid!("--judges: {name:?} is named twice"));
            }
        }
        let names = &with_offline(names);
        let timeouts = Timeouts::default();
        let ((network, missing), found) = self.read(timeouts, |file, found, sources| {
            Ok((make(file, sources).map_err(AppError::invalid)?, found))
        })?;
        if names.is_empty() {
            return Ok(all(network, missing, found));
        }
        let ensemble = names.iter().map(|name| named(name, &network, &missing));
        Ok(ChosenJudges {
            ensemble: ensemble.collect::<Result<_, _>>()?,
            notes: Vec::new(),
            missing: Vec::new(),
        })
    }

    /// Works with `overrule.toml` beside the project, or with the default where there is none, and with what keys come
    /// from.
    fn read<T>(
        &self,
        timeouts: Timeouts,
        work: impl FnOnce(&JudgesFile, bool, &JudgeSources<'_>) -> Result<T, AppError>,
    ) -> Result<T, AppError> {
        let folder = self.project.parent();
        let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let (file, found) = JudgesFile::load(folder).map_err(AppError::invalid)?;
        let dotenv = Dotenv::load(folder).map_err(|error| invalid!("{error}"))?;
        let sources = JudgeSources {
            env: &|name| {
                let value = std::env::var(name).ok();
                value.filter(|value| !value.trim().is_empty())
            },
            dotenv: &dotenv,
            folder,
            today: jiff::Zoned::now().date(),
            insecure_http: self.insecure_http,
            timeouts,
            trusted_hosts: &self.config.keys.trusted_hosts,
        };
        work(&file, found.is_some(), &sources)
    }
}

/// The names, with `offline` for all embedded judges.
fn with_offline(names: &[String]) -> Vec<String> {
    let each = names.iter().flat_map(|name| match name.as_str() {
        OFFLINE => offline::NAMES.map(str::to_owned).to_vec(),
        _ => vec![name.clone()],
    });
    each.collect()
}

/// All judges that are configured and have their keys; without a file of the user's, and without any key, the offline
/// ones.
fn all(network: JudgeEnsemble, missing: Vec<MissingKey>, configured: bool) -> ChosenJudges {
    if configured {
        let empty = network.is_empty() && missing.is_empty();
        return ChosenJudges {
            notes: match empty {
                true => vec![format!(
                    "{FILE} names no judge, so the offline judges are used"
                )],
                false => Vec::new(),
            },
            ensemble: if empty { offline::ensemble() } else { network },
            missing,
        };
    }
    let notes = match network.is_empty() {
        true => {
            let keys = missing.iter().map(|missing| missing.key_env.as_str());
            let keys: Vec<&str> = keys.collect();
            vec![format!(
                "no key is set ({}), so the offline judges are used",
                keys.join("; ")
            )]
        }
        false => missing
            .iter()
            .map(|missing| {
                let (judge, key) = (&missing.judge, &missing.key_env);
                format!("{judge} is left out: it wants {key}")
            })
            .collect(),
    };
    ChosenJudges {
        ensemble: match network.is_empty() {
            true => offline::ensemble(),
            false => network,
        },
        notes,
        missing: Vec::new(),
    }
}

fn complete(chosen: ChosenJudges) -> Result<ChosenJudges, AppError> {
    match chosen.missing_keys() {
        Some(why) => Err(invalid!("{why}")),
        None => Ok(chosen),
    }
}

/// Those judges that can do what they are chosen for; the others are left out, and refused where they are `names`d.
fn able(
    mut chosen: ChosenJudges,
    names: &[String],
    can: impl Fn(&dyn Judge) -> bool,
    why_not: &str,
    what_for: &str,
) -> Result<ChosenJudges, AppError> {
    for judge in chosen.ensemble.iter().filter(|judge| !can(judge.as_ref())) {
        let why = format!("{} {why_not}", sanitise::line(&judge.spec().name));
        if !names.is_empty() {
            return Err(invalid!("--judges: {why}"));
        }
        chosen.notes.push(format!("left out: {why}"));
    }
    chosen.ensemble.retain(|judge| can(judge.as_ref()));
    if chosen.ensemble.is_empty() {
        return Err(invalid!(
            "no judge is left that can {what_for}; name some with --judges"
        ));
    }
    Ok(chosen)
}

/// Which judges of the user's file want which keys, and what can be done.
fn keys_missing(missing: &[MissingKey]) -> String {
    let wants = missing.iter().map(|missing| {
        let name = sanitise::line(&missing.judge);
        format!("judge {name:?} wants {}", missing.key_env)
    });
    format!(
        "{}. Set it, or put it into .env beside the project; --judges NAME,… chooses judges that need none, and --judges \
         offline the embedded ones.",
        wants.collect::<Vec<_>>().join("; ")
    )
}

fn named(
    name: &str,
    network: &JudgeEnsemble,
    missing: &[MissingKey],
) -> Result<Arc<dyn Judge>, AppError> {
    if let Some(judge) = network.iter().find(|judge| judge.spec().name == name) {
        return Ok(Arc::clone(judge));
    }
    if let Some(missing) = missing.iter().find(|missing| missing.judge == name) {
        let key = &missing.key_env;
        return Err(invalid!(
            "judge {name:?} needs a key: set {key}, or put it into .env beside the project"
        ));
    }
    offline::judge(name).ok_or_else(|| {
        let mut known: Vec<&str> = network
            .iter()
            .map(|judge| judge.spec().name.as_str())
            .collect();
        known.extend(missing.iter().map(|missing| missing.judge.as_str()));
        known.extend(offline::NAMES);
        let near = did_you_mean(name, &known);
        let name = sanitise::line(name);
        invalid!(
            "no judge is called {name:?}{near}; there are {}",
            known.join(", ")
        )
    })
}

/// Whether a call of the judge may cost money.
pub fn is_paid(judge: &dyn Judge) -> bool {
    !judge.spec().is_offline() && judge.worst(&JudgePrompt::default()).1 != Some(0.0)
}

/// Refuses a budget that is none, or that cannot be kept.
pub fn check_budget(budget: f64, ensemble: &JudgeEnsemble) -> Result<(), AppError> {
    if !budget.is_finite() || budget < 0.0 {
        return Err(invalid!("--budget {budget}: expected dollars from 0 up"));
    }
    let empty = JudgePrompt::default();
    let named = |judges: Vec<&Arc<dyn Judge>>| {
        let names = judges
            .iter()
            .map(|judge| sanitise::line(&judge.spec().name));
        names.collect::<Vec<_>>().join(", ")
    };
    let (priced, unpriced): (Vec<_>, Vec<_>) = ensemble
        .iter()
        .partition(|judge| judge.estimate(&empty).1.is_some());
    if !unpriced.is_empty() {
        return Err(invalid!(
            "a budget cannot be kept: no price is known for {}; give `price` in {FILE}",
            named(unpriced)
        ));
    }
    let unlimited = |judge: &&Arc<dyn Judge>| judge.worst(&empty).1.is_none();
    let unlimited: Vec<_> = priced.into_iter().filter(unlimited).collect();
    if !unlimited.is_empty() {
        return Err(invalid!(
            "a budget cannot be kept: nothing limits how long an answer of {} may be; leave the limit of its params alone, or \
             give it a number of tokens from 1 (max_output_tokens sets it)",
            named(unlimited)
        ));
    }
    Ok(())
}
