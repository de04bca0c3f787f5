//! One scale for the scores of all queries, by graded anchors or by battles across queries.

pub mod app;
pub mod command;
pub mod domain;
#[cfg(test)]
mod golden;
pub mod merge;
pub(crate) mod screen;
#[cfg(test)]
mod screens;
