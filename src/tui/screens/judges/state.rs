//! State of the judges screen.

use crate::app::judge_report::ranking_shift::RankingShift;
use crate::app::judge_report::report::RaterReport;
use crate::domain::vote::JudgeId;
use crate::judge::JudgeSpec;
use crate::tui::model::Model;
use crate::tui::screens::additions::AddedRaters;

#[derive(Debug, Default)]
pub(crate) struct JudgesState {
    pub(super) report: Option<Box<RaterReport>>,
    /// Tables of features below the judges.
    pub(super) added: Vec<Box<dyn AddedRaters>>,
    /// Index of the row under the cursor: the judges, then the ensemble, then those of features.
    pub(super) cursor: usize,
    pub(super) without: Option<(JudgeId, RankingShift)>,
}

impl JudgesState {
    /// Number of raters that features add.
    pub(super) fn added_count(&self) -> usize {
        self.added.iter().map(|raters| raters.count()).sum()
    }

    /// The table and its row under the cursor, if that is below these rows of judges.
    pub(super) fn added_under_cursor(&self, judges: usize) -> Option<(&dyn AddedRaters, usize)> {
        let mut at = self.cursor.checked_sub(judges)?;
        for raters in &self.added {
            if at < raters.count() {
                return Some((raters.as_ref(), at));
            }
            at -= raters.count();
        }
        None
    }
}

impl Model {
    /// The judge under the cursor of the judges screen.
    pub(crate) fn judge_under_cursor(&self) -> Option<&JudgeSpec> {
        let state = self.judges();
        let judges = &state.report.as_ref()?.rater_data.judges;
        judges.get(state.cursor).map(|(_, spec)| spec)
    }

    pub(super) fn judges(&self) -> &JudgesState {
        self.state()
    }

    pub(super) fn judges_mut(&mut self) -> &mut JudgesState {
        self.state_mut()
    }
}
