//! A question of a reranking method to a judge or a reranker: how it is asked, and what is stored
//! of each attempt.

use super::candidates::hash_part;
use crate::client::call_key::key_of;
use crate::client::lock::lock;
use crate::client::now_ms;
use crate::client::question::{
    AttemptEnd, CallNeeds, CaseId, RecordJob, RecordOutcome, ServiceQuestion,
};
use crate::domain::candidate_question::Answer;
use crate::domain::caught_panic::catch_panic;
use crate::domain::corpus::DocId;
use crate::domain::numeric::best_first;
use crate::features::methods::domain::reranking::{AnswerError, CandidateCountError};
use crate::features::methods::domain::{FailureKind, RankingFailure};
use crate::features::methods::store::{KnownAnswer, RerankCall};
use crate::judge::reranker::{AskedJudges, RerankCandidate, Reranker, TooManyCandidates};
use crate::judge::{
    CallError, Exchange, FailureCause, Judge, JudgePrompt, JudgeQuestion, JudgeReply, JudgeSpec,
    MAX_CHARGED, Presented, PresentedPair, PresentedQuestion, opinion_of, read_answer,
    read_answer_strictly,
};
use crate::registry;
use crate::store::corpus::QueryKey;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use sha2::{Digest as _, Sha256};
use std::sync::{Arc, Mutex};
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

/// The recipient and the content of a question.
#[derive(Clone, Debug)]
pub(super) enum Target {
    /// A judge, asked about candidates in the terms of a method.
    Judge {
        judge: Arc<dyn Judge>,
        shown: PresentedQuestion,
        prompt: JudgePrompt,
        /// Whether the reply must follow its format exactly and is requested only once.
        strict: bool,
    },
    /// A judge, asked about a pair as in a battle.
    Battle {
        judge: Arc<dyn Judge>,
        case: PresentedPair,
        prompt: JudgePrompt,
    },
    /// A reranker, asked about a batch of candidates.
    Reranker {
        reranker: Arc<Reranker>,
        query: Arc<str>,
        candidates: Arc<[RerankCandidate]>,
    },
}

impl Target {
    pub(super) fn service(&self) -> &str {
        match self {
            Self::Judge { judge, .. } | Self::Battle { judge, .. } => &judge.spec().name,
            Self::Reranker { reranker, .. } => reranker.name(),
        }
    }

    /// Maximum number of charged attempts of one question.
    pub(super) fn most_charged(&self) -> u32 {
        match self {
            Self::Judge { strict: true, .. } => 1,
            Self::Judge { .. } | Self::Battle { .. } | Self::Reranker { .. } => MAX_CHARGED,
        }
    }

    /// Whether answers cost money or at least time, so that they are stored and requested only
    /// once.
    pub(super) fn is_kept(&self) -> bool {
        match self {
            Self::Judge { judge, .. } | Self::Battle { judge, .. } => !judge.spec().is_offline(),
            Self::Reranker { reranker, .. } => reranker.is_remote(),
        }
    }

    /// Hash of the service and of everything it is sent.
    pub(super) fn key(&self) -> [u8; 32] {
        match self {
            Self::Battle { judge, prompt, .. } => key_of(judge.spec(), prompt),
            Self::Judge {
                judge,
                prompt,
                strict: true,
                ..
            } => strict_key(judge.spec(), prompt),
            Self::Judge { judge, prompt, .. } => key_of(judge.spec(), prompt),
            Self::Reranker {
                reranker,
                query,
                candidates,
            } => {
                let mut hash = Sha256::new();
                let mut add = |part: &str| hash_part(&mut hash, part);
                add(reranker.identity());
                add(query);
                candidates.iter().for_each(|(_, text)| add(text));
                hash.finalize().into()
            }
        }
    }

    /// Number of documents truncated by the service.
    fn truncated(&self) -> u64 {
        match self {
            Self::Judge { judge, shown, .. } => {
                judge.truncated(JudgeQuestion::Rerank(shown)) as u64
            }
            Self::Battle { judge, case, .. } => {
                u64::from(judge.truncated(JudgeQuestion::Pair(case)) > 0)
            }
            Self::Reranker {
                reranker,
                candidates,
                ..
            } => reranker.truncates(candidates.iter().map(|(_, text)| &**text)),
        }
    }
}

/// The key of a question whose reply must follow its format exactly. It differs from that of other
/// questions, because the same reply may be valid for one of them and invalid for the other.
pub fn strict_key(spec: &JudgeSpec, prompt: &JudgePrompt) -> [u8; 32] {
    let mut key = key_of(spec, prompt);
    if let Some(first) = key.first_mut() {
        *first ^= 1;
    }
    key
}

/// The cost of calls without an answer, for one method and one query.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct FailedCalls {
    pub(super) attempts: u64,
    pub(super) tokens_input: u64,
    pub(super) tokens_output: u64,
    pub(super) cost_usd: f64,
    pub(super) service_ms: f64,
}

impl FailedCalls {
    fn add(&mut self, exchange: &Exchange) {
        self.attempts += 1;
        self.tokens_input += exchange.usage.input;
        self.tokens_output += exchange.usage.output;
        self.cost_usd += exchange.cost_usd.unwrap_or(0.0);
        self.service_ms += exchange.latency.as_secs_f64() * 1e3;
    }
}

/// An answer, and whether it required its own call.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct GivenAnswer {
    pub(super) known: KnownAnswer,
    /// It was already stored, or arrived for another method at the same time.
    pub(super) reused: bool,
}

/// Why a method has no order for a query.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(super) enum QueryFailure {
    #[error(transparent)]
    Answer(#[from] AnswerError),
    #[error("its judge cannot be asked this question")]
    CannotAsk,
    #[error(transparent)]
    TooManyCandidates(#[from] TooManyCandidates),
    #[error(transparent)]
    CandidateCount(#[from] CandidateCountError),
    #[error(
        "document {:?} has {chars} characters, which is more than {limit}; shorten it, raise \
         --max-document-chars, or truncate it by omitting :strict and --refuse-long",
        .document.as_str()
    )]
    DocumentTooLong {
        document: DocId,
        chars: usize,
        limit: usize,
    },
    /// The run that is to be followed lacks the query or its candidates.
    #[error("{0}")]
    Missing(String),
    /// A call failed.
    #[error("{0}")]
    Call(String),
}

impl QueryFailure {
    /// The kind of failure. A blocked answer is the provider's failure.
    fn kind(&self) -> FailureKind {
        match self {
            Self::Answer(AnswerError::Unreadable(why))
                if FailureCause::of_error(why) == Some(FailureCause::Filtered) =>
            {
                FailureKind::ProviderError
            }
            Self::Answer(_) => FailureKind::LlmOutputInvalid,
            Self::Call(_) => FailureKind::ProviderError,
            Self::CannotAsk
            | Self::TooManyCandidates(_)
            | Self::CandidateCount(_)
            | Self::DocumentTooLong { .. }
            | Self::Missing(_) => FailureKind::InputError,
        }
    }
}

impl From<QueryFailure> for RankingFailure {
    fn from(failure: QueryFailure) -> Self {
        Self {
            kind: failure.kind(),
            message: failure.to_string(),
        }
    }
}

/// The response to whoever asked: an answer, or why there is none.
pub(super) type Told = Result<GivenAnswer, QueryFailure>;

/// A question channel for each service index.
pub(super) type QuestionSenders = Arc<[mpsc::Sender<RerankQuestion>]>;

/// The judges that a program may ask while it ranks a query.
pub(super) trait ProgramJudges: AskedJudges {
    /// Whether the program was interrupted before it answered. Its query then stays outstanding.
    fn is_interrupted(&self) -> bool;
}

/// A pending question.
pub(super) struct RerankQuestion {
    target: Arc<Target>,
    /// The query it is about; `None` if there are two.
    case: Option<CaseId>,
    prompt: Option<JudgePrompt>,
    key: [u8; 32],
    kept: bool,
    once_more: bool,
    /// The sender that the asker waits for; dropped without an answer if the run ends first.
    waiting: Arc<Mutex<Option<oneshot::Sender<Told>>>>,
    /// The answer found for an identical question.
    found: Arc<Mutex<Option<KnownAnswer>>>,
    failed: Arc<Mutex<FailedCalls>>,
    /// The judges that the program may ask before it answers.
    judges: Option<Arc<dyn ProgramJudges>>,
}

/// A raw answer.
pub(super) struct RerankReply {
    pub(super) answer: Answer,
    raw: Option<String>,
    exchange: Exchange,
}

impl RerankQuestion {
    pub(super) fn new(
        target: Target,
        case: Option<CaseId>,
        key: [u8; 32],
        waiting: oneshot::Sender<Told>,
        failed: Arc<Mutex<FailedCalls>>,
    ) -> Self {
        Self {
            kept: target.is_kept(),
            target: Arc::new(target),
            case,
            prompt: None,
            key,
            once_more: false,
            waiting: Arc::new(Mutex::new(Some(waiting))),
            found: Arc::default(),
            failed,
            judges: None,
        }
    }

    /// The same question to a program that may ask these judges.
    pub(super) fn with_judges(self, judges: Option<Arc<dyn ProgramJudges>>) -> Self {
        Self { judges, ..self }
    }

    /// Whether it is for a program that asks judges, whose calls are those that count.
    pub(super) fn asks_judges(&self) -> bool {
        self.judges.is_some()
    }

    /// Whether it ended because the judges of its program make no more calls, which leaves it
    /// without an answer.
    pub(super) fn is_interrupted(&self) -> bool {
        self.judges
            .as_ref()
            .is_some_and(|judges| judges.is_interrupted())
    }

    /// Sends the response to the asker.
    pub(super) fn tell(&self, told: Told) {
        if let Some(waiting) = lock(&self.waiting).take() {
            drop(waiting.send(told));
        }
    }

    /// An answer with its cost.
    pub(super) fn given(&self, reply: &RerankReply) -> KnownAnswer {
        known(reply.answer.clone(), &reply.exchange)
    }

    /// Converts a final failure to an answer without content, if there was a reply. Its cost is
    /// included in the failed calls.
    pub(super) fn unreadable(&self, error: &CallError) -> Option<KnownAnswer> {
        let answer = unreadable(error)?;
        let mut known = known(answer, &Exchange::default());
        known.cost_usd = Some(0.0);
        Some(known)
    }

    /// Takes the answer found for an identical question.
    pub(super) fn take_found(&self) -> Option<KnownAnswer> {
        lock(&self.found).take()
    }

    fn judge(&self) -> Option<(&Arc<dyn Judge>, &JudgePrompt)> {
        match &*self.target {
            Target::Judge { judge, prompt, .. } | Target::Battle { judge, prompt, .. } => {
                Some((judge, self.prompt.as_ref().unwrap_or(prompt)))
            }
            Target::Reranker { .. } => None,
        }
    }

    async fn put(&self) -> Result<RerankReply, CallError> {
        match &*self.target {
            Target::Judge {
                judge,
                shown,
                prompt,
                strict,
            } => {
                let prompt = self.prompt.as_ref().unwrap_or(prompt);
                let reply = judge.call(JudgeQuestion::Rerank(shown), prompt).await?;
                read_reply(&shown.with_fields(judge.metadata()), *strict, reply)
            }
            Target::Battle {
                judge,
                case,
                prompt,
            } => {
                let prompt = self.prompt.as_ref().unwrap_or(prompt);
                let reply = judge.call(JudgeQuestion::Pair(case), prompt).await?;
                let (reply, opinion) = opinion_of(judge.as_ref(), case, reply)?;
                Ok(RerankReply {
                    answer: Answer::Margin(opinion.margin.get()),
                    exchange: reply.exchange(),
                    raw: Some(reply.text),
                })
            }
            Target::Reranker {
                reranker,
                query,
                candidates,
            } => {
                let judges = self.judges.as_deref();
                let judges = judges.map(|judges| judges as &dyn AskedJudges);
                let scored = reranker.score(query, candidates, judges).await?;
                let answer = if scored.places_only {
                    by_place(&scored.scores)
                } else {
                    Answer::Scores(scored.scores)
                };
                Ok(RerankReply {
                    answer,
                    exchange: scored.exchange,
                    raw: None,
                })
            }
        }
    }
}

/// Reads a reply to a question about candidates.
pub(super) fn read_reply(
    shown: &PresentedQuestion,
    is_strict: bool,
    reply: JudgeReply,
) -> Result<RerankReply, CallError> {
    let read = if is_strict {
        read_answer_strictly
    } else {
        read_answer
    };
    // The reply is paid for, so a parser that panics must not lose it.
    match catch_panic(|| read(shown, &reply)) {
        Ok(Ok(answer)) => Ok(RerankReply {
            answer,
            exchange: reply.exchange(),
            raw: Some(reply.text),
        }),
        Ok(Err(error)) => Err(CallError::in_reply(error.cause(), error.to_string(), reply)),
        Err(panic) => Err(CallError::in_reply(FailureCause::Crashed, panic.0, reply)),
    }
}

/// A call with its question.
pub struct AskedCall<'a> {
    /// Globally unique.
    pub uid: [u8; 16],
    /// Hash of the service and of everything it was sent.
    pub key: [u8; 32],
    /// Name of the judge or reranker.
    pub service: &'a str,
    /// Number of documents truncated to the service's limit.
    pub truncated: u64,
}

impl AskedCall<'_> {
    /// The record of its answer or failure; with `again`, the question will be asked once more.
    pub(super) fn ended(
        &self,
        result: Result<&RerankReply, &CallError>,
        again: bool,
    ) -> RerankCall {
        let (answer, raw, exchange) = match result {
            Ok(reply) => (Some(reply.answer.clone()), &reply.raw, &reply.exchange),
            Err(error) => {
                let answer = unreadable(error).filter(|_| !again);
                (answer, &error.raw, &*error.exchange)
            }
        };
        let error = result.err();
        RerankCall {
            uid: self.uid,
            key: self.key,
            service: self.service.to_owned(),
            answer,
            cause: error.map(|error| error.cause),
            message: error.map(|error| error.message.clone()),
            tokens_input: exchange.usage.input,
            tokens_output: exchange.usage.output,
            cost_usd: exchange.cost_usd,
            latency_ms: exchange.latency.as_secs_f64() * 1e3,
            truncated: self.truncated,
            model: exchange.model.clone(),
            created_ms: now_ms(),
            raw: raw.clone(),
        }
    }
}

/// The order implied by scores, where they carry no further meaning.
fn by_place(scores: &[f64]) -> Answer {
    let order = best_first(scores).into_iter();
    Answer::Numbers(order.map(|at| at as i64 + 1).collect())
}

fn known(answer: Answer, exchange: &Exchange) -> KnownAnswer {
    KnownAnswer {
        answer,
        tokens_input: exchange.usage.input,
        tokens_output: exchange.usage.output,
        cost_usd: exchange.cost_usd,
        latency_ms: exchange.latency.as_secs_f64() * 1e3,
    }
}

/// The model answered, but without anything the method can use.
fn unreadable(error: &CallError) -> Option<Answer> {
    let answered = !error.no_answer
        && matches!(
            error.cause,
            FailureCause::Malformed
                | FailureCause::Truncated
                | FailureCause::Refused
                | FailureCause::Filtered
        );
    answered.then(|| Answer::Unreadable(format!("{}: {}", error.cause, error.message)))
}

impl ServiceQuestion for RerankQuestion {
    type Answer = RerankReply;

    fn ask(&self) -> BoxFuture<'_, Result<RerankReply, CallError>> {
        async {
            let result = self.put().await;
            // The calls of a program that asks judges are those of its judges.
            if let (Err(error), None) = (&result, &self.judges) {
                lock(&self.failed).add(&error.exchange);
            }
            result
        }
        .boxed()
    }

    fn exchange(answer: &RerankReply) -> &Exchange {
        &answer.exchange
    }

    // A query that has failed no longer waits for its answers.
    fn is_wanted(&self) -> bool {
        lock(&self.waiting)
            .as_ref()
            .is_some_and(|waiting| !waiting.is_closed())
    }

    fn needs(&self) -> CallNeeds {
        if !self.kept {
            return CallNeeds::default();
        }
        match (self.judge(), &*self.target) {
            (Some((judge, prompt)), _) => {
                let usage = judge.estimate(prompt).0;
                CallNeeds {
                    tokens: usage.input + usage.output,
                    worst_usd: judge.worst(prompt).1,
                    sent: true,
                }
            }
            (
                None,
                Target::Reranker {
                    reranker,
                    query,
                    candidates,
                },
            ) => {
                let usage = reranker.estimate(query, candidates).0;
                CallNeeds {
                    tokens: usage.input + usage.output,
                    worst_usd: reranker.worst(query, candidates).1,
                    sent: true,
                }
            }
            _ => CallNeeds::default(),
        }
    }

    fn most_charged(&self) -> u32 {
        self.target.most_charged()
    }

    fn rephrased(&self, error: &CallError) -> Option<Self> {
        let once = self.once_more || self.target.most_charged() == 1;
        let (judge, prompt) = self.judge().filter(|_| !once)?;
        let prompt = judge.ask_again(prompt, error)?;
        Some(Self {
            target: Arc::clone(&self.target),
            case: self.case,
            prompt: Some(prompt),
            key: self.key,
            kept: self.kept,
            once_more: true,
            waiting: Arc::clone(&self.waiting),
            found: Arc::clone(&self.found),
            failed: Arc::clone(&self.failed),
            judges: None,
        })
    }

    fn key(&self) -> Option<[u8; 32]> {
        self.kept.then_some(self.key)
    }

    fn case(&self) -> Option<CaseId> {
        self.case
    }

    fn name(&self) -> String {
        format!("{:?}", self.key)
    }

    fn keep(&self, end: AttemptEnd<'_, RerankReply>) -> Option<RecordJob> {
        if !self.kept {
            return None;
        }
        let asked = AskedCall {
            uid: Uuid::now_v7().into_bytes(),
            key: self.key,
            service: self.target.service(),
            truncated: self.target.truncated(),
        };
        let record = match end {
            AttemptEnd::Answered(reply) => asked.ended(Ok(reply), false),
            AttemptEnd::Failed { error, again } => asked.ended(Err(error), again),
        };
        let (query, key) = (self.case.map(|case| QueryKey(case.0)), self.key);
        Some(Box::new(move |db| {
            db.add_rerank_call_for(query, &record)?;
            registry::answers_changed(db, Some(&key))?;
            Ok(RecordOutcome::Row)
        }))
    }

    fn share(&self) -> Option<RecordJob> {
        let (key, found) = (self.key, Arc::clone(&self.found));
        Some(Box::new(move |db| {
            let Some(known) = db.rerank_answer(&key, false)? else {
                return Ok(RecordOutcome::Nothing);
            };
            *lock(&found) = Some(known);
            Ok(RecordOutcome::Row)
        }))
    }
}
