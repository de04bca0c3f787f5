//! A battle as a question to a judge: building the prompt, parsing the answer and storing the
//! result.

use super::context::RunContext;
use super::shared_work::PartKey;
use super::stored_answer::OpenCall;
use crate::client::now_ms;
use crate::client::question::{
    AttemptEnd, CallNeeds, CaseId, RecordJob, RecordOutcome, ServiceQuestion,
};
use crate::judge::{
    CallError, Exchange, Judge, JudgePrompt, JudgeQuestion, JudgeReply, Opinion, PresentedPair,
    opinion_of,
};
use crate::store::outstanding::OutstandingCall;
use crate::store::votes::{CallOutcome, CallRecord, Recorded};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use std::sync::Arc;

/// A battle to be judged by one judge.
pub(super) struct BattleQuestion {
    pub(super) shared: Arc<RunContext>,
    pub(super) judge_index: usize,
    pub(super) key: PartKey,
    pub(super) call: OutstandingCall,
    pub(super) case: PresentedPair,
    pub(super) prompt: JudgePrompt,
    pub(super) call_key: Option<[u8; 32]>,
    /// Whether the question is being asked for the second time.
    pub(super) once_more: bool,
}

/// A judge's opinion and the raw reply.
pub(super) struct VoteReply {
    reply: JudgeReply,
    opinion: Opinion,
    pub(super) exchange: Exchange,
}

impl VoteReply {
    /// The provider's fingerprint of the system that answered.
    pub(super) fn fingerprint(&self) -> Option<&str> {
        self.reply.fingerprint.as_deref()
    }

    /// The name of the model that answered, as reported by the provider.
    pub(super) fn model(&self) -> Option<&str> {
        self.reply.model.as_deref()
    }

    pub(super) fn opinion(&self) -> &Opinion {
        &self.opinion
    }
}

impl BattleQuestion {
    fn judge(&self) -> &dyn Judge {
        self.shared.ensemble[self.judge_index].as_ref()
    }

    /// The call as it is before it is made; `None` for offline judges.
    pub(super) fn open(&self) -> Option<OpenCall> {
        Some(OpenCall {
            judge: Arc::clone(&self.shared.ensemble[self.judge_index]),
            id: self.shared.judges[self.judge_index],
            case: self.case.clone(),
            call: self.call,
            key: self.call_key?,
            run: self.shared.run,
        })
    }

    fn record(&self, exchange: &Exchange, raw: Option<String>, result: CallOutcome) -> CallRecord {
        CallRecord {
            battle: self.call.battle,
            judge: self.shared.judges[self.judge_index],
            swapped: self.call.swapped,
            attempt: self.call.attempt,
            usage: exchange.usage,
            cost_usd: exchange.cost_usd,
            latency_ms: Some(exchange.latency.as_secs_f64() * 1e3),
            truncated: false,
            call_key: self.call_key,
            run: Some(self.shared.run),
            created_ms: now_ms(),
            raw,
            result,
        }
    }

    fn voted(&self, voted: &VoteReply) -> CallRecord {
        let margin = if self.call.swapped {
            voted.opinion.margin.flipped()
        } else {
            voted.opinion.margin
        };
        let reply = &voted.reply;
        // An embedded judge's text is free and can be regenerated at any time.
        let kept = !self.judge().spec().is_offline();
        let raw = kept.then(|| reply.text.clone());
        let result = CallOutcome::Vote {
            margin,
            reasoning: if kept {
                voted.opinion.thoughts.join("\n")
            } else {
                String::new()
            },
            model: reply.model.clone(),
            stop_reason: reply.stop_reason.clone(),
            request_id: reply.request_id.clone(),
        };
        CallRecord {
            truncated: self.judge().truncated(JudgeQuestion::Pair(&self.case)) > 0,
            ..self.record(&voted.exchange, raw, result)
        }
    }
}

impl ServiceQuestion for BattleQuestion {
    type Answer = VoteReply;

    fn ask(&self) -> BoxFuture<'_, Result<VoteReply, CallError>> {
        async {
            let reply = self
                .judge()
                .call(JudgeQuestion::Pair(&self.case), &self.prompt)
                .await?;
            let (reply, opinion) = opinion_of(self.judge(), &self.case, reply)?;
            Ok(VoteReply {
                exchange: reply.exchange(),
                reply,
                opinion,
            })
        }
        .boxed()
    }

    fn exchange(answer: &VoteReply) -> &Exchange {
        &answer.exchange
    }

    fn needs(&self) -> CallNeeds {
        let judge = self.judge();
        if judge.spec().is_offline() {
            return CallNeeds::default();
        }
        let usage = judge.estimate(&self.prompt).0;
        CallNeeds {
            tokens: usage.input + usage.output,
            worst_usd: judge.worst(&self.prompt).1,
            sent: true,
        }
    }

    fn rephrased(&self, error: &CallError) -> Option<Self> {
        let prompt = self
            .judge()
            .ask_again(&self.prompt, error)
            .filter(|_| !self.once_more)?;
        Some(Self {
            shared: Arc::clone(&self.shared),
            judge_index: self.judge_index,
            key: self.key,
            call: self.call,
            case: self.case.clone(),
            prompt,
            call_key: self.call_key,
            once_more: true,
        })
    }

    fn key(&self) -> Option<[u8; 32]> {
        self.call_key
    }

    fn case(&self) -> Option<CaseId> {
        Some(CaseId(self.key.query.0))
    }

    fn name(&self) -> String {
        self.call.battle.0.to_string()
    }

    fn keep(&self, end: AttemptEnd<'_, VoteReply>) -> Option<RecordJob> {
        let (record, again) = match end {
            AttemptEnd::Answered(voted) => (self.voted(voted), false),
            AttemptEnd::Failed { error, again } => {
                let result = CallOutcome::Failure {
                    cause: error.cause,
                    message: error.message.clone(),
                };
                let record = self.record(&error.exchange, error.raw.clone(), result);
                (record, again)
            }
        };
        Some(Box::new(move |db| {
            Ok(match db.record_attempt(&record, again)? {
                Recorded::Kept => RecordOutcome::Row,
                Recorded::Duplicate => RecordOutcome::Duplicate,
            })
        }))
    }

    fn share(&self) -> Option<RecordJob> {
        let open = self.open()?;
        Some(Box::new(move |db| {
            Ok(if open.reuse_answer(db)? {
                RecordOutcome::Row
            } else {
                RecordOutcome::Nothing
            })
        }))
    }
}
