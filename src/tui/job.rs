//! Jobs: work outside the event loop, with a continuation that receives its answer.
//!
//! A screen asks for work by returning a [`Job`]. The runner does the work on a thread of the store
//! or on a separate thread, and sends the continuation back as a message, which then changes the
//! model. The work and its continuation are boxed together, so the code that queues, supersedes
//! and reports jobs exists once and not for each kind of request.
//!
//! A job may occupy a [`Slot`], which numbers its requests: a later job in the same slot, and
//! leaving the screen that owns the slot, supersede the earlier ones. The answer of a superseded
//! job is dropped in one place, [`Answer::apply`].

mod context;
pub mod message;

pub use context::JobContext;
pub(crate) use context::Workbench;

use super::model::Model;
use super::slot::{Jobs, Slot, Ticket};
use super::widgets::toast::Level;
use crate::app::error::AppError;
use crate::store::{self, Db};
use message::{Effect, Msg};
use std::any::Any;
use std::fmt::{self, Debug, Formatter};

/// What happens to the model when work has ended.
pub(super) type Continuation = Box<dyn FnOnce(&mut Model) -> Vec<Effect> + Send>;

pub(super) type Then<T> = Box<dyn FnOnce(&mut Model, T) -> Vec<Effect> + Send>;

/// A question to the project or a change to it, carried out on a thread of the store.
pub(crate) trait Request: Debug + PartialEq + Send + 'static {
    type Answer: Send + 'static;

    fn answer(self, db: &mut Db, context: &JobContext) -> store::Result<Self::Answer>;
}

/// Work that takes longer than a request, or needs more than the project; it runs on a
/// separate thread.
pub(crate) trait Task: Debug + PartialEq + Send + 'static {
    type Answer: Send + 'static;

    /// Whether earlier writes must be included.
    const AFTER_WRITES: bool = true;
    /// Whether it starts only when the earlier task in its slot has ended. A superseded task ends
    /// at its next read of the project, but not while it reads other files.
    const IN_TURN: bool = true;

    fn run(self, context: &JobContext) -> Result<Self::Answer, AppError>;
}

/// A request or a task without its types.
pub(super) trait Asked: Debug + Send {
    fn request(&self) -> &dyn Any;

    fn equals(&self, other: &dyn Any) -> bool;

    /// Continues with an answer of the request's type.
    #[cfg(test)]
    fn accept(self: Box<Self>, answer: Box<dyn Any>) -> Continuation;
}

pub(super) trait AskedStore: Asked {
    fn answer(self: Box<Self>, db: &mut Db, context: &JobContext) -> store::Result<Continuation>;
}

pub(super) trait AskedTask: Asked {
    fn run(self: Box<Self>, context: &JobContext) -> Result<Continuation, AppError>;
}

struct Pending<R, T> {
    request: R,
    then: Then<T>,
}

impl<R: Debug, T> Debug for Pending<R, T> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        self.request.fmt(formatter)
    }
}

impl<R: Debug + PartialEq + Send + 'static, T: Send + 'static> Asked for Pending<R, T> {
    fn request(&self) -> &dyn Any {
        &self.request
    }

    fn equals(&self, other: &dyn Any) -> bool {
        other.downcast_ref() == Some(&self.request)
    }

    #[cfg(test)]
    fn accept(self: Box<Self>, answer: Box<dyn Any>) -> Continuation {
        let answer = *answer.downcast::<T>().unwrap();
        Box::new(move |model| (self.then)(model, answer))
    }
}

impl<R: Request> AskedStore for Pending<R, R::Answer> {
    fn answer(self: Box<Self>, db: &mut Db, context: &JobContext) -> store::Result<Continuation> {
        let Self { request, then } = *self;
        let answer = request.answer(db, context)?;
        Ok(Box::new(move |model| then(model, answer)))
    }
}

impl<R: Task> AskedTask for Pending<R, R::Answer> {
    fn run(self: Box<Self>, context: &JobContext) -> Result<Continuation, AppError> {
        let Self { request, then } = *self;
        let answer = request.run(context)?;
        Ok(Box::new(move |model| then(model, answer)))
    }
}

/// Where the work of a job runs.
pub(super) enum Work {
    /// On a reader.
    Read(Box<dyn AskedStore>),
    /// On the writer, in the order of the requests. It is completed before exit.
    Write(Box<dyn AskedStore>),
    Task {
        task: Box<dyn AskedTask>,
        after_writes: bool,
        in_turn: bool,
        /// Whether it changes something, and so is completed before exit, even if superseded.
        kept: bool,
    },
}

/// Work for the runner, and what happens next.
pub struct Job {
    pub(super) work: Work,
    pub(super) ticket: Ticket,
    /// What failed, for the message of an error.
    pub(super) what: &'static str,
    pub(super) failed: Then<AppError>,
}

impl Job {
    fn new(work: Work) -> Self {
        Self {
            work,
            ticket: Ticket::default(),
            what: "",
            failed: Box::new(|model, error| {
                model.say(Level::Error, &error.to_string());
                Vec::new()
            }),
        }
    }

    pub(crate) fn read<R: Request>(
        request: R,
        then: impl FnOnce(&mut Model, R::Answer) -> Vec<Effect> + Send + 'static,
    ) -> Self {
        let then = Box::new(then);
        Self::new(Work::Read(Box::new(Pending { request, then })))
    }

    /// A change of a person's work in the project.
    pub(crate) fn write<R: Request>(
        request: R,
        then: impl FnOnce(&mut Model, R::Answer) -> Vec<Effect> + Send + 'static,
    ) -> Self {
        let then = Box::new(then);
        Self::new(Work::Write(Box::new(Pending { request, then })))
    }

    pub(crate) fn task<R: Task>(
        request: R,
        then: impl FnOnce(&mut Model, R::Answer) -> Vec<Effect> + Send + 'static,
    ) -> Self {
        let then = Box::new(then);
        Self::new(Work::Task {
            task: Box::new(Pending { request, then }),
            after_writes: R::AFTER_WRITES,
            in_turn: R::IN_TURN,
            kept: false,
        })
    }

    /// [`Self::task`] with one continuation for an answer and for an error.
    pub(crate) fn try_task<R: Task>(
        request: R,
        then: impl FnOnce(&mut Model, Result<R::Answer, AppError>) -> Vec<Effect>
        + Clone
        + Send
        + 'static,
    ) -> Self {
        let failed = then.clone();
        Self::task(request, move |model, answer| then(model, Ok(answer)))
            .or_else(move |model, error| failed(model, Err(error)))
    }

    /// Completes a task before exit, because it changes something.
    pub(crate) fn kept(mut self) -> Self {
        if let Work::Task { kept, .. } = &mut self.work {
            *kept = true;
        }
        self
    }

    /// Supersedes earlier jobs in the slot.
    pub(crate) fn latest(mut self, jobs: &mut Jobs, slot: Slot) -> Self {
        self.ticket = jobs.begin(slot);
        self
    }

    /// Joins the current request of the slot, and is superseded together with it.
    pub(crate) fn part_of(mut self, jobs: &mut Jobs, slot: Slot) -> Self {
        self.ticket = jobs.join(slot);
        self
    }

    /// Names what failed in the message of an error.
    pub(crate) fn about(mut self, what: &'static str) -> Self {
        self.what = what;
        self.failed = Box::new(move |model, error| {
            model.say(Level::Error, &format!("{what}: {error}"));
            Vec::new()
        });
        self
    }

    /// Handles an error differently from showing it.
    pub(crate) fn or_else(
        mut self,
        failed: impl FnOnce(&mut Model, AppError) -> Vec<Effect> + Send + 'static,
    ) -> Self {
        self.failed = Box::new(failed);
        self
    }

    fn asked(&self) -> &dyn Asked {
        match &self.work {
            Work::Read(asked) | Work::Write(asked) => &**asked,
            Work::Task { task, .. } => &**task,
        }
    }

    /// The request, if it is of this type.
    #[cfg(test)]
    pub(crate) fn request<R: 'static>(&self) -> Option<&R> {
        self.asked().request().downcast_ref()
    }

    /// Does the work on this thread and returns its messages in order.
    #[cfg(any(test, feature = "internals"))]
    pub(crate) fn run_here(self, bench: &Workbench) -> Vec<Msg> {
        let (context, told) = bench.recording(&self.ticket);
        let Self {
            work,
            ticket,
            failed,
            ..
        } = self;
        let store = bench.store();
        let done = match work {
            Work::Read(asked) => store
                .read_blocking(move |db| asked.answer(db, &context))
                .map_err(AppError::from),
            Work::Write(asked) => store
                .write_blocking(move |db| asked.answer(db, &context))
                .map_err(AppError::from),
            Work::Task { task, .. } => task.run(&context),
        };
        let mut messages: Vec<_> = told.try_iter().collect();
        messages.push(Answer::new(ticket, done, failed).into());
        messages
    }
}

impl Debug for Job {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        self.asked().fmt(formatter)
    }
}

impl PartialEq for Job {
    fn eq(&self, other: &Self) -> bool {
        self.asked().equals(other.asked().request())
    }
}

impl From<Job> for Effect {
    fn from(job: Job) -> Self {
        Self::Job(job)
    }
}

/// What happens to the model when a job has made progress or has ended.
pub struct Answer {
    ticket: Ticket,
    ends: bool,
    then: Continuation,
    /// Why a change failed, shown even if the answer is superseded.
    failed_change: Option<String>,
}

impl Answer {
    pub(super) fn new(
        ticket: Ticket,
        done: Result<Continuation, AppError>,
        failed: Then<AppError>,
    ) -> Self {
        let then = done.unwrap_or_else(|error| Box::new(move |model| failed(model, error)));
        Self {
            ticket,
            ends: true,
            then,
            failed_change: None,
        }
    }

    /// Shows this error even if the answer is superseded.
    pub(super) fn of_failed_change(mut self, error: Option<String>) -> Self {
        self.failed_change = error;
        self
    }

    /// A step whose continuation changes the model; with the default ticket, in any case.
    pub(crate) fn progress(ticket: Ticket, then: Continuation) -> Self {
        Self {
            ticket,
            ends: false,
            then,
            failed_change: None,
        }
    }

    /// Continues with the answer, unless it is superseded.
    pub(crate) fn apply(self, model: &mut Model) -> Vec<Effect> {
        if !self.ticket.is_current() {
            if let Some(error) = self.failed_change {
                model.say(Level::Error, &error);
            }
            return Vec::new();
        }
        if self.ends {
            model.jobs.ended(&self.ticket);
        }
        (self.then)(model)
    }
}

impl Debug for Answer {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Answer").field(&self.ticket).finish()
    }
}

impl From<Answer> for Msg {
    fn from(answer: Answer) -> Self {
        Self::Answer(answer)
    }
}

#[cfg(test)]
mod testing;
#[cfg(test)]
pub(crate) use testing::{answer, asked, every, fail, first, is_write, only, tell_that};
