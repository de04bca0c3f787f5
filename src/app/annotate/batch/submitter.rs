//! Fills batches with calls and submits them.

use super::{api, line_id, patiently};
use crate::app::annotate::error::RunError;
use crate::app::annotate::judge_history::remember_seed;
use crate::client::now_ms;
use crate::domain::vote::JudgeId;
use crate::judge::batch::{BatchApi, BatchLimits, NotSubmitted};
use crate::judge::{Judge, JudgePrompt, Retry};
use crate::store::Store;
use crate::store::batches::{BatchCall, BatchStage, BatchedVote};
use crate::store::runs::RunId;
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

/// A call that no answer in the project stands for.
#[derive(Clone, Debug)]
pub struct OpenBatchCall {
    /// Hash of the judge and of everything it is sent.
    pub key: [u8; 32],
    pub prompt: JudgePrompt,
    /// The vote that is asked for; `None` for the order of a list of documents.
    pub vote: Option<BatchedVote>,
    /// Number of documents that are truncated for the judge.
    pub truncated: usize,
}

/// Submits the calls of one judge after another.
pub struct BatchSubmitter<'a> {
    store: &'a Store,
    /// The run that votes belong to.
    run: Option<RunId>,
    /// Dollars that may still be committed; `None` for no limit.
    left_usd: Option<f64>,
    pub(super) done: BatchSubmission,
    /// Calls that were submitted or are about to be.
    handed: HashSet<[u8; 32]>,
    tell: &'a mut (dyn FnMut(SubmittedBatch) + Send),
}

/// The batch of a judge that is being filled.
pub struct JudgeBatch {
    judge: Arc<dyn Judge>,
    id: JudgeId,
    limits: BatchLimits,
    uid: String,
    calls: Vec<BatchCall>,
    lines: Vec<String>,
    bytes: usize,
}

impl JudgeBatch {
    /// The first batch of a judge, whose row in the project is `id`.
    ///
    /// # Errors
    /// It has no batch endpoint.
    pub fn of(judge: &Arc<dyn Judge>, id: JudgeId) -> Result<Self, super::BatchTrouble> {
        let limits = api(judge.as_ref())?.batch_limits();
        Ok(Self::empty(Arc::clone(judge), id, limits))
    }

    fn empty(judge: Arc<dyn Judge>, id: JudgeId, limits: BatchLimits) -> Self {
        Self {
            judge,
            id,
            limits,
            uid: Uuid::now_v7().to_string(),
            calls: Vec::new(),
            lines: Vec::new(),
            bytes: 0,
        }
    }

    fn line(&self, api: &dyn BatchApi, prompt: &JudgePrompt) -> String {
        let id = line_id(&self.uid, self.lines.len());
        api.batch_line(&id, prompt).to_string()
    }

    /// Takes the calls out, so that the next batch can be filled.
    fn take(&mut self) -> Self {
        let next = Self::empty(Arc::clone(&self.judge), self.id, self.limits);
        std::mem::replace(self, next)
    }
}

impl<'a> BatchSubmitter<'a> {
    /// Submits calls within the budget. `tell` is called for each batch. Votes belong to `run`.
    pub async fn new(
        store: &'a Store,
        run: Option<RunId>,
        budget_usd: Option<f64>,
        tell: &'a mut (dyn FnMut(SubmittedBatch) + Send),
    ) -> Result<Self, RunError> {
        let committed = store.read(|db| db.committed_usd()).await?;
        Ok(Self {
            store,
            run,
            left_usd: budget_usd.map(|budget| budget - committed),
            done: BatchSubmission::default(),
            handed: HashSet::new(),
            tell,
        })
    }

    /// What was submitted.
    pub fn finish(self) -> BatchSubmission {
        self.done
    }

    /// Adds a call, and submits the batch before it if it is full. Returns whether the judge may be
    /// asked more: otherwise, the budget is reached or the provider accepts no batch.
    pub async fn add(
        &mut self,
        batch: &mut JudgeBatch,
        call: OpenBatchCall,
    ) -> Result<bool, RunError> {
        let key = call.key;
        // The answer to an identical call in a batch is reused once it arrives.
        if !self.handed.insert(key) || self.store.read(move |db| db.is_being_made(&key)).await? {
            self.done.same += 1;
            return Ok(true);
        }
        let judge = Arc::clone(&batch.judge);
        let Ok(api) = api(judge.as_ref()) else {
            return Ok(false);
        };
        let worst = api.batch_cost(&call.prompt).2;
        if let Some(left) = self.left_usd {
            let left = left - worst.unwrap_or(0.0);
            if left < 0.0 {
                self.done.budget_reached = true;
                return Ok(false);
            }
            self.left_usd = Some(left);
        }
        let mut line = batch.line(api, &call.prompt);
        let full = batch.lines.len() == batch.limits.requests
            || batch.bytes + line.len() + 1 > batch.limits.bytes;
        if full && !batch.lines.is_empty() {
            let whole = batch.take();
            if !self.submit(whole).await? {
                return Ok(false);
            }
            line = batch.line(api, &call.prompt);
        }
        batch.calls.push(BatchCall {
            number: batch.lines.len(),
            vote: call.vote,
            truncated: call.truncated,
            call_key: key,
            worst_usd: worst,
        });
        batch.bytes += line.len() + 1;
        batch.lines.push(line);
        Ok(true)
    }

    /// Stores a batch, submits it and records its name. Returns false if the provider accepts no
    /// more.
    pub async fn submit(&mut self, batch: JudgeBatch) -> Result<bool, RunError> {
        let calls = batch.calls.len();
        let Some(api) = batch.judge.batch().filter(|_| calls > 0) else {
            return Ok(true);
        };
        let JudgeBatch {
            judge,
            id,
            uid,
            calls: rows,
            lines,
            ..
        } = &batch;
        let (id, run, rows) = (*id, self.run, rows.clone());
        let (name, account) = (uid.clone(), api.account(uid));
        // Written before it is submitted: if interrupted in between, it is looked for at the
        // provider by its mark. In the opposite order, its calls would be paid for again, because
        // the project would not know of the batch.
        let number = self
            .store
            .write(move |db| db.add_batch(&name, id, run, &account, &rows, now_ms()))
            .await?;
        let who = &judge.spec().name;
        let submitted = patiently(
            || api.submit(uid, lines),
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
                    number: number.0,
                    remote: remote.clone(),
                    calls,
                });
                let seed = judge.seed().filter(|_| run.is_some());
                self.store
                    .write(move |db| {
                        db.name_batch(number, &remote)?;
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
                    .push(format!("{who}: batch {} was rejected: {message}", number.0));
                self.store
                    .write(move |db| {
                        let (stage, now_ms) = (BatchStage::Failed, now_ms());
                        db.note_batch(number, stage, (0, 0), Some(&message), now_ms)?;
                        db.close_batch(number, now_ms)
                    })
                    .await?;
                Ok(false)
            }
            Err(failure) => {
                self.done.troubles.push(format!(
                    "{who}: it is not known whether batch {} arrived ({failure}); check with \
                     `overrule batch status`",
                    number.0
                ));
                Ok(false)
            }
        }
    }
}
