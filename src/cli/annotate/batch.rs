//! A run through the providers' batch endpoints.

use super::watch;
use crate::app::annotate::RunRequest;
use crate::app::annotate::batch::{self, SubmittedBatch};
use crate::app::run_lock::RunLock;
use crate::cli::batch::fetch_one;
use crate::cli::command::{CommandFailure, CommandResult, usage};
use crate::cli::output;
use crate::cli::signals::runtime;
use crate::client::RunControl;
use crate::domain::number_words::count;
use crate::judge::JudgeEnsemble;
use crate::store::Store;
use serde_json::json;
use std::sync::Arc;

/// Rejects judges without a batch endpoint.
pub(super) fn check(ensemble: &JudgeEnsemble) -> CommandResult {
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
    let mut tell = |batch: SubmittedBatch| {
        output::message(&format!(
            "{}: {} calls submitted as batch {} ({})",
            batch.judge,
            count(batch.calls),
            batch.number,
            batch.remote
        ));
    };
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
    for trouble in &submitted.troubles {
        output::message(trouble);
    }
    if submitted.budget_reached {
        output::message(
            "the budget is reached, counting the maximum cost of the batches: no further batches; \
             continue with a larger --budget",
        );
    }
    if as_json {
        output::json_line(
            &json!({ "event": "submitted", "batches": submitted.batches, "calls": submitted.calls,
                     "reused": submitted.reused, "budget_reached": submitted.budget_reached, "troubles": submitted.troubles }),
        )?;
    }
    let (owed, _) = store.read_blocking(|db| db.committed())?;
    if owed > 0 {
        output::message(&format!(
            "{} calls are in batches; `overrule batch status` shows their progress; run the same \
             command again to fetch the results and continue",
            count(owed)
        ));
        return Err(CommandFailure::incomplete());
    }
    Ok(submitted.budget_reached)
}
