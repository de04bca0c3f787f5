//! `--remote` of commands that ask about queries: works on a job of a server.

use super::annotate::machine;
use crate::app::error::AppError;
use crate::app::run_lock::RunLock;
use crate::app::shared_questions::SharedQuestions;
use crate::app::text_format::counted;
use crate::cli::command::{CommandFailure, CommandResult, usage};
use crate::cli::output::{self, ProgressPace};
use crate::cli::signals;
use crate::client::RunControl;
use crate::domain::number_words::count;
use crate::domain::sanitize;
use crate::features::remote::app::{
    QueriesEnd, QueryFront, SharedQueries, dollars, micros, open_queries_job, take_part_in_queries,
};
use crate::features::remote::client::Address;
use crate::store::Store;
use crate::store::merge::AnswerCount;
use clap::Args;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(next_help_heading = "Sharing")]
pub(crate) struct SharingOptions {
    /// Share the work with other machines through this PostgreSQL server. --budget is for all
    /// machines together
    #[arg(long, value_name = "URL", conflicts_with = "retry_failed")]
    remote: Option<String>,
    /// The name of the shared job [default: the dataset's file name]
    #[arg(long, value_name = "NAME", requires = "remote")]
    job: Option<String>,
    /// How many seconds a machine keeps its work without a sign of life
    #[arg(long, value_name = "SECONDS", requires = "remote", default_value_t = 120, value_parser = clap::value_parser!(u64).range(2..=3_600))]
    lease: u64,
}

/// Questions of a command that other machines ask as well.
pub(crate) struct SharedCommand<'a> {
    pub(crate) store: Store,
    pub(crate) lock: Arc<RunLock>,
    pub(crate) questions: Arc<dyn SharedQuestions>,
    /// With the budget of all machines together.
    pub(crate) control: RunControl,
    /// The file of the dataset, if there is one.
    pub(crate) dataset: Option<&'a Path>,
    pub(crate) json: bool,
}

impl SharingOptions {
    /// Whether the work is shared with other machines.
    pub(crate) fn is_set(&self) -> bool {
        self.remote.is_some()
    }

    /// Works on the job until it is done, the budget is spent, or the user stops it.
    pub(crate) fn share(&self, command: SharedCommand<'_>) -> CommandResult {
        let Some(url) = &self.remote else {
            return Ok(());
        };
        let mut address = Address::parse(url).map_err(AppError::from)?;
        let stem = command.dataset.and_then(Path::file_stem);
        let name = match (&self.job, stem) {
            (Some(name), _) => name.clone(),
            (None, Some(stem)) => stem.to_string_lossy().into_owned(),
            (None, None) => return Err(usage!("name the job with --job")),
        };
        let SharedCommand {
            store,
            lock,
            questions,
            control,
            dataset: _,
            json,
        } = command;
        let (terms, queries) = (questions.terms(&store)?, questions.queries());
        let budget = control.budget_usd.map(micros);
        let mut total = AnswerCount::default();
        let runtime = signals::runtime()?;
        let ended = runtime.block_on(async {
            let mut server = super::log_in(&mut address).await?;
            let mut stops = signals::stops()?;
            server.check().await.map_err(AppError::from)?;
            let job = open_queries_job(&mut server, &name, &terms, budget, queries).await?;
            if let Some(budget) = job.budget {
                questions.check_budget(dollars(budget))?;
            }
            if budget.is_some() && budget != job.budget {
                output::message(
                    "note: the job has its own budget; `overrule remote budget` changes it",
                );
            }
            let shared = SharedQueries {
                address,
                job,
                lease: Duration::from_secs(self.lease),
                store,
                lock,
                questions,
                control,
                name: machine(),
            };
            let mut pace = ProgressPace::new();
            let mut follow = |so_far| {
                total = so_far;
                if pace.is_due() {
                    output::message(&words(so_far));
                }
            };
            let front = QueryFront {
                stops: &mut stops,
                tell: output::message,
                tell_stopping: |control| output::message(&signals::stopping(control)),
                follow: &mut follow,
            };
            let ended = take_part_in_queries(&shared, server, front).await?;
            Ok::<_, CommandFailure>(ended)
        });
        runtime.shutdown_background();
        let ended = ended?;
        if json {
            output::json(&json!({
                "job": name,
                "answers": total.answers,
                "failures": total.failures,
                "done": matches!(ended, QueriesEnd::Done),
            }))?;
        } else {
            output::message(&words(total));
        }
        report(ended, &name)
    }
}

fn words(AnswerCount { answers, failures }: AnswerCount) -> String {
    format!(
        "{} of this machine, {} failed",
        counted(answers, "answer"),
        count(failures)
    )
}

fn report(ended: QueriesEnd, job: &str) -> CommandResult {
    let job = sanitize::line(job);
    match ended {
        QueriesEnd::Done => {
            output::message(&format!(
                "the job {job:?} is done: `overrule remote fetch` brings its answers into a project"
            ));
            Ok(())
        }
        QueriesEnd::BudgetReached => {
            output::message(&format!(
                "the budget of the job {job:?} is spent or reserved by other workers: see \
                 `overrule remote status`"
            ));
            Err(CommandFailure::incomplete())
        }
        QueriesEnd::Stopped => {
            output::message(
                "stopped; the answers are on the server; run the same command again to resume",
            );
            Err(CommandFailure::interrupted())
        }
        QueriesEnd::Incomplete(troubles) => {
            for trouble in &troubles {
                output::message(&output::clean(trouble));
            }
            output::message(
                "stopped: answers are missing; those of this machine are on the server, and other \
                 workers can go on",
            );
            Err(CommandFailure::incomplete())
        }
        QueriesEnd::Unsent(error) => Err(error.into()),
    }
}
