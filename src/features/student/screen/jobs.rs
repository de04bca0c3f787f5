//! Computes a student's report.

use super::state::TRAINED;
use super::update;
use crate::app::error::AppError;
use crate::features::student::app::train::{TrainOptions, train};
use crate::features::student::app::{StudentsFound, keep_trained, students_found};
use crate::tui::job::{Job, JobContext, Task};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::slot::Slot;

/// Default number of folds for cross-validation, as on the command line.
const FOLDS: usize = 5;

const TRAINING: Slot = Slot::shared("student training");
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

/// Trains the built-in student on the judged pairs, and stores it with its predictions.
#[derive(Debug, PartialEq)]
pub(super) struct TrainStudent;

impl Task for TrainStudent {
    type Answer = String;

    fn run(self, context: &JobContext) -> Result<String, AppError> {
        let store = context.store();
        let options = TrainOptions {
            other_battles: false,
            folds: FOLDS,
            seed: 0,
            all_pairs: true,
        };
        let trained = train(&store, options)?;
        keep_trained(&store, &trained, TRAINED, context.annotator()).map(|kept| kept.to_string())
    }
}

impl Model {
    pub(crate) fn train_student(&mut self) -> Vec<Effect> {
        let job = Job::task(TrainStudent, update::trained).kept();
        vec![job.latest(&mut self.jobs, TRAINING).into()]
    }

    pub(crate) fn report_student(&mut self, name: Option<String>) -> Vec<Effect> {
        let job = Job::try_task(ReportStudent(name), |model, found| {
            update::reported(model, found.map(Box::new));
            Vec::new()
        });
        vec![job.latest(&mut self.jobs, REPORT).into()]
    }
}
