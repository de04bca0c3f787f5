//! Compares reranking methods in the background.

use super::Runner;
use crate::app::error::AppError;
use crate::app::truth::{GradeBasis, TruthSource, project_truth};
use crate::features::methods::app::{MethodsOptions, MethodsReport, compare_methods};
use crate::registry::project_scale;
use crate::store::Store;
use crate::tui::message::Msg;
use crate::tui::model::methods::{MethodsChoice, TruthChoice};

impl Runner {
    /// Computes the common scale of the queries.
    pub(super) fn read_scale(&self, asked: u64) {
        let (store, results) = (self.store.clone(), self.results.clone());
        let written = self.store.write(|_| Ok(()));
        tokio::spawn(async move {
            drop(written.await);
            let work = tokio::task::spawn_blocking(move || project_scale(&store));
            let msg = match work.await {
                Ok(Ok(found)) => Msg::ScaleRead(asked, found.map(Box::new)),
                Ok(Err(error)) => Msg::Failed(error.to_string()),
                Err(error) => Msg::Failed(error.to_string()),
            };
            drop(results.send(msg).await);
        });
    }

    /// Evaluates all methods with these parameters.
    pub(super) fn compare_methods(&self, choice: MethodsChoice) {
        let (store, results) = (self.store.clone(), self.results.clone());
        let written = self.store.write(|_| Ok(()));
        let asked = choice.clone();
        tokio::spawn(async move {
            drop(written.await);
            let work = tokio::task::spawn_blocking(move || methods_report(&store, &choice));
            let report = match work.await {
                Ok(report) => report,
                Err(error) => Err(error.to_string()),
            };
            drop(results.send(Msg::MethodsCompared(asked, report)).await);
        });
    }
}

/// The comparison of all methods with these parameters, or why there is none.
pub(crate) fn methods_report(
    store: &Store,
    choice: &MethodsChoice,
) -> Result<Box<MethodsReport>, String> {
    let options = MethodsOptions {
        baseline: choice.baseline.clone(),
        depth: choice.depth,
        level: 1,
    };
    let compared = |source| -> Result<MethodsReport, AppError> {
        let truth = project_truth(store, source, GradeBasis::Auto)?;
        compare_methods(store, &truth, &options)
    };
    let report = match choice.truth {
        TruthChoice::Usual => {
            let labelled = store.read_blocking(|db| Ok(!db.labels()?.is_empty()));
            labelled.map_err(AppError::from).and_then(|labelled| {
                compared(if labelled {
                    TruthSource::Qrels
                } else {
                    TruthSource::Zelo
                })
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
    };
    report.map(Box::new).map_err(|error| error.to_string())
}
