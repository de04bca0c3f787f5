//! Converts results at the providers to votes and failures in the project.

use super::call_result::{CallResult, attempt};
use super::left_out::LeftOut;
use super::trouble::BatchTrouble;
use super::{PolledBatch, api, as_it_says, judge_of, line_number, patiently};
use crate::app::annotate::error::RunError;
use crate::app::failure_tally::FailureTally;
use crate::app::text_format::counted;
use crate::client::now_ms;
use crate::domain::answering_models::AnsweringModel;
use crate::domain::spend::Spend;
use crate::judge::batch::{BatchAnswer, BatchApi, BatchState, BatchStatus};
use crate::judge::{CallError, Judge, JudgeEnsemble, JudgeReply};
use crate::store::batches::{BatchCall, BatchCallState, BatchRow, BatchStage};
use crate::store::{Db, Store, StoreError};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// Number of results written in one transaction.
const TOGETHER: usize = 256;

/// How long to wait, after the end of a batch, for results that the provider does not report as
/// answers, in milliseconds.
const LATE_MS: i64 = 24 * 3_600_000;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchFetch {
    pub votes: usize,
    /// Answers to list calls that can be read.
    pub lists: usize,
    /// Failed calls.
    pub failures: usize,
    /// Failures by cause.
    pub tally: FailureTally,
    /// Calls that were never made and can be made again.
    pub not_made: usize,
    pub spend: Spend,
    /// The models named in the votes of the batch's judge.
    pub models: Vec<AnsweringModel>,
    /// Lines of the results that match no call of the batch or cannot be read.
    pub left_out: LeftOut,
}

impl BatchFetch {
    fn add(&mut self, other: Self) {
        self.votes += other.votes;
        self.lists += other.lists;
        self.failures += other.failures;
        self.tally.merge(other.tally);
        self.spend += other.spend;
    }
}

/// Results that are not answers.
#[derive(Default)]
struct OtherResults {
    /// Errors of the provider by the number of the call.
    failed: BTreeMap<usize, CallError>,
    /// Calls that the provider says it did not make.
    not_made: BTreeSet<usize>,
    /// Whether a line was about a call of this batch.
    is_ours: bool,
}

/// Brings the results of a batch that is over into the project and closes it; `Err` if that cannot
/// be done now, with every answer that came kept.
pub async fn fetch(
    store: &Store,
    ensemble: &JudgeEnsemble,
    known: &PolledBatch,
) -> Result<Result<BatchFetch, BatchTrouble>, RunError> {
    let (row, Some(status)) = (&known.row, &known.status) else {
        let trouble = known.trouble.clone();
        return Ok(Err(trouble.unwrap_or(BatchTrouble::NotFetchable)));
    };
    let judge = match judge_of(ensemble, row) {
        Ok(judge) => judge,
        Err(trouble) => return Ok(Err(trouble)),
    };
    let (Ok(api), Some(remote)) = (api(judge.as_ref()), row.remote.as_deref()) else {
        return Ok(Err(BatchTrouble::NotFetchable));
    };
    // The provider's parser calls back and cannot wait, so the channel is unbounded; it holds at
    // most one file of results.
    let (lines, heard) = unbounded_channel();
    let bring = async {
        let lines = Mutex::new(Some(lines));
        let brought = patiently(
            || async {
                let mut each = |line: &str| {
                    if let Some(lines) = &*crate::client::lock(&lines) {
                        drop(lines.send(line.to_owned()));
                    }
                };
                api.fetch(remote, status, &mut each).await
            },
            as_it_says,
        )
        .await;
        // Closed here, after the last attempt: `take_in` ends when no more results can arrive.
        crate::client::lock(&lines).take();
        brought
    };
    let (brought, taken) = tokio::join!(bring, take_in(store, api, &judge, row, heard));
    let (mut fetched, others) = taken?;
    let id = row.id;
    let (states, now) = store
        .read(move |db| Ok((db.batch_call_states(id)?, db.batch(id)?)))
        .await?;
    if let Err(error) = brought {
        // Calls that have just been fetched no longer count as outstanding.
        let row = now.as_ref().unwrap_or(row);
        return Ok(Err(match BatchTrouble::of_call(error, row, api) {
            BatchTrouble::Call(error) => BatchTrouble::CutShort(error),
            trouble => trouble,
        }));
    }
    let arrived = Arrived::of(&states, &others);
    if !others.is_ours && fetched.left_out.strangers > 0 && arrived.lines() == 0 {
        return Ok(Err(BatchTrouble::Foreign {
            results: fetched.left_out.strangers,
            batch: id.0,
        }));
    }
    let over_ms = now.and_then(|row| row.over_ms);
    let is_late = over_ms.is_some_and(|over_ms| now_ms() - over_ms >= LATE_MS);
    match arrived.verdict(status, fetched.left_out.unreadable > 0) {
        Completeness::Whole => {}
        Completeness::Late if is_late => {}
        lack => {
            let why = arrived.missing(lack, status, &fetched.left_out, row);
            return Ok(Err(BatchTrouble::Incomplete(why)));
        }
    }
    // Closed only when everything that the provider reports is here: a closed batch is never
    // fetched again.
    let (told, message, is_of_votes) = (row.told, row.message.clone(), row.run.is_some());
    let (row, keeper) = (row.clone(), Arc::clone(&judge));
    let (closed, mut models) = store
        .write(move |db| {
            let closed = record_failures(db, keeper.as_ref(), &row, others.failed)?;
            db.note_batch(id, BatchStage::Fetched, told, message.as_deref(), now_ms())?;
            Ok(((closed, row.judge), db.keep_answering_models()?))
        })
        .await?;
    let (failures, judge_id) = closed;
    let failed = failures.failures;
    fetched.add(failures);
    fetched.not_made = states
        .iter()
        .filter(|(_, state)| *state == BatchCallState::Open)
        .count()
        .saturating_sub(failed);
    if is_of_votes {
        fetched.models = models.remove(&judge_id).unwrap_or_default();
    }
    Ok(Ok(fetched))
}

/// The calls of a batch whose results have come, in this fetch and before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Arrived {
    calls: u64,
    answered: u64,
    /// Errors of the provider, and calls that it says it did not make.
    failed: u64,
}

/// Whether all results of a batch have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Completeness {
    Whole,
    /// Answers that the provider reports are missing.
    Lacking,
    /// Results are missing, but no answers that the provider reports: they may still arrive.
    Late,
}

impl Arrived {
    fn of(states: &[(usize, BatchCallState)], others: &OtherResults) -> Self {
        use BatchCallState::{Answered, Failed, Open, Unusable};
        let count = |is: &dyn Fn(usize, BatchCallState) -> bool| {
            states.iter().filter(|(at, state)| is(*at, *state)).count() as u64
        };
        Self {
            calls: states.len() as u64,
            answered: count(&|_, state| matches!(state, Answered | Unusable)),
            failed: count(&|at, state| {
                state == Failed
                    || state == Open
                        && (others.failed.contains_key(&at) || others.not_made.contains(&at))
            }),
        }
    }

    fn lines(self) -> u64 {
        self.answered + self.failed
    }

    fn verdict(self, status: &BatchStatus, has_unreadable: bool) -> Completeness {
        if status.done > self.answered {
            return Completeness::Lacking;
        }
        if self.lines() >= self.calls {
            return Completeness::Whole;
        }
        if has_unreadable {
            return Completeness::Lacking;
        }
        // A batch that ended before all calls were made is accepted as complete if its counts match
        // the stored results.
        let is_early_end = status.state != BatchState::Ended;
        if is_early_end && status.has_counts() && status.failed <= self.failed {
            Completeness::Whole
        } else {
            Completeness::Late
        }
    }

    /// Which results are missing, and what to do.
    fn missing(
        self,
        lack: Completeness,
        status: &BatchStatus,
        left_out: &LeftOut,
        row: &BatchRow,
    ) -> String {
        let here = format!(
            "{} and {} have arrived",
            counted(self.answered as usize, "answer"),
            counted(self.failed as usize, "failure")
        );
        let says = if status.has_counts() {
            format!(
                "the provider says that {} were answered and {} failed",
                counted(status.done as usize, "call"),
                status.failed
            )
        } else if status.files.is_empty() {
            "the provider says that it has ended, but lists no results yet".to_owned()
        } else {
            format!(
                "the provider does not say how many of {} it answered",
                counted(row.calls, "call")
            )
        };
        let id = row.id.0;
        let then = match lack {
            Completeness::Late => {
                "calls still without a result a day after its end count as not made".to_owned()
            }
            _ => format!(
                "if the others never arrive, `overrule batch forget {id}` lets their calls be \
                 made, and paid for, again"
            ),
        };
        let noted = left_out.words().map(|words| format!("; {words}"));
        format!(
            "{says}, and {here}{}; the batch stays open, fetch again later; {then}",
            noted.unwrap_or_default()
        )
    }
}

/// Stores usable answers as they arrive. They win over any other result of the same call, so
/// unusable ones are stored when no more lines can arrive, and the provider's errors when the batch is
/// closed.
async fn take_in(
    store: &Store,
    api: &dyn BatchApi,
    judge: &Arc<dyn Judge>,
    row: &BatchRow,
    mut heard: UnboundedReceiver<String>,
) -> Result<(BatchFetch, OtherResults), RunError> {
    let (mut fetched, mut others) = (BatchFetch::default(), OtherResults::default());
    let mut unusable = Vec::new();
    let mut lines = Vec::with_capacity(TOGETHER);
    while heard.recv_many(&mut lines, TOGETHER).await > 0 {
        let mut answers = Vec::with_capacity(lines.len());
        for line in lines.drain(..) {
            let Some((id, answer)) = api.parse_batch_line(&line) else {
                fetched.left_out.add_unreadable(&line);
                continue;
            };
            let number = line_number(&row.uid, &id).filter(|number| *number < row.calls);
            let Some(number) = number else {
                fetched.left_out.add_stranger(&id);
                continue;
            };
            others.is_ours = true;
            match answer {
                BatchAnswer::Answered(answer) => answers.push((number, *answer)),
                BatchAnswer::Failed(error) => {
                    others.failed.entry(number).or_insert(error);
                }
                BatchAnswer::NotMade => {
                    others.not_made.insert(number);
                }
            }
        }
        let (judge, row) = (Arc::clone(judge), row.clone());
        let (news, rest) = store
            .write(move |db| record_answers(db, judge.as_ref(), &row, answers))
            .await?;
        fetched.add(news);
        unusable.extend(rest);
    }
    let row = row.clone();
    let news = store
        .write(move |db| record_unusable(db, &row, unusable))
        .await?;
    fetched.add(news);
    Ok((fetched, others))
}

/// Stores the usable answers and returns the others.
fn record_answers(
    db: &mut Db,
    judge: &dyn Judge,
    row: &BatchRow,
    answers: Vec<(usize, Result<JudgeReply, CallError>)>,
) -> Result<(BatchFetch, Vec<(BatchCall, CallResult)>), StoreError> {
    let (mut fetched, mut unusable) = (BatchFetch::default(), Vec::new());
    for (number, mut answer) in answers {
        // As for a single call: an error in place of an answer is not charged.
        if let Err(CallError { exchange, .. }) = &mut answer
            && exchange
                .status
                .is_some_and(|status| !(200..300).contains(&status))
        {
            exchange.cost_usd.get_or_insert(0.0);
        }
        // An earlier fetch that was interrupted has already stored this answer.
        let Some((call, state)) = db.batch_call(row.id, number)? else {
            continue;
        };
        if state == BatchCallState::Answered {
            continue;
        }
        let result = CallResult::of(db, judge, row, &call, answer)?;
        if result.is_usable() {
            let result = result.unless_voted(db)?;
            keep(
                db,
                row,
                &call,
                &result,
                BatchCallState::Answered,
                &mut fetched,
            )?;
        } else {
            unusable.push((call, result));
        }
    }
    Ok((fetched, unusable))
}

/// Stores unusable answers, for calls without a usable one.
fn record_unusable(
    db: &mut Db,
    row: &BatchRow,
    answers: Vec<(BatchCall, CallResult)>,
) -> Result<BatchFetch, StoreError> {
    let mut fetched = BatchFetch::default();
    for (call, result) in answers {
        if let Some((_, BatchCallState::Open | BatchCallState::Failed)) =
            db.batch_call(row.id, call.number)?
        {
            keep(
                db,
                row,
                &call,
                &result,
                BatchCallState::Unusable,
                &mut fetched,
            )?;
        }
    }
    Ok(fetched)
}

/// Stores the provider's errors, for calls without an answer.
fn record_failures(
    db: &mut Db,
    judge: &dyn Judge,
    row: &BatchRow,
    failed: BTreeMap<usize, CallError>,
) -> Result<BatchFetch, StoreError> {
    let mut fetched = BatchFetch::default();
    for (number, mut error) in failed {
        let Some((call, BatchCallState::Open)) = db.batch_call(row.id, number)? else {
            continue;
        };
        // A line without an answer is not charged.
        error.exchange.cost_usd.get_or_insert(0.0);
        let result = CallResult::of(db, judge, row, &call, Err(error))?;
        keep(
            db,
            row,
            &call,
            &result,
            BatchCallState::Failed,
            &mut fetched,
        )?;
    }
    Ok(fetched)
}

/// Stores the result of a call and counts it, in one transaction: a result that is stored but not
/// marked as such would be stored again by the next fetch.
fn keep(
    db: &Db,
    row: &BatchRow,
    call: &BatchCall,
    result: &CallResult,
    state: BatchCallState,
    fetched: &mut BatchFetch,
) -> Result<(), StoreError> {
    db.end_batch_call(row.id, call.number, state)?;
    if !result.keep(db, row, (call.number, state))? {
        return Ok(());
    }
    match (result.failure(), &result) {
        (Some((cause, message)), _) => {
            fetched.failures += 1;
            fetched.tally.add_words(cause, message);
        }
        (None, CallResult::Vote(_)) => fetched.votes += 1,
        (None, CallResult::List(_)) => fetched.lists += 1,
    }
    // As for a single call: an answer that does not say what it cost counts at the highest price.
    match (result.cost_usd(), call.worst_usd) {
        (None, Some(worst_usd)) => {
            db.assume_cost(&attempt(row, call, state), now_ms())?;
            fetched.spend.assumed_usd += worst_usd;
        }
        (cost_usd, _) => fetched.spend += Spend::of(cost_usd),
    }
    Ok(())
}

#[cfg(test)]
mod tests;
