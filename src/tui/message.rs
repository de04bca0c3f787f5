//! What happens, and what is to be done about it.

use crate::app::adjudication::data::AdjudicationList;
use crate::app::adjudication::document_evidence::DocumentEvidence;
use crate::app::adjudication::overview::AdjudicationOverview;
use crate::app::annotate::estimate::CostEstimate;
use crate::app::annotate::progress::RunProgress;
use crate::app::annotate::{RunError, RunOutcome};
use crate::app::judge_report::ranking_shift::RankingShift;
use crate::app::judge_report::report::RaterReport;
use crate::app::review::annotator_statistics::AnnotatorStatistics;
use crate::app::review::queue::{QueueItem, QueueRequest};
use crate::client::RunControl;
use crate::domain::adjudication::DisagreementRule;
use crate::domain::battle::{BattleId, Pair};
use crate::domain::corpus::DocId;
use crate::domain::vote::JudgeId;
use crate::store::assignments::NewAssignment;
use crate::store::corpus::{QueryInfo, QueryKey};
use crate::store::rulings::{NewRuling, StoredRuling};
use crate::store::summary_cache::QuerySummary;
use crate::store::verdicts::{NewVerdict, StoredVerdict};
use crate::store::votes::VoteDetail;
use crate::tui::model::open_query::OpenQuery;
use crossterm::event::{KeyEvent, MouseEvent};
use std::sync::Arc;

/// What has happened.
#[derive(Debug)]
pub enum Msg {
    /// A key.
    Key(KeyEvent),
    /// A paste.
    Paste(String),
    /// The mouse, where it is captured.
    Mouse(MouseEvent),
    /// A new size.
    Resize(u16, u16),
    /// Time has passed that something on screen waits for.
    Tick,
    /// The list of queries.
    Listed(Vec<(QueryInfo, Option<QuerySummary>)>),
    /// Summaries that were out of date.
    Summarised(Vec<(QueryKey, QuerySummary)>),
    /// A query, for the given generation.
    Opened(u64, Box<OpenQuery>),
    /// Texts of documents of a query.
    Texts(QueryKey, Vec<(usize, Arc<str>)>),
    /// Votes of battles of a query.
    Votes(QueryKey, Vec<(BattleId, Vec<VoteDetail>)>),
    /// A verdict is on disk.
    Saved(QueryKey),
    /// A verdict could not be stored.
    NotSaved(String),
    /// What an undo took back, and what is in force on the pair now, in words.
    Undone(Option<(StoredVerdict, QueryInfo, String)>),
    /// A queue and what the verdicts so far say, for the given generation.
    Queued(u64, Vec<QueueItem>, AnnotatorStatistics),
    /// the judges' report.
    JudgesReported(Box<RaterReport>),
    /// What would change without a judge.
    Without(JudgeId, RankingShift),
    /// Figures about picks, labels and rulings, for the given generation.
    Disagreements(u64, Box<AdjudicationOverview>),
    /// A document to rule on.
    Evidence(Box<DocumentEvidence>),
    /// A ruling is on disk.
    Ruled,
    /// A ruling could not be stored.
    NotRuled(String),
    /// What an undo took back.
    RulingUndone(Option<Box<StoredRuling>>),
    /// A query that will be wanted next.
    Prefetched(Box<OpenQuery>),
    /// What the guideline says, where there is one.
    GuidelineLoaded(Option<String>),
    /// What a run would need.
    Estimated(CostEstimate),
    /// The run's progress.
    Progress(RunProgress),
    /// The run's end.
    Ended(Result<RunOutcome, RunError>),
    /// Something failed that is nobody's fault on this side.
    Failed(String),
}

/// What is to be done outside the model.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Load the list of queries.
    List,
    /// Compute the summaries of these queries.
    Summarise(Vec<QueryKey>),
    /// Load a query.
    Open(QueryKey, u64),
    /// Load texts of documents.
    Texts(QueryKey, Vec<usize>),
    /// Load votes of battles.
    Votes(QueryKey, Vec<BattleId>, Vec<JudgeId>),
    /// Store a verdict.
    Save(NewVerdict),
    /// Take back the latest verdict.
    Undo,
    /// Work out a queue, for the given generation.
    Queue(QueueRequest, u64),
    /// Load a query with some of its texts before it is wanted.
    Prefetch(QueryKey, Vec<usize>),
    /// Put a pair of the queue off.
    PutOff(QueryKey, Pair, NewAssignment),
    /// Load the guideline.
    Guideline,
    /// Compute the judges' report.
    ReportJudges,
    /// Work out what would change without a judge.
    Without(JudgeId),
    /// Work out the figures about picks, labels and rulings, for the given generation.
    LoadDisagreements(DisagreementRule, AdjudicationList, u64),
    /// Load a document to rule on.
    LoadEvidence(QueryKey, DocId),
    /// Store a ruling.
    Rule(NewRuling),
    /// Take back the latest ruling.
    UndoRuling,
    /// Work out what a run would need.
    Estimate,
    /// Begin a run.
    Start,
    /// Steer the run.
    Steer(RunControl),
    /// Put text on the clipboard.
    Copy(String),
    /// Stop the process until it is resumed.
    Suspend,
    /// Draw everything anew.
    Redraw,
    /// Leave.
    Quit,
}
