//! Computes a student's report.

use super::update;
use crate::app::error::AppError;
use crate::features::student::app::{StudentsFound, students_found};
use crate::tui::job::{Job, JobContext, Task};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::slot::Slot;

const REPORT: Slot = Slot::of(Screen::STUDENT, "student report");

/// Evaluates a student by name, or the first one for `None`, on the currently judged battles.
#[derive(Debug, PartialEq)]
pub(super) struct ReportStudent(pub(super) Option<String>);

impl Task for ReportStudent {
    type Answer = StudentsFound;

    fn run(self, context: &JobContext) -> Result<StudentsFound, AppError> {
        students_found(&context.store(), self.0.as_deref())
    }
}

impl Model {
    pub(crate) fn report_student(&mut self, name: Option<String>) -> Vec<Effect> {
        let job = Job::try_task(ReportStudent(name), |model, found| {
            update::reported(model, found.map(Box::new));
            Vec::new()
        });
        vec![job.latest(&mut self.jobs, REPORT).into()]
    }
}
