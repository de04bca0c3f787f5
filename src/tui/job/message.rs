//! Messages that report events, and effects that request actions.

use super::{Answer, Job};
use crate::app::annotate::progress::RunProgress;
use crate::app::annotate::{RunError, RunOutcome};
use crate::app::error::AppError;
use crate::app::question_set::{QuestionSet, QuestionSetOutcome, QuestionSetProgress};
use crate::app::text_editor::{EditedText, EditorFailure};
use crate::client::RunControl;
use crate::tui::model::run::RunScope;
use crossterm::event::{KeyEvent, MouseEvent};

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
    /// A job has made progress or has ended.
    Answer(Answer),
    /// Another program has changed the project.
    ChangedElsewhere,
    /// A write takes long.
    StillWriting,
    /// A run has made progress.
    Progress(RunProgress),
    /// A run has ended.
    Ended(Result<RunOutcome, RunError>),
    QuestionsProgress(QuestionSetProgress),
    QuestionsEnded(Result<QuestionSetOutcome, AppError>),
    /// The editor that was opened for the guideline has ended.
    GuidelineEdited {
        before: String,
        edited: Result<EditedText, EditorFailure>,
    },
    /// The editor that was opened for a text of the screen has ended.
    Edited(Result<EditedText, EditorFailure>),
    /// Something failed for external reasons.
    Failed(String),
}

#[derive(Debug, PartialEq)]
pub enum Effect {
    /// Do work and report its answer.
    Job(Job),
    /// Report when another program changes the project.
    Watch,
    Start(RunScope),
    Steer(RunControl),
    /// Ask judges these questions outside a run, making at most this many calls.
    AskQuestions(QuestionSet, usize),
    StopQuestions,
    /// Store the project's spending limit in dollars, and apply it to whoever is asking judges.
    KeepBudget(Option<f64>),
    /// Store decisions under this name from now on.
    Rename(String),
    /// Open a text in the user's editor, which takes over the terminal.
    Edit(String),
    /// Copy text to the clipboard.
    Copy(String),
    /// Open the project's guideline in the person's editor.
    EditGuideline(String),
    Suspend,
    Redraw,
    Quit,
}
