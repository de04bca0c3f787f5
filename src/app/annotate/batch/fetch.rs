//! From results at the providers to votes and failures in the project.

use super::trouble::BatchTrouble;
use super::{PolledBatch, api, judge_of, line_number, passes, patiently};
use crate::app::annotate::error::RunError;
use crate::app::failure_tally::FailureTally;
use crate::client::now_ms;
use crate::domain::answering_models::AnsweringModel;
use crate::domain::spend::Spend;
use crate::judge::batch::{BatchAnswer, BatchApi};
use crate::judge::{
    CallError, FailureCause, Judge, JudgeEnsemble, JudgeReply, PoolText, PresentedPair, opinion_of,
};
use crate::store::batches::{BatchCall, BatchRow, BatchStage};
use crate::store::votes::{CallOutcome, CallRecord};
use crate::store::{Db, Store, StoreError};
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// Results written together.
const TOGETHER: usize = 256;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchFetch {
    pub votes: usize,
    /// Calls that failed.
    pub failures: usize,
    /// Why they did.
    pub tally: FailureTally,
    /// Calls that were never made, and can be made anew.
    pub not_made: usize,
    pub spend: Spend,
    /// The models that the votes of the batch's judge name.
    pub models: Vec<AnsweringModel>,
}

/// Brings the results of a batch that is over into the project and closes it; `Err` in words where that cannot be done
/// now, with everything that came kept.
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
    // The provider's reader calls back and cannot wait, so the channel has no bound; what it holds is one file of
    // results.
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
            passes,
        )
        .await;
        // Closed here, with the last attempt over: `take_in` ends when no more can come.
        crate::client::lock(&lines).take();
        brought
    };
    let (brought, taken) = tokio::join!(bring, take_in(store, api, &judge, row, heard));
    let (mut fetched, strangers, unreadable) = taken?;
    let id = row.id;
    for query in store.read(move |db| db.batch_queries(id)).await? {
        store.summarise(query).await?;
    }
    if let Err(error) = brought {
        return Ok(Err(BatchTrouble::CutShort(error)));
    }
    if strangers > 0 && fetched == BatchFetch::default() {
        return Ok(Err(BatchTrouble::Foreign {
            results: strangers,
            batch: id.0,
        }));
    }
    let left = store.read(|db| db.batches(true)).await?;
    let left = left
        .into_iter()
        .find(|row| row.id == id)
        .map_or(0, |row| row.left);
    let here = (row.calls - left.min(row.calls)) as u64;
    if unreadable > 0 || here < status.done {
        return Ok(Err(BatchTrouble::Incomplete {
            answers: status.done,
            here,
            unreadable,
        }));
    }
    let (told, message) = (row.told, row.message.clone());
    // Closed only when everything that the provider speaks of is here: a closed batch is never fetched again.
    let mut models = store
        .write(move |db| {
            db.note_batch(id, BatchStage::Fetched, told, message.as_deref(), now_ms())?;
            db.keep_answering_models()
        })
        .await?;
    fetched.not_made = left;
    fetched.models = models.remove(&row.judge).unwrap_or_default();
    Ok(Ok(fetched))
}

/// Writes results down as they come; returns what they were, how many were another batch's, and how many lines could not
/// be read.
async fn take_in(
    store: &Store,
    api: &dyn BatchApi,
    judge: &Arc<dyn Judge>,
    row: &BatchRow,
    mut heard: UnboundedReceiver<String>,
) -> Result<(BatchFetch, usize, usize), RunError> {
    let (mut fetched, mut strangers, mut unreadable) = (BatchFetch::default(), 0, 0);
    let mut lines = Vec::with_capacity(TOGETHER);
    while heard.recv_many(&mut lines, TOGETHER).await > 0 {
        let mut results = Vec::with_capacity(lines.len());
        for line in lines.drain(..) {
            match api.parse_batch_line(&line) {
                Some((id, answer)) => match line_number(&row.uid, &id) {
                    Some(number) => results.push((number, answer)),
                    None => strangers += 1,
                },
                None => unreadable += 1,
            }
        }
        let (judge, row) = (Arc::clone(judge), row.clone());
        let news = store
            .write(move |db| record_all(db, judge.as_ref(), &row, results))
            .await?;
        fetched.votes += news.votes;
        fetched.failures += news.failures;
        fetched.tally.merge(news.tally);
        fetched.spend += news.spend;
    }
    Ok((fetched, strangers, unreadable))
}

fn record_all(
    db: &mut Db,
    judge: &dyn Judge,
    row: &BatchRow,
    results: Vec<(usize, BatchAnswer)>,
) -> Result<BatchFetch, StoreError> {
    let mut fetched = BatchFetch::default();
    for (number, answer) in results {
        // A result that is there already has come before: fetching was cut short and goes on.
        let (Some(call), Some(made)) = (db.batch_call(row.id, number)?, answer.made()) else {
            continue;
        };
        let case = presented(db, &call)?;
        let mut record = record(judge, row, &call, &case, made);
        if matches!(record.result, CallOutcome::Vote { .. })
            && db.has_voted(call.battle, row.judge)?
        {
            record.result = CallOutcome::Failure {
                cause: FailureCause::Duplicate,
                message: "the judge had voted on this battle before the batch was fetched"
                    .to_owned(),
            };
        }
        let is_vote = matches!(record.result, CallOutcome::Vote { .. });
        // In one transaction: a result that is kept and not ticked off would be kept twice by the next fetch.
        db.record(&record)?;
        db.batch_call_done(row.id, call.number)?;
        fetched.votes += usize::from(is_vote);
        fetched.failures += usize::from(!is_vote);
        if let CallOutcome::Failure { cause, message } = &record.result {
            fetched.tally.add_words(*cause, message);
        }
        fetched.spend += Spend::of(record.cost_usd);
    }
    Ok(fetched)
}

/// The pair as the judge was shown it.
fn presented(db: &Db, call: &BatchCall) -> Result<PresentedPair, StoreError> {
    let query = db.query(db.query_of(call.battle)?)?;
    let (a, b) = db.documents_of(call.battle)?;
    let documents = vec![
        db.document_text(query.key, a)?,
        db.document_text(query.key, b)?,
    ];
    let (first, second) = if call.swapped { (1, 0) } else { (0, 1) };
    Ok(PresentedPair {
        pool: Arc::new(PoolText::new(query.text, documents)),
        first,
        second,
    })
}

fn record(
    judge: &dyn Judge,
    row: &BatchRow,
    call: &BatchCall,
    case: &PresentedPair,
    made: Result<JudgeReply, CallError>,
) -> CallRecord {
    // A line without a reply is not charged.
    let unanswered = made.as_ref().err().map(|_| 0.0);
    let read = made.and_then(|reply| opinion_of(judge, case, reply));
    let (usage, cost_usd, raw, result) = match read {
        Ok((reply, opinion)) => {
            let result = CallOutcome::Vote {
                margin: if call.swapped {
                    opinion.margin.flipped()
                } else {
                    opinion.margin
                },
                reasoning: opinion.thoughts.join("\n"),
                model: reply.model,
                stop_reason: reply.stop_reason,
                request_id: reply.request_id,
            };
            (reply.usage, reply.cost_usd, Some(reply.text), result)
        }
        Err(error) => (
            error.exchange.usage,
            error.exchange.cost_usd.or(unanswered),
            error.raw,
            CallOutcome::Failure {
                cause: error.cause,
                message: error.message,
            },
        ),
    };
    CallRecord {
        battle: call.battle,
        judge: row.judge,
        swapped: call.swapped,
        attempt: call.attempt,
        usage,
        cost_usd,
        latency_ms: None,
        truncated: call.truncated && matches!(result, CallOutcome::Vote { .. }),
        call_key: Some(call.call_key),
        run: Some(row.run),
        created_ms: now_ms(),
        raw,
        result,
    }
}
