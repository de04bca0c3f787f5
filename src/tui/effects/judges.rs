//! Working out the judges' report.

use super::Runner;
use crate::app::error::AppError;
use crate::app::judge_report::report::{RaterReport, rater_report};
use crate::app::student::{StudentCard, student_cards};
use crate::store::Store;
use crate::tui::message::Msg;
use crate::tui::model::report_request::ReportRequest;

impl Runner {
    /// Works the judges' report out beside everything else, unless nobody waits for it any more.
    pub(super) fn report_judges(&self, request: ReportRequest) {
        let (store, results) = (self.store.clone(), self.results.clone());
        let written = self.store.write(|_| Ok(()));
        tokio::spawn(async move {
            drop(written.await);
            let wanted = move || request.stands();
            let found = tokio::task::spawn_blocking(move || report(&store, &wanted)).await;
            let msg = match found {
                Ok(Ok(report)) => {
                    report.map(|(report, students)| Msg::JudgesReported(Box::new(report), students))
                }
                Ok(Err(error)) => Some(Msg::Failed(error.to_string())),
                Err(error) => Some(Msg::Failed(error.to_string())),
            };
            if let Some(msg) = msg {
                drop(results.send(msg).await);
            }
        });
    }
}

/// The judges' report with the students beside it; `None` where nobody waits for it any more.
pub(crate) fn report(
    store: &Store,
    wanted: &(dyn Fn() -> bool + Sync),
) -> Result<Option<(RaterReport, Vec<StudentCard>)>, AppError> {
    let Some(report) = rater_report(store, None, wanted)? else {
        return Ok(None);
    };
    Ok(Some((report, student_cards(store, None)?)))
}
