//! A judge behind HTTP: a wire format with its settings, its connection and what was learnt about its server.

mod batches;

use super::batch::format::BatchFormat;
use super::connection::ApiConnection;
use super::learnt::{Learnt, Refusal};
use super::repetition::repeats_itself;
use super::response::HttpResponse;
use super::settings::JudgeSettings;
use super::wire_format::WireFormat;
use super::{error_response, output_cap, weights};
use crate::judge::batch::BatchApi;
use crate::judge::call::{
    Asking, CallError, FailureCause, JudgePrompt, JudgeReply, Opinion, Retry, Usage,
};
use crate::judge::judge_trait::Judge;
use crate::judge::parse::{self, ParseError};
use crate::judge::presented::{PresentedPair, PresentedPool, PresentedQuestion, RerankAsk};
use crate::judge::prompt::AnswerForm;
use crate::judge::spec::{JudgeLimits, JudgeSpec};
use futures::FutureExt;
use futures::future::BoxFuture;
use jiff::civil::Date;
use serde_json::Value;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// Requests of this process that have no answer yet. The process ends as a whole, so this is counted as a whole.
static IN_FLIGHT: AtomicUsize = AtomicUsize::new(0);

/// How many calls of judges behind HTTP are in flight in this process.
pub fn calls_in_flight() -> usize {
    IN_FLIGHT.load(Ordering::Relaxed)
}

/// One call in flight, until it is dropped: a call that is cut short is over too.
struct CallInFlight;

impl CallInFlight {
    fn begin() -> Self {
        IN_FLIGHT.fetch_add(1, Ordering::Relaxed);
        Self
    }
}

impl Drop for CallInFlight {
    fn drop(&mut self) {
        IN_FLIGHT.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(Debug)]
pub struct RemoteJudge {
    pub(crate) settings: JudgeSettings,
    pub(crate) wire: Box<dyn WireFormat>,
    pub(crate) connection: ApiConnection,
    /// The batch endpoint, with the settings at a batch's prices.
    pub(crate) batch: Option<(&'static dyn BatchFormat, JudgeSettings)>,
    learnt: AtomicU32,
}

impl RemoteJudge {
    pub(crate) fn new(
        settings: JudgeSettings,
        wire: Box<dyn WireFormat>,
        connection: ApiConnection,
        batch: Option<&'static dyn BatchFormat>,
    ) -> Self {
        let batch = batch.map(|format| {
            let mut settings = settings.clone();
            settings.price = settings.price.and_then(|price| price.batched());
            (format, settings)
        });
        Self {
            settings,
            wire,
            connection,
            batch,
            learnt: AtomicU32::new(0),
        }
    }

    /// The JSON that a call on `prompt` sends.
    #[cfg(test)]
    pub fn request(&self, prompt: &JudgePrompt) -> Value {
        self.request_with(&self.settings, prompt)
    }

    /// The same with other settings, such as a batch's.
    pub(crate) fn request_with(&self, settings: &JudgeSettings, prompt: &JudgePrompt) -> Value {
        self.wire.build_request(settings, prompt, self.learnt())
    }

    /// What is known about the server by now.
    pub(crate) fn learnt(&self) -> Learnt {
        Learnt::from_bits(self.learnt.load(Ordering::Relaxed))
    }

    fn send<'a>(&'a self, prompt: &'a JudgePrompt) -> BoxFuture<'a, Result<JudgeReply, CallError>> {
        async move {
            let _in_flight = CallInFlight::begin();
            self.connection.redact_result(self.exchange(prompt).await)
        }
        .boxed()
    }

    async fn exchange(&self, prompt: &JudgePrompt) -> Result<JudgeReply, CallError> {
        let learnt = self.learnt();
        let body = self.wire.build_request(&self.settings, prompt, learnt);
        let connection = &self.connection;
        let headers = connection.headers.clone();
        let received = connection
            .http
            .post(&connection.url, headers, body.to_string().into_bytes())
            .await?;
        self.read(&received, learnt).map_err(|mut error| {
            // Often it is the address that is wrong, and only its beginning is what the user wrote.
            if error.no_answer || matches!(error.exchange.status, Some(404 | 405)) {
                error.message = format!(
                    "{} (the address tried is {})",
                    error.message, connection.url
                );
            }
            error
        })
    }

    /// What an answer says to a request that was made with that knowledge.
    pub(crate) fn read(
        &self,
        received: &HttpResponse,
        learnt: Learnt,
    ) -> Result<JudgeReply, CallError> {
        error_response::guarded(received, || {
            let reply = self.wire.parse_response(&self.settings, received);
            if let Ok(reply) = &reply
                && reply.odds.is_none()
                && self.settings.template.answer.is_word()
                && parse::answer_word(&reply.text).is_some()
                && !learnt.has(Refusal::Logprobs)
            {
                let silent = Learnt::default().with(Refusal::SilentLogprobs);
                self.learnt.fetch_or(silent.bits(), Ordering::Relaxed);
            }
            reply.map_err(|mut error| {
                if let Some(more) = self.wire.adapt(&self.settings, learnt, &error) {
                    // An answer that was paid for is a failure of its own, which is kept and asked about once more.
                    if error.cause != FailureCause::Truncated {
                        error.retry = Retry::Adapted;
                        error.stops_judge = false;
                    }
                    // Calls run side by side. Only the first that meets the refusal adds to what is known: a second one,
                    // sent with the same knowledge, would skip a step, and knows more on its next attempt anyway. No other
                    // memory hangs on it, so that relaxed order is enough.
                    let (set, fetch) = (Ordering::Relaxed, Ordering::Relaxed);
                    let (old, new) = (learnt.bits(), more.bits());
                    let _ = self.learnt.compare_exchange(old, new, set, fetch);
                }
                error
            })
        })
    }

    /// Tokens that the request for `prompt` allows the model to write, where something in it says so.
    fn allowed(
        &self,
        settings: &JudgeSettings,
        prompt: &JudgePrompt,
        learnt: Learnt,
    ) -> Option<u64> {
        // The texts change nothing about it.
        let bare = JudgePrompt {
            asking: prompt.asking,
            ..JudgePrompt::default()
        };
        let request = self.wire.build_request(settings, &bare, learnt);
        output_cap::of_request(&request, self.wire.caps())
    }

    /// What a call on `prompt` is expected to use with these settings.
    pub(crate) fn expected(
        &self,
        settings: &JudgeSettings,
        prompt: &JudgePrompt,
    ) -> (Usage, Option<f64>) {
        // The limit of a letter is its own; those of the others are far above what they write.
        let letter = settings.template.answer.is_word();
        let allowed = letter.then(|| self.allowed(settings, prompt, self.learnt()));
        settings.estimate(prompt, allowed.flatten())
    }

    /// What a call on `prompt` can use at the very most with these settings, as its request says.
    pub(crate) fn bound(
        &self,
        settings: &JudgeSettings,
        prompt: &JudgePrompt,
    ) -> (Usage, Option<f64>) {
        let places = self.wire.caps();
        if places.is_empty() {
            return settings.worst(
                prompt,
                Some(settings.cap(prompt, self.learnt().needs_room())),
            );
        }
        let of = |learnt: Learnt| self.allowed(settings, prompt, learnt);
        // A model may turn out to need more room, and a server that refuses everything that can be refused gets a letter without
        // probabilities, which may be longer.
        let then = if settings.template.answer.is_word() {
            Learnt::EVERYTHING
        } else {
            self.learnt().with(Refusal::ShortAnswer)
        };
        let output = of(self.learnt()).zip(of(then));
        let output = output.map(|(now, then)| now.max(then));
        settings.worst(prompt, output)
    }
}

impl Judge for RemoteJudge {
    fn spec(&self) -> &JudgeSpec {
        &self.settings.spec
    }

    fn seed(&self) -> Option<String> {
        self.settings.seed.clone()
    }

    fn prompt(&self, case: &PresentedPair) -> JudgePrompt {
        self.settings.template.fill(case, self.settings.cut)
    }

    fn call<'a>(
        &'a self,
        _: &'a PresentedPair,
        prompt: &'a JudgePrompt,
    ) -> BoxFuture<'a, Result<JudgeReply, CallError>> {
        self.send(prompt)
    }

    fn pick_prompt(&self, lineup: &PresentedPool) -> Option<JudgePrompt> {
        let template = &self.settings.template;
        let asks = template.answer == AnswerForm::of(lineup.ask.way());
        asks.then(|| template.fill_pool(lineup, self.settings.cut))
    }

    fn pick<'a>(
        &'a self,
        _: &'a PresentedPool,
        prompt: &'a JudgePrompt,
    ) -> BoxFuture<'a, Result<JudgeReply, CallError>> {
        self.send(prompt)
    }

    fn rerank_prompt(&self, question: &PresentedQuestion) -> Option<JudgePrompt> {
        let settings = &self.settings;
        let answer = settings.template.answer;
        let fits = match question.ask {
            // An endpoint for decisions names the better of two by a letter.
            RerankAsk::Compare if answer == AnswerForm::Letter => true,
            ask => answer == AnswerForm::of_rerank(ask.kind()),
        };
        fits.then(|| settings.template.fill_question(question, settings.cut))
    }

    fn rerank<'a>(
        &'a self,
        _: &'a PresentedQuestion,
        prompt: &'a JudgePrompt,
    ) -> BoxFuture<'a, Result<JudgeReply, CallError>> {
        self.send(prompt)
    }

    fn estimate(&self, prompt: &JudgePrompt) -> (Usage, Option<f64>) {
        self.expected(&self.settings, prompt)
    }

    fn retires(&self) -> Option<Date> {
        self.settings.retires
    }

    fn usd_of(&self, usage: &Usage) -> Option<f64> {
        self.settings.usd_of(usage)
    }

    fn worst(&self, prompt: &JudgePrompt) -> (Usage, Option<f64>) {
        self.bound(&self.settings, prompt)
    }

    fn parse(&self, case: &PresentedPair, reply: &JudgeReply) -> Result<Opinion, ParseError> {
        self.wire
            .opinion(&self.settings, reply, &case.shown_texts())
    }

    fn keeps_form(&self, reply: &JudgeReply) -> bool {
        match self.settings.template.answer {
            // An endpoint for decisions writes no text.
            AnswerForm::Letter => reply.odds.is_some() || parse::strict_letter(&reply.text),
            AnswerForm::Choice => parse::strict_choice(&reply.text).is_ok(),
            _ => parse::strict_score(&reply.text).is_ok(),
        }
    }

    fn reask(&self, prompt: &JudgePrompt, cause: FailureCause) -> Option<JudgePrompt> {
        match cause {
            FailureCause::Malformed => Some(self.settings.template.remind(prompt)),
            // A cut answer is never fed back: the same message again, with room for twice as much.
            FailureCause::Truncated if prompt.asking != Asking::Longer => Some(JudgePrompt {
                asking: Asking::Longer,
                ..prompt.clone()
            }),
            _ => None,
        }
    }

    fn ask_again(&self, prompt: &JudgePrompt, error: &CallError) -> Option<JudgePrompt> {
        if error.no_answer {
            return Some(prompt.clone());
        }
        let mut again = self.reask(prompt, error.cause)?;
        // With more room the answer would only repeat itself further.
        if error.raw.as_deref().is_some_and(repeats_itself) {
            again.asking = Asking::Again;
        }
        Some(again)
    }

    fn truncated(&self, case: &PresentedPair) -> bool {
        let cut = self.settings.cut;
        cut.cuts(case.first_text()) || cut.cuts(case.second_text())
    }

    fn truncates_pool(&self, lineup: &PresentedPool) -> bool {
        let documents = &lineup.pool.documents;
        let cut = self.settings.cut.shared(documents.len());
        documents.iter().any(|text| cut.cuts(text))
    }

    fn truncates(&self, question: &PresentedQuestion) -> u64 {
        let cut = match question.ask {
            RerankAsk::Compare | RerankAsk::Link | RerankAsk::Grade(_) => self.settings.cut,
            RerankAsk::Rank | RerankAsk::Select { .. } | RerankAsk::Best => {
                self.settings.cut.listed(question.shown.len())
            }
        };
        question.texts().filter(|text| cut.cuts(text)).count() as u64
    }

    fn limits(&self) -> JudgeLimits {
        self.settings.limits
    }

    fn server(&self) -> Option<&str> {
        // Scheme, host and port: the address as far as its path.
        let url = self.connection.url.as_str();
        Some(url.strip_suffix(self.connection.url.path()).unwrap_or(url))
    }

    fn server_notes(&self) -> Vec<&'static str> {
        self.learnt().words()
    }

    fn weights(&self) -> BoxFuture<'_, Option<String>> {
        weights::listed(&self.settings, &self.connection).boxed()
    }

    fn batch(&self) -> Option<&dyn BatchApi> {
        self.batch.is_some().then_some(self as &dyn BatchApi)
    }
}
