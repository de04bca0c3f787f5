//! Compares reranking methods.

use super::update;
use crate::app::error::AppError;
use crate::app::truth::{GradeBasis, TruthSource, project_truth};
use crate::features::methods::app::{MethodsOptions, MethodsReport, compare_methods};
use crate::features::methods::screen::state::{MethodsChoice, TruthChoice};
use crate::store::Store;
use crate::tui::job::{Job, JobContext, Task};
use crate::tui::message::Effect;
use crate::tui::model::Model;
use crate::tui::screens::Screen;
use crate::tui::slot::Slot;

const REPORT: Slot = Slot::of(Screen::METHODS, "comparison");

/// Evaluates all methods with these parameters.
#[derive(Debug, PartialEq)]
pub(super) struct CompareMethods(pub(super) MethodsChoice);

impl Task for CompareMethods {
    type Answer = MethodsReport;

    fn run(self, context: &JobContext) -> Result<MethodsReport, AppError> {
        report(&context.store(), &self.0)
    }
}

fn report(store: &Store, choice: &MethodsChoice) -> Result<MethodsReport, AppError> {
    let top = store.read_blocking(|db| Ok(db.settings()?.top))?;
    let options = MethodsOptions {
        baseline: choice.baseline.clone(),
        depth: choice.depth.unwrap_or(top),
        level: 1,
    };
    let compared = |source| {
        let truth = project_truth(store, source, GradeBasis::Auto)?;
        compare_methods(store, &truth, &options)
    };
    match choice.truth {
        TruthChoice::Usual => {
            let labeled = store.read_blocking(|db| Ok(!db.labels()?.is_empty()))?;
            compared(if labeled {
                TruthSource::Qrels
            } else {
                TruthSource::Zelo
            })
        }
        TruthChoice::This(source) => compared(source),
        // Skip truths that the project does not have.
        TruthChoice::After(source) => {
            let mut next = TruthChoice::next(source);
            loop {
                match compared(next) {
                    Err(_) if next != source => next = TruthChoice::next(next),
                    found => break found,
                }
            }
        }
    }
}

impl Model {
    /// Starts the comparison; the previous result stays visible meanwhile.
    pub(crate) fn compare_methods(&mut self, choice: MethodsChoice) -> Vec<Effect> {
        let asked = choice.clone();
        let job = Job::try_task(CompareMethods(choice), move |model, report| {
            update::compared(model, asked, report.map(Box::new));
            Vec::new()
        });
        vec![job.latest(&mut self.jobs, REPORT).into()]
    }
}
