//! `overrule sync` and `overrule remote add`: several people work on copies of one project.

use super::address;
use crate::app::error::AppError;
use crate::app::merge::{notes, taken_over};
use crate::app::text_format::counted;
use crate::cli::command::{CommandContext, CommandFailure, CommandResult, usage};
use crate::cli::output::ProgressPace;
use crate::cli::{output, signals};
use crate::domain::sanitize;
use crate::features::remote::app::servers;
use crate::features::remote::app::sync::{SyncProgress, Synced, opened, share, sync};
use crate::features::remote::app::watch::{Pauses, Watch, present};
use crate::features::remote::client::{Address, Participant};
use crate::store::Store;
use clap::Args;
use serde_json::json;

#[derive(Debug, Args)]
#[command(after_help = "\
What is new in this project goes to the server that `overrule remote add` named, and new rows of
other people are merged here: queries, votes, verdicts, rulings and almost all else that
`overrule merge` copies (see \"A project on a server\" in `overrule manual people`). Without the
server, work goes on, and the changes wait in the project.

Examples:
  overrule remote add postgres://ada@db.example.org/search
  overrule sync
  overrule sync --watch
  overrule sync --json")]
pub(crate) struct SyncCommand {
    /// Go on until Ctrl-C
    #[arg(long, conflicts_with = "json")]
    watch: bool,
    /// Send and read everything again, after the server was restored
    #[arg(long, conflicts_with = "watch")]
    again: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  overrule remote add postgres://ada@db.example.org/search
  overrule --project mine.db remote add postgres://bob@db.example.org/search --name scifact")]
pub(super) struct AddCommand {
    /// The server and database
    url: String,
    /// The name of the project on the server [default: the name of the project's file]
    #[arg(long)]
    name: Option<String>,
}

impl AddCommand {
    pub(super) async fn run(&self, context: &CommandContext) -> CommandResult {
        let store = tokio::task::block_in_place(|| context.open_or_create())?;
        let server = super::connect(&self.url).await?;
        let name = match &self.name {
            Some(name) => name.clone(),
            None => {
                let stem = context.project().file_stem();
                stem.map(|stem| stem.to_string_lossy().into_owned())
                    .unwrap_or_default()
            }
        };
        if name.is_empty() || name.chars().any(char::is_control) {
            return Err(usage!("name the project with --name"));
        }
        let project = share(&server, &store, &name).await?;
        servers::remember(store.path(), &self.url)?;
        output::text(&format!(
            "{}: shared as {:?}; synchronize with `overrule sync`\n",
            server.name(),
            sanitize::line(&project.name)
        ))
    }
}

impl SyncCommand {
    pub(crate) fn run(self, context: &CommandContext) -> CommandResult {
        let store = context.open()?;
        let runtime = signals::runtime()?;
        let result = runtime.block_on(self.synchronize(context, &store));
        runtime.shutdown_background();
        result
    }

    async fn synchronize(&self, context: &CommandContext, store: &Store) -> CommandResult {
        let url = servers::known(store.path())?.ok_or_else(|| {
            usage!("no server is known for this project; name it with `overrule remote add`")
        })?;
        let mut url = address(&url)?;
        let person = context.annotator();
        if self.watch {
            // Asks for a password that is needed. The server may be away.
            drop(super::log_in(&mut url).await);
            return watch(&url, store, &person).await;
        }
        let mut server = super::log_in(&mut url).await?;
        server.check().await?;
        let told = &mut tell_progress();
        let synced = sync(&mut server, store, &person, self.again, told).await?;
        let (project, _) = opened(&server, store).await?;
        let people = server.participants(&project).await?;
        if self.json {
            output::json(&as_json(&synced, &people))?;
        } else {
            output::text(&format!("{}: {}\n", server.name(), summary(&synced)))?;
            let online = present(&people).into_iter().map(sanitize::line);
            let online: Vec<_> = online.collect();
            output::text(&format!("online: {}\n", online.join(", ")))?;
        }
        let problems = problems(&synced);
        problems.iter().for_each(|problem| output::message(problem));
        if synced.is_complete() {
            Ok(())
        } else {
            Err(CommandFailure::incomplete())
        }
    }
}

/// Prints the progress of a synchronization.
fn tell_progress() -> impl FnMut(SyncProgress) + Send {
    let mut pace = ProgressPace::new();
    move |progress| {
        if pace.is_due() {
            output::message(&match progress {
                SyncProgress::Received(done, all) => format!("received {done} of {all}"),
                SyncProgress::Sent(done) => format!("sent {done}"),
                SyncProgress::Judgments(done) => format!("judgments: {done}"),
            });
        }
    }
}

/// Synchronizes whenever there is something new. A lost server is tried again after a while.
async fn watch(url: &Address, store: &Store, person: &str) -> CommandResult {
    let mut stops = signals::stops()?;
    let mut connected: Option<Watch> = None;
    let mut pauses = Pauses::default();
    let mut is_first = true;
    let mut told = Vec::new();
    loop {
        let turn = async {
            let watch = match connected.take() {
                Some(mut watch) => {
                    watch.wait(store).await.map_err(AppError::from)?;
                    watch
                }
                None => {
                    let watch = Watch::open(url, store).await.map_err(AppError::from)?;
                    output::message(&format!("{}: connected", watch.name()));
                    watch
                }
            };
            let watch = connected.insert(watch);
            let told_progress = &mut tell_progress();
            let synced = watch.exchange(store, person, told_progress).await;
            let Some(synced) = synced.map_err(AppError::from)? else {
                return Ok(());
            };
            if is_first || is_news(&synced) {
                output::message(&summary(&synced));
            }
            let problems = problems(&synced);
            if problems != told {
                problems.iter().for_each(|problem| output::message(problem));
            }
            told = problems;
            Ok::<_, CommandFailure>(())
        };
        let turned = tokio::select! {
            turned = turn => turned,
            _ = stops.recv() => return Ok(()),
        };
        match turned {
            Ok(()) => {
                pauses = Pauses::default();
                is_first = false;
            }
            Err(failure) if failure.code == 2 => return Err(failure),
            Err(failure) => {
                connected = None;
                let why = failure.error.map(|error| error.to_string());
                let why = why.unwrap_or_default();
                let pause = pauses.next();
                output::message(&format!(
                    "{why}; the changes wait in the project, and the server is tried again in {} s",
                    pause.as_secs()
                ));
                tokio::select! {
                    () = tokio::time::sleep(pause) => {}
                    _ = stops.recv() => return Ok(()),
                }
            }
        }
    }
}

fn is_news(synced: &Synced) -> bool {
    synced.sent_queries + synced.sent_parts + synced.sent_judgments > 0
        || taken_over(&synced.received).is_some()
}

fn summary(synced: &Synced) -> String {
    let received = taken_over(&synced.received);
    let received = received.map_or("received nothing new".to_owned(), |new| {
        format!("received {new}")
    });
    let sent = [
        (synced.sent_queries, "changed query"),
        (synced.sent_parts, "changed part"),
        (synced.sent_judgments, "judgment"),
    ];
    let sent: Vec<String> = sent
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, noun)| counted(count, noun))
        .collect();
    let sent = match &sent[..] {
        [] => "sent nothing new".to_owned(),
        sent => format!("sent {}", sent.join(", ")),
    };
    format!("{received}; {sent}")
}

/// What a person should know of a synchronization.
fn problems(synced: &Synced) -> Vec<String> {
    let mut told = synced.problems.clone();
    let notes = notes(&synced.received).into_iter();
    told.extend(notes.map(|note| format!("note: {note}")));
    for (query, reason) in &synced.received.refused {
        told.push(format!(
            "skipped query {:?}: {reason}",
            sanitize::line(query)
        ));
    }
    if synced.waiting > 0 {
        told.push(format!(
            "note: {} not on the server yet; run `overrule sync` again",
            counted(synced.waiting as usize, "change")
        ));
    }
    if let Some(words) = clock_words(synced.ahead_ms) {
        told.push(format!("note: {words}"));
    }
    if synced.kept_here > 0 {
        told.push(format!(
            "note: {} not sent: annotators send only their own judgments",
            counted(synced.kept_here as usize, "other change")
        ));
    }
    told
}

/// A difference of clocks that makes the times of judgments wrong.
fn clock_words(ahead_ms: i64) -> Option<String> {
    /// In seconds.
    const NOTABLE: u64 = 30;
    let seconds = ahead_ms.unsigned_abs() / 1_000;
    let side = if ahead_ms > 0 { "ahead of" } else { "behind" };
    (seconds >= NOTABLE).then(|| {
        format!(
            "the clock of this machine is {seconds} s {side} the server's, so the times of your \
             judgments are wrong by as much"
        )
    })
}

fn as_json(synced: &Synced, people: &[Participant]) -> serde_json::Value {
    let received = &synced.received;
    let refused = received.refused.iter();
    let refused = refused.map(|(query, reason)| json!({ "query": query, "reason": reason }));
    let people = people.iter().map(|one| {
        json!({
            "person": one.person,
            "waiting": one.waiting,
            "silent_s": one.silent_s,
        })
    });
    json!({
        "received": {
            "queries": received.queries_added,
            "documents": received.documents_added,
            "votes": received.votes,
            "votes_set_aside": received.votes_set_aside,
            "failures": received.failures,
            "verdicts": received.verdicts,
            "undos": received.undos,
            "gold": received.gold,
            "labels": received.labels,
            "rankings": received.rankings,
            "picks": received.picks,
            "rulings": received.rulings,
            "settings": received.settings,
            "spent_usd": received.spent_usd,
        },
        "sent": {
            "queries": synced.sent_queries,
            "parts": synced.sent_parts,
            "judgments": synced.sent_judgments,
        },
        "waiting": synced.waiting,
        "kept_here": synced.kept_here,
        "clock_ahead_ms": synced.ahead_ms,
        "problems": synced.problems,
        "refused": refused.collect::<Vec<_>>(),
        "people": people.collect::<Vec<_>>(),
    })
}
