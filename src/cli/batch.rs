//! `overrule batch`: shows and fetches calls that were submitted to the providers' batch endpoints.

use crate::app::annotate::batch::{self, BatchTrouble, CollectedBatch, PolledBatch, by_number};
use crate::app::run_lock::RunLock;
use crate::app::text_format::counted;
use crate::cli::command::{CommandContext, CommandFailure, CommandResult};
use crate::cli::output;
use crate::cli::output::clean;
use crate::cli::signals::runtime;
use crate::client::now_ms;
use crate::domain::answering_models::changed_model;
use crate::domain::number_words;
use crate::judge::JudgeEnsemble;
use crate::store::Store;
use crate::store::batches::{BatchRow, BatchStage};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::runtime::Runtime;

/// Interval between polls of the providers while waiting.
const POLL: Duration = Duration::from_secs(45);

#[derive(Debug, Args)]
#[command(
    after_help = "A batch belongs to the project: any machine with the project file, overrule.toml \
                  and the keys can continue it.

Examples:
  overrule annotate in.jsonl out.jsonl --batch      submit the calls
  overrule batch status                             show their progress
  overrule batch fetch --wait                       fetch the answers as the batches end
  overrule annotate in.jsonl out.jsonl --batch      write the scores"
)]
pub(super) struct BatchCommand {
    #[command(subcommand)]
    action: BatchAction,
}

#[derive(Debug, Subcommand)]
enum BatchAction {
    /// Show the progress of batches
    #[command(
        after_help = "Examples:\n  overrule batch status\n  overrule batch status --offline --all \
                      --json"
    )]
    Status {
        /// Show what is known without asking
        #[arg(long)]
        offline: bool,
        /// Include closed batches
        #[arg(long)]
        all: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Fetch the results of batches that have ended
    Fetch {
        /// Wait until all batches have ended, and fetch each as it ends
        #[arg(long)]
        wait: bool,
        /// Print JSON, one line per batch
        #[arg(long)]
        json: bool,
    },
    /// Cancel batches; results so far are charged and can be fetched
    Cancel {
        /// Numbers of the batches [default: all open batches]
        #[arg(value_name = "NUMBER")]
        ids: Vec<i64>,
    },
    /// Name the provider's batch of a submission that was interrupted; reopens a closed batch
    Adopt {
        /// Number of the batch
        number: i64,
        /// The provider's name for the batch
        name: String,
    },
    /// Give up a batch, so that its calls can be made (and paid for) again
    Forget {
        /// Number of the batch
        number: i64,
    },
}

impl BatchCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        match self.action {
            BatchAction::Status { offline, all, json } => {
                status(context, &store, offline, all, json)
            }
            BatchAction::Fetch { wait, json } => fetch(context, &store, wait, json),
            BatchAction::Cancel { ids } => cancel(context, &store, &ids),
            BatchAction::Adopt { number, name } => Ok(by_number::adopt(&store, number, &name)?),
            BatchAction::Forget { number } => {
                let calls = by_number::forget(&store, number)?;
                output::message(&format!(
                    "{} of batch {number} count as not made; if the provider made them, they are \
                     charged anyway",
                    counted(calls, "call")
                ));
                Ok(())
            }
        }
    }
}

/// The judges of the open batches, as they are configured now.
fn ensemble(
    context: &CommandContext,
    insecure_http: bool,
) -> Result<JudgeEnsemble, CommandFailure> {
    Ok(context.judges(insecure_http).available()?.ensemble)
}

fn status(
    context: &CommandContext,
    store: &Store,
    offline: bool,
    all: bool,
    as_json: bool,
) -> CommandResult {
    let ask = !offline && !store.read_blocking(|db| db.batches(true))?.is_empty();
    let known = if ask {
        runtime()?.block_on(by_number::poll(store, &ensemble(context, false)?))?
    } else {
        Vec::new()
    };
    let rows = store.read_blocking(move |db| db.batches(!all))?;
    let told = |row: &BatchRow| known.iter().find(|known| known.row.id == row.id);
    if as_json {
        let rows: Vec<Value> = rows.iter().map(|row| described(row, told(row))).collect();
        return output::json(&rows);
    }
    if rows.is_empty() {
        return output::text(if all { "no batch\n" } else { "no open batch\n" });
    }
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let trouble =
                told(row).and_then(|known| known.trouble.as_ref().map(ToString::to_string));
            let note = trouble.or_else(|| row.message.clone()).unwrap_or_default();
            vec![
                row.id.0.to_string(),
                clean(&row.spec.name),
                about(row).to_owned(),
                row.stage.name().to_owned(),
                row.calls.to_string(),
                row.told.0.to_string(),
                row.told.1.to_string(),
                row.left.to_string(),
                number_words::usd(row.worst_usd),
                ago(now_ms() - row.submitted_ms),
                clean(row.remote.as_deref().unwrap_or("–")),
                clean(&note),
            ]
        })
        .collect();
    let header = [
        "#batch",
        "judge",
        "about",
        "state",
        ">calls",
        ">done",
        ">failed",
        ">to fetch",
        ">at most",
        ">age",
        "at the provider",
        "",
    ];
    output::text(&output::table(&header, &cells))?;
    if rows.iter().any(|row| row.stage == BatchStage::Over) {
        output::message("results are available: `overrule batch fetch` fetches them");
    }
    let failed = |row: &&BatchRow| row.stage == BatchStage::Failed && !row.is_closed;
    for row in rows.iter().filter(failed) {
        let why = row.message.clone().unwrap_or_default();
        output::message(&format!(
            "batch {} made no call: {why}; `overrule batch fetch` closes it, so that its calls can \
             be made again",
            row.id.0
        ));
    }
    Ok(())
}

/// What a batch asks for.
fn about(row: &BatchRow) -> &'static str {
    match row.run {
        Some(_) => "votes",
        None => "lists",
    }
}

fn described(row: &BatchRow, known: Option<&PolledBatch>) -> Value {
    json!({
        "batch": row.id,
        "uid": row.uid,
        "judge": row.spec.name,
        "model": row.spec.model,
        "about": about(row),
        "remote": row.remote,
        "state": row.stage,
        "calls": row.calls,
        "to_fetch": row.left,
        "done": row.told.0,
        "failed": row.told.1,
        "worst_usd": row.worst_usd,
        "submitted_ms": row.submitted_ms,
        "checked_ms": row.checked_ms,
        "message": row.message,
        "closed": row.is_closed,
        "trouble": known.and_then(|known| known.trouble.as_ref().map(ToString::to_string)),
    })
}

fn ago(ms: i64) -> String {
    let minutes = (ms / 60_000).max(0);
    match minutes {
        0..=89 => format!("{minutes} min"),
        _ => format!("{:.1} h", minutes as f64 / 60.0),
    }
}

/// The state of a batch after an attempt to fetch it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Looked {
    Closed,
    /// It is open, and may end by itself.
    Pending,
    /// It is open until a person does something.
    Stuck,
}

impl Looked {
    /// Prints the obstacle to a batch.
    fn at(number: i64, who: &str, trouble: &BatchTrouble) -> Self {
        output::message(&format!("batch {number} ({who}): {trouble}"));
        if trouble.may_pass() {
            Self::Pending
        } else {
            Self::Stuck
        }
    }
}

/// Fetches the batches that have ended, for a command that continues with their answers. The caller
/// holds the run lock.
pub(crate) fn fetch_ended(
    context: &CommandContext,
    store: &Store,
    insecure_http: bool,
) -> CommandResult {
    let (before, _) = store.read_blocking(|db| db.committed())?;
    if store.read_blocking(|db| db.batches(true))?.is_empty() {
        return Ok(());
    }
    let (ensemble, runtime) = (ensemble(context, insecure_http)?, runtime()?);
    for known in runtime.block_on(batch::refresh(store, &ensemble, true))? {
        fetch_one(&runtime, store, &ensemble, &known, false)?;
    }
    let (after, _) = store.read_blocking(|db| db.committed())?;
    if after != before {
        runtime.block_on(batch::settle(store))?;
    }
    Ok(())
}

/// Fetches a batch if it has ended, and reports the result.
pub(super) fn fetch_one(
    runtime: &Runtime,
    store: &Store,
    ensemble: &JudgeEnsemble,
    known: &PolledBatch,
    as_json: bool,
) -> Result<Looked, CommandFailure> {
    let (number, who) = (known.row.id.0, &known.row.spec.name);
    let fetched = match runtime.block_on(batch::collect(store, ensemble, known))? {
        CollectedBatch::Fetched(fetched) => fetched,
        CollectedBatch::Refused(why) => {
            output::message(&format!(
                "batch {number} ({who}) made no call: {why}; its calls can be made again"
            ));
            return Ok(Looked::Closed);
        }
        CollectedBatch::Running => return Ok(Looked::Pending),
        CollectedBatch::Troubled(trouble) => return Ok(Looked::at(number, who, &trouble)),
    };
    output::message(&format!(
        "batch {number} ({who}): {}, {}, {} not made, {}",
        match known.row.run {
            Some(_) => counted(fetched.votes, "vote"),
            None => counted(fetched.lists, "list"),
        },
        counted(fetched.failures, "failure"),
        counted(fetched.not_made, "call"),
        fetched.spend.words()
    ));
    if let Some(words) = changed_model(&fetched.models) {
        output::message(&format!("{who} {words}"));
    }
    for line in fetched
        .tally
        .lines()
        .into_iter()
        .chain(fetched.left_out.words())
    {
        output::message(&format!("  {line}"));
    }
    if as_json {
        output::json_line(
            &json!({ "event": "fetched", "batch": number, "judge": who, "votes": fetched.votes, "lists": fetched.lists,
                     "failures": fetched.failures, "lines_left_out": fetched.left_out.strangers + fetched.left_out.unreadable, "causes": fetched.tally.causes,
                     "messages": fetched.tally.messages, "not_made": fetched.not_made, "cost_usd": fetched.spend.told_usd(),
                     "calls_without_price": fetched.spend.unpriced, "models": fetched.models }),
        )?;
    }
    Ok(Looked::Closed)
}

fn fetch(context: &CommandContext, store: &Store, wait: bool, as_json: bool) -> CommandResult {
    let _lock = RunLock::take(store.path())?;
    let (ensemble, runtime) = (ensemble(context, false)?, runtime()?);
    loop {
        let known = runtime.block_on(batch::refresh(store, &ensemble, true))?;
        let mut looked = Vec::new();
        for known in &known {
            looked.push(fetch_one(&runtime, store, &ensemble, known, as_json)?);
        }
        looked.retain(|looked| *looked != Looked::Closed);
        let open = looked.len();
        runtime.block_on(batch::settle(store))?;
        if open == 0 {
            if known.is_empty() {
                output::message("no open batch");
            }
            return Ok(());
        }
        output::message(&format!("{open} of {} batches are still open", known.len()));
        // Waiting does not help a batch that needs a person.
        if !wait || !looked.contains(&Looked::Pending) {
            return Err(CommandFailure::incomplete());
        }
        runtime.block_on(tokio::time::sleep(POLL));
    }
}

fn cancel(context: &CommandContext, store: &Store, ids: &[i64]) -> CommandResult {
    let rows = by_number::open_batches(store, ids)?;
    let (ensemble, runtime) = (ensemble(context, false)?, runtime()?);
    let mut failed = false;
    for row in &rows {
        match runtime.block_on(batch::cancel(&ensemble, row)) {
            Ok(()) => output::message(&format!(
                "batch {} is being canceled; fetch its results so far with `overrule batch fetch`",
                row.id.0
            )),
            Err(trouble) => {
                failed = true;
                output::message(&format!("batch {}: {trouble}", row.id.0));
            }
        }
    }
    if failed {
        return Err(CommandFailure::incomplete());
    }
    Ok(())
}
