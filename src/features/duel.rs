//! The duel: blind comparisons of two rankings by people, with the rankings that it compares (SBR)
//! and the three-by-three grid (nine).

pub mod app;
pub mod command;
pub mod domain;
#[cfg(test)]
mod golden;
pub mod merge;
pub mod screen;
#[cfg(test)]
pub(crate) mod screens;
pub mod store;
