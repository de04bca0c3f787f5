//! A run through the providers' batch endpoints.

use super::watch;
use crate::app::annotate::RunRequest;
use crate::app::annotate::batch::{self, BatchSubmission, SubmittedBatch};
use crate::app::run_lock::RunLock;
use crate::app::text_format::counted;
use crate::cli::batch::fetch_one;
use crate::cli::command::{CommandFailure, CommandResult, usage};
use crate::cli::output::{self, clean};
use crate::cli::signals::runtime;
use crate::client::RunControl;
use crate::judge::JudgeEnsemble;
use crate::store::Store;
use serde_json::json;
use std::sync::Arc;

/// Rejects judges without a batch endpoint.
pub(crate) fn check(ensemble: &JudgeEnsemble) -> CommandResult {
    let without = batch::judges_without_batches(ensemble);
    if without.is_empty() {
        return Ok(());
    }
    Err(usage!(
        "--batch: {} has no batch endpoint; name only judges that have one with --judges, then run \
         again without --batch for all judges",
        without.join(", ")
    ))
}

/// Reports a batch that a provider has accepted.
pub(crate) fn report_submitted(batch: &SubmittedBatch) {
    output::message(&format!(
        "{}: {} submitted as batch {} ({})",
        clean(&batch.judge),
        counted(batch.calls, "call"),
        batch.number,
        clean(&batch.remote)
    ));
}

/// Reports batches that were not accepted or submitted.
pub(crate) fn report(submitted: &BatchSubmission) {
    for trouble in &submitted.troubles {
        output::message(trouble);
    }
    if submitted.budget_reached {
        output::message(
            "the budget is reached, counting the maximum cost of the batches: no further batches; \
             continue with a larger --budget",
        );
    }
}

/// Fetches finished batches, tests each judge with one call, and submits the rest. Fails as
/// incomplete while a batch is open; otherwise returns whether the budget was reached.
pub(super) fn run(
    lock: &Arc<RunLock>,
    store: &Store,
    ensemble: &JudgeEnsemble,
    request: &RunRequest,
    control: RunControl,
    as_json: bool,
) -> Result<bool, CommandFailure> {
    let runtime = runtime()?;
    for known in runtime.block_on(batch::refresh(store, ensemble, true))? {
        fetch_one(&runtime, store, ensemble, &known, as_json)?;
    }
    let (tried, _) = watch::watch(
        lock,
        store,
        ensemble.clone(),
        request.clone(),
        control,
        as_json,
        |_| Ok(0),
    )?;
    if tried.cancelled {
        output::message("stopped; nothing was submitted");
        return Err(CommandFailure::interrupted());
    }
    let (judges, failed) = batch::passed_test(&tried.progress);
    for judge in failed {
        output::message(&format!(
            "{}: its first call failed, so nothing was submitted; correct the cause, then \
             --retry-failed",
            judge.name
        ));
    }
    let mut tell = |batch: SubmittedBatch| report_submitted(&batch);
    let request = RunRequest {
        at_most: None,
        ..request.clone()
    };
    let submitted = runtime.block_on(batch::submit(
        store,
        ensemble,
        &judges,
        &request,
        tried.run,
        control.budget_usd,
        &mut tell,
    ))?;
    report(&submitted);
    if as_json {
        output::json_line(
            &json!({ "event": "submitted", "batches": submitted.batches, "calls": submitted.calls,
                     "reused": submitted.reused, "budget_reached": submitted.budget_reached, "troubles": submitted.troubles }),
        )?;
    }
    let owed = store.read_blocking(|db| db.votes_being_made())?;
    if owed > 0 {
        output::message(&format!(
            "{} in batches; `overrule batch status` shows their progress; run the same \
             command again to fetch the results and continue",
            counted(owed, "call")
        ));
        return Err(CommandFailure::incomplete());
    }
    Ok(submitted.budget_reached)
}
