//! A student: a cheap model of three outcomes (A, tie, B) that learns from the ensemble's scores, and what can be said about it.

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
