//! Questions about the order of some documents of a query, outside a method. An answer must follow
//! its format exactly, and is never repaired. It is stored before it counts and is paid for once.

use super::asked_targets::{AskedTarget, ask_each};
use super::estimate::CallVolume;
pub use super::question::{AskedCall, strict_key};
use super::question::{Target, read_reply};
use super::run::RerankEvent;
use crate::client::RunControl;
use crate::client::question::CaseId;
use crate::features::methods::store::RerankCall;
use crate::judge::{
    CallError, Judge, JudgePrompt, JudgeQuestion, JudgeReply, PoolText, PresentedQuestion,
    RerankAsk,
};
use crate::store::corpus::QueryKey;
use crate::store::{Store, StoreError};
use std::sync::Arc;
use tokio::sync::{mpsc, watch};

/// A question to a judge that [can answer](Judge::can_answer) it.
#[derive(Clone, Debug)]
pub struct ListQuestion {
    pub judge: Arc<dyn Judge>,
    pub query: QueryKey,
    pub shown: PresentedQuestion,
}

impl ListQuestion {
    /// Asks about documents, by pool index in the order in which they are shown.
    pub fn new(
        judge: &Arc<dyn Judge>,
        query: QueryKey,
        pool: &Arc<PoolText>,
        shown: Vec<usize>,
        ask: RerankAsk,
    ) -> Self {
        Self {
            judge: Arc::clone(judge),
            query,
            shown: PresentedQuestion {
                pool: Arc::clone(pool),
                shown,
                ask,
            },
        }
    }

    /// The prompt of the question.
    pub fn prompt(&self) -> JudgePrompt {
        self.judge.prompt(JudgeQuestion::Rerank(&self.shown))
    }

    /// Number of documents that are truncated for the judge.
    pub fn truncated(&self) -> usize {
        self.judge.truncated(JudgeQuestion::Rerank(&self.shown))
    }

    /// Hash of the judge and of everything it is sent.
    pub fn key(&self) -> [u8; 32] {
        self.target().key()
    }

    /// The expected effort of the question, and its maximum effort. It is asked once.
    pub fn estimate(&self) -> (CallVolume, CallVolume) {
        let prompt = self.prompt();
        let (mut expected, mut most) = (CallVolume::NONE, CallVolume::NONE);
        expected.add(1.0, self.judge.estimate(&prompt));
        most.add(1.0, self.judge.worst(&prompt));
        (expected, most)
    }

    /// The expected effort of the question in a batch, and its maximum effort. The price is unknown
    /// if the judge has no batch endpoint.
    pub fn estimate_in_batch(&self) -> (CallVolume, CallVolume) {
        let (mut expected, mut most) = self.estimate();
        let priced = self.judge.batch().map(|api| api.batch_cost(&self.prompt()));
        (expected.usd, most.usd) = priced.map_or((None, None), |(_, usd, most)| (usd, most));
        (expected, most)
    }

    fn target(&self) -> Target {
        Target::Judge {
            judge: Arc::clone(&self.judge),
            prompt: self.prompt(),
            shown: self.shown.clone(),
            strict: true,
        }
    }
}

/// Asks these questions to these judges. The answers are in the project when this returns the
/// number of questions that were not asked or whose calls failed.
pub async fn ask_lists(
    store: &Store,
    judges: &[Arc<dyn Judge>],
    questions: &[ListQuestion],
    control: watch::Receiver<RunControl>,
    events: &mpsc::UnboundedSender<RerankEvent>,
) -> Result<usize, StoreError> {
    let targets = questions
        .iter()
        .filter_map(|question| {
            let judge = judges
                .iter()
                .position(|judge| judge.spec().name == question.judge.spec().name)?;
            let target = question.target();
            Some(AskedTarget {
                judge,
                key: target.key(),
                target,
                case: Some(CaseId(question.query.0)),
            })
        })
        .collect();
    let answers = ask_each(store, judges, targets, control, events).await?;
    let answered = answers.iter().filter(|answer| answer.is_some()).count();
    Ok(questions.len() - answered)
}

/// The record of a call in a batch, from its answer or error.
pub fn batched_call(
    asked: &AskedCall<'_>,
    ask: RerankAsk,
    answer: Result<JudgeReply, CallError>,
) -> RerankCall {
    // A reply that names documents by number is read without their texts.
    let shown = PresentedQuestion {
        pool: Arc::new(PoolText::new("", Vec::new())),
        shown: Vec::new(),
        ask,
    };
    let read = answer.and_then(|reply| read_reply(&shown, true, reply));
    RerankCall {
        // Nobody waited for it.
        latency_ms: 0.0,
        ..asked.ended(read.as_ref(), false)
    }
}
