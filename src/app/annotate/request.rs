//! Parameters and result of a run.

use super::progress::RunProgress;
use crate::config::RunConfig;
use crate::domain::battle::{Pair, SECOND_GAME};
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
    /// The queries, in order; `None` for the whole project.
    pub queries: Option<Vec<QueryKey>>,
    pub seed: u64,
    /// Number of cycles per query, if it is not played in rounds.
    pub cycles: usize,
    /// If set, plays every query in rounds instead of by the plain plan.
    pub campaign: Option<AdaptivePlan>,
    /// Maximum number of documents per query, from the top.
    pub depth: Option<usize>,
    pub selection: CallSelection,
    /// Maximum number of pairs that language models are asked about in both orders.
    pub probe: usize,
    /// Maximum number of calls per judge.
    pub at_most: Option<usize>,
    /// If set, asks only about this battle of the single query; the rest of the plan is unchanged.
    pub pair: Option<PlannedBattle>,
    /// If set, asks only about these battles; other planned battles are unchanged.
    pub listed: Option<Arc<ListedBattles>>,
    /// Stops the run as soon as a judge answers with a different model than in its first vote.
    pub pin_model: bool,
}

/// A list of single battles for all judges.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListedBattles {
    of_query: BTreeMap<QueryId, Vec<PlannedBattle>>,
    /// Minimum number of documents that a query must have.
    depth: usize,
}

impl ListedBattles {
    /// Creates a list with the first battle of each of these pairs.
    pub fn new(pairs: impl IntoIterator<Item = (QueryId, Pair)>) -> Self {
        Self::of_games(pairs, &[0])
    }

    /// Creates a list with the first two battles of each of these pairs, in which every judge sees
    /// both orders of the documents.
    pub fn in_both_orders(pairs: impl IntoIterator<Item = (QueryId, Pair)>) -> Self {
        Self::of_games(pairs, &[0, SECOND_GAME])
    }

    fn of_games(pairs: impl IntoIterator<Item = (QueryId, Pair)>, games: &[u32]) -> Self {
        let mut listed = Self::default();
        for (query, pair) in pairs {
            listed.depth = listed.depth.max(pair.high() + 1);
            let battles = listed.of_query.entry(query).or_default();
            let cycle = 0;
            battles.extend(
                games
                    .iter()
                    .map(|&game| PlannedBattle { pair, game, cycle }),
            );
        }
        // The presentation to each judge must not depend on the order of the list.
        for battles in listed.of_query.values_mut() {
            battles.sort_unstable_by_key(|battle| (battle.pair, battle.game));
            battles.dedup();
        }
        listed
    }

    pub(super) fn of(&self, query: &str) -> Vec<PlannedBattle> {
        self.of_query
            .get(&QueryId::new(query))
            .cloned()
            .unwrap_or_default()
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
    /// A request that continues the latest run, or uses the configured defaults if there was none.
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

    /// The campaign for playing in rounds; `None` for the plain plan and for listed battles.
    pub(super) fn rounds(&self) -> Option<&AdaptivePlan> {
        self.campaign
            .as_ref()
            .filter(|_| self.pair.is_none() && self.listed.is_none())
    }

    /// Maximum number of a query's documents whose texts are needed.
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
    /// The judge whose model changed, if that stopped the run.
    pub model_changed: Option<String>,
    /// Missing votes of the plan, including failed calls of earlier runs and rounds that were not
    /// played; `None` if it was stopped before everything was planned.
    pub missing: Option<usize>,
}

impl RunOutcome {
    /// Whether votes are missing and there is none, from this run or an earlier one.
    pub fn has_no_vote(&self) -> bool {
        let progress = &self.progress;
        self.missing != Some(0) && progress.votes() == 0 && progress.already == 0
    }
}
