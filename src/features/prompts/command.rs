//! `overrule prompt`: versions of judges' prompts, and trials of them.

mod edit;
mod set;
mod suggest;
mod try_prompt;
mod use_prompt;
mod versions;

use crate::cli::command::{CommandContext, CommandResult};
use crate::registry::AddedPromptCommand;
use clap::{Args, Subcommand};

pub(crate) use edit::read_text;
pub(crate) use versions::text_of;

#[derive(Debug, Args)]
#[command(
    after_help = "Name a prompt by its hash or the first digits of the hash (`prompt list`), by a \
built-in name (score, choice, letter), or by a judge, which stands for the prompt of most of its \
votes.

Examples:
  overrule prompt list
  overrule prompt edit gpt --note \"prefer evidence\"
  overrule prompt diff gpt 1f3a
  overrule prompt try gpt mine.md --dry-run
  overrule prompt check gpt mine.md --not-worse-than 1f3a
  overrule prompt suggest gpt --with claude"
)]
pub(crate) struct PromptCommand {
    #[command(subcommand)]
    action: PromptAction,
}

#[derive(Debug, Subcommand)]
enum PromptAction {
    /// List the prompts of the project and the judges that vote with them
    List(versions::ListCommand),
    /// Print the text of a prompt
    Show(versions::ShowCommand),
    /// Print the lines in which two prompts differ
    Diff(versions::DiffCommand),
    /// Edit a copy of a prompt, and store it as a new version
    Edit(edit::EditCommand),
    /// Write the text of a prompt to a file
    Export(versions::ExportCommand),
    /// List the pairs on which prompts are tuned and tested
    Set(set::SetCommand),
    /// Try a prompt on pairs that people decided, and compare it with the votes of the judge
    Try(try_prompt::TryCommand),
    #[command(flatten)]
    Added(AddedPromptCommand),
    /// Ask a judge to propose a revision of a prompt
    Suggest(suggest::SuggestCommand),
    /// Replace the prompt of a judge, or add a judge with it
    Use(use_prompt::UseCommand),
}

impl PromptCommand {
    pub(crate) fn run(self, context: &CommandContext) -> CommandResult {
        match self.action {
            PromptAction::List(list) => list.run(context),
            PromptAction::Show(show) => show.run(context),
            PromptAction::Diff(diff) => diff.run(context),
            PromptAction::Edit(edit) => edit.run(context),
            PromptAction::Export(export) => export.run(context),
            PromptAction::Set(set) => set.run(context),
            PromptAction::Try(trial) => trial.run(context),
            PromptAction::Added(added) => added.run(context),
            PromptAction::Suggest(suggest) => suggest.run(context),
            PromptAction::Use(replacement) => replacement.run(context),
        }
    }
}
