//! What is known of the judges.

use crate::app::judge_report::ranking_shift::RankingShift;
use crate::app::judge_report::report::RaterReport;
use crate::domain::vote::JudgeId;

#[derive(Debug, Default)]
pub struct JudgesScreen {
    pub report: Option<Box<RaterReport>>,
    /// The judge under the cursor; the ensemble comes last.
    pub cursor: usize,
    pub without: Option<(JudgeId, RankingShift)>,
}
