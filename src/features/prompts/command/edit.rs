//! `overrule prompt edit`: stores an edited copy of a prompt.

use super::versions::{text_of, version_named};
use crate::app::error::{AppError, invalid};
use crate::app::text_editor::TextEditor;
use crate::cli::command::{CommandContext, CommandFailure, CommandResult, usage};
use crate::cli::output;
use crate::client::now_ms;
use crate::features::prompts::app::{NewVersion, add_version};
use crate::formats::file;
use clap::Args;
use serde_json::json;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(
    after_help = "Opens a copy in $VISUAL or $EDITOR and stores it when the editor exits; \
with --file, stores the text of a file. The votes and the judges of the project stay as they are. \
Its form and its placeholders are described in `overrule manual judges`.

Examples:
  overrule prompt edit gpt --note \"prefer evidence\"
  overrule prompt edit score --file mine.md"
)]
pub(super) struct EditCommand {
    /// The prompt to start from: hash, built-in name or judge
    prompt: String,
    /// Store the text of this file instead of opening an editor
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// The reason for the change
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl EditCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let parent = version_named(&store, &self.prompt)?;
        let (text, draft) = match &self.file {
            Some(file) => (read_text(file)?, None),
            None => {
                let (text, draft) = edited(text_of(&parent)?)?;
                (text, Some(draft))
            }
        };
        // With a new guideline, the same text is another version.
        let depends_on_project = parent.project_texts.is_some();
        if !depends_on_project && parent.text.as_deref() == Some(text.as_str()) {
            draft.map(std::fs::remove_file).transpose()?;
            return Err(invalid!("the text is unchanged; nothing was stored").into());
        }
        let new = NewVersion {
            text,
            parent: Some(parent.clone()),
            note: self.note,
            author: context.annotator(),
            examples: parent.examples.clone(),
        };
        let stored = add_version(&store, new, now_ms());
        match (&stored, draft) {
            (Ok(_), Some(draft)) => std::fs::remove_file(draft)?,
            (Err(_), Some(draft)) => output::message(&kept_words(&draft)),
            (_, None) => {}
        }
        let (hash, is_new) = stored?;
        if self.json {
            return output::json(&json!({"hash": hash, "parent": parent.hash, "new": is_new}));
        }
        output::message(&if is_new {
            format!("stored prompt {hash}, made from {}", parent.hash)
        } else {
            format!("prompt {hash} is known already; nothing was stored")
        });
        Ok(())
    }
}

/// The text of a file.
pub(crate) fn read_text(path: &Path) -> Result<String, AppError> {
    file::read_to_string(path)
        .map_err(|error| invalid!("{}: cannot be read: {error}", file::display_name(path)))
}

/// The text after the user has edited it, and the file that has it.
fn edited(text: &str) -> Result<(String, PathBuf), CommandFailure> {
    let editor = TextEditor::of_person().filter(|_| std::io::stdin().is_terminal());
    let Some(editor) = editor else {
        return Err(usage!(
            "no editor: set $VISUAL or $EDITOR in a terminal, or store the text of a file with \
             --file"
        ));
    };
    match editor.edit(text, "prompt") {
        Ok(edited) => Ok((edited.text, edited.draft)),
        Err(failure) => {
            if let Some(draft) = &failure.draft {
                output::message(&kept_words(draft));
            }
            Err(usage!("{failure}"))
        }
    }
}

fn kept_words(draft: &Path) -> String {
    format!(
        "the text stays in {}; `prompt edit` with --file stores it",
        draft.display()
    )
}
