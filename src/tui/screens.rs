//! One file a screen: what it shows and what its commands do.

pub mod adjudication;
pub mod battle;
pub mod cycles;
pub mod document;
pub mod judges;
pub mod matrix;
pub mod queries;
pub mod queue;
pub mod review;
pub mod ruling;
pub mod run;
#[cfg(test)]
pub(crate) mod testing;
