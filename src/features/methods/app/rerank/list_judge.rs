//! Questions about the order of some documents of a query, outside a method. An answer must follow
//! its format exactly, and is never repaired. It is stored before it counts and is paid for once.

use super::asked_targets::{AskedTarget, ask_each};
use super::estimate::CallVolume;
use super::question::Target;
pub use super::question::strict_key;
use super::run::RerankEvent;
use crate::client::RunControl;
use crate::client::question::CaseId;
use crate::judge::{Judge, JudgeQuestion, PoolText, PresentedQuestion, RerankAsk};
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

    /// Hash of the judge and of everything it is sent.
    pub fn key(&self) -> [u8; 32] {
        self.target().key()
    }

    /// The expected effort of the question, and its maximum effort. It is asked once.
    pub fn estimate(&self) -> (CallVolume, CallVolume) {
        let prompt = self.judge.prompt(JudgeQuestion::Rerank(&self.shown));
        let (mut expected, mut most) = (CallVolume::NONE, CallVolume::NONE);
        expected.add(1.0, self.judge.estimate(&prompt));
        most.add(1.0, self.judge.most(&prompt));
        (expected, most)
    }

    fn target(&self) -> Target {
        Target::Judge {
            judge: Arc::clone(&self.judge),
            prompt: self.judge.prompt(JudgeQuestion::Rerank(&self.shown)),
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
