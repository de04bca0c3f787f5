//! Sets up the judges of a project: those of its `overrule.toml`, those that were found, and the
//! file with the chosen ones. Comments and settings in the file that are not edited stay as they
//! are.

use super::discovery::Discovery;
use super::{FilePrompts, JudgeChoice, choices, name_of, write_judges_file};
use crate::app::choose_judges::JudgeConfiguration;
use crate::app::error::{AppError, invalid};
use crate::formats::file;
use crate::judge::ensemble::{
    DEFAULT, FILE, JudgeConfig, JudgesFile, check_provider, judge_prices, own_prices,
};
use crate::judge::prompt::BATTLE_PROMPTS;
#[cfg(test)]
use crate::judge::prompt::Rubric;
use crate::judge::provider::registry::key_variables;
use crate::judge::{Judge, JudgeEnsemble, OFFLINE, offline};
use serde::Deserialize;
use serde_json::Map;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toml_edit::{ArrayOfTables, DocumentMut, InlineTable, Item, Table, Value, value};

/// The beginning of a new file.
const HEADER: &str = "# The judges of this project, who are asked about each pair of documents. \
                      Keys never go in here: they come from the\n# environment, or from a file \
                      .env next to this one. All other settings of a judge: overrule config \
                      judges\n";

/// A judge that can be chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    pub config: JudgeConfig,
    /// Its address, or the variable of its key.
    pub place: String,
    /// Why it cannot be called now.
    pub problem: Option<String>,
    pub price: CandidatePrice,
    pub chosen: bool,
    /// Its index in the file, if it is there.
    listed: Option<usize>,
    /// Whether its parameters differ from those in the file.
    has_new_params: bool,
}

/// The settings of a judge that are edited as one line of TOML.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TypedSettings {
    base_url: Option<String>,
    key_env: Option<String>,
    #[serde(default)]
    params: Map<String, serde_json::Value>,
}

/// Such a line as a member of a document.
#[derive(Deserialize)]
struct TypedLine {
    settings: TypedSettings,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CandidatePrice {
    Free,
    /// US dollars for a million tokens of input and of output.
    Known(f64, f64),
    Unknown,
}

/// The judges that a project can have.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgeSetup {
    pub path: PathBuf,
    /// The content of the file; `None` if there is none.
    before: Option<String>,
    pub candidates: Vec<Candidate>,
    /// The prompts of judges that are added.
    prompts: FilePrompts,
    /// Number of servers with models on this machine.
    pub servers: usize,
    /// Number of keys that are set.
    pub keys: usize,
}

impl JudgeSetup {
    /// Reads the file of a project and adds the judges that were found, the vendors' presets whose
    /// keys are missing, and the offline judges. The judges that are not in the file get `prompts`.
    pub fn read(
        configuration: &JudgeConfiguration<'_>,
        found: &Discovery,
        prompts: FilePrompts,
    ) -> Result<Self, AppError> {
        let path = configuration.project.with_file_name(FILE);
        let before = match file::read_to_string(&path) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(AppError::file(&path, format!("cannot be read: {error}"))),
        };
        let mut setup = Self::of(path, before, found, prompts)?;
        setup.learn(configuration, found)?;
        Ok(setup)
    }

    /// The judges that were found for a project without a file.
    #[cfg(test)]
    pub fn without_file(found: &Discovery) -> Result<Self, AppError> {
        Self::of(FILE.into(), None, found, Rubric::default().into())
    }

    /// The candidates, without their prices.
    fn of(
        path: PathBuf,
        before: Option<String>,
        found: &Discovery,
        prompts: FilePrompts,
    ) -> Result<Self, AppError> {
        let mut candidates = before.as_deref().map_or(Ok(Vec::new()), listed)?;
        let presets = judges_of(DEFAULT)?.into_iter().map(JudgeChoice::from);
        let embedded = offline::NAMES.map(|name| JudgeChoice {
            provider: OFFLINE.to_owned(),
            model: name.to_owned(),
            base_url: None,
            key: None,
        });
        for choice in choices(found).into_iter().chain(presets).chain(embedded) {
            let is_known = |known: &Candidate| {
                (&known.config.provider, &known.config.model) == (&choice.provider, &choice.model)
            };
            if !candidates.iter().any(is_known) {
                candidates.push(Candidate::found(&choice, &candidates, prompts));
            }
        }
        Ok(Self {
            path,
            before,
            candidates,
            prompts,
            servers: found.servers.len(),
            keys: found.keys.len(),
        })
    }

    /// Adds prices, and the reasons why judges cannot be called.
    fn learn(
        &mut self,
        configuration: &JudgeConfiguration<'_>,
        found: &Discovery,
    ) -> Result<(), AppError> {
        let judges = self.candidates.iter().map(|judge| judge.config.clone());
        let file = JudgesFile {
            judges: judges.collect(),
            ..JudgesFile::default()
        };
        let prices = configuration.with_file(|own, sources| {
            let own = own_prices(own, sources).map_err(AppError::invalid)?;
            Ok(judge_prices(&file, sources, own.as_ref()))
        })?;
        for (candidate, known) in self.candidates.iter_mut().zip(prices) {
            candidate.price = match known.rates {
                Some(rates) if rates.input == 0.0 && rates.output == 0.0 => CandidatePrice::Free,
                Some(rates) => CandidatePrice::Known(rates.input, rates.output),
                None => CandidatePrice::Unknown,
            };
            candidate.problem = candidate.missing_key(found);
        }
        Ok(())
    }

    /// Adds a judge that was typed as `PROVIDER MODEL [URL]`, and returns its index.
    ///
    /// # Errors
    /// It has another form, or there is no such provider.
    pub fn add(&mut self, typed: &str) -> Result<usize, AppError> {
        let words: Vec<&str> = typed.split_whitespace().collect();
        let (provider, model, url) = match words[..] {
            [provider, model] => (provider, model, None),
            [provider, model, url] => (provider, model, Some(url.to_owned())),
            _ => return Err(invalid!("type PROVIDER MODEL, and the address if needed")),
        };
        let choice = JudgeChoice {
            provider: provider.to_owned(),
            model: model.to_owned(),
            base_url: url,
            key: None,
        };
        let candidate = Candidate {
            chosen: true,
            price: CandidatePrice::Unknown,
            ..Candidate::found(&choice, &self.candidates, self.prompts)
        };
        check_provider(&candidate.config).map_err(AppError::invalid)?;
        self.candidates.push(candidate);
        Ok(self.candidates.len() - 1)
    }

    /// Names a judge.
    ///
    /// # Errors
    /// The name is empty, or another chosen judge has it.
    pub fn rename(&mut self, at: usize, name: &str) -> Result<(), AppError> {
        let name = name.trim();
        let taken = |(other, candidate): (usize, &Candidate)| {
            other != at && candidate.chosen && candidate.config.name == name
        };
        if name.is_empty() || self.candidates.iter().enumerate().any(taken) {
            return Err(invalid!("the name is empty or used twice"));
        }
        let reserved = name == OFFLINE || offline::NAMES.contains(&name);
        let is_embedded = self.candidates.get(at).is_some_and(Candidate::is_embedded);
        if reserved || is_embedded || name.contains(char::is_control) {
            return Err(invalid!("{name:?} cannot be the name of a judge"));
        }
        if let Some(candidate) = self.candidates.get_mut(at) {
            candidate.config.name = name.to_owned();
        }
        Ok(())
    }

    /// Sets the address, the variable of the key and the parameters of a judge from a line such as
    /// `key_env = "MY_KEY", params = { temperature = 0 }`. Settings that the line omits are
    /// removed.
    ///
    /// # Errors
    /// The line is not TOML, or has other settings.
    pub fn set_settings(&mut self, at: usize, typed: &str) -> Result<(), AppError> {
        let line = format!("settings = {{ {} }}", typed.trim());
        let line: TypedLine =
            toml::from_str(&line).map_err(|error| invalid!("{}", error.message()))?;
        if let Some(candidate) = self.candidates.get_mut(at) {
            candidate.apply(line.settings);
        }
        Ok(())
    }

    pub fn chosen(&self) -> impl Iterator<Item = &Candidate> {
        self.candidates.iter().filter(|judge| judge.chosen)
    }

    /// Whether the file would change. Without a file, at least one judge has to be chosen.
    pub fn is_changed(&self) -> bool {
        match &self.before {
            Some(before) => self.text().map_or(true, |text| *before != text),
            None => self.chosen().next().is_some(),
        }
    }

    /// The judges that would be asked after saving, and the names of those without a key.
    pub fn ensemble(
        &self,
        configuration: &JudgeConfiguration<'_>,
    ) -> Result<(JudgeEnsemble, Vec<String>), AppError> {
        let file = judges_of(&self.text()?)?;
        let (ensemble, missing) = configuration.build(file)?;
        Ok((
            ensemble,
            missing.into_iter().map(|missing| missing.judge).collect(),
        ))
    }

    /// One candidate as a judge that can be called.
    ///
    /// # Errors
    /// Its key is not set, or its settings are invalid.
    pub fn judge(
        configuration: &JudgeConfiguration<'_>,
        candidate: &Candidate,
    ) -> Result<Arc<dyn Judge>, AppError> {
        let (ensemble, missing) = configuration.build(vec![candidate.config.clone()])?;
        let missing = missing.into_iter().next();
        let problem = missing.map_or(String::new(), |missing| missing.problem.to_string());
        let judge = ensemble.into_iter().next();
        judge.ok_or_else(|| invalid!("{} {problem}", candidate.config.name))
    }

    /// The content of the file with the chosen judges.
    ///
    /// # Errors
    /// The file has a form that cannot be edited, or a judge is invalid.
    pub fn text(&self) -> Result<String, AppError> {
        let text = self.before.as_deref().unwrap_or(HEADER);
        let mut document = text
            .parse::<DocumentMut>()
            .map_err(|error| AppError::file(&self.path, format!("cannot be edited: {error}")))?;
        // A document without tables has only a trailing comment, which belongs at the top.
        let mut head = String::new();
        if document.as_table().is_empty() {
            head = text.to_owned();
            document = DocumentMut::new();
        }
        let orphans = {
            let tables = judge_tables(&mut document).ok_or_else(|| {
                AppError::file(&self.path, "`judge` is not a list of tables".to_owned())
            })?;
            self.edit(tables)
        };
        if document
            .get("judge")
            .and_then(Item::as_array_of_tables)
            .is_some_and(ArrayOfTables::is_empty)
        {
            document.remove("judge");
        }
        let trailing = document.trailing().as_str().unwrap_or_default();
        let trailing = format!("{orphans}{trailing}");
        document.set_trailing(trailing);
        let text = format!("{head}{document}");
        let file = JudgesFile::parse(&text).map_err(|error| invalid!("{FILE}: {error}"))?;
        file.judges
            .iter()
            .try_for_each(check_provider)
            .map_err(AppError::invalid)?;
        Ok(text)
    }

    /// Edits, removes and adds judges. Returns comments whose judge was removed and that no other
    /// judge follows.
    fn edit(&self, tables: &mut ArrayOfTables) -> String {
        for candidate in self.chosen() {
            if let Some(table) = candidate.listed.and_then(|at| tables.get_mut(at)) {
                candidate.write(table);
            }
        }
        let mut orphans = String::new();
        let removed = self.candidates.iter().filter(|judge| !judge.chosen);
        let mut removed: Vec<usize> = removed.filter_map(|judge| judge.listed).collect();
        removed.sort_unstable();
        for at in removed.into_iter().rev() {
            let comment = tables.get(at).map(prefix_of).unwrap_or_default();
            tables.remove(at);
            match tables.get_mut(at) {
                Some(next) => {
                    let joined = format!("{comment}{}", prefix_of(next));
                    next.decor_mut().set_prefix(joined);
                }
                None => orphans = format!("{comment}{orphans}"),
            }
        }
        for candidate in self.chosen().filter(|judge| judge.listed.is_none()) {
            let mut table = Table::new();
            table
                .decor_mut()
                .set_prefix(format!("{}\n", std::mem::take(&mut orphans)));
            candidate.write(&mut table);
            tables.push(table);
        }
        orphans
    }

    /// Writes the file, unless it has changed since it was read. Its permissions stay as they are.
    pub fn save(&self) -> Result<(), AppError> {
        let now = match file::read_to_string(&self.path) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => {
                return Err(AppError::file(
                    &self.path,
                    format!("cannot be read: {error}"),
                ));
            }
        };
        if now != self.before {
            return Err(AppError::file(
                &self.path,
                "has changed since it was read; open this screen again".to_owned(),
            ));
        }
        let text = self.text()?;
        if self.before.is_none() {
            return write_judges_file(&self.path, &text, false);
        }
        let permissions = std::fs::metadata(&self.path)?.permissions();
        if permissions.readonly() {
            return Err(AppError::file(&self.path, "is read-only".to_owned()));
        }
        write_judges_file(&self.path, &text, true)?;
        Ok(std::fs::set_permissions(&self.path, permissions)?)
    }
}

/// The judges of a file.
fn judges_of(text: &str) -> Result<Vec<JudgeConfig>, AppError> {
    let file = JudgesFile::parse(text).map_err(|error| invalid!("{FILE}: {error}"))?;
    Ok(file.judges)
}

/// The judges that a file lists, as candidates.
fn listed(text: &str) -> Result<Vec<Candidate>, AppError> {
    let candidate = |(at, config)| Candidate {
        chosen: true,
        listed: Some(at),
        ..Candidate::new(config, None)
    };
    Ok(judges_of(text)?
        .into_iter()
        .enumerate()
        .map(candidate)
        .collect())
}

/// The comment and blank lines above a table.
fn prefix_of(table: &Table) -> String {
    let prefix = table.decor().prefix();
    prefix
        .and_then(|prefix| prefix.as_str())
        .unwrap_or_default()
        .to_owned()
}

/// The tables `[[judge]]`, also if they are written as a list of inline tables.
fn judge_tables(document: &mut DocumentMut) -> Option<&mut ArrayOfTables> {
    let item = document.entry("judge").or_insert(Item::None);
    *item = match std::mem::take(item) {
        Item::None => Item::ArrayOfTables(ArrayOfTables::new()),
        Item::ArrayOfTables(tables) => Item::ArrayOfTables(tables),
        other => Item::ArrayOfTables(other.into_array_of_tables().ok()?),
    };
    item.as_array_of_tables_mut()
}

/// Whether two values are the same text or number, however they are written.
fn is_same(one: &Value, other: &Value) -> bool {
    let text = one.as_str().is_some() && one.as_str() == other.as_str();
    text || one.as_integer().is_some() && one.as_integer() == other.as_integer()
}

/// Sets a value and keeps the comment next to it; `None` removes it.
fn set(table: &mut Table, key: &str, new: Option<Value>) {
    match (table.get_mut(key).and_then(Item::as_value_mut), new) {
        (Some(old), Some(new)) if is_same(old, &new) => {}
        (Some(old), Some(mut new)) => {
            *new.decor_mut() = old.decor().clone();
            *old = new;
        }
        (None, Some(new)) => {
            table.insert(key, value(new));
        }
        (_, None) => {
            table.remove(key);
        }
    }
}

/// Sets the parameters and keeps the comments next to those that stay.
fn set_params(table: &mut Table, params: &Map<String, serde_json::Value>) {
    if params.is_empty() {
        table.remove("params");
        return;
    }
    let item = table
        .entry("params")
        .or_insert_with(|| value(InlineTable::new()));
    let Some(known) = item.as_table_like_mut() else {
        return;
    };
    let stale: Vec<String> = known
        .iter()
        .map(|(name, _)| name.to_owned())
        .filter(|name| !params.contains_key(name))
        .collect();
    for name in stale {
        known.remove(&name);
    }
    for (name, new) in params {
        let Some(mut new) = toml_value(new) else {
            continue;
        };
        match known.get_mut(name).and_then(Item::as_value_mut) {
            Some(old) => {
                *new.decor_mut() = old.decor().clone();
                *old = new;
            }
            None => {
                known.insert(name, value(new));
            }
        }
    }
}

/// A value of TOML; `None` for null, which TOML does not have.
fn toml_value(value: &serde_json::Value) -> Option<Value> {
    toml::Value::try_from(value).ok()?.to_string().parse().ok()
}

impl From<JudgeConfig> for JudgeChoice {
    fn from(config: JudgeConfig) -> Self {
        Self {
            provider: config.provider,
            model: config.model,
            base_url: config.base_url,
            key: None,
        }
    }
}

impl Candidate {
    fn new(config: JudgeConfig, key: Option<&'static str>) -> Self {
        let place = match (&config.base_url, key) {
            (Some(url), _) => url.clone(),
            (None, Some(key)) => key.to_owned(),
            (None, None) => config.key_env.clone().unwrap_or_default(),
        };
        Self {
            config,
            place,
            problem: None,
            price: CandidatePrice::Unknown,
            chosen: false,
            listed: None,
            has_new_params: false,
        }
    }

    /// Its address, the variable of its key and its parameters, as one line of TOML.
    pub fn settings(&self) -> String {
        self.config
            .base_url
            .as_deref()
            .map(|url| format!("base_url = {}", Value::from(url)))
            .into_iter()
            .chain(Some(self.key_and_params()).filter(|others| !others.is_empty()))
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// The variable of its key and its parameters; empty if it has neither.
    pub fn key_and_params(&self) -> String {
        let params = serde_json::Value::Object(self.config.params.clone());
        let params = (!self.config.params.is_empty())
            .then(|| toml_value(&params))
            .flatten();
        self.config
            .key_env
            .as_deref()
            .map(|name| format!("key_env = {}", Value::from(name)))
            .into_iter()
            .chain(params.map(|params| format!("params = {params}")))
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Applies edited settings and chooses the judge. Its price is not known at another address or
    /// with another key.
    fn apply(&mut self, typed: TypedSettings) {
        let config = &mut self.config;
        let is_moved = (&config.base_url, &config.key_env) != (&typed.base_url, &typed.key_env);
        self.has_new_params |= config.params != typed.params;
        config.base_url = typed.base_url;
        config.key_env = typed.key_env;
        config.params = typed.params;
        self.chosen = true;
        if is_moved {
            self.price = CandidatePrice::Unknown;
            self.problem = None;
            let place = self
                .config
                .base_url
                .as_ref()
                .or(self.config.key_env.as_ref());
            self.place = place.cloned().unwrap_or_default();
        }
    }

    /// A judge that was found, with a name that no other one has.
    fn found(choice: &JudgeChoice, others: &[Self], prompts: FilePrompts) -> Self {
        let taken: Vec<String> = others.iter().map(|one| one.config.name.clone()).collect();
        let config = JudgeConfig {
            name: name_of(choice, &taken),
            provider: choice.provider.clone(),
            model: choice.model.clone(),
            base_url: choice.base_url.clone(),
            prompt: choice.prompt(prompts).map(str::to_owned),
            ..JudgeConfig::default()
        };
        Self::new(config, choice.key)
    }

    /// Whether calls to it are free.
    pub fn is_free(&self) -> bool {
        self.price == CandidatePrice::Free
    }

    /// Whether it is embedded in the program.
    pub fn is_embedded(&self) -> bool {
        self.config.provider == OFFLINE
    }

    fn missing_key(&self, found: &Discovery) -> Option<String> {
        if self.config.key_env.is_some() || self.config.base_url.is_some() {
            return None;
        }
        let variables: Vec<&str> = key_variables()
            .into_iter()
            .filter(|(_, provider)| *provider == self.config.provider)
            .map(|(variable, _)| variable)
            .collect();
        let is_set = found
            .keys
            .iter()
            .any(|key| variables.contains(&key.variable));
        (!variables.is_empty() && !is_set).then(|| format!("needs {}", variables.join(" or ")))
    }

    /// Uses the next embedded prompt; a prompt from a file stays.
    pub fn next_prompt(&mut self) {
        let names = BATTLE_PROMPTS.map(|(name, _)| name);
        let now = self.config.prompt.as_deref().unwrap_or(names[0]);
        if let Some(at) = names.iter().position(|known| *known == now) {
            let next = names[(at + 1) % names.len()];
            let is_default = next == names[0] && self.listed.is_none();
            self.config.prompt = (!is_default).then(|| next.to_owned());
        }
    }

    /// Writes the settings that can be edited.
    fn write(&self, table: &mut Table) {
        let config = &self.config;
        set(table, "name", Some(config.name.as_str().into()));
        set(table, "provider", Some(config.provider.as_str().into()));
        set(table, "model", Some(config.model.as_str().into()));
        let text = |text: &Option<String>| text.as_deref().map(Value::from);
        set(table, "base_url", text(&config.base_url));
        set(table, "key_env", text(&config.key_env));
        if self.has_new_params {
            set_params(table, &config.params);
        }
        set(table, "prompt", text(&config.prompt));
        let calls = config
            .concurrency
            .and_then(|calls| i64::try_from(calls).ok());
        set(table, "concurrency", calls.map(Value::from));
    }
}

/// The folder of a project.
pub fn folder_of(project: &Path) -> &Path {
    let folder = project.parent();
    folder
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setup(text: Option<&str>) -> JudgeSetup {
        JudgeSetup {
            path: FILE.into(),
            before: text.map(str::to_owned),
            candidates: text.map_or(Vec::new(), |text| listed(text).unwrap()),
            prompts: Rubric::default().into(),
            servers: 0,
            keys: 0,
        }
    }

    const COMMENTED: &str = "# our judges\nprices = \"prices.json\"  # negotiated\n\n# the cheap one\n\
                             [[judge]]\nname = \"a\"  # short\nprovider = \"ollama\"\nmodel = \
                             \"x\"\n\n[judge.params]\ntemperature = 0.5\n\n# the dear one\n\
                             [[judge]]\nname = \"b\"\nprovider = \"openai\"\nmodel = \"y\"\n\n\
                             # vectors\n[[embedder]]\nname = \"e\"\nprovider = \"ollama\"\nmodel = \
                             \"z\"\n# the end\n";

    #[test]
    fn nothing_changes_without_an_edit() {
        let setup = setup(Some(COMMENTED));
        assert_eq!(setup.text().unwrap(), COMMENTED);
        assert!(!setup.is_changed());
    }

    #[test]
    fn comments_survive_every_edit() {
        let mut setup = setup(Some(COMMENTED));
        setup.rename(0, "small").unwrap();
        setup.candidates[0].next_prompt();
        setup.candidates[0].config.concurrency = Some(4);
        setup.candidates[1].chosen = false;
        setup.add("ollama qwen3:8b").unwrap();
        let text = setup.text().unwrap();
        for comment in [
            "# our judges",
            "# negotiated",
            "# the cheap one",
            "# short",
            "# the dear one",
            "# vectors",
            "# the end",
        ] {
            assert_eq!(text.matches(comment).count(), 1, "{comment}\n{text}");
        }
        let read = JudgesFile::parse(&text).unwrap();
        let judges: Vec<(&str, Option<&str>, Option<usize>)> = read
            .judges
            .iter()
            .map(|judge| {
                (
                    judge.name.as_str(),
                    judge.prompt.as_deref(),
                    judge.concurrency,
                )
            })
            .collect();
        assert_eq!(
            judges,
            [
                ("small", Some("choice"), Some(4)),
                ("qwen3:8b", Some("score-2"), None)
            ]
        );
        assert_eq!(read.judges[0].params["temperature"], 0.5);
        assert_eq!(read.embedders.len(), 1);
    }

    #[test]
    fn the_first_judge_can_go_and_its_comment_stays() {
        let mut setup = setup(Some(COMMENTED));
        setup.candidates[0].chosen = false;
        let text = setup.text().unwrap();
        assert!(
            text.contains("# the cheap one") && !text.contains("temperature"),
            "{text}"
        );
        assert_eq!(JudgesFile::parse(&text).unwrap().judges.len(), 1);
        setup.candidates[1].chosen = false;
        let text = setup.text().unwrap();
        assert!(
            text.contains("# the cheap one\n") && text.contains("# the dear one"),
            "{text}"
        );
        assert!(JudgesFile::parse(&text).unwrap().judges.is_empty());
    }

    #[test]
    fn a_new_file_begins_with_its_explanation() {
        let mut setup = setup(None);
        setup.add("ollama qwen3:8b").unwrap();
        let text = setup.text().unwrap();
        assert!(text.starts_with("# The judges of this project"), "{text}");
        assert!(
            text.ends_with(
                "[[judge]]\nname = \"qwen3:8b\"\nprovider = \"ollama\"\nmodel = \"qwen3:8b\"\n\
                 prompt = \"score-2\"\n"
            ),
            "{text}"
        );
    }

    #[test]
    fn a_judge_that_is_added_gets_the_prompt_of_the_votes() {
        let mut setup = setup(None);
        setup.prompts.usual = "score";
        setup.add("ollama qwen3:8b").unwrap();
        let prompts = setup.chosen().map(|of| of.config.prompt.as_deref());
        assert_eq!(prompts.collect::<Vec<_>>(), [Some("score")]);
    }

    #[test]
    fn inline_judges_and_hostile_names_are_written_as_toml() {
        let inline = "judge = [{ name = \"a\", provider = \"ollama\", model = \"x\" }]\n";
        let mut setup = setup(Some(inline));
        let hostile = "x\"]\n[[reranker]]";
        setup.candidates.push(Candidate {
            chosen: true,
            ..Candidate::found(
                &JudgeChoice {
                    provider: "ollama".to_owned(),
                    model: hostile.to_owned(),
                    base_url: None,
                    key: None,
                },
                &[],
                Rubric::default().into(),
            )
        });
        let read = JudgesFile::parse(&setup.text().unwrap()).unwrap();
        assert_eq!((read.judges.len(), read.rerankers.len()), (2, 0));
        assert_eq!(read.judges[1].model, hostile);
    }

    #[test]
    fn names_are_unique_and_providers_are_known() {
        let mut setup = setup(Some(COMMENTED));
        assert!(setup.rename(0, "b").is_err());
        assert!(setup.rename(0, " ").is_err());
        assert!(setup.rename(0, "bm25").is_err());
        assert!(setup.rename(0, "a").is_ok());
        assert!(setup.add("nowhere x").is_err());
        assert!(setup.add("ollama").is_err());
        assert_eq!(setup.add("vllm x http://gpu:8000/v1").unwrap(), 2);
        assert_eq!(setup.candidates[2].place, "http://gpu:8000/v1");
    }

    #[test]
    fn key_and_parameters_are_edited_as_one_line() {
        let mut setup = setup(Some(COMMENTED));
        assert_eq!(
            setup.candidates[0].settings(),
            "params = { temperature = 0.5 }"
        );
        assert_eq!(setup.candidates[1].settings(), "");
        let same = setup.candidates[0].settings();
        setup.set_settings(0, &same).unwrap();
        assert!(!setup.is_changed());
        let line =
            "key_env = \"MY_KEY\", params = { temperature = 0, reasoning = { effort = \"low\" } }";
        setup.set_settings(0, line).unwrap();
        assert_eq!(setup.candidates[0].place, "MY_KEY");
        assert_eq!(setup.candidates[0].price, CandidatePrice::Unknown);
        setup.set_settings(1, "params = { seed = 7 }").unwrap();
        let text = setup.text().unwrap();
        for words in [
            "[judge.params]\ntemperature = 0\n",
            "params = { seed = 7 }",
            "# the dear one",
        ] {
            assert!(text.contains(words), "{words}\n{text}");
        }
        let judges = judges_of(&text).unwrap();
        assert_eq!(judges[0].key_env.as_deref(), Some("MY_KEY"));
        assert_eq!(judges[0].params["reasoning"]["effort"], "low");
        assert_eq!(judges[1].params["seed"], 7);
        setup.set_settings(0, "").unwrap();
        assert!(
            judges_of(&setup.text().unwrap()).unwrap()[0]
                .params
                .is_empty()
        );
        for wrong in ["name = \"x\"", "temperature = 0", "key_env = 3", "}, x = {"] {
            assert!(setup.set_settings(0, wrong).is_err(), "{wrong}");
        }
    }
}
