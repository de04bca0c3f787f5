//! Computes a student's report in the background.

use super::Runner;
use crate::features::student::app::{StudentsFound, students_found};
use crate::store::Store;
use crate::tui::message::Msg;
use crate::tui::model::report_request::ReportRequest;

impl Runner {
    /// Evaluates a student on the currently judged battles, as long as someone waits for it.
    pub(super) fn report_student(
        &self,
        name: Option<String>,
        generation: u64,
        request: ReportRequest,
    ) {
        let results = self.results.clone();
        let store = self.store.while_wanted({
            let request = request.clone();
            move || request.stands()
        });
        let written = self.store.write(|_| Ok(()));
        tokio::spawn(async move {
            drop(written.await);
            let work = tokio::task::spawn_blocking(move || found(&store, name.as_deref()));
            let found = match work.await {
                Ok(found) => found,
                Err(error) => Err(error.to_string()),
            };
            if request.stands() {
                drop(results.send(Msg::StudentReported(generation, found)).await);
            }
        });
    }
}

/// The students of the project with the report on one, or why there is none.
pub(crate) fn found(store: &Store, name: Option<&str>) -> Result<Box<StudentsFound>, String> {
    students_found(store, name)
        .map(Box::new)
        .map_err(|error| error.to_string())
}
