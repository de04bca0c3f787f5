//! The result of a call of a batch, as it is stored.

use crate::client::now_ms;
use crate::judge::{CallError, FailureCause, Judge, JudgeReply, PresentedPair, opinion_of};
use crate::registry::{self, AskedCall, ListCallRecord};
use crate::store::batches::{BatchCall, BatchCallState, BatchRow, BatchedVote, batch_call_uid};
use crate::store::ledger::{Attempt, CallPurpose};
use crate::store::votes::{CallOutcome, CallRecord};
use crate::store::{Db, StoreError};
use std::sync::Arc;

/// A vote, the order of a list, or a failure instead of one of them.
pub(super) enum CallResult {
    Vote(CallRecord),
    List(ListCallRecord),
}

impl CallResult {
    /// What an answer to a call says, or an error instead of an answer.
    pub(super) fn of(
        db: &Db,
        judge: &dyn Judge,
        row: &BatchRow,
        call: &BatchCall,
        answer: Result<JudgeReply, CallError>,
    ) -> Result<Self, StoreError> {
        Ok(match call.vote {
            Some(vote) => {
                let case = presented(db, &vote)?;
                Self::Vote(vote_record(judge, row, (call, vote), &case, answer))
            }
            None => {
                let asked = AskedCall {
                    uid: [0; 16],
                    key: call.call_key,
                    service: &row.asked_as,
                    truncated: call.truncated as u64,
                };
                Self::List(registry::list_call_record(db, &asked, answer)?)
            }
        })
    }

    /// Whether it is an answer that can be used.
    pub(super) fn is_usable(&self) -> bool {
        self.failure().is_none()
    }

    /// Why the call failed.
    pub(super) fn failure(&self) -> Option<(FailureCause, &str)> {
        match self {
            Self::Vote(record) => match &record.result {
                CallOutcome::Vote { .. } => None,
                CallOutcome::Failure { cause, message } => Some((*cause, message)),
            },
            Self::List(record) => {
                let message = record.message.as_deref().unwrap_or_default();
                record.cause.map(|cause| (cause, message))
            }
        }
    }

    /// US dollars; `None` if unknown.
    pub(super) fn cost_usd(&self) -> Option<f64> {
        match self {
            Self::Vote(record) => record.cost_usd,
            Self::List(record) => record.cost_usd,
        }
    }

    /// A failure instead of a vote if the judge has voted already. A list may have several answers:
    /// the first one counts.
    pub(super) fn unless_voted(self, db: &Db) -> Result<Self, StoreError> {
        Ok(match self {
            Self::Vote(record) if db.has_voted(record.battle, record.judge)? => {
                Self::Vote(CallRecord {
                    result: CallOutcome::Failure {
                        cause: FailureCause::Duplicate,
                        message: "the judge voted on this battle before the batch was fetched"
                            .to_owned(),
                    },
                    ..record
                })
            }
            result => result,
        })
    }

    /// Stores it as the result of a call that is then in this state. Returns false if the project
    /// has it, for example from an import.
    pub(super) fn keep(
        &self,
        db: &Db,
        row: &BatchRow,
        (number, state): (usize, BatchCallState),
    ) -> Result<bool, StoreError> {
        match self {
            Self::Vote(record) => {
                db.record(record)?;
                Ok(true)
            }
            Self::List(record) => {
                let uid = batch_call_uid(&row.uid, number, Some(state));
                let is_new = !registry::has_list_result(db, &uid)?;
                let record = ListCallRecord {
                    uid,
                    // The same in all copies that fetch the batch.
                    created_ms: row.submitted_ms,
                    ..record.clone()
                };
                registry::keep_list_call(db, &record)?;
                Ok(is_new)
            }
        }
    }
}

/// A call of a batch that is then in this state as an attempt. Its service is that of the record.
pub(super) fn attempt(row: &BatchRow, call: &BatchCall, state: BatchCallState) -> Attempt {
    let (result, purpose, service) = match call.vote {
        Some(_) => (None, CallPurpose::Vote, &row.spec.name),
        None => (Some(state), CallPurpose::Reranking, &row.asked_as),
    };
    Attempt {
        uid: batch_call_uid(&row.uid, call.number, result),
        purpose,
        service: service.clone(),
        run: row.run,
        worst_usd: call.worst_usd,
        sent_ms: row.submitted_ms,
    }
}

/// The pair as it was shown to the judge.
fn presented(db: &Db, vote: &BatchedVote) -> Result<PresentedPair, StoreError> {
    let (query, (a, b)) = (db.query_of(vote.battle)?, db.documents_of(vote.battle)?);
    let (first, second) = if vote.swapped { (1, 0) } else { (0, 1) };
    Ok(PresentedPair {
        pool: Arc::new(db.texts_of(query, &[a, b])?),
        first,
        second,
    })
}

fn vote_record(
    judge: &dyn Judge,
    row: &BatchRow,
    (call, vote): (&BatchCall, BatchedVote),
    case: &PresentedPair,
    answer: Result<JudgeReply, CallError>,
) -> CallRecord {
    let read = answer.and_then(|reply| opinion_of(judge, case, reply));
    let (usage, cost_usd, raw, result) = match read {
        Ok((reply, opinion)) => {
            let result = CallOutcome::Vote {
                margin: if vote.swapped {
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
            error.exchange.cost_usd,
            error.raw,
            CallOutcome::Failure {
                cause: error.cause,
                message: error.message,
            },
        ),
    };
    CallRecord {
        battle: vote.battle,
        judge: row.judge,
        swapped: vote.swapped,
        attempt: vote.attempt,
        usage,
        cost_usd,
        latency_ms: None,
        truncated: call.truncated > 0 && matches!(result, CallOutcome::Vote { .. }),
        call_key: Some(call.call_key),
        run: row.run,
        created_ms: now_ms(),
        raw,
        result,
    }
}
