//! What a run is asked to do, and how it ended.

use super::progress::RunProgress;
use crate::config::RunConfig;
use crate::domain::battle::Pair;
use crate::domain::corpus::QueryId;
use crate::domain::sampling;
use crate::domain::sampling::PlannedBattle;
use crate::domain::sampling::adaptive::AdaptivePlan;
use crate::store::corpus::QueryKey;
use crate::store::outstanding::CallSelection;
use crate::store::runs::{RunId, RunRow};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq)]
pub struct RunRequest {
    /// The queries, in order; `None` means all of the project.
    pub queries: Option<Vec<QueryKey>>,
    pub seed: u64,
    /// Cycles a query, where it is not played in rounds.
    pub cycles: usize,
    /// Plays every query in rounds instead of by the plain plan.
    pub campaign: Option<AdaptivePlan>,
    /// Documents a query at most, from the top.
    pub depth: Option<usize>,
    pub selection: CallSelection,
    /// Pairs of the run that language models are asked about in both orders, at most.
    pub probe: usize,
    /// Calls of each judge at most.
    pub at_most: Option<usize>,
    /// Only this battle of the one query; the rest of the plan stays as it is.
    pub pair: Option<PlannedBattle>,
    /// Only these battles; what else is planned stays as it is.
    pub listed: Option<Arc<ListedBattles>>,
    /// Stops the run as soon as a judge answers as another model than in its first vote.
    pub pin_model: bool,
}

/// Battles that are named one by one, for all judges.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListedBattles {
    of_query: BTreeMap<QueryId, Vec<PlannedBattle>>,
    /// Documents of a query that have to be there at least.
    depth: usize,
}

impl ListedBattles {
    /// The first battle of each of these pairs.
    pub fn new(pairs: impl IntoIterator<Item = (QueryId, Pair)>) -> Self {
        let mut listed = Self::default();
        for (query, pair) in pairs {
            listed.depth = listed.depth.max(pair.high() + 1);
            let (game, cycle) = (0, 0);
            let battle = PlannedBattle { pair, game, cycle };
            listed.of_query.entry(query).or_default().push(battle);
        }
        // In whatever order they are named, each judge is shown them alike.
        for battles in listed.of_query.values_mut() {
            battles.sort_unstable_by_key(|battle| battle.pair);
            battles.dedup();
        }
        listed
    }

    pub(super) fn of(&self, query: &str) -> Vec<PlannedBattle> {
        let found = self.of_query.get(&QueryId::new(query));
        found.cloned().unwrap_or_default()
    }
}

impl Default for RunRequest {
    fn default() -> Self {
        Self {
            queries: None,
            seed: 0,
            cycles: sampling::DEFAULT_CYCLES,
            campaign: None,
            depth: None,
            selection: CallSelection::Fresh,
            probe: sampling::PROBED_PAIRS,
            at_most: None,
            pair: None,
            listed: None,
            pin_model: false,
        }
    }
}

impl RunRequest {
    /// What goes on where the latest run left off, or begins as is usual where there was none.
    pub fn continuing(latest: Option<RunRow>, usual: &RunConfig) -> Self {
        let request = Self {
            probe: usual.probe,
            ..Self::default()
        };
        match latest {
            Some(run) => Self {
                seed: run.seed,
                cycles: run.cycles,
                campaign: run.campaign,
                depth: run.depth,
                ..request
            },
            None => Self {
                seed: usual.seed,
                cycles: usual.cycles,
                campaign: usual.campaign(),
                ..request
            },
        }
    }

    /// How it is played in rounds; `None` for the plain plan, and for battles that are named.
    pub(super) fn rounds(&self) -> Option<&AdaptivePlan> {
        let campaign = self.campaign.as_ref();
        campaign.filter(|_| self.pair.is_none() && self.listed.is_none())
    }

    /// Documents of a query whose texts are needed at most.
    pub(super) fn text_depth(&self) -> Option<usize> {
        let pair = self.pair.map_or(0, |battle| battle.pair.high() + 1);
        let listed = self.listed.as_ref().map_or(0, |listed| listed.depth);
        self.depth.map(|limit| limit.max(pair).max(listed))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct RunOutcome {
    pub run: RunId,
    pub progress: RunProgress,
    /// Whether it was told to stop.
    pub cancelled: bool,
    /// Whether it ended because the budget allows no further call.
    pub budget_reached: bool,
    /// Which judge's model changed, if that stopped the run.
    pub model_changed: Option<String>,
    /// Votes of the plan that are not there, failed calls of earlier runs and rounds that were not played included;
    /// `None` where it was told to stop before everything was planned.
    pub missing: Option<usize>,
}

impl RunOutcome {
    /// Whether votes are missing and none is there, of this run or an earlier one.
    pub fn has_no_vote(&self) -> bool {
        let progress = &self.progress;
        self.missing != Some(0) && progress.votes() == 0 && progress.already == 0
    }
}
