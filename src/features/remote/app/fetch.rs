//! Fetches the answers of all workers into a project.

use super::identity::Identity;
use super::job::job_answers;
use crate::app::error::AppError;
use crate::app::merge::{PieceTerms, finish_merges, merge_piece, merge_rounds};
use crate::features::remote::client::{Cursor, Job, LEDGER_UNIT, Server, StoredPiece};
use crate::store::merge::{MergeCounts, Snapshot};
use crate::store::{Db, Store, StoreError};
use std::collections::HashSet;
use std::time::Duration;
use tokio::time::Instant;

/// How long to wait for earlier transactions of the server, and how often to look.
const PATIENCE: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Number of pieces that are merged in one transaction.
const PAGE: i64 = 20;

/// The result of merging stored pieces.
#[derive(Debug, Default)]
pub(super) struct MergedPieces {
    pub(super) counts: MergeCounts,
    /// Rounds of queries that the project has as they were planned: the last one of each piece.
    pub(super) rounds: HashSet<(String, usize)>,
    /// Why pieces were left out.
    pub(super) problems: Vec<String>,
}

/// Merges stored pieces in this order. A damaged piece is left out. The cost of their calls is not
/// spending of the worker that this project is.
pub(super) fn merge_stored(
    db: &mut Db,
    job: &Job,
    pieces: &[StoredPiece],
) -> Result<MergedPieces, StoreError> {
    let answers = job_answers(job)?;
    let before_usd = db.committed_usd()?;
    let mut merged = MergedPieces::default();
    for StoredPiece {
        unit,
        worker,
        body,
        query,
        has_rounds,
        ..
    } in pieces
    {
        let terms = match query {
            _ if *unit == LEDGER_UNIT => PieceTerms::Ledger,
            Some(name) => answers.about(name),
            None => continue,
        };
        let left_out =
            |error| format!("the answers of worker {worker} on unit {unit} are left out: {error}");
        let piece = match Snapshot::of_piece(body) {
            Ok(piece) => piece,
            Err(error) => {
                merged.problems.push(left_out(error));
                continue;
            }
        };
        let result = db.atomically(|db| match terms {
            PieceTerms::Query { name, judges } if *has_rounds => {
                let (counts, last) = merge_rounds(db, &piece, name, judges)?;
                Ok((counts, last.map(|round| (name.to_owned(), round))))
            }
            _ => Ok((merge_piece(db, &piece, terms)?, None)),
        });
        match result {
            Ok((counts, round)) => {
                merged.counts.add(counts);
                merged.rounds.extend(round);
            }
            Err(error @ StoreError::Corrupt(_)) => merged.problems.push(left_out(error)),
            Err(error) => return Err(error),
        }
    }
    let others_usd = db.committed_usd()? - before_usd;
    Identity::change(db, job, |worker| worker.other_usd += others_usd)?;
    Ok(merged)
}

fn setting(job: &Job) -> String {
    format!("remote read {}", job.uid)
}

/// The result of a fetch.
#[derive(Debug, Default)]
pub struct Fetched {
    pub merged: MergeCounts,
    /// Why answers were left out.
    pub problems: Vec<String>,
    /// Number of pieces that cannot be read yet, since an earlier transaction of the server is in
    /// progress.
    pub held_back: i64,
    /// Number of units whose calls have not all been made.
    pub unfinished: i64,
}

/// Merges all pieces that are new since the last time, or all with `again`. `progress` is told the
/// number of pieces so far.
///
/// Pieces are merged in the order of the server's transactions: of two answers to the same question,
/// the first one counts.
pub async fn fetch(
    server: &Server,
    store: &Store,
    job: &Job,
    again: bool,
    mut progress: impl FnMut(usize),
) -> Result<Fetched, AppError> {
    let name = setting(job);
    let known = store.read(move |db| db.remembered(&name)).await?;
    let known = known.filter(|_| !again);
    let mut start = known.map_or_else(Cursor::start, Cursor);
    let (mut fetched, mut read) = (Fetched::default(), 0);
    let began = Instant::now();
    loop {
        fetched.unfinished = server.unfinished(job).await?;
        let before = server.horizon().await?;
        let mut told = |pieces| {
            read += pieces;
            progress(read);
        };
        // Transactions of a server from which this one was restored may have later numbers.
        let end = if again { Cursor::end() } else { before.clone() };
        let merged = fetch_until(server, store, job, (&start, &end), &before, &mut told).await?;
        let is_refused = !merged.counts.refused.is_empty() || !merged.problems.is_empty();
        fetched.merged.add(merged.counts);
        fetched.problems.extend(merged.problems);
        fetched.held_back = if again {
            0
        } else {
            server.held_back(job, &before).await?
        };
        if is_refused || fetched.held_back == 0 || began.elapsed() >= PATIENCE {
            break;
        }
        start = before;
        tokio::time::sleep(LOOK_EVERY).await;
    }
    let store = store.clone();
    tokio::task::spawn_blocking(move || finish_merges(&store))
        .await
        .map_err(AppError::failed)??;
    Ok(fetched)
}

/// Merges the pieces of the transactions from `start` on and before `end`. The next fetch begins at
/// the last one, or at `next` once there are no more.
async fn fetch_until(
    server: &Server,
    store: &Store,
    job: &Job,
    (start, end): (&Cursor, &Cursor),
    next: &Cursor,
    told: &mut impl FnMut(usize),
) -> Result<MergedPieces, AppError> {
    let (mut after, mut total): (Option<StoredPiece>, _) = (None, MergedPieces::default());
    loop {
        let page = server
            .pieces(job, (start, end), after.as_ref(), PAGE)
            .await?;
        // The answers that were left out are fetched again next time.
        let is_complete = total.counts.refused.is_empty() && total.problems.is_empty();
        let (of, pieces) = (job.clone(), page.len());
        after = page.last().cloned();
        let reached = after.as_ref().map_or(next, |last| &last.changed).clone();
        let merged = store
            .write(move |db| {
                let merged = merge_stored(db, &of, &page)?;
                if is_complete && merged.counts.refused.is_empty() && merged.problems.is_empty() {
                    db.remember(&setting(&of), &reached.0)?;
                }
                Ok(merged)
            })
            .await?;
        total.counts.add(merged.counts);
        total.problems.extend(merged.problems);
        if pieces == 0 {
            total.counts.refused.sort();
            total.counts.refused.dedup();
            return Ok(total);
        }
        told(pieces);
    }
}
