//! Computes the judge report.

use super::Runner;
use crate::app::error::AppError;
use crate::app::judge_report::report::{RaterReport, rater_report};
use crate::features::student::app::{StudentCard, student_cards};
use crate::store::Store;
use crate::tui::message::Msg;
use crate::tui::model::report_request::ReportRequest;

impl Runner {
    /// Computes the judge report in the background, as long as someone waits for it.
    pub(super) fn report_judges(&self, request: ReportRequest) {
        let results = self.results.clone();
        let store = self.store.while_wanted({
            let request = request.clone();
            move || request.stands()
        });
        let written = self.store.write(|_| Ok(()));
        tokio::spawn(async move {
            drop(written.await);
            let found = tokio::task::spawn_blocking(move || report(&store)).await;
            let msg = match found {
                Ok(Ok((report, students))) => Msg::JudgesReported(Box::new(report), students),
                Ok(Err(error)) => Msg::Failed(error.to_string()),
                Err(error) => Msg::Failed(error.to_string()),
            };
            if request.stands() {
                drop(results.send(msg).await);
            }
        });
    }
}

/// The judge report with the student cards.
fn report(store: &Store) -> Result<(RaterReport, Vec<StudentCard>), AppError> {
    let report = rater_report(store, None)?;
    Ok((report, student_cards(store, None)?))
}
