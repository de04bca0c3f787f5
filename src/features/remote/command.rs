//! `overrule remote`: prepares a server, and shows and fetches what its workers have done.

pub(crate) mod annotate;
pub(crate) mod questions;
mod status;
pub(crate) mod sync;

use super::app::fetch::fetch;
use super::app::{dollars, micros};
use super::client::{Address, Job, Server, ServerError};
use crate::app::error::AppError;
use crate::app::merge::{added_counts, notes, taken_over};
use crate::app::run_lock::RunLock;
use crate::app::text_format::counted;
use crate::cli::command::{CommandContext, CommandFailure, CommandResult, usage};
use crate::cli::output::ProgressPace;
use crate::cli::spending::dollars as amount;
use crate::cli::{output, signals};
use crate::domain::number_words;
use crate::domain::sanitize;
use clap::{Args, Subcommand};
use serde_json::json;
use std::io::IsTerminal as _;
use uuid::Uuid;

#[derive(Debug, Args)]
#[command(after_help = "\
Machines share a run of `annotate`, `pick` or `rerank` through a PostgreSQL server (version 14 or
later). Each leases units (up to 25 pairs, or a query) for some minutes, keeps its answers in a project
file, and stores them on the server within a second. URL is an address such as postgres://ada@db.example.org/search;
the password comes from PGPASSWORD or from the password file of PostgreSQL. Connections to other
machines are encrypted, and their certificates are checked.

Examples:
  overrule remote init postgres://ada@db.example.org/search
  overrule remote init --roles --dry-run postgres://ada@db.example.org/search
  overrule --project w1.db annotate in.jsonl --remote postgres://ada@db.example.org/search
  overrule remote status postgres://ada@db.example.org/search
  overrule --project all.db import in.jsonl
  overrule --project all.db remote fetch in --from postgres://ada@db.example.org/search")]
pub(crate) struct RemoteCommand {
    #[command(subcommand)]
    command: Remote,
}

#[derive(Debug, Subcommand)]
enum Remote {
    /// Create the tables of Overrule in a database, or bring them up to date
    Init {
        /// The server and database
        url: String,
        /// Also create roles for annotators, curators and workers, each with the rights it needs
        #[arg(long)]
        roles: bool,
        /// Print the SQL statements and change nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Share this project with other people through a database
    Add(sync::AddCommand),
    /// Show the jobs of a server: units, workers, pace and spending
    #[command(after_help = "\
Examples:
  overrule remote status postgres://ada@db.example.org/search
  overrule remote status postgres://ada@db.example.org/search --json")]
    Status {
        /// The server and database
        url: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Bring the answers of all workers into this project
    Fetch(FetchCommand),
    /// Change the budget of a job
    Budget {
        /// The name of the job
        job: String,
        /// Dollars for all workers together, or none
        #[arg(value_parser = budget)]
        budget: Budget,
        /// The server and database
        #[arg(long, value_name = "URL")]
        at: String,
    },
    /// Give back the reserved money and the units of a dead worker. Calls of its last second are
    /// not among its spending
    Release {
        /// The ID of the worker, as shown by `overrule remote status`
        worker: Uuid,
        /// The server and database
        #[arg(long, value_name = "URL")]
        at: String,
        /// Also if the worker was seen within the last ten minutes
        #[arg(long)]
        force: bool,
    },
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  overrule --project all.db remote fetch in --from postgres://ada@db.example.org/search
  overrule --project all.db remote fetch in --from postgres://ada@db.example.org/search --json")]
struct FetchCommand {
    /// The name of the job
    job: String,
    /// The server and database
    #[arg(long, value_name = "URL")]
    from: String,
    /// Read everything again, for instance after the server was restored from a dump
    #[arg(long)]
    again: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// A budget in dollars; `None` for no limit.
#[derive(Clone, Copy, Debug)]
struct Budget(Option<f64>);

fn budget(text: &str) -> Result<Budget, String> {
    if text == "none" {
        return Ok(Budget(None));
    }
    let usd = amount(text).map_err(|error| error.to_string())?;
    Ok(Budget(Some(usd)))
}

/// Since when a worker must be silent to be released, in seconds.
const SILENT_S: f64 = 600.0;

impl RemoteCommand {
    pub(crate) fn run(self, context: &CommandContext) -> CommandResult {
        let runtime = signals::runtime()?;
        let result = runtime.block_on(async {
            match self.command {
                Remote::Init {
                    url,
                    roles,
                    dry_run,
                } => init(&url, roles, dry_run).await,
                Remote::Add(command) => command.run(context).await,
                Remote::Status { url, json } => {
                    status::print(&connect(&url).await?.status().await?, json)
                }
                Remote::Fetch(command) => command.run(context).await,
                Remote::Budget { job, budget, at } => set_budget(&at, &job, budget).await,
                Remote::Release { worker, at, force } => release(&at, worker, force).await,
            }
        });
        runtime.shutdown_background();
        result
    }
}

fn address(url: &str) -> Result<Address, AppError> {
    Ok(Address::parse(url)?)
}

/// Connects to a database that is prepared for this version.
async fn connect(url: &str) -> Result<Server, CommandFailure> {
    let server = log_in(&mut address(url)?).await?;
    server.check().await?;
    Ok(server)
}

/// Connects. In a terminal, asks for a password that is needed and not known; the address keeps it.
async fn log_in(address: &mut Address) -> Result<Server, CommandFailure> {
    let connected = Server::connect(address).await;
    let is_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let Err(ServerError::NoPassword { server, user }) = &connected else {
        return Ok(connected?);
    };
    if !is_terminal {
        return Ok(connected?);
    }
    let user = sanitize::line(user);
    let prompt = format!("{server}: password of {user}: ");
    let typed = tokio::task::block_in_place(|| rpassword::prompt_password(prompt));
    let typed = typed.map_err(|error| AppError::Failed(format!("the password: {error}")))?;
    address.set_password(typed.into());
    Ok(Server::connect(address).await?)
}

async fn job_of(server: &Server, name: &str) -> Result<Job, CommandFailure> {
    server.job(name).await?.ok_or_else(|| {
        usage!(
            "{}: has no job {:?}; `overrule remote status` lists them",
            server.name(),
            sanitize::line(name)
        )
    })
}

async fn init(url: &str, roles: bool, dry_run: bool) -> CommandResult {
    let mut address = address(url)?;
    if dry_run {
        let roles = roles.then(Server::role_statements).unwrap_or_default();
        return output::text(&format!("{}{roles}", Server::statements()));
    }
    let mut server = log_in(&mut address).await?;
    let is_new = server.prepare().await?;
    let grants = roles || (is_new && server.has_roles().await?);
    if grants {
        server.grant_roles().await?;
    }
    let words = match (is_new, grants) {
        (true, true) => "prepared, and granted the rights of the roles",
        (true, false) => "prepared",
        (false, true) => "granted the rights of the roles",
        (false, false) => "is prepared already; nothing was changed",
    };
    output::text(&format!("{}: {words}\n", server.name()))
}

async fn set_budget(url: &str, name: &str, Budget(usd): Budget) -> CommandResult {
    let server = connect(url).await?;
    let job = job_of(&server, name).await?;
    if !server.set_budget(&job, usd.map(micros)).await? {
        return Err(usage!(
            "the job has no budget, or workers have reserved more than this: stop them, or choose \
             a larger budget"
        ));
    }
    let words = usd.map_or("no limit".to_owned(), number_words::usd);
    output::text(&format!("{}: budget {words}\n", sanitize::line(name)))
}

async fn release(url: &str, worker: Uuid, force: bool) -> CommandResult {
    let mut server = connect(url).await?;
    let jobs = server.status().await?;
    let found = jobs.iter().find_map(|job| {
        let of_job = job.workers.iter().find(|one| one.id == worker)?;
        Some((job.name.clone(), of_job.clone()))
    });
    let Some((name, known)) = found else {
        return Err(usage!(
            "{}: has no worker {worker}; `overrule remote status` lists them",
            server.name()
        ));
    };
    if known.silent_s < SILENT_S && !known.has_ended && !force {
        return Err(usage!(
            "worker {worker} was seen {:.0} s ago; stop it first, or add --force if it is dead",
            known.silent_s
        ));
    }
    let job = job_of(&server, &name).await?;
    let (unspent, units) = server.release(job.id, worker).await?;
    output::text(&format!(
        "{}: given back {} and {}\n",
        sanitize::line(&name),
        number_words::usd(dollars(unspent)),
        counted(units as usize, "unit")
    ))
}

impl FetchCommand {
    async fn run(&self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        // Otherwise a run could pay for votes that are being fetched.
        let _lock = RunLock::take(context.project())?;
        let server = connect(&self.from).await?;
        let job = job_of(&server, &self.job).await?;
        let mut pace = ProgressPace::new();
        let fetched = fetch(&server, &store, &job, self.again, |pieces| {
            if pace.is_due() {
                output::message(&format!("fetched {}", counted(pieces, "piece")));
            }
        })
        .await?;
        let merged = &fetched.merged;
        let refused: Vec<_> = merged
            .refused
            .iter()
            .map(|(query, reason)| json!({ "query": query, "reason": reason }))
            .collect();
        if self.json {
            let mut report = json!({
                "job": self.job,
                "votes": merged.votes,
                "vote_clashes": merged.vote_clashes,
                "failures": merged.failures,
                "picks": merged.picks,
                "spent_usd": merged.spent_usd,
                "assumed_usd": merged.assumed_usd,
                "refused": refused,
                "held_back": fetched.held_back,
                "unfinished_units": fetched.unfinished,
            });
            for of in added_counts() {
                report[of.name] = json!(merged.counted(of));
            }
            output::json(&report)?;
        } else {
            let new = taken_over(merged);
            let new = new.map_or("nothing new".to_owned(), |new| format!("added: {new}"));
            output::text(&format!("{}: {new}\n", sanitize::line(&self.job)))?;
        }
        if fetched.unfinished > 0 {
            let units = counted(fetched.unfinished as usize, "unit");
            output::message(&format!("note: {units} of the job: not done yet"));
        }
        if fetched.held_back > 0 {
            let pieces = counted(fetched.held_back as usize, "piece");
            output::message(&format!(
                "note: {pieces}: cannot be read yet, since an earlier transaction of the server is \
                 in progress; fetch again later"
            ));
        }
        for problem in &fetched.problems {
            output::message(problem);
        }
        for note in notes(merged) {
            output::message(&format!("note: {note}"));
        }
        for (query, reason) in &merged.refused {
            let query = sanitize::line(query);
            output::message(&format!("skipped query {query:?}: {reason}"));
        }
        if merged.refused.is_empty() && fetched.problems.is_empty() && fetched.held_back == 0 {
            Ok(())
        } else {
            Err(CommandFailure::incomplete())
        }
    }
}
