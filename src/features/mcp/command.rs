//! `overrule mcp`: serves the project to an agent over the Model Context Protocol.

mod program;
mod server;
mod tools;

use crate::cli::command::{CommandContext, CommandFailure, CommandResult};
use crate::cli::signals;
use crate::cli::spending::{budget_in_force, dollars};
use clap::Args;
use program::Program;
use rmcp::transport::stdio;
use rmcp::{ServiceExt as _, service::ServerInitializeError};
use server::Server;

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
        let server = Server {
            program: Program::of(context)?,
            project: context.project().to_owned(),
            budget: self.budget(context)?,
        };
        let runtime = signals::runtime()?;
        let served = runtime.block_on(async {
            match server.serve(stdio()).await {
                Ok(running) => running
                    .waiting()
                    .await
                    .map(drop)
                    .map_err(anyhow::Error::from),
                // The client left without a word.
                Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
                Err(error) => Err(error.into()),
            }
        });
        // A read of the standard input may still be waiting.
        runtime.shutdown_background();
        Ok(served?)
    }

    /// What the project may have cost at most after the agent has spent its amount; `None` if the
    /// agent may spend nothing.
    fn budget(&self, context: &CommandContext) -> Result<Option<f64>, CommandFailure> {
        let Some(amount) = self.allow_spend else {
            return Ok(None);
        };
        let project = context.has_project().then(|| context.open()).transpose()?;
        let spent = project
            .as_ref()
            .map(|store| store.read_blocking(|db| db.spent()));
        let spent: f64 = spent.transpose()?.iter().flatten().map(|of| of.usd()).sum();
        let in_force = budget_in_force(context, None, project.as_ref())?;
        Ok(Some(
            (spent + amount).min(in_force.unwrap_or(f64::INFINITY)),
        ))
    }
}
