//! The command line: one file per command. Data goes to stdout, messages to stderr.

mod adjudication;
mod allow;
pub(crate) mod annotate;
pub(crate) mod argument;
mod backup;
pub(crate) mod batch;
mod battles;
pub(crate) mod command;
mod compare;
mod config;
mod consent;
mod crash;
mod cycles;
pub(crate) mod demo;
mod doctor;
pub(crate) mod evaluate;
pub(crate) mod export;
mod fit;
mod gold;
mod help;
mod import;
mod init;
pub(crate) mod judges;
mod keys;
mod log;
mod manual;
pub(crate) mod matrix;
mod merge;
mod orders;
pub(crate) mod output;
mod override_pair;
mod pick;
pub(crate) mod picture_options;
mod pool;
mod prices;
mod queries;
mod queue;
mod rule;
pub(crate) mod signals;
mod similar_name;
pub(crate) mod simulation_progress;
pub(crate) mod slices;
pub(crate) mod spending;
mod status;
mod undo;
#[cfg(not(feature = "remote"))]
pub(crate) mod unshared;
pub(crate) mod vector_options;

use crate::app::permissions::AskedUser;
use crate::client::open_files;
use crate::config::{Config, ConfigError, InvalidConfig, user_file};
use crate::registry::FeatureCommand;
use crate::store::file::tell_waits;
use crate::store::upgrade::tell_upgrades;
use crate::tui::keymap;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use command::{CommandContext, CommandResult, DEFAULT_PROJECT, usage};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

#[derive(Debug, Parser)]
#[command(
    name = "overrule",
    version,
    about = "Audit LLM relevance judgments: battles, Bradley–Terry scores, and the verdicts that \
             overrule them",
    after_help = "Examples:
  overrule                              Open the workbench
  overrule annotate in.jsonl out.jsonl  Judge a dataset and write its scores
  overrule import ai_scores.json        Import a zBench run without any call
  overrule matrix --query Q             Print the matrix of a query

Run `overrule COMMAND --help` for the options of a command, and `overrule manual` for the manual.

Exit codes: 0 done · 1 failed · 2 bad usage or input · 3 done but incomplete · 130 interrupted"
)]
struct Arguments {
    /// Project file [default: overrule.db]
    #[arg(
        long,
        global = true,
        help_heading = "Global options",
        env = "OVERRULE_PROJECT",
        value_name = "FILE"
    )]
    project: Option<PathBuf>,
    /// Configuration file
    #[arg(
        long,
        global = true,
        help_heading = "Global options",
        env = "OVERRULE_CONFIG",
        value_name = "FILE"
    )]
    config: Option<PathBuf>,
    /// Your name as an annotator [env: OVERRULE_ANNOTATOR] [default: your user name]
    #[arg(
        long,
        global = true,
        help_heading = "Global options",
        value_name = "NAME",
        value_parser = command::annotator
    )]
    annotator: Option<String>,
    /// Write a log to this file; OVERRULE_LOG filters it [default: info]
    #[arg(
        long,
        global = true,
        help_heading = "Global options",
        value_name = "FILE"
    )]
    log_file: Option<PathBuf>,
    /// Do not change the project
    #[arg(long, global = true, hide = true)]
    reading: bool,
    #[command(subcommand)]
    command: Option<CliCommand>,
}

#[derive(Debug, Subcommand)]
enum CliCommand {
    /// Open the workbench on a copy of the bundled sample
    Demo(demo::DemoCommand),
    /// Find API keys and model servers, and write overrule.toml
    Init(init::InitCommand),
    /// Judge pairs of documents, fit scores and write them
    Annotate(annotate::AnnotateCommand),
    /// Check, fetch or cancel batches at the providers
    Batch(batch::BatchCommand),
    /// Import datasets, votes, benchmarks, labels or rankings
    Import(import::ImportCommand),
    /// Export scores, votes, verdicts, labels or rankings
    Export(export::ExportCommand),
    /// Copy the project into one file, even while it is in use
    Backup(backup::BackupCommand),
    /// Merge another analyst's project into this one
    Merge(merge::MergeCommand),
    /// Show the progress of the project
    Status(status::StatusCommand),
    /// List queries, their progress and how certain their top is
    Queries(queries::QueriesCommand),
    /// Print a query's K×K matrix and scores
    Matrix(matrix::MatrixCommand),
    /// Compare the hybrid order and the zELO order of a query
    Orders(orders::OrdersCommand),
    /// Print a query's battles with each vote and its reasoning
    Battles(battles::BattlesCommand),
    /// List the battles that are most worth checking
    Queue(queue::QueueCommand),
    /// List contradictions: A beats B, B beats C, C beats A
    Cycles(cycles::CyclesCommand),
    /// Show how good each judge is, and how far judges agree
    Judges(judges::JudgesCommand),
    /// Give a verdict on a pair of documents
    Override(override_pair::OverrideCommand),
    /// Undo your latest verdict or ruling
    Undo(undo::UndoCommand),
    /// Show who did what, and when
    Log(log::LogCommand),
    /// Import or list gold pairs (known answers for checking people)
    Gold(gold::GoldCommand),
    /// Fit scores to battles: JSON on stdin, JSON on stdout
    Fit(fit::FitCommand),
    /// Build candidate pools from a benchmark, with BM25 or embeddings
    Pool(pool::PoolCommand),
    /// Have judges pick the relevant documents of each pool
    Pick(pick::PickCommand),
    /// Compare picks with labels, and list their disagreements
    #[command(alias = "court")]
    Adjudication(adjudication::AdjudicationCommand),
    /// Rule on a label
    Rule(rule::RuleCommand),
    /// Measure a ranking against labels: NDCG, MRR, MAP, recall
    Evaluate(evaluate::EvaluateCommand),
    /// Compare two rankings query by query
    Compare(compare::CompareCommand),
    #[command(flatten)]
    Feature(FeatureCommand),
    /// Print a chapter of the manual
    Manual(manual::ManualCommand),
    /// Print the keys of the workbench
    Keys(keys::KeysCommand),
    /// List what models cost and how old the prices are
    Prices(prices::PricesCommand),
    /// Show the configuration, or change settings of the project
    Config(config::ConfigCommand),
    /// Allow overrule.toml to send keys to servers or run programs
    Allow(allow::AllowCommand),
    /// Check the installation, the project and the judges
    Doctor(doctor::DoctorCommand),
    /// Print shell completions
    #[command(after_help = "Example:
  overrule completions zsh > ~/.zfunc/_overrule")]
    Completions {
        /// bash, zsh, fish, elvish or powershell
        shell: clap_complete::Shell,
    },
    /// Print the man page with all chapters of the manual
    #[command(hide = true)]
    Man,
}

/// Runs the command line and returns the exit code.
pub fn main() -> ExitCode {
    signals::report_size_limits();
    let command = help::with_negative_numbers(Arguments::command());
    let command = help::without_empty_variables(command);
    let columns = help::columns();
    let arguments = help::arranged(help::flowing(command, columns), columns)
        .try_get_matches()
        .and_then(|matches| Arguments::from_arg_matches(&matches));
    let done = match arguments {
        Ok(arguments) => {
            let project = arguments
                .project
                .clone()
                .unwrap_or_else(|| DEFAULT_PROJECT.into());
            crash::caught(&project, || run(arguments))
        }
        Err(error) => match help::file_for_command(&error).or_else(|| help::wrong_number(&error)) {
            Some(words) => Err(usage!("{words}")),
            None => error.exit(),
        },
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => output::failure(failure),
    }
}

fn run(arguments: Arguments) -> CommandResult {
    let _log = arguments
        .log_file
        .as_deref()
        .map(output::start_log)
        .transpose()?;
    open_files::raise_limit();
    tell_upgrades(output::upgrade);
    tell_waits(output::waiting);
    let (config, config_file) = Config::load(arguments.config.as_deref())?;
    if let Some(path) = &config_file {
        let keys = config.keymap.bound(&config.text);
        keymap::remap::install(&keys).map_err(|error| ConfigError::Invalid {
            path: path.clone(),
            why: InvalidConfig::Keymap(error.to_string()),
        })?;
    }
    let consent = AskedUser::new(
        config.permissions.clone(),
        config_file.clone().or_else(user_file),
        consent::dialog(),
    );
    let context = CommandContext {
        consent: Arc::new(consent),
        named_project: arguments.project,
        named_annotator: arguments.annotator,
        is_reading: arguments.reading,
        config,
        config_file,
    };
    let context = &context;
    match arguments.command {
        None => demo::open(context),
        Some(CliCommand::Demo(command)) => command.run(context),
        Some(CliCommand::Init(command)) => command.run(context),
        Some(CliCommand::Annotate(command)) => command.run(context),
        Some(CliCommand::Batch(command)) => command.run(context),
        Some(CliCommand::Import(command)) => command.run(context),
        Some(CliCommand::Export(command)) => command.run(context),
        Some(CliCommand::Backup(command)) => command.run(context),
        Some(CliCommand::Merge(command)) => command.run(context),
        Some(CliCommand::Status(command)) => command.run(context),
        Some(CliCommand::Queries(command)) => command.run(context),
        Some(CliCommand::Matrix(command)) => command.run(context),
        Some(CliCommand::Orders(command)) => command.run(context),
        Some(CliCommand::Battles(command)) => command.run(context),
        Some(CliCommand::Queue(command)) => command.run(context),
        Some(CliCommand::Cycles(command)) => command.run(context),
        Some(CliCommand::Judges(command)) => command.run(context),
        Some(CliCommand::Override(command)) => command.run(context),
        Some(CliCommand::Undo(command)) => command.run(context),
        Some(CliCommand::Log(command)) => command.run(context),
        Some(CliCommand::Gold(command)) => command.run(context),
        Some(CliCommand::Fit(command)) => command.run(),
        Some(CliCommand::Pool(command)) => command.run(context),
        Some(CliCommand::Pick(command)) => command.run(context),
        Some(CliCommand::Adjudication(command)) => command.run(context),
        Some(CliCommand::Rule(command)) => command.run(context),
        Some(CliCommand::Evaluate(command)) => command.run(context),
        Some(CliCommand::Compare(command)) => command.run(context),
        Some(CliCommand::Feature(command)) => command.run(context),
        Some(CliCommand::Manual(command)) => command.run(),
        Some(CliCommand::Keys(command)) => command.run(),
        Some(CliCommand::Prices(command)) => command.run(context),
        Some(CliCommand::Config(command)) => command.run(context),
        Some(CliCommand::Allow(command)) => command.run(context),
        Some(CliCommand::Doctor(command)) => command.run(context),
        Some(CliCommand::Completions { shell }) => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut visible(), "overrule", &mut script);
            output::text(&String::from_utf8_lossy(&script))
        }
        Some(CliCommand::Man) => {
            let mut page = Vec::new();
            clap_mangen::Man::new(help::flowing(Arguments::command(), usize::MAX))
                .render(&mut page)?;
            page.extend(manual::roff().into_bytes());
            output::text(&String::from_utf8_lossy(&page))
        }
    }
}

/// The command line without hidden commands, which shell completions would offer otherwise.
pub(crate) fn visible() -> clap::Command {
    let all = Arguments::command();
    clap::Command::new("overrule")
        .version(env!("CARGO_PKG_VERSION"))
        .args(all.get_arguments())
        .subcommands(
            all.get_subcommands()
                .filter(|command| !command.is_hide_set()),
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
