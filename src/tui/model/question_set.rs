//! Questions that judges are being asked beside a run: picks, anchors, links.

use crate::app::question_set::{QuestionSet, QuestionSetProgress};
use crate::tui::widgets::question_dialog::QuestionOrder;

#[derive(Debug, Default)]
pub struct QuestionState {
    /// What the dialog asked for last, so that an overtaken answer is dropped.
    pub generation: u64,
    /// What is asked and how far it is, while judges are asked.
    pub going: Option<(QuestionSet, QuestionSetProgress)>,
    /// What a person is asked about, as it costs money.
    pub asked: Option<QuestionOrder>,
    /// What was asked last in this session, and how it ended.
    pub ended: Option<String>,
}
