//! State of the judges screen.

use crate::app::judge_report::ranking_shift::RankingShift;
use crate::app::judge_report::report::RaterReport;
use crate::domain::vote::JudgeId;
use crate::features::student::app::StudentCard;

#[derive(Debug, Default)]
pub struct JudgesScreen {
    pub report: Option<Box<RaterReport>>,
    /// The students of the project.
    pub students: Vec<StudentCard>,
    /// Index of the card under the cursor: the judges, then the ensemble, then the students.
    pub cursor: usize,
    pub without: Option<(JudgeId, RankingShift)>,
}
