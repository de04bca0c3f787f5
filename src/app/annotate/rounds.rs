//! Rounds: the next one of a query is planned when all calls of the last one have ended, while the calls of other
//! queries fly.
//!
//! A round follows from the seed, the prior that the campaign began with and the votes that are on disk, and is entered whole
//! before a call of it is made: a run that is killed goes on with the round it was in, and plans the same rounds after it.

use super::error::RunError;
use super::plan::entered;
use super::request::RunRequest;
use crate::domain::ranking::{CHOOSING_WEIGHT, student_battles, unvoted};
use crate::domain::sampling::adaptive::{AdaptivePlan, Round, SamplingState, next_round};
use crate::domain::vote::JudgeId;
use crate::store::Store;
use crate::store::corpus::QueryKey;
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio::task::JoinSet;

/// Rounds that are planned at a time: so many share the way to the disk.
const PLANNERS: usize = 4;

/// A query that is not done.
pub(super) struct UnfinishedQuery {
    pub(super) place: usize,
    /// Calls that have not ended, for each judge.
    pub(super) calls: Vec<usize>,
    /// Calls that rounds to come may ask for at most.
    pub(super) unplanned: usize,
    /// Whether a judge left before it had made its calls.
    pub(super) short: bool,
}

/// A round that has been entered; without calls where nothing was left to ask.
pub(super) struct EnteredRound {
    pub(super) query: QueryKey,
    pub(super) battles: usize,
    /// Calls to make, for each judge.
    pub(super) calls: Vec<usize>,
}

/// The rounds of a run.
pub(super) struct RoundPlanner {
    store: Store,
    campaign: AdaptivePlan,
    /// The precision of the prior under the scores that pairs are chosen by.
    lambda: f64,
    request: Arc<RunRequest>,
    judges: Arc<[JudgeId]>,
    /// Queries whose next round can be planned, by their place in the run.
    due: BTreeSet<(usize, QueryKey)>,
    planning: JoinSet<Result<EnteredRound, RunError>>,
}

impl RoundPlanner {
    pub(super) fn new(
        store: Store,
        (campaign, lambda): (AdaptivePlan, f64),
        request: RunRequest,
        judges: &[JudgeId],
    ) -> Self {
        Self {
            store,
            campaign,
            lambda,
            request: Arc::new(request),
            judges: judges.into(),
            due: BTreeSet::new(),
            planning: JoinSet::new(),
        }
    }

    /// Lets a query's next round be planned.
    pub(super) fn want(&mut self, place: usize, query: QueryKey) {
        self.due.insert((place, query));
    }

    /// Begins to plan what can be planned; false where nothing is.
    pub(super) fn plan(&mut self) -> bool {
        while self.planning.len() < PLANNERS
            && let Some((_, query)) = self.due.pop_first()
        {
            let (request, judges) = (Arc::clone(&self.request), Arc::clone(&self.judges));
            let campaign = (self.campaign, self.lambda);
            let planning = next(self.store.clone(), campaign, request, judges, query);
            self.planning.spawn(planning);
        }
        !self.planning.is_empty()
    }

    /// The next round that has been entered; never while none is planned.
    pub(super) async fn entered(&mut self) -> Result<EnteredRound, RunError> {
        match self.planning.join_next().await {
            Some(Ok(entered)) => entered,
            Some(Err(error)) => Err(RunError::Crashed(error.to_string())),
            None => std::future::pending().await,
        }
    }
}

/// Plans a query's next round and enters it.
async fn next(
    store: Store,
    (campaign, lambda): (AdaptivePlan, f64),
    request: Arc<RunRequest>,
    judges: Arc<[JudgeId]>,
    query: QueryKey,
) -> Result<EnteredRound, RunError> {
    // Read, plan and write need no lock over all three: the run's lock keeps other processes out, and a query is planned
    // again only when no call of its last round is waited for.
    let (of, judge_indices) = (Arc::clone(&request), Arc::clone(&judges));
    let (name, depth, played, student) = store
        .read(move |db| {
            let info = db.query(query)?;
            let depth = entered(&of, info.documents);
            let student = match campaign.student {
                true => db.student_opinion(query)?,
                false => None,
            };
            let played = db.played(query, depth, &judge_indices)?;
            Ok((info.id, depth, played, student))
        })
        .await?;
    let (number, judge_indices) = (played.rounds, judges.len());
    // A large pool takes its time, and would hold up every other task.
    let tasks = tokio::task::spawn_blocking(move || {
        let round = Round {
            seed: request.seed,
            query: name.as_str(),
            number,
            calls: campaign
                .calls(depth, judge_indices)
                .saturating_sub(played.calls()),
        };
        let mut state = SamplingState::new(depth, judge_indices, &played.asked, lambda);
        if let Some(student) = student {
            let weight = match student.weight > 0.0 {
                true => student.weight,
                false => CHOOSING_WEIGHT,
            };
            let pairs = unvoted(depth, state.votes(), &student.predictions);
            state = state.with_student(student_battles(depth, judge_indices, weight, &pairs));
        }
        next_round(&state, &campaign.strategy, &round)
    })
    .await
    .map_err(|error| RunError::Crashed(error.to_string()))?;
    let mut calls = vec![0; judges.len()];
    for judge_index in tasks.iter().flat_map(|task| task.judges.iter()) {
        calls[judge_index] += 1;
    }
    let battles = if tasks.is_empty() {
        0
    } else {
        let add = store.write(move |db| db.add_round(query, number, &tasks, &judges));
        add.await?
    };
    Ok(EnteredRound {
        query,
        battles,
        calls,
    })
}
