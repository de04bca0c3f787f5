//! Adaptive sampling: chooses which pairs to ask about next, and which judges, given the votes so
//! far (science.md § Choosing pairs).
//!
//! A campaign over one query is a sequence of rounds. The caller requests a round with
//! [`next_round`], has its tasks judged, and requests the next one with the new votes; the campaign
//! ends when a round is empty or the calls are spent. Round 0 is one random cycle through all
//! documents, the first cycle of the plain plan. No judge is asked twice about a pair, because at
//! temperature 0 it would give the same answer. A failed call counts as asked.

mod adaptive_plan;
mod greedy;
pub(crate) mod information;
mod judge_rotation;
mod state;
mod strategy;
mod swiss;
#[cfg(test)]
mod tests;

pub use adaptive_plan::AdaptivePlan;
pub use state::{AskedPair, SamplingState};
pub use strategy::{InvalidStrategy, JudgeChoice, Sampler, Strategy};

use super::{SeededRng, plan};
use crate::domain::battle::Pair;
use crate::domain::judge_set::JudgeSet;
use judge_rotation::JudgeRotation;
use std::collections::{HashMap, HashSet};

/// Identifies one round of one query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round<'a> {
    /// Random seed of the campaign.
    pub seed: u64,
    pub query: &'a str,
    pub number: usize,
    /// Maximum number of judge calls in the round.
    pub calls: usize,
}

/// A pair to be judged, and the judges to ask.
///
/// The caller decides which document each judge sees first. Passing the tasks of one judge as
/// [`Planned`](super::PlannedBattle) battles to [`presentations`](super::presentations), with the
/// number of the round as cycle, keeps the sides balanced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairTask {
    /// The two documents, as pool indexes.
    pub pair: Pair,
    /// The judges to ask, by index in the ensemble; never empty.
    pub judges: JudgeSet,
}

/// The number of judge calls for `battles` ensemble battles per document, rounded down: `battles` ×
/// documents × judges. A random cycle is one ensemble battle per document.
pub fn calls(battles: f64, documents: usize, judges: usize) -> usize {
    // The small term keeps products such as 1.1 × 10 × 3 from rounding below an integer. Casting
    // saturates.
    (battles * documents as f64 * judges as f64 + 1e-6) as usize
}

/// The next round's tasks, most urgent first, at most one per pair; empty if nothing is left to ask
/// or to spend.
///
/// The same arguments give the same tasks. Ties between pairs are broken by the seed, the query and
/// the number of the round. `Eig` and `Top` fall back to `Swiss` above
/// [`MAX_DENSE`](crate::domain::rating::MAX_DENSE) documents, for which there is no covariance.
pub fn next_round(state: &SamplingState, strategy: &Strategy, round: &Round) -> Vec<PairTask> {
    if round.number == 0 {
        let first = planned(state, strategy, round, 1, usize::MAX);
        if !first.is_empty() {
            return first;
        }
    }
    match strategy.sampler {
        Sampler::Cycles => {
            let size = strategy.round_size(state.documents());
            planned(state, strategy, round, round.number.saturating_add(1), size)
        }
        Sampler::Swiss => {
            assign_judges(state, strategy, round, swiss::pairs(state, strategy, round))
        }
        Sampler::Eig | Sampler::Top => match state.covariance() {
            None => assign_judges(state, strategy, round, swiss::pairs(state, strategy, round)),
            Some(covariance) => {
                let picks = greedy::picks(state, strategy, round, &covariance);
                assign_judges(state, strategy, round, picks)
            }
        },
    }
}

/// The first `size` pairs of the first `cycles` cycles of the plain plan that have not been asked
/// about yet.
fn planned(
    state: &SamplingState,
    strategy: &Strategy,
    round: &Round,
    cycles: usize,
    size: usize,
) -> Vec<PairTask> {
    let mut seen = HashSet::new();
    let open = plan(round.seed, round.query, state.documents(), cycles)
        .into_iter()
        .filter(|battle| {
            let asked = state.asked(battle.pair).len();
            asked <= battle.game as usize && asked < state.judges() && seen.insert(battle.pair)
        })
        .map(|battle| battle.pair)
        .take(size);
    assign_judges(state, strategy, round, open)
}

/// Assigns judges to the pairs, in order, until the calls are spent; a pair that occurs again gets
/// its next judge.
fn assign_judges(
    state: &SamplingState,
    strategy: &Strategy,
    round: &Round,
    pairs: impl IntoIterator<Item = Pair>,
) -> Vec<PairTask> {
    let mut rotation = JudgeRotation::new(
        state,
        &mut SeededRng::new(round.seed, &["rota", round.query]),
    );
    let mut tasks: Vec<PairTask> = Vec::new();
    let mut place = HashMap::new();
    let mut left = round.calls;
    for pair in pairs {
        let at = *place.entry(pair).or_insert(tasks.len());
        let before = tasks.get(at).map_or(JudgeSet::EMPTY, |task| task.judges);
        let free = state.free(pair).without(before);
        let judges = match strategy.judging {
            JudgeChoice::All => free,
            JudgeChoice::Rotate | JudgeChoice::Escalate => rotation.next(pair, free),
        };
        if judges.is_empty() {
            continue;
        }
        if judges.len() > left {
            break;
        }
        left -= judges.len();
        rotation.seat(pair, judges);
        match tasks.get_mut(at) {
            Some(task) => task.judges = task.judges.with(judges),
            None => tasks.push(PairTask { pair, judges }),
        }
    }
    tasks
}
