//! The command line: one file a command. stdout is data, stderr is people.

mod adjudication;
mod annotate;
mod batch;
mod battles;
mod bench_sampler;
mod benchmark;
mod choose_judges;
mod compare;
mod config;
mod cycles;
mod demo;
mod doctor;
mod evaluate;
mod export;
mod fit;
mod gold;
mod import;
mod judges;
mod keys;
mod list;
mod log;
mod manual;
mod matrix;
mod merge;
mod output;
mod pair_verdicts;
mod pick;
mod pool;
mod queue;
mod rule;
mod signals;
mod verdict;

use crate::config::Config;
use crate::store::Store;
use clap::builder::NonEmptyStringValueParser;
use clap::{CommandFactory, Parser, Subcommand};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Where a project is looked for when nothing else is said.
pub const DEFAULT_PROJECT: &str = "overrule.db";

#[derive(Debug, Parser)]
#[command(
    name = "overrule",
    version,
    about = "Audit LLM relevance judgments: battles, Bradley–Terry scores, and the verdicts that overrule them",
    after_help = "Examples:
  overrule                                 the workbench on ./overrule.db, or on the bundled sample
  overrule annotate in.jsonl out.jsonl     judge, fit and write zELO scores (resumable)
  overrule import ai_scores.json           look into an existing zBench run, no call made
  overrule matrix --query Q --order zelo   the K×K matrix as text
  overrule override --query Q --a D1 --b D2 --verdict a --note \"names the trial\"

Exit codes: 0 done · 1 failed · 2 bad usage or input · 3 done but incomplete · 130 interrupted"
)]
struct Arguments {
    /// The project file.
    #[arg(long, global = true, env = "OVERRULE_PROJECT", value_name = "FILE")]
    project: Option<PathBuf>,
    /// The configuration file.
    #[arg(long, global = true, env = "OVERRULE_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    /// Who you are: whose verdicts are given, taken back or listed (OVERRULE_ANNOTATOR; else the system's user)
    #[arg(long, global = true, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    annotator: Option<String>,
    /// Write a log here (filter with OVERRULE_LOG, default info).
    #[arg(long, global = true, value_name = "FILE")]
    log_file: Option<PathBuf>,
    #[command(subcommand)]
    command: Option<CliCommand>,
}

#[derive(Debug, Subcommand)]
enum CliCommand {
    /// Open the workbench on a fresh copy of the bundled sample
    Demo(demo::DemoCommand),
    /// Judge the battles of a dataset, fit the scores and write them
    Annotate(annotate::AnnotateCommand),
    /// How far the batches are at the providers; fetch or cancel them
    Batch(batch::BatchCommand),
    /// Bring files into the project: datasets, zBench ai_scores.json, benchmarks, qrels, runs
    Import(import::ImportCommand),
    /// Write what the project holds: annotated, ai-scores, votes, verdicts, qrels, rulings, picks
    Export(export::ExportCommand),
    /// Take over what another analyst's project file has
    Merge(merge::MergeCommand),
    /// How far the project is
    Status(list::StatusCommand),
    /// One row a query
    Queries(list::QueriesCommand),
    /// A query's K×K matrix and scores
    Matrix(matrix::MatrixCommand),
    /// Battles with every vote and its reasoning
    Battles(battles::BattlesCommand),
    /// Which battles to look at first
    Queue(queue::QueueCommand),
    /// A over B over C over A: battles that contradict each other
    Cycles(cycles::CyclesCommand),
    /// How good each judge is, and how far judges and people agree
    Judges(judges::JudgesCommand),
    /// What a sampling strategy is worth, in simulation
    BenchSampler(bench_sampler::BenchSamplerCommand),
    /// Give a verdict on a pair of documents
    Override(verdict::OverrideCommand),
    /// Take back your latest verdict, or ruling
    Undo(verdict::UndoCommand),
    /// Who did what, when, and what it changed
    Log(log::LogCommand),
    /// Pairs with a known answer, to measure people by
    Gold(gold::GoldCommand),
    /// Fit scores to battles: JSON on stdin, JSON on stdout
    Fit(fit::FitCommand),
    /// Candidate pools from a benchmark: BM25 over its corpus, with the labelled documents
    Pool(pool::PoolCommand),
    /// Have judges pick the relevant documents of pools
    Pick(pick::PickCommand),
    /// Hold picks against the labels, beside chance; what rulings make of the rankings
    #[command(alias = "court")]
    Adjudication(adjudication::AdjudicationCommand),
    /// Rule on a label
    Rule(rule::RuleCommand),
    /// Measure a ranking against labels: NDCG, MRR, MAP, recall, with intervals
    Evaluate(evaluate::EvaluateCommand),
    /// Compare two rankings query by query, against the same labels
    Compare(compare::CompareCommand),
    /// The manual, a chapter a topic
    Manual(manual::ManualCommand),
    /// The key table
    Keys(keys::KeysCommand),
    /// The configuration, and the project's own settings
    Config(config::ConfigCommand),
    /// Check the installation, the terminal, the project and the judges
    Doctor(doctor::DoctorCommand),
    /// Shell completions
    Completions {
        /// bash, zsh, fish, elvish or powershell
        shell: clap_complete::Shell,
    },
    /// The manual page with all chapters, in roff
    #[command(hide = true)]
    Man,
}

/// An error with the exit code it deserves.
#[derive(Debug)]
pub struct CommandFailure {
    code: u8,
    error: Option<anyhow::Error>,
}

impl CommandFailure {
    /// Bad usage or bad input: exit code 2.
    pub fn usage(error: impl Into<anyhow::Error>) -> Self {
        Self {
            code: 2,
            error: Some(error.into()),
        }
    }

    /// Done but incomplete, already explained on stderr: exit code 3.
    pub fn incomplete() -> Self {
        Self {
            code: 3,
            error: None,
        }
    }

    /// Whether a file could not be written for want of room.
    fn is_disk_full(&self) -> bool {
        let full = std::io::ErrorKind::StorageFull;
        let error = self.error.as_ref();
        error.is_some_and(|error| output::is_io_error(error, full))
    }

    /// Interrupted: exit code 130.
    pub fn interrupted() -> Self {
        Self {
            code: 130,
            error: None,
        }
    }
}

impl<E: Into<anyhow::Error>> From<E> for CommandFailure {
    fn from(error: E) -> Self {
        let error = error.into();
        let bad_input = matches!(
            error.downcast_ref::<crate::store::StoreError>(),
            Some(
                crate::store::StoreError::NotFound(_)
                    | crate::store::StoreError::Conflict(_)
                    | crate::store::StoreError::NotAProject { .. }
                    | crate::store::StoreError::Newer { .. }
                    | crate::store::StoreError::Outdated { .. }
                    | crate::store::StoreError::Linked { .. }
                    | crate::store::StoreError::ReadOnly { .. }
            )
        ) || error.downcast_ref::<crate::config::ConfigError>().is_some();
        Self {
            code: if bad_input { 2 } else { 1 },
            error: Some(error),
        }
    }
}

/// What a command returns.
pub type CommandResult = Result<(), CommandFailure>;

/// What every command is given.
#[derive(Debug)]
pub struct CommandContext {
    project: Option<PathBuf>,
    /// The `--annotator` of this call.
    annotator: Option<String>,
    config: Config,
    config_file: Option<PathBuf>,
}

impl CommandContext {
    fn project(&self) -> &Path {
        self.project
            .as_deref()
            .unwrap_or(Path::new(DEFAULT_PROJECT))
    }

    /// Who gives verdicts.
    fn annotator(&self) -> String {
        let named = self.annotator.clone();
        named.unwrap_or_else(|| self.config.annotator())
    }

    fn open(&self) -> Result<Store, CommandFailure> {
        Ok(Store::open_existing(self.project())?)
    }

    /// Opens the project, creating it with the configured rating settings where there is none.
    fn open_or_create(&self) -> Result<Store, CommandFailure> {
        create_project(self.project(), &self.config)
    }
}

fn create_project(path: &Path, config: &Config) -> Result<Store, CommandFailure> {
    let fresh = !path.exists();
    let store = Store::open(path)?;
    if fresh {
        let settings = config.rating;
        store.write_blocking(move |db| db.set_settings(&settings))?;
    }
    Ok(store)
}

/// Runs the command line and says how the process is to end.
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if let Some(error) = failure.error {
                if output::is_broken_pipe(&error) {
                    return ExitCode::SUCCESS;
                }
                output::message(&format!("overrule: {error:#}"));
            }
            ExitCode::from(failure.code)
        }
    }
}

fn run(arguments: Arguments) -> CommandResult {
    let _log = arguments
        .log_file
        .as_deref()
        .map(output::start_log)
        .transpose()?;
    let (config, config_file) = Config::load(arguments.config.as_deref())?;
    let context = CommandContext {
        project: arguments.project,
        annotator: arguments.annotator,
        config,
        config_file,
    };
    match arguments.command {
        None => demo::open(&context),
        Some(CliCommand::Demo(command)) => command.run(&context),
        Some(CliCommand::Annotate(command)) => command.run(&context),
        Some(CliCommand::Batch(command)) => command.run(&context),
        Some(CliCommand::Import(command)) => command.run(&context),
        Some(CliCommand::Export(command)) => command.run(&context),
        Some(CliCommand::Merge(command)) => command.run(&context),
        Some(CliCommand::Status(command)) => command.run(&context),
        Some(CliCommand::Queries(command)) => command.run(&context),
        Some(CliCommand::Matrix(command)) => command.run(&context),
        Some(CliCommand::Battles(command)) => command.run(&context),
        Some(CliCommand::Queue(command)) => command.run(&context),
        Some(CliCommand::Cycles(command)) => command.run(&context),
        Some(CliCommand::Judges(command)) => command.run(&context),
        Some(CliCommand::BenchSampler(command)) => command.run(&context),
        Some(CliCommand::Override(command)) => command.run(&context),
        Some(CliCommand::Undo(command)) => command.run(&context),
        Some(CliCommand::Log(command)) => command.run(&context),
        Some(CliCommand::Gold(command)) => command.run(&context),
        Some(CliCommand::Fit(command)) => command.run(),
        Some(CliCommand::Pool(command)) => command.run(&context),
        Some(CliCommand::Pick(command)) => command.run(&context),
        Some(CliCommand::Adjudication(command)) => command.run(&context),
        Some(CliCommand::Rule(command)) => command.run(&context),
        Some(CliCommand::Evaluate(command)) => command.run(),
        Some(CliCommand::Compare(command)) => command.run(),
        Some(CliCommand::Manual(command)) => command.run(),
        Some(CliCommand::Keys(command)) => command.run(),
        Some(CliCommand::Config(command)) => command.run(&context),
        Some(CliCommand::Doctor(command)) => command.run(&context),
        Some(CliCommand::Completions { shell }) => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "overrule", &mut script);
            Ok(output::text(&String::from_utf8_lossy(&script))?)
        }
        Some(CliCommand::Man) => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Arguments::command()).render(&mut page)?;
            page.extend(manual::roff().into_bytes());
            Ok(output::text(&String::from_utf8_lossy(&page))?)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
