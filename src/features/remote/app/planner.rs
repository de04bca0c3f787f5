//! Plans the next round of a query for all workers of a job.

use crate::app::annotate::{PlannedRound, RunRequest, plan_round};
use crate::app::error::{AppError, invalid};
use crate::domain::sampling::PAIRS_PER_ROUND_PART;
use crate::domain::sanitize;
use crate::features::remote::client::Unit;
use crate::judge::JudgeSpec;
use crate::store::corpus::QueryKey;
use crate::store::merge::Piece;
use crate::store::{Db, Store, StoreError};
use std::sync::Arc;

/// A planned round as it is stored on the server.
pub(super) struct RoundPlan {
    /// The unit that stands for planning it.
    pub(super) unit: Unit,
    pub(super) round: i32,
    /// The rounds of the query so far.
    pub(super) rounds: Piece,
    /// Number of units; 0 if the query has no further round.
    pub(super) parts: i32,
}

/// Plans the next round of a query whose answers are all in the project. The project stays as it
/// is: it gets the round from the server like all others, when it works on a part of it.
///
/// # Errors
/// The project lacks rounds of the job.
pub(super) async fn plan(
    store: Store,
    request: Arc<RunRequest>,
    specs: Vec<JudgeSpec>,
    query: QueryKey,
    unit: Unit,
) -> Result<RoundPlan, AppError> {
    let Some(campaign) = request.campaign else {
        return Err(invalid!("the job has rounds, and its sampler plans none"));
    };
    let judges = specs.clone();
    let read = move |db: &mut Db| {
        let judges = judges.iter().map(|spec| db.judge(spec));
        let judges = judges.collect::<Result<Arc<[_]>, StoreError>>()?;
        Ok((judges, db.settings()?.rating().lambda))
    };
    let (judges, lambda) = store.write(read).await?;
    let planned = plan_round(&store, (campaign, lambda), request, &judges, query);
    let PlannedRound { number, tasks } = planned.await?;
    let round = number as i32;
    if unit.round.is_some_and(|due| round < due) {
        return Err(AppError::Failed(format!(
            "the earlier rounds of the query {:?} cannot be read",
            sanitize::line(&unit.query)
        )));
    }
    let parts = tasks.len().div_ceil(PAIRS_PER_ROUND_PART) as i32;
    let pack = move |db: &mut Db| {
        db.kept_if(|db| {
            db.add_round(query, number, &tasks, &judges)?;
            Ok((Piece::of_rounds(db, query, &specs)?, false))
        })
    };
    Ok(RoundPlan {
        unit,
        round,
        rounds: store.write(pack).await?,
        parts,
    })
}
