//! Questions across two queries, asked of judges: which of two documents serves its own query
//! better.

use super::estimate::CallVolume;
use super::prepare::services_of;
use super::question::{FailedCalls, QuestionSenders, RerankQuestion, Target};
use super::run::{RerankEvent, with_workers};
use super::service::RerankService;
use crate::app::choose_judges::{JudgeConfiguration, are_paid, check_budget};
use crate::app::error::AppError;
use crate::client::call_key::identity_of;
use crate::client::{RunControl, now_ms};
use crate::domain::candidate_question::Answer;
use crate::judge::{
    Judge, JudgeEnsemble, JudgeQuestion, JudgeSpec, MAX_CHARGED, PoolText, PresentedQuestion,
    RerankAsk, RerankKind,
};
use crate::store::links::LinkAnswer;
use crate::store::{Store, StoreError};
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::{mpsc, oneshot, watch};

/// The judges of links.
#[derive(Debug)]
pub struct LinkJudges {
    services: Vec<RerankService>,
    pub ensemble: JudgeEnsemble,
    pub notes: Vec<String>,
}

/// A link with its texts.
#[derive(Clone, Debug)]
pub struct LinkTexts {
    pub uid: [u8; 16],
    /// Both queries and both documents.
    pub texts: Arc<PoolText>,
    /// The identities of judges that have answered.
    pub answered: Vec<[u8; 32]>,
}

impl LinkJudges {
    /// The named judges, configured for questions across two queries.
    ///
    /// # Errors
    /// A judge does not exist or cannot be asked such a question, as the offline ones cannot.
    pub fn choose(
        configuration: &JudgeConfiguration<'_>,
        names: &[String],
    ) -> Result<Self, AppError> {
        let chosen = configuration.choose_rerankers(names, RerankKind::Link)?;
        Ok(Self {
            services: services_of(&chosen.ensemble),
            ensemble: chosen.ensemble,
            notes: chosen.notes,
        })
    }

    pub fn are_paid(&self) -> bool {
        are_paid(&self.ensemble)
    }

    /// # Errors
    /// It is not an amount in dollars, or the worst-case cost of a call is unknown.
    pub fn check_budget(&self, budget: f64) -> Result<(), AppError> {
        check_budget(budget, &self.ensemble)
    }

    /// The expected effort of asking these links, and the maximum effort: all attempts of each call
    /// but the last fail and are charged.
    pub fn estimate(&self, links: &[LinkTexts]) -> (CallVolume, CallVolume) {
        let (mut expected, mut most) = (CallVolume::NONE, CallVolume::NONE);
        for (judge, link) in self.outstanding(links) {
            let Some((_, prompt)) = put(judge, &link.texts) else {
                continue;
            };
            expected.add(1.0, judge.estimate(&prompt));
            most.add(f64::from(MAX_CHARGED), judge.most(&prompt));
        }
        (expected, most)
    }

    fn outstanding<'a>(
        &'a self,
        links: &'a [LinkTexts],
    ) -> impl Iterator<Item = (&'a Arc<dyn Judge>, &'a LinkTexts)> {
        let open =
            |link: &LinkTexts, judge: &JudgeSpec| !link.answered.contains(&identity_of(judge));
        links.iter().flat_map(move |link| {
            self.ensemble
                .iter()
                .filter(move |judge| open(link, judge.spec()))
                .map(move |judge| (judge, link))
        })
    }

    /// Asks the unanswered questions. Answered ones are not asked again, except that `retry`
    /// repeats those with unreadable answers. Every answer is in the project before it is reported.
    /// Returns the number of questions that were not asked or not answered.
    pub async fn ask(
        &self,
        store: &Store,
        links: &[LinkTexts],
        retry: bool,
        control: watch::Receiver<RunControl>,
        events: &mpsc::UnboundedSender<RerankEvent>,
    ) -> Result<usize, StoreError> {
        let mut targets = Vec::new();
        for (judge, link) in self.outstanding(links) {
            let service = self
                .services
                .iter()
                .position(|service| service.name() == judge.spec().name);
            let question = put(judge, &link.texts);
            let (Some(service), Some((shown, prompt))) = (service, question) else {
                continue;
            };
            let target = Target::Judge {
                judge: Arc::clone(judge),
                shown,
                prompt,
                strict: false,
            };
            targets.push((service, (link.uid, identity_of(judge.spec())), target));
        }
        if targets.is_empty() {
            return Ok(0);
        }
        let open = Arc::new(AtomicUsize::new(0));
        let work = {
            let (store, events, open) = (store.clone(), events.clone(), Arc::clone(&open));
            move |senders| ask_all(store, targets, senders, retry, events, open)
        };
        with_workers(store, &self.services, control, events, work).await?;
        Ok(open.load(Ordering::Relaxed))
    }
}

/// The question to a judge about a link; `None` if it cannot be asked.
fn put(
    judge: &Arc<dyn Judge>,
    texts: &Arc<PoolText>,
) -> Option<(PresentedQuestion, crate::judge::JudgePrompt)> {
    let shown = PresentedQuestion {
        pool: Arc::clone(texts),
        shown: vec![0, 1],
        ask: RerankAsk::Link,
    };
    let question = JudgeQuestion::Rerank(&shown);
    let prompt = judge.can_answer(question).then(|| judge.prompt(question))?;
    Some((shown, prompt))
}

/// A link, and the identity of the judge that is asked about it.
type AskedLink = ([u8; 16], [u8; 32]);

async fn ask_all(
    store: Store,
    targets: Vec<(usize, AskedLink, Target)>,
    senders: QuestionSenders,
    retry: bool,
    events: mpsc::UnboundedSender<RerankEvent>,
    open: Arc<AtomicUsize>,
) -> Result<(), StoreError> {
    let failed = Arc::new(Mutex::new(FailedCalls::default()));
    let mut waiting = FuturesUnordered::new();
    for (service, link, target) in targets {
        let (key, judge) = (target.key(), target.service().to_owned());
        let known = if target.is_kept() {
            store.read(move |db| db.rerank_answer(&key, retry)).await?
        } else {
            None
        };
        let (tell, told) = oneshot::channel();
        let reused = known.is_some();
        let (question, sender) = match known {
            Some(known) => {
                let answer = super::question::GivenAnswer { known, reused };
                drop(tell.send(Ok(answer)));
                (None, None)
            }
            None => {
                let question = RerankQuestion::new(target, None, key, tell, Arc::clone(&failed));
                (Some(question), senders.get(service).cloned())
            }
        };
        waiting.push(async move {
            if let (Some(question), Some(sender)) = (question, sender) {
                // If the worker has ended, the question is dropped along with its sender.
                drop(sender.send(question).await);
            }
            (link, judge, told.await)
        });
    }
    // Workers end with the last sender.
    drop(senders);
    while let Some(((link, identity), judge, told)) = waiting.next().await {
        // Not asked or not answered, so it stays outstanding.
        let Ok(Ok(given)) = told else {
            open.fetch_add(1, Ordering::Relaxed);
            continue;
        };
        let answered = matches!(given.known.answer, Answer::SecondWins(_));
        if let Answer::SecondWins(second) = given.known.answer {
            let answer = LinkAnswer {
                judge,
                identity,
                second,
                created_ms: now_ms(),
            };
            store
                .write(move |db| db.add_link_answer(&link, &answer))
                .await?;
        }
        drop(events.send(RerankEvent::Linked { answered }));
    }
    Ok(())
}
