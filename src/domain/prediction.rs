//! Predictions of the outcomes of pairs, which do not come from votes.

mod outcome;
mod pair_prediction;

pub use outcome::OutcomeProbabilities;
pub use pair_prediction::{PairPrediction, QueryPredictions, prediction_of};

/// Name of the input of a prediction that comes from the other votes of the same query: the zELO of
/// both documents.
pub const OTHER_BATTLES: &str = "zELO of other battles";
