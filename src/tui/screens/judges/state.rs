//! What is known of the judges.

use crate::domain::vote::JudgeId;
use crate::store::rater_data::{RankingShift, RaterReport};

#[derive(Debug, Default)]
pub struct JudgesScreen {
    /// Once it is computed.
    pub report: Option<Box<RaterReport>>,
    /// The judge under the cursor; the ensemble comes last.
    pub cursor: usize,
    /// What would change without a judge.
    pub without: Option<(JudgeId, RankingShift)>,
}
