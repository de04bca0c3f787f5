//! The command line: one file a command. stdout is data, stderr is people.

mod adjudication;
mod allow;
mod annotate;
mod backup;
mod batch;
mod battles;
mod bench_duel;
mod bench_methods;
mod bench_override;
mod bench_sampler;
mod bench_student;
mod command;
mod compare;
mod config;
mod consent;
mod crash;
mod cycles;
mod demo;
mod doctor;
mod duel;
mod evaluate;
mod export;
mod fit;
mod gold;
mod help;
mod import;
mod init;
mod judges;
mod keys;
mod log;
mod manual;
mod matrix;
mod merge;
mod methods;
mod nine;
mod output;
mod override_pair;
mod pick;
mod pool;
mod prices;
mod queries;
mod queue;
mod rerank;
mod rule;
mod sbr;
mod scale;
mod signals;
mod similar_name;
mod simulation_progress;
mod spending;
mod status;
mod student;
mod undo;
mod vector_options;

use crate::app::permissions::AskedUser;
use crate::client::open_files;
use crate::config::{Config, ConfigError, user_file};
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
    #[arg(
        long,
        global = true,
        help_heading = "Options of every command",
        env = "OVERRULE_PROJECT",
        value_name = "FILE"
    )]
    project: Option<PathBuf>,
    /// The configuration file.
    #[arg(
        long,
        global = true,
        help_heading = "Options of every command",
        env = "OVERRULE_CONFIG",
        value_name = "FILE"
    )]
    config: Option<PathBuf>,
    /// Who you are: whose verdicts are given, undone or listed (OVERRULE_ANNOTATOR; else the system's user)
    #[arg(long, global = true, help_heading = "Options of every command", value_name = "NAME", value_parser = command::annotator)]
    annotator: Option<String>,
    /// Write a log here (filter with OVERRULE_LOG, default info).
    #[arg(
        long,
        global = true,
        help_heading = "Options of every command",
        value_name = "FILE"
    )]
    log_file: Option<PathBuf>,
    #[command(subcommand)]
    command: Option<CliCommand>,
}

#[derive(Debug, Subcommand)]
enum CliCommand {
    /// Open the workbench on a fresh copy of the bundled sample
    Demo(demo::DemoCommand),
    /// Find keys and model servers, write a first overrule.toml, and check it
    Init(init::InitCommand),
    /// Judge the battles of a dataset, fit the scores and write them
    Annotate(annotate::AnnotateCommand),
    /// Show how far the batches at the providers are; fetch or cancel them
    Batch(batch::BatchCommand),
    /// Bring files into the project: datasets, zBench ai_scores.json, benchmarks, qrels, runs
    Import(import::ImportCommand),
    /// Write what the project holds: annotated, ai-scores, votes, verdicts, run, qrels, rulings, picks, duel
    Export(export::ExportCommand),
    /// Copy the project into one file, also while it is in use
    Backup(backup::BackupCommand),
    /// Add what is new in another analyst's project file
    Merge(merge::MergeCommand),
    /// Show how far the project is
    Status(status::StatusCommand),
    /// List the queries: how far each one is, and how sure its top is
    Queries(queries::QueriesCommand),
    /// Print a query's K×K matrix and scores
    Matrix(matrix::MatrixCommand),
    /// Print a query's battles with every vote and its reasoning
    Battles(battles::BattlesCommand),
    /// List which battles to look at first
    Queue(queue::QueueCommand),
    /// List cycles: battles that contradict each other, A over B over C over A
    Cycles(cycles::CyclesCommand),
    /// Show how good each judge is, and how far judges and people agree
    Judges(judges::JudgesCommand),
    /// Simulate what a sampling strategy is worth
    BenchSampler(bench_sampler::BenchSamplerCommand),
    /// Simulate what a ranking method is worth, and how many calls it takes
    BenchMethods(bench_methods::BenchMethodsCommand),
    /// Simulate how much verdicts improve a ranking
    BenchOverride(bench_override::BenchOverrideCommand),
    /// Simulate how often a duel finds the better ranking
    BenchDuel(bench_duel::BenchDuelCommand),
    /// Simulate what a student beside the votes is worth
    BenchStudent(bench_student::BenchStudentCommand),
    /// Give a verdict on a pair of documents
    Override(override_pair::OverrideCommand),
    /// Take back your latest verdict, or ruling
    Undo(undo::UndoCommand),
    /// Show who did what, when, and what it changed
    Log(log::LogCommand),
    /// Import or list pairs with a known answer, to measure people by
    Gold(gold::GoldCommand),
    /// Fit scores to battles: JSON on stdin, JSON on stdout
    Fit(fit::FitCommand),
    /// Build candidate pools from a benchmark: BM25 over its corpus, with the labelled documents
    Pool(pool::PoolCommand),
    /// Have judges pick the relevant documents of pools
    Pick(pick::PickCommand),
    /// Put candidates in order with LLM methods, rerank services or programs
    Rerank(rerank::RerankCommand),
    /// Compare picks with labels and with chance; what rulings change in the rankings
    #[command(alias = "court")]
    Adjudication(adjudication::AdjudicationCommand),
    /// Rule on a label
    Rule(rule::RuleCommand),
    /// Put the scores of all queries on one scale, by a few graded documents of each
    Scale(scale::ScaleCommand),
    /// Measure a ranking against labels: NDCG, MRR, MAP, recall, with intervals
    Evaluate(evaluate::EvaluateCommand),
    /// Compare two rankings query by query, against the same labels
    Compare(compare::CompareCommand),
    /// Compare reranking methods: quality with intervals, calls, money, time, and tests against a baseline
    Methods(methods::MethodsCommand),
    /// Train, import and test students: cheap models of pairs that learn from the ensemble
    Student(student::StudentCommand),
    /// Put a ranking in another order: documents that are like the first ones move up
    Sbr(sbr::SbrCommand),
    /// Choose nine documents per query that tell two rankings apart, for a duel
    Nine(nine::NineCommand),
    /// Show people two rankings without saying which is which, and measure which one they prefer
    Duel(duel::DuelCommand),
    /// Print the manual, one chapter per topic
    Manual(manual::ManualCommand),
    /// Print the keys of the workbench
    Keys(keys::KeysCommand),
    /// List what models cost, how old the prices are and which models will be retired
    Prices(prices::PricesCommand),
    /// Show the configuration; show or change the project's own settings
    Config(config::ConfigCommand),
    /// Allow overrule.toml to send keys to servers and to run programs
    Allow(allow::AllowCommand),
    /// Check the installation, the terminal, the project and the judges
    Doctor(doctor::DoctorCommand),
    /// Print shell completions
    Completions {
        /// bash, zsh, fish, elvish or powershell
        shell: clap_complete::Shell,
    },
    /// The manual page with all chapters, in roff
    #[command(hide = true)]
    Man,
}

/// Runs the command line and says how the process is to end.
pub fn main() -> ExitCode {
    signals::report_size_limits();
    let command = help::with_negative_numbers(Arguments::command());
    let matches = help::flowing(command, help::columns()).try_get_matches();
    let arguments = matches.and_then(|matches| Arguments::from_arg_matches(&matches));
    let done = match arguments {
        Ok(arguments) => {
            let project = arguments.project.clone();
            let project = project.unwrap_or_else(|| DEFAULT_PROJECT.into());
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
        keymap::remap::install(&keys).map_err(|error| ConfigError::Parse {
            path: path.clone(),
            message: error.to_string(),
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
        Some(CliCommand::Battles(command)) => command.run(context),
        Some(CliCommand::Queue(command)) => command.run(context),
        Some(CliCommand::Cycles(command)) => command.run(context),
        Some(CliCommand::Judges(command)) => command.run(context),
        Some(CliCommand::BenchSampler(command)) => command.run(context),
        Some(CliCommand::BenchOverride(command)) => command.run(),
        Some(CliCommand::BenchMethods(command)) => command.run(),
        Some(CliCommand::BenchDuel(command)) => command.run(),
        Some(CliCommand::BenchStudent(command)) => command.run(),
        Some(CliCommand::Override(command)) => command.run(context),
        Some(CliCommand::Undo(command)) => command.run(context),
        Some(CliCommand::Log(command)) => command.run(context),
        Some(CliCommand::Gold(command)) => command.run(context),
        Some(CliCommand::Fit(command)) => command.run(),
        Some(CliCommand::Pool(command)) => command.run(context),
        Some(CliCommand::Pick(command)) => command.run(context),
        Some(CliCommand::Rerank(command)) => command.run(context),
        Some(CliCommand::Adjudication(command)) => command.run(context),
        Some(CliCommand::Rule(command)) => command.run(context),
        Some(CliCommand::Scale(command)) => command.run(context),
        Some(CliCommand::Evaluate(command)) => command.run(context),
        Some(CliCommand::Compare(command)) => command.run(context),
        Some(CliCommand::Methods(command)) => command.run(context),
        Some(CliCommand::Student(command)) => command.run(context),
        Some(CliCommand::Sbr(command)) => command.run(context),
        Some(CliCommand::Nine(command)) => command.run(context),
        Some(CliCommand::Duel(command)) => command.run(context),
        Some(CliCommand::Manual(command)) => command.run(),
        Some(CliCommand::Keys(command)) => command.run(),
        Some(CliCommand::Prices(command)) => command.run(context),
        Some(CliCommand::Config(command)) => command.run(context),
        Some(CliCommand::Allow(command)) => command.run(context),
        Some(CliCommand::Doctor(command)) => command.run(context),
        Some(CliCommand::Completions { shell }) => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "overrule", &mut script);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
