//! `overrule mcp`: serves the project to an agent over the Model Context Protocol.

mod program;
mod server;
mod tools;

use crate::cli::command::{CommandContext, CommandFailure, CommandResult};
use crate::cli::signals;
use crate::cli::spending::dollars;
use clap::Args;
use program::Program;
use rmcp::transport::stdio;
use rmcp::{ServiceExt as _, service::ServerInitializeError};
use server::{Allowance, Asking, Server};

#[derive(Debug, Args)]
#[command(
    after_help = "An agent starts this command and talks to it on the standard input and output. Its \
tools print the same JSON as the commands with --json, and the chapters of the manual are resources. \
An agent can propose verdicts: people see them in the workbench (`overrule queue --policy proposed`) \
after they have given their own, and no score uses them. Nothing is spent without --allow-spend.

Examples:
  claude mcp add overrule -- overrule --project /data/overrule.db mcp
  overrule mcp --allow-spend 2.50    the agent may also ask the judges about pairs, for $2.50 at most"
)]
pub(crate) struct McpCommand {
    /// Allow the agent to ask the judges, for at most this many dollars while the server runs
    #[arg(long, value_name = "USD", value_parser = dollars)]
    allow_spend: Option<f64>,
}

impl McpCommand {
    pub(crate) fn run(self, context: &CommandContext) -> CommandResult {
        let asking = Asking::default();
        let server = Server {
            program: Program::of(context)?,
            project: context.project().to_owned(),
            allowance: self.allowance(context)?,
            asking: asking.clone(),
        };
        let runtime = signals::runtime()?;
        let served = runtime.block_on(async {
            let served = match server.serve(stdio()).await {
                Ok(running) => running
                    .waiting()
                    .await
                    .map(drop)
                    .map_err(anyhow::Error::from),
                // The client left without a word.
                Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
                Err(error) => Err(error.into()),
            };
            asking.end().await;
            served
        });
        // A read of the standard input may still be waiting.
        runtime.shutdown_background();
        Ok(served?)
    }

    /// What the agent may spend. Opening the project upgrades one of an earlier version.
    fn allowance(&self, context: &CommandContext) -> Result<Option<Allowance>, CommandFailure> {
        let project = context.has_project().then(|| context.open()).transpose()?;
        let Some(amount) = self.allow_spend else {
            return Ok(None);
        };
        let spent = project
            .as_ref()
            .map(|store| store.read_blocking(|db| db.spent()));
        let spent: f64 = spent.transpose()?.iter().flatten().map(|of| of.usd()).sum();
        Ok(Some(Allowance {
            most_usd: spent + amount,
            usual_usd: context.config.run.budget,
        }))
    }
}
