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
        let answer = Answer::new(self.ticket, done, self.failed);
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
                kept,
            } => {
                (is_kept, context.is_kept) = (kept, kept);
                let written = after_writes.then(|| store.write(|_| Ok(())));
                let work = move || {
                    wanted.in_turn(|| {
                        let wanted = kept || wanted.is_current();
                        wanted.then(|| task.run(&context)).transpose()
                    })
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
