//! The trait of a provider's format: pure functions from prompts to requests and from answers to replies.

use super::chat;
use super::error_response;
use super::learnt::{Learnt, StepsLeft, learn};
use super::response::HttpResponse;
use super::settings::JudgeSettings;
use crate::judge::call::{CallError, JudgePrompt, JudgeReply, Opinion};
use crate::judge::parse::{self, ParseError, Written};
use crate::judge::prompt::AnswerForm;
use serde_json::Value;
use std::fmt;

/// One provider's format.
pub trait WireFormat: Send + Sync + fmt::Debug {
    /// The JSON of a call, without what the server has refused before.
    fn build_request(
        &self,
        settings: &JudgeSettings,
        prompt: &JudgePrompt,
        learnt: Learnt,
    ) -> Value;

    /// What the requests of this format can still do without.
    fn steps_left(&self, _settings: &JudgeSettings, _learnt: Learnt) -> StepsLeft {
        StepsLeft::default()
    }

    /// Where a request limits the answer, as JSON pointers, one of which must be there; none where nothing is written.
    fn caps(&self) -> &'static [&'static str];

    /// The reply in the JSON of a success, or why there is none; as in chat completions unless a provider has its own form.
    /// Looks at the stop reason before the text.
    fn parse_reply(
        &self,
        settings: &JudgeSettings,
        value: &Value,
        response: &HttpResponse,
    ) -> Result<JudgeReply, CallError> {
        chat::reply(settings, value, response)
    }

    /// The reply in an answer of any status, or why there is none.
    fn parse_response(
        &self,
        settings: &JudgeSettings,
        response: &HttpResponse,
    ) -> Result<JudgeReply, CallError> {
        let value = error_response::json(settings, response)?;
        self.parse_reply(settings, &value, response)
    }

    /// What to know from now on, where the server refused something that it can do without.
    fn adapt(&self, settings: &JudgeSettings, learnt: Learnt, error: &CallError) -> Option<Learnt> {
        let bare = JudgePrompt {
            system: " ".to_owned(),
            ..JudgePrompt::default()
        };
        let request = self.build_request(settings, &bare, learnt);
        learn(
            learnt,
            settings,
            &request,
            self.steps_left(settings, learnt),
            error,
        )
        .filter(|more| *more != learnt)
    }

    /// The opinion in a reply of a judge that was shown these texts.
    fn opinion(
        &self,
        settings: &JudgeSettings,
        reply: &JudgeReply,
        shown: &[&str],
    ) -> Result<Opinion, ParseError> {
        let written = Written::of(reply, shown);
        match settings.template.answer {
            AnswerForm::Score => parse::score(written),
            AnswerForm::Choice => parse::choice(written),
            AnswerForm::Letter => parse::letter(written, reply.odds),
            // Picks and answers to reranking questions are no opinion on two documents.
            _ => Err(ParseError::Missing("score")),
        }
    }
}
