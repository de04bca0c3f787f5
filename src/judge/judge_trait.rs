//! The trait for all judges, and functions that work for any of them.

use super::batch::BatchApi;
use super::call::{CallError, FailureCause, JudgePrompt, JudgeReply, Opinion, Retry, Usage};
use super::metadata::MetadataFields;
use super::parse::{self, ParseError, Written};
use super::presented::{JudgeQuestion, PresentedPair};
use super::prompt::{PromptInput, PromptText};
use super::spec::{JudgeLimits, JudgeSpec};
use crate::domain::caught_panic::catch_panic;
use crate::domain::document_cut::DocumentCut;
use futures::future::BoxFuture;
use jiff::civil::Date;
use std::fmt;
use std::sync::Arc;

pub trait Judge: Send + Sync + fmt::Debug {
    fn spec(&self) -> &JudgeSpec;

    /// Whether it can answer such a question: some judges only compare two documents, and a judge's
    /// prompt is for one kind of question.
    fn can_answer(&self, question: JudgeQuestion<'_>) -> bool {
        matches!(question, JudgeQuestion::Pair(_))
    }

    /// The prompt for a question that it [can answer](Self::can_answer).
    fn prompt(&self, question: JudgeQuestion<'_>) -> JudgePrompt;

    /// The metadata that it is shown with a document's text; `None` if it is shown the text alone.
    fn metadata(&self) -> Option<&MetadataFields> {
        None
    }

    /// The text of its prompt; `None` for judges without one, such as the offline ones.
    fn prompt_text(&self) -> Option<PromptText> {
        None
    }

    /// What its prompt shows of the data in addition to the texts and the [metadata](Self::metadata).
    fn inputs(&self) -> Vec<PromptInput> {
        Vec::new()
    }

    /// The seed that calls are sent with, if their answers are random (at a temperature other than
    /// 0).
    fn seed(&self) -> Option<String> {
        None
    }

    /// Asks the question once. The runner retries. Parse the reply with [`Judge::parse`],
    /// [`parse::slots`], [`parse::verdicts`] or [`parse::read_answer`], depending on the question.
    fn call<'a>(
        &'a self,
        question: JudgeQuestion<'a>,
        prompt: &'a JudgePrompt,
    ) -> BoxFuture<'a, Result<JudgeReply, CallError>>;

    /// The expected usage of one call on `prompt`: tokens, and dollars if the price is known.
    fn estimate(&self, prompt: &JudgePrompt) -> (Usage, Option<f64>);

    /// The day from which the provider no longer serves its model, if that has been announced.
    fn retires(&self) -> Option<Date> {
        None
    }

    /// Dollars that a call with these tokens costs on the terms that it asks for; `None` if the
    /// price is unknown.
    fn usd_of(&self, _usage: &Usage) -> Option<f64> {
        None
    }

    /// The maximum usage of one call on `prompt`, which a hard budget must reserve.
    fn worst(&self, prompt: &JudgePrompt) -> (Usage, Option<f64>) {
        self.estimate(prompt)
    }

    /// The maximum usage of a question: every attempt but the last times out or returns a broken
    /// answer, and all of them are charged. The dollars are `None` if the price is unknown or
    /// nothing limits them.
    fn most(&self, prompt: &JudgePrompt) -> (Usage, Option<f64>) {
        let (first, first_usd) = self.worst(prompt);
        let (mut later, mut later_usd) = (first, first_usd);
        for cause in [FailureCause::Malformed, FailureCause::Truncated] {
            if let Some(prompt) = self.reask(prompt, cause) {
                let (usage, usd) = self.worst(&prompt);
                later.input = later.input.max(usage.input);
                later.output = later.output.max(usage.output);
                later_usd = later_usd.zip(usd).map(|(a, b)| a.max(b));
            }
        }
        let more = MAX_CHARGED - 1;
        let usage = Usage {
            input: first.input + u64::from(more) * later.input,
            output: first.output + u64::from(more) * later.output,
            ..Usage::default()
        };
        let usd = first_usd
            .zip(later_usd)
            .map(|(first, later)| first + f64::from(more) * later);
        (usage, usd)
    }

    /// The dollars of [`Judge::most`].
    fn most_usd(&self, prompt: &JudgePrompt) -> Option<f64> {
        self.most(prompt).1
    }

    /// The opinion in a reply to `case`.
    ///
    /// # Errors
    /// If the reply is not an answer.
    fn parse(&self, case: &PresentedPair, reply: &JudgeReply) -> Result<Opinion, ParseError> {
        parse::score(Written::of(reply, &case.shown_texts()))
    }

    /// Whether the reply follows the requested form exactly.
    fn keeps_form(&self, reply: &JudgeReply) -> bool {
        parse::strict_score(&reply.text).is_ok()
    }

    /// The prompt for asking again after an answer that was paid for but is not a vote; `None` if
    /// asking again is useless.
    fn reask(&self, _prompt: &JudgePrompt, _cause: FailureCause) -> Option<JudgePrompt> {
        None
    }

    /// The prompt for asking again after `error`: the same prompt if the model did not answer,
    /// otherwise the result of [`Judge::reask`].
    fn ask_again(&self, prompt: &JudgePrompt, error: &CallError) -> Option<JudgePrompt> {
        if error.no_answer {
            return Some(prompt.clone());
        }
        self.reask(prompt, error.cause)
    }

    /// Number of documents of the question that are truncated for the judge.
    fn truncated(&self, _question: JudgeQuestion<'_>) -> usize {
        0
    }

    /// How much of a document it is shown at most; `None` for all of it.
    fn document_cut(&self) -> Option<DocumentCut> {
        None
    }

    fn limits(&self) -> JudgeLimits {
        JudgeLimits::default()
    }

    /// The server that calls go to, if any: judges with the same server share its limits.
    fn server(&self) -> Option<&str> {
        None
    }

    /// Notes about the server for the user, to be appended to the judge's name.
    fn server_notes(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// An identifier of the weights behind the model's name, if the server provides one. Asks the
    /// server.
    fn weights(&self) -> BoxFuture<'_, Option<String>> {
        Box::pin(async { None })
    }

    fn batch(&self) -> Option<&dyn BatchApi> {
        None
    }
}

pub type JudgeEnsemble = Vec<Arc<dyn Judge>>;

/// Maximum number of charged attempts of one question, after which it counts as failed: a provider
/// may bill each call that timed out or whose answer broke off.
pub const MAX_CHARGED: u32 = 5;

/// Maximum number of calls that one call may become while a judge learns what its server does not
/// support.
pub(crate) const MAX_ADAPTIONS: usize = 6;

/// Makes a call, and repeats it immediately while the judge adapts to its server.
///
/// # Errors
/// Those of the call.
pub async fn call_adapting<'a>(
    mut call: impl FnMut() -> BoxFuture<'a, Result<JudgeReply, CallError>>,
) -> Result<JudgeReply, CallError> {
    let mut left = MAX_ADAPTIONS;
    loop {
        match call().await {
            Err(error) if error.retry == Retry::Adapted && left > 0 => left -= 1,
            Err(mut error) if error.retry == Retry::Adapted => {
                error.retry = Retry::Never;
                return Err(error);
            }
            other => return other,
        }
    }
}

/// The opinion in a reply to `case` that was paid for, or the corresponding failure: an unreadable
/// reply, a refusal, or a panic in the judge's own code.
///
/// # Errors
/// A failure with all data of the reply.
pub fn opinion_of(
    judge: &dyn Judge,
    case: &PresentedPair,
    reply: JudgeReply,
) -> Result<(JudgeReply, Opinion), CallError> {
    match catch_panic(|| judge.parse(case, &reply)) {
        Ok(Ok(opinion)) => Ok((reply, opinion)),
        Ok(Err(error)) => {
            let message = error.to_string();
            Err(CallError::in_reply(error.cause(), message, reply))
        }
        Err(panic) => {
            let message = format!("reading the answer panicked: {panic}");
            Err(CallError::in_reply(FailureCause::Crashed, message, reply))
        }
    }
}
