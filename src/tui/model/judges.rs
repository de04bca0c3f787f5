//! What is known of the judges.

use crate::app::judge_report::ranking_shift::RankingShift;
use crate::app::judge_report::report::RaterReport;
use crate::app::student::StudentCard;
use crate::domain::vote::JudgeId;
use crate::tui::model::report_request::ReportRequest;

#[derive(Debug, Default)]
pub struct JudgesScreen {
    /// The report that was asked for last.
    pub request: ReportRequest,
    pub report: Option<Box<RaterReport>>,
    /// The students of the project.
    pub students: Vec<StudentCard>,
    /// The judge under the cursor; the ensemble comes after the judges, then the students.
    pub cursor: usize,
    pub without: Option<(JudgeId, RankingShift)>,
}
