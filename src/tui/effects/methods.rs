//! Comparing reranking methods beside everything else.

use super::Runner;
use crate::app::error::AppError;
use crate::app::methods::{MethodsOptions, MethodsReport, compare_methods};
use crate::app::truth::{GradeBasis, TruthSource, project_truth};
use crate::store::Store;
use crate::tui::message::Msg;

impl Runner {
    /// Measures every method against the labels, or against the judges where there are none.
    pub(super) fn compare_methods(&self) {
        let (store, results) = (self.store.clone(), self.results.clone());
        let written = self.store.write(|_| Ok(()));
        tokio::spawn(async move {
            drop(written.await);
            let work = tokio::task::spawn_blocking(move || methods_report(&store));
            let report = match work.await {
                Ok(report) => report,
                Err(error) => Err(error.to_string()),
            };
            drop(results.send(Msg::MethodsCompared(report)).await);
        });
    }
}

/// Every method against the labels, or against the judges where there are none; or why there is no comparison.
pub(crate) fn methods_report(store: &Store) -> Result<Box<MethodsReport>, String> {
    let report = || {
        let labelled = store.read_blocking(|db| Ok(!db.labels()?.is_empty()))?;
        let source = match labelled {
            true => TruthSource::Qrels,
            false => TruthSource::Zelo,
        };
        let truth = project_truth(store, source, GradeBasis::Auto)?;
        let options = MethodsOptions {
            baseline: None,
            depth: 10,
            level: 1,
        };
        compare_methods(store, &truth, &options)
    };
    let report: Result<MethodsReport, AppError> = report();
    report.map(Box::new).map_err(|error| error.to_string())
}
