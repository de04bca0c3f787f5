//! Chooses the judges of a command: those of `overrule.toml` whose keys are set, or else the
//! offline ones.

use super::error::{AppError, invalid};
use super::permissions::{Consent, RecordedRequests};
use super::retirements::retirements;
use crate::client::{open_files, today};
use crate::config::Config;
use crate::domain::adjudication::PickMode;
use crate::domain::named::did_you_mean;
use crate::domain::permission::PermissionRequest;
use crate::domain::sanitize;
use crate::embedding::Embedder;
use crate::judge::ensemble::{
    Dotenv, EmbedderConfig, EnsembleError, FILE, JudgeConfig, JudgeEdit, JudgeSources, JudgesFile,
    KeyProblem, MissingKey, RerankerConfig, UnreadableProject, ensemble_from, own_prices,
    pickers_from, rerank_judges_from,
};
use crate::judge::provider::KeyCommands;
use crate::judge::provider::http::Timeouts;
use crate::judge::provider::registry::PROVIDERS;
use crate::judge::reranker::Reranker;
use crate::judge::{
    Judge, JudgeEnsemble, JudgePrompt, JudgeQuestion, OFFLINE, PoolText, PresentedPool,
    PresentedQuestion, RerankKind, offline,
};
use crate::store::settings::project_texts_at;
use std::path::Path;
use std::sync::Arc;

/// Maximum size of an embedding response in bytes.
const VECTORS: usize = 64 << 20;
/// Maximum size of a reranker response in bytes; some repeat the documents.
const RANKED: usize = 16 << 20;

/// An ensemble, with notes about it.
#[derive(Debug)]
pub struct ChosenJudges {
    pub ensemble: JudgeEnsemble,
    /// Which judges were skipped and why, in words.
    pub notes: Vec<String>,
    /// Judges of the user's own file whose keys are not set.
    pub missing: Vec<MissingKey>,
}

impl ChosenJudges {
    /// The error message if the available ensemble differs from the configured one because keys are
    /// missing.
    pub fn missing_keys(&self) -> Option<String> {
        (!self.missing.is_empty()).then(|| keys_missing(&self.missing))
    }
}

/// Where judges and their keys are configured: the files next to the project, and the environment.
#[derive(Clone, Copy, Debug)]
pub struct JudgeConfiguration<'a> {
    /// The project, whose folder may contain `overrule.toml` and `.env`.
    pub project: &'a Path,
    /// Contains the servers that may receive any key.
    pub config: &'a Config,
    /// Whether keys may be sent unencrypted to other machines.
    pub insecure_http: bool,
    /// Asks for permissions that only the user can grant.
    pub consent: &'a dyn Consent,
}

/// The name of an embedder with the embedder, or its configuration error.
pub type NamedEmbedder = (String, Result<Embedder, AppError>);

/// The name of a reranker with the reranker, or its configuration error.
pub type NamedReranker = (String, Result<Reranker, AppError>);

type MadeJudges = Result<(JudgeEnsemble, Vec<MissingKey>), EnsembleError>;

impl JudgeConfiguration<'_> {
    /// The named judges, or all of them: first those of `overrule.toml` next to the project, then
    /// the offline ones.
    ///
    /// # Errors
    /// A judge of the user's own file has no key.
    pub fn choose(&self, names: &[String]) -> Result<ChosenJudges, AppError> {
        complete(self.chosen(names, ensemble_from)?)
    }

    /// The configured judges whose keys are set, and those that lack one; for looking at a project,
    /// or for reporting what is missing.
    pub fn available(&self) -> Result<ChosenJudges, AppError> {
        self.chosen(&[], ensemble_from)
    }

    /// The named judge with another prompt, or also another model, for a trial.
    ///
    /// # Errors
    /// It is not in `overrule.toml`, has no key, or the text is not a prompt for battles.
    pub fn choose_changed(
        &self,
        name: &str,
        prompt: &str,
        model: Option<&str>,
    ) -> Result<ChosenJudges, AppError> {
        if name == OFFLINE || offline::NAMES.contains(&name) {
            return Err(invalid!(
                "{name}: offline judges are asked without a prompt; name a judge of {FILE}"
            ));
        }
        complete(self.chosen(&[name.to_owned()], |file, sources| {
            let mut file = file.clone();
            for config in file.judges.iter_mut().filter(|config| config.name == name) {
                config.prompt_text = Some(prompt.to_owned());
                if let Some(model) = model.filter(|model| *model != config.model) {
                    model.clone_into(&mut config.model);
                    // These belong to the model of the file.
                    config.base_model = None;
                    config.price = None;
                }
            }
            ensemble_from(&file, sources)
        })?)
    }

    /// All configured judges, as they would be after an edit of `overrule.toml` that gives the
    /// judge `name` a prompt with this text.
    ///
    /// # Errors
    /// The edit is impossible, or a judge has no key.
    pub fn choose_edited(
        &self,
        edit: &JudgeEdit,
        name: &str,
        prompt: &str,
    ) -> Result<ChosenJudges, AppError> {
        self.with_file(|file, _| edit.apply(file).map_err(AppError::invalid))?;
        complete(self.chosen(&[], |file, sources| {
            let Ok(mut file) = edit.apply(file) else {
                return ensemble_from(file, sources);
            };
            for config in file.judges.iter_mut().filter(|config| config.name == name) {
                config.prompt_text = Some(prompt.to_owned());
            }
            ensemble_from(&file, sources)
        })?)
    }

    /// As [`Self::choose`], for picks of this mode. Judges that can only compare two documents are
    /// skipped, unless they are named.
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
        let can = |judge: &dyn Judge| judge.can_answer(JudgeQuestion::Pool(&empty));
        able(
            complete(chosen)?,
            names,
            can,
            "can only compare two documents",
            "pick",
        )
    }

    /// As [`Self::available`], for reranking questions of this kind.
    pub fn available_rerankers(&self, kind: RerankKind) -> Result<ChosenJudges, AppError> {
        self.chosen(&[], |file, sources| rerank_judges_from(file, sources, kind))
    }

    /// As [`Self::choose`], for reranking questions of this kind. Judges that can only compare two
    /// documents are skipped, unless they are named.
    pub fn choose_rerankers(
        &self,
        names: &[String],
        kind: RerankKind,
    ) -> Result<ChosenJudges, AppError> {
        let make =
            |file: &JudgesFile, sources: &JudgeSources<'_>| rerank_judges_from(file, sources, kind);
        let example = PresentedQuestion::example(kind);
        let can = |judge: &dyn Judge| judge.can_answer(JudgeQuestion::Rerank(&example));
        able(
            complete(self.chosen(names, make)?)?,
            names,
            can,
            match kind {
                RerankKind::Link => "cannot compare documents of two queries",
                RerankKind::Revise => "cannot write a prompt",
                _ => "can only compare two documents, in battles (zelo)",
            },
            "answer such questions",
        )
    }

    /// The embedder with this name in `overrule.toml`, or for `PROVIDER/MODEL` that model with the
    /// defaults of the provider.
    pub fn embedder(&self, name: &str) -> Result<Embedder, AppError> {
        self.read(with_replies(VECTORS), |file, _, sources| {
            let all = &file.embedders;
            let listed = all.iter().find(|embedder| embedder.name == name).cloned();
            let Some(config) = listed.or_else(|| unlisted_embedder(name, sources)) else {
                let known: Vec<&str> = all.iter().map(|embedder| embedder.name.as_str()).collect();
                let there = if known.is_empty() {
                    "there is none; `overrule config judges` shows how to write one".to_owned()
                } else {
                    format!("the embedders are {}", known.join(", "))
                };
                return Err(invalid!(
                    "--embed: no [[embedder]] of {FILE} is called {name:?}; {there}; a model of a \
                     server needs no [[embedder]], for example ollama/all-minilm"
                ));
            };
            Embedder::new(&config, sources).map_err(AppError::invalid)
        })
    }

    /// All embedders of `overrule.toml` by name, each with its configuration error if it has one.
    pub fn embedders(&self) -> Result<Vec<NamedEmbedder>, AppError> {
        self.read(with_replies(VECTORS), |file, found, sources| {
            // The commented default names some that nobody has configured.
            let configs = file.embedders.iter().filter(|_| found);
            Ok(configs
                .map(|config| {
                    let made = Embedder::new(config, sources).map_err(AppError::invalid);
                    (config.name.clone(), made)
                })
                .collect())
        })
    }

    /// The names of the rerankers of `overrule.toml`.
    pub fn reranker_names(&self) -> Result<Vec<String>, AppError> {
        self.read(with_replies(RANKED), |file, _, _| {
            Ok(file
                .rerankers
                .iter()
                .map(|config| config.name.clone())
                .collect())
        })
    }

    /// The reranker with this name in `overrule.toml`, if there is one. Starts no program.
    ///
    /// # Errors
    /// Its configuration is invalid.
    pub fn reranker(&self, name: &str) -> Result<Option<Reranker>, AppError> {
        let found = self.rerankers_named(|known| known == name)?;
        found.into_iter().next().map(|(_, made)| made).transpose()
    }

    /// All rerankers of `overrule.toml` by name, each with its configuration error if it has one.
    /// Starts no program.
    pub fn rerankers(&self) -> Result<Vec<NamedReranker>, AppError> {
        self.rerankers_named(|_| true)
    }

    fn rerankers_named(
        &self,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Vec<NamedReranker>, AppError> {
        self.read(with_replies(RANKED), |file, _, sources| {
            let own = own_prices(file, sources).map_err(AppError::invalid)?;
            let made = |config: &RerankerConfig| {
                let same = file.rerankers.iter().filter(|of| of.name == config.name);
                match same.count() {
                    1 => Reranker::new(config, own.as_ref(), sources).map_err(AppError::invalid),
                    _ => Err(invalid!(
                        "reranker {:?}: the name is used twice; give every reranker its own",
                        config.name
                    )),
                }
            };
            let configs = file.rerankers.iter().filter(|config| wanted(&config.name));
            Ok(configs
                .map(|config| (config.name.clone(), made(config)))
                .collect())
        })
    }

    /// The permissions that `overrule.toml` requires from the user, with the names of those that
    /// require them: sending keys to servers, and running programs.
    pub fn permission_requests(&self) -> Result<Vec<(String, PermissionRequest)>, AppError> {
        let recorded = RecordedRequests::default();
        let all = JudgeConfiguration {
            consent: &recorded,
            ..*self
        };
        all.available()?;
        all.embedders()?;
        for (name, reranker) in all.rerankers()? {
            if let Ok(Some(program)) = reranker.as_ref().map(Reranker::program) {
                recorded.allows(&PermissionRequest::Program(program.clone()), &name);
            }
        }
        Ok(recorded.into_inner())
    }

    /// Makes judges that need not be in `overrule.toml`, with the prices and keys of the project.
    pub(super) fn build(
        &self,
        judges: Vec<JudgeConfig>,
    ) -> Result<(JudgeEnsemble, Vec<MissingKey>), AppError> {
        self.with_file(|own, sources| {
            let file = JudgesFile {
                judges,
                prices: own.prices.clone(),
                ..JudgesFile::default()
            };
            ensemble_from(&file, sources).map_err(AppError::invalid)
        })
    }

    /// Works with `overrule.toml`, or with the default judges if there is no such file.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn with_file<T>(
        &self,
        work: impl FnOnce(&JudgesFile, &JudgeSources<'_>) -> Result<T, AppError>,
    ) -> Result<T, AppError> {
        self.read(Timeouts::default(), |file, _, sources| work(file, sources))
    }

    fn chosen(
        &self,
        names: &[String],
        make: impl Fn(&JudgesFile, &JudgeSources<'_>) -> MadeJudges,
    ) -> Result<ChosenJudges, AppError> {
        for (at, name) in names.iter().enumerate() {
            if names[..at].contains(name) {
                let name = sanitize::line(name);
                return Err(invalid!("--judges: {name:?} is named twice"));
            }
        }
        let names = &with_offline(names);
        // Do not ask for permission for a judge that is not named.
        let allows = |request: &PermissionRequest, judge: &str| {
            (names.is_empty() || names.iter().any(|name| name == judge))
                && self.consent.allows(request, judge)
        };
        let ((network, missing), found) =
            self.read(Timeouts::default(), |file, found, sources| {
                let sources = JudgeSources {
                    allows: &allows,
                    ..*sources
                };
                Ok((make(file, &sources).map_err(AppError::invalid)?, found))
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

    /// Runs `work` with the `overrule.toml` next to the project, or with the default if there is
    /// none, and with the sources of keys.
    fn read<T>(
        &self,
        timeouts: Timeouts,
        work: impl FnOnce(&JudgesFile, bool, &JudgeSources<'_>) -> Result<T, AppError>,
    ) -> Result<T, AppError> {
        let folder = self.project.parent();
        let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let (file, found) = JudgesFile::load(folder).map_err(AppError::invalid)?;
        let dotenv = Dotenv::load(folder).map_err(AppError::invalid)?;
        let sources = JudgeSources {
            providers: &PROVIDERS,
            env: &|name| {
                let value = std::env::var(name).ok();
                value.filter(|value| !value.trim().is_empty())
            },
            dotenv: &dotenv,
            key_commands: &KeyCommands::new(&self.config.keys.key_command),
            folder,
            today: today(),
            insecure_http: self.insecure_http,
            timeouts,
            trusted_hosts: &self.config.keys.trusted_hosts,
            allows: &|request, asked_by| self.consent.allows(request, asked_by),
            project_texts: &|| {
                project_texts_at(self.project).map_err(|error| UnreadableProject(error.to_string()))
            },
        };
        work(&file, found.is_some(), &sources)
    }
}

/// The usual timeouts, with responses of at most `reply_bytes` bytes.
fn with_replies(reply_bytes: usize) -> Timeouts {
    Timeouts {
        reply_bytes,
        ..Timeouts::default()
    }
}

/// The names, with `offline` expanded to all embedded judges.
fn with_offline(names: &[String]) -> Vec<String> {
    let each = names.iter().flat_map(|name| match name.as_str() {
        OFFLINE => offline::NAMES.map(str::to_owned).to_vec(),
        _ => vec![name.clone()],
    });
    each.collect()
}

/// All configured judges whose keys are set, or the offline ones if the user has neither a file nor
/// a key.
fn all(network: JudgeEnsemble, missing: Vec<MissingKey>, configured: bool) -> ChosenJudges {
    if configured {
        let empty = network.is_empty() && missing.is_empty();
        return ChosenJudges {
            notes: if empty {
                vec![format!(
                    "{FILE} defines no judge, so the offline judges are used"
                )]
            } else {
                Vec::new()
            },
            ensemble: if empty { offline::ensemble() } else { network },
            missing,
        };
    }
    let notes = if network.is_empty() {
        let keys = missing.iter().filter_map(|missing| match &missing.problem {
            KeyProblem::NotSet(variables) => Some(variables.as_str()),
            KeyProblem::NotAllowed(_) => None,
        });
        let keys: Vec<&str> = keys.collect();
        vec![format!(
            "no key is set ({}), so the offline judges are used",
            keys.join("; ")
        )]
    } else {
        missing
            .iter()
            .map(|missing| {
                let (judge, problem) = (&missing.judge, &missing.problem);
                format!("skipped {judge}: it {problem}")
            })
            .collect()
    };
    ChosenJudges {
        ensemble: if network.is_empty() {
            offline::ensemble()
        } else {
            network
        },
        notes,
        missing: Vec::new(),
    }
}

fn complete(mut chosen: ChosenJudges) -> Result<ChosenJudges, AppError> {
    if let Some(why) = chosen.missing_keys() {
        return Err(invalid!("{why}"));
    }
    chosen.notes.extend(retirements(&chosen.ensemble));
    chosen.notes.extend(withheld_metadata(&chosen.ensemble));
    Ok(chosen)
}

/// For each judge that is shown metadata, which fields it is not shown because they hold labels.
fn withheld_metadata(ensemble: &JudgeEnsemble) -> impl Iterator<Item = String> {
    ensemble.iter().filter_map(|judge| {
        let withheld = judge.metadata()?.withheld()?;
        let name = sanitize::line(&judge.spec().name);
        Some(format!(
            "{name} is not shown the metadata fields that hold labels: {withheld}"
        ))
    })
}

/// Keeps the judges that have the required capability; others are skipped, or rejected if they are
/// in `names`.
fn able(
    mut chosen: ChosenJudges,
    names: &[String],
    can: impl Fn(&dyn Judge) -> bool,
    why_not: &str,
    what_for: &str,
) -> Result<ChosenJudges, AppError> {
    for judge in chosen.ensemble.iter().filter(|judge| !can(judge.as_ref())) {
        let why = format!("{} {why_not}", sanitize::line(&judge.spec().name));
        if !names.is_empty() {
            return Err(invalid!("--judges: {why}"));
        }
        chosen.notes.push(format!("skipped: {why}"));
    }
    chosen.ensemble.retain(|judge| can(judge.as_ref()));
    if chosen.ensemble.is_empty() {
        return Err(invalid!(
            "no remaining judge can {what_for}; name others with --judges"
        ));
    }
    Ok(chosen)
}

/// Lists the judges of `overrule.toml` without keys, and the remedies.
fn keys_missing(missing: &[MissingKey]) -> String {
    let problems = missing.iter().map(|missing| {
        let name = sanitize::line(&missing.judge);
        format!("judge {name:?} {}", missing.problem)
    });
    format!(
        "{}; --judges NAME,… chooses judges that need none, and --judges offline the embedded ones",
        problems.collect::<Vec<_>>().join("; ")
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
        return Err(invalid!("judge {name:?} {}", missing.problem));
    }
    offline::judge(name).ok_or_else(|| {
        let mut known: Vec<&str> = network
            .iter()
            .map(|judge| judge.spec().name.as_str())
            .collect();
        known.extend(missing.iter().map(|missing| missing.judge.as_str()));
        known.extend(offline::NAMES);
        let near = did_you_mean(name, &known);
        let name = sanitize::line(name);
        invalid!(
            "no judge is called {name:?}{near}; the judges are {}",
            known.join(", ")
        )
    })
}

/// Whether a call of the judge may cost money.
pub fn is_paid(judge: &dyn Judge) -> bool {
    !judge.spec().is_offline() && judge.worst(&JudgePrompt::default()).1 != Some(0.0)
}

/// Whether a call of any of these judges may cost money.
pub fn are_paid(ensemble: &JudgeEnsemble) -> bool {
    ensemble.iter().any(|judge| is_paid(judge.as_ref()))
}

/// A note if the system allows fewer calls in flight than these judges could have at `concurrency`
/// each.
pub fn bound_note(ensemble: &JudgeEnsemble, concurrency: usize) -> Option<String> {
    let wanted = ensemble
        .iter()
        .filter(|judge| !judge.spec().is_offline())
        .map(|judge| {
            let own = judge.limits().concurrency.unwrap_or(concurrency);
            own.min(concurrency)
        });
    open_files::bound_note(wanted.sum())
}

/// Rejects an invalid budget, or one that cannot be enforced.
pub fn check_budget(budget: f64, ensemble: &JudgeEnsemble) -> Result<(), AppError> {
    if !budget.is_finite() || budget < 0.0 {
        return Err(invalid!("--budget {budget}: must be 0 or more"));
    }
    let empty = JudgePrompt::default();
    let named = |judges: Vec<&Arc<dyn Judge>>| {
        let names = judges
            .iter()
            .map(|judge| sanitize::line(&judge.spec().name));
        names.collect::<Vec<_>>().join(", ")
    };
    let (priced, unpriced): (Vec<_>, Vec<_>) = ensemble
        .iter()
        .partition(|judge| judge.estimate(&empty).1.is_some());
    if !unpriced.is_empty() {
        return Err(invalid!(
            "a budget cannot be enforced: no price is known for {}; set `price` in {FILE}",
            named(unpriced)
        ));
    }
    let unlimited = |judge: &&Arc<dyn Judge>| judge.worst(&empty).1.is_none();
    let unlimited: Vec<_> = priced.into_iter().filter(unlimited).collect();
    if !unlimited.is_empty() {
        return Err(invalid!(
            "a budget cannot be enforced: the length of an answer of {} is not limited; set \
             max_output_tokens, and do not remove the limit in params",
            named(unlimited)
        ));
    }
    Ok(())
}

/// The model that a name of the form `PROVIDER/MODEL` refers to; `None` for another name.
fn unlisted_embedder(name: &str, sources: &JudgeSources<'_>) -> Option<EmbedderConfig> {
    let (provider, model) = name.split_once('/')?;
    let embeds = sources
        .providers
        .iter()
        .any(|known| known.name() == provider && known.embeddings().is_some());
    (embeds && !model.is_empty()).then(|| EmbedderConfig {
        name: name.to_owned(),
        provider: provider.to_owned(),
        model: model.to_owned(),
        ..EmbedderConfig::default()
    })
}
