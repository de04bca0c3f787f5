//! A pair of a trial: people's decision, the old vote, and the two questions to the judge.

use crate::features::methods::app::rerank::pair_judge::AskedPair;
use crate::features::prompts::domain::DecidedPair;
use crate::features::prompts::store::PairVote;
use crate::store::corpus::QueryKey;

/// A pair of a trial.
#[derive(Clone, Debug)]
pub struct TrialCase {
    pub query: QueryKey,
    pub decided: DecidedPair,
    /// The vote under the old prompt.
    pub old: PairVote,
    /// The pair in the order of the old vote, and in the other order.
    pub(super) asked: [AskedPair; 2],
}
