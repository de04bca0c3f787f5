//! The trait for a provider's format: pure functions from prompts to requests and from responses to
//! replies.

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
pub(crate) trait WireFormat: Send + Sync + fmt::Debug {
    /// The JSON of a call, without what the server has rejected before.
    fn build_request(
        &self,
        settings: &JudgeSettings,
        prompt: &JudgePrompt,
        learnt: Learnt,
    ) -> Value;

    /// The alternatives that requests of this format can still fall back to.
    fn steps_left(&self, _settings: &JudgeSettings, _learnt: Learnt) -> StepsLeft {
        StepsLeft::default()
    }

    /// The fields that limit the answer, as JSON pointers, one of which must be present; empty if
    /// nothing is generated.
    fn caps(&self) -> &'static [&'static str];

    /// The reply in the JSON of a successful response, or the failure; as in chat completions
    /// unless a provider has its own format. Checks the stop reason before the text.
    fn parse_reply(
        &self,
        settings: &JudgeSettings,
        value: &Value,
        response: &HttpResponse,
    ) -> Result<JudgeReply, CallError> {
        chat::reply(settings, value, response)
    }

    /// The reply in a response of any status, or the failure.
    fn parse_response(
        &self,
        settings: &JudgeSettings,
        response: &HttpResponse,
    ) -> Result<JudgeReply, CallError> {
        let value = error_response::json(settings, response)?;
        self.parse_reply(settings, &value, response)
    }

    /// The updated state after an error, if the server rejected something that is optional.
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
            // Picks and answers to reranking questions are not opinions on two documents.
            _ => Err(ParseError::Missing("score")),
        }
    }
}
