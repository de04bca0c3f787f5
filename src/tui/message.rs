//! What happens, and what is to be done about it.

use crate::app::adjudication::data::AdjudicationList;
use crate::app::adjudication::document_evidence::DocumentEvidence;
use crate::app::adjudication::overview::AdjudicationOverview;
use crate::app::annotate::estimate::CostEstimate;
use crate::app::annotate::pair_question::PricedQuestion;
use crate::app::annotate::progress::RunProgress;
use crate::app::annotate::{RunError, RunOutcome};
use crate::app::duel::{DuelRankings, DuelRequest, DuelSession, TaskTexts};
use crate::app::import::FolderEntry;
use crate::app::import::source::SourcePreview;
use crate::app::judge_report::ranking_shift::RankingShift;
use crate::app::judge_report::report::RaterReport;
use crate::app::log::rows::LogRow;
use crate::app::methods::MethodsReport;
use crate::app::one_scale::ProjectScale;
use crate::app::question_set::{
    QuestionSet, QuestionSetOutcome, QuestionSetPrice, QuestionSetProgress,
};
use crate::app::review::annotator_statistics::AnnotatorStatistics;
use crate::app::review::pair_description::{PairDescription, PairQuestion, PairTitles};
use crate::app::review::review_queue::{QueueItem, QueueRequest};
use crate::app::review::undo::{Undo, UndoLimit};
use crate::app::settings::ProjectSettings;
use crate::app::student::StudentCard;
use crate::app::student::StudentsFound;
use crate::app::student::naming::StudentChoice;
use crate::client::RunControl;
use crate::domain::adjudication::DisagreementRule;
use crate::domain::battle::{BattleId, Pair};
use crate::domain::corpus::DocId;
use crate::domain::duel::{DuelEvent, Task};
use crate::domain::ranking::StudentWeight;
use crate::domain::verdict::Decision;
use crate::domain::vote::JudgeId;
use crate::store::assignments::NewAssignment;
use crate::store::contents::ProjectContents;
use crate::store::corpus::{QueryInfo, QueryKey};
use crate::store::drafts::DecisionSubject;
use crate::store::duels::{DuelKey, NewDuelEvent};
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

/// What there is when a duel is asked for.
#[derive(Debug)]
pub enum FoundDuel {
    Session(Box<DuelSession>),
    /// A new one is to be chosen, of these rankings.
    Choice(DuelRankings),
}

#[derive(Debug)]
pub enum Msg {
    Key(KeyEvent),
    Paste(String),
    Mouse(MouseEvent),
    Resize(u16, u16),
    /// Time has passed that something on screen waits for.
    Tick,
    /// Another program has changed the project.
    ChangedElsewhere,
    Listed(Vec<(QueryInfo, Option<QuerySummary>)>),
    /// Summaries that were out of date.
    Summarised(Vec<(QueryKey, QuerySummary)>),
    /// The common scale of the queries, where there is one, by the number of the question.
    ScaleRead(u64, Option<Box<ProjectScale>>),
    /// A query, for the given generation.
    Opened(u64, Box<OpenQuery>),
    Texts(QueryKey, Vec<(usize, Arc<str>)>),
    Votes(QueryKey, Vec<(BattleId, Vec<VoteDetail>)>),
    /// A verdict is on disk.
    Saved(QueryKey),
    /// The same, on a pair that this person had decided elsewhere in the meantime: what they said there.
    SavedAgain(QueryKey, Decision),
    NotSaved(String),
    /// What an undo took back, and what is in force on the pair now, in words.
    Undone(Undo<(StoredVerdict, QueryInfo, String)>),
    /// What was given again, in the same words.
    Redone(Option<(StoredVerdict, QueryInfo, String)>),
    /// A queue and what the verdicts so far say, for the given generation.
    Queued(u64, Vec<QueueItem>, AnnotatorStatistics),
    /// How many queries the queue of the given generation still waits for.
    QueueWaits(u64, usize),
    /// What was to be stored takes long.
    StillWriting,
    /// Why the queue of this generation cannot be worked out.
    QueueFailed(u64, String),
    PairDescribed(QueryKey, Pair, PairDescription),
    PairTitles(HashMap<(QueryKey, Pair), PairTitles>),
    /// The titles of these pairs could not be read, and why.
    NoPairTitles(Vec<(QueryKey, Pair)>, String),
    /// The titles of documents that are to be ruled on.
    Titles(HashMap<(QueryKey, DocId), String>),
    JudgesReported(Box<RaterReport>, Vec<StudentCard>),
    Without(JudgeId, RankingShift),
    /// The comparison of reranking methods as chosen, or why there is none.
    MethodsCompared(MethodsChoice, Result<Box<MethodsReport>, String>),
    /// The students of the project and the report of one, or why there is none, for the given generation.
    StudentReported(u64, Result<Box<StudentsFound>, String>),
    /// Figures about picks, labels and rulings, for the given generation.
    Disagreements(u64, Box<AdjudicationOverview>),
    Evidence(Box<DocumentEvidence>),
    /// A ruling is on disk.
    Ruled,
    NotRuled(String),
    /// What an undo took back.
    RulingUndone(Undo<Box<StoredRuling>>),
    /// What was given again.
    RulingRedone(Option<Box<StoredRuling>>),
    /// A duel, or why there is none, for the given generation.
    DuelOpened(u64, Result<FoundDuel, String>),
    /// A new duel with what should be known of it, or why there is none, for the given generation.
    DuelMade(u64, Result<(DuelKey, Vec<String>), String>),
    /// The texts of a task, by its place, for the given generation.
    DuelTexts(usize, u64, Box<TaskTexts>),
    /// What was done in a duel is on disk, by its number.
    DuelRecorded(u64, Box<DuelEvent>),
    DuelNotRecorded(u64, String),
    /// The result of a duel, in lines.
    DuelResult(String),
    /// A query that will be wanted next.
    Prefetched(Box<OpenQuery>),
    GuidelineLoaded(Option<String>),
    /// What is in a folder, for the given generation.
    FolderListed(u64, Result<Vec<FolderEntry>, String>),
    /// What a file would bring, or a line for each thing that is wrong with it, for the given generation.
    ImportChecked(u64, Result<SourcePreview, Vec<String>>),
    /// How much of the file has been read.
    ImportProgress(Option<f64>),
    /// The project that was made of a file, as typed, or a line for each thing that is wrong with the file.
    ProjectMade(Result<String, Vec<String>>),
    /// What an import did, a line each, or a line for each thing that is wrong with the file.
    Imported(Result<Vec<String>, Vec<String>>),
    /// What these questions would take, or why they cannot be asked, for the given generation.
    QuestionsPriced(u64, QuestionSet, Result<QuestionSetPrice, String>),
    QuestionsProgress(QuestionSetProgress),
    QuestionsEnded(Result<QuestionSetOutcome, String>),
    ContentsLookedUp(ProjectContents),
    /// An export's file exists.
    ExportExists(ExportOrder, String),
    /// What an export wrote, or why it did not.
    Exported(Result<String, String>),
    SettingsRead(Box<ProjectSettings>, StudentChoice),
    /// The latest of the log, earliest first.
    LogRead(Vec<LogRow>),
    /// The project's student has changed, and this is to be said of it.
    StudentNamed(String),
    /// The project has other settings, and every query other numbers.
    SettingsStored,
    Estimated(CostEstimate),
    /// What judges may be asked about a pair and what that would cost, or why they cannot be asked.
    PairPriced(QueryKey, Pair, Result<Box<PricedQuestion>, String>),
    Progress(RunProgress),
    /// What the latest run did before the program was started; `None` where there was none.
    LastRun(Option<Box<LastRun>>),
    Ended(Result<RunOutcome, RunError>),
    /// Something failed that is nobody's fault on this side.
    Failed(String),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    List,
    /// Say when another program changes the project.
    Watch,
    Summarise(Vec<QueryKey>),
    /// Work out the common scale of the queries, under a number by which the answer is known.
    ReadScale(u64),
    Open(QueryKey, u64),
    Texts(QueryKey, Vec<usize>),
    Votes(QueryKey, Vec<BattleId>, Vec<JudgeId>),
    Save(NewVerdict),
    /// Take back the latest verdict.
    Undo(UndoLimit),
    /// Give the verdict of this identifier again, which was taken back.
    Redo(String),
    /// Work out a queue, for the given generation.
    Queue(QueueRequest, u64),
    /// Say more about a pair of the queue; nobody waits for the answers to those asked before.
    DescribePair(QueryKey, Pair, PairQuestion),
    /// Read the titles of what a page of the queue holds.
    ReadPairTitles(Vec<(QueryKey, Pair)>),
    /// Read the titles of what a page of the adjudication list holds.
    ReadTitles(Vec<(QueryKey, DocId)>),
    /// Load a query with some of its texts before it is wanted.
    Prefetch(QueryKey, Vec<usize>),
    PutOff(QueryKey, Pair, NewAssignment),
    PutOffRuling(QueryKey, DocId),
    /// Store a reason for a decision to come; `None` removes it.
    Draft(DecisionSubject, Option<String>),
    Guideline,
    /// Work out the judges' report, for as long as the request stands.
    ReportJudges(ReportRequest),
    Without(JudgeId),
    CompareMethods(MethodsChoice),
    /// Work out the report of a student by its name, of the first one for `None`, for the given generation.
    ReportStudent(Option<String>, u64, ReportRequest),
    /// Work out the figures about picks, labels and rulings, for the given generation.
    LoadDisagreements(DisagreementRule, AdjudicationList, u64),
    LoadEvidence(QueryKey, DocId),
    Rule(NewRuling),
    /// Take back the latest ruling.
    UndoRuling(UndoLimit),
    /// Give the ruling of this identifier again, which was taken back.
    RedoRuling(String),
    /// Open a duel, the latest where none is named, for the given generation.
    OpenDuel(Option<DuelKey>, u64),
    /// Make a duel, for the given generation.
    MakeDuel(Box<DuelRequest>, u64),
    /// Load the texts of a task, by its place, for the given generation.
    LoadDuelTexts(usize, Box<Task>, u64),
    /// Store what was done in a duel, under a number by which the answer is known.
    RecordDuel(DuelKey, u64, Box<NewDuelEvent>),
    LoadDuelResult(DuelKey),
    /// Look at what the import's dialog needs, for the given generation.
    LookAtFiles(Wanted, u64),
    /// Import a file, by its path as typed.
    Import(String),
    /// Make a project of a file, both by their paths as typed.
    MakeProject {
        source: String,
        project: String,
    },
    /// Work out what these questions would take, for the given generation.
    PriceQuestions(QuestionSet, u64),
    /// Ask them, making at most so many calls.
    AskQuestions(QuestionSet, usize),
    StopQuestions,
    /// Read the rankings that a new duel can be made of, for the given generation.
    ReadDuelRankings(u64),
    /// Look up what the project holds anything of.
    LookUpContents,
    /// Write an export; over a file that exists only where that was said.
    Export(ExportOrder, bool),
    ReadSettings,
    ReadLog,
    /// Name the project's student and its weight, or none.
    NameStudent(Option<(String, StudentWeight)>),
    /// Store the project's settings: those that were, and those that are to be.
    StoreSettings(Box<ProjectSettings>, Box<ProjectSettings>),
    Remember(Remembered),
    /// Work out what a run would cost.
    Estimate(RunScope),
    /// Work out what a question about a pair would cost.
    PricePair(QueryKey, Pair),
    Start(RunScope),
    /// Look up what the latest run did.
    LoadLastRun,
    Steer(RunControl),
    /// Keep in the project how many dollars it may have spent, and hold to it whoever is asking judges.
    KeepBudget(Option<f64>),
    /// Put text on the clipboard.
    Copy(String),
    Suspend,
    Redraw,
    Quit,
}

impl Effect {
    /// Whether it changes what the project holds of a person's work: these keep their order, and are waited for at the end.
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

/// What is told about an effect that failed: the message for the screen, and what went wrong where nobody looks at the screen any
/// more.
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
