//! Rounds: a query's next round is planned when all calls of its last one have ended, while calls
//! of other queries are still in flight.
//!
//! A round depends only on the seed, the campaign's prior and the votes on disk, and is stored as a
//! whole before any of its calls is made. A run that is killed therefore continues its round and
//! plans the same rounds after it. The campaign's prior is either the one at its start, or is
//! learned once from the opening cycle of all its queries: the second round of a query waits for
//! the opening cycles of the others.

use super::error::RunError;
use super::plan::entered;
use super::request::RunRequest;
use crate::domain::ranking::{CHOOSING_WEIGHT, opinion_battles, unvoted};
use crate::domain::rating::RatingOptions;
use crate::domain::sampling::adaptive::{AdaptivePlan, PairTask, Round, SamplingState, next_round};
use crate::domain::vote::JudgeId;
use crate::registry;
use crate::store::corpus::QueryKey;
use crate::store::judges::EnsembleId;
use crate::store::{Db, Store};
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio::task::JoinSet;

/// Number of rounds planned in parallel, which share one flush to disk.
const PLANNERS: usize = 4;

/// An unfinished query.
pub(super) struct UnfinishedQuery {
    pub(super) place: usize,
    /// Pending calls, for each judge.
    pub(super) calls: Vec<usize>,
    /// Maximum number of calls that future rounds may ask for.
    pub(super) unplanned: usize,
    /// Whether a judge left before it had made its calls.
    pub(super) short: bool,
}

/// A stored round; it has no calls if nothing was left to ask.
pub(super) struct EnteredRound {
    pub(super) query: QueryKey,
    pub(super) battles: usize,
    /// Calls to make, for each judge.
    pub(super) calls: Vec<usize>,
}

/// The precision of the prior for the scores by which pairs are chosen.
enum CampaignPrior {
    Known(f64),
    /// It will be learned when the opening cycle of every query has ended.
    Opening {
        /// Queries whose opening cycle has not ended.
        unopened: BTreeSet<QueryKey>,
        /// Queries waiting for the others, by their index in the run.
        held: Vec<(usize, QueryKey)>,
        is_learning: bool,
    },
}

/// Result of a planning task.
enum Planned {
    Round(EnteredRound),
    /// The query's opening cycle has ended, and the prior is not known yet.
    Opened(usize, QueryKey),
    Learned(f64),
}

/// Plans the rounds of a run.
pub(super) struct RoundPlanner {
    store: Store,
    campaign: AdaptivePlan,
    ensemble: EnsembleId,
    prior: CampaignPrior,
    request: Arc<RunRequest>,
    judges: Arc<[JudgeId]>,
    /// Queries whose next round can be planned, by their index in the run.
    due: BTreeSet<(usize, QueryKey)>,
    planning: JoinSet<Result<Planned, RunError>>,
}

impl RoundPlanner {
    /// `lambda` is the precision of the campaign's prior, or `None` if it is to be learned.
    pub(super) fn new(
        store: Store,
        (campaign, ensemble): (AdaptivePlan, EnsembleId),
        lambda: Option<f64>,
        request: RunRequest,
        judges: &[JudgeId],
    ) -> Self {
        let opening = CampaignPrior::Opening {
            unopened: BTreeSet::new(),
            held: Vec::new(),
            is_learning: false,
        };
        Self {
            store,
            campaign,
            ensemble,
            prior: lambda.map_or(opening, CampaignPrior::Known),
            request: Arc::new(request),
            judges: judges.into(),
            due: BTreeSet::new(),
            planning: JoinSet::new(),
        }
    }

    /// Registers a query whose opening cycle the prior depends on.
    pub(super) fn expect(&mut self, query: QueryKey) {
        if let CampaignPrior::Opening { unopened, .. } = &mut self.prior {
            unopened.insert(query);
        }
    }

    /// Requests a query's next round.
    pub(super) fn want(&mut self, place: usize, query: QueryKey) {
        self.due.insert((place, query));
    }

    /// Records that a query has no further rounds.
    pub(super) fn over(&mut self, query: QueryKey) {
        if let CampaignPrior::Opening { unopened, .. } = &mut self.prior {
            unopened.remove(&query);
        }
    }

    /// Starts planning the due rounds. Returns false if there is nothing to plan.
    pub(super) fn plan(&mut self) -> bool {
        self.learn_when_opened();
        let lambda = match self.prior {
            CampaignPrior::Known(lambda) => Some(lambda),
            CampaignPrior::Opening { .. } => None,
        };
        while self.planning.len() < PLANNERS
            && let Some((place, query)) = self.due.pop_first()
        {
            let (request, judges) = (Arc::clone(&self.request), Arc::clone(&self.judges));
            let campaign = (self.campaign, lambda);
            let planning = next(
                self.store.clone(),
                campaign,
                request,
                judges,
                (place, query),
            );
            self.planning.spawn(planning);
        }
        !self.planning.is_empty()
    }

    /// Starts learning the prior once every opening cycle has ended.
    fn learn_when_opened(&mut self) {
        let CampaignPrior::Opening {
            unopened,
            held,
            is_learning,
        } = &mut self.prior
        else {
            return;
        };
        if *is_learning || !unopened.is_empty() || held.is_empty() {
            return;
        }
        *is_learning = true;
        let (store, ensemble) = (self.store.clone(), self.ensemble);
        let (campaign, seed) = (self.campaign, self.request.seed);
        self.planning.spawn(async move {
            let learned = store
                .read(move |db| db.learn_opening_prior(ensemble))
                .await?;
            let keep =
                move |db: &mut Db| db.keep_campaign_prior(ensemble, &campaign, seed, learned);
            Ok(Planned::Learned(store.write(keep).await?))
        });
    }

    /// Waits for the next round to be stored; never completes while none is being planned.
    pub(super) async fn entered(&mut self) -> Result<EnteredRound, RunError> {
        loop {
            match self.planning.join_next().await {
                Some(Ok(planned)) => match planned? {
                    Planned::Round(entered) => return Ok(entered),
                    Planned::Opened(place, query) => {
                        if let CampaignPrior::Opening { unopened, held, .. } = &mut self.prior {
                            unopened.remove(&query);
                            held.push((place, query));
                        } else {
                            // The prior became known while the query was being processed.
                            self.due.insert((place, query));
                        }
                    }
                    Planned::Learned(lambda) => {
                        tracing::info!(lambda, "the campaign's prior is learned");
                        let before =
                            std::mem::replace(&mut self.prior, CampaignPrior::Known(lambda));
                        if let CampaignPrior::Opening { held, .. } = before {
                            self.due.extend(held);
                        }
                    }
                },
                Some(Err(error)) => return Err(RunError::Crashed(error.to_string())),
                None => return std::future::pending().await,
            }
            self.plan();
        }
    }
}

/// Plans a query's next round and stores it.
async fn next(
    store: Store,
    (campaign, lambda): (AdaptivePlan, Option<f64>),
    request: Arc<RunRequest>,
    judges: Arc<[JudgeId]>,
    (place, query): (usize, QueryKey),
) -> Result<Planned, RunError> {
    let lambda = match lambda {
        Some(lambda) => lambda,
        None => {
            let of = Arc::clone(&judges);
            let tasks = store.read(move |db| db.tasks(query, &of)).await?;
            if !tasks.is_empty() {
                return Ok(Planned::Opened(place, query));
            }
            // The opening cycle does not use scores, so any prior will do.
            RatingOptions::default().lambda
        }
    };
    // Reading, planning and writing need no common lock: the run's lock keeps other processes out,
    // and a query is planned again only when no call of its last round is pending.
    let round = plan_round(&store, (campaign, lambda), request, &judges, query).await?;
    let mut calls = vec![0; judges.len()];
    for judge_index in round.tasks.iter().flat_map(|task| task.judges.iter()) {
        calls[judge_index] += 1;
    }
    let battles = if round.tasks.is_empty() {
        0
    } else {
        let add = move |db: &mut Db| db.add_round(query, round.number, &round.tasks, &judges);
        store.write(add).await?
    };
    Ok(Planned::Round(EnteredRound {
        query,
        battles,
        calls,
    }))
}

/// A planned round of a query. It has no tasks if nothing is left to ask.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedRound {
    pub number: usize,
    pub tasks: Vec<PairTask>,
}

/// Plans a query's next round from what its judges were asked so far and from the precision of the
/// prior, and changes nothing.
pub async fn plan_round(
    store: &Store,
    (campaign, lambda): (AdaptivePlan, f64),
    request: Arc<RunRequest>,
    judges: &Arc<[JudgeId]>,
    query: QueryKey,
) -> Result<PlannedRound, RunError> {
    let (of, judge_indices) = (Arc::clone(&request), Arc::clone(judges));
    let (name, depth, played, student) = store
        .read(move |db| {
            let info = db.query(query)?;
            let depth = entered(&of, info.documents);
            let student = if campaign.student {
                registry::prior_opinion(db, query)?
            } else {
                None
            };
            let played = db.played(query, depth, &judge_indices)?;
            Ok((info.id, depth, played, student))
        })
        .await?;
    let (number, judge_indices) = (played.rounds, judges.len());
    // Planning a large pool takes a while and would block all other tasks.
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
            let weight = if student.weight > 0.0 {
                student.weight
            } else {
                CHOOSING_WEIGHT
            };
            let pairs = unvoted(depth, state.votes(), &student.predictions);
            state = state.with_student(opinion_battles(depth, judge_indices, weight, &pairs));
        }
        next_round(&state, &campaign.strategy, &round)
    })
    .await
    .map_err(|error| RunError::Crashed(error.to_string()))?;
    Ok(PlannedRound { number, tasks })
}
