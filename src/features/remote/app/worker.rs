//! A worker of a job: runs the judges on the units that it leases, until the job is done.

use super::identity::Identity;
use super::lessee::{Lessee, LesseeEnd, Money, Place, RunLink};
use super::micros;
use super::shared_run::SharedRun;
use crate::app::annotate::{RunHandle, RunOutcome, WorkFeed};
use crate::app::error::AppError;
use crate::client::RunControl;
use crate::features::remote::client::{Seat, Server};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// The smallest part of a budget that is reserved at a time, in millionths of a dollar.
const SMALLEST_SHARE: i64 = 10_000;
/// A worker reserves this part of the budget at a time, or enough for some calls.
const SHARES: i64 = 200;
const CALLS_PER_SHARE: f64 = 4.0;
/// The shortest time that a request to the server may take.
pub(super) const SHORTEST_PATIENCE: Duration = Duration::from_secs(5);

/// How a worker's participation ended.
#[derive(Debug)]
pub enum Participation {
    /// All units of the job are done.
    Done,
    /// The budget of the job is spent or reserved.
    BudgetReached,
    /// This run has ended before the job was done.
    Ended(Box<RunOutcome>),
    /// The server could not be told everything; the answers are in the project.
    Unsent(AppError),
}

/// Works on a job. `follow` follows the run of the judges to its end, and `tell` tells the user what
/// happens.
///
/// # Errors
/// The server refuses a request, or the run fails.
pub async fn take_part<E: From<AppError>>(
    shared: &SharedRun,
    mut server: Server,
    tell: fn(&str),
    mut follow: impl AsyncFnMut(RunHandle) -> Result<RunOutcome, E>,
) -> Result<Participation, E> {
    let of = shared.job.clone();
    let path = shared.store.path().to_owned();
    let take = shared.store.write(move |db| Identity::take(db, &path, &of));
    let identity = take.await.map_err(AppError::from)?;
    let mut share = first_share(shared.job.budget, shared.worst_usd);
    // Whether the last share was too small for another call.
    let mut is_short = false;
    loop {
        let joined = server.join(&shared.job, identity.worker, &shared.name);
        let (seat, joined) = joined.await.map_err(AppError::from)?;
        let mut money = None;
        if let Some(share) = share {
            let mut own = Money::of(&shared.store, &shared.job, joined, share).await?;
            let has_grown = if is_short {
                own.grow(&mut server, &seat).await
            } else {
                own.top_up(&mut server, &seat).await
            };
            let mut has_grown = has_grown.map_err(AppError::from)?;
            while own.left_usd() <= 0.0 && has_grown {
                let grown = own.grow(&mut server, &seat).await;
                has_grown = grown.map_err(AppError::from)?;
            }
            if own.left_usd() <= 0.0 || is_short && !has_grown {
                let unfinished = server.unfinished(&shared.job).await;
                let is_done = unfinished.map_err(AppError::from)? == 0;
                leave(shared, &mut server, &seat).await?;
                return Ok(if is_done {
                    Participation::Done
                } else {
                    Participation::BudgetReached
                });
            }
            money = Some(own);
        }
        let control = RunControl {
            budget_usd: money.as_ref().map(Money::limit_usd),
            ..shared.control
        };
        let (parts, given) = mpsc::unbounded_channel();
        let (ends, ended) = mpsc::unbounded_channel();
        let feed = WorkFeed { parts: given, ends };
        let run = RunHandle::start_shared(
            Arc::clone(&shared.lock),
            shared.store.clone(),
            shared.ensemble.clone(),
            shared.request.clone(),
            control,
            feed,
        );
        let lessee = Lessee::new(
            shared,
            Place {
                server: server.with_patience((shared.lease / 4).max(SHORTEST_PATIENCE)),
                seat: seat.clone(),
                joined,
                money,
            },
            RunLink {
                parts,
                ended,
                control: run.control.clone(),
                progress: run.progress.clone(),
            },
            tell,
        );
        let lessee = tokio::spawn(lessee.work());
        let outcome = follow(run).await;
        let end = lessee.await.map_err(AppError::failed)?;
        server = match (end, outcome) {
            (LesseeEnd::Done(mut server), _) => {
                leave(shared, &mut server, &seat).await?;
                return Ok(Participation::Done);
            }
            // The reservation stays: the spending since the last report is unknown to the server.
            (LesseeEnd::Failed(error), _) => return Err(error.into()),
            (LesseeEnd::Unsent(error), outcome) => {
                outcome?;
                return Ok(Participation::Unsent(error));
            }
            (LesseeEnd::LostLease(server), Ok(_)) => {
                is_short = false;
                server
            }
            (LesseeEnd::Left(server), Ok(outcome))
                if outcome.budget_reached
                    && !outcome.cancelled
                    && outcome.model_changed.is_none()
                    && share.is_some() =>
            {
                is_short = true;
                share = share.map(|share| share.saturating_mul(2));
                server
            }
            (LesseeEnd::Left(mut server) | LesseeEnd::LostLease(mut server), outcome) => {
                let left = leave(shared, &mut server, &seat).await;
                let outcome = outcome?;
                left?;
                return Ok(Participation::Ended(Box::new(outcome)));
            }
        };
    }
}

/// The part of a budget that a worker reserves at first, given the maximum cost of a call.
pub(super) fn first_share(budget: Option<i64>, worst_usd: Option<f64>) -> Option<i64> {
    let calls = worst_usd.map_or(0, |usd| micros(CALLS_PER_SHARE * usd));
    budget.map(|budget| (budget / SHARES).max(calls).max(SMALLEST_SHARE))
}

/// Ends a worker in order.
async fn leave(shared: &SharedRun, server: &mut Server, seat: &Seat) -> Result<(), AppError> {
    let job = shared.job.clone();
    let end = shared.store.write(move |db| Identity::end(db, &job));
    end.await?;
    Ok(server.leave(seat).await?)
}
