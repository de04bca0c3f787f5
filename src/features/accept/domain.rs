//! Learns from controls which decisions of the judges can be accepted (science.md § Acceptance).

#[cfg(test)]
mod golden;
#[cfg(test)]
mod simulation;
mod threshold;

pub use threshold::{
    CONTROLS, DEFAULT_ALPHA, DELTA, LearnedThreshold, RuledControl, fewest_controls,
    learn_threshold,
};
