//! Picks: asks judges which documents of a pool are relevant.

mod answers;
mod inputs;
mod plan;
pub mod prepared;
mod progress;
pub mod run;
#[cfg(feature = "remote")]
mod shared;

pub use answers::PickAnswers;
pub use inputs::PickInputs;
pub use plan::{JudgePicks, PickOptions, PickPlan};
pub use progress::PickProgress;
#[cfg(feature = "remote")]
pub use shared::SharedPicks;
