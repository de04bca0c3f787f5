//! Students: cheap models that predict three outcomes (A, tie, B) and learn from the ensemble's
//! scores, and their evaluation.

pub mod features;
pub mod figure;
pub mod figures;
pub mod model;
mod order_effect;
mod outcome;
mod pair_prediction;
pub mod sample;
pub mod texts;

pub use order_effect::OrderShift;
pub use outcome::OutcomeProbabilities;
pub use pair_prediction::{PairPrediction, QueryPredictions, prediction_of};
