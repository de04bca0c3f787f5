//! Carries out jobs in the background.

use super::Runner;
use crate::app::error::AppError;
use crate::client::RunControl;
use crate::tui::job::{Answer, Continuation, Job, Then, Work};
use crate::tui::message::Msg;
use crate::tui::slot::Ticket;
use futures::FutureExt as _;
use std::time::Duration;
use tokio::sync::mpsc;

/// Writes that take longer than this are announced: the disk is slow, or another program holds a
/// lock.
const LONG_WRITE: Duration = Duration::from_secs(1);

/// The end of some work; `None` if it was superseded and did not start.
type Done = Result<Option<Continuation>, AppError>;

/// Where the end of a job is reported.
struct Report {
    ticket: Ticket,
    what: &'static str,
    failed: Then<AppError>,
    /// Whether the work changes something.
    is_kept: bool,
    results: mpsc::Sender<Msg>,
}

impl Report {
    /// Sends the answer; returns an error that no screen has shown.
    async fn send(self, done: Done) -> Option<String> {
        let done = done.transpose()?;
        let wrong = done.as_ref().err().map(|error| match self.what {
            "" => error.to_string(),
            what => format!("{what}: {error}"),
        });
        let failed_change = wrong.clone().filter(|_| self.is_kept);
        let answer = Answer::new(self.ticket, done, self.failed).of_failed_change(failed_change);
        let told = self.results.send(answer.into()).await.is_ok();
        wrong.filter(|_| !told)
    }
}

impl Runner {
    /// Starts a job. Requests to the store are queued immediately, so that a verdict and its undo
    /// keep their order.
    pub(crate) fn start_job(&mut self, job: Job, control: RunControl) {
        let store = self.bench.store().clone();
        let results = self.results.clone();
        let tell = move |msg| drop(results.blocking_send(msg));
        let mut context = self.bench.context(control, &job.ticket, tell);
        let wanted = job.ticket.clone();
        let is_write = matches!(job.work, Work::Write(_));
        let mut is_kept = is_write;
        let mut done = match job.work {
            Work::Read(asked) => {
                let read = store.read(move |db| {
                    let wanted = wanted.is_current();
                    wanted.then(|| asked.answer(db, &context)).transpose()
                });
                async { Ok(read.await?) }.boxed()
            }
            Work::Write(asked) => {
                let written = store.write(move |db| asked.answer(db, &context));
                async { Ok(Some(written.await?)) }.boxed()
            }
            Work::Task {
                task,
                after_writes,
                in_turn,
                kept,
            } => {
                (is_kept, context.is_kept) = (kept, kept);
                let written = after_writes.then(|| store.write(|_| Ok(())));
                let work = move || {
                    let _turn = in_turn.then(|| wanted.turn());
                    let wanted = kept || wanted.is_current();
                    wanted.then(|| task.run(&context)).transpose()
                };
                async {
                    if let Some(written) = written {
                        drop(written.await);
                    }
                    let done = tokio::task::spawn_blocking(work).await;
                    done.map_err(AppError::failed)?
                }
                .boxed()
            }
        };
        let report = Report {
            ticket: job.ticket,
            what: job.what,
            failed: job.failed,
            is_kept,
            results: self.results.clone(),
        };
        let told = tokio::spawn(async move {
            let soon = if is_write {
                tokio::time::timeout(LONG_WRITE, &mut done).await.ok()
            } else {
                Some((&mut done).await)
            };
            let done = match soon {
                Some(done) => done,
                None => {
                    drop(report.results.send(Msg::StillWriting).await);
                    done.await
                }
            };
            report.send(done).await
        });
        if is_kept {
            self.writes.retain(|write| !write.is_finished());
            self.writes.push(told);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{self, Db, Store};
    use crate::tui::effects::Finish;
    use crate::tui::job::{JobContext, Request, Task};
    use crate::tui::message::Effect;
    use crate::tui::model::{Model, TuiOptions};
    use crate::tui::screens::{Screen, testing};
    use crate::tui::slot::Slot;
    use std::sync::mpsc as threads;

    const SLOT: Slot = Slot::shared("test");

    /// Longer than any answer takes here.
    const PATIENCE: Duration = Duration::from_secs(60);

    struct Bench {
        runner: Runner,
        model: Model,
        told: mpsc::Receiver<Msg>,
        _folder: tempfile::TempDir,
    }

    impl Bench {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let store = Store::open(&folder.path().join("project.db")).unwrap();
            let (results, told) = mpsc::channel(8);
            Self {
                runner: Runner::new(store, Vec::new(), TuiOptions::default(), results),
                model: testing::model(Screen::QUERIES),
                told,
                _folder: folder,
            }
        }

        fn start(&mut self, job: Job) {
            self.runner.start_job(job, RunControl::default());
        }

        /// Delivers the next answer.
        async fn answered(&mut self) {
            let msg = tokio::time::timeout(PATIENCE, self.told.recv()).await;
            let Some(Msg::Answer(answer)) = msg.unwrap() else {
                panic!("no answer");
            };
            answer.apply(&mut self.model);
        }

        fn said(&self) -> &str {
            self.model
                .toast
                .as_ref()
                .map_or("", |toast| toast.text.as_str())
        }
    }

    fn say(model: &mut Model, words: &str) -> Vec<Effect> {
        model.inform(words);
        Vec::new()
    }

    /// Reports progress, then waits until it is told to end.
    #[derive(Debug)]
    struct Wait<const IN_TURN: bool>(Option<threads::Receiver<()>>);

    impl<const IN_TURN: bool> PartialEq for Wait<IN_TURN> {
        fn eq(&self, _: &Self) -> bool {
            false
        }
    }

    impl<const IN_TURN: bool> Task for Wait<IN_TURN> {
        type Answer = ();
        const IN_TURN: bool = IN_TURN;

        fn run(self, context: &JobContext) -> Result<(), AppError> {
            context.tell(|model| say(model, "progress"));
            if let Some(end) = self.0 {
                let _ = end.recv();
            }
            Ok(())
        }
    }

    impl Bench {
        /// Starts a task that supersedes the earlier one.
        fn wait<const IN_TURN: bool>(
            &mut self,
            end: Option<threads::Receiver<()>>,
            words: &'static str,
        ) {
            let job = Job::task(Wait::<IN_TURN>(end), move |model, ()| say(model, words));
            let job = job.latest(&mut self.model.jobs, SLOT);
            self.start(job);
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_task_that_does_not_stop_when_superseded_holds_up_no_other() {
        let mut bench = Bench::new();
        let (end, ended) = threads::channel();
        bench.wait::<false>(Some(ended), "late");
        bench.answered().await;
        bench.wait::<false>(None, "current");
        while bench.said() != "current" {
            bench.answered().await;
        }
        assert!(!bench.model.jobs.is_pending(SLOT));
        drop(end);
        bench.answered().await;
        assert_eq!(bench.said(), "current");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn tasks_of_a_slot_run_one_at_a_time_and_superseded_progress_is_dropped() {
        let mut bench = Bench::new();
        let (end, ended) = threads::channel();
        bench.wait::<true>(Some(ended), "late");
        let late = tokio::time::timeout(PATIENCE, bench.told.recv()).await;
        bench.wait::<true>(None, "current");
        if let Ok(Some(Msg::Answer(progress))) = late {
            progress.apply(&mut bench.model);
        }
        assert_eq!(bench.said(), "");
        drop(end);
        // The end of the superseded task may arrive before or after the progress of the other one.
        let mut said = Vec::new();
        while bench.said() != "current" {
            bench.answered().await;
            said.push(bench.said().to_owned());
        }
        said.retain(|words| !words.is_empty());
        said.dedup();
        assert_eq!(said, ["progress", "current"]);
    }

    #[derive(Debug, PartialEq)]
    struct Panic;

    impl Task for Panic {
        type Answer = ();

        fn run(self, _: &JobContext) -> Result<(), AppError> {
            panic!("on purpose");
        }
    }

    impl Request for Panic {
        type Answer = ();

        fn answer(self, _: &mut Db, _: &JobContext) -> store::Result<()> {
            panic!("on purpose");
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_panic_is_an_answer() {
        let mut bench = Bench::new();
        let then = |model: &mut Model, ()| say(model, "done");
        let jobs = [
            Job::task(Panic, then),
            Job::read(Panic, then),
            Job::write(Panic, then),
        ];
        for job in jobs {
            let job = job.about("it did not work");
            let job = job.latest(&mut bench.model.jobs, SLOT);
            bench.start(job);
            assert!(bench.model.jobs.is_pending(SLOT));
            bench.answered().await;
            assert!(bench.said().starts_with("it did not work: "));
            assert!(!bench.model.jobs.is_pending(SLOT));
            bench.model.toast = None;
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_error_of_a_superseded_change_is_shown() {
        let mut bench = Bench::new();
        let then = |model: &mut Model, ()| say(model, "done");
        let changes = [Job::task(Panic, then).kept(), Job::write(Panic, then)];
        for job in changes {
            let job = job.about("it is not saved");
            let job = job.latest(&mut bench.model.jobs, SLOT);
            bench.start(job);
            bench.model.jobs.cancel(SLOT);
            bench.answered().await;
            assert!(bench.said().starts_with("it is not saved: "));
            bench.model.toast = None;
        }
        let job = Job::read(Panic, then).latest(&mut bench.model.jobs, SLOT);
        bench.start(job);
        bench.model.jobs.cancel(SLOT);
        bench.wait::<true>(None, "current");
        while bench.said() != "current" {
            bench.answered().await;
            assert!(!bench.said().contains("on purpose"));
        }
    }

    /// Appends a letter to a stored word.
    #[derive(Debug, PartialEq)]
    struct Append(char);

    impl Request for Append {
        type Answer = ();

        fn answer(self, db: &mut Db, _: &JobContext) -> store::Result<()> {
            let mut word = db.remembered("word")?.unwrap_or_default();
            word.push(self.0);
            db.remember("word", &word)
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn superseded_writes_are_done_in_order_before_exit() {
        let mut bench = Bench::new();
        for letter in "overrule".chars() {
            let job = Job::write(Append(letter), |_, ()| Vec::new());
            let job = job.latest(&mut bench.model.jobs, SLOT);
            bench.start(job);
        }
        bench.model.jobs.cancel(SLOT);
        drop(bench.told);
        let waits = std::future::pending();
        assert_eq!(
            bench.runner.finish(waits, &mut |_| {}).await,
            Finish::Stored
        );
        let word = bench.runner.bench.store().read(|db| db.remembered("word"));
        assert_eq!(word.await.unwrap().as_deref(), Some("overrule"));
    }
}
