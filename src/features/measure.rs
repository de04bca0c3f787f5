//! Measures the metric of a run, or the difference of two runs, with as few rulings as possible.

pub mod app;
pub mod command;
pub mod domain;
pub mod merge;
pub(crate) mod screen;
#[cfg(test)]
mod screens;
pub mod store;
