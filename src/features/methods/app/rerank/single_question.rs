//! One question to one judge outside a method, such as the request to revise a prompt. The answer is
//! stored before it counts and is paid for once.

use super::asked_targets::{AskedTarget, ask_each};
use super::estimate::CallVolume;
use super::question::Target;
use super::run::RerankEvent;
use crate::client::RunControl;
use crate::features::methods::store::KnownAnswer;
use crate::judge::{Judge, JudgeQuestion, MAX_CHARGED, PresentedQuestion};
use crate::store::{Db, Store, StoreError};
use std::slice;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};

/// A question to a judge that [can answer](Judge::can_answer) it.
#[derive(Clone, Debug)]
pub struct SingleQuestion {
    pub judge: Arc<dyn Judge>,
    pub shown: PresentedQuestion,
}

impl SingleQuestion {
    /// The answer that the project holds; with `retry`, an unreadable one does not count.
    pub fn known(&self, db: &Db, retry: bool) -> Result<Option<KnownAnswer>, StoreError> {
        db.rerank_answer(&self.target().key(), retry)
    }

    /// The expected effort, and the maximum effort: all attempts but the last fail and are charged.
    pub fn estimate(&self) -> (CallVolume, CallVolume) {
        let prompt = self.judge.prompt(JudgeQuestion::Rerank(&self.shown));
        let (mut expected, mut most) = (CallVolume::NONE, CallVolume::NONE);
        expected.add(1.0, self.judge.estimate(&prompt));
        most.add(f64::from(MAX_CHARGED), self.judge.most(&prompt));
        (expected, most)
    }

    /// Asks it. The answer is in the project when it is returned; `None` if the question was not
    /// asked or its call failed.
    pub async fn ask(
        &self,
        store: &Store,
        control: watch::Receiver<RunControl>,
        events: mpsc::UnboundedSender<RerankEvent>,
    ) -> Result<Option<KnownAnswer>, StoreError> {
        let target = self.target();
        let targets = vec![AskedTarget {
            judge: 0,
            key: target.key(),
            target,
            case: None,
        }];
        let answers = ask_each(
            store,
            slice::from_ref(&self.judge),
            targets,
            control,
            &events,
        )
        .await?;
        Ok(answers.into_iter().next().flatten())
    }

    fn target(&self) -> Target {
        Target::Judge {
            judge: Arc::clone(&self.judge),
            prompt: self.judge.prompt(JudgeQuestion::Rerank(&self.shown)),
            shown: self.shown.clone(),
            strict: false,
        }
    }
}
