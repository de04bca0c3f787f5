//! State of questions that judges are asked outside a run: picks, batches, and those of features.

use crate::app::question_set::{QuestionSet, QuestionSetProgress};
use crate::tui::widgets::question_dialog::{QuestionOrder, QuestionWay};

#[derive(Debug, Default)]
pub struct QuestionState {
    /// What is being asked and its progress, while judges are asked.
    pub going: Option<(QuestionSet, QuestionSetProgress)>,
    /// Questions that a screen offers, with the title of their dialog, which opens next.
    pub offered: Option<(&'static str, Vec<QuestionWay>)>,
    /// The order that a person must confirm because it costs money.
    pub asked: Option<QuestionOrder>,
    /// What was last asked in this session, and its result.
    pub ended: Option<String>,
}
