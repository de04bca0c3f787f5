//! Converts outstanding calls to batches at the providers.

use super::submitter::{
    BatchSubmission, BatchSubmitter, JudgeBatch, OpenBatchCall, SubmittedBatch,
};
use crate::app::annotate::error::RunError;
use crate::app::annotate::plan::plan_so_far;
use crate::app::annotate::progress::{JudgeProgress, RunProgress};
use crate::app::annotate::request::RunRequest;
use crate::app::annotate::stored_answer::{OpenCall, StoredAnswer};
use crate::client::call_key::call_key;
use crate::client::now_ms;
use crate::domain::vote::JudgeId;
use crate::judge::{Judge, JudgeEnsemble, JudgeQuestion, PoolText, PresentedPair};
use crate::registry;
use crate::store::batches::BatchedVote;
use crate::store::corpus::QueryKey;
use crate::store::outstanding::OutstandingCall;
use crate::store::runs::RunId;
use crate::store::{Db, Store};
use std::sync::Arc;

/// The judges without a batch endpoint.
pub fn judges_without_batches(ensemble: &JudgeEnsemble) -> Vec<&str> {
    ensemble
        .iter()
        .filter(|judge| judge.batch().is_none())
        .map(|judge| judge.spec().name.as_str())
        .collect()
}

/// The indices of the judges whose test call did not fail, and the other judges.
pub fn passed_test(tested: &RunProgress) -> (Vec<usize>, Vec<&JudgeProgress>) {
    let (mut passed, mut failed) = (Vec::new(), Vec::new());
    for (at, judge) in tested.judges.iter().enumerate() {
        if judge.stopped.is_none() && judge.failures == 0 {
            passed.push(at);
        } else {
            failed.push(judge);
        }
    }
    (passed, failed)
}

/// Submits the outstanding calls of the judges in `judge_indices`. `tell` is called for each batch.
pub async fn submit(
    store: &Store,
    ensemble: &JudgeEnsemble,
    judge_indices: &[usize],
    request: &RunRequest,
    run: RunId,
    budget_usd: Option<f64>,
    tell: &mut (dyn FnMut(SubmittedBatch) + Send),
) -> Result<BatchSubmission, RunError> {
    let queries = match &request.queries {
        Some(queries) => queries.clone(),
        None => store.read(|db| db.runnable_queries()).await?,
    };
    let mut submitter = BatchSubmitter::new(store, Some(run), budget_usd, tell).await?;
    for judge_index in judge_indices {
        if let Some(judge) = ensemble.get(*judge_index) {
            submit_judge(&mut submitter, store, judge, (&queries, request), run).await?;
        }
    }
    Ok(submitter.finish())
}

async fn submit_judge(
    submitter: &mut BatchSubmitter<'_>,
    store: &Store,
    judge: &Arc<dyn Judge>,
    (queries, request): (&[QueryKey], &RunRequest),
    run: RunId,
) -> Result<(), RunError> {
    let spec = judge.spec().clone();
    let prompt = judge.prompt_text();
    let register = move |db: &mut Db| {
        registry::record_prompts(db, prompt.as_slice(), now_ms())?;
        db.judge(&spec)
    };
    let id = store.write(register).await?;
    let mut batch = match JudgeBatch::of(judge, id) {
        Ok(batch) => batch,
        Err(trouble) => {
            submitter.done.troubles.push(trouble.to_string());
            return Ok(());
        }
    };
    'queries: for query in queries {
        let (pool, calls) = outstanding(store, judge.as_ref(), id, *query, request).await?;
        for call in calls {
            let case = PresentedPair {
                pool: Arc::clone(&pool),
                first: if call.swapped { call.b } else { call.a },
                second: if call.swapped { call.a } else { call.b },
            };
            let prompt = judge.prompt(JudgeQuestion::Pair(&case));
            let Some(key) = call_key(judge.as_ref(), &prompt) else {
                continue;
            };
            let open = OpenCall {
                judge: Arc::clone(judge),
                id,
                case: case.clone(),
                call,
                key,
                run,
            };
            if reuse(store, open).await? {
                submitter.done.reused += 1;
                continue;
            }
            let call = OpenBatchCall {
                key,
                prompt,
                vote: Some(BatchedVote {
                    battle: call.battle,
                    swapped: call.swapped,
                    attempt: call.attempt,
                }),
                truncated: judge.truncated(JudgeQuestion::Pair(&case)),
            };
            if !submitter.add(&mut batch, call).await? {
                break 'queries;
            }
        }
    }
    submitter.submit(batch).await?;
    Ok(())
}

/// Stores the answer that the project already holds, if there is one.
async fn reuse(store: &Store, open: OpenCall) -> Result<bool, RunError> {
    let key = open.key;
    let is_known = store
        .read(move |db| Ok(StoredAnswer::find(db, &key)?.is_some()))
        .await?;
    Ok(is_known && store.write(move |db| open.reuse_answer(db)).await?)
}

/// The calls of a judge on a query that no vote and no batch has answered, with the texts.
async fn outstanding(
    store: &Store,
    judge: &dyn Judge,
    id: JudgeId,
    query: QueryKey,
    request: &RunRequest,
) -> Result<(Arc<PoolText>, Vec<OutstandingCall>), RunError> {
    let (spec, request) = (judge.spec().clone(), request.clone());
    let found = store
        .read(move |db| {
            let plan = plan_so_far(db, query, &request, &[spec], &[id])?;
            let calls =
                db.outstanding(query, &plan.planned, &[id], &plan.shown, request.selection)?;
            let depth = if calls.is_empty() {
                Some(0)
            } else {
                request.text_depth()
            };
            Ok((Arc::new(db.pool_text(query, depth)?), calls))
        })
        .await?;
    Ok(found)
}
