//! What is known of the judges.

use crate::app::judge_report::ranking_shift::RankingShift;
use crate::app::judge_report::report::RaterReport;
use crate::app::student::StudentCard;
use crate::domain::vote::JudgeId;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether somebody waits for a report.
#[derive(Clone, Debug, Default)]
pub struct ReportRequest(Arc<AtomicBool>);

impl ReportRequest {
    pub fn take_back(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn stands(&self) -> bool {
        !self.0.load(Ordering::Relaxed)
    }
}

impl PartialEq for ReportRequest {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

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
