//! `overrule annotate --remote`: works on a job of a server.

use crate::app::annotate::RunOutcome;
use crate::app::choose_judges::check_budget;
use crate::app::error::AppError;
use crate::app::text_format::counted;
use crate::cli::annotate::SharedWork;
use crate::cli::annotate::watch::follow_to_end;
use crate::cli::command::{CommandFailure, CommandResult, usage};
use crate::cli::{output, signals};
use crate::domain::sanitize;
use crate::features::remote::app::{
    Participation, SharedQuery, SharedRun, dollars, micros, open_job, queries, take_part, terms,
};
use crate::features::remote::client::Address;
use crate::judge::OFFLINE_LABEL;
use crate::store::corpus::QueryKey;
use clap::Args;
use std::time::Duration;

#[derive(Debug, Args)]
#[command(next_help_heading = "Sharing")]
pub(crate) struct RemoteOptions {
    /// Share the work with other machines through this PostgreSQL server. --budget is for all
    /// machines together
    #[arg(long, value_name = "URL", conflicts_with_all = ["shard", "query", "pair", "sample", "batch", "out", "ai_scores", "retry_failed", "keep_unscored", "max_calls", "lists"])]
    remote: Option<String>,
    /// The name of the shared job [default: the dataset's file name]
    #[arg(long, value_name = "NAME", requires = "remote")]
    job: Option<String>,
    /// How many seconds a machine keeps its work without a sign of life
    #[arg(long, value_name = "SECONDS", requires = "remote", default_value_t = 120, value_parser = clap::value_parser!(u64).range(2..=3_600))]
    lease: u64,
}

impl RemoteOptions {
    pub(crate) fn is_set(&self) -> bool {
        self.remote.is_some()
    }

    /// Works on the job until it is done, the budget is spent, or the user stops it.
    pub(crate) fn share(&self, run: SharedWork<'_>) -> CommandResult {
        let Some(url) = &self.remote else {
            return Ok(());
        };
        let mut address = Address::parse(url).map_err(AppError::from)?;
        let job_name = match &self.job {
            Some(name) => name.clone(),
            None => run
                .path
                .file_stem()
                .map(|stem| stem.to_string_lossy().into_owned())
                .ok_or_else(|| usage!("name the job with --job"))?,
        };
        let (queries, dataset) = queries(run.dataset, run.request.depth)?;
        let terms = terms(&run.store, &dataset, &run.ensemble, &run.request)?;
        let names: Vec<String> = queries.iter().map(|query| query.name.clone()).collect();
        let keys: Vec<Option<QueryKey>> = run.store.read_blocking(move |db| {
            let keys = names.iter().map(|name| db.known_query(name));
            keys.collect()
        })?;
        let budget = run.control.budget_usd.map(micros);
        if run.ensemble.iter().any(|judge| judge.spec().is_offline()) {
            output::message(OFFLINE_LABEL);
        }
        let (request, json) = (run.request.clone(), run.json);
        let runtime = signals::runtime()?;
        let result = runtime.block_on(async {
            let mut server = super::log_in(&mut address).await?;
            let mut stops = signals::stops()?;
            server.check().await.map_err(AppError::from)?;
            let job = open_job(&mut server, &job_name, &terms, budget, &queries, &request).await?;
            if let Some(budget) = job.budget {
                check_budget(dollars(budget), &run.ensemble)?;
            }
            if budget.is_some() && budget != job.budget {
                output::message(
                    "note: the job has its own budget; `overrule remote budget` changes it",
                );
            }
            let shared = SharedRun {
                address,
                job,
                lease: Duration::from_secs(self.lease),
                store: run.store,
                lock: run.lock,
                ensemble: run.ensemble,
                request,
                control: run.control,
                queries: with_keys(queries, keys),
                worst_usd: run.worst_usd,
                name: machine(),
            };
            let follow = async |run| follow_to_end(run, json, &mut stops).await;
            take_part::<CommandFailure>(&shared, server, output::message, follow).await
        });
        runtime.shutdown_background();
        report(result?, &job_name)
    }
}

fn with_keys(
    queries: Vec<SharedQuery>,
    keys: Vec<Option<QueryKey>>,
) -> Vec<(SharedQuery, QueryKey)> {
    let queries = queries.into_iter().zip(keys);
    let known = queries.filter_map(|(query, key)| Some((query, key?)));
    known.collect()
}

/// The name of this machine and the number of this process.
pub(super) fn machine() -> String {
    #[cfg(unix)]
    let name = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    #[cfg(not(unix))]
    let name = std::env::var("COMPUTERNAME").unwrap_or_else(|_| "machine".to_owned());
    format!("{name}/{}", std::process::id())
}

fn report(end: Participation, job: &str) -> CommandResult {
    let job = sanitize::line(job);
    match end {
        Participation::Done => {
            output::message(&format!(
                "the job {job:?} is done: `overrule remote fetch` brings its answers into a project"
            ));
            Ok(())
        }
        Participation::BudgetReached => {
            output::message(&format!(
                "the budget of the job {job:?} is spent or reserved by other workers: see \
                 `overrule remote status`"
            ));
            Err(CommandFailure::incomplete())
        }
        Participation::Unsent(error) => Err(error.into()),
        Participation::Ended(outcome) => ended(&outcome),
    }
}

fn ended(outcome: &RunOutcome) -> CommandResult {
    let votes = counted(outcome.progress.votes(), "vote");
    if outcome.cancelled {
        output::message(&format!(
            "stopped; {votes} of this run are on the server; run the same command again to resume"
        ));
        return Err(CommandFailure::interrupted());
    }
    let why = match &outcome.model_changed {
        Some(change) => change.clone(),
        None => "a judge makes no more calls, or has skipped queries".to_owned(),
    };
    output::message(&format!(
        "stopped: {why}; {votes} of this run are on the server, and other workers can go on"
    ));
    Err(CommandFailure::incomplete())
}
