//! `overrule keys`: prints the key table.

use crate::cli::command::CommandResult;
use crate::cli::output;
use crate::tui::keymap;
use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  overrule keys
  overrule keys | less
  overrule keys --json | jq length")]
pub(super) struct KeysCommand {
    /// Print Markdown, as in the manual
    #[arg(long)]
    markdown: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl KeysCommand {
    pub(super) fn run(self) -> CommandResult {
        if self.json {
            output::json(&keymap::rows())?;
        } else if self.markdown {
            output::raw(&keymap::markdown())?;
        } else {
            output::raw(&keymap::plain())?;
        }
        Ok(())
    }
}
