//! Students: cheap models that predict three outcomes (A, tie, B) and learn from the ensemble's
//! scores, and their evaluation.

pub mod distilled;
pub mod features;
pub mod figure;
pub mod figures;
pub mod model;
mod order_effect;
pub mod sample;
pub mod spool;
pub mod texts;

pub use order_effect::OrderShift;
