//! `overrule lists`: list calls, which show several documents at once.

pub(crate) mod annotate;
mod ask;
mod count;
mod import;
mod qualify;
mod ranking;
mod show;

use crate::cli::command::{CommandContext, CommandResult};
use clap::{Args, Subcommand};
pub(crate) use import::ImportListsCommand;

#[derive(Debug, Args)]
#[command(
    after_help = "A list call shows several documents of a query, and the judge answers their order. \
List calls are stored with their replies and are never paid for twice. They change the scores of the \
project only after `lists count`, and only those of judges that have qualified.

Examples:
  overrule lists ask --calls 60 --dry-run
  overrule lists qualify --dry-run
  overrule lists count --dry-run
  overrule lists ranking --query q1"
)]
pub(crate) struct ListsCommand {
    #[command(subcommand)]
    action: ListsAction,
}

#[derive(Debug, Subcommand)]
enum ListsAction {
    /// Ask judges for the order of several documents at once
    Ask(ask::AskCommand),
    /// Test whether the lists of judges may count
    Qualify(qualify::QualifyCommand),
    /// Let list calls count in the scores of the project
    Count(count::CountCommand),
    /// Rank a query by votes and the list calls that count
    Ranking(ranking::RankingCommand),
    /// Print the list calls of the project or of a query
    Show(show::ShowCommand),
}

impl ListsCommand {
    pub(crate) fn run(self, context: &CommandContext) -> CommandResult {
        match self.action {
            ListsAction::Ask(ask) => ask.run(context),
            ListsAction::Qualify(qualify) => qualify.run(context),
            ListsAction::Count(count) => count.run(context),
            ListsAction::Ranking(ranking) => ranking.run(context),
            ListsAction::Show(show) => show.run(context),
        }
    }
}
