//! The commands and options for shared work in a build without it: they name the remedy.

use super::command::{CommandContext, CommandResult, usage};
use crate::app::unsynchronized::WITHOUT_SERVER;
use clap::Args;
use std::convert::Infallible;
use std::ffi::OsString;

/// A command for shared work, with any arguments.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub(crate) struct UnsharedCommand {
    #[arg(
        hide = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENTS"
    )]
    _arguments: Vec<OsString>,
}

impl UnsharedCommand {
    pub(crate) fn run(self, _: &CommandContext) -> CommandResult {
        Err(usage!("{WITHOUT_SERVER}"))
    }
}

/// The options for shared work.
#[derive(Debug, Args)]
pub(crate) struct UnsharedOptions {
    #[arg(long, aliases = ["job", "lease"], value_name = "URL", hide = true, value_parser = refuse)]
    _remote: Option<Infallible>,
}

fn refuse(_: &str) -> Result<Infallible, &'static str> {
    Err(WITHOUT_SERVER)
}
