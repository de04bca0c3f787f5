//! A judge behind HTTP: a wire format with its settings, its connection and what was learned about
//! its server.

mod batches;

use super::batch::format::BatchFormat;
use super::connection::ApiConnection;
use super::learnt::{Learnt, Refusal};
use super::provider_trait::{ModelList, Provider};
use super::repetition::repeats_itself;
use super::response::HttpResponse;
use super::settings::JudgeSettings;
use super::wire_format::WireFormat;
use super::{error_response, output_cap, weights};
use crate::domain::document_cut::DocumentCut;
use crate::judge::batch::BatchApi;
use crate::judge::call::{
    Asking, CallError, FailureCause, JudgePrompt, JudgeReply, Opinion, Retry, Usage,
};
use crate::judge::judge_trait::Judge;
use crate::judge::metadata::MetadataFields;
use crate::judge::parse::{self, ParseError};
use crate::judge::presented::{JudgeQuestion, Presented, PresentedPair, RerankAsk};
use crate::judge::prompt::{AnswerForm, PromptInput, PromptText};
use crate::judge::spec::{JudgeLimits, JudgeSpec};
use futures::FutureExt;
use futures::future::BoxFuture;
use jiff::civil::Date;
use serde_json::Value;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// Number of requests of this process without a response yet. The process ends as a whole, so one
/// counter is enough.
static IN_FLIGHT: AtomicUsize = AtomicUsize::new(0);

/// Number of calls in flight in this process, over all judges behind HTTP.
pub fn calls_in_flight() -> usize {
    IN_FLIGHT.load(Ordering::Relaxed)
}

/// One call in flight, until it is dropped, so that canceled calls no longer count.
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
    /// The batch endpoint, with the settings at batch prices.
    pub(crate) batch: Option<(&'static dyn BatchFormat, JudgeSettings)>,
    /// How its server lists the models that the user has loaded, if it does.
    models: Option<ModelList>,
    learnt: AtomicU32,
}

impl RemoteJudge {
    /// A judge of `provider`.
    pub(crate) fn of(
        provider: &'static dyn Provider,
        settings: JudgeSettings,
        connection: ApiConnection,
    ) -> Self {
        Self {
            models: provider.own_models(),
            ..Self::new(settings, provider.format(), connection, provider.batches())
        }
    }

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
            models: None,
            learnt: AtomicU32::new(0),
        }
    }

    /// The JSON of a call on `prompt`.
    #[cfg(test)]
    pub fn request(&self, prompt: &JudgePrompt) -> Value {
        self.request_with(&self.settings, prompt)
    }

    /// The same with other settings, such as those of a batch.
    pub(crate) fn request_with(&self, settings: &JudgeSettings, prompt: &JudgePrompt) -> Value {
        self.wire.build_request(settings, prompt, self.learnt())
    }

    /// What is known about the server so far.
    pub(crate) fn learnt(&self) -> Learnt {
        Learnt::from_bits(self.learnt.load(Ordering::Relaxed))
    }

    async fn exchange(&self, prompt: &JudgePrompt) -> Result<JudgeReply, CallError> {
        let learnt = self.learnt();
        let body = self.wire.build_request(&self.settings, prompt, learnt);
        let connection = &self.connection;
        let received = connection
            .post(&connection.url, body.to_string().into_bytes())
            .await?;
        self.read(&received, learnt).map_err(|mut error| {
            // Often the address is wrong, and the user only wrote its beginning.
            if error.no_answer || matches!(error.exchange.status, Some(404 | 405)) {
                error.message = format!(
                    "{} (the address tried is {})",
                    error.message, connection.url
                );
            }
            error
        })
    }

    /// Parses a response to a request made with that knowledge.
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
                    // An answer that was paid for is a separate failure, which is recorded, and the
                    // question is asked again.
                    if error.cause != FailureCause::Truncated {
                        error.retry = Retry::Adapted;
                        error.stops_judge = false;
                    }
                    // Calls run concurrently. Only the first one that meets a refusal updates the
                    // state: a second one, sent with the same state, would skip a step, and gets
                    // the new state on its next attempt anyway. No other memory depends on it, so
                    // relaxed ordering is enough.
                    let (set, fetch) = (Ordering::Relaxed, Ordering::Relaxed);
                    let (old, new) = (learnt.bits(), more.bits());
                    let _ = self.learnt.compare_exchange(old, new, set, fetch);
                }
                error
            })
        })
    }

    /// Maximum number of output tokens that the request for `prompt` allows, if it sets a limit.
    fn allowed(
        &self,
        settings: &JudgeSettings,
        prompt: &JudgePrompt,
        learnt: Learnt,
    ) -> Option<u64> {
        // The limit does not depend on the texts.
        let bare = JudgePrompt {
            asking: prompt.asking,
            ..JudgePrompt::default()
        };
        let request = self.wire.build_request(settings, &bare, learnt);
        output_cap::of_request(&request, self.wire.caps())
    }

    /// The expected usage of a call on `prompt` with these settings.
    pub(crate) fn expected(
        &self,
        settings: &JudgeSettings,
        prompt: &JudgePrompt,
    ) -> (Usage, Option<f64>) {
        // A letter has its own limit; the limits of other answers are far above their actual
        // length.
        let allowed = settings
            .template
            .answer
            .is_word()
            .then(|| self.allowed(settings, prompt, self.learnt()));
        settings.estimate(prompt, allowed.flatten())
    }

    /// The maximum usage of a call on `prompt` with these settings, according to its request.
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
        // A model may turn out to need more room, and a server that rejects everything optional
        // gets a letter without probabilities, which may be longer.
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

    fn prompt_text(&self) -> Option<PromptText> {
        Some(self.settings.template.stored())
    }

    fn metadata(&self) -> Option<&MetadataFields> {
        self.settings.metadata.as_ref()
    }

    fn inputs(&self) -> Vec<PromptInput> {
        self.settings.template.inputs()
    }

    fn seed(&self) -> Option<String> {
        self.settings.seed.clone()
    }

    fn can_answer(&self, question: JudgeQuestion<'_>) -> bool {
        let answer = self.settings.template.answer;
        match question {
            JudgeQuestion::Pair(_) => answer.is_of_battles(),
            JudgeQuestion::Pool(lineup) => answer == AnswerForm::of(lineup.ask.way()),
            JudgeQuestion::Rerank(question) => match question.ask {
                // A decision endpoint names the better of two documents by a letter.
                RerankAsk::Compare if answer == AnswerForm::Letter => true,
                ask => answer == AnswerForm::of_rerank(ask.kind()),
            },
        }
    }

    fn prompt(&self, question: JudgeQuestion<'_>) -> JudgePrompt {
        let JudgeSettings { template, cut, .. } = &self.settings;
        match question {
            JudgeQuestion::Pair(case) => {
                let case = case.with_fields(self.metadata());
                template.fill(&case, cut.at_most(case.pool.limit))
            }
            JudgeQuestion::Pool(lineup) => {
                template.fill_pool(&lineup.with_fields(self.metadata()), *cut)
            }
            JudgeQuestion::Rerank(question) => {
                let question = question.with_fields(self.metadata());
                template.fill_question(&question, cut.at_most(question.pool.limit))
            }
        }
    }

    fn call<'a>(
        &'a self,
        _: JudgeQuestion<'a>,
        prompt: &'a JudgePrompt,
    ) -> BoxFuture<'a, Result<JudgeReply, CallError>> {
        async move {
            let _in_flight = CallInFlight::begin();
            self.connection.redact_result(self.exchange(prompt).await)
        }
        .boxed()
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
        let JudgeSettings { template, cut, .. } = &self.settings;
        let case = case.with_fields(self.metadata());
        let cut = cut.at_most(case.pool.limit);
        let inputs = template.input_texts(&case.pool, case.first, case.second, cut);
        let mut shown = case.shown_texts();
        shown.extend(inputs.iter().map(String::as_str));
        self.wire.opinion(&self.settings, reply, &shown)
    }

    fn keeps_form(&self, reply: &JudgeReply) -> bool {
        match self.settings.template.answer {
            // A decision endpoint generates no text.
            AnswerForm::Letter => reply.odds.is_some() || parse::strict_letter(&reply.text),
            AnswerForm::Choice => parse::strict_choice(&reply.text).is_ok(),
            _ => parse::strict_score(&reply.text).is_ok(),
        }
    }

    fn reask(&self, prompt: &JudgePrompt, cause: FailureCause) -> Option<JudgePrompt> {
        match cause {
            FailureCause::Malformed => Some(self.settings.template.remind(prompt)),
            // A truncated answer is never fed back: send the same message again, with twice the
            // limit.
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
        // With more room, the answer would only continue to repeat itself.
        if error.raw.as_deref().is_some_and(repeats_itself) {
            again.asking = Asking::Again;
        }
        Some(again)
    }

    fn truncated(&self, question: JudgeQuestion<'_>) -> usize {
        let cut = self.settings.cut;
        match question {
            JudgeQuestion::Pair(case) => {
                let case = case.with_fields(self.metadata());
                let cut = cut.at_most(case.pool.limit);
                [case.first_text(), case.second_text()]
                    .into_iter()
                    .filter(|text| cut.cuts(text))
                    .count()
            }
            JudgeQuestion::Pool(lineup) => {
                let lineup = lineup.with_fields(self.metadata());
                let documents = &lineup.pool.documents;
                let cut = cut.shared(documents.len());
                documents.iter().filter(|text| cut.cuts(text)).count()
            }
            JudgeQuestion::Rerank(question) => {
                let question = question.with_fields(self.metadata());
                let cut = cut.at_most(question.pool.limit);
                question.texts().filter(|text| cut.cuts(text)).count()
            }
        }
    }

    fn document_cut(&self) -> Option<DocumentCut> {
        Some(self.settings.cut)
    }

    fn limits(&self) -> JudgeLimits {
        self.settings.limits
    }

    fn server(&self) -> Option<&str> {
        // Scheme, host and port: the URL up to its path.
        let url = self.connection.url.as_str();
        Some(url.strip_suffix(self.connection.url.path()).unwrap_or(url))
    }

    fn server_notes(&self) -> Vec<&'static str> {
        self.learnt().words()
    }

    fn weights(&self) -> BoxFuture<'_, Option<String>> {
        let listed = self
            .models
            .map(|list| weights::listed(list, &self.settings, &self.connection));
        async move { listed?.await }.boxed()
    }

    fn batch(&self) -> Option<&dyn BatchApi> {
        self.batch.is_some().then_some(self as &dyn BatchApi)
    }
}
