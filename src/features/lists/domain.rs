//! List answers as observations of the fit: their weight, their dispersion, and the taste of the
//! judges that gave them.
//!
//! A list answer is broken into the pairs that it decides (rank breaking). These pairs are not
//! independent, so each of them counts for less than a vote, and the dispersion is estimated from
//! whole answers. A judge may also prefer a document consistently for reasons that other judges do
//! not share. Its votes and lists then have that error in common, and a random effect of judge and
//! document represents it.

mod block;
mod counting;
mod estimate;
mod estimator;
mod kind;
mod mix;
mod plan;
mod qualification;

pub use block::Block;
pub use counting::CountingModel;
pub use estimate::{QueryBlocks, estimate};
pub use estimator::{ListModel, fit_blocks};
pub use kind::{AnswerForm, KindError, ListKind, MAX_LIST};
pub use mix::{CallCount, PairShare};
pub use plan::{ListPlan, ListRound, PlanState};
pub use qualification::{MIN_QUERIES, ProbeFigures, ProbeShare, ProbedQuery, Qualification};
#[cfg(test)]
pub(crate) use {estimate::BlockDispersion, estimator::ListFit};
