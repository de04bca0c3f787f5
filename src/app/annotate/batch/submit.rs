//! Converts outstanding calls to batches at the providers.

use super::{api, line_id, patiently};
use crate::app::annotate::error::RunError;
use crate::app::annotate::judge_history::remember_seed;
use crate::app::annotate::plan::plan_so_far;
use crate::app::annotate::progress::{JudgeProgress, RunProgress};
use crate::app::annotate::request::RunRequest;
use crate::app::annotate::stored_answer::{OpenCall, StoredAnswer};
use crate::client::call_key::call_key;
use crate::client::now_ms;
use crate::domain::vote::JudgeId;
use crate::judge::batch::{BatchApi, NotSubmitted};
use crate::judge::{Judge, JudgeEnsemble, JudgeQuestion, PoolText, PresentedPair, Retry};
use crate::registry;
use crate::store::batches::{BatchCall, BatchStage};
use crate::store::corpus::QueryKey;
use crate::store::outstanding::OutstandingCall;
use crate::store::runs::RunId;
use crate::store::{Db, Store};
use std::collections::HashSet;
use std::sync::Arc;
use uuid::Uuid;

/// Result of submitting batches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchSubmission {
    pub batches: usize,
    pub calls: usize,
    /// Calls whose answer the project already held.
    pub reused: usize,
    /// Calls skipped because a batch already makes an identical one.
    pub same: usize,
    /// Whether the budget allows no further call.
    pub budget_reached: bool,
    /// Messages about batches that were not accepted.
    pub troubles: Vec<String>,
}

/// A batch that a provider has accepted.
#[derive(Clone, Debug, PartialEq)]
pub struct SubmittedBatch {
    pub judge: String,
    /// Its number in the project.
    pub number: i64,
    /// Its name at the provider.
    pub remote: String,
    pub calls: usize,
}

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

/// A batch that is being filled.
struct BatchChunk {
    uid: String,
    calls: Vec<BatchCall>,
    lines: Vec<String>,
    bytes: usize,
}

impl BatchChunk {
    fn new() -> Self {
        Self {
            uid: Uuid::now_v7().to_string(),
            calls: Vec::new(),
            lines: Vec::new(),
            bytes: 0,
        }
    }

    /// The ID that the provider returns with the result of the next call.
    fn next_id(&self) -> String {
        line_id(&self.uid, self.lines.len())
    }
}

struct BatchSubmitter<'a> {
    store: &'a Store,
    run: RunId,
    /// Dollars that may still be committed; `None` for no limit.
    left_usd: Option<f64>,
    done: BatchSubmission,
    /// Calls that were submitted or are about to be.
    handed: HashSet<[u8; 32]>,
    tell: &'a mut (dyn FnMut(SubmittedBatch) + Send),
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
    let committed = store.read(|db| db.committed_usd()).await?;
    let mut submitter = BatchSubmitter {
        store,
        run,
        left_usd: budget_usd.map(|budget| budget - committed),
        done: BatchSubmission::default(),
        handed: HashSet::new(),
        tell,
    };
    let queries = match &request.queries {
        Some(queries) => queries.clone(),
        None => store.read(|db| db.runnable_queries()).await?,
    };
    for judge_index in judge_indices {
        if let Some(judge) = ensemble.get(*judge_index) {
            submitter.judge(judge, &queries, request).await?;
        }
    }
    Ok(submitter.done)
}

impl BatchSubmitter<'_> {
    async fn judge(
        &mut self,
        judge: &Arc<dyn Judge>,
        queries: &[QueryKey],
        request: &RunRequest,
    ) -> Result<(), RunError> {
        let api = match api(judge.as_ref()) {
            Ok(api) => api,
            Err(trouble) => {
                self.done.troubles.push(trouble.to_string());
                return Ok(());
            }
        };
        let spec = judge.spec().clone();
        let prompt = judge.prompt_text();
        let register = move |db: &mut Db| {
            registry::record_prompts(db, prompt.as_slice(), now_ms())?;
            db.judge(&spec)
        };
        let id = self.store.write(register).await?;
        let limits = api.batch_limits();
        let mut chunk = BatchChunk::new();
        for query in queries {
            let (pool, calls) =
                outstanding(self.store, judge.as_ref(), id, *query, request).await?;
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
                    run: self.run,
                };
                if self.reuse(open).await? {
                    continue;
                }
                // An identical call is already in a batch: its answer will be reused once it
                // arrives.
                if !self.handed.insert(key)
                    || self.store.read(move |db| db.is_being_made(&key)).await?
                {
                    self.done.same += 1;
                    continue;
                }
                let worst = api.batch_cost(&prompt).2;
                if let Some(left) = self.left_usd {
                    let left = left - worst.unwrap_or(0.0);
                    if left < 0.0 {
                        self.done.budget_reached = true;
                        self.hand_over(judge.as_ref(), api, id, chunk).await?;
                        return Ok(());
                    }
                    self.left_usd = Some(left);
                }
                let mut line = api.batch_line(&chunk.next_id(), &prompt).to_string();
                let full = chunk.lines.len() == limits.requests
                    || chunk.bytes + line.len() + 1 > limits.bytes;
                if full && !chunk.lines.is_empty() {
                    let whole = std::mem::replace(&mut chunk, BatchChunk::new());
                    if !self.hand_over(judge.as_ref(), api, id, whole).await? {
                        return Ok(());
                    }
                    line = api.batch_line(&chunk.next_id(), &prompt).to_string();
                }
                chunk.calls.push(BatchCall {
                    number: chunk.lines.len(),
                    battle: call.battle,
                    swapped: call.swapped,
                    attempt: call.attempt,
                    truncated: judge.truncated(JudgeQuestion::Pair(&case)) > 0,
                    call_key: key,
                    worst_usd: worst,
                });
                chunk.bytes += line.len() + 1;
                chunk.lines.push(line);
            }
        }
        self.hand_over(judge.as_ref(), api, id, chunk).await?;
        Ok(())
    }

    /// Stores the answer that the project already holds, if there is one.
    async fn reuse(&mut self, open: OpenCall) -> Result<bool, RunError> {
        let key = open.key;
        let is_known = self
            .store
            .read(move |db| Ok(StoredAnswer::find(db, &key)?.is_some()))
            .await?;
        let is_reused = is_known && self.store.write(move |db| open.reuse_answer(db)).await?;
        self.done.reused += usize::from(is_reused);
        Ok(is_reused)
    }

    /// Stores a batch, submits it and records its name; returns false if the judge accepts no more.
    async fn hand_over(
        &mut self,
        judge: &dyn Judge,
        api: &dyn BatchApi,
        id: JudgeId,
        chunk: BatchChunk,
    ) -> Result<bool, RunError> {
        let calls = chunk.calls.len();
        if calls == 0 {
            return Ok(true);
        }
        let BatchChunk {
            uid,
            lines,
            calls: rows,
            ..
        } = chunk;
        let (name, run, account) = (uid.clone(), self.run, api.account(&uid));
        // Written before it is submitted: if interrupted in between, it is looked for at the
        // provider by its mark. In the opposite order, its calls would be paid for again, because
        // the project would not know of the batch.
        let batch = self
            .store
            .write(move |db| db.add_batch(&name, id, run, &account, &rows, now_ms()))
            .await?;
        let who = &judge.spec().name;
        let submitted = patiently(
            || api.submit(&uid, &lines),
            |failure: &NotSubmitted| {
                if failure.may_exist {
                    Retry::Never
                } else {
                    failure.error.retry
                }
            },
        );
        match submitted.await {
            Ok(remote) => {
                (self.tell)(SubmittedBatch {
                    judge: who.clone(),
                    number: batch.0,
                    remote: remote.clone(),
                    calls,
                });
                let seed = judge.seed();
                self.store
                    .write(move |db| {
                        db.name_batch(batch, &remote)?;
                        seed.map_or(Ok(()), |seed| remember_seed(db, id, &seed))
                    })
                    .await?;
                self.done.batches += 1;
                self.done.calls += calls;
                Ok(true)
            }
            Err(failure) if !failure.may_exist => {
                let message = failure.to_string();
                self.done
                    .troubles
                    .push(format!("{who}: batch {} was rejected: {message}", batch.0));
                self.store
                    .write(move |db| {
                        let (stage, now_ms) = (BatchStage::Failed, now_ms());
                        db.note_batch(batch, stage, (0, 0), Some(&message), now_ms)?;
                        db.close_batch(batch, now_ms)
                    })
                    .await?;
                Ok(false)
            }
            Err(failure) => {
                self.done.troubles.push(format!(
                    "{who}: it is not known whether batch {} arrived ({failure}); check with \
                     `overrule batch status`",
                    batch.0
                ));
                Ok(false)
            }
        }
    }
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
