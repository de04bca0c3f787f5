//! Asks judges several questions at once, outside a method.

use super::question::{FailedCalls, QuestionSenders, RerankQuestion, Target};
use super::run::{RerankEvent, with_workers};
use super::service::RerankService;
use crate::client::question::CaseId;
use crate::client::{RunControl, lock};
use crate::features::methods::store::KnownAnswer;
use crate::judge::Judge;
use crate::store::{Store, StoreError};
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use std::sync::{Arc, Mutex};
use tokio::sync::{mpsc, oneshot, watch};

/// A question.
pub(super) struct AskedTarget {
    /// Index of the judge.
    pub(super) judge: usize,
    pub(super) target: Target,
    /// The query that it is about.
    pub(super) case: Option<CaseId>,
    /// Identifies the answer: the key of the target, or another one if it is asked repeatedly.
    pub(super) key: [u8; 32],
}

/// Asks these questions. The answers are in the project when they are returned; `None` stands for a
/// question that was not asked or whose call failed.
pub(super) async fn ask_each(
    store: &Store,
    judges: &[Arc<dyn Judge>],
    targets: Vec<AskedTarget>,
    control: watch::Receiver<RunControl>,
    events: &mpsc::UnboundedSender<RerankEvent>,
) -> Result<Vec<Option<KnownAnswer>>, StoreError> {
    let answers = Arc::new(Mutex::new(vec![None; targets.len()]));
    if targets.is_empty() {
        return Ok(Vec::new());
    }
    let services: Vec<RerankService> = judges
        .iter()
        .map(|judge| RerankService::Judge(Arc::clone(judge)))
        .collect();
    let work = {
        let answers = Arc::clone(&answers);
        move |senders| ask_all(targets, senders, answers)
    };
    with_workers(store, &services, control, events, work).await?;
    let answers = lock(&answers).clone();
    Ok(answers)
}

async fn ask_all(
    targets: Vec<AskedTarget>,
    senders: QuestionSenders,
    answers: Arc<Mutex<Vec<Option<KnownAnswer>>>>,
) -> Result<(), StoreError> {
    let failed = Arc::new(Mutex::new(FailedCalls::default()));
    let mut waiting = FuturesUnordered::new();
    for (at, asked) in targets.into_iter().enumerate() {
        let AskedTarget {
            judge,
            target,
            case,
            key,
        } = asked;
        let (tell, told) = oneshot::channel();
        let question = RerankQuestion::new(target, case, key, tell, Arc::clone(&failed));
        if let Some(sender) = senders.get(judge).cloned() {
            waiting.push(async move {
                // If the worker has ended, the question is dropped along with its sender.
                drop(sender.send(question).await);
                (at, told.await)
            });
        }
    }
    // Workers end with the last sender.
    drop(senders);
    while let Some((at, told)) = waiting.next().await {
        let Ok(Ok(given)) = told else {
            continue;
        };
        if let Some(place) = lock(&answers).get_mut(at) {
            *place = Some(given.known);
        }
    }
    Ok(())
}
