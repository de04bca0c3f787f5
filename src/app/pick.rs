//! Picks: asks judges which documents of a pool are relevant.

mod answers;
mod inputs;
mod plan;
pub mod prepared;
mod progress;
pub mod run;

pub use answers::PickAnswers;
pub use inputs::PickInputs;
pub use plan::{JudgePicks, PickOptions, PickPlan};
pub use progress::PickProgress;
