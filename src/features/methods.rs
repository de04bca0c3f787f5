//! Reranking methods: their questions, calls and orders, and the comparison of methods.

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
