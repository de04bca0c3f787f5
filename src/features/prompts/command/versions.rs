//! `overrule prompt list`, `show`, `diff` and `export`.

use crate::app::error::{AppError, invalid};
use crate::app::output_file::write_whole;
use crate::app::text_format::moment_words;
use crate::cli::command::{CommandContext, CommandFailure, CommandResult};
use crate::cli::output::{self, clean, or_dash};
use crate::domain::sanitize;
use crate::features::prompts::app::{find_version, versions};
use crate::features::prompts::domain::PromptVersion;
use crate::store::Store;
use clap::Args;
use serde_json::{Value, json};
use similar::TextDiff;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "A prompt of votes whose text was never stored is listed as \"text unknown\".

Examples:
  overrule prompt list
  overrule prompt list --json | jq '.[] | select(.votes > 0).hash'"
)]
pub(super) struct ListCommand {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  overrule prompt show gpt
  overrule prompt show score --json | jq -r .text")]
pub(super) struct ShowCommand {
    /// Hash, built-in name or judge
    prompt: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  overrule prompt diff score 1f3a
  overrule prompt diff 1f3a                    compare with the prompt that it was made from")]
pub(super) struct DiffCommand {
    /// Hash, built-in name or judge
    old: String,
    /// Hash, built-in name or judge [default: OLD is compared with the prompt it was made from]
    new: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  overrule prompt export gpt gpt.md
  overrule prompt export 1f3a -                print it")]
pub(super) struct ExportCommand {
    /// Hash, built-in name or judge
    prompt: String,
    /// The file to write; - is the standard output
    file: PathBuf,
}

impl ListCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let found = context.open()?.read_blocking(|db| versions(db))?;
        if self.json {
            let rows = found.iter().map(|version| as_json(version, false));
            return output::json(&rows.collect::<Vec<_>>());
        }
        let rows: Vec<Vec<String>> = found.iter().map(row).collect();
        let header = ["#hash", "judges", ">votes", "from", "by", "when", "note"];
        output::text(&output::table(&header, &rows))
    }
}

fn row(of: &PromptVersion) -> Vec<String> {
    let judges: Vec<String> = of.judges.iter().map(|of| clean(&of.judge)).collect();
    let origin = match (of.name, &of.parent, &of.text) {
        (Some(name), ..) => format!("built in: {name}"),
        (None, Some(parent), _) => clean(parent),
        (None, None, None) => "text unknown".to_owned(),
        (None, None, Some(_)) => "file".to_owned(),
    };
    vec![
        clean(&of.hash),
        or_dash((!judges.is_empty()).then(|| judges.join(", ")), |of| of),
        of.votes().to_string(),
        origin,
        or_dash(of.author.as_deref(), clean),
        or_dash(of.created_ms, moment_words),
        or_dash(of.note.as_deref(), clean),
    ]
}

fn as_json(of: &PromptVersion, with_text: bool) -> Value {
    let mut row = json!({
        "hash": of.hash,
        "name": of.name,
        "text_known": of.text.is_some(),
        "metadata": of.fields,
        "project_texts": of.project_texts.as_deref().map(serde_json::from_str::<Value>).and_then(Result::ok),
        "votes": of.votes(),
        "judges": of.judges,
        "parent": of.parent,
        "note": of.note,
        "author": of.author,
        "examples": of.examples,
        "created_ms": of.created_ms,
    });
    if with_text {
        row["text"] = json!(of.text);
    }
    row
}

/// The version that `reference` names.
pub(super) fn version_named(
    store: &Store,
    reference: &str,
) -> Result<PromptVersion, CommandFailure> {
    let found = store.read_blocking(|db| versions(db))?;
    Ok(find_version(&found, reference)?.clone())
}

/// The text of a version.
///
/// # Errors
/// It was never stored.
pub(crate) fn text_of(version: &PromptVersion) -> Result<&str, AppError> {
    version.text.as_deref().ok_or_else(|| {
        invalid!(
            "the text of prompt {} is unknown: the project holds votes with its hash, but an \
             earlier version of overrule did not store the text; run the judge with it, or store \
             it with `prompt edit score --file FILE`",
            sanitize::line(&version.hash)
        )
    })
}

impl ShowCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let version = version_named(&context.open()?, &self.prompt)?;
        if self.json {
            return output::json(&as_json(&version, true));
        }
        output::raw(&sanitize::block(text_of(&version)?))
    }
}

impl DiffCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let named = version_named(&store, &self.old)?;
        let (old, new) = match (&self.new, &named.parent) {
            (Some(new), _) => (named, version_named(&store, new)?),
            (None, Some(parent)) => (version_named(&store, parent)?, named),
            (None, None) => {
                return Err(invalid!(
                    "prompt {} was not made from another one; name two prompts",
                    sanitize::line(&named.hash)
                )
                .into());
            }
        };
        let changes = diff(&old, &new)?;
        if self.json {
            return output::json(&json!({"old": old.hash, "new": new.hash, "diff": changes}));
        }
        output::raw(&sanitize::block(&changes))
    }
}

/// The lines in which two versions differ.
///
/// # Errors
/// The text of one was never stored.
pub(super) fn diff(old: &PromptVersion, new: &PromptVersion) -> Result<String, AppError> {
    Ok(TextDiff::from_lines(text_of(old)?, text_of(new)?)
        .unified_diff()
        .header(&old.hash, &new.hash)
        .to_string())
}

impl ExportCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let version = version_named(&context.open()?, &self.prompt)?;
        let text = text_of(&version)?;
        context.check_targets([self.file.as_path()], &[], None)?;
        write_whole(&self.file, |out| Ok(out.write_all(text.as_bytes())?))?;
        output::wrote(&self.file);
        Ok(())
    }
}
