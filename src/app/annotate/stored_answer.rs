//! Answers that the project already holds to calls of a run, so that no call is paid for twice:
//! votes of identical calls, and replies that were bought outside runs.

use crate::client::now_ms;
use crate::domain::vote::JudgeId;
use crate::judge::{Judge, PresentedPair, Usage, opinion_of};
use crate::registry;
use crate::store::identical_calls::{BoughtReply, KnownVote};
use crate::store::outstanding::OutstandingCall;
use crate::store::runs::RunId;
use crate::store::votes::{CallOutcome, CallRecord};
use crate::store::{Db, StoreError};
use std::sync::Arc;

/// An answer that the project holds.
#[derive(Clone, Debug)]
pub(super) enum StoredAnswer {
    /// The vote of an identical call.
    Vote(KnownVote),
    /// The readable reply to the same call, made outside runs.
    Bought(BoughtReply),
}

impl StoredAnswer {
    pub(super) fn find(db: &Db, key: &[u8; 32]) -> Result<Option<Self>, StoreError> {
        Ok(match db.vote_by_call(key)? {
            Some(vote) => Some(Self::Vote(vote)),
            None => registry::bought_reply(db, key)?.map(Self::Bought),
        })
    }
}

/// A call of a run that has not been made.
pub(super) struct OpenCall {
    pub(super) judge: Arc<dyn Judge>,
    pub(super) id: JudgeId,
    pub(super) case: PresentedPair,
    pub(super) call: OutstandingCall,
    pub(super) key: [u8; 32],
    pub(super) run: RunId,
}

impl OpenCall {
    /// Stores the answer that the project holds as a vote at no cost. Returns whether there is an
    /// answer.
    pub(super) fn reuse_answer(&self, db: &Db) -> Result<bool, StoreError> {
        let (battle, swapped, attempt) = (self.call.battle, self.call.swapped, self.call.attempt);
        match StoredAnswer::find(db, &self.key)? {
            None => return Ok(false),
            Some(StoredAnswer::Vote(vote)) => {
                db.reuse_vote(vote, battle, self.id, swapped, attempt, self.run, now_ms())?;
            }
            Some(StoredAnswer::Bought(reply)) => {
                // A judge has one vote on a battle.
                if !db.has_voted(battle, self.id)? {
                    db.record(&self.vote(reply))?;
                }
            }
        }
        Ok(true)
    }

    /// The vote of a reply that has already been paid for.
    fn vote(&self, bought: BoughtReply) -> CallRecord {
        CallRecord {
            battle: self.call.battle,
            judge: self.id,
            swapped: self.call.swapped,
            attempt: self.call.attempt,
            usage: Usage::default(),
            cost_usd: Some(0.0),
            latency_ms: None,
            truncated: bought.truncated,
            call_key: Some(self.key),
            run: Some(self.run),
            created_ms: now_ms(),
            result: CallOutcome::Vote {
                margin: if self.call.swapped {
                    bought.margin.flipped()
                } else {
                    bought.margin
                },
                reasoning: self.reasoning(&bought),
                model: bought.model,
                stop_reason: None,
                request_id: None,
            },
            raw: bought.raw,
        }
    }

    fn reasoning(&self, bought: &BoughtReply) -> String {
        if bought.raw.is_none() {
            return String::new();
        }
        opinion_of(self.judge.as_ref(), &self.case, bought.clone().into())
            .map(|(_, opinion)| opinion.thoughts.join("\n"))
            .unwrap_or_default()
    }
}
