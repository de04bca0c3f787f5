//! Carries out effects, whose results come back as messages.

mod jobs;
pub(crate) mod question_set;
pub(crate) mod runs;
mod watch;

use super::job::{Job, JobContext, Request, Workbench};
use super::message::{Effect, Msg};
use super::model::TuiOptions;
use crate::client::RunControl;
use crate::judge::JudgeEnsemble;
use crate::judge::provider::calls_in_flight;
use crate::registry;
use crate::store::{self, Db, Store};
use std::pin::pin;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

#[derive(Debug)]
pub struct Runner {
    bench: Workbench,
    results: mpsc::Sender<Msg>,
    control: Option<tokio::sync::watch::Sender<RunControl>>,
    /// Controls the questions asked outside a run.
    asking: Option<tokio::sync::watch::Sender<RunControl>>,
    /// The end of the current run, and its error if there is one.
    end: Option<JoinHandle<Option<String>>>,
    /// A person's decisions that are being written; each yields an error if the screen is gone.
    writes: Vec<JoinHandle<Option<String>>>,
    /// Services of features.
    services: Vec<JoinHandle<()>>,
}

/// Waits longer than this are announced.
const NOTICE_AFTER: Duration = Duration::from_millis(500);

/// How long to wait on exit for readers that were told to stop. Those that are computing need
/// longer, and end with the process.
const PATIENCE: Duration = Duration::from_millis(100);

/// How long to wait on an immediate exit for received answers to be written.
const LAST_WRITES: Duration = Duration::from_secs(1);

/// How long to wait on exit for services, which have nothing to lose.
const LAST_SERVICES: Duration = Duration::from_millis(500);

/// Named in the announcement while a person's decisions, an import or an export are being written.
const WRITING: &str = "pending writes";

/// How the work that was in progress has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    Stored,
    /// A write has failed, and the person was told.
    NotStored,
    /// The person did not wait.
    Insisted,
}

impl Runner {
    pub fn new(
        store: Store,
        ensemble: JudgeEnsemble,
        options: TuiOptions,
        results: mpsc::Sender<Msg>,
    ) -> Self {
        Self {
            bench: Workbench::new(store, ensemble, options),
            results,
            control: None,
            asking: None,
            end: None,
            writes: Vec::new(),
            services: Vec::new(),
        }
    }

    /// Starts an effect on the project or a run; effects on the terminal are handled by the event
    /// loop.
    pub fn carry_out(&mut self, effect: Effect, control: RunControl) {
        match effect {
            Effect::Job(job) => self.start_job(job, control),
            Effect::Watch => {
                self.watch();
                self.start_services();
            }
            Effect::Rename(name) => self.bench.rename(name),
            Effect::Start(scope) => self.start(&scope, control),
            Effect::Steer(control) => {
                if let Some(sender) = &self.control {
                    sender.send_replace(control);
                }
            }
            Effect::AskQuestions(set, calls) => self.ask_questions(set, calls, control),
            Effect::StopQuestions => self.stop_questions(),
            Effect::KeepBudget(usd) => {
                self.limit_spending(usd);
                self.start_job(Job::write(KeepBudget(usd), |_, ()| Vec::new()), control);
            }
            Effect::Edit(_)
            | Effect::EditGuideline(_)
            | Effect::Copy(_)
            | Effect::Suspend
            | Effect::Redraw
            | Effect::Quit => {}
        }
    }

    fn start_services(&mut self) {
        let (store, person) = (self.bench.store(), &self.bench.options().annotator);
        let started = registry::SERVICES.iter().map(|service| {
            let (store, person) = (store.clone(), person.clone());
            service.start(store, person, self.results.clone())
        });
        self.services.extend(started);
    }

    /// Applies a budget to the current run and questions.
    fn limit_spending(&self, usd: Option<f64>) {
        for control in [&self.control, &self.asking].into_iter().flatten() {
            control.send_modify(|control| control.budget_usd = usd);
        }
    }

    /// Waits for a person's decisions to reach the disk. This comes first, so that nobody who does
    /// not wait for a run loses them. Then stops the current run and waits for its end: its calls
    /// in flight are paid for, and the run limits the wait itself. `tell` receives messages for the
    /// person.
    pub async fn finish(
        &mut self,
        insists: impl Future<Output = ()>,
        tell: &mut dyn FnMut(&str),
    ) -> Finish {
        // The controllers stay, since a run without one drops its calls, and the caller counts the
        // calls in flight.
        for control in [&self.control, &self.asking].into_iter().flatten() {
            control.send_modify(|control| control.cancelled = true);
        }
        let ended = async {
            let (mut told, mut all) = (false, Finish::Stored);
            for write in self.writes.drain(..) {
                let (tell, told) = (&mut *tell, &mut told);
                if let Ok(Some(wrong)) = noticed(write, WRITING, told, tell).await {
                    tell(&wrong);
                    all = Finish::NotStored;
                }
            }
            if let Some(end) = self.end.take() {
                ended(end, tell).await;
            }
            let written = self.bench.store().write(|_| Ok(()));
            drop(noticed(written, WRITING, &mut told, tell).await);
            let ended = futures::future::join_all(self.services.drain(..));
            drop(tokio::time::timeout(LAST_SERVICES, ended).await);
            all
        };
        tokio::select! {
            finish = ended => finish,
            () = insists => Finish::Insisted,
        }
    }

    /// Closes the project without waiting for readers.
    pub fn close(self) {
        self.bench.store().close(PATIENCE);
    }

    /// Abandons the project, waiting only for received answers to be written.
    pub fn leave(self) {
        self.bench.store().leave(LAST_WRITES);
    }
}

/// Stores the project's spending limit in dollars.
#[derive(Debug, PartialEq)]
struct KeepBudget(Option<f64>);

impl Request for KeepBudget {
    type Answer = ();

    fn answer(self, db: &mut Db, _: &JobContext) -> store::Result<()> {
        db.set_project_budget(self.0)
    }
}

/// Waits, announcing `what` once if it takes long.
async fn noticed<T>(
    work: impl Future<Output = T>,
    what: &str,
    told: &mut bool,
    tell: &mut dyn FnMut(&str),
) -> T {
    let mut work = pin!(work);
    if let Ok(done) = tokio::time::timeout(NOTICE_AFTER, &mut work).await {
        return done;
    }
    if !std::mem::replace(told, true) {
        tell(&waiting(what));
    }
    work.await
}

fn waiting(what: &str) -> String {
    format!("waiting for {what}; press Ctrl-C again to quit at once")
}

/// Waits for the end of a run, announcing it if it takes long.
async fn ended(mut end: JoinHandle<Option<String>>, tell: &mut dyn FnMut(&str)) {
    let mut result = None;
    if !end.is_finished() {
        match calls_in_flight() {
            0 => {
                let soon = tokio::time::timeout(NOTICE_AFTER, &mut end).await;
                match soon {
                    Ok(ended) => result = Some(ended),
                    Err(_) => tell(&waiting("the run to end")),
                }
            }
            1 => tell(&waiting("1 call in flight")),
            calls => tell(&waiting(&format!("{calls} calls in flight"))),
        }
    }
    let result = match result {
        Some(result) => result,
        None => end.await,
    };
    if let Ok(Some(wrong)) = result {
        tell(&format!("the run stopped: {wrong}"));
    }
}

/// Does the work of an effect on this thread, and returns its messages in order;
/// effects on runs and on the terminal are ignored.
#[cfg(feature = "internals")]
pub fn answer(store: &Store, effect: Effect, options: &TuiOptions) -> Vec<Msg> {
    match effect {
        Effect::Job(job) => {
            job.run_here(&Workbench::new(store.clone(), Vec::new(), options.clone()))
        }
        _ => Vec::new(),
    }
}
