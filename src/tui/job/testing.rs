//! Answers jobs in tests.

use super::{Answer, Asked, Job, Work};
use crate::app::error::AppError;
use crate::tui::message::{Effect, Msg};
use crate::tui::model::Model;
use crate::tui::slot::Ticket;
use std::any::Any;

impl Job {
    /// The slot, and the number of the request in it.
    pub(crate) fn ticket(&self) -> String {
        format!("{:?}", self.ticket)
    }

    pub(crate) fn is_write(&self) -> bool {
        matches!(self.work, Work::Write(_))
    }

    /// The message that the work has this answer.
    pub(crate) fn answered(self, answer: impl Any) -> Msg {
        let asked: Box<dyn Asked> = match self.work {
            Work::Read(asked) | Work::Write(asked) => asked,
            Work::Task { task, .. } => task,
        };
        Answer::new(self.ticket, Ok(asked.accept(Box::new(answer))), self.failed).into()
    }

    /// The message that the work has failed.
    pub(crate) fn failed(self, error: &str) -> Msg {
        let error = AppError::Failed(error.to_owned());
        Answer::new(self.ticket, Err(error), self.failed).into()
    }
}

fn request<R: 'static>(effect: &Effect) -> Option<&R> {
    match effect {
        Effect::Job(job) => job.request(),
        _ => None,
    }
}

/// The first request of this type.
pub(crate) fn asked<R: 'static>(effects: &[Effect]) -> Option<&R> {
    effects.iter().find_map(request)
}

/// All requests of this type.
pub(crate) fn every<R: 'static>(effects: &[Effect]) -> Vec<&R> {
    effects.iter().filter_map(request).collect()
}

/// The first effect, if it is a request of this type.
pub(crate) fn first<R: 'static>(effects: &[Effect]) -> Option<&R> {
    request(effects.first()?)
}

/// Whether an effect changes a person's work in the project.
pub(crate) fn is_write(effect: &Effect) -> bool {
    matches!(effect, Effect::Job(job) if job.is_write())
}

/// The only effect, if it is a request of this type.
pub(crate) fn only<R: 'static>(effects: &[Effect]) -> Option<&R> {
    match effects {
        [effect] => request(effect),
        _ => None,
    }
}

fn take<R: 'static>(effects: &mut Vec<Effect>) -> Job {
    let is = |effect: &Effect| matches!(effect, Effect::Job(job) if job.request::<R>().is_some());
    let at = effects.iter().position(is);
    match at.map(|at| effects.remove(at)) {
        Some(Effect::Job(job)) => job,
        _ => panic!("no such job: {effects:?}"),
    }
}

/// Takes the first request of this type out of the effects, and answers it.
pub(crate) fn answer<R: 'static>(effects: &mut Vec<Effect>, answer: impl Any) -> Msg {
    take::<R>(effects).answered(answer)
}

/// Takes the first request of this type out of the effects, and lets it fail.
pub(crate) fn fail<R: 'static>(effects: &mut Vec<Effect>, error: &str) -> Msg {
    take::<R>(effects).failed(error)
}

/// A message with an answer that was not requested.
pub(crate) fn tell_that(then: impl FnOnce(&mut Model) -> Vec<Effect> + Send + 'static) -> Msg {
    Answer::progress(Ticket::default(), Box::new(then)).into()
}
