//! The features of this build and their additions to the core, and the screens of the workbench.
//! Apart from tests across features in `suites`, no other file of the core names a feature.

use crate::app::annotate::RunRequest;
use crate::app::error::AppError;
use crate::app::export::{AddedExport, AddedLabels, FoundRanking, OfferedPage};
use crate::app::log::LogEntry;
use crate::app::question_set::QuestionOffer;
use crate::app::status::FeatureStatus;
use crate::cli::annotate::{AskedDataset, SharedWork};
use crate::cli::command::{CommandContext, CommandFailure, CommandResult, usage};
use crate::cli::judges::JudgesPanel;
use crate::cli::matrix::ReadLayer;
#[cfg(not(feature = "remote"))]
use crate::cli::unshared::{UnsharedCommand, UnsharedOptions};
use crate::domain::common_scale::ProjectScale;
use crate::domain::corpus::{DocId, QueryId};
use crate::domain::metrics::JudgedRanking;
use crate::domain::prediction::QueryPredictions;
use crate::domain::priority::Policy;
use crate::domain::ranking::{CountedAnswers, NamedOpinion, OpinionEffect, PriorOpinion};
use crate::domain::verdict::AnnotatorVerdicts;
pub use crate::features::accept::app::{AcceptanceOffer, AcceptedBattles, OfferedBattle};
use crate::features::duel::command::DuelSubcommand;
use crate::features::duel::command::export::DuelExportOptions;
use crate::features::lab::command::LabSubcommand;
pub use crate::features::methods::app::rerank::list_judge::AskedCall;
use crate::features::methods::command::MethodsSubcommand;
pub use crate::features::methods::store::RerankCall as ListCallRecord;
#[cfg(feature = "remote")]
use crate::features::remote;
use crate::features::student::command::predictions::PredictionOptions;
use crate::features::student::command::project::StudentOptions;
use crate::features::student::command::{judges, matrix};
use crate::features::{
    accept, battery, drift, duel, gate, lists, mcp, measure, methods, prompts, report, scale,
    student,
};
use crate::judge::{CallError, JudgeEnsemble, JudgeReply, PromptText};
use crate::store::corpus::QueryKey;
use crate::store::identical_calls::BoughtReply;
use crate::store::merge::{AddedCount, MatchedQuery, MergePart, Merger};
use crate::store::{self, Db, Store};
use crate::tui::keymap::binding::Binding;
use crate::tui::keymap::{Command, Screen};
use crate::tui::screens;
use crate::tui::screens::additions::{AddedRaters, AddedSettings};
use crate::tui::screens::behavior::ScreenBehavior;
use crate::tui::service::Service;
#[cfg(not(feature = "remote"))]
use crate::tui::unsynchronized::NoSynchronization;
use clap::{Args, Subcommand, ValueEnum};
use std::path::Path;
use std::sync::Arc;

/// The common scale of the scores of all queries, if there is one.
pub fn project_scale(store: &Store) -> Result<Option<ProjectScale>, AppError> {
    scale::app::project_scale(store)
}

/// The rankings that judges or rerankers made in the project.
pub fn judged_rankings(db: &Db) -> store::Result<Vec<JudgedRanking>> {
    methods::app::judged_rankings(db)
}

/// Whether `--method` can refer to a reranker by this name.
pub fn is_free_reranker_name(name: &str) -> bool {
    methods::domain::reranking::is_free_reranker_name(name)
}

/// Stores the prompts of judges that are about to vote.
pub fn record_prompts(db: &Db, prompts: &[PromptText], now_ms: i64) -> store::Result<()> {
    prompts
        .iter()
        .try_for_each(|prompt| db.record_prompt(prompt, now_ms))
}

/// The reply to a call about a pair that was made outside runs, by the hash of the call.
pub fn bought_reply(db: &Db, call_key: &[u8; 32]) -> store::Result<Option<BoughtReply>> {
    db.pair_reply(call_key)
}

/// Whether a judge of this name was asked about pairs outside runs.
pub fn has_bought_replies(db: &Db, judge: &str) -> store::Result<bool> {
    db.has_pair_replies(judge)
}

/// The record of a list call in a batch, from its answer or error.
pub fn list_call_record(
    db: &Db,
    asked: &AskedCall<'_>,
    answer: Result<JudgeReply, CallError>,
) -> store::Result<ListCallRecord> {
    lists::app::list_call_record(db, asked, answer)
}

/// Stores such a record.
pub fn keep_list_call(db: &Db, call: &ListCallRecord) -> store::Result<()> {
    lists::app::keep_list_call(db, call)
}

/// Whether the project has the result of a list call with this ID.
pub fn has_list_result(db: &Db, uid: &[u8; 16]) -> store::Result<bool> {
    Ok(db.rerank_call(uid)?.is_some())
}

/// The query and the documents that the list call with this hash shows; `None` if it is unknown.
pub fn listed_documents(
    db: &Db,
    call_key: &[u8; 32],
) -> store::Result<Option<(QueryId, Vec<DocId>)>> {
    lists::app::listed_documents(db, call_key)
}

/// The prompt with this hash, as far as its text is known.
pub fn known_prompt(db: &Db, hash: &str) -> store::Result<Option<PromptText>> {
    db.known_prompt(hash)
}

/// The source of predictions that the project has named, with its weight.
pub fn named_opinion(db: &Db) -> store::Result<Option<NamedOpinion>> {
    db.named_student()
}

/// The predictions of the named source for a query.
pub fn prior_opinion(db: &Db, query: QueryKey) -> store::Result<Option<PriorOpinion>> {
    db.student_opinion(query)
}

/// The answers outside battles that count in the fit of a query; `None` if none do in the project.
pub fn counted_answers(db: &Db, query: QueryKey) -> store::Result<Option<CountedAnswers>> {
    lists::app::counted_answers(db, query)
}

/// The variance of judges' tastes with which answers outside battles count, relative to that of
/// scores; `None` if none do in the project.
pub fn counted_taste(db: &Db) -> store::Result<Option<f64>> {
    lists::app::counted_taste(db)
}

/// If answers outside battles count, marks the numbers as changed that are based on the call with
/// this hash, or on any call.
pub fn answers_changed(db: &Db, call_key: Option<&[u8; 32]>) -> store::Result<()> {
    db.list_answers_changed(call_key)
}

/// The weight of the named source in the fits of these queries.
pub fn opinion_effect(db: &Db, queries: &[QueryKey]) -> store::Result<OpinionEffect> {
    db.student_effect(queries)
}

/// The named source with its weight in the fits of all queries.
pub fn opinion_with_effect(db: &Db) -> store::Result<Option<(NamedOpinion, OpinionEffect)>> {
    db.student_with_effect()
}

/// Renames a judge in the tables of features.
pub fn judges_renamed(db: &Db, old: &str, new: &str) -> store::Result<()> {
    db.rename_list_judges(old, new)
}

/// The battles of a policy whose order comes from a feature; `None` for the other policies.
pub fn offered_battles(db: &Db, policy: Policy) -> store::Result<Option<Vec<OfferedBattle>>> {
    Ok(match policy {
        Policy::Accept => Some(accept::app::offered(db)?),
        Policy::Proposed => Some(mcp::app::offered(db)?),
        _ => None,
    })
}

/// The verdicts that programs propose for a query. None of them counts.
pub fn proposed_verdicts(db: &Db, query: QueryKey) -> store::Result<AnnotatorVerdicts> {
    mcp::app::proposed_verdicts(db, query)
}

/// Whether the judges' decision on each battle needs no person; `None` if nothing is accepted.
pub fn accepted_battles(store: &Store) -> Result<Option<AcceptedBattles>, AppError> {
    accept::app::accepted_battles(store)
}

/// What a screen says about the acceptance of a project before it starts one.
pub fn acceptance_offer(store: &Store) -> Result<AcceptanceOffer, AppError> {
    accept::app::acceptance_offer(store)
}

/// Starts an acceptance with the usual share of errors.
pub fn start_acceptance(
    store: &Store,
    author: &str,
    seed: u64,
    now_ms: i64,
) -> Result<(), AppError> {
    let alpha = accept::domain::DEFAULT_ALPHA;
    accept::app::start(store, alpha, author, seed, now_ms).map(drop)
}

/// The commands of the features.
#[derive(Debug, Subcommand)]
pub(crate) enum FeatureCommand {
    #[command(flatten)]
    Methods(MethodsSubcommand),
    /// Calibrate scores across queries with a few graded documents
    Scale(scale::command::ScaleCommand),
    /// Measure rankings with few rulings and valid intervals
    Measure(measure::command::MeasureCommand),
    /// Edit prompts of judges, and try them on pairs people decided
    Prompt(prompts::command::PromptCommand),
    /// Find the battles that need no person, with guaranteed errors
    Accept(accept::command::AcceptCommand),
    /// Decide whether a judge may replace another one
    Gate(gate::command::GateCommand),
    /// Find out whether a judge or the search system has changed
    Drift(drift::command::DriftCommand),
    /// Find out whether manipulated texts turn a judge's answers
    Battery(battery::command::BatteryCommand),
    /// Let agents read the project and propose verdicts (MCP server)
    #[cfg(feature = "mcp")]
    Mcp(mcp::command::McpCommand),
    /// Share the work of `annotate` between machines
    #[cfg(feature = "remote")]
    Remote(remote::command::RemoteCommand),
    #[cfg(not(feature = "remote"))]
    #[command(hide = true)]
    Remote(UnsharedCommand),
    /// Exchange new rows with the other copies of a shared project
    #[cfg(feature = "remote")]
    Sync(remote::command::sync::SyncCommand),
    #[cfg(not(feature = "remote"))]
    #[command(hide = true)]
    Sync(UnsharedCommand),
    /// Ask judges for the order of several documents at once
    Lists(lists::command::ListsCommand),
    /// Write a page to share: HTML or Markdown
    Report(report::command::ReportCommand),
    /// Train and test small models that learn from the votes
    Student(student::command::StudentCommand),
    #[command(flatten)]
    Duel(DuelSubcommand),
    #[command(flatten)]
    Lab(LabSubcommand),
}

impl FeatureCommand {
    pub(crate) fn run(self, context: &CommandContext) -> CommandResult {
        match self {
            Self::Methods(command) => command.run(context),
            Self::Scale(command) => command.run(context),
            Self::Measure(command) => command.run(context),
            Self::Prompt(command) => command.run(context),
            Self::Accept(command) => command.run(context),
            Self::Gate(command) => command.run(context),
            Self::Drift(command) => command.run(context),
            Self::Battery(command) => command.run(context),
            #[cfg(feature = "mcp")]
            Self::Mcp(command) => command.run(context),
            Self::Remote(command) => command.run(context),
            Self::Sync(command) => command.run(context),
            Self::Lists(command) => command.run(context),
            Self::Report(command) => command.run(context),
            Self::Student(command) => command.run(context),
            Self::Duel(command) => command.run(context),
            Self::Lab(command) => command.run(context),
        }
    }
}

/// The commands of features below `overrule prompt`.
#[derive(Debug, Subcommand)]
pub(crate) enum AddedPromptCommand {
    /// Decide whether a prompt may replace another one
    Check(gate::command::prompt_check::PromptCheckCommand),
}

impl AddedPromptCommand {
    pub(crate) fn run(self, context: &CommandContext) -> CommandResult {
        match self {
            Self::Check(check) => check.run(context),
        }
    }
}

/// The tasks of `overrule --help` with the commands of the features.
pub(crate) const COMMAND_TASKS: &[(&str, &[&str])] = &[
    (
        "Compare rankings",
        &["rerank", "methods", "measure", "duel", "nine", "sbr"],
    ),
    (
        "Build on the votes",
        &[
            "prompt", "accept", "gate", "drift", "battery", "lists", "student", "scale",
        ],
    ),
    #[cfg(feature = "remote")]
    ("Judge a dataset", &["remote"]),
    #[cfg(feature = "remote")]
    ("Review and overrule", &["sync"]),
    (
        "Look at the results",
        &[
            "report",
            #[cfg(feature = "mcp")]
            "mcp",
        ],
    ),
    ("Simulate", &["lab"]),
];

/// Reads the events of a feature: of one query, or of the whole project.
type ReadLog = fn(&Db, Option<QueryKey>) -> store::Result<Vec<LogEntry>>;

/// The events that features add to the log.
pub const LOGS: &[ReadLog] = &[
    duel::app::log_entries,
    scale::app::log_entries,
    methods::app::log_entries,
    prompts::app::log_entries,
    accept::app::log_entries,
    measure::app::log_entries,
    drift::app::log_entries,
    battery::app::log_entries,
    mcp::app::log_entries,
    lists::app::log_entries,
];

/// What features add to the status of a project, in the order shown.
pub const STATUSES: &[fn(&Db) -> store::Result<FeatureStatus>] = &[
    duel::app::status,
    student::app::status,
    scale::app::status,
    measure::app::status,
    mcp::app::status,
];

/// What features merge before the queries.
pub(crate) const MERGES_FIRST: &[MergePart] = &[student::merge::PART, prompts::merge::PART];

/// Everything that is merged and belongs to no query.
pub(crate) fn merge_parts() -> impl Iterator<Item = &'static MergePart> {
    let parts = [MERGES_FIRST, crate::app::merge::PARTS, MERGES_LAST];
    parts.into_iter().flatten()
}

/// Merges the prompts of judges.
pub(crate) fn merge_prompts(merger: &mut Merger<'_>) -> store::Result<()> {
    prompts::merge::prompts(merger)
}

/// What features merge of each query.
pub(crate) const MERGES_OF_QUERY: &[fn(&mut Merger<'_>, &mut MatchedQuery) -> store::Result<()>] =
    &[methods::merge::results, student::merge::predictions];

/// What features merge after the queries.
pub(crate) const MERGES_LAST: &[MergePart] = &[
    duel::merge::PART,
    methods::merge::PART,
    scale::merge::PART,
    measure::merge::PART,
    accept::merge::PART,
    drift::merge::PART,
    battery::merge::PART,
    mcp::merge::PART,
    lists::merge::PART,
];

/// The answers about queries that machines share, by command.
#[cfg(feature = "remote")]
pub(crate) const SHARED_ANSWERS: &[crate::store::merge::SharedAnswers] =
    &[crate::app::merge::SHARED_PICKS, methods::merge::SHARED];

/// Tables of features with rows of queries, which have a column `query` with its key.
pub(crate) const QUERY_TABLES: &[&str] = &["rerank_result", "prediction"];

/// What features count during a merge, in the order shown.
pub(crate) const MERGE_COUNTS: &[&[AddedCount]] = &[
    methods::merge::COUNTS,
    student::merge::COUNTS,
    scale::merge::COUNTS,
    duel::merge::COUNTS,
    prompts::merge::COUNTS,
    measure::merge::COUNTS,
    accept::merge::COUNTS,
    drift::merge::COUNTS,
    battery::merge::COUNTS,
    mcp::merge::COUNTS,
    lists::merge::COUNTS,
];

/// What features compute after a merge, outside of its transaction.
pub fn after_merge(store: &Store) -> store::Result<()> {
    store.estimate_student()
}

// Exports.

pub(crate) use duel::command::export::DuelExportForm as AddedExportForm;

/// Pages in the dialog of exports.
pub const PAGES: &[OfferedPage] = &[report::app::OFFERED];

/// The ranking of a project with this name.
pub fn find_ranking(store: &Store, name: &str) -> Result<FoundRanking, AppError> {
    duel::app::find_ranking(store, name)
}

/// Exports of features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AddedExportKind {
    /// One row per document that a participant of a duel was shown; with --form events, one row per
    /// action
    Duel,
    /// Predictions of a student of the project (--student), in the format of `overrule student
    /// import`
    Predictions,
    /// One row per document that was drawn for a measurement, with its probability
    Draws,
    /// One JSON line per list call, with every call that was made for it; `overrule import lists`
    /// reads them
    Lists,
}

/// Sources of labels from features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AddedLabelSource {
    /// 1 for documents that most participants of a duel chose, 0 for the others
    Duel,
}

/// Options of `export` for features.
#[derive(Debug, Args)]
pub(crate) struct AddedExportOptions {
    #[command(flatten)]
    duel: DuelExportOptions,
    #[command(flatten)]
    predictions: PredictionOptions,
}

impl AddedExportKind {
    /// Whether `--form` selects its rows.
    pub(crate) fn has_form(self) -> bool {
        self == Self::Duel
    }
}

impl AddedExportOptions {
    /// Rejects options that the requested export does not have; `None` for an export of the core.
    pub(crate) fn check(&self, kind: Option<AddedExportKind>, queries: &[String]) -> CommandResult {
        if kind == Some(AddedExportKind::Duel) && !queries.is_empty() {
            return Err(usage!("a duel is always exported as a whole; omit --query"));
        }
        if kind == Some(AddedExportKind::Predictions) {
            Ok(())
        } else {
            self.predictions.check_unused()
        }
    }

    /// Prepares an export; `yes` skips questions.
    pub(crate) fn export(
        &self,
        context: &CommandContext,
        store: &Store,
        kind: AddedExportKind,
        form: Option<AddedExportForm>,
        yes: bool,
    ) -> Result<Arc<dyn AddedExport>, CommandFailure> {
        Ok(match kind {
            AddedExportKind::Duel => Arc::new(self.duel.export(context, store, form, yes)?),
            AddedExportKind::Predictions => Arc::new(self.predictions.export()),
            AddedExportKind::Draws => Arc::new(measure::app::DrawExport),
            AddedExportKind::Lists => {
                let judges = context.judges_without_asking(false);
                Arc::new(lists::app::ListExport::new(&judges))
            }
        })
    }

    pub(crate) fn labels(
        &self,
        store: &Store,
        source: AddedLabelSource,
    ) -> Result<AddedLabels, AppError> {
        match source {
            AddedLabelSource::Duel => self.duel.labels(store),
        }
    }
}

/// The commands of features below `overrule import`.
#[derive(Debug, Subcommand)]
pub(crate) enum AddedImportCommand {
    /// List calls with their answers, as `overrule export lists` writes them
    Lists(lists::command::ImportListsCommand),
}

impl AddedImportCommand {
    pub(crate) fn run(self, context: &CommandContext) -> CommandResult {
        match self {
            Self::Lists(lists) => lists.run(context),
        }
    }
}

/// Functions for the benches.
#[cfg(feature = "internals")]
pub use crate::features::student::domain::sample::{
    AllowedPairs, SampleQuery, SampleRequest, SampleSplit, sample,
};

// Options of core commands, and parts of their output.

/// The run that asks the judges only about the pairs of a sample.
pub fn sample_request(
    store: &Store,
    path: &Path,
    ensemble: &JudgeEnsemble,
    usual: &RunRequest,
) -> Result<RunRequest, AppError> {
    student::app::sample::sample_request(store, path, ensemble, usual)
}

/// Options of `config project` for features.
#[derive(Debug, Args)]
pub(crate) struct AddedProjectOptions {
    #[command(flatten)]
    student: StudentOptions,
}

impl AddedProjectOptions {
    /// Whether one of the options is given.
    pub(crate) fn is_set(&self) -> bool {
        self.student.is_set()
    }

    pub(crate) fn apply(&self, store: &Store) -> CommandResult {
        self.student.apply(store)
    }
}

/// Options of `annotate` for features.
#[derive(Debug, Args)]
pub(crate) struct AddedRunOptions {
    #[cfg(feature = "remote")]
    #[command(flatten)]
    remote: remote::command::annotate::RemoteOptions,
    #[cfg(not(feature = "remote"))]
    #[command(flatten)]
    _remote: UnsharedOptions,
    #[command(flatten)]
    lists: lists::command::annotate::ListRunOptions,
}

impl AddedRunOptions {
    /// Whether the work is shared with other machines.
    pub(crate) fn is_shared(&self) -> bool {
        #[cfg(feature = "remote")]
        return self.remote.is_set();
        #[cfg(not(feature = "remote"))]
        false
    }

    /// Whether judges are asked about something other than pairs.
    pub(crate) fn asks_otherwise(&self) -> bool {
        self.lists.is_set()
    }

    /// Asks judges about a dataset, but not about its pairs.
    pub(crate) fn ask(&self, context: &CommandContext, of: &AskedDataset<'_>) -> CommandResult {
        self.lists.ask(context, of)
    }

    /// Makes the calls that other machines do not make.
    #[cfg_attr(
        not(feature = "remote"),
        expect(unused_variables, reason = "never called")
    )]
    pub(crate) fn share(&self, run: SharedWork<'_>) -> CommandResult {
        #[cfg(feature = "remote")]
        return self.remote.share(run);
        #[cfg(not(feature = "remote"))]
        Ok(())
    }
}

#[cfg(feature = "remote")]
pub(crate) use remote::command::questions::{SharedCommand, SharingOptions};

#[cfg(not(feature = "remote"))]
pub(crate) use crate::cli::unshared::UnsharedOptions as SharingOptions;

/// Reads what a feature adds to `judges`: about one query, or about the whole project.
type ReadJudgesPanel = fn(&Store, Option<QueryKey>) -> Result<JudgesPanel, AppError>;

/// Parts of the output of `judges`.
pub(crate) const JUDGES_PANELS: &[ReadJudgesPanel] = &[
    judges::panel,
    drift::command::judges::panel,
    battery::command::judges::panel,
];

/// Layers of `matrix --layer PREFIX:NAME`, by prefix.
pub(crate) const MATRIX_LAYERS: &[(&str, ReadLayer)] = &[("student", matrix::read_layer)];

// The workbench.

/// The screens, in the order of the printed key tables.
pub(crate) const SCREENS: &[&dyn ScreenBehavior] = &[
    &screens::queries::QueriesScreen,
    &screens::run::RunScreen,
    &screens::matrix::MatrixScreen,
    &screens::document::DocumentScreen,
    &screens::battle::BattleScreen,
    &screens::queue::QueueScreen,
    &screens::review::ReviewScreen,
    &screens::judges::JudgesScreen,
    &screens::judge_setup::JudgeSetupScreen,
    &prompts::screen::PromptScreen,
    &prompts::screen::trial::TrialScreen,
    &prompts::screen::reasonings::ReasoningsScreen,
    &prompts::screen::set::SetScreen,
    &methods::screen::MethodsScreen,
    &methods::screen::rankings::RankingsScreen,
    &measure::screen::MeasureScreen,
    &student::screen::StudentScreen,
    &student::screen::battles::StudentBattlesScreen,
    &lists::screen::ListsScreen,
    &screens::cycles::CyclesScreen,
    &screens::slices::SlicesScreen,
    &screens::two_orders::TwoOrdersScreen,
    &screens::comparison::ComparisonScreen,
    &screens::adjudication::AdjudicationScreen,
    &screens::ruling::RulingScreen,
    &duel::screen::DuelScreen,
    &duel::screen::passage::PassageScreen,
    #[cfg(feature = "remote")]
    &remote::screen::TeamScreen,
];

/// The behavior of a screen.
pub(crate) fn screen(screen: Screen) -> &'static dyn ScreenBehavior {
    let known = SCREENS.iter().copied().find(|known| known.id() == screen);
    debug_assert!(known.is_some(), "{screen:?} is not listed");
    known.unwrap_or(SCREENS[0])
}

/// The screen that a command opens for the row under the cursor of this one.
pub(crate) fn opened_from(below: Screen, command: Command) -> Option<&'static dyn ScreenBehavior> {
    let mut screens = SCREENS.iter().copied();
    screens.find(|screen| screen.opened_from() == Some((below, command)))
}

/// Reads predictions for a query, each with the name of its source.
type ReadPredictions = fn(&Db, QueryKey) -> store::Result<Vec<(String, QueryPredictions)>>;

/// Predictions that are layers of the matrix.
pub(crate) const PREDICTIONS: &[ReadPredictions] = &[Db::students_of];

/// Reads notes of a feature about the judges of a project, each in one sentence.
type ReadRunNotes = fn(&Store) -> Result<Vec<String>, AppError>;

/// Notes of features on the run screen.
pub const RUN_NOTES: &[ReadRunNotes] = &[drift::app::run_notes];

/// Services that run in the background while the workbench is open.
pub(crate) const SERVICES: &[&dyn Service] = &[
    #[cfg(feature = "remote")]
    &remote::screen::Synchronization,
    #[cfg(not(feature = "remote"))]
    &NoSynchronization,
];

/// Settings in the dialog of settings, below those of the core.
pub(crate) const SETTINGS: &[&dyn AddedSettings] = &[&student::screen::settings::StudentSettings];

/// Keys that features add to other screens, after those of the screen.
pub(crate) const ADDED_KEYS: &[&[(Screen, Binding)]] = &[
    methods::screen::ADDED_KEYS,
    student::screen::ADDED_KEYS,
    duel::screen::ADDED_KEYS,
    scale::screen::ADDED_KEYS,
    prompts::screen::ADDED_KEYS,
    measure::screen::ADDED_KEYS,
    lists::screen::ADDED_KEYS,
    #[cfg(feature = "remote")]
    remote::screen::ADDED_KEYS,
];

/// Questions outside a run, each with the command that offers them.
pub(crate) const QUESTIONS: &[(Command, QuestionOffer)] = &[
    (
        scale::screen::commands::ASK_ANCHORS,
        scale::app::ANCHOR_OFFER,
    ),
    (scale::screen::commands::ASK_LINKS, scale::app::LINK_OFFER),
    (
        methods::screen::commands::RUN_METHOD,
        methods::app::METHOD_OFFER,
    ),
];

/// Reads raters of a project that are shown below its judges.
type ReadRaters = fn(&Store) -> Result<Box<dyn AddedRaters>, AppError>;

/// Tables below the judges.
pub(crate) const RATERS: &[ReadRaters] = &[student::screen::judges::students];
