//! The judges that a program asks while it ranks a query. Their answers are stored, paid and reused
//! like those of every method.

use super::candidates::Candidates;
use super::prepared_method::{PreparedMethod, battle_target};
use super::question::{
    FailedCalls, GivenAnswer, ProgramJudges, QueryFailure, QuestionSenders, RerankQuestion, Target,
    Told,
};
use crate::client::lock::lock;
use crate::client::question::CaseId;
use crate::domain::candidate_question::Answer;
use crate::judge::reranker::{AskedJudges, AskedPair, JudgeFailure, JudgeVote, PairReply};
use crate::judge::{CallError, FailureCause, Judge, PoolText};
use crate::store::{Store, StoreError};
use futures::FutureExt as _;
use futures::future::{BoxFuture, try_join_all};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio::sync::{mpsc, oneshot};

/// The judges of one ranking, with the questions of a program to them so far.
pub(super) struct JudgePanel {
    judges: Vec<PanelJudge>,
    pool: Arc<PoolText>,
    case: CaseId,
    store: Store,
    /// Whether questions whose answers had no content are asked again.
    retry: bool,
    failed: Arc<Mutex<FailedCalls>>,
    /// All answers given to the program.
    given: Mutex<Vec<GivenAnswer>>,
    /// What a question of this ranking was answered, so that a program that repeats one pays for
    /// nothing again, not even for a call that failed.
    answered: Mutex<HashMap<[u8; 32], Told>>,
    interrupted: Mutex<Option<Interruption>>,
}

struct PanelJudge {
    judge: Arc<dyn Judge>,
    worker: mpsc::Sender<RerankQuestion>,
}

/// Why a program gets no more replies.
#[derive(Debug)]
enum Interruption {
    /// A judge makes no more calls in this run.
    NotAsked,
    Store(StoreError),
}

impl From<StoreError> for Interruption {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl JudgePanel {
    /// The judges that the method's program may ask about these candidates; `None` if it asks none.
    pub(super) fn new(
        method: &PreparedMethod,
        candidates: &Candidates,
        workers: &QuestionSenders,
        store: &Store,
        retry: bool,
        failed: &Arc<Mutex<FailedCalls>>,
    ) -> Option<Arc<Self>> {
        let judges: Vec<PanelJudge> = method
            .program_judges()
            .iter()
            .filter_map(|(service, judge)| {
                Some(PanelJudge {
                    judge: Arc::clone(judge),
                    worker: workers.get(*service)?.clone(),
                })
            })
            .collect();
        (!judges.is_empty()).then(|| {
            Arc::new(Self {
                judges,
                pool: Arc::clone(&candidates.pool),
                case: CaseId(candidates.key.0),
                store: store.clone(),
                retry,
                failed: Arc::clone(failed),
                given: Mutex::default(),
                answered: Mutex::default(),
                interrupted: Mutex::default(),
            })
        })
    }

    /// Whether one of the judges makes no more calls.
    pub(super) fn is_over(&self) -> bool {
        self.judges.iter().any(|judge| judge.worker.is_closed())
    }

    /// Reports an error of the project that has interrupted the program.
    pub(super) fn check_store(&self) -> Result<(), StoreError> {
        match lock(&self.interrupted).take() {
            Some(Interruption::Store(error)) => Err(error),
            Some(Interruption::NotAsked) | None => Ok(()),
        }
    }

    /// Takes the answers that the program was given.
    pub(super) fn take_given(&self) -> Vec<GivenAnswer> {
        std::mem::take(&mut lock(&self.given))
    }

    async fn reply(&self, pair: AskedPair) -> Result<PairReply, Interruption> {
        let asked = self.judges.iter().map(|one| self.put(one, pair));
        let (mut votes, mut failures) = (Vec::new(), Vec::new());
        for (one, told) in self.judges.iter().zip(try_join_all(asked).await?) {
            let judge = one.judge.spec().name.clone();
            let error = match told {
                Ok(given) => {
                    let answer = given.known.answer.clone();
                    lock(&self.given).push(given);
                    match answer {
                        Answer::Margin(margin) => {
                            votes.push(JudgeVote { judge, margin });
                            continue;
                        }
                        Answer::Unreadable(why) => why,
                        _ => QueryFailure::CannotAsk.to_string(),
                    }
                }
                Err(failure) => failure.to_string(),
            };
            failures.push(JudgeFailure { judge, error });
        }
        Ok(PairReply::new(votes, failures))
    }

    /// Asks one judge, unless it has answered in this ranking, or its answer is in the project
    /// already.
    async fn put(&self, one: &PanelJudge, pair: AskedPair) -> Result<Told, Interruption> {
        let target = battle_target(&self.pool, &one.judge, pair.a, pair.b);
        let key = target.key();
        if let Some(told) = lock(&self.answered).get(&key) {
            return Ok(told.clone().map(|given| GivenAnswer {
                reused: true,
                ..given
            }));
        }
        let told = self.put_once(one, target, key).await?;
        lock(&self.answered).insert(key, told.clone());
        Ok(told)
    }

    async fn put_once(
        &self,
        one: &PanelJudge,
        target: Target,
        key: [u8; 32],
    ) -> Result<Told, Interruption> {
        if target.is_kept() {
            let retry = self.retry;
            let known = self.store.read(move |db| db.rerank_answer(&key, retry));
            if let Some(known) = known.await? {
                return Ok(Ok(GivenAnswer {
                    known,
                    reused: true,
                }));
            }
        }
        let (tell, told) = oneshot::channel();
        let failed = Arc::clone(&self.failed);
        let question = RerankQuestion::new(target, Some(self.case), key, tell, failed);
        // If the worker has ended, the question is dropped along with its sender.
        drop(one.worker.send(question).await);
        told.await.map_err(|_| Interruption::NotAsked)
    }
}

impl ProgramJudges for JudgePanel {
    fn is_interrupted(&self) -> bool {
        lock(&self.interrupted).is_some()
    }
}

impl AskedJudges for JudgePanel {
    fn ask<'a>(
        &'a self,
        pairs: &'a [AskedPair],
    ) -> BoxFuture<'a, Result<Vec<PairReply>, CallError>> {
        async {
            let replies = pairs.iter().map(|pair| self.reply(*pair));
            try_join_all(replies).await.map_err(|why| {
                *lock(&self.interrupted) = Some(why);
                CallError::new(FailureCause::Crashed, "its judges make no more calls")
            })
        }
        .boxed()
    }
}
