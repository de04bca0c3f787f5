//! Messages that report events, and effects that request actions.

use crate::app::adjudication::data::AdjudicationList;
use crate::app::adjudication::document_evidence::DocumentEvidence;
use crate::app::adjudication::overview::AdjudicationOverview;
use crate::app::annotate::estimate::CostEstimate;
use crate::app::annotate::pair_question::PricedQuestion;
use crate::app::annotate::progress::RunProgress;
use crate::app::annotate::{RunError, RunOutcome};
use crate::app::import::FolderEntry;
use crate::app::import::source::SourcePreview;
use crate::app::judge_report::ranking_shift::RankingShift;
use crate::app::judge_report::report::RaterReport;
use crate::app::log::rows::LogRow;
use crate::app::question_set::{
    QuestionSet, QuestionSetOutcome, QuestionSetPrice, QuestionSetProgress,
};
use crate::app::review::annotator_statistics::AnnotatorStatistics;
use crate::app::review::pair_description::{PairDescription, PairQuestion, PairTitles};
use crate::app::review::review_queue::{QueueItem, QueueRequest};
use crate::app::review::undo::{Undo, UndoLimit};
use crate::app::settings::ProjectSettings;
use crate::client::RunControl;
use crate::domain::adjudication::DisagreementRule;
use crate::domain::battle::{BattleId, Pair};
use crate::domain::common_scale::ProjectScale;
use crate::domain::corpus::DocId;
use crate::domain::ranking::StudentWeight;
use crate::domain::verdict::Decision;
use crate::domain::vote::JudgeId;
use crate::features::duel::app::{DuelRankings, DuelRequest, DuelSession, TaskTexts};
use crate::features::duel::domain::{DuelEvent, Task};
use crate::features::duel::store::{DuelKey, NewDuelEvent};
use crate::features::methods::app::MethodsReport;
use crate::features::student::app::StudentCard;
use crate::features::student::app::StudentsFound;
use crate::features::student::app::naming::StudentChoice;
use crate::store::assignments::NewAssignment;
use crate::store::contents::ProjectContents;
use crate::store::corpus::{QueryInfo, QueryKey};
use crate::store::drafts::DecisionSubject;
use crate::store::last_run::LastRun;
use crate::store::rulings::{NewRuling, StoredRuling};
use crate::store::summary_cache::QuerySummary;
use crate::store::verdicts::{NewVerdict, StoredVerdict};
use crate::store::vote_details::VoteDetail;
use crate::tui::model::methods::MethodsChoice;
use crate::tui::model::open_query::OpenQuery;
use crate::tui::model::remembered::Remembered;
use crate::tui::model::report_request::ReportRequest;
use crate::tui::model::run::RunScope;
use crate::tui::widgets::export_dialog::ExportOrder;
use crate::tui::widgets::import_dialog::Wanted;
use crossterm::event::{KeyEvent, MouseEvent};
use std::collections::HashMap;
use std::sync::Arc;

/// What a duel request found.
#[derive(Debug)]
pub enum FoundDuel {
    Session(Box<DuelSession>),
    /// A new duel can be created from these rankings.
    Choice(DuelRankings),
}

#[derive(Debug)]
pub enum Msg {
    Key(KeyEvent),
    Paste(String),
    /// Keys came that are text; they are ignored.
    TextAsKeys,
    Mouse(MouseEvent),
    Resize(u16, u16),
    /// Time has passed that something on screen is waiting for.
    Tick,
    /// Another program has changed the project.
    ChangedElsewhere,
    Listed(Vec<(QueryInfo, Option<QuerySummary>)>),
    /// Recomputed summaries that were stale.
    Summarised(Vec<(QueryKey, QuerySummary)>),
    /// The common scale of the queries, if there is one, with the request number.
    ScaleRead(u64, Option<Box<ProjectScale>>),
    /// A query, for the given generation.
    Opened(u64, Box<OpenQuery>),
    Texts(QueryKey, Vec<(usize, Arc<str>)>),
    Votes(QueryKey, Vec<(BattleId, Vec<VoteDetail>)>),
    /// A verdict is on disk.
    Saved(QueryKey),
    /// A verdict is on disk, on a pair that this person had decided elsewhere in the meantime;
    /// contains that earlier decision.
    SavedAgain(QueryKey, Decision),
    NotSaved(String),
    /// What an undo removed, and a description of the effective verdict on the pair.
    Undone(Undo<(StoredVerdict, QueryInfo, String)>),
    /// What was redone, with the same description.
    Redone(Option<(StoredVerdict, QueryInfo, String)>),
    /// A queue and the statistics so far, for the given generation.
    Queued(u64, Vec<QueueItem>, AnnotatorStatistics),
    /// Number of queries that the queue of the given generation is still waiting for.
    QueueWaits(u64, usize),
    /// A write takes long.
    StillWriting,
    /// Why the queue of this generation cannot be computed.
    QueueFailed(u64, String),
    PairDescribed(QueryKey, Pair, PairDescription),
    PairTitles(HashMap<(QueryKey, Pair), PairTitles>),
    /// The titles of these pairs could not be read, with the reason.
    NoPairTitles(Vec<(QueryKey, Pair)>, String),
    /// The titles of documents to rule on.
    Titles(HashMap<(QueryKey, DocId), String>),
    JudgesReported(Box<RaterReport>, Vec<StudentCard>),
    Without(JudgeId, RankingShift),
    /// The comparison of reranking methods for this choice, or why there is none.
    MethodsCompared(MethodsChoice, Result<Box<MethodsReport>, String>),
    /// The students of the project and the report on one, or why there is none, for the given
    /// generation.
    StudentReported(u64, Result<Box<StudentsFound>, String>),
    /// Statistics on picks, labels and rulings, for the given generation.
    Disagreements(u64, Box<AdjudicationOverview>),
    Evidence(Box<DocumentEvidence>),
    /// A ruling is on disk.
    Ruled,
    NotRuled(String),
    /// What an undo removed.
    RulingUndone(Undo<Box<StoredRuling>>),
    /// What was redone.
    RulingRedone(Option<Box<StoredRuling>>),
    /// A duel, or why there is none, for the given generation.
    DuelOpened(u64, Result<FoundDuel, String>),
    /// A new duel with notes about it, or why there is none, for the given generation.
    DuelMade(u64, Result<(DuelKey, Vec<String>), String>),
    /// The texts of a task, by its index, for the given generation.
    DuelTexts(usize, u64, Box<TaskTexts>),
    /// An event of a duel is on disk, by its number.
    DuelRecorded(u64, Box<DuelEvent>),
    DuelNotRecorded(u64, String),
    /// The result of a duel, as lines.
    DuelResult(String),
    /// A query that will be needed next.
    Prefetched(Box<OpenQuery>),
    GuidelineLoaded(Option<String>),
    /// The content of a folder, for the given generation.
    FolderListed(u64, Result<Vec<FolderEntry>, String>),
    /// The preview of a file, or one line per problem, for the given generation.
    ImportChecked(u64, Result<SourcePreview, Vec<String>>),
    /// The share of the file read so far.
    ImportProgress(Option<f64>),
    /// The project created from a file, as typed, or one line per problem of the file.
    ProjectMade(Result<String, Vec<String>>),
    /// The result of an import, or the problems of the file, one per line.
    Imported(Result<Vec<String>, Vec<String>>),
    /// The price of these questions, or why they cannot be asked, for the given generation.
    QuestionsPriced(u64, QuestionSet, Result<QuestionSetPrice, String>),
    QuestionsProgress(QuestionSetProgress),
    QuestionsEnded(Result<QuestionSetOutcome, String>),
    ContentsLookedUp(ProjectContents),
    /// The file of an export already exists.
    ExportExists(ExportOrder, String),
    /// What an export wrote, or why it failed.
    Exported(Result<String, String>),
    SettingsRead(Box<ProjectSettings>, StudentChoice),
    /// The latest log entries, earliest first.
    LogRead(Vec<LogRow>),
    /// The project's student has changed; contains a message.
    StudentNamed(String),
    /// The project's settings have changed, and with them every query's numbers.
    SettingsStored,
    Estimated(CostEstimate),
    /// What judges may be asked about a pair and its cost, or why they cannot be asked.
    PairPriced(QueryKey, Pair, Result<Box<PricedQuestion>, String>),
    Progress(RunProgress),
    /// Summary of the latest run before the program started; `None` if there was none.
    LastRun(Option<Box<LastRun>>),
    Ended(Result<RunOutcome, RunError>),
    /// Something failed for external reasons.
    Failed(String),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    List,
    /// Report when another program changes the project.
    Watch,
    Summarise(Vec<QueryKey>),
    /// Compute the common scale of the queries; the answer has this request number.
    ReadScale(u64),
    Open(QueryKey, u64),
    Texts(QueryKey, Vec<usize>),
    Votes(QueryKey, Vec<BattleId>, Vec<JudgeId>),
    Save(NewVerdict),
    /// Undo the latest verdict.
    Undo(UndoLimit),
    /// Redo the undone verdict with this identifier.
    Redo(String),
    /// Compute a queue, for the given generation.
    Queue(QueueRequest, u64),
    /// Describe a pair of the queue; earlier requests of this kind are obsolete.
    DescribePair(QueryKey, Pair, PairQuestion),
    /// Read the titles for a page of the queue.
    ReadPairTitles(Vec<(QueryKey, Pair)>),
    /// Read the titles for a page of the adjudication list.
    ReadTitles(Vec<(QueryKey, DocId)>),
    /// Load a query with some of its texts before it is needed.
    Prefetch(QueryKey, Vec<usize>),
    PutOff(QueryKey, Pair, NewAssignment),
    PutOffRuling(QueryKey, DocId),
    /// Store a draft reason for a future decision; `None` removes it.
    Draft(DecisionSubject, Option<String>),
    Guideline,
    /// Compute the judge report, as long as the request is active.
    ReportJudges(ReportRequest),
    Without(JudgeId),
    CompareMethods(MethodsChoice),
    /// Compute the report on a student by name, or on the first one for `None`, for the given
    /// generation.
    ReportStudent(Option<String>, u64, ReportRequest),
    /// Compute the statistics on picks, labels and rulings, for the given generation.
    LoadDisagreements(DisagreementRule, AdjudicationList, u64),
    LoadEvidence(QueryKey, DocId),
    Rule(NewRuling),
    /// Undo the latest ruling.
    UndoRuling(UndoLimit),
    /// Redo the undone ruling with this identifier.
    RedoRuling(String),
    /// Open a duel, by default the latest, for the given generation.
    OpenDuel(Option<DuelKey>, u64),
    /// Create a duel, for the given generation.
    MakeDuel(Box<DuelRequest>, u64),
    /// Load the texts of a task, by its index, for the given generation.
    LoadDuelTexts(usize, Box<Task>, u64),
    /// Store an event of a duel; the answer has this number.
    RecordDuel(DuelKey, u64, Box<NewDuelEvent>),
    LoadDuelResult(DuelKey),
    /// Read what the import dialog needs, for the given generation.
    LookAtFiles(Wanted, u64),
    /// Import a file, by its path as typed.
    Import(String),
    /// Create a project from a file, both by their paths as typed.
    MakeProject {
        source: String,
        project: String,
    },
    /// Compute the price of these questions, for the given generation.
    PriceQuestions(QuestionSet, u64),
    /// Ask them, making at most this many calls.
    AskQuestions(QuestionSet, usize),
    StopQuestions,
    /// Read the rankings available for a new duel, for the given generation.
    ReadDuelRankings(u64),
    /// Read which kinds of data the project contains.
    LookUpContents,
    /// Write an export; overwrite an existing file only if the flag is set.
    Export(ExportOrder, bool),
    ReadSettings,
    ReadLog,
    /// Set the project's student and its weight, or clear it.
    NameStudent(Option<(String, StudentWeight)>),
    /// Store the project's settings: the old and the new ones.
    StoreSettings(Box<ProjectSettings>, Box<ProjectSettings>),
    Remember(Remembered),
    /// Compute the cost of a run.
    Estimate(RunScope),
    /// Compute the cost of a question about a pair.
    PricePair(QueryKey, Pair),
    Start(RunScope),
    /// Read the summary of the latest run.
    LoadLastRun,
    Steer(RunControl),
    /// Store the project's spending limit in dollars, and apply it to whoever is asking judges.
    KeepBudget(Option<f64>),
    /// Copy text to the clipboard.
    Copy(String),
    Suspend,
    Redraw,
    Quit,
}

impl Effect {
    /// Whether it changes a person's work in the project: such effects keep their order and are
    /// completed before exit.
    pub(crate) fn writes(&self) -> bool {
        matches!(
            self,
            Self::Save(_)
                | Self::Undo(_)
                | Self::Redo(_)
                | Self::RedoRuling(_)
                | Self::PutOff(..)
                | Self::PutOffRuling(..)
                | Self::Draft(..)
                | Self::Rule(_)
                | Self::UndoRuling(_)
                | Self::OpenDuel(..)
                | Self::RecordDuel(..)
                | Self::Remember(_)
                | Self::KeepBudget(_)
        )
    }
}

/// The report of a failed effect: the message for the screen, and the error to print if the screen
/// is gone.
pub(crate) struct Complaint {
    what: &'static str,
    msg: fn(u64, String) -> Msg,
    number: u64,
}

impl Complaint {
    pub(crate) fn of(effect: &Effect) -> Self {
        let (what, msg, number): (_, fn(u64, String) -> Msg, _) = match effect {
            Effect::Save(_) => (
                "the verdict was not stored",
                |_, error| Msg::NotSaved(error),
                0,
            ),
            Effect::Rule(_) => (
                "the ruling was not stored",
                |_, error| Msg::NotRuled(error),
                0,
            ),
            Effect::Draft(..) => (
                "the reason was not stored",
                |_, error| Msg::Failed(format!("the reason was not stored: {error}")),
                0,
            ),
            Effect::RecordDuel(_, number, _) => {
                ("an answer was not stored", Msg::DuelNotRecorded, *number)
            }
            Effect::OpenDuel(_, generation) => (
                "the duel cannot be opened",
                |generation, error| Msg::DuelOpened(generation, Err(error)),
                *generation,
            ),
            _ => (
                "the project did not answer",
                |_, error| Msg::Failed(error),
                0,
            ),
        };
        Self { what, msg, number }
    }

    pub(crate) fn about(&self, error: &str) -> (Msg, String) {
        let msg = (self.msg)(self.number, error.to_owned());
        (msg, format!("{}: {error}", self.what))
    }
}
