//! `overrule annotate --sample`: asks the judges only about the pairs of a sample.

use super::{AnnotateCommand, batch, confirm_history, cost, finish_run, watch};
use crate::app::annotate::RunRequest;
use crate::app::annotate::estimate::CostEstimate;
use crate::app::choose_judges::{check_budget, is_paid};
use crate::app::run_lock::RunLock;
use crate::cli::command::{CommandContext, CommandResult};
use crate::cli::output;
use crate::cli::spending::confirm_spending;
use crate::registry::sample_request;
use crate::store::outstanding::CallSelection;
use std::path::Path;
use std::sync::Arc;

impl AnnotateCommand {
    pub(super) fn judge_sample(&self, context: &CommandContext, path: &Path) -> CommandResult {
        let chosen = context
            .judges(self.spending.insecure_http)
            .choose(&self.judges)?;
        let ensemble = chosen.ensemble;
        if self.batch {
            batch::check(&ensemble)?;
        }
        let store = context.open()?;
        let latest = store.read_blocking(|db| db.latest_run())?;
        let usual = &context.config.run;
        let request = RunRequest {
            selection: if self.retry_failed {
                CallSelection::FreshAndFailed
            } else {
                CallSelection::Fresh
            },
            at_most: self.batch.then_some(1),
            pin_model: self.pin_model,
            ..RunRequest::continuing(latest, usual)
        };
        let request = sample_request(&store, path, &ensemble, &request)?;
        chosen.notes.iter().for_each(|note| output::message(note));
        let estimate = || {
            let mut estimate = if self.batch {
                CostEstimate::of_project_in_batches(&store, &ensemble, &request)?
            } else {
                CostEstimate::of_project(&store, &ensemble, &request)?
            };
            estimate.recall_times(&store)?;
            Ok::<_, crate::store::StoreError>(estimate)
        };
        if self.spending.dry_run {
            let estimate = estimate()?;
            if self.json {
                return output::json(&estimate);
            }
            output::text(&cost::describe(&estimate, &ensemble))?;
            return output::text("dry run: nothing was called and nothing was changed\n");
        }
        let budget = self.spending.budget(context, Some(&store))?;
        if let Some(budget) = budget {
            check_budget(budget, &ensemble)?;
        }
        // Held while the question is open and during the run, so that no other run can start in
        // between.
        let lock = Arc::new(RunLock::take(context.project())?);
        let paid = ensemble
            .iter()
            .any(|judge| is_paid(judge.as_ref()))
            .then(estimate)
            .transpose()?;
        match paid.filter(|estimate| estimate.calls() > 0) {
            Some(estimate) => {
                confirm_spending(&cost::describe(&estimate, &ensemble), self.spending.yes)?;
            }
            None => {
                let queries = request.queries.clone();
                confirm_history(&store, &ensemble, queries, self.spending.yes)?;
            }
        }
        let control = self.spending.control(context, budget, &ensemble);
        let (request, budget_reached) =
            self.hand_over(&lock, &store, &ensemble, request, control)?;
        let (outcome, ()) =
            watch::watch(&lock, &store, ensemble, request, control, self.json, |_| {
                Ok(())
            })?;
        finish_run(&outcome, budget_reached, None)
    }
}
