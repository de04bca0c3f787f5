//! `overrule init`: finds available judges and writes an `overrule.toml` with them.

use super::command::{CommandContext, CommandFailure, CommandResult, usage};
use super::doctor::DoctorCommand;
use super::output::{self, clean};
use crate::app::init::discovery::{Discovery, ServerAddress, look_around, parse_address};
use crate::app::init::setup::folder_of;
use crate::app::init::{
    FilePrompts, JudgeChoice, WantedJudge, check_free, choices, judges_file, usual_choices,
    wanted_choice, write_judges_file,
};
use crate::app::output_file::output_name;
use crate::app::text_format::{counted, first_of};
use crate::config::KeysConfig;
use crate::judge::ensemble::FILE;
use crate::judge::prompt::Rubric;
use crate::store::StoreError;
use clap::{Args, ValueEnum};
use serde_json::json;
use std::io::{BufRead as _, IsTerminal as _};
use std::path::{Path, PathBuf};

/// Maximum number of models shown per server.
const SHOWN: usize = 12;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RubricName {
    /// Questions and searches
    Searches,
    /// Claims, for which evidence for and against them serves alike
    Claims,
}

impl From<RubricName> for Rubric {
    fn from(name: RubricName) -> Self {
        match name {
            RubricName::Searches => Self::Searches,
            RubricName::Claims => Self::Claims,
        }
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "Keys are found by the names of their variables, in the environment, in .env next to
the project, or under [keys.key_command] of the configuration; their values are
neither shown nor written. Ollama, llama.cpp, LM Studio and vLLM are asked for
their models at their usual ports, or at the addresses in OLLAMA_HOST and
OPENAI_BASE_URL, without a key. After you have chosen, overrule.toml is written next
to the project and checked as `overrule doctor` does.

With --yes, the default model of every provider whose key is set is used, or, if no
key is set, the first model of the first server.

Examples:
  overrule init
  overrule init --yes
  overrule init --provider ollama --model qwen3
  overrule init --yes --rubric claims
  overrule init --provider openrouter --model qwen/qwen3-32b
  overrule init --dry-run --json"
)]
pub(super) struct InitCommand {
    /// Use this provider without asking
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// Model [default: the usual one of the provider, or the first of the server]
    #[arg(long, requires = "provider")]
    model: Option<String>,
    /// Do not ask
    #[arg(long, conflicts_with = "provider")]
    yes: bool,
    /// What the queries are, which decides the prompt of the judges [default: the prompt of the
    /// project's votes, or else judging by its queries]
    #[arg(long, value_enum, value_name = "KIND")]
    rubric: Option<RubricName>,
    /// File to write [default: overrule.toml next to the project]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
    /// Look for models on this server instead of the usual ones (repeatable)
    #[arg(long, value_name = "PROVIDER=URL", value_parser = parse_address)]
    server: Vec<ServerAddress>,
    /// Print what was found and stop
    #[arg(long)]
    dry_run: bool,
    /// Print what was found as JSON
    #[arg(long, requires = "dry_run")]
    json: bool,
}

impl InitCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let default = context.project().with_file_name(FILE);
        let folder = folder_of(context.project());
        let target = self.out.clone().unwrap_or_else(|| default.clone());
        if !self.dry_run {
            check_free(&target, self.force)?;
        }
        let found = self.look_around(folder, &context.config.keys)?;
        if self.json {
            return output::json(&json!({
                "keys": found.keys,
                "reranker_keys": found.reranker_keys,
                "servers": found.servers,
                "asked": found.asked,
                "choices": choices(&found),
                "file": target,
                "exists": target.exists(),
            }));
        }
        let seen = describe(&found);
        if self.dry_run {
            output::text(&seen)?;
            return output::text("dry run: nothing was written\n");
        }
        output::message(seen.trim_end());
        let chosen = self.choose(&found)?;
        let prompts = self.prompts(context)?;
        write_judges_file(&target, &judges_file(&chosen, prompts)?, self.force)?;
        let judges: Vec<String> = chosen.iter().map(words).collect();
        let name = output_name(&target);
        output::message(&format!("wrote {name}: {}", judges.join(", ")));
        if target != default {
            output::message(&format!(
                "not checked: judges are read from {FILE} next to the project"
            ));
            return Ok(());
        }
        DoctorCommand::default().run(context)
    }

    /// The prompts of the judges: as chosen, those of the votes of the project, or else those for
    /// its queries.
    fn prompts(&self, context: &CommandContext) -> Result<FilePrompts, CommandFailure> {
        if let Some(name) = self.rubric {
            return Ok(Rubric::from(name).into());
        }
        if !context.has_project() {
            return Ok(Rubric::default().into());
        }
        let (of_votes, queries) = context
            .open()?
            .read_blocking(|db| Ok::<_, StoreError>((FilePrompts::of_votes(db)?, db.queries()?)))?;
        if let Some(prompts) = of_votes {
            return Ok(prompts);
        }
        let rubric = Rubric::of_queries(queries.iter().map(|query| query.text.as_str()));
        if rubric == Rubric::Claims {
            output::message(&format!(
                "most of the {} of the project are statements, so the judges get the prompt for \
                 claims, {}; --rubric searches chooses {}",
                counted(queries.len(), "query"),
                rubric.prompt(),
                Rubric::Searches.prompt()
            ));
        }
        Ok(rubric.into())
    }

    fn look_around(&self, folder: &Path, keys: &KeysConfig) -> Result<Discovery, CommandFailure> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        Ok(runtime.block_on(look_around(folder, keys, self.server.clone()))?)
    }

    fn choose(&self, found: &Discovery) -> Result<Vec<JudgeChoice>, CommandFailure> {
        if let Some(provider) = &self.provider {
            let model = self.model.as_deref();
            let (choice, notes) = wanted_choice(found, &WantedJudge { provider, model })?;
            notes
                .iter()
                .for_each(|note| output::message(&format!("note: {}", clean(note))));
            return Ok(vec![choice]);
        }
        let all = choices(found);
        let usual = usual_choices(found);
        if usual.is_empty() {
            return Err(usage!("{}", nothing(found)));
        }
        if self.yes {
            return Ok(usual);
        }
        if !std::io::stdin().is_terminal() {
            return Err(usage!(
                "cannot ask without a terminal; name the judge:\n  {}\n  overrule init --yes",
                commands(&all).join("\n  ")
            ));
        }
        ask(&all, &usual)
    }
}

/// Lets the user choose among numbered judges; Enter alone selects the default ones.
fn ask(all: &[JudgeChoice], usual: &[JudgeChoice]) -> Result<Vec<JudgeChoice>, CommandFailure> {
    for (at, choice) in all.iter().enumerate() {
        output::message(&format!("{:>3}  {}", at + 1, words(choice)));
    }
    let places = usual
        .iter()
        .filter_map(|choice| all.iter().position(|one| one == choice));
    let usual_places: Vec<String> = places.map(|at| (at + 1).to_string()).collect();
    output::message(&format!(
        "Which judges? Type their numbers, separated by commas, and press Enter [{}]. q stops.",
        usual_places.join(",")
    ));
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    numbered(&answer, all, usual)
}

/// The judges of an answer; an empty line selects the default ones, and the end of input none.
fn numbered(
    answer: &str,
    all: &[JudgeChoice],
    usual: &[JudgeChoice],
) -> Result<Vec<JudgeChoice>, CommandFailure> {
    if answer.trim().is_empty() && answer.ends_with('\n') {
        return Ok(usual.to_vec());
    }
    let numbers = answer
        .trim()
        .split([',', ' '])
        .filter(|part| !part.is_empty());
    let mut chosen: Vec<JudgeChoice> = Vec::new();
    for number in numbers {
        let at = number.parse::<usize>().ok();
        let choice = at.and_then(|at| all.get(at.checked_sub(1)?));
        let choice = choice
            .ok_or_else(|| usage!("{number:?} is not a number of the list; nothing was written"))?;
        if !chosen.contains(choice) {
            chosen.push(choice.clone());
        }
    }
    if chosen.is_empty() {
        Err(usage!("nothing was chosen, and nothing was written"))
    } else {
        Ok(chosen)
    }
}

/// Describes a judge.
fn words(choice: &JudgeChoice) -> String {
    let place = match (&choice.base_url, choice.key) {
        (Some(url), _) => format!(" at {url}"),
        (None, Some(key)) => format!(" ({key})"),
        (None, None) => String::new(),
    };
    clean(format!("{} {}{place}", choice.provider, choice.model))
}

/// Describes what was found.
fn describe(found: &Discovery) -> String {
    let mut rows = Vec::new();
    for key in &found.keys {
        let models = if let Some(variable) = found.address_variable(key.provider) {
            format!("at {variable}")
        } else {
            choices(found)
                .into_iter()
                .find(|choice| choice.provider == key.provider)
                .map_or_else(|| "name one with --model".to_owned(), |choice| choice.model)
        };
        rows.push(vec![
            key.provider.to_owned(),
            key.variable.to_owned(),
            models,
        ]);
    }
    for key in &found.reranker_keys {
        rows.push(vec![
            key.provider.to_owned(),
            key.variable.to_owned(),
            "a reranker: see overrule manual rerankers".to_owned(),
        ]);
    }
    for server in &found.servers {
        let models = if server.models.is_empty() {
            "no model".to_owned()
        } else {
            first_of(&server.models, SHOWN)
        };
        rows.push(vec![clean(&server.provider), clean(&server.url), models]);
    }
    let silent = found.asked.len() - found.servers.len();
    let mut text = if rows.is_empty() {
        "no key is set\n".to_owned()
    } else {
        output::table(&["provider", "found", "models"], &rows)
    };
    if silent > 0 {
        let is_silent =
            |asked: &&ServerAddress| found.servers.iter().all(|one| one.url != asked.url);
        let places: Vec<String> = found
            .asked
            .iter()
            .filter(is_silent)
            .map(|asked| clean(format!("{} {}", asked.provider, asked.url)))
            .collect();
        text.push_str(&format!(
            "{} did not answer with a list of models: {}\n",
            counted(silent, "server"),
            places.join(", ")
        ));
    }
    text
}

/// The remedies if no judges were found.
fn nothing(found: &Discovery) -> String {
    let keys = found.keys.iter().map(|key| key.provider);
    let named: Vec<String> = keys
        .map(|provider| format!("overrule init --provider {provider} --model MODEL"))
        .collect();
    if named.is_empty() {
        "found no keys and no model servers: set a key (OPENAI_API_KEY, ANTHROPIC_API_KEY, \
         GEMINI_API_KEY, …) or start a model server (ollama serve), and run overrule init again; \
         the offline judges need neither, and no overrule.toml"
            .to_owned()
    } else {
        format!("no default model; name one:\n  {}", named.join("\n  "))
    }
}

/// The command that selects each judge, quoted so that it can be copied no matter what names a
/// server gives its models.
fn commands(all: &[JudgeChoice]) -> Vec<String> {
    let argument = |name: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@+".contains(c);
        if name.chars().all(plain) && !name.starts_with('-') {
            name.to_owned()
        } else {
            format!("'{}'", clean(name).replace('\'', r"'\''"))
        }
    };
    let command = |choice: &JudgeChoice| {
        let (provider, model) = (argument(&choice.provider), argument(&choice.model));
        format!("overrule init --provider {provider} --model {model}")
    };
    all.iter().map(command).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_names_judges_by_their_numbers() {
        let all: Vec<JudgeChoice> = ["a", "b", "c"]
            .map(|model| JudgeChoice {
                provider: "ollama".to_owned(),
                model: model.to_owned(),
                base_url: None,
                key: None,
            })
            .to_vec();
        let models = |answer: &str| -> Option<String> {
            let chosen = numbered(answer, &all, &all[..1]).ok()?;
            Some(chosen.into_iter().map(|one| one.model).collect())
        };
        for (answer, expected) in [
            ("\n", Some("a")),
            ("3, 1\n", Some("ca")),
            ("2 2", Some("b")),
            ("", None),
            ("q\n", None),
            ("0\n", None),
            ("1,4\n", None),
        ] {
            assert_eq!(models(answer).as_deref(), expected, "{answer:?}");
        }
    }
}
