//! Creates a first `overrule.toml`: finds available judges, chooses among them, and writes the
//! file.

pub mod discovery;
pub mod setup;

use super::error::{AppError, invalid};
use super::output_file::{is_standard_output, write_whole};
use crate::formats::file;
use crate::judge::ensemble::{DEFAULT, FILE, JudgesFile, check_provider};
use crate::judge::prompt::{Rubric, battle_prompt_of_hash};
use crate::judge::provider::registry::{key_variables, provider_named};
use crate::store::{Db, StoreError};
use discovery::{Discovery, FoundServer};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

/// A judge that can be written to the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JudgeChoice {
    /// The provider as named in `overrule.toml`.
    pub provider: String,
    pub model: String,
    /// Its address; `None` for the provider's default address.
    pub base_url: Option<String>,
    /// The variable that its key is read from; `None` if it needs no key.
    pub key: Option<&'static str>,
}

impl JudgeChoice {
    /// Its prompt; `None` for an offline judge, and for one that decides by letters, which has its
    /// own.
    fn prompt(&self, prompts: FilePrompts) -> Option<&'static str> {
        provider_named(&self.provider)
            .is_some_and(|provider| !provider.decides())
            .then_some(prompts.usual)
    }
}

/// A judge that the user asks for by name.
#[derive(Clone, Debug, Default)]
pub struct WantedJudge<'a> {
    pub provider: &'a str,
    /// `None` selects the provider's default model, or the first one on its server.
    pub model: Option<&'a str>,
}

/// The prompts in a file for new judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilePrompts {
    pub usual: &'static str,
    /// The one that a comment proposes for small models.
    pub letter: &'static str,
}

impl From<Rubric> for FilePrompts {
    fn from(rubric: Rubric) -> Self {
        Self {
            usual: rubric.prompt(),
            letter: rubric.letter_prompt(),
        }
    }
}

impl FilePrompts {
    /// The prompts of new judges of a project: that of its votes, or else the one for its queries.
    pub fn of_project(db: &Db) -> Result<Self, StoreError> {
        if let Some(prompts) = Self::of_votes(db)? {
            return Ok(prompts);
        }
        let queries = db.queries()?;
        Ok(Rubric::of_queries(queries.iter().map(|query| query.text.as_str())).into())
    }

    /// The built-in prompt of most votes of the project, which its judges keep: with another one,
    /// all of these votes would have to be paid for again. `None` without such votes.
    pub fn of_votes(db: &Db) -> Result<Option<Self>, StoreError> {
        let mut votes: BTreeMap<&'static str, usize> = BTreeMap::new();
        for (judge, spec) in db.all_judges()? {
            if let Some((name, _)) = battle_prompt_of_hash(&spec.prompt_hash) {
                *votes.entry(name).or_default() += db.votes_of(judge)?;
            }
        }
        let most = votes.into_iter().filter(|(_, votes)| *votes > 0);
        let most = most.max_by_key(|(_, votes)| *votes);
        Ok(most.map(|(usual, _)| Self {
            usual,
            letter: LETTER_PROMPTS
                .into_iter()
                .find(|(of, _)| usual.ends_with(of))
                .map_or("letter", |(_, letter)| letter),
        }))
    }
}

/// The letter prompt of each version, by the end of its prompts' names.
const LETTER_PROMPTS: [(&str, &str); 2] = [("-2-claims", "letter-2-claims"), ("-2", "letter-2")];

/// All judges that can be used without further configuration: the default model of each provider
/// whose key is set, and each model of each server.
pub fn choices(found: &Discovery) -> Vec<JudgeChoice> {
    let clouds = found.keys.iter().filter_map(|key| {
        Some(JudgeChoice {
            provider: key.provider.to_owned(),
            model: usual_model(key.provider).filter(|_| found.is_at_home(key.provider))?,
            base_url: None,
            key: Some(key.variable),
        })
    });
    let mut choices: Vec<JudgeChoice> = Vec::new();
    for cloud in clouds {
        if choices.iter().all(|known| known.provider != cloud.provider) {
            choices.push(cloud);
        }
    }
    let local = found.servers.iter().flat_map(|server| {
        server
            .judges()
            .map(|model| on_server(found, server, model.clone()))
    });
    choices.extend(local);
    choices
}

/// The default choice without asking: the default model of each provider whose key is set, or else
/// one model of the first server that has any.
pub fn usual_choices(found: &Discovery) -> Vec<JudgeChoice> {
    let all = choices(found);
    let clouds: Vec<JudgeChoice> = all
        .iter()
        .filter(|one| one.key.is_some())
        .cloned()
        .collect();
    if clouds.is_empty() {
        all.into_iter().take(1).collect()
    } else {
        clouds
    }
}

/// The judge that was asked for by name, with notes about it.
///
/// # Errors
/// There is no such provider, or the model is not determined.
pub fn wanted_choice(
    found: &Discovery,
    wanted: &WantedJudge<'_>,
) -> Result<(JudgeChoice, Vec<String>), AppError> {
    let provider = wanted.provider;
    let mut notes = Vec::new();
    if let Some(server) = found.server(provider) {
        let model = match wanted.model {
            Some(model) => server.find(model).unwrap_or_else(|| {
                notes.push(format!(
                    "{} at {} does not list {model:?}",
                    server.provider, server.url
                ));
                model.to_owned()
            }),
            None => server.judges().next().cloned().ok_or_else(|| {
                invalid!(
                    "{provider} at {} lists no model; name one with --model",
                    server.url
                )
            })?,
        };
        return Ok((on_server(found, server, model), notes));
    }
    let key = found.keys.iter().find(|key| key.provider == provider);
    let variables: Vec<&str> = key_variables()
        .into_iter()
        .filter(|(_, of)| *of == provider)
        .map(|(variable, _)| variable)
        .collect();
    let usual = usual_model(provider).filter(|_| found.is_at_home(provider));
    let model = wanted.model.map(str::to_owned).or(usual).ok_or_else(|| {
        invalid!("there is no default model for {provider}; name one with --model")
    })?;
    match (key, variables.is_empty()) {
        (None, false) => notes.push(format!(
            "no key is set: {provider} needs {}",
            variables.join(" or ")
        )),
        (None, true) => notes.push(format!("no {provider} server answers")),
        _ => {}
    }
    let choice = JudgeChoice {
        provider: provider.to_owned(),
        model,
        base_url: found.address(provider).map(str::to_owned),
        key: key.map(|key| key.variable),
    };
    Ok((choice, notes))
}

fn on_server(found: &Discovery, server: &FoundServer, model: String) -> JudgeChoice {
    JudgeChoice {
        provider: server.provider.clone(),
        model,
        base_url: found
            .address_variable(&server.provider)
            .is_none()
            .then(|| server.url.clone()),
        key: None,
    }
}

/// The model of the default ensemble.
fn usual_model(provider: &str) -> Option<String> {
    let usual = JudgesFile::parse(DEFAULT).ok()?;
    let mut judges = usual.judges.into_iter();
    judges
        .find(|judge| judge.provider == provider)
        .map(|judge| judge.model)
}

/// The content of a file with these judges.
///
/// # Errors
/// One of the judges could not be read back because no provider has that name.
pub fn judges_file(judges: &[JudgeChoice], prompts: FilePrompts) -> Result<String, AppError> {
    let mut text = String::from(
        "# The judges of this project, who are asked about each pair of documents. Keys never go in \
         here: they come from the\n\
         # environment, or from a file .env next to this one. All other settings of a judge: \
         overrule config judges\n",
    );
    let mut names: Vec<String> = Vec::new();
    for judge in judges {
        let name = name_of(judge, &names);
        let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
        text.push_str(&format!(
            "\n[[judge]]\nname = {}\nprovider = {}\nmodel = {}\n",
            quoted(&name),
            quoted(&judge.provider),
            quoted(&judge.model),
        ));
        if let Some(url) = &judge.base_url {
            text.push_str(&format!("base_url = {}\n", quoted(url)));
        }
        if let Some(prompt) = judge.prompt(prompts) {
            text.push_str(&format!("prompt = {}\n", quoted(prompt)));
        }
        match judge.key {
            Some(_) => text.push_str("# max_output_tokens = 4096   # thinking included\n"),
            None => text.push_str(&format!(
                "# prompt = {}   # one letter, read from the model's probabilities: best for small \
                 models\n",
                quoted(prompts.letter)
            )),
        }
        names.push(name);
    }
    let read = JudgesFile::parse(&text).map_err(|error| invalid!("{FILE}: {error}"))?;
    let mut judges = read.judges.iter();
    judges
        .try_for_each(check_provider)
        .map_err(AppError::invalid)?;
    Ok(text)
}

/// A short unique name: that of the model without the part that names its origin.
fn name_of(judge: &JudgeChoice, taken: &[String]) -> String {
    let usual = JudgesFile::parse(DEFAULT).unwrap_or_default().judges;
    let known = usual
        .into_iter()
        .find(|one| one.provider == judge.provider && one.model == judge.model);
    let model = judge.model.rsplit('/').next().unwrap_or_default();
    let model = model.strip_suffix(":latest").unwrap_or(model);
    let name = known.map_or_else(|| model.to_owned(), |one| one.name);
    let name = if name.trim().is_empty() {
        judge.provider.clone()
    } else {
        name
    };
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    std::iter::once(name.clone())
        .chain(numbered)
        .find(|name| !taken.contains(name))
        .unwrap_or(name)
}

/// Writes the file; overwrites an existing one only with `replace`.
pub fn write_judges_file(path: &Path, text: &str, replace: bool) -> Result<(), AppError> {
    if replace || is_standard_output(path) {
        return write_whole(path, |out| Ok(out.write_all(text.as_bytes())?));
    }
    let mut created = file::create_new(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => already_there(path),
        _ => AppError::file(path, format!("cannot be written: {error}")),
    })?;
    Ok(created.write_all(text.as_bytes())?)
}

/// Fails if there is a file that may not be replaced.
pub fn check_free(path: &Path, replace: bool) -> Result<(), AppError> {
    match path.symlink_metadata() {
        Ok(_) if !replace => Err(already_there(path)),
        _ => Ok(()),
    }
}

fn already_there(path: &Path) -> AppError {
    AppError::file(
        path,
        "already exists; --force replaces it, --out names another file",
    )
}

#[cfg(test)]
mod tests;
