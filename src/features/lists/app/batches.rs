//! List calls in batches: the next round of a run, and what is stored of the answers.

use super::answered::{ListOutcome, outcome};
use super::ask::ListRun;
use super::list_judge::question;
use crate::app::annotate::batch::{
    BatchSubmission, BatchSubmitter, JudgeBatch, OpenBatchCall, SubmittedBatch,
};
use crate::app::choose_judges::JudgeConfiguration;
use crate::app::error::AppError;
use crate::client::{RunControl, now_ms};
use crate::domain::corpus::{DocId, QueryId};
use crate::features::lists::domain::AnswerForm;
use crate::features::methods::app::rerank::list_judge::{
    AskedCall, ListQuestion, ask_lists, batched_call,
};
use crate::features::methods::app::rerank::run::RerankEvent;
use crate::features::methods::store::RerankCall;
use crate::judge::{CallError, FailureCause, JudgeEnsemble, JudgeReply};
use crate::registry;
use crate::store::{Db, Result, Store};
use std::collections::HashSet;
use tokio::sync::{mpsc, watch};

/// The next round of a run.
#[derive(Debug)]
pub struct PlannedRound {
    /// One call to each judge, which is made before the others are submitted.
    tests: Vec<TestCall>,
    open: Vec<ListQuestion>,
}

#[derive(Debug)]
struct TestCall {
    list: ListQuestion,
    /// Number of calls with this question that the project has.
    before: usize,
}

/// A round whose test calls have been made.
#[derive(Debug)]
pub struct TestedRound {
    /// Calls to the judges that passed.
    open: Vec<ListQuestion>,
    /// The judges whose test call failed, or whose answer cannot be read.
    pub failed: Vec<String>,
    /// Number of test calls without an answer.
    pub missing: usize,
}

impl PlannedRound {
    /// Number of test calls.
    pub fn tests(&self) -> usize {
        self.tests.len()
    }
}

/// Calls that cannot be made before open batches are fetched.
#[derive(Clone, Copy, Debug, Default)]
pub struct WaitingLists {
    /// Calls that open batches make.
    pub in_batches: usize,
    /// Calls of later rounds.
    pub later: usize,
}

impl ListRun {
    /// Stores the calls of the next round, and chooses a test call to each judge: one that has not
    /// failed before, if there is one.
    pub async fn plan_round(&self, store: &Store) -> std::result::Result<PlannedRound, AppError> {
        let queries = self.queries().to_vec();
        let mut open = self.next_round(store, queries, &HashSet::new()).await?.open;
        let keys: Vec<[u8; 32]> = open.iter().map(ListQuestion::key).collect();
        let before = store
            .read(move |db| {
                let made = |key| Ok(db.rerank_calls(key)?.len());
                keys.iter().map(made).collect::<Result<Vec<usize>>>()
            })
            .await?;
        let mut chosen = Vec::new();
        for judge in self.judges() {
            let calls = open.iter().zip(&before).enumerate();
            let own = calls.filter(|(_, (list, _))| list.judge.spec().name == judge.spec().name);
            chosen.extend(
                own.min_by_key(|(_, (_, before))| **before)
                    .map(|(at, _)| at),
            );
        }
        chosen.sort_unstable();
        let tests = chosen.into_iter().rev().map(|at| TestCall {
            list: open.remove(at),
            before: before[at],
        });
        let tests = tests.collect();
        Ok(PlannedRound { tests, open })
    }

    /// Makes the test calls of a round. A judge whose call fails submits nothing.
    pub async fn test(
        &self,
        store: &Store,
        round: PlannedRound,
        control: watch::Receiver<RunControl>,
        events: mpsc::UnboundedSender<RerankEvent>,
    ) -> std::result::Result<TestedRound, AppError> {
        let PlannedRound { tests, mut open } = round;
        let lists: Vec<ListQuestion> = tests.iter().map(|test| test.list.clone()).collect();
        let missing = ask_lists(store, self.judges(), &lists, control, &events).await?;
        let kind = self.kind();
        let (passed, failed) = store
            .read(move |db| {
                let (mut passed, mut failed) = (Vec::new(), Vec::new());
                for TestCall { list, before } in &tests {
                    let (name, key) = (list.judge.spec().name.clone(), list.key());
                    let known = db.rerank_answer(&key, false)?;
                    let outcome = known.map(|known| outcome(kind, &known.answer));
                    if matches!(outcome, Some(ListOutcome::Answered(_))) {
                        passed.push(name);
                    } else if db.rerank_calls(&key)?.len() > *before {
                        failed.push(name);
                    }
                }
                Ok((passed, failed))
            })
            .await?;
        open.retain(|list| passed.contains(&list.judge.spec().name));
        Ok(TestedRound {
            open,
            failed,
            missing,
        })
    }

    /// Submits a round within the budget. `voters` are the judges as they vote: the project knows
    /// them by that. `tell` is called for each batch.
    pub async fn submit(
        &self,
        store: &Store,
        round: &TestedRound,
        voters: &JudgeEnsemble,
        budget_usd: Option<f64>,
        tell: &mut (dyn FnMut(SubmittedBatch) + Send),
    ) -> std::result::Result<BatchSubmission, AppError> {
        let mut submitter = BatchSubmitter::new(store, None, budget_usd, tell).await?;
        for judge in self.judges() {
            let name = &judge.spec().name;
            let open = round.open.iter();
            let mut open = open
                .filter(|list| list.judge.spec().name == *name)
                .peekable();
            let voter = voters.iter().find(|voter| voter.spec().name == *name);
            let Some(voter) = voter.filter(|_| open.peek().is_some()) else {
                continue;
            };
            let (spec, prompt) = (voter.spec().clone(), voter.prompt_text());
            let register = move |db: &mut Db| {
                registry::record_prompts(db, prompt.as_slice(), now_ms())?;
                db.judge(&spec)
            };
            let id = store.write(register).await?;
            let mut batch = JudgeBatch::of(judge, id).map_err(AppError::invalid)?;
            for list in open {
                let key = list.key();
                // The test may have been the same call, about a query with the same texts.
                let is_known = move |db: &mut Db| Ok(db.rerank_answer(&key, false)?.is_some());
                if store.read(is_known).await? {
                    continue;
                }
                let call = OpenBatchCall {
                    key,
                    prompt: list.prompt(),
                    vote: None,
                    truncated: list.truncated(),
                };
                if !submitter.add(&mut batch, call).await? {
                    break;
                }
            }
            submitter.submit(batch).await?;
        }
        Ok(submitter.finish())
    }

    /// The judges as they vote.
    ///
    /// # Errors
    /// One of them cannot be asked about pairs.
    pub fn voters(
        &self,
        configuration: &JudgeConfiguration<'_>,
    ) -> std::result::Result<JudgeEnsemble, AppError> {
        let names = self.judges().iter().map(|judge| judge.spec().name.clone());
        Ok(configuration.choose(&names.collect::<Vec<_>>())?.ensemble)
    }

    /// The calls of the run that wait for open batches.
    pub fn waiting(&self, store: &Store) -> std::result::Result<WaitingLists, AppError> {
        let run = self.clone();
        Ok(store.read_blocking(move |db| {
            let mut waiting = WaitingLists::default();
            for (key, name) in run.queries() {
                let query = run.read(db, *key, name)?;
                let in_batches = run.in_batches(&query);
                waiting.in_batches += in_batches;
                if in_batches > 0 && run.waits_for_answers() && run.next(&query).is_empty() {
                    waiting.later += run.left(&query);
                }
            }
            Ok(waiting)
        })?)
    }
}

/// The record of a list call in a batch, from its answer or error.
pub fn list_call_record(
    db: &Db,
    asked: &AskedCall<'_>,
    answer: std::result::Result<JudgeReply, CallError>,
) -> Result<RerankCall> {
    let list = db.list_call_of(&asked.key)?;
    let form = list.and_then(|list| list.form.parse().ok());
    let answer = match form {
        Some(_) => answer,
        None => answer.and_then(|reply| {
            let why = "the project does not have the question";
            Err(CallError::in_reply(FailureCause::Malformed, why, reply))
        }),
    };
    let ask = question(form.unwrap_or(AnswerForm::Order));
    Ok(batched_call(asked, ask, answer))
}

/// Stores a list call, and marks the numbers as changed that are based on it.
pub fn keep_list_call(db: &Db, call: &RerankCall) -> Result<()> {
    let query = match db.list_call_of(&call.key)? {
        Some(list) => db.known_queries(&[list.query.as_str().to_owned()])?.pop(),
        None => None,
    };
    db.add_rerank_call_for(query, call)?;
    db.list_answers_changed(Some(&call.key))
}

/// The query and the documents that a list call shows.
pub fn listed_documents(db: &Db, key: &[u8; 32]) -> Result<Option<(QueryId, Vec<DocId>)>> {
    let list = db.list_call_of(key)?;
    Ok(list.map(|list| (list.query, list.shown)))
}
