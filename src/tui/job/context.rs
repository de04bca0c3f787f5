//! The resources that a job may use.

use super::Answer;
use crate::app::embedded_reasoning::EmbeddedReasoning;
use crate::client::{RunControl, now_ms};
use crate::judge::JudgeEnsemble;
use crate::store::Store;
use crate::tui::message::{Effect, Msg};
use crate::tui::model::{Model, TuiOptions};
use crate::tui::slot::Ticket;
use std::fmt::{self, Debug, Formatter};
#[cfg(any(test, feature = "internals"))]
use std::sync::mpsc;
use std::sync::{Arc, Mutex};

/// What all jobs use.
#[derive(Clone, Debug)]
pub(crate) struct Workbench {
    store: Store,
    ensemble: Arc<JudgeEnsemble>,
    options: Arc<TuiOptions>,
    /// Regenerates embedded judges' reasoning; it keeps the latest pool for the next battle.
    reasoning: Arc<Mutex<EmbeddedReasoning>>,
}

impl Workbench {
    pub(crate) fn new(store: Store, ensemble: JudgeEnsemble, options: TuiOptions) -> Self {
        Self {
            store,
            ensemble: Arc::new(ensemble),
            options: Arc::new(options),
            reasoning: Arc::default(),
        }
    }

    /// Changes the annotator for later jobs.
    pub(crate) fn rename(&mut self, name: String) {
        Arc::make_mut(&mut self.options).annotator = name;
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    pub(crate) fn options(&self) -> &TuiOptions {
        &self.options
    }

    pub(crate) fn ensemble(&self) -> &JudgeEnsemble {
        &self.ensemble
    }

    /// The context of a job that is requested now.
    pub(in crate::tui) fn context(
        &self,
        control: RunControl,
        ticket: &Ticket,
        tell: impl Fn(Msg) + Send + Sync + 'static,
    ) -> JobContext {
        JobContext {
            bench: self.clone(),
            control,
            asked_ms: now_ms(),
            ticket: ticket.clone(),
            is_kept: false,
            tell: Box::new(tell),
        }
    }

    /// The context of a job whose messages are collected; it happens at the start of the epoch.
    #[cfg(any(test, feature = "internals"))]
    pub(super) fn recording(&self, ticket: &Ticket) -> (JobContext, mpsc::Receiver<Msg>) {
        let (sender, told) = mpsc::channel();
        let tell = move |msg| drop(sender.send(msg));
        let context = JobContext {
            asked_ms: 0,
            ..self.context(RunControl::default(), ticket, tell)
        };
        (context, told)
    }
}

/// The resources of one job.
pub struct JobContext {
    bench: Workbench,
    /// The controls of a run at the time of the request.
    pub(crate) control: RunControl,
    /// When the job was requested, in milliseconds since the Unix epoch.
    pub(crate) asked_ms: i64,
    ticket: Ticket,
    /// Whether the job is completed even if it is superseded.
    pub(in crate::tui) is_kept: bool,
    tell: Box<dyn Fn(Msg) + Send + Sync>,
}

impl JobContext {
    /// The project. Reads through it stop once the job is superseded.
    pub(crate) fn store(&self) -> Store {
        if self.is_kept {
            self.bench.store.clone()
        } else {
            self.bench.store.while_wanted(self.is_wanted())
        }
    }

    pub(crate) fn ensemble(&self) -> &JudgeEnsemble {
        &self.bench.ensemble
    }

    pub(crate) fn options(&self) -> &TuiOptions {
        &self.bench.options
    }

    pub(crate) fn annotator(&self) -> &str {
        &self.bench.options.annotator
    }

    pub(crate) fn reasoning(&self) -> &Mutex<EmbeddedReasoning> {
        &self.bench.reasoning
    }

    /// Whether no later job has superseded this one.
    pub(crate) fn is_wanted(&self) -> impl Fn() -> bool + Clone + Send + Sync + 'static {
        let ticket = self.ticket.clone();
        move || ticket.is_current()
    }

    /// Reports progress, unless this job is superseded when the report arrives.
    pub(crate) fn tell(&self, then: impl FnOnce(&mut Model) -> Vec<Effect> + Send + 'static) {
        let progress = Answer::progress(self.ticket.clone(), Box::new(then));
        (self.tell)(progress.into());
    }
}

impl Debug for JobContext {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        self.ticket.fmt(formatter)
    }
}
