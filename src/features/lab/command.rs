//! `overrule lab`: experiments on simulated queries.

mod duel;
mod lists;
mod methods;
mod override_pairs;
mod sampler;
mod student;

use crate::cli::command::{CommandContext, CommandResult};
use clap::{Args, Subcommand};

/// The commands of this feature.
#[derive(Debug, Subcommand)]
pub(crate) enum LabSubcommand {
    /// Simulate samplers, methods, lists, verdicts, duels and students
    Lab(LabCommand),
    #[command(flatten)]
    Former(FormerName),
}

impl LabSubcommand {
    pub(crate) fn run(self, context: &CommandContext) -> CommandResult {
        match self {
            Self::Lab(command) => command.run(context),
            Self::Former(command) => LabCommand::from(command).run(context),
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  overrule lab sampler                 Compare strategies of choosing pairs
  overrule lab methods --documents 20  Compare ranking methods

No model is called. Results depend on --seed and the other options only, not on the machine.")]
pub(crate) struct LabCommand {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Debug, Subcommand)]
enum Experiment {
    /// Simulate sampling strategies: quality and number of calls
    Sampler(sampler::SamplerCommand),
    /// Simulate ranking methods: quality and number of calls
    Methods(methods::MethodsCommand),
    /// Simulate list calls: quality and coverage of intervals
    Lists(lists::ListsCommand),
    /// Simulate how much verdicts improve a ranking
    Override(override_pairs::OverrideCommand),
    /// Simulate how often a duel finds the better ranking
    Duel(duel::DuelCommand),
    /// Simulate how much a student improves on votes alone
    Student(student::StudentCommand),
}

/// The names of the experiments before there was `lab`. They still work, but are not listed.
#[derive(Debug, Subcommand)]
pub(crate) enum FormerName {
    /// Former name of `overrule lab sampler`
    #[command(name = "bench-sampler", hide = true)]
    Sampler(sampler::SamplerCommand),
    /// Former name of `overrule lab methods`
    #[command(name = "bench-methods", hide = true)]
    Methods(methods::MethodsCommand),
    /// Former name of `overrule lab override`
    #[command(name = "bench-override", hide = true)]
    Override(override_pairs::OverrideCommand),
    /// Former name of `overrule lab duel`
    #[command(name = "bench-duel", hide = true)]
    Duel(duel::DuelCommand),
    /// Former name of `overrule lab student`
    #[command(name = "bench-student", hide = true)]
    Student(student::StudentCommand),
}

impl From<FormerName> for LabCommand {
    fn from(command: FormerName) -> Self {
        let experiment = match command {
            FormerName::Sampler(command) => Experiment::Sampler(command),
            FormerName::Methods(command) => Experiment::Methods(command),
            FormerName::Override(command) => Experiment::Override(command),
            FormerName::Duel(command) => Experiment::Duel(command),
            FormerName::Student(command) => Experiment::Student(command),
        };
        Self { experiment }
    }
}

impl LabCommand {
    pub(crate) fn run(self, context: &CommandContext) -> CommandResult {
        match self.experiment {
            Experiment::Sampler(command) => command.run(context),
            Experiment::Methods(command) => command.run(),
            Experiment::Lists(command) => command.run(),
            Experiment::Override(command) => command.run(),
            Experiment::Duel(command) => command.run(),
            Experiment::Student(command) => command.run(),
        }
    }
}
