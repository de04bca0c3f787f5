//! Working out the judges' report.

use super::Runner;
use crate::app::judge_report::report::rater_report;
use crate::tui::message::Msg;
use crate::tui::model::judges::ReportRequest;

impl Runner {
    /// Works the judges' report out beside everything else, unless nobody waits for it any more.
    pub(super) fn report_judges(&self, request: ReportRequest) {
        let (store, results) = (self.store.clone(), self.results.clone());
        let written = self.store.write(|_| Ok(()));
        tokio::spawn(async move {
            drop(written.await);
            let wanted = move || request.stands();
            let found =
                tokio::task::spawn_blocking(move || rater_report(&store, None, &wanted)).await;
            let msg = match found {
                Ok(Ok(report)) => report.map(|report| Msg::JudgesReported(Box::new(report))),
                Ok(Err(error)) => Some(Msg::Failed(error.to_string())),
                Err(error) => Some(Msg::Failed(error.to_string())),
            };
            if let Some(msg) = msg {
                drop(results.send(msg).await);
            }
        });
    }
}
